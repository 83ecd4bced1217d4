/*
 * speedscope's own format, of which its package has the schema: a profile for each thread, whose samples are
 * the call paths that have something of their own, with that as their weight. Frames are shared by all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "converters/formats.h"
#include "profile/metrics/figures.h"
#include "profile/views/row_map.h"

struct frame { /* row of a table, all of it key */
	const char *name, *file;
	uint64_t line;
};

struct top { /* a thread */
	uint32_t node;
	uint64_t weight;
};

struct speedscope {
	const struct convert_job *job;
	struct json json;
	struct convert_profile p;
	struct row_map frames;
	struct convert_way way;
	bool fold;
	bool waits; /* weigh now, not time */
	bool cut; /* what is too deep even so, with a frame that says it */
};

static int put_frame(struct speedscope *s, struct frame frame)
{
	uint32_t number = row_map_number(&s->frames, &frame);

	if (number == ROW_NONE)
		return HYB_ENOMEM;
	json_number(&s->json, NULL, number);
	return HYB_OK;
}

static int put_sample(struct speedscope *s, uint32_t top, uint32_t node)
{
	int r = convert_way_find(&s->way, &s->p, top, node, s->fold);

	json_array(&s->json, NULL);
	if (!r && !s->way.count)
		r = put_frame(s, (struct frame){CONVERT_NO_FRAMES, "", 0});
	for (size_t i = 0; !r && i < s->way.count; i++) {
		const struct profile_node *n = &s->p.nodes[s->way.nodes[i]];

		r = put_frame(s, (struct frame){n->name, n->file, n->line ? n->line : n->declared});
		if (!r && s->cut && i == CONVERT_DEEPEST / 2 && s->way.count > CONVERT_DEEPEST) {
			r = put_frame(s, (struct frame){"[frames left out]", "", 0});
			i = s->way.count - CONVERT_DEEPEST / 2;
		}
	}
	json_end(&s->json);
	return r;
}

/* The node behind all that is below the top-level node (of all threads together: the root). */
static uint32_t end_of(const struct convert_profile *p, uint32_t top)
{
	return p->nodes[top].next_sibling ? p->nodes[top].next_sibling : (uint32_t)p->count;
}

static uint64_t own_of(const struct speedscope *s, uint32_t node)
{
	const struct profile_node *n = &s->p.nodes[node];

	return s->waits ? n->blocked - n->ready : convert_own(&s->p, node);
}

static int put_samples(struct speedscope *s, uint32_t top, struct hyb_error *err)
{
	const uint32_t end = end_of(&s->p, top);

	for (uint32_t i = top; i < end; i++) {
		if (own_of(s, i) && put_sample(s, top, i))
			return convert_no_memory(err);
		if (i % 4096 == 0 && convert_check(s->job, err))
			return err->code;
	}
	return HYB_OK;
}

static void put_weights(struct speedscope *s, uint32_t top)
{
	const uint32_t end = end_of(&s->p, top);

	for (uint32_t i = top; i < end; i++)
		if (own_of(s, i))
			json_number(&s->json, NULL, own_of(s, i));
}

static const char *unit_of(const struct convert_profile *p)
{
	const char *unit = p->weight == SIZE_MAX ? "ns" : p->metrics[p->weight].unit;

	if (!strcmp(unit, "ns"))
		return "nanoseconds";
	return !strcmp(unit, "B") || !strcmp(unit, "bytes") ? "bytes" : "none";
}

static int put_profile(struct speedscope *s, uint32_t top, struct hyb_error *err)
{
	struct json *json = &s->json;
	char name[2 * PROFILE_LOCATION_NAME];
	uint64_t sum = 0;
	int r;

	for (uint32_t i = top; i < end_of(&s->p, top); i++)
		sum += own_of(s, i);
	if (s->waits && !sum)
		return HYB_OK;
	snprintf(name, sizeof(name), "%s%s", top ? s->p.nodes[top].name : "all threads",
		s->waits ? ", waiting" : "");
	json_object(json, NULL);
	json_text(json, "type", "sampled");
	json_text(json, "name", name);
	json_text(json, "unit", unit_of(&s->p));
	json_number(json, "startValue", 0);
	json_number(json, "endValue", sum);
	json_array(json, "samples");
	r = put_samples(s, top, err);
	json_end(json);
	json_array(json, "weights");
	put_weights(s, top);
	json_end(json);
	json_end(json);
	return r;
}

static void put_frames(struct speedscope *s)
{
	const struct frame *frames = s->frames.rows;
	struct json *json = &s->json;

	json_line(json);
	json_object(json, "shared");
	json_array(json, "frames");
	for (size_t i = 0; i < s->frames.count; i++) {
		json_row(json);
		json_text(json, "name", *frames[i].name ? frames[i].name : "[unknown]");
		if (*frames[i].file)
			json_text(json, "file", frames[i].file);
		if (frames[i].line)
			json_number(json, "line", frames[i].line);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* The experiment's, and the notes: the format has no other place for them, and its viewer shows this one. */
static int put_name(struct speedscope *s)
{
	const struct convert_notes *notes = s->job->notes;
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	if (!out)
		return HYB_ENOMEM;
	fputs(hyb_experiment_path(s->job->experiment), out);
	for (size_t i = 0; notes && i < notes->count; i++)
		fprintf(out, "%s%s", i ? "; " : " (", notes->lines[i]);
	fputs(notes && notes->count ? ")" : "", out);
	if (fclose(out)) {
		free(name);
		return HYB_ENOMEM;
	}
	json_text(&s->json, "name", name);
	free(name);
	return HYB_OK;
}

static int by_weight(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->node < y->node ? -1 : 1;
}

/* The busiest first; then what they waited, which the page has no place for. */
static int put_threads(struct speedscope *s, struct hyb_error *err)
{
	const size_t kinds = s->p.weight == SIZE_MAX && !s->cut ? 2 : 1;
	struct top *tops = NULL;
	size_t count = 0;
	int r = HYB_OK;

	for (uint32_t i = s->p.nodes[0].first_child; i && !r; i = s->p.nodes[i].next_sibling)
		if (!ARRAY_ADD(tops, count, (struct top){i, convert_all(&s->p, i)}))
			r = convert_no_memory(err);
	if (count)
		qsort(tops, count, sizeof(*tops), by_weight);
	for (size_t k = 0; k < kinds; k++) {
		s->waits = k > 0;
		for (size_t i = 0; i < count && !r; i++) {
			json_line(&s->json);
			r = put_profile(s, tops[i].node, err);
		}
	}
	free(tops);
	return r;
}

static int put_all(struct speedscope *s, struct hyb_error *err)
{
	struct json *json = &s->json;
	int r = HYB_OK;

	json_object(json, NULL);
	json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(json, "exporter", "hybrid-convert");
	if (put_name(s))
		return convert_no_memory(err);
	json_number(json, "activeProfileIndex", 0);
	json_list(json, "profiles");
	if (!s->job->by_location)
		r = put_profile(s, 0, err);
	else
		r = put_threads(s, err);
	json_end(json);
	put_frames(s);
	json_end(json);
	fputc('\n', json->out);
	return r;
}

/* The viewer stays blank where paths are too deep for it. */
static void choose_fold(struct speedscope *s)
{
	char deep[FIGURE_SIZE];
	size_t level = 0, deepest = 0;
	uint32_t i = 0;

	do {
		i = convert_next(&s->p, i, &level);
		deepest = level > deepest ? level : deepest;
	} while (i);
	deepest -= s->job->by_location && deepest;
	figure_number(deepest, deep);
	s->cut = s->job->fold == CONVERT_FOLD_DEEP;
	s->fold = s->job->fold == CONVERT_FOLD_ALL || (s->cut && deepest > CONVERT_DEEPEST);
	if (s->cut && s->fold)
		convert_note(s->job,
			"call paths are up to %s deep: recursion is folded in the flame graphs%s", deep,
			s->job->by_location ? " of threads apart" : "");
	else if (!s->fold && deepest > CONVERT_DEEPEST)
		convert_note(s->job,
			"call paths are up to %s deep, for which browsers' stacks may be too small: take "
			"--fold-recursion if the viewer stays blank",
			deep);
}

int speedscope_put(const struct convert_job *job, struct hyb_error *err)
{
	struct speedscope s = {.job = job,
		.json = {.out = job->file},
		.frames = {.row_size = sizeof(struct frame), .key_size = sizeof(struct frame)}};
	int r = convert_profile_make(job, &s.p, err);

	if (r)
		return r;
	choose_fold(&s);
	r = put_all(&s, err);
	row_map_release(&s.frames);
	free(s.way.nodes);
	convert_profile_release(&s.p);
	return r;
}

int speedscope_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_job apart = *job;

	apart.by_location = true;
	return speedscope_put(&apart, err);
}
