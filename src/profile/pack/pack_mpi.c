#include "profile/pack/pack_mpi.h"

#include <assert.h>

#include "profile/pack/pack_fields.h"

static const struct field function_fields[] = {
	FIELD(struct profile_function, calls, FIELD_SUM),
	FIELD(struct profile_function, time, FIELD_SUM),
	FIELD(struct profile_function, messages, FIELD_SUM),
	FIELD(struct profile_function, sent, FIELD_SUM),
	FIELD(struct profile_function, received, FIELD_SUM),
};
static_assert(sizeof(struct profile_function) == 112, "a new field goes into the list above");

/* In front of all lists: the key, as the table has it. */
static const struct field rank_fields[] = {
	FIELD(struct profile_rank, world, FIELD_KEY),
	FIELD(struct profile_rank, rank, FIELD_KEY),
	FIELD(struct profile_rank, size, FIELD_MOST),
	FIELD(struct profile_rank, pid, FIELD_LEAST),
	FIELD(struct profile_rank, thread_level, FIELD_MOST),
	FIELD(struct profile_rank, selected, FIELD_SUM),
	FIELD(struct profile_rank, threads, FIELD_SUM),
	FIELD(struct profile_rank, wall, FIELD_SUM),
	FIELD(struct profile_rank, thread_wall, FIELD_SUM),
	FIELD(struct profile_rank, cpu, FIELD_SUM),
	FIELD(struct profile_rank, blocked, FIELD_SUM),
	FIELD(struct profile_rank, mpi_calls, FIELD_SUM),
	FIELD(struct profile_rank, mpi_time, FIELD_SUM),
	FIELD(struct profile_rank, messages_sent, FIELD_SUM),
	FIELD(struct profile_rank, messages_received, FIELD_SUM),
	FIELD(struct profile_rank, sent, FIELD_SUM),
	FIELD(struct profile_rank, received, FIELD_SUM),
	FIELD(struct profile_rank, errors, FIELD_SUM),
	FIELD(struct profile_rank, clock_shift_start, FIELD_SUM), /* one of them has a clock to correct */
	FIELD(struct profile_rank, clock_shift_end, FIELD_SUM),
	FIELD(struct profile_rank, clock_error, FIELD_MOST),
};
static_assert(sizeof(struct profile_rank) == 160, "a new field goes into the list above");

static const struct field flow_fields[] = {
	FIELD(struct profile_flow, world, FIELD_KEY),
	FIELD(struct profile_flow, from, FIELD_KEY),
	FIELD(struct profile_flow, to, FIELD_KEY),
	FIELD(struct profile_flow, kind, FIELD_KEY),
	FIELD(struct profile_flow, sent.messages, FIELD_SUM),
	FIELD(struct profile_flow, sent.bytes, FIELD_SUM),
	FIELD(struct profile_flow, sent.time, FIELD_SUM),
	FIELD(struct profile_flow, received.messages, FIELD_SUM),
	FIELD(struct profile_flow, received.bytes, FIELD_SUM),
	FIELD(struct profile_flow, received.time, FIELD_SUM),
};
static_assert(sizeof(struct profile_flow) == 72, "a new field goes into the list above");

static const struct field volume_fields[] = {
	FIELD(struct profile_volume, world, FIELD_KEY),
	FIELD(struct profile_volume, handle, FIELD_KEY),
	FIELD(struct profile_volume, message, FIELD_KEY),
	FIELD(struct profile_volume, size_class, FIELD_KEY),
	FIELD(struct profile_volume, messages, FIELD_SUM),
	FIELD(struct profile_volume, sent, FIELD_SUM),
	FIELD(struct profile_volume, received, FIELD_SUM),
	FIELD(struct profile_volume, time, FIELD_SUM),
};
static_assert(sizeof(struct profile_volume) == 56, "a new field goes into the list above");

static const struct field handle_fields[] = {
	FIELD(struct profile_handle, world, FIELD_KEY),
	FIELD(struct profile_handle, identity, FIELD_KEY),
	FIELD(struct profile_handle, parent, FIELD_MOST),
	FIELD(struct profile_handle, type, FIELD_MOST),
	FIELD(struct profile_handle, size, FIELD_MOST),
	FIELD(struct profile_handle, members, FIELD_SUM),
};
static_assert(sizeof(struct profile_handle) == 48, "a new field goes into the list above");

/* ---------------------------------------------------------------- spreads */

void pack_put_spread(struct blob *to, const struct profile_spread *s)
{
	blob_put(to, s->ranks);
	if (!s->ranks)
		return;
	blob_put(to, (uint64_t)s->squares);
	blob_put(to, (uint64_t)(s->squares >> 64));
	blob_put(to, s->total);
	blob_put(to, s->least);
	blob_put(to, s->most);
	blob_put(to, s->least_rank);
	blob_put(to, s->most_rank);
}

struct profile_spread pack_get_spread(struct blob_reader *from)
{
	struct profile_spread s = {.ranks = blob_get(from)};

	if (!s.ranks)
		return s;
	s.squares = blob_get(from);
	s.squares |= (unsigned __int128)blob_get(from) << 64;
	s.total = blob_get(from);
	s.least = blob_get(from);
	s.most = blob_get(from);
	s.least_rank = (uint32_t)blob_get(from);
	s.most_rank = (uint32_t)blob_get(from);
	return s;
}

/* ----------------------------------------------------------------- tables */

static void put_functions(struct blob *to, const struct pack_texts *texts, const struct row_map *table)
{
	const struct profile_function *rows = table->rows;

	blob_put(to, table->count);
	for (size_t i = 0; i < table->count; i++) {
		pack_put_text(to, texts, rows[i].name);
		fields_put(to, &rows[i], function_fields, FIELD_COUNT(function_fields));
		pack_put_spread(to, &rows[i].spread);
	}
}

static int merge_functions(struct blob_reader *from, const struct pack_texts *texts, struct row_map *table)
{
	for (size_t left = blob_get_count(from); from->at && left; left--) {
		const char *name = pack_get_text(from, texts);
		struct profile_function *row = row_map_row(table, &name);
		struct profile_spread spread;

		if (!row)
			return HYB_ENOMEM;
		if (!name)
			from->at = NULL;
		fields_get(from, row, function_fields, FIELD_COUNT(function_fields));
		spread = pack_get_spread(from);
		spread_merge(&row->spread, &spread);
	}
	return 0;
}

static void put_table(struct blob *to, const struct row_map *table, const struct field *fields, size_t count)
{
	blob_put(to, table->count);
	for (size_t i = 0; i < table->count; i++)
		fields_put(to, (const char *)table->rows + i * table->row_size, fields, count);
}

/* Where a row goes whose first `keys` fields are its key. NULL when memory is out. */
static void *get_row(struct blob_reader *from, struct row_map *table, const struct field *fields,
	size_t count, size_t keys)
{
	_Alignas(16) char key[64] = {0};
	void *row;

	fields_get(from, key, fields, keys);
	row = row_map_row(table, key);
	if (row)
		fields_get(from, row, fields + keys, count - keys);
	return row;
}

static int merge_table(struct blob_reader *from, struct row_map *table, const struct field *fields,
	size_t count, size_t keys)
{
	for (size_t left = blob_get_count(from); from->at && left; left--)
		if (!get_row(from, table, fields, count, keys))
			return HYB_ENOMEM;
	return 0;
}

/* With a text at `text` of a row: the host of a rank, the name of a handle. */
static void put_named(struct blob *to, const struct pack_texts *texts, const struct row_map *table,
	const struct field *fields, size_t count, size_t text)
{
	blob_put(to, table->count);
	for (size_t i = 0; i < table->count; i++) {
		const char *row = (const char *)table->rows + i * table->row_size;

		fields_put(to, row, fields, count);
		pack_put_text(to, texts, *(const char *const *)(row + text));
	}
}

static int merge_named(struct blob_reader *from, const struct pack_texts *texts, struct strings *strings,
	struct row_map *table, const struct field *fields, size_t count, size_t text)
{
	for (size_t left = blob_get_count(from); from->at && left; left--) {
		char *row = get_row(from, table, fields, count, 2);
		const char *name = pack_get_text(from, texts);

		if (!row || (name && mpi_choose_name(strings, (const char **)(row + text), name)))
			return HYB_ENOMEM;
	}
	return 0;
}

void pack_put_mpi(struct blob *to, const struct pack_texts *texts, const struct mpi *mpi)
{
	put_functions(to, texts, &mpi->functions);
	put_named(to, texts, &mpi->ranks, rank_fields, FIELD_COUNT(rank_fields),
		offsetof(struct profile_rank, host));
	put_table(to, &mpi->flows, flow_fields, FIELD_COUNT(flow_fields));
	put_table(to, &mpi->volumes, volume_fields, FIELD_COUNT(volume_fields));
	put_named(to, texts, &mpi->handles, handle_fields, FIELD_COUNT(handle_fields),
		offsetof(struct profile_handle, name));
}

int pack_merge_mpi(
	struct blob_reader *from, const struct pack_texts *texts, struct strings *strings, struct mpi *mpi)
{
	if (merge_functions(from, texts, &mpi->functions) ||
		merge_named(from, texts, strings, &mpi->ranks, rank_fields, FIELD_COUNT(rank_fields),
			offsetof(struct profile_rank, host)) ||
		merge_table(from, &mpi->flows, flow_fields, FIELD_COUNT(flow_fields), 4) ||
		merge_table(from, &mpi->volumes, volume_fields, FIELD_COUNT(volume_fields), 4) ||
		merge_named(from, texts, strings, &mpi->handles, handle_fields, FIELD_COUNT(handle_fields),
			offsetof(struct profile_handle, name)))
		return HYB_ENOMEM;
	return 0;
}
