#include "quality/matching.h"

#include <inttypes.h>
#include <stdlib.h>

#include "quality/facts.h"
#include "quality/quality.h"

#define UNASKED_MAX (16u << 20) /* bytes of trace that are read though nobody asked */

/* ---------------------------------------------------------------- gathering */

static enum quality_matched what_to_do(const struct quality *quality)
{
	bool asked = quality->wish == QUALITY_MATCH_ALWAYS;

	if (!quality->facts->ranks || quality->wish == QUALITY_MATCH_NEVER)
		return QUALITY_MATCHED_NONE;
	if (!quality->facts->traced)
		return QUALITY_MATCHED_NO_TRACE;
	return asked || quality->facts->traced_bytes <= UNASKED_MAX ? QUALITY_MATCHED_DONE
								    : QUALITY_MATCHED_LARGE;
}

static void match(struct hyb_experiment *experiment, bool partial, const struct analysis_watch *watch,
	struct quality_match *ret)
{
	struct hyb_experiment *whole = experiment;

	if (partial && hyb_experiment_open(hyb_experiment_path(experiment), &whole, &ret->error))
		return;
	if (!matching_make(whole, watch, &ret->matching, &ret->error)) {
		ret->experiment = whole;
		ret->own = partial;
	} else if (partial) {
		hyb_experiment_close(whole);
	}
}

struct quality_matching *quality_matching_make(
	const struct quality *quality, bool partial, const struct analysis_watch *watch)
{
	struct quality_matching *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->state = what_to_do(quality);
	m->trace_bytes = quality->facts->traced_bytes;
	if (m->state != QUALITY_MATCHED_DONE)
		return m;
	m->items = calloc(quality->count, sizeof(*m->items));
	if (!m->items) {
		free(m);
		return NULL;
	}
	for (; m->count < quality->count; m->count++)
		match(quality->items[m->count].experiment, partial, watch, &m->items[m->count]);
	return m;
}

void quality_matching_free(struct quality_matching *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		matching_release(&m->items[i].matching);
		if (m->items[i].own)
			hyb_experiment_close(m->items[i].experiment);
	}
	free(m->items);
	free(m);
}

/* ------------------------------------------------------------------ quality */

/* "; 3 sends without a receive: 2 so, 1 so" */
static void add_lone(
	struct text *text, const uint64_t counts[HYB_LONE_COUNT], const char *what, const char *other)
{
	uint64_t without[HYB_LONE_COUNT], all;
	char n[FIGURE_SIZE];

	for (unsigned i = 0; i < HYB_LONE_COUNT; i++)
		without[i] = i == HYB_LONE_CANCELLED ? 0 : counts[i];
	all = text_sum(without, HYB_LONE_COUNT);
	text_add(text, "; %s %s%s without a %s", figure_number(all, n), what, text_plural(all), other);
	if (all > without[HYB_LONE_NONE])
		text_reasons(text, without, HYB_LONE_COUNT, &matching_reasons);
}

static void put_messages(struct remarks *remarks, const struct hyb_totals *t)
{
	uint64_t cancelled = t->sends[HYB_LONE_CANCELLED] + t->receives[HYB_LONE_CANCELLED];
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	text_add(&text, "%s matched", figure_number(t->matched, n));
	if (t->unsure)
		text_add(&text,
			" (%s of them perhaps with another one's partner: threads at the same time, gaps, "
			"pauses, receives never complete)",
			figure_number(t->unsure, n));
	add_lone(&text, t->sends, "send", "receive");
	add_lone(&text, t->receives, "receive", "send");
	if (cancelled)
		text_add(&text, "; %s cancelled", figure_number(cancelled, n));
	if (t->resized)
		text_add(&text, "; %s received with other bytes than sent", figure_number(t->resized, n));
	remarks_add(remarks, false, "messages", &text);
}

static void put_order(struct remarks *remarks, const struct matching *m)
{
	const struct hyb_totals *t = &m->totals;
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	text_add(&text, "%s receive%s before %s send", figure_number(t->reversed, n),
		text_plural(t->reversed), t->reversed == 1 ? "its" : "their");
	if (t->reversed)
		text_add(&text, ", the worst by %s", figure_duration(t->worst, n));
	if (m->error && m->error != HYB_TIME_UNKNOWN)
		text_add(&text, "; clocks agree to within %s", figure_duration(m->error, n));
	if (t->unordered)
		text_add(&text, "; %s message%s between clocks that were not compared",
			figure_number(t->unordered, n), text_plural(t->unordered));
	remarks_add(remarks, t->reversed > 0, "order", &text);
}

static void put_collectives(struct remarks *remarks, const struct hyb_totals *t)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (t->partial || t->differing)
		text_add(&text, "%s collective call%s", figure_number(t->collectives, n),
			text_plural(t->collectives));
	if (t->partial)
		text_add(&text, "; %s without all members", figure_number(t->partial, n));
	if (t->differing)
		text_add(&text, "; %s where members called different functions",
			figure_number(t->differing, n));
	remarks_add(remarks, true, "members", &text);
}

static void put_match(struct remarks *remarks, const struct quality_match *m)
{
	struct text text = text_begin();

	if (!m->experiment) {
		text_add(&text, "not matched: %s", m->error.text);
		remarks_add(remarks, true, "messages", &text);
		return;
	}
	put_messages(remarks, &m->matching.totals);
	put_order(remarks, &m->matching);
	put_collectives(remarks, &m->matching.totals);
}

void quality_matching_lines(struct remarks *remarks, const struct quality *quality)
{
	const struct quality_matching *m = quality->matching;
	struct text text = text_begin();

	if (!m || m->state == QUALITY_MATCHED_NONE)
		return;
	if (m->state == QUALITY_MATCHED_NO_TRACE)
		text_add(&text, "not matched: there is no trace with regions (hybrid-run --trace)");
	else if (m->state == QUALITY_MATCHED_LARGE)
		text_add(&text, "not matched here, the trace has %" PRIu64 " MiB; --quality does it",
			m->trace_bytes >> 20);
	remarks_add(remarks, false, "messages", &text);
	for (size_t i = 0; i < m->count; i++)
		put_match(remarks, &m->items[i]);
}

static void json_matching(struct json *json, const struct matching *m)
{
	const struct hyb_totals *t = &m->totals;

	json_object(json, NULL);
	json_number(json, "events", m->totals.events);
	json_number(json, "matched", t->matched);
	json_number(json, "unsure", t->unsure);
	json_number(json, "resized", t->resized);
	json_number(json, "reversed", t->reversed);
	json_number(json, "worst_ns", t->worst);
	json_number(json, "unordered", t->unordered);
	if (m->error == HYB_TIME_UNKNOWN)
		json_null(json, "clock_error_ns");
	else
		json_number(json, "clock_error_ns", m->error);
	quality_json_reasons(json, "sends", t->sends, 0, HYB_LONE_COUNT, &matching_reasons);
	quality_json_reasons(json, "receives", t->receives, 0, HYB_LONE_COUNT, &matching_reasons);
	json_number(json, "collectives", t->collectives);
	json_number(json, "partial", t->partial);
	json_number(json, "differing", t->differing);
	json_end(json);
}

/* One for each experiment; null where nothing was matched. */
void quality_json_matching(struct json *json, const struct quality *quality)
{
	const struct quality_matching *m = quality->matching;

	if (!m || m->state == QUALITY_MATCHED_NONE)
		return;
	json_array(json, "matching");
	for (size_t i = 0; i < quality->count; i++)
		if (i < m->count && m->items[i].experiment)
			json_matching(json, &m->items[i].matching);
		else
			json_null(json, NULL);
	json_end(json);
}
