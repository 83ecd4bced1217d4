/* --list-metrics. */
#include "metrics.h"

#include "launch/metrics.h"
#include "kernel_events.h"
#include "perf.h"
#include "run/message.h"

#include <string.h>

#define NAME_WIDTH 34

struct listing {
	const char *filter;
	const char *title; /* still to be printed; NULL: was */
	bool any, presets;
};

static void put_row(
	struct listing *listing, const char *name, const char *unit, bool samples, const char *text)
{
	if (listing->filter && !strcasestr(name, listing->filter) && !strcasestr(text, listing->filter))
		return;
	if (listing->title)
		printf("%s%s\n", listing->any ? "\n" : "", listing->title);
	listing->title = NULL;
	listing->any = true;
	printf("  %-*s  %-4s  %-2s  %s\n", NAME_WIDTH, name, unit, samples ? "-e" : "", text);
}

/* One that can be counted here. */
static void put_event(struct listing *listing, const struct papi_event *event)
{
	bool counts = true;

	for (unsigned i = 0; i < event->parts && counts; i++)
		counts = !perf_try(&event->part[i], PERF_COUNT);
	if (counts)
		put_row(listing, event->name, event->unit,
			event->parts == 1 && !perf_try(&event->part[0], PERF_SAMPLE), event->text);
}

static bool put_event_of_papi(void *data, const struct papi_event *event)
{
	struct listing *listing = data;
	struct papi_event own;

	if (kernel_event_find(event->name, &own))
		return true; /* stands above */
	if (!event->preset && listing->presets) {
		listing->presets = false;
		listing->title = "Native events:";
	}
	put_event(listing, event);
	return true;
}

static void put_component(void *data, const struct papi_component *component)
{
	struct listing *listing = data;
	const char *why = component->disabled;

	if (!why && strcmp(component->name, "perf_event") && strcmp(component->name, "sysdetect"))
		why = "counts the whole machine, not a thread";
	if (why && (!listing->filter || strcasestr(component->name, listing->filter)))
		put_row(listing, component->name, "", false, why);
}

static void put_kernel(void)
{
	/* PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES */
	static const struct metric_part cycles = {.sign = 1};
	int result = perf_try(&cycles, PERF_COUNT);

	if (result)
		printf("\nCounters of the processor are not to be had here: %s.\n",
			perf_refusal(result, PERF_COUNT));
	if (!perf_kernel_counts())
		printf("\nEvents are counted without the kernel's part: lower "
		       "/proc/sys/kernel/perf_event_paranoid to 1 for that.\n");
}

/* Those that answer one question: what Hybrid reads by itself, and what the kernel counts. */
static void put_group(struct listing *listing, enum metric_group group)
{
	static const char *const titles[METRIC_GROUPS] = {
		[METRIC_CPU_TIME] = "CPU time: how much is the program's own, and how much the kernel's?",
		[METRIC_SWITCHES] = "Switches: do threads wait, or lose their core to others?",
		[METRIC_MEMORY] = "Memory: how much is there, and where is it first touched?",
		[METRIC_INPUT_OUTPUT] = "Input and output: how much goes through calls, and to storage?",
		[METRIC_INSTRUCTIONS] = "Instructions: how many, in how many cycles, and what holds them up?",
		[METRIC_CACHES] = "Caches: does it wait for memory?",
	};
	struct papi_event event;

	listing->title = titles[group];
	for (size_t i = 0; i < METRIC_WORDS; i++)
		if (metric_words[i].group == group)
			put_row(listing, metric_words[i].name, metric_words[i].unit, false,
				metric_words[i].text);
	for (size_t i = 0; kernel_event_at(i, &event); i++)
		if (kernel_event_group(i) == group)
			put_event(listing, &event);
}

static void say_none(const struct hybrid_papi *papi, const char *filter)
{
	char text[512] = "";

	metrics_suggest(papi, filter, text, sizeof(text));
	message("--list-metrics %s: no metric has that in its name or description%s", filter, text);
}

bool metrics_show(const char *filter, const char *library)
{
	struct listing listing = {.filter = filter};
	const struct hybrid_papi *papi;

	for (enum metric_group group = 0; group < METRIC_GROUPS; group++)
		put_group(&listing, group);
	listing.title = "The program's own:";
	put_row(&listing, "user::NAME", "", false, "what the program counts by hybrid_count(), by its name");
	papi = metrics_papi(library, "events of PAPI");
	if (papi) {
		listing.title = "Presets of PAPI:";
		listing.presets = true;
		papi->list(put_event_of_papi, &listing);
		listing.title = "Parts of PAPI that do not count here:";
		papi->components(put_component, &listing);
	}
	if (!filter) {
		puts("\n-e: takes samples, too, by -e NAME@PERIOD.");
		put_kernel();
	}
	if (!listing.any)
		say_none(papi, filter);
	return listing.any;
}
