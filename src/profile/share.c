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

int share_move(struct share *share, const uint32_t *map, size_t count)
{
	for (unsigned s = 0; s < SHARE_SOURCES; s++) {
		struct share_value *moved;

		if (!share->values[s])
			continue;
		moved = calloc(count, sizeof(*moved));
		if (!moved)
			return HYB_ENOMEM;
		for (size_t i = 0; i < count && i < share->count[s]; i++)
			moved[map[i]] = share->values[s][i];
		free(share->values[s]);
		share->values[s] = moved;
		share->count[s] = count;
	}
	return 0;
}

static uint64_t part_of(uint64_t before, uint64_t part, uint64_t whole, uint64_t amount, bool is_signed)
{
	if (is_signed && (int64_t)amount < 0)
		return -slice(before, part, whole, -amount);
	return slice(before, part, whole, amount);
}

/* total[] and passed[] are by probe, and zero before. */
static void share_source(const struct share *share, unsigned s, const uint32_t *probe, size_t nodes,
	bool is_signed, uint64_t *total, uint64_t *passed, uint64_t *to)
{
	const struct share_value *values = share->values[s];
	size_t count = share->count[s] < nodes ? share->count[s] : nodes; /* it may have room for more */

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(total[probe[i]], values[i].weight, &total[probe[i]]))
			total[probe[i]] = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		uint32_t p = probe[i];
		uint64_t room = total[p] - passed[p];
		uint64_t weight = values[i].weight < room ? values[i].weight : room;

		if (!total[p])
			to[i] += values[i].amount;
		else
			to[i] += part_of(passed[p], weight, total[p], values[p].amount, is_signed);
		passed[p] += weight;
	}
}

int share_out(
	const struct share *share, const uint32_t *probe, size_t count, bool is_signed, uint64_t *ret_values)
{
	for (unsigned s = 0; s < SHARE_SOURCES; s++) {
		uint64_t *sums;

		if (!share->values[s])
			continue;
		sums = calloc(2 * count, sizeof(*sums));
		if (!sums)
			return HYB_ENOMEM;
		share_source(share, s, probe, count, is_signed, sums, sums + count, ret_values);
		free(sums);
	}
	return 0;
}

void share_release(struct share *share)
{
	for (unsigned s = 0; s < SHARE_SOURCES; s++)
		free(share->values[s]);
	*share = (struct share){0};
}
