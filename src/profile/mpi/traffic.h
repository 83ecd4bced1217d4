/* The traffic of a profile, summed as tables show it. */
#ifndef HYB_TRAFFIC_H
#define HYB_TRAFFIC_H

#include "profile/metrics/figures.h"
#include "profile/profile.h"

/* What went from rank to rank of one world; ranks are in blocks of equal size if they are many. */
struct matrix {
	uint32_t first, last; /* ranks that took part, and all between */
	uint32_t block; /* ranks of a row or column: a power of two */
	size_t side; /* rows, and columns */
	struct profile_side *cells; /* [from * side + to]; time is that of both sides */
};

/* Which ranks there are. False: nothing went from rank to rank. */
bool matrix_range(struct matrix *matrix, const struct profile *profile, uint64_t world);

/* In at most `columns`; cells are the caller's to free. 0 or HYB_ENOMEM. */
int matrix_fill(struct matrix *matrix, const struct profile *profile, uint64_t world, size_t columns);

/* Of both sides what saw more: one may be missing. Time of both. */
struct profile_side traffic_of(const struct profile_flow *flow);

/* A copy, to be freed, with most bytes first. NULL when memory is out. */
struct profile_flow *traffic_largest(const struct profile_flow *flows, size_t count);

enum traffic_group {
	TRAFFIC_SENT = 0, /* point to point */
	TRAFFIC_RECEIVED,
	TRAFFIC_COLLECTIVE,
	TRAFFIC_ONE_SIDED,
	TRAFFIC_READ,
	TRAFFIC_WRITTEN,
	TRAFFIC_GROUPS
};

struct traffic_sizes {
	struct profile_side classes[64][TRAFFIC_GROUPS]; /* bytes: of both directions together */
	struct profile_side sums[TRAFFIC_GROUPS];
	unsigned first, last; /* classes with anything; first > last: none */
};

void traffic_sum_sizes(const struct profile *profile, struct traffic_sizes *ret_sizes);

/* All that went by a communicator, window or file. */
struct traffic_handle {
	const struct profile_handle *handle; /* NULL: not known */
	uint64_t messages, sent, received, time;
};

/* Those with anything, most bytes first; to be freed. NULL when memory is out. */
struct traffic_handle *traffic_handles(const struct profile *profile, size_t *ret_count);

/* 0, "1 B", "4 KiB": from where a size class goes. The buffer is returned. */
const char *traffic_size_name(unsigned size_class, char text[FIGURE_SIZE]);

/* Words for machines. */
const char *traffic_kind_name(unsigned flow_kind);

#endif
