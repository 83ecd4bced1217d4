/* The quality block's line about what measuring took, its parts, and what makes it less. */
#include <string.h>

#include "format/format.h"
#include "quality/quality.h"

#define MUCH 10u /* percent of CPU from which on an option is named */

/* Order of the parts in the line. */
enum part { HANDLER, INTERRUPT, SWITCH, PROBE, SKIPPED, PYTHON, LEFT_OUT, THREAD, PROCESS, WAIT, PARTS };

static const struct {
	const char *key; /* in JSON */
	const char *text; /* %s: the number of calls */
	bool estimated; /* calls times what one was calibrated to take */
	const char *less; /* what makes it less; NULL: nothing does */
} parts[PARTS] = {
	[HANDLER] = {"handler", "taking samples", false, "a lower --rate"},
	[INTERRUPT] = {"interrupts", "in their interrupts", false, "a lower --rate"},
	[SWITCH] = {"switches", "at context switches", false, "--source cpu"},
	[PROBE] = {"probes", "in %s probe call%s", true, "--filter, or a lower --demote"},
	[SKIPPED] = {"skipped", "in %s call%s only counted", true, "--filter"},
	[PYTHON] = {"python", "in %s call%s of Python functions", true, "--python=frames, or --filter"},
	[LEFT_OUT] = {"left_out", "in %s call%s that the filter leaves out", true,
		"compiling these without -finstrument-functions, or --python=frames"},
	[THREAD] = {"threads", "beginning and ending threads", false, NULL},
	[PROCESS] = {"processes", "beginning and ending processes", false, NULL},
	[WAIT] = {"waits", "recording where threads waited", false, "a lower --rate"},
};

static void fill(const struct profile_quality *q, uint64_t time[PARTS], uint64_t calls[PARTS])
{
	uint64_t skipped = q->skipped_calls < q->probe_calls ? q->skipped_calls : q->probe_calls;

	memset(calls, 0, PARTS * sizeof(*calls));
	time[HANDLER] = q->handler_time;
	time[INTERRUPT] = q->cost[HYB_COST_INTERRUPT];
	time[SWITCH] = q->cost[HYB_COST_SWITCH];
	time[THREAD] = q->cost[HYB_COST_THREAD];
	time[PROCESS] = q->cost[HYB_COST_PROCESS];
	time[WAIT] = q->cost[HYB_COST_WAIT];
	time[PROBE] = q->probe_time;
	time[SKIPPED] = q->skipped_time;
	time[PYTHON] = q->python_time;
	time[LEFT_OUT] = q->left_out_time;
	calls[PYTHON] = q->python_calls;
	calls[SKIPPED] = skipped - q->python_skipped;
	calls[PROBE] = q->probe_calls - q->python_calls - calls[SKIPPED];
	calls[LEFT_OUT] = q->left_out_calls;
}

static void add_part(struct text *text, enum part part, uint64_t time, uint64_t calls)
{
	char duration[FIGURE_SIZE], n[FIGURE_SIZE], what[128];

	snprintf(what, sizeof(what), parts[part].text, figure_number(calls, n), text_plural(calls));
	text_add(text, "%s%s %s", parts[part].estimated ? "about " : "", figure_duration(time, duration),
		what);
}

/* Names what makes the largest part less. */
static void add_advice(struct text *text, const struct profile_quality *q, const uint64_t time[PARTS])
{
	unsigned most = 0;

	if (profile_cost(q) * 100 <= q->cpu * MUCH)
		return;
	for (unsigned i = 1; i < PARTS; i++)
		if (time[i] > time[most])
			most = i;
	text_add(text, "; more than %u %% of CPU", MUCH);
	if (parts[most].less)
		text_add(text, ": %s takes less", parts[most].less);
}

void quality_cost(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t time[PARTS], calls[PARTS];
	char n[FIGURE_SIZE];
	const char *between = ":";

	fill(q, time, calls);
	for (unsigned i = 0; i < PARTS; i++) {
		if (!time[i] && !calls[i] && (i != HANDLER || !q->probe_calls))
			continue;
		if (*between == ':')
			text_add(&text, "%s of CPU", text_percent(profile_cost(q), q->cpu, n));
		text_add(&text, "%s ", between);
		add_part(&text, i, time[i], calls[i]);
		between = ",";
	}
	if (q->slowed)
		text_add(&text, "%sthe rate was lowered %s time%s to stay within the budget",
			*between == ',' ? "; " : "", figure_number(q->slowed, n), text_plural(q->slowed));
	add_advice(&text, q, time);
	remarks_add(remarks, false, "cost", &text);
}

void quality_json_cost(struct json *json, const struct profile_quality *q)
{
	uint64_t time[PARTS], calls[PARTS];
	char key[32];

	fill(q, time, calls);
	json_number(json, "cost_ns", profile_cost(q));
	json_object(json, "cost");
	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(key, sizeof(key), "%s_ns", parts[i].key);
		json_number(json, key, time[i]);
	}
	json_end(json);
	json_number(json, "python_calls", q->python_calls);
	json_number(json, "left_out_calls", q->left_out_calls);
}
