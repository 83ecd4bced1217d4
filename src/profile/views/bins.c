#include "profile/views/bins.h"
#include "base/search.h"

#include <stdlib.h>

struct bin_spent {
	uint64_t own, all; /* ns at the node; with all below */
	uint32_t best; /* of its children, that with most */
	bool listed;
};

int bins_init(struct bins *b, const struct weave_tree *tree, const uint64_t *edges, size_t count)
{
	*b = (struct bins){.tree = tree, .edges = edges, .count = count};
	b->spent = calloc(tree->count, sizeof(*b->spent));
	b->touched = malloc(tree->count * sizeof(*b->touched));
	return b->spent && b->touched ? 0 : HYB_ENOMEM;
}

void bins_release(struct bins *b)
{
	free(b->spent);
	free(b->touched);
	*b = (struct bins){0};
}

void bins_divide(uint64_t *edges, size_t count, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i <= count; i++)
		edges[i] = from + (uint64_t)((unsigned __int128)(to - from) * i / count);
}

size_t bins_find(const uint64_t *edges, size_t count, uint64_t time)
{
	return SEARCH(i, count ? count - 1 : 0, edges[i + 1] <= time);
}

void bins_begin(struct bins *b, uint32_t *where)
{
	b->where = where;
	b->bin = 0;
	for (size_t i = 0; i < b->count; i++)
		where[i] = BIN_NOWHERE;
}

static void list(struct bins *b, uint32_t node)
{
	if (b->spent[node].listed)
		return;
	b->spent[node].listed = true;
	b->touched[b->touched_count++] = node;
}

/* Adds up to the root; all on the way are listed. */
static void gather(struct bins *b)
{
	size_t leaves = b->touched_count;

	for (size_t i = 0; i < leaves; i++) {
		uint32_t node = b->touched[i];
		uint64_t own = b->spent[node].own;

		b->spent[node].all += own;
		while (node) {
			node = b->tree->parent[node];
			list(b, node);
			b->spent[node].all += own;
		}
	}
	for (size_t i = 0; i < b->touched_count; i++) {
		uint32_t node = b->touched[i];
		struct bin_spent *above = &b->spent[b->tree->parent[node]];

		if (node && (!above->best || b->spent[node].all > b->spent[above->best].all))
			above->best = node;
	}
}

void bins_end(struct bins *b)
{
	const struct bin_spent *spent = b->spent;
	uint32_t at = 0;

	if (!b->touched_count)
		return;
	gather(b);
	while (spent[at].best && spent[spent[at].best].all >= spent[at].own)
		at = spent[at].best;
	b->where[b->bin] = at;
	for (size_t i = 0; i < b->touched_count; i++)
		b->spent[b->touched[i]] = (struct bin_spent){0};
	b->touched_count = 0;
}

void bins_spend(struct bins *b, uint32_t node, uint64_t from, uint64_t to)
{
	from = from > b->edges[0] ? from : b->edges[0];
	to = to < b->edges[b->count] ? to : b->edges[b->count];
	while (from < to) {
		uint64_t end;

		if (from >= b->edges[b->bin + 1]) {
			bins_end(b);
			b->bin = bins_find(b->edges, b->count, from);
		}
		end = b->edges[b->bin + 1] < to ? b->edges[b->bin + 1] : to;
		list(b, node);
		b->spent[node].own += end - from;
		from = end;
	}
}
