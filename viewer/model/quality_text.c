/* The only file of the viewer that knows hybrid-report: its words and figures are taken as they are. */
#include "viewer/model/quality_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/facts.h"
#include "report/matching.h"

/* The experiments of a profile. */
struct side {
	const struct profile *profile; /* NULL: there is no such side */
	struct report_inputs inputs;
};

struct quality {
	struct report_options options;
	struct side base, side;
};

static bool is_stopped(void *data)
{
	const struct job *job = data;

	return atomic_load(&job->stop);
}

/* Those from `from` to below `to`. 0 or HYB_ENOMEM. */
static int gather(struct side *side, const struct profile *profile, const struct snapshot *snapshot,
	size_t from, size_t to, const struct report_options *options, const struct job *job)
{
	const struct analysis_watch stop = {is_stopped, (void *)job};
	struct report_inputs *inputs = &side->inputs;

	side->profile = profile;
	*inputs = (struct report_inputs){
		.items = snapshot->opened + from, .count = to - from, .options = options};
	inputs->facts = facts_gather(inputs);
	if (inputs->facts)
		inputs->matching = report_matching_make(inputs, false, &stop);
	return inputs->matching ? 0 : HYB_ENOMEM;
}

struct quality *quality_make(const struct snapshot *s, const struct job *job)
{
	struct quality *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return NULL;
	q->options.view = REPORT_QUALITY;
	r = gather(&q->side, s->profile, s, 0, s->base_from, &q->options, job);
	if (!r && s->base)
		r = gather(&q->base, s->base, s, s->base_from, s->opened_count, &q->options, job);
	if (!r)
		return q;
	quality_free(q);
	return NULL;
}

static void release(struct side *side)
{
	report_matching_free(side->inputs.matching);
	facts_free(side->inputs.facts);
}

void quality_free(struct quality *q)
{
	if (!q)
		return;
	release(&q->side);
	release(&q->base);
	free(q);
}

static void put_sides(struct style *style, const struct quality *q)
{
	if (q->base.profile) {
		fputs("before:\n", style->out);
		report_quality(style, &q->base.inputs, q->base.profile);
		fputs("\nafter:\n", style->out);
	}
	report_quality(style, &q->side.inputs, q->side.profile);
}

/* The colours of the text become a mark in front of each line. */
static void mark_lines(const char *text, FILE *out)
{
	while (*text) {
		bool warns = !strncmp(text, "\033[33m", 5);

		fputc(warns ? '!' : ' ', out);
		for (; *text && *text != '\n'; text++) {
			if (*text == '\033')
				text += strcspn(text, "m");
			else
				fputc(*text, out);
		}
		fputc('\n', out);
		text += *text == '\n';
	}
}

static char *marked(const char *text)
{
	char *copy = NULL;
	size_t size;
	FILE *out = open_memstream(&copy, &size);

	if (!out)
		return NULL;
	mark_lines(text, out);
	if (!fclose(out))
		return copy;
	free(copy);
	return NULL;
}

char *quality_text(const struct quality *quality, unsigned width)
{
	char *text = NULL, *lines = NULL;
	size_t size;
	struct style style = {
		.out = open_memstream(&text, &size), .width = width, .utf8 = true, .colour = true};

	if (!style.out)
		return NULL;
	put_sides(&style, quality);
	if (!fclose(style.out))
		lines = marked(text);
	free(text);
	return lines;
}
