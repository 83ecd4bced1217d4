/* What Python's coroutines waited: their own table, since it is no time of a thread. */
#include <inttypes.h>

#include "report.h"

void report_awaits(struct style *style, const struct profile *profile)
{
	size_t count;
	const struct profile_node *rows = profile_awaits(profile, &count);
	char times[FIGURE_SIZE], total[FIGURE_SIZE], mean[FIGURE_SIZE];

	if (!count)
		return;
	style_ink(style, INK_DIM);
	fprintf(style->out, "\n%10s%12s%12s  awaiting (many may wait at once: not the threads' time)\n",
		"times", "total", "mean");
	style_ink(style, INK_PLAIN);
	for (size_t i = 0; i < count; i++) {
		struct label label = {.kind = PROFILE_PROBE,
			.name = rows[i].name,
			.file = rows[i].file,
			.module = "",
			.line = rows[i].line};
		int used = fprintf(style->out, "%10s%12s%12s  ", figure_count(rows[i].calls, times),
			figure_duration(rows[i].inclusive, total),
			figure_duration(rows[i].inclusive / rows[i].calls, mean));

		style_label(style, &label, (unsigned)used);
	}
}

void report_json_awaits(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_node *rows = profile_awaits(profile, &count);

	if (!count)
		return;
	json_line(json);
	json_array(json, "awaiting");
	for (size_t i = 0; i < count; i++) {
		json_line(json);
		json_object(json, NULL);
		json_text(json, "name", rows[i].name);
		json_text(json, "file", rows[i].file);
		json_number(json, "line", rows[i].line);
		json_number(json, "suspensions", rows[i].calls);
		json_number(json, "awaited_ns", rows[i].inclusive);
		json_end(json);
	}
	json_end(json);
}
