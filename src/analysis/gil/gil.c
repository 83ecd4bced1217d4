/* Threads that wait for the global interpreter lock of Python, by call path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding.h"
#include "profile/metrics/figures.h"

static const struct finding_kind gil_kind = {
	.key = "gil-wait",
	.name = "waiting for Python's lock",
	.meaning = "Threads of Python wait for the global interpreter lock, as another thread runs the "
		   "interpreter.",
	.computed = "The time between asking for the lock and having it, measured in the interpreter's own "
		    "call; summed over the threads.",
	.advice =
		"Let threads work in libraries that release the lock, or use processes in place of threads.",
};

static bool is_wait(const struct hyb_node_info *node)
{
	return node->region && !strcmp(node->region->name, PROFILE_GIL);
}

static int by_time(const void *pa, const void *pb)
{
	const struct node_time *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->location > b->location) - (a->location < b->location);
}

static int add(struct findings *findings, struct node_time *times, size_t count)
{
	struct finding *f = findings_add(findings, &gil_kind);
	char time[FIGURE_SIZE], waits[FIGURE_SIZE];

	if (!f)
		return HYB_ENOMEM;
	f->node = times->node;
	for (size_t i = 0; i < count; i++) {
		f->severity += times[i].ns;
		f->count += times[i].calls;
	}
	qsort(times, count, sizeof(*times), by_time);
	for (size_t i = 0; i < count && f->severity; i++)
		if (!finding_add_who(f, times[i].location, (double)times[i].ns / (double)f->severity))
			return HYB_ENOMEM;
	snprintf(f->text, sizeof(f->text), "%zu thread%s wait%s %s for it, %s time%s", count,
		count == 1 ? "" : "s", count == 1 ? "s" : "", figure_duration(f->severity, time),
		figure_number(f->count, waits), f->count == 1 ? "" : "s");
	return 0;
}

static int find(void *data, const struct analysis_input *input, struct findings *findings)
{
	struct node_time *times;
	size_t count;
	int r = analysis_times(input, is_wait, &times, &count);

	if (r)
		return r;
	for (size_t i = 0, n; i < count && !r; i += n) {
		for (n = 1; i + n < count && times[i + n].node == times[i].node; n++)
			;
		r = add(findings, &times[i], n);
	}
	free(times);
	return r;
}

const struct analysis gil_analysis = {.name = "gil", .find = find};
