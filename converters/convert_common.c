/* What formats of all kinds have in common. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "converters/formats.h"
#include "base/error.h"
#include "format/format.h"

int convert_no_memory(struct hyb_error *err)
{
	return error_set(err, HYB_ENOMEM, "out of memory");
}

/* What the regions of probes are is known where they were entered. */
uint8_t *convert_region_kinds(const struct profile *profile)
{
	size_t count;
	const struct profile_part *parts = profile_parts(profile, &count);
	uint8_t *kinds = calloc(profile_count(profile), 1);

	for (size_t p = 0; kinds && p < count; p++) {
		const struct hyb_location_info *location = parts[p].location;

		for (size_t i = 1; i < location->node_count; i++) {
			const struct hyb_node_info *node = &location->nodes[i];
			uint8_t *kind = &kinds[parts[p].nodes[i]];

			if (node->type == HYB_TYPE_FUNCTION)
				*kind = HYB_REGION_FUNCTION;
			else if (node->type == HYB_TYPE_REGION)
				*kind = (uint8_t)(node->region->mpi ? HYB_REGION_MPI : node->region->kind);
		}
	}
	return kinds;
}

void convert_put_line(struct blob *to, const char *name, char avoid, char instead)
{
	size_t n;

	for (; *name; name += n ? n : 1) {
		unsigned char c = (unsigned char)*name;

		n = utf8_length(name);
		if (!n)
			blob_put_bytes(to, "\xef\xbf\xbd", 3);
		else if (*name == avoid)
			blob_put_bytes(to, &instead, 1);
		else if (c < 0x20 || c == 0x7f)
			blob_put_bytes(to, " ", 1);
		else
			blob_put_bytes(to, name, n);
	}
}

int convert_check(const struct convert_job *job, struct hyb_error *err)
{
	if (*job->stop)
		return error_set(err, HYB_EIO, "interrupted");
	if (job->file && ferror(job->file))
		return error_set(err, HYB_EIO, "cannot be written"); /* whose file it is knows why */
	return HYB_OK;
}

void convert_note(const struct convert_job *job, const char *format, ...)
{
	struct convert_notes *notes = job->notes;
	char text[500];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (job->note)
		job->note(job->data, text);
	if (!notes || !ARRAY_ROOM(notes->lines, notes->count))
		return;
	notes->lines[notes->count] = strdup(text);
	notes->count += notes->lines[notes->count] != NULL;
}

void convert_notes_release(struct convert_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->lines[i]);
	free(notes->lines);
	*notes = (struct convert_notes){0};
}

void convert_put_notes(const struct convert_job *job, struct json *json, const char *key)
{
	json_array(json, key);
	for (size_t i = 0; job->notes && i < job->notes->count; i++)
		json_text(json, NULL, job->notes->lines[i]);
	json_end(json);
}

double convert_rate(int64_t before, int64_t now, uint64_t ns)
{
	double grown = now >= before ? (double)((uint64_t)now - (uint64_t)before)
				     : -(double)((uint64_t)before - (uint64_t)now);

	return grown / ((double)ns * 1e-9);
}
