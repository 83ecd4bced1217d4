/* What a profile keeps of MPI, as bytes. */
#ifndef HYB_PACK_MPI_H
#define HYB_PACK_MPI_H

#include "profile/mpi/mpi.h"
#include "profile/pack/pack_texts.h"

void pack_put_spread(struct blob *to, const struct profile_spread *spread);
struct profile_spread pack_get_spread(struct blob_reader *from);

/* The tables, spreads() apart. */
void pack_put_mpi(struct blob *to, const struct pack_texts *texts, const struct mpi *mpi);

/* Adds them. 0 or HYB_ENOMEM. */
int pack_merge_mpi(
	struct blob_reader *from, const struct pack_texts *texts, struct strings *strings, struct mpi *mpi);

#endif
