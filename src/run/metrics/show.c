/* --list-metrics. */
#include "metrics.h"

#include "launch/metrics.h"
#include "kernel_events.h"
#include "perf.h"

#include <string.h>

#define NAME_WIDTH 34

struct table {
	const char *filter;
	const char *title; /* still to be printed; NULL: was */
	bool any, presets;
};

static void put_row(struct table *table, const char *name, const char *unit, bool samples, const char *text)
{
	if (table->filter && !strcasestr(name, table->filter) && !strcasestr(text, table->filter))
		return;
	if (table->title)
		printf("%s%s\n", table->any ? "\n" : "", table->title);
	table->title = NULL;
	table->any = true;
	printf("  %-*s  %-4s  %-2s  %s\n", NAME_WIDTH, name, unit, samples ? "-e" : "", text);
}

/* One that can be counted here. */
static void put_event(struct table *table, const struct papi_event *event)
{
	bool counts = true;

	for (unsigned i = 0; i < event->parts && counts; i++)
		counts = !perf_try(&event->part[i], PERF_COUNT);
	if (counts)
		put_row(table, event->name, event->unit,
			event->parts == 1 && !perf_try(&event->part[0], PERF_SAMPLE), event->text);
}

static bool put_event_of_papi(void *data, const struct papi_event *event)
{
	struct table *table = data;
	struct papi_event own;

	if (kernel_event_find(event->name, &own))
		return true; /* stands above */
	if (!event->preset && table->presets) {
		table->presets = false;
		table->title = "Native events:";
	}
	put_event(table, event);
	return true;
}

static void put_component(void *data, const struct papi_component *component)
{
	struct table *table = data;
	const char *why = component->disabled;

	if (!why && strcmp(component->name, "perf_event") && strcmp(component->name, "sysdetect"))
		why = "counts the whole machine, not a thread";
	if (why && (!table->filter || strcasestr(component->name, table->filter)))
		put_row(table, component->name, "", false, why);
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
		       "/proc/sys/kernel/perf_event_paranoid to 1 "
		       "for that.\n");
}

bool metrics_show(const char *filter, const char *library)
{
	struct table table = {.filter = filter, .title = "Read by Hybrid:"};
	const struct hybrid_papi *papi;
	struct papi_event event;

	for (size_t i = 0; i < METRIC_WORDS; i++)
		put_row(&table, metric_words[i].name, metric_words[i].unit, false, metric_words[i].text);
	put_row(&table, "user::NAME", "", false, "what the program counts by hybrid_count(), by its name");
	table.title = "Counted by the kernel:";
	for (size_t i = 0; kernel_event_at(i, &event); i++)
		put_event(&table, &event);
	papi = metrics_papi(library, "events of PAPI");
	if (papi) {
		table.title = "Presets of PAPI:";
		table.presets = true;
		papi->list(put_event_of_papi, &table);
		table.title = "Parts of PAPI that do not count here:";
		papi->components(put_component, &table);
	}
	if (!filter)
		put_kernel();
	return table.any;
}
