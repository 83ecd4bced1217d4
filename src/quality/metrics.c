#include "format/format.h"
#include "quality/quality.h"

/* By which samples time is shared out where no clock took any. */
static void put_event_source(struct remarks *remarks, const struct profile *profile)
{
	struct text text = text_begin();
	size_t count;
	const struct profile_metric *m = profile_metrics(profile, &count);

	if (!(profile_quality(profile)->sources & (1u << HYB_SOURCE_EVENT)))
		return;
	for (size_t i = 0; i < count; i++)
		if (m[i].period) {
			text_add(&text, "time is shared out by samples of %s, no clock sampled", m[i].name);
			break;
		}
	remarks_add(remarks, true, "note", &text);
}

void quality_metrics(struct remarks *remarks, const struct profile *profile)
{
	struct text text = text_begin();
	size_t count, shared_out = 0;
	const struct profile_metric *m = profile_metrics(profile, &count);
	struct text shared = text_begin();
	bool estimated = false;
	char n[FIGURE_SIZE], period[FIGURE_SIZE];

	for (size_t i = 0; i < count; i++) {
		text_add(&text, "%s%s%s", i ? ", " : "", m[i].estimated ? "~" : "", m[i].name);
		if (m[i].period)
			text_add(&text, " (%s sample%s, one each %s)", figure_number(m[i].samples, n),
				text_plural(m[i].samples), figure_number(m[i].period, period));
		if (m[i].level)
			text_add(&text, " (growth%s)", m[i].process_wide ? " of the process" : "");
		if (m[i].shared && profile_quality(profile)->samples)
			text_add(&shared, "%s%s", shared_out++ ? ", " : "", m[i].name);
		estimated |= m[i].estimated;
	}
	if (estimated)
		text_add(&text, "; ~" NO_BREAK "is estimated: counted a part of the time");
	remarks_add(remarks, false, "metrics", &text);
	if (shared_out)
		text_add(&shared, " %s shared out below probes as time is", shared_out == 1 ? "is" : "are");
	remarks_add(remarks, false, "shared", &shared);
	put_event_source(remarks, profile);
}
