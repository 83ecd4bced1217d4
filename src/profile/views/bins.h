/*
 * Where a thread was, by bins of time: the node that a bin shows, for timelines. From the root on, that is
 * the child below which most of the bin's time was, as long as this is no less than what was at the node
 * itself. So callees that are many and short outweigh one that is longer than each of them. Threads take
 * turns.
 */
#ifndef HYB_BINS_H
#define HYB_BINS_H

#include "profile/views/weave.h"

#define BIN_NOWHERE UINT32_MAX /* the thread was not there */

struct bins {
	const struct weave_tree *tree;
	const uint64_t *edges; /* count + 1: where bins begin, the last one's end; the caller's */
	size_t count;
	uint32_t *where; /* by bin: the thread's row, of the caller */
	size_t bin; /* that is being filled */
	struct bin_spent *spent; /* by node, in this bin */
	uint32_t *touched; /* nodes with something there */
	size_t touched_count;
};

/* 0 or HYB_ENOMEM; to be released in both cases. */
int bins_init(struct bins *bins, const struct weave_tree *tree, const uint64_t *edges, size_t count);
void bins_release(struct bins *bins);

void bins_begin(struct bins *bins, uint32_t *where);
/* The thread was at the node over [from, to), not in front of what was told; outside of the edges is left
 * out. */
void bins_spend(struct bins *bins, uint32_t node, uint64_t from, uint64_t to);
void bins_end(struct bins *bins);

/* `count` bins of one length, up to its rounding; edges has room for count + 1. */
void bins_divide(uint64_t *edges, size_t count, uint64_t from, uint64_t to);
/* The bin of a moment between the edges. */
size_t bins_find(const uint64_t *edges, size_t count, uint64_t time);

#endif
