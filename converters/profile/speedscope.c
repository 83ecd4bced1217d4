/*
 * speedscope's own format, of which its package has the schema: a profile for each thread, whose samples are
 * the call paths that have something of their own, with that as their weight. Frames are shared by all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "converters/formats.h"
#include "profile/views/table.h"

struct frame { /* row of a table, all of it key */
	const char *name, *file;
	uint64_t line;
};

struct speedscope {
	const struct convert_job *job;
	struct convert_profile p;
	struct table frames;
	uint32_t *path; /* by level, 0 being the thread: numbers of frames */
	size_t room;
};

/* The number of a frame in the list of all; UINT32_MAX: memory is out. */
static uint32_t frame_number(struct speedscope *s, const struct frame *frame)
{
	const struct frame *row = table_row(&s->frames, frame);

	return row ? (uint32_t)(row - (const struct frame *)s->frames.rows) : UINT32_MAX;
}

static int step(struct speedscope *s, uint32_t node, size_t level)
{
	const struct profile_node *n = &s->p.nodes[node];
	struct frame frame = {n->name, n->file, n->line ? n->line : n->declared};

	if (!level)
		frame = (struct frame){CONVERT_NO_FRAMES, "", 0};
	if (level >= s->room) {
		size_t room = 2 * level + 64;
		uint32_t *grown = realloc(s->path, room * sizeof(*grown));

		if (!grown)
			return HYB_ENOMEM;
		s->path = grown;
		s->room = room;
	}
	s->path[level] = frame_number(s, &frame);
	return s->path[level] == UINT32_MAX ? HYB_ENOMEM : HYB_OK;
}

static void put_sample(const struct speedscope *s, size_t level, bool first)
{
	FILE *out = s->job->file;

	fprintf(out, "%s[", first ? "" : ",");
	if (!level)
		fprintf(out, "%" PRIu32, s->path[0]);
	for (size_t i = 1; i <= level; i++)
		fprintf(out, "%s%" PRIu32, i > 1 ? "," : "", s->path[i]);
	fputc(']', out);
}

/* The node behind all that is below the top-level node (of all threads together: the root). */
static uint32_t end_of(const struct convert_profile *p, uint32_t top)
{
	return p->nodes[top].next_sibling ? p->nodes[top].next_sibling : (uint32_t)p->count;
}

static int put_samples(struct speedscope *s, uint32_t top, struct hyb_error *err)
{
	const uint32_t end = end_of(&s->p, top);
	bool first = true;
	size_t level = 0;

	for (uint32_t i = top, next; i < end; i = next) {
		size_t here = level;

		next = convert_next(&s->p, i, &level);
		next = next ? next : end;
		if (step(s, i, here))
			return convert_no_memory(err);
		if (convert_own(&s->p, i))
			put_sample(s, here, first);
		first &= !convert_own(&s->p, i);
		if (i % 4096 == 0 && convert_check(s->job, err))
			return err->code;
	}
	return HYB_OK;
}

static void put_weights(const struct speedscope *s, uint32_t top)
{
	const uint32_t end = end_of(&s->p, top);
	const char *comma = "";

	for (uint32_t i = top; i < end; i++) {
		if (convert_own(&s->p, i)) {
			fprintf(s->job->file, "%s%" PRIu64, comma, convert_own(&s->p, i));
			comma = ",";
		}
	}
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
	FILE *out = s->job->file;
	uint64_t sum = 0;
	int r;

	for (uint32_t i = top; i < end_of(&s->p, top); i++)
		sum += convert_own(&s->p, i);
	fputs("{\"type\":\"sampled\",\"name\":", out);
	json_string(out, top ? s->p.nodes[top].name : "all threads");
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		unit_of(&s->p), sum);
	r = put_samples(s, top, err);
	fputs("],\"weights\":[", out);
	put_weights(s, top);
	fputs("]}", out);
	return r;
}

static void put_frames(const struct speedscope *s)
{
	const struct frame *frames = s->frames.rows;
	FILE *out = s->job->file;

	fputs("\"shared\":{\"frames\":[", out);
	for (size_t i = 0; i < s->frames.count; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_string(out, *frames[i].name ? frames[i].name : "[unknown]");
		if (*frames[i].file) {
			fputs(",\"file\":", out);
			json_string(out, frames[i].file);
		}
		if (frames[i].line)
			fprintf(out, ",\"line\":%" PRIu64, frames[i].line);
		fputc('}', out);
	}
	fputs("]}", out);
}

/* The experiment's, and the notes: the format has no other place for them, and its viewer shows this one. */
static int put_name(const struct speedscope *s)
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
	json_string(s->job->file, name);
	free(name);
	return HYB_OK;
}

static int put_all(struct speedscope *s, struct hyb_error *err)
{
	const uint32_t first = s->job->by_location ? s->p.nodes[0].first_child : 0;
	FILE *out = s->job->file;
	int r = HYB_OK;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"hybrid-convert\",\"name\":",
		out);
	if (put_name(s))
		return convert_no_memory(err);
	fputs(",\"activeProfileIndex\":0,\n\"profiles\":[", out);
	if (!s->job->by_location)
		r = put_profile(s, 0, err);
	for (uint32_t top = first; top && !r; top = s->p.nodes[top].next_sibling) {
		fputs(top == first ? "\n" : ",\n", out);
		r = put_profile(s, top, err);
	}
	fputs("],\n", out);
	put_frames(s);
	fputs("}\n", out);
	return r;
}

int speedscope_put(const struct convert_job *job, struct hyb_error *err)
{
	struct speedscope s = {
		.job = job, .frames = {.row_size = sizeof(struct frame), .key_size = sizeof(struct frame)}};
	int r = convert_profile_make(job, &s.p, err);

	if (r)
		return r;
	r = put_all(&s, err);
	table_release(&s.frames);
	free(s.path);
	convert_profile_release(&s.p);
	return r;
}

int speedscope_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_job apart = *job;

	apart.by_location = true;
	return speedscope_put(&apart, err);
}
