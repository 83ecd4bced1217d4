/*
 * Collapsed stacks, as the scripts stackcollapse-*.pl write them: a line for each call path with its frames,
 * outermost first, and what belongs to it alone. Numbers are whole microseconds, as those scripts have it for
 * time, whose roundings cancel out; those of a metric are as they were counted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "converters/formats.h"

struct path {
	struct blob text; /* frames with ';' in between */
	size_t *ends; /* by level, from 1 on: how much of the text is the path down to there */
	size_t room; /* levels that there have been */
};

/* Makes a node at this level (1: outermost) the end of the path. */
static int step(struct path *path, const struct profile_node *n, bool lines, size_t level)
{
	char line[16];

	if (level > path->room && !ARRAY_ROOM(path->ends, path->room++))
		return HYB_ENOMEM;
	path->text.size = level > 1 ? path->ends[level - 2] : 0;
	if (level > 1)
		blob_put_bytes(&path->text, ";", 1);
	convert_put_line(&path->text, *n->name ? n->name : "[unknown]", ';', ':'); /* as the scripts do */
	if (lines && n->line) {
		snprintf(line, sizeof(line), ":%u", n->line);
		blob_put_bytes(&path->text, line, strlen(line));
	}
	path->ends[level - 1] = path->text.size;
	return path->text.failed ? HYB_ENOMEM : HYB_OK;
}

static int write_all(const struct convert_job *job, const struct convert_profile *p, struct path *path,
	struct hyb_error *err)
{
	const uint64_t unit = p->weight == SIZE_MAX ? 1000 : 1;
	uint64_t sum = 0;
	size_t level = 0;
	uint32_t i = 0;

	do {
		uint64_t before = sum / unit;

		if (i && step(path, &p->nodes[i], job->mode == PROFILE_CALLSITE, level))
			return convert_no_memory(err);
		sum += convert_own(p, i);
		if (sum / unit > before) {
			if (i)
				fwrite(path->text.data, 1, path->text.size, job->file);
			else
				fputs(CONVERT_NO_FRAMES, job->file);
			fprintf(job->file, " %" PRIu64 "\n", sum / unit - before);
		}
		if (i % 4096 == 0 && convert_check(job, err))
			return err->code;
		i = convert_next(p, i, &level);
	} while (i);
	return HYB_OK;
}

int collapsed_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_profile p;
	struct path path = {0};
	int r = convert_profile_make(job, &p, err);

	if (r)
		return r;
	r = write_all(job, &p, &path, err);
	blob_release(&path.text);
	free(path.ends);
	convert_profile_release(&p);
	return r;
}
