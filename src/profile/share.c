#include "profile/share.h"

#include <stdlib.h>

#include "profile/slice.h"

/* Room for a value of each node that the tree has, or NULL. */
static struct share_value *value_at(
	struct share *share, const struct tree *tree, unsigned source, uint32_t node)
{
	unsigned s = source < SHARE_SOURCES ? source : SHARE_SOURCES - 1;
	struct share_value *grown;

	if (node >= share->count[s]) {
		grown = realloc(share->values[s], tree->capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		share->values[s] = grown;
		for (; share->count[s] < tree->capacity; share->count[s]++)
			grown[share->count[s]] = (struct share_value){0};
	}
	return &share->values[s][node];
}

int share_add_time(struct share *share, const struct tree *tree, unsigned source, uint32_t probe, uint64_t ns)
{
	struct share_value *v = value_at(share, tree, source, probe);

	if (!v)
		return HYB_ENOMEM;
	v->amount += ns;
	return 0;
}

int share_add_samples(struct share *share, const struct tree *tree, unsigned source, uint32_t node,
	uint64_t samples, uint64_t period)
{
	struct share_value *v = value_at(share, tree, source, node);
	uint64_t weight;

	if (!v)
		return HYB_ENOMEM;
	/* numbers of a damaged file must not wrap */
	if (__builtin_mul_overflow(samples, period ? period : 1, &weight))
		weight = UINT64_MAX;
	if (__builtin_add_overflow(v->weight, weight, &v->weight))
		v->weight = UINT64_MAX;
	return 0;
}

/* Orders the tree by names; values[] keeps up. */
static int arrange(struct share *share, struct tree *tree)
{
	size_t count = tree->count;
	uint32_t *map = calloc(count, sizeof(*map));
	int r = map ? tree_arrange(tree, PROFILE_SORT_INCLUSIVE, NULL, map) : HYB_ENOMEM;

	for (unsigned s = 0; !r && s < SHARE_SOURCES; s++) {
		struct share_value *moved;

		if (!share->values[s])
			continue;
		moved = calloc(count, sizeof(*moved));
		if (!moved) {
			r = HYB_ENOMEM;
			break;
		}
		for (size_t i = 0; i < count && i < share->count[s]; i++)
			moved[map[i]] = share->values[s][i];
		free(share->values[s]);
		share->values[s] = moved;
		share->count[s] = count;
	}
	free(map);
	return r;
}

/* total[] and passed[] are by probe, and zero before. */
static void share_source(struct tree *tree, const struct share_value *values, const uint32_t *probe,
	uint64_t *total, uint64_t *passed)
{
	for (size_t i = 0; i < tree->count; i++)
		if (__builtin_add_overflow(total[probe[i]], values[i].weight, &total[probe[i]]))
			total[probe[i]] = UINT64_MAX;
	for (size_t i = 0; i < tree->count; i++) {
		uint32_t p = probe[i];
		uint64_t room = total[p] - passed[p];
		uint64_t weight = values[i].weight < room ? values[i].weight : room;

		if (!total[p])
			tree->nodes[i].exclusive += values[i].amount;
		else
			tree->nodes[i].exclusive += slice(passed[p], weight, total[p], values[p].amount);
		passed[p] += weight;
	}
}

int share_out(struct share *share, struct tree *tree)
{
	size_t count = tree->count;
	uint32_t *probe = calloc(count, sizeof(*probe));
	int r = probe ? arrange(share, tree) : HYB_ENOMEM;

	for (uint32_t i = 1; !r && i < count; i++)
		probe[i] = tree->nodes[i].kind == PROFILE_PROBE ? i : probe[tree->nodes[i].parent];
	for (unsigned s = 0; !r && s < SHARE_SOURCES; s++) {
		uint64_t *sums = share->values[s] ? calloc(2 * count, sizeof(*sums)) : NULL;

		if (sums)
			share_source(tree, share->values[s], probe, sums, sums + count);
		else if (share->values[s])
			r = HYB_ENOMEM;
		free(sums);
	}
	free(probe);
	return r;
}

void share_release(struct share *share)
{
	for (unsigned s = 0; s < SHARE_SOURCES; s++)
		free(share->values[s]);
	*share = (struct share){0};
}
