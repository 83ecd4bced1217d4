#include "viewer/model/quality_text.h"

#include <stdlib.h>

#include "quality/facts.h"
#include "quality/matching.h"

/* The experiments of a profile. */
struct side {
	const struct profile *profile; /* NULL: there is no such side */
	struct quality quality;
};

struct judgement {
	struct selection part; /* all */
	struct side base, side;
};

/* Those from `from` to below `to`. 0 or HYB_ENOMEM. */
static int gather(struct side *side, const struct profile *profile, const struct snapshot *snapshot,
	size_t from, size_t to, const struct selection *part, const struct job *job)
{
	const struct analysis_watch stop = {job_is_stopped, (void *)job};
	struct quality *quality = &side->quality;

	side->profile = profile;
	*quality = (struct quality){.items = snapshot->opened + from,
		.count = to - from,
		.part = part,
		.wish = QUALITY_MATCH_ALWAYS};
	quality->facts = facts_gather(quality);
	if (quality->facts)
		quality->matching = quality_matching_make(quality, false, &stop);
	return quality->matching ? 0 : HYB_ENOMEM;
}

struct judgement *judgement_make(const struct snapshot *s, const struct job *job)
{
	struct judgement *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return NULL;
	r = gather(&j->side, s->profile, s, 0, s->base_from, &j->part, job);
	if (!r && s->base)
		r = gather(&j->base, s->base, s, s->base_from, s->opened_count, &j->part, job);
	if (!r)
		return j;
	judgement_free(j);
	return NULL;
}

static void release(struct side *side)
{
	quality_matching_free(side->quality.matching);
	facts_free(side->quality.facts);
}

void judgement_free(struct judgement *j)
{
	if (!j)
		return;
	release(&j->side);
	release(&j->base);
	free(j);
}

static void put_side(FILE *out, const struct side *side, unsigned width)
{
	struct remarks remarks = {0};

	quality_remarks(&side->quality, side->profile, &remarks);
	for (size_t i = 0; i < remarks.count; i++) {
		const char *const marks[] = {remarks.list[i].warns ? "!" : " ", "", " "};

		remark_put(&remarks.list[i], out, width, marks);
	}
	remarks_release(&remarks);
}

char *judgement_text(const struct judgement *j, unsigned width)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (j->base.profile) {
		fputs(" before:\n", out);
		put_side(out, &j->base, width);
		fputs(" \n after:\n", out);
	}
	put_side(out, &j->side, width);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
