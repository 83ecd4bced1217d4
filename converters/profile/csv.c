/* A row for each call path, parents first, with all that is known of it; times in nanoseconds. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/words.h"
#include "base/array.h"
#include "base/blob.h"
#include "base/json.h"
#include "converters/formats.h"

static void put_header(FILE *out, const struct convert_profile *p)
{
	fputs("id,parent,level,kind,path,name,file,line,module,calls,samples,inclusive_ns,exclusive_ns,"
	      "blocked_ns,inclusive_percent,messages,bytes_sent,bytes_received",
		out);
	for (size_t k = 0; k < p->metric_count; k++) {
		static const char *const parts[] = {" inclusive", " exclusive", " samples"};

		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			char name[300];

			snprintf(name, sizeof(name), "%.250s%s", p->metrics[k].name, parts[i]);
			fputc(',', out);
			csv_string(out, name);
		}
	}
	fputs("\r\n", out);
}

static void put_row(FILE *out, const struct convert_profile *p, uint32_t i, size_t level, const char *path)
{
	const struct profile_node *n = &p->nodes[i];
	const struct profile_value *values = p->values ? &p->values[i * p->metric_count] : NULL;
	const uint64_t all = i ? convert_all(p, i) : p->whole; /* the root has waited, too */

	fprintf(out, "%" PRIu32 ",", i);
	if (i)
		fprintf(out, "%" PRIu32, n->parent);
	fprintf(out, ",%zu,%s,", level, word_key(&profile_kind_words, n->kind));
	csv_string(out, path);
	fputc(',', out);
	csv_string(out, n->name);
	fputc(',', out);
	csv_string(out, n->file);
	fprintf(out, ",%u,", n->line);
	csv_string(out, n->module);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4f", n->calls,
		n->samples, n->inclusive, n->exclusive, n->blocked,
		p->whole ? (double)all * 100 / (double)p->whole : 0);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, n->messages, n->sent, n->received);
	for (size_t k = 0; k < p->metric_count; k++)
		fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu64, values ? values[k].inclusive : 0,
			values ? values[k].exclusive : 0, values ? values[k].samples : 0);
	fputs("\r\n", out);
}

/* Names from the root down, with " > " in between; *ends: by level how much of it is the path down to there.
 */
static int put_rows(const struct convert_job *job, const struct convert_profile *p, struct blob *path,
	size_t **ends, struct hyb_error *err)
{
	size_t level = 0, known = 0;
	uint32_t i = 0;

	do {
		if (level == known && !ARRAY_ROOM(*ends, known++))
			return convert_no_memory(err);
		path->size = level ? (*ends)[level - 1] : 0;
		if (level > 1)
			blob_put_bytes(path, " > ", 3);
		blob_put_bytes(path, p->nodes[i].name, i ? strlen(p->nodes[i].name) : 0);
		(*ends)[level] = path->size;
		blob_put_bytes(path, "", 1);
		if (path->failed)
			return convert_no_memory(err);
		put_row(job->file, p, i, level, (const char *)path->data);
		if (i % 4096 == 0 && convert_check(job, err))
			return err->code;
		i = convert_next(p, i, &level);
	} while (i);
	return HYB_OK;
}

int csv_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_profile p;
	struct blob path = {0};
	size_t *ends = NULL;
	int r = convert_profile_make(job, &p, err);

	if (r)
		return r;
	put_header(job->file, &p);
	r = put_rows(job, &p, &path, &ends, err);
	blob_release(&path);
	free(ends);
	convert_profile_release(&p);
	return r;
}
