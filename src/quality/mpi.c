/* The lines of the quality block about MPI: ranks, calls, clocks. */
#include <inttypes.h>

#include "format/words.h"
#include "format/format.h"
#include "quality/quality.h"

#define RANGES_MAX 8 /* of missing ranks that are listed */

static const struct {
	const char *key, *one, *many;
} counts[HYB_MPI_COUNT] = {
	[HYB_MPI_ERRORS] = {"errors", "returned an error", "returned errors"},
	[HYB_MPI_INSIDE] = {"inside", "made by MPI itself is not recorded",
		"made by MPI itself are not recorded"},
	[HYB_MPI_ABANDONED] = {"abandoned", "was left by a jump", "were left by a jump"},
	[HYB_MPI_UNTRACKED] = {"untracked", "request was not followed", "requests were not followed"},
};

/* A part of the ranks' rows: one MPI_COMM_WORLD. */
struct world {
	const struct profile_rank *rows;
	size_t count;
	uint32_t size;
};

/* The world that begins at row *at, which is moved behind it. False: there is none. */
static bool next_world(const struct profile *profile, size_t *at, struct world *ret)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);

	if (*at >= count)
		return false;
	*ret = (struct world){.rows = rows + *at};
	for (; *at < count && rows[*at].world == ret->rows->world; ++*at, ret->count++)
		ret->size = rows[*at].size > ret->size ? rows[*at].size : ret->size;
	return true;
}

/*
 * The next ranks that are missing, from *rank on, which is moved behind them. False: no more. `row`: the
 * first whose rank is not below.
 */
static bool next_gap(const struct world *world, size_t *row, uint32_t *rank, uint32_t *ret_first)
{
	for (; *row < world->count && world->rows[*row].rank == *rank; ++*row)
		++*rank;
	if (*rank >= world->size)
		return false;
	*ret_first = *rank;
	*rank = *row < world->count && world->rows[*row].rank < world->size ? world->rows[*row].rank
									    : world->size;
	return true;
}

static void put_missing(struct remarks *remarks, const struct world *world)
{
	struct text text = text_begin();
	uint32_t rank = 0, first;
	size_t row = 0, listed = 0;
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	if (world->count >= world->size)
		return;
	text_add(&text, "rank%s", text_plural(world->size - world->count));
	while (listed < RANGES_MAX && next_gap(world, &row, &rank, &first)) {
		text_add(&text, "%s %" PRIu32, listed++ ? "," : "", first);
		if (rank > first + 1)
			text_add(&text, "-%" PRIu32, rank - 1);
	}
	if (next_gap(world, &row, &rank, &first))
		text_add(&text, " and others, %s", figure_number(world->size - world->count, n));
	text_add(&text, " of %s have no file that can be read: what they did is missing",
		figure_number(world->size, m));
	remarks_add(remarks, true, "note", &text);
}

static void add_worlds(struct text *text, const struct profile *profile)
{
	struct world world;
	size_t at = 0, worlds = 0;
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	for (; next_world(profile, &at, &world); worlds++)
		text_add(text, "%s%s of %s rank%s, threads %s", worlds ? "; " : "",
			figure_number(world.count, n), figure_number(world.size, m), text_plural(world.size),
			word_key(&words_thread_level, world.rows->thread_level));
	if (profile_quality(profile)->ranks < at)
		text_add(text, "; %s chosen", figure_number(profile_quality(profile)->ranks, n));
	text_add(text, "%s", worlds ? "; " : "");
}

static void put_calls(struct remarks *remarks, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);
	struct text text = text_begin();
	size_t functions;
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	profile_functions(profile, &functions);
	add_worlds(&text, profile);
	text_add(&text, "%s call%s of %zu function%s, %s", figure_number(q->mpi_calls, n),
		text_plural(q->mpi_calls), functions, text_plural(functions),
		figure_duration(q->mpi_time, m));
	for (unsigned i = 0; i < HYB_MPI_COUNT; i++)
		if (q->mpi[i])
			text_add(&text, "; %s %s", figure_number(q->mpi[i], n),
				q->mpi[i] == 1 ? counts[i].one : counts[i].many);
	remarks_add(remarks, false, "mpi", &text);
}

static void put_clocks(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE], error[FIGURE_SIZE];

	if (!q->clocks)
		return;
	text_add(&text, "times of %s process%s were corrected to the clock of rank 0, to within %s",
		figure_number(q->clocks, n), q->clocks == 1 ? "" : "es",
		figure_duration(q->clock_error, error));
	remarks_add(remarks, false, "clocks", &text);
}

void quality_mpi(struct remarks *remarks, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);
	struct world world;
	size_t at = 0;

	if (q->mpi_calls || q->ranks)
		put_calls(remarks, profile);
	put_clocks(remarks, q);
	while (next_world(profile, &at, &world))
		put_missing(remarks, &world);
}

/* ------------------------------------------------------------- machines */

static void json_world(struct json *json, const struct world *world)
{
	uint32_t rank = 0, first;
	size_t row = 0;

	json_object(json, NULL);
	json_id(json, "world", world->rows->world);
	json_number(json, "size", world->size);
	json_number(json, "seen", world->count);
	json_array(json, "missing");
	while (next_gap(world, &row, &rank, &first)) {
		json_array(json, NULL);
		json_number(json, NULL, first);
		json_number(json, NULL, rank - 1);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void quality_json_mpi(struct json *json, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);
	struct world world;
	size_t at = 0, functions;

	if (!q->mpi_calls && !q->ranks)
		return;
	profile_functions(profile, &functions);
	json_object(json, "mpi");
	json_number(json, "ranks", q->ranks);
	json_number(json, "calls", q->mpi_calls);
	json_number(json, "functions", functions);
	json_number(json, "time_ns", q->mpi_time);
	json_number(json, "clocks_corrected", q->clocks);
	json_number(json, "clock_error_ns", q->clock_error);
	for (unsigned i = 0; i < HYB_MPI_COUNT; i++)
		json_number(json, counts[i].key, q->mpi[i]);
	json_array(json, "worlds");
	while (next_world(profile, &at, &world))
		json_world(json, &world);
	json_end(json);
	json_end(json);
}
