/*
 * Collapsed stacks, as the scripts stackcollapse-*.pl write them: a line for each call path with its frames,
 * outermost first, and what belongs to it alone. Numbers are whole microseconds, as those scripts have it for
 * time, whose roundings cancel out; those of a metric are as they were counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "converters/formats.h"

static void put_frame(const struct convert_job *job, const struct profile_node *n, struct blob *text)
{
	text->size = 0;
	convert_put_line(text, *n->name ? n->name : "[unknown]", ';', ':'); /* as the scripts do */
	fwrite(text->data, 1, text->size, job->file);
	if (job->mode == PROFILE_CALLSITE && n->line)
		fprintf(job->file, ":%u", n->line);
}

static int write_all(const struct convert_job *job, const struct convert_profile *p, struct convert_way *way,
	struct blob *text, struct hyb_error *err)
{
	const uint64_t unit = p->weight == SIZE_MAX ? 1000 : 1;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t before = sum / unit;

		sum += convert_own(p, i);
		if (sum / unit == before)
			continue;
		if (convert_way_find(way, p, 0, i, job->fold))
			return convert_no_memory(err);
		for (size_t k = 0; k < way->count; k++) {
			fputs(k ? ";" : "", job->file);
			put_frame(job, &p->nodes[way->nodes[k]], text);
		}
		if (!way->count)
			fputs(CONVERT_NO_FRAMES, job->file);
		fprintf(job->file, " %" PRIu64 "\n", sum / unit - before);
		if (text->failed)
			return convert_no_memory(err);
		if (i % 4096 == 0 && convert_check(job, err))
			return err->code;
	}
	return HYB_OK;
}

int collapsed_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_profile p;
	struct convert_way way = {0};
	struct blob text = {0};
	int r = convert_profile_make(job, &p, err);

	if (r)
		return r;
	r = write_all(job, &p, &way, &text, err);
	blob_release(&text);
	free(way.nodes);
	convert_profile_release(&p);
	return r;
}
