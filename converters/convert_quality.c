/* How well was measured, for formats that show it. */
#include <stdlib.h>

#include "converters/convert.h"
#include "quality/facts.h"
#include "quality/matching.h"

#define WIDTH 100u /* columns of the text */

static int put_text(struct json *json, const struct quality *quality, const struct profile *profile)
{
	const char *const marks[] = {"", "", ""};
	struct remarks remarks = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = out ? 0 : HYB_ENOMEM;

	quality_remarks(quality, profile, &remarks);
	for (size_t i = 0; !r && i < remarks.count; i++)
		remark_put(&remarks.list[i], out, WIDTH, marks);
	remarks_release(&remarks);
	if (out && fclose(out))
		r = HYB_ENOMEM;
	if (!r) {
		json_line(json);
		json_text(json, "quality_text", text);
	}
	free(text);
	return r;
}

static bool is_stopped(void *data)
{
	const volatile sig_atomic_t *stop = *(const volatile sig_atomic_t **)data;

	return *stop;
}

int convert_put_quality(const struct selection *part, struct hyb_experiment *experiment,
	const struct convert_profile *p, const volatile sig_atomic_t *stop, struct json *json)
{
	const struct analysis_watch matching_stop = {is_stopped, &stop};
	struct session_input item = {experiment, p->symbols};
	struct quality quality = {.items = &item, .count = 1, .part = part, .wish = QUALITY_MATCH_ALWAYS};
	int r = HYB_ENOMEM;

	quality.facts = facts_gather(&quality);
	if (quality.facts)
		quality.matching = quality_matching_make(&quality, false, &matching_stop);
	if (quality.matching) {
		quality_json(json, "quality", &quality, p->profile);
		r = put_text(json, &quality, p->profile);
	}
	quality_matching_free(quality.matching);
	facts_free(quality.facts);
	return r;
}
