/* The warnings of the quality block, in one line. */
#include <string.h>

#include "quality/facts.h"
#include "viewer/snapshot/make.h"

/* One thing more; what does not fit is cut. */
static void add(struct snapshot *s, const char *side, const char *text)
{
	size_t used = strlen(s->warning);

	snprintf(s->warning + used, sizeof(s->warning) - used, "%s%s%s", used ? "; " : "", side, text);
	for (char *p = s->warning + used; *p; p++)
		if (*p == *NO_BREAK)
			*p = ' ';
}

/* One side of a comparison; `name`: in front of its warnings. */
static int warn_of_side(struct snapshot *s, const struct selection *part, size_t from, size_t to,
	const struct profile *profile, const char *name)
{
	struct quality quality = {.items = s->opened + from, .count = to - from, .part = part};
	struct remarks remarks = {0};

	quality.facts = facts_gather(&quality);
	if (!quality.facts)
		return HYB_ENOMEM;
	quality_remarks(&quality, profile, &remarks);
	for (size_t i = 0; i < remarks.count; i++) {
		if (!remarks.list[i].warns)
			continue;
		add(s, name, remarks.list[i].text);
		name = "";
	}
	remarks_release(&remarks);
	facts_free(quality.facts);
	return 0;
}

int snapshot_warn(struct snapshot *s, const struct view_options *o)
{
	int r = warn_of_side(s, &o->look.part, 0, s->base_from, s->profile, "");

	if (r || !s->base)
		return r;
	return warn_of_side(s, &o->look.part, s->base_from, s->opened_count, s->base, "base: ");
}
