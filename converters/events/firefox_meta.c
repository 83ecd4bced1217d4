#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "converters/events/firefox.h"
#include "profile/origin.h"

#define GECKO_VERSION 31
#define PROCESSED_VERSION 62

static const char schema[] = "\"markerSchema\":[{\"name\":\"Call\",\"display\":[\"marker-chart\",\"marker-"
			     "table\",\"timeline-overview\"],"
			     "\"fields\":[],\"isStackBased\":true},"
			     "{\"name\":\"Marker\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-"
			     "overview\"],\"fields\":[]}]";

/* ns that a sample stands for; 1 ms where there are none. */
static uint64_t interval_of(const struct events_walk *walk)
{
	for (size_t i = 0; i < walk->location_count; i++)
		if (walk->locations[i].info->samples && walk->locations[i].info->period)
			return walk->locations[i].info->period;
	return 1000000;
}

/* Milliseconds since 1970. */
static int64_t start_of(const struct events_walk *walk)
{
	const struct events_location *first = walk->location_count ? walk->locations : NULL;

	return first ? origin_realtime(first->info->process, first->origin) / 1000000 : 0;
}

/* In the profiler's window of metadata. */
static void put_notes(const struct convert_job *job, FILE *out)
{
	if (!job->notes || !job->notes->count)
		return;
	fputs(",\n\"extra\":[{\"label\":\"hybrid-convert\",\"entries\":[", out);
	for (size_t i = 0; i < job->notes->count; i++) {
		fprintf(out, "%s{\"label\":\"Note\",\"format\":\"string\",\"value\":", i ? "," : "");
		json_string(out, job->notes->lines[i]);
		fputc('}', out);
	}
	fputs("]}]", out);
}

void firefox_put_meta(const struct firefox *f)
{
	static const char *const colors[EVENTS_CATEGORIES] = {"blue", "green", "orange", "red", "purple"};
	const char *command = hyb_experiment_value(f->job->experiment, "command");
	FILE *out = f->out;

	fputs("\"meta\":{\"interval\":", out);
	firefox_put_time(out, interval_of(&f->walk));
	fprintf(out, ",\"startTime\":%" PRId64 ",\"processType\":0,\"stackwalk\":1,\"debug\":false",
		start_of(&f->walk));
	fprintf(out, ",\"version\":%d,\"preprocessedProfileVersion\":%d", GECKO_VERSION, PROCESSED_VERSION);
	fputs(",\"importedFrom\":\"Hybrid\",\"symbolicated\":true,\"platform\":\"Linux\""
	      ",\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\"product\":",
		out);
	json_string(out, command ? command : hyb_experiment_path(f->job->experiment));
	fputs(",\n\"categories\":[", out);
	for (unsigned i = 0; i < EVENTS_CATEGORIES; i++)
		fprintf(out, "{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]},",
			events_category_names[i], colors[i]);
	fputs("{\"name\":\"other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n", out);
	fputs(schema, out);
	put_notes(f->job, out);
	fputc('}', out);
}
