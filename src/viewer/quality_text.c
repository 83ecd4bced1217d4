/* The only file of the viewer that knows hybrid-report: its words and figures are taken as they are. */
#include "viewer/quality_text.h"

#include <stdlib.h>
#include <string.h>

#include "tools/report_facts.h"
#include "tools/report_matching.h"

/* One side: the experiments from `from` to below `to`. 0 or HYB_ENOMEM. */
static int put_side(struct style *style, const struct snapshot *snapshot, size_t from, size_t to,
	const struct profile *profile)
{
	struct report_options options = {.view = REPORT_QUALITY};
	struct report_inputs inputs = {.count = to - from, .options = &options};
	int r = HYB_ENOMEM;

	inputs.items = calloc(inputs.count + 1, sizeof(*inputs.items));
	if (!inputs.items)
		return r;
	for (size_t i = 0; i < inputs.count; i++)
		inputs.items[i] = (struct report_input){
			snapshot->opened[from + i].experiment, snapshot->opened[from + i].symbols};
	inputs.facts = facts_gather(&inputs);
	inputs.matching = report_matching_make(&inputs, false);
	if (inputs.facts && inputs.matching) {
		report_quality(style, &inputs, profile);
		r = 0;
	}
	report_matching_free(inputs.matching);
	facts_free(inputs.facts);
	free(inputs.items);
	return r;
}

static int put_sides(struct style *style, const struct snapshot *snapshot)
{
	int r = 0;

	if (snapshot->base) {
		fputs("before:\n", style->out);
		r = put_side(style, snapshot, snapshot->base_from, snapshot->opened_count, snapshot->base);
		fputs("\nafter:\n", style->out);
	}
	return r ? r : put_side(style, snapshot, 0, snapshot->base_from, snapshot->profile);
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

char *quality_text(const struct snapshot *snapshot, unsigned width)
{
	char *text = NULL, *lines = NULL;
	size_t size;
	struct style style = {
		.out = open_memstream(&text, &size), .width = width, .utf8 = true, .colour = true};
	int r;

	if (!style.out)
		return NULL;
	r = put_sides(&style, snapshot);
	if (!fclose(style.out) && !r)
		lines = marked(text);
	free(text);
	return lines;
}
