#include "converters/events/firefox.h"
#include "profile/origin.h"

#define GECKO_VERSION 31
#define PROCESSED_VERSION 62

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
static void put_notes(const struct convert_job *job, struct json *json)
{
	if (!job->notes || !job->notes->count)
		return;
	json_list(json, "extra");
	json_object(json, NULL);
	json_text(json, "label", "hybrid-convert");
	json_array(json, "entries");
	for (size_t i = 0; i < job->notes->count; i++) {
		json_object(json, NULL);
		json_text(json, "label", "Note");
		json_text(json, "format", "string");
		json_text(json, "value", job->notes->lines[i]);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	json_end(json);
}

static void put_category(struct json *json, const char *name, const char *color)
{
	json_object(json, NULL);
	json_text(json, "name", name);
	json_text(json, "color", color);
	json_array(json, "subcategories");
	json_text(json, NULL, "Other");
	json_end(json);
	json_end(json);
}

static void put_marker_schema(struct json *json, const char *name, bool stacks)
{
	static const char *const places[] = {"marker-chart", "marker-table", "timeline-overview"};

	json_object(json, NULL);
	json_text(json, "name", name);
	json_array(json, "display");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		json_text(json, NULL, places[i]);
	json_end(json);
	json_array(json, "fields");
	json_end(json);
	if (stacks)
		json_bool(json, "isStackBased", true);
	json_end(json);
}

static void put_facts(struct json *json, const struct firefox *f)
{
	const char *command = hyb_experiment_value(f->job->experiment, "command");

	json_decimal(json, "interval", interval_of(&f->walk), MILLISECONDS);
	json_signed(json, "startTime", start_of(&f->walk));
	json_number(json, "processType", 0);
	json_number(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_number(json, "version", GECKO_VERSION);
	json_number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_text(json, "importedFrom", "Hybrid");
	json_bool(json, "symbolicated", true);
	json_text(json, "platform", "Linux");
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_text(json, "product", command ? command : hyb_experiment_path(f->job->experiment));
}

void firefox_put_meta(struct firefox *f)
{
	static const char *const colors[EVENTS_CATEGORIES] = {"blue", "green", "orange", "red", "purple"};
	struct json *json = &f->json;

	json_line(json);
	json_object(json, "meta");
	put_facts(json, f);
	json_list(json, "categories");
	for (unsigned i = 0; i < EVENTS_CATEGORIES; i++)
		put_category(json, events_category_names[i], colors[i]);
	put_category(json, "other", "grey");
	json_end(json);
	json_list(json, "markerSchema");
	put_marker_schema(json, "Call", true);
	put_marker_schema(json, "Marker", false);
	json_end(json);
	put_notes(f->job, json);
	json_end(json);
}
