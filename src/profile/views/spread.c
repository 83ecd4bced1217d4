#include "profile/views/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/slice.h"
#include "base/search.h"

/* ------------------------------------------------------------- one sum */

void spread_add(struct profile_spread *s, uint64_t ns, uint32_t rank)
{
	struct profile_spread one = {(unsigned __int128)ns * ns, 1, ns, ns, ns, rank, rank};

	spread_merge(s, &one);
}

void spread_merge(struct profile_spread *s, const struct profile_spread *other)
{
	if (!other->ranks)
		return;
	if (!s->ranks || other->least < s->least ||
		(other->least == s->least && other->least_rank < s->least_rank)) {
		s->least = other->least;
		s->least_rank = other->least_rank;
	}
	if (!s->ranks || other->most > s->most ||
		(other->most == s->most && other->most_rank < s->most_rank)) {
		s->most = other->most;
		s->most_rank = other->most_rank;
	}
	s->ranks += other->ranks;
	s->total += other->total;
	s->squares += other->squares;
}

uint64_t profile_spread_mean(const struct profile_spread *s, uint64_t ranks)
{
	return ranks ? slice_scale(s->total, 1, ranks) : 0;
}

uint64_t profile_spread_least(const struct profile_spread *s, uint64_t ranks)
{
	return s->ranks < ranks ? 0 : s->least;
}

double profile_spread_deviation(const struct profile_spread *s, uint64_t ranks)
{
	/* n * squares - total^2 is exact; what is left of it is small beside either */
	unsigned __int128 scaled = s->squares * ranks, square = (unsigned __int128)s->total * s->total;

	return ranks && scaled > square ? sqrt((double)(scaled - square)) / (double)ranks : 0;
}

double profile_spread_imbalance(const struct profile_spread *s, uint64_t ranks)
{
	return s->total ? ((double)s->most * (double)ranks / (double)s->total - 1) * 100 : 0;
}

/* ---------------------------------------------------- nodes of the tree */

int spreads_cover(struct spreads *spreads, const struct tree *tree)
{
	struct profile_spread *rows;
	struct spread_now *now;

	if (tree->count <= spreads->count)
		return 0;
	rows = realloc(spreads->rows, tree->capacity * sizeof(*rows));
	if (!rows)
		return HYB_ENOMEM;
	spreads->rows = rows;
	now = realloc(spreads->now, tree->capacity * sizeof(*now));
	if (!now)
		return HYB_ENOMEM;
	spreads->now = now;
	memset(rows + spreads->count, 0, (tree->capacity - spreads->count) * sizeof(*rows));
	memset(now + spreads->count, 0, (tree->capacity - spreads->count) * sizeof(*now));
	spreads->count = tree->capacity;
	return 0;
}

static int touch(struct spreads *spreads, const struct tree *tree, uint32_t node)
{
	for (;; node = tree->nodes[node].parent) {
		if (spreads->now[node].touched)
			return 0;
		if (spreads->touched_count == spreads->touched_room) {
			size_t room = 2 * spreads->touched_room + 64;
			uint32_t *touched = realloc(spreads->touched, room * sizeof(*touched));

			if (!touched)
				return HYB_ENOMEM;
			spreads->touched = touched;
			spreads->touched_room = room;
		}
		spreads->now[node] = (struct spread_now){.touched = true};
		spreads->touched[spreads->touched_count++] = node;
		if (!node)
			return 0;
	}
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

int spreads_add(
	struct spreads *spreads, const struct tree *tree, uint32_t node, const struct spread_now *what)
{
	struct spread_now *now;

	if (spreads_cover(spreads, tree) || touch(spreads, tree, node))
		return HYB_ENOMEM;
	now = &spreads->now[node];
	now->fixed = add(now->fixed, what->fixed);
	now->amount = add(now->amount, what->amount);
	now->weight = add(now->weight, what->weight);
	return 0;
}

/* Finds the probe of each node, parents in front, and what weighs at and below each probe. */
static void find_probes(struct spreads *spreads, const struct tree *tree)
{
	for (size_t t = 0; t < spreads->touched_count; t++) {
		uint32_t i = spreads->touched[t];
		struct spread_now *n = &spreads->now[i];
		bool is_probe = !i || tree->nodes[i].kind == PROFILE_PROBE;

		n->probe = is_probe ? i : spreads->now[tree->nodes[i].parent].probe;
		spreads->now[n->probe].whole = add(spreads->now[n->probe].whole, n->weight);
	}
}

/* Of a probe all is known; of a frame the probes below, and its share of what the probe above ran. */
static uint64_t inclusive(const struct spreads *spreads, const struct spread_now *n, bool is_probe)
{
	const struct spread_now *probe = &spreads->now[n->probe];
	uint64_t weight = n->weight < probe->whole ? n->weight : probe->whole;

	if (is_probe)
		return add(n->fixed, n->amount);
	return add(n->fixed, probe->whole ? slice_scale(weight, probe->amount, probe->whole) : 0);
}

void spreads_fold(struct spreads *spreads, const struct tree *tree, uint32_t rank)
{
	if (spreads->touched_count)
		qsort(spreads->touched, spreads->touched_count, sizeof(*spreads->touched), compare_u32);
	find_probes(spreads, tree);
	for (size_t t = spreads->touched_count; t-- > 0;) {
		uint32_t i = spreads->touched[t];
		struct spread_now *n = &spreads->now[i], *above = &spreads->now[tree->nodes[i].parent];
		bool is_probe = n->probe == i;

		spread_add(&spreads->rows[i], inclusive(spreads, n, is_probe), rank);
		n->touched = false;
		if (!i)
			continue;
		above->fixed = add(above->fixed, is_probe ? add(n->fixed, n->amount) : n->fixed);
		above->weight = add(above->weight, is_probe ? 0 : n->weight);
	}
	spreads->touched_count = 0;
}

void spreads_forget(struct spreads *spreads)
{
	for (size_t t = 0; t < spreads->touched_count; t++)
		spreads->now[spreads->touched[t]].touched = false;
	spreads->touched_count = 0;
}

void spreads_release(struct spreads *spreads)
{
	free(spreads->rows);
	free(spreads->now);
	free(spreads->touched);
	*spreads = (struct spreads){0};
}
