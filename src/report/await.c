/* What Python's coroutines waited: their own table, since it is no time of a thread. */
#include <inttypes.h>

#include "base/json.h"
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

void report_json_awaits(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_node *rows = profile_awaits(profile, &count);

	if (!count)
		return;
	fputs(",\n\"awaiting\":[", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s\n{\"name\":", i ? "," : "");
		json_string(out, rows[i].name);
		fputs(",\"file\":", out);
		json_string(out, rows[i].file);
		fprintf(out, ",\"line\":%u,\"suspensions\":%" PRIu64 ",\"awaited_ns\":%" PRIu64 "}",
			rows[i].line, rows[i].calls, rows[i].inclusive);
	}
	fputc(']', out);
}
