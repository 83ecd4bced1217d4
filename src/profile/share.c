#include "profile/share.h"

#include <stdlib.h>

#include "profile/slice.h"

static struct share_row *row_at(struct share *share, const char *program, unsigned source, uint32_t node)
{
	struct share_row key = {.program = source < SHARE_IN_PLACE ? program : NULL,
		.source = source < SHARE_IN_PLACE ? source : SHARE_IN_PLACE,
		.node = node};

	share->rows.row_size = sizeof(key);
	share->rows.key_size = offsetof(struct share_row, amount);
	return row_map_row(&share->rows, &key);
}

int share_add_time(struct share *share, const char *program, unsigned source, uint32_t probe, uint64_t ns)
{
	struct share_row *row = row_at(share, program, source, probe);

	if (!row)
		return HYB_ENOMEM;
	row->amount += ns;
	return 0;
}

int share_add_samples(struct share *share, const char *program, unsigned source, uint32_t node,
	uint64_t samples, uint64_t period)
{
	struct share_row *row = row_at(share, program, source, node);
	uint64_t weight;

	if (!row)
		return HYB_ENOMEM;
	/* numbers of a damaged file must not wrap */
	if (__builtin_mul_overflow(samples, period ? period : 1, &weight))
		weight = UINT64_MAX;
	if (__builtin_add_overflow(row->weight, weight, &row->weight))
		row->weight = UINT64_MAX;
	return 0;
}

int share_move(struct share *share, const uint32_t *map)
{
	const struct share_row *rows = share->rows.rows;
	struct share moved = {0};

	for (size_t i = 0; i < share->rows.count; i++) {
		struct share_row *row = row_at(&moved, rows[i].program, rows[i].source, map[rows[i].node]);

		if (!row) {
			share_release(&moved);
			return HYB_ENOMEM;
		}
		row->amount = rows[i].amount;
		row->weight = rows[i].weight;
	}
	share_release(share);
	*share = moved;
	return 0;
}

static uint64_t part_of(uint64_t before, uint64_t part, uint64_t whole, uint64_t amount, bool is_signed)
{
	if (is_signed && (int64_t)amount < 0)
		return -slice(before, part, whole, -amount);
	return slice(before, part, whole, amount);
}

/* Of a pool, the rows of a program and source. By probe, and zero before and after. */
struct sums {
	uint64_t amount; /* to be shared out */
	uint64_t total, passed; /* weights */
};

static void share_pool(const struct share_row *rows, size_t count, const uint32_t *probe, bool is_signed,
	struct sums *sums, uint64_t *to)
{
	for (size_t i = 0; i < count; i++) {
		struct sums *p = &sums[probe[rows[i].node]];

		if (__builtin_add_overflow(p->total, rows[i].weight, &p->total))
			p->total = UINT64_MAX;
		sums[rows[i].node].amount = rows[i].amount;
	}
	for (size_t i = 0; i < count; i++) {
		struct sums *p = &sums[probe[rows[i].node]];
		uint64_t room = p->total - p->passed;
		uint64_t weight = rows[i].weight < room ? rows[i].weight : room;

		if (!p->total)
			to[rows[i].node] += rows[i].amount;
		else
			to[rows[i].node] += part_of(p->passed, weight, p->total, p->amount, is_signed);
		p->passed += weight;
	}
	for (size_t i = 0; i < count; i++)
		sums[rows[i].node] = sums[probe[rows[i].node]] = (struct sums){0};
}

static bool same_pool(const struct share_row *a, const struct share_row *b)
{
	return a->program == b->program && a->source == b->source;
}

static int compare(const void *pa, const void *pb)
{
	const struct share_row *a = pa, *b = pb;

	if (a->program != b->program)
		return (uintptr_t)a->program < (uintptr_t)b->program ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

int share_out(struct share *share, const uint32_t *probe, size_t count, bool is_signed, uint64_t *ret_values)
{
	struct sums *sums = calloc(count, sizeof(*sums));
	const struct share_row *rows;
	size_t end;

	if (!sums)
		return HYB_ENOMEM;
	row_map_sort(&share->rows, compare);
	rows = share->rows.rows;
	for (size_t i = 0; i < share->rows.count; i = end) {
		for (end = i + 1; end < share->rows.count && same_pool(&rows[i], &rows[end]);)
			end++;
		share_pool(rows + i, end - i, probe, is_signed, sums, ret_values);
	}
	free(sums);
	return 0;
}

void share_release(struct share *share)
{
	row_map_release(&share->rows);
}
