/* What Python's coroutines waited: their own table, since it is no time of a thread. */
#include "sheet.h"

static double mean_of(const struct field_row *row)
{
	const struct profile_node *n = row->thing;

	return (double)(n->inclusive / n->calls);
}

/* clang-format off */
#define AT(member) FIELD_OF(struct profile_node, member)

static const struct field_column columns[] = {
	COLUMN(FIELD(.key = "name", .form = FIELD_TEXT, AT(name))),
	COLUMN(FIELD(.key = "file", .form = FIELD_TEXT, AT(file))),
	COLUMN(FIELD(.key = "line", .form = FIELD_COUNT, AT(line))),
	COLUMN(FIELD(.name = "times", .key = "suspensions", .form = FIELD_COUNT, .width = 10, AT(calls))),
	COLUMN(FIELD(.name = "total", .key = "awaited_ns", .form = FIELD_DURATION, .width = 12, AT(inclusive))),
	COLUMN(FIELD(.name = "mean", .form = FIELD_DURATION, .width = 12, .value = mean_of)),
	{0}};
/* clang-format on */

void report_awaits(struct style *style, const struct profile *profile)
{
	size_t count;
	const struct profile_node *rows = profile_awaits(profile, &count);

	if (count)
		list_heading(style, columns, 0, "awaiting (many may wait at once: not the threads' time)");
	for (size_t i = 0; i < count; i++) {
		struct label label = {.kind = PROFILE_PROBE,
			.name = rows[i].name,
			.file = rows[i].file,
			.module = "",
			.line = rows[i].line};
		int used = list_cells(style, columns, 0, &(struct field_row){.thing = &rows[i]});

		used += fprintf(style->out, "  ");
		style_label(style, &label, (unsigned)used);
	}
}

void report_json_awaits(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_node *rows = profile_awaits(profile, &count);

	if (count)
		field_list_json_rows(json, "awaiting", columns, rows, sizeof(*rows), count);
}
