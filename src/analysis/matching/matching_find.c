/* Findings about messages: those without another end, or received before they were sent; calls out of step.
 */
#include "analysis/matching/matching.h"

#include <stdio.h>

#include "analysis/finding.h"
#include "profile/metrics/figures.h"

static const struct word reasons[HYB_LONE_COUNT] = {
	[HYB_LONE_NONE] = {"none", "the other end never called for it"},
	[HYB_LONE_ABSENT] = {"absent", "the partner left no file, or no trace"},
	[HYB_LONE_CUT] = {"cut", "records are missing from a trace"},
	[HYB_LONE_KILLED] = {"killed", "the partner's file has no end: it was killed, or runs on"},
	[HYB_LONE_CANCELLED] = {"cancelled", "cancelled"},
	[HYB_LONE_PENDING] = {"pending", "never complete"},
	[HYB_LONE_UNKNOWN] = {"unknown", "its communicator or peer is not known"},
	[HYB_LONE_UNSEEN] = {"unseen", "a receive that failed or was never complete may have it"},
};
const struct words matching_reasons = {reasons, HYB_LONE_COUNT};

static const struct finding_kind lone_kind = {
	.key = "unmatched-message",
	.name = "message without another end",
	.meaning = "A send has no receive, or a receive no send: the message was never asked for, or what is "
		   "known of its partner ends before.",
	.computed = "Sends and receives of the trace are matched in the order of MPI, by communicator, ranks "
		    "and tag; these were left over.",
	.advice = "If the partner never called for it, the program is wrong. Else trace all ranks, to their "
		  "end.",
};

static const struct finding_kind unsure_kind = {
	.key = "unsure-message",
	.name = "message whose partner is not sure",
	.meaning = "A message may have another one's partner, so that waits computed from it may be wrong.",
	.computed = "Matched messages behind a gap or a pause of the trace, of threads that call MPI at the "
		    "same time, or behind a receive that was never complete.",
	.advice = "Trace the run without gaps; give messages of different threads different tags or "
		  "communicators.",
};

static const struct finding_kind reversed_kind = {
	.key = "reversed-message",
	.name = "message received before it was sent",
	.meaning = "The clocks of two ranks disagree: their times can be compared no better than that.",
	.computed = "Messages whose receive was complete before the call that sends them began, by the "
		    "corrected clocks.",
	.advice = "Take times between these ranks as wrong by as much; synchronise the clocks of the hosts.",
};

static const struct finding_kind collective_kind = {
	.key = "incomplete-collective",
	.name = "collective call that is not complete",
	.meaning =
		"Members of the communicator are not known to have taken part, or called another function.",
	.computed = "The n-th collective call of each member of a communicator is the same one.",
	.advice = "If members call different functions, the program is wrong. Else trace all ranks, to their "
		  "end.",
};

static int add_end(const struct analysis_input *input, struct finding *f, const struct hyb_moment *moment,
	uint64_t duration)
{
	struct finding_instance instance = {moment->location,
		moment->call.time != HYB_TIME_UNKNOWN ? moment->call.time : moment->time, duration,
		analysis_node(input, moment->location, moment->call.node)};

	f->node = !f->instance_count || f->node == instance.node ? instance.node : 0;
	return finding_add_instance(f, &instance) ? 0 : HYB_ENOMEM;
}

/* Of one reason; where all that are listed are in one place, they are all there. */
static int add_lone(const struct analysis_input *input, const struct matching *m, struct findings *findings,
	bool is_send, enum hyb_lone why)
{
	uint64_t count = (is_send ? m->totals.sends : m->totals.receives)[why];
	struct finding *f = findings_add(findings, &lone_kind);
	char n[FIGURE_SIZE];
	uint64_t listed = 0;
	int r = 0;

	if (!f)
		return HYB_ENOMEM;
	f->count = count;
	snprintf(f->text, sizeof(f->text), "%s %s%s without a %s: %s", figure_number(count, n),
		is_send ? "send" : "receive", count == 1 ? "" : "s", is_send ? "receive" : "send",
		reasons[why].text);
	for (size_t i = 0; i < m->lone_count && !r; i++) {
		if (m->lone[i].is_send != is_send || m->lone[i].why != why)
			continue;
		r = add_end(input, f, &m->lone[i].end.started, 0);
		listed++;
	}
	f->node = listed == count ? f->node : 0;
	return r;
}

static int add_reversed(
	const struct analysis_input *input, const struct matching *m, struct findings *findings)
{
	struct finding *f = findings_add(findings, &reversed_kind);
	char n[FIGURE_SIZE], worst[FIGURE_SIZE];
	int r = 0;

	if (!f)
		return HYB_ENOMEM;
	f->count = m->totals.reversed;
	snprintf(f->text, sizeof(f->text), "%s message%s, the worst by %s", figure_number(f->count, n),
		f->count == 1 ? "" : "s", figure_duration(m->totals.worst, worst));
	for (size_t i = 0; i < m->reversed_count && !r; i++)
		r = add_end(input, f, &m->reversed[i].recv.completed, m->reversed[i].by);
	f->node = m->reversed_count == f->count ? f->node : 0;
	return r;
}

/* What is only counted. */
static int add_count(struct findings *findings, const struct finding_kind *kind, uint64_t count, uint64_t all,
	const char *what)
{
	struct finding *f = count ? findings_add(findings, kind) : NULL;
	char n[FIGURE_SIZE], total[FIGURE_SIZE];

	if (!f)
		return count ? HYB_ENOMEM : 0;
	f->count = count;
	snprintf(f->text, sizeof(f->text), "%s of %s %s", figure_number(count, n), figure_number(all, total),
		what);
	return 0;
}

int matching_find(void *data, const struct analysis_input *input, struct findings *findings)
{
	const struct matching *m = data;
	const struct hyb_totals *t = &m->totals;
	int r = 0;

	for (unsigned why = 0; why < HYB_LONE_COUNT && !r; why++) {
		if (t->sends[why] && why != HYB_LONE_CANCELLED)
			r = add_lone(input, m, findings, true, (enum hyb_lone)why);
		if (t->receives[why] && why != HYB_LONE_CANCELLED && !r)
			r = add_lone(input, m, findings, false, (enum hyb_lone)why);
	}
	if (t->reversed && !r)
		r = add_reversed(input, m, findings);
	if (!r)
		r = add_count(findings, &unsure_kind, t->unsure, t->matched, "messages");
	if (!r)
		r = add_count(findings, &collective_kind, t->partial, t->collectives,
			"collective calls lack members");
	return r ? r
		 : add_count(findings, &collective_kind, t->differing, t->collectives,
			   "collective calls are of different functions");
}
