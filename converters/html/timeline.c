/*
 * In which function each thread was, by bins of time: that in which it was longest. A row is runs of bins
 * with the same one, so that the page grows with what changes, and no more than its bounds say.
 */
#include <stdlib.h>

#include "base/array.h"
#include "converters/events/convert_events.h"
#include "converters/formats.h"
#include "converters/html/page.h"

enum { NOT_THERE = 0, NOWHERE = 1, FIRST = 2 }; /* numbers of a bin: the thread was not; in no function */

struct function { /* row of a table, all of it key */
	const char *name, *module;
};

struct bins {
	struct html *html;
	struct events_walk walk;
	struct table functions; /* their numbers are those in front, and FIRST */
	uint32_t *numbers; /* by node of the tree */
	uint64_t length; /* ns that a row is long */
	uint64_t width; /* ns of a bin */
	size_t count;
	/* of the location: */
	size_t rows, left_out;
	uint64_t *spent; /* by number, in this bin */
	uint32_t *touched; /* numbers with something there */
	size_t touched_count;
	uint32_t *open; /* numbers; grown by ARRAY_ROOM */
	size_t depth;
	uint64_t time; /* up to which is accounted for */
	size_t bin, run; /* that is being filled; bins of `number` that are not written yet */
	uint32_t number;
};

/* ---------------------------------------------------------------- one row */

static void put_run(struct bins *b)
{
	if (b->run) {
		json_number(&b->html->json, NULL, b->run);
		json_number(&b->html->json, NULL, b->number);
	}
	b->run = 0;
}

/* The next `bins` have this number. */
static void add_run(struct bins *b, uint32_t number, size_t bins)
{
	if (number != b->number)
		put_run(b);
	b->number = number;
	b->run += bins;
	b->bin += bins;
}

/* The bin is over. */
static void close_bin(struct bins *b)
{
	uint32_t most = NOT_THERE;

	for (size_t i = 0; i < b->touched_count; i++) {
		if (b->spent[b->touched[i]] > b->spent[most])
			most = b->touched[i];
	}
	for (size_t i = 0; i < b->touched_count; i++)
		b->spent[b->touched[i]] = 0;
	b->touched_count = 0;
	add_run(b, most, 1);
}

static void spend(struct bins *b, uint32_t number, uint64_t ns)
{
	if (!ns)
		return;
	if (!b->spent[number])
		b->touched[b->touched_count++] = number;
	b->spent[number] += ns;
}

/* The thread was in the function of that number up to `time`. */
static void advance(struct bins *b, uint32_t number, uint64_t time)
{
	uint64_t edge = (b->bin + 1) * b->width;

	if (time < b->time)
		return;
	if (time >= edge) {
		spend(b, number, edge > b->time ? edge - b->time : 0);
		close_bin(b);
		if (time / b->width > b->bin)
			add_run(b, number, (size_t)(time / b->width - b->bin));
		b->time = b->bin * b->width;
	}
	spend(b, number, time - b->time);
	b->time = time;
}

static uint32_t current(const struct bins *b)
{
	return b->depth ? b->open[b->depth - 1] : NOWHERE;
}

/* --------------------------------------------------------- told by the walk */

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct bins *b = data;
	char name[PROFILE_LOCATION_NAME];

	if (b->rows == HTML_ROWS) {
		b->left_out++;
		return 1;
	}
	b->rows++;
	profile_name_location(location->info, name);
	json_line(&b->html->json);
	json_object(&b->html->json, NULL);
	json_text(&b->html->json, "name", name);
	json_array(&b->html->json, "runs");
	b->depth = b->bin = b->run = 0;
	b->time = 0;
	advance(b, NOT_THERE, time);
	return 0;
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct bins *b = data;

	if (!ARRAY_ROOM(b->open, b->depth))
		return HYB_ENOMEM;
	advance(b, current(b), time);
	b->open[b->depth++] = b->numbers[node];
	return 0;
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct bins *b = data;

	advance(b, current(b), time);
	b->depth -= b->depth > 0;
	return 0;
}

static int end(void *data, uint64_t time)
{
	struct bins *b = data;

	advance(b, current(b), time);
	if (b->touched_count)
		close_bin(b);
	put_run(b);
	json_end(&b->html->json);
	json_end(&b->html->json);
	return 0;
}

/* -------------------------------------------------------------------- all */

static int number_nodes(struct bins *b)
{
	b->numbers = calloc(b->walk.node_count, sizeof(*b->numbers));
	b->functions =
		(struct table){.row_size = sizeof(struct function), .key_size = sizeof(struct function)};
	for (uint32_t i = 0; b->numbers && i < b->walk.node_count; i++) {
		struct function key = {events_node_name(&b->walk, i), b->walk.nodes[i].module};
		const struct function *row = table_row(&b->functions, &key);

		if (!row)
			return HYB_ENOMEM;
		b->numbers[i] = FIRST + (uint32_t)(row - (const struct function *)b->functions.rows);
	}
	if (b->numbers)
		b->numbers[0] = NOWHERE;
	b->spent = calloc(b->functions.count + FIRST, sizeof(*b->spent));
	b->touched = calloc(b->functions.count + FIRST, sizeof(*b->touched));
	return b->numbers && b->spent && b->touched ? HYB_OK : HYB_ENOMEM;
}

static void choose_bins(struct bins *b)
{
	size_t rows = b->walk.location_count < HTML_ROWS ? b->walk.location_count : HTML_ROWS;

	for (size_t i = 0; i < b->walk.location_count; i++) {
		const struct events_location *l = &b->walk.locations[i];

		if (l->info->end > l->origin && l->info->end - l->origin > b->length)
			b->length = l->info->end - l->origin;
	}
	b->count = HTML_BINS / (rows + 1);
	b->count = b->count > 8000 ? 8000 : b->count;
	b->width = b->length / b->count + 1;
}

static void put_functions(const struct bins *b)
{
	const struct function *functions = b->functions.rows;
	struct json *json = &b->html->json;

	json_array(json, "functions");
	json_null(json, NULL);
	json_null(json, NULL);
	for (size_t i = 0; i < b->functions.count; i++) {
		json_array(json, NULL);
		json_text(json, NULL, functions[i].name);
		json_text(json, NULL, functions[i].module);
		json_end(json);
	}
	json_end(json);
}

static int run(struct bins *b, struct hyb_error *err)
{
	const struct events_sink sink = {
		.begin = begin, .enter = enter, .leave = leave, .end = end, .data = b};
	int r;

	if (number_nodes(b))
		return convert_no_memory(err);
	choose_bins(b);
	json_object(&b->html->json, "timeline");
	json_number(&b->html->json, "length", b->length);
	json_number(&b->html->json, "width", b->width);
	json_array(&b->html->json, "rows");
	r = events_walk_run(&b->walk, &sink, err);
	json_end(&b->html->json);
	put_functions(b);
	json_end(&b->html->json);
	if (!r && b->left_out)
		convert_say(b->html->job, "%zu threads are left out of the timeline, which has 2,000",
			b->left_out);
	return r;
}

int html_put_timeline(struct html *html, struct hyb_error *err)
{
	struct bins b = {.html = html};
	int r;

	json_line(&html->json);
	r = events_walk_make(html->job, PROFILE_FUNCTION, &b.walk, err);
	if (!r && !b.walk.total)
		json_null(&html->json, "timeline");
	else if (!r)
		r = run(&b, err);
	events_walk_release(&b.walk);
	table_release(&b.functions);
	free(b.numbers);
	free(b.spent);
	free(b.touched);
	free(b.open);
	return r;
}
