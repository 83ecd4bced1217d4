/*
 * In which function each thread was, by bins of time. A row is runs of bins with the same one, so that the
 * page grows with what changes, and no more than its bounds say.
 */
#include <stdlib.h>

#include "base/array.h"
#include "converters/events/convert_events.h"
#include "converters/formats.h"
#include "converters/html/page.h"
#include "profile/views/bins.h"

enum { NOT_THERE = 0, NOWHERE = 1, FIRST = 2 }; /* numbers of a bin: the thread was not; in no function */

struct function { /* row of a table, all of it key */
	const char *name, *module;
};

struct timeline {
	struct html *html;
	struct events_walk walk;
	struct row_map functions; /* their numbers are those in front, and FIRST */
	uint32_t *numbers; /* by node of the tree */
	uint64_t length, width; /* ns: of a row; of a bin */
	size_t count; /* bins */
	uint64_t *edges;
	size_t rows, left_out;
	/* of the location: */
	struct bins bins;
	uint32_t *where;
	uint32_t *open; /* nodes; grown by ARRAY_ROOM */
	size_t depth;
	uint64_t time; /* up to which is accounted for */
};

/* ---------------------------------------------------------------- one row */

static void advance(struct timeline *t, uint64_t time)
{
	if (time <= t->time)
		return;
	bins_spend(&t->bins, t->depth ? t->open[t->depth - 1] : 0, t->time, time);
	t->time = time;
}

static uint32_t number_of(const struct timeline *t, size_t bin)
{
	return t->where[bin] == BIN_NOWHERE ? NOT_THERE : t->numbers[t->where[bin]];
}

static void put_runs(const struct timeline *t)
{
	struct json *json = &t->html->json;
	size_t next;

	json_array(json, "runs");
	for (size_t bin = 0; bin < t->count; bin = next) {
		uint32_t number = number_of(t, bin);

		for (next = bin + 1; next < t->count && number_of(t, next) == number;)
			next++;
		if (number == NOT_THERE && next == t->count)
			break;
		json_number(json, NULL, next - bin);
		json_number(json, NULL, number);
	}
	json_end(json);
}

/* --------------------------------------------------------- callbacks of the walk */

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct timeline *t = data;
	char name[PROFILE_LOCATION_NAME];

	if (t->rows == HTML_ROWS) {
		t->left_out++;
		return 1;
	}
	t->rows++;
	profile_name_location(location->info, name);
	json_row(&t->html->json);
	json_text(&t->html->json, "name", name);
	bins_begin(&t->bins, t->where);
	t->depth = 0;
	t->time = time;
	return 0;
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct timeline *t = data;

	if (!ARRAY_ROOM(t->open, t->depth))
		return HYB_ENOMEM;
	advance(t, time);
	t->open[t->depth++] = node;
	return 0;
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct timeline *t = data;

	advance(t, time);
	t->depth -= t->depth > 0;
	return 0;
}

static int end(void *data, uint64_t time)
{
	struct timeline *t = data;

	advance(t, time);
	bins_end(&t->bins);
	put_runs(t);
	json_end(&t->html->json);
	return 0;
}

/* -------------------------------------------------------------------- all */

static int number_nodes(struct timeline *t)
{
	t->numbers = calloc(t->walk.node_count, sizeof(*t->numbers));
	t->functions =
		(struct row_map){.row_size = sizeof(struct function), .key_size = sizeof(struct function)};
	for (uint32_t i = 0; t->numbers && i < t->walk.node_count; i++) {
		struct function key = {events_node_name(&t->walk, i), t->walk.nodes[i].module};
		uint32_t number = row_map_number(&t->functions, &key);

		if (number == ROW_NONE)
			return HYB_ENOMEM;
		t->numbers[i] = FIRST + number;
	}
	if (t->numbers)
		t->numbers[0] = NOWHERE;
	return t->numbers ? HYB_OK : HYB_ENOMEM;
}

static int choose_bins(struct timeline *t)
{
	size_t rows = t->walk.location_count < HTML_ROWS ? t->walk.location_count : HTML_ROWS;

	for (size_t i = 0; i < t->walk.location_count; i++) {
		const struct events_location *l = &t->walk.locations[i];

		if (l->info->end > l->origin && l->info->end - l->origin > t->length)
			t->length = l->info->end - l->origin;
	}
	t->count = HTML_BINS / (rows + 1);
	t->count = t->count > 8000 ? 8000 : t->count;
	t->width = t->length / t->count + 1;
	t->edges = malloc((t->count + 1) * sizeof(*t->edges));
	t->where = malloc(t->count * sizeof(*t->where));
	if (!t->edges || !t->where)
		return HYB_ENOMEM;
	bins_divide(t->edges, t->count, 0, t->count * t->width);
	return bins_init(&t->bins, &t->walk.tree, t->edges, t->count);
}

static void put_functions(const struct timeline *t)
{
	const struct function *functions = t->functions.rows;
	struct json *json = &t->html->json;

	json_array(json, "functions");
	json_null(json, NULL);
	json_null(json, NULL);
	for (size_t i = 0; i < t->functions.count; i++) {
		json_array(json, NULL);
		json_text(json, NULL, functions[i].name);
		json_text(json, NULL, functions[i].module);
		json_end(json);
	}
	json_end(json);
}

static int run(struct timeline *t, struct hyb_error *err)
{
	const struct events_sink sink = {
		.begin = begin, .enter = enter, .leave = leave, .end = end, .data = t};
	int r;

	if (number_nodes(t) || choose_bins(t))
		return convert_no_memory(err);
	json_object(&t->html->json, "timeline");
	json_number(&t->html->json, "length", t->length);
	json_number(&t->html->json, "width", t->width);
	json_array(&t->html->json, "rows");
	r = events_walk_run(&t->walk, &sink, err);
	json_end(&t->html->json);
	put_functions(t);
	json_end(&t->html->json);
	if (!r && t->left_out)
		convert_note(t->html->job, "%zu threads are left out of the timeline, which has 2,000",
			t->left_out);
	return r;
}

int html_put_timeline(struct html *html, struct hyb_error *err)
{
	struct timeline t = {.html = html};
	int r;

	json_line(&html->json);
	r = events_walk_make(html->job, PROFILE_FUNCTION, &t.walk, err);
	if (!r && !t.walk.total)
		json_null(&html->json, "timeline");
	else if (!r)
		r = run(&t, err);
	events_walk_release(&t.walk);
	bins_release(&t.bins);
	row_map_release(&t.functions);
	free(t.numbers);
	free(t.edges);
	free(t.where);
	free(t.open);
	return r;
}
