/* Decoder of what calls of MPI did: the body of an OTHER record. Pure, from pointer and length. */
#ifndef HYB_MPI_RECORD_H
#define HYB_MPI_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

/* As written; what a kind does not have is 0, peers HYB_PEER_NONE, `offset` UINT64_MAX. */
struct mpi_record {
	uint8_t what; /* enum hyb_other; not UNMEASURED, but what it has in it */
	bool unmeasured;
	uint32_t handle, peer;
	int32_t tag;
	uint64_t sent, received; /* bytes */
	uint64_t offset;
	uint64_t request;
	int64_t error;
};

/*
 * 1: *ret is filled; 0: a subtype (enum hyb_other) that is not known; -1: the body is too short or its
 * numbers too large. Bytes behind what is known are left to newer versions.
 */
int mpi_record_decode(uint64_t subtype, const uint8_t *body, size_t length, struct mpi_record *ret);

#endif
