/* The formats of call paths, and what they share. Each as struct converter.convert. */
#ifndef HYB_FORMATS_H
#define HYB_FORMATS_H

#include "base/blob.h"
#include "converters/converter.h"

int collapsed_write(const struct convert_job *job, struct hyb_error *err);
int speedscope_write(const struct convert_job *job, struct hyb_error *err);
int pprof_write(const struct convert_job *job, struct hyb_error *err);
int callgrind_write(const struct convert_job *job, struct hyb_error *err);
int dot_write(const struct convert_job *job, struct hyb_error *err);
int csv_write(const struct convert_job *job, struct hyb_error *err);
int html_write(const struct convert_job *job, struct hyb_error *err);

/* speedscope's format, with a profile for each thread if job->by_location, else one of all. */
int speedscope_put(const struct convert_job *job, struct hyb_error *err);

/* What stands where the root has something that is in no frame at all. */
#define CONVERT_NO_FRAMES "[no frames]"

/* Call paths with more frames are too many for the scripts of speedscope, which are recursive. */
#define CONVERT_DEEPEST 1000u

struct convert_way {
	uint32_t *nodes; /* from the outermost to the innermost frame */
	size_t count, room;
};

/* The way from below `top` to a node. Folded: no function stands there twice; what it calls again goes on
 * from where it stood first. 0 or HYB_ENOMEM. */
int convert_way_find(
	struct convert_way *way, const struct convert_profile *p, uint32_t top, uint32_t node, bool fold);

/* Whether a node is a line of the very function whose probe stands above it: no frame of its own. */
bool convert_is_own_line(const struct convert_profile *p, uint32_t node);

/* By node of a profile with parts: the enum hyb_region_kind of a probe, 0 of all else. To be freed; NULL:
 * memory is out. */
uint8_t *convert_region_kinds(const struct profile *profile);

/* Adds a name as UTF-8 without anything that ends a line or a text, and `instead` for each `avoid`. */
void convert_put_line(struct blob *to, const char *name, char avoid, char instead);

/* The notes of the job as a list of JSON. */
void convert_put_notes(const struct convert_job *job, struct json *json, const char *key);

#endif
