/* Time in MPI: by function, and by call path. */
#include "sheet.h"

#define FUNCTIONS_ROOM 116u /* columns from which the table of functions is whole */
#define PATHS_ROOM 100u /* the same, of call paths */

/* --------------------------------------------------------------- columns */

/* A path above a function of MPI has nothing of its own. */
static double heat_of_call(const struct field_row *row)
{
	return row->most && row->whole ? (double)row->now.inclusive / (double)row->whole : 0;
}

static double heat_of_function(const struct field_row *row)
{
	return row->whole ? (double)row->now.inclusive / (double)row->whole : 0;
}

static const struct field name_field = {
	.key = "name", .form = FIELD_TEXT, FIELD_OF(struct profile_function, name)};
static const struct field time_field = {.name = "time",
	.key = "time_ns",
	.form = FIELD_TIME,
	.at = offsetof(struct field_row, now.inclusive),
	.heat = heat_of_function};
static const struct field path_time_field = {.name = "time",
	.form = FIELD_TIME,
	.at = offsetof(struct field_row, now.inclusive),
	.heat = heat_of_call};

static const struct field_column function_columns[] = {COLUMN(&fields[FIELD_CALLS]),
	COLUMN(&time_field, .hot = true), COLUMN(&fields[FIELD_PERCENT], .heading = "time%"),
	COLUMN(&fields[FIELD_MEAN]), COLUMN(&fields[FIELD_LEAST], .room = FUNCTIONS_ROOM),
	COLUMN(&fields[FIELD_LEAST_RANK], .room = FUNCTIONS_ROOM), COLUMN(&fields[FIELD_MOST]),
	COLUMN(&fields[FIELD_MOST_RANK]), COLUMN(&fields[FIELD_IMBALANCE], .room = FUNCTIONS_ROOM),
	COLUMN(&fields[FIELD_MESSAGES], .room = FUNCTIONS_ROOM), COLUMN(&fields[FIELD_SENT]),
	COLUMN(&fields[FIELD_RECEIVED], .width = 9, .room = FUNCTIONS_ROOM), {0}};

static const struct field_column function_data[] = {COLUMN(&name_field), COLUMN(&fields[FIELD_CALLS]),
	COLUMN(&time_field), COLUMN(&fields[FIELD_MESSAGES]), COLUMN(&fields[FIELD_SENT]),
	COLUMN(&fields[FIELD_RECEIVED]), COLUMN(&fields[FIELD_RANKS]), COLUMN(&fields[FIELD_MEAN]),
	COLUMN(&fields[FIELD_LEAST]), COLUMN(&fields[FIELD_LEAST_RANK]), COLUMN(&fields[FIELD_MOST]),
	COLUMN(&fields[FIELD_MOST_RANK]), COLUMN(&fields[FIELD_DEVIATION]), COLUMN(&fields[FIELD_IMBALANCE]),
	{0}};

static const struct field_column path_columns[] = {COLUMN(&path_time_field, .hot = true),
	COLUMN(&fields[FIELD_PERCENT], .heading = "time%"), COLUMN(&fields[FIELD_CALLS]),
	COLUMN(&fields[FIELD_CALL_MEAN]), COLUMN(&fields[FIELD_CALL_LEAST], .room = PATHS_ROOM),
	COLUMN(&fields[FIELD_CALL_MOST]), COLUMN(&fields[FIELD_SENT], .room = PATHS_ROOM),
	COLUMN(&fields[FIELD_RECEIVED], .room = PATHS_ROOM), {0}};

static struct field_row row_of(
	const struct profile_function *f, const struct profile *profile, uint64_t whole)
{
	return (struct field_row){.thing = f,
		.now = {.calls = f->calls, .inclusive = f->time},
		.whole = whole,
		.messages = f->messages,
		.sent = f->sent,
		.received = f->received,
		.spread = &f->spread,
		.ranks = profile_quality(profile)->ranks};
}

/* ----------------------------------------------------------------- text */

/* All of them, whatever the threshold: this says what was seen. */
static void put_functions(struct style *style, const struct profile *profile, uint64_t whole, int time_width)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);
	char heading[64];

	snprintf(heading, sizeof(heading), "function (%s, bytes)", style->unit_name);
	list_heading(style, function_columns, time_width, heading);
	for (size_t i = 0; i < count; i++) {
		const struct field_row row = row_of(&functions[i], profile, whole);
		const struct label label = {
			.kind = PROFILE_PROBE, .name = functions[i].name, .file = "", .module = ""};
		int used = list_cells(style, function_columns, time_width, &row) + fprintf(style->out, "  ");

		style_label(style, &label, (unsigned)used);
	}
}

static int put_text(struct style *style, const struct profile *profile, struct sheet *sheet)
{
	const struct profile_node *all = profile_nodes(profile);
	char heading[64];
	int time_width;

	sheet_set_whole(sheet, all->inclusive, all->idle); /* not of MPI alone */
	time_width = style_times(style, sheet->time);
	style_set_unit(
		style, profile_quality(profile)->mpi_time / 4); /* most times are far below their sum */
	put_functions(style, profile, sheet->time_whole, time_width);
	snprintf(heading, sizeof(heading), "call path to MPI (%s, bytes)", style->unit_name);
	sheet->list = path_columns;
	return sheet_tree(style, sheet, time_width, heading);
}

/* ------------------------------------------------------------- machines */

static void json_functions(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);

	json_list(json, "functions");
	for (size_t i = 0; i < count; i++) {
		const struct field_row row = row_of(&functions[i], profile, 0);

		json_row(json);
		field_list_json(json, function_data, &row);
		json_end(json);
	}
	json_end(json);
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);
	struct csv csv = {.out = out};

	field_list_csv_heading(&csv, function_data);
	for (size_t i = 0; i < count; i++) {
		const struct field_row row = row_of(&functions[i], profile, 0);

		field_list_csv(&csv, function_data, &row);
	}
}

/* Text, or JSON with the call paths as a tree. */
static int put_tree(struct style *style, const struct report_options *options, const struct profile *profile)
{
	struct column_set set;
	struct profile_tree tree;
	struct sheet sheet = {.options = options, .set = &set, .is_tree = true};
	int r = profile_mpi_tree(profile, &tree);

	if (r)
		return r;
	r = columns_init(&set, NULL, 0); /* time alone */
	sheet.nodes = tree.nodes;
	sheet.count = tree.count;
	if (!r)
		r = sheet_make(&sheet);
	if (!r && options->output == REPORT_JSON) {
		json_functions(&style->json, profile);
		r = report_json_tree(&style->json, &sheet);
	} else if (!r) {
		r = put_text(style, profile, &sheet);
	}
	sheet_release(&sheet);
	columns_release(&set);
	profile_tree_release(&tree);
	return r;
}

int report_mpi(struct style *style, const struct report_options *options, const struct profile *profile)
{
	if (options->output == REPORT_CSV)
		put_csv(style->out, profile);
	else if (options->output == REPORT_TEXT && !profile_quality(profile)->mpi_calls)
		fputs("\nno call of MPI was seen\n", style->out);
	else
		return put_tree(style, options, profile);
	return 0;
}
