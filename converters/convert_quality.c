/* What hybrid-report says of how well was measured, for formats that show it. */
#include "converters/convert.h"
#include "report/facts.h"
#include "report/matching.h"

static int put_text(struct json *json, const struct report_inputs *inputs, const struct profile *profile)
{
	char *text = NULL;
	size_t size;
	struct style style = {.out = open_memstream(&text, &size), .width = 100, .utf8 = true};

	if (!style.out)
		return HYB_ENOMEM;
	report_quality(&style, inputs, profile);
	if (fclose(style.out)) {
		free(text);
		return HYB_ENOMEM;
	}
	json_line(json);
	json_text(json, "quality_text", text);
	free(text);
	return 0;
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
	struct report_options options = {.view = REPORT_QUALITY, .part = *part};
	struct session_input item = {experiment, p->symbols};
	struct report_inputs inputs = {.items = &item, .count = 1, .options = &options};
	int r = HYB_ENOMEM;

	inputs.facts = facts_gather(&inputs);
	if (inputs.facts)
		inputs.matching = report_matching_make(&inputs, false, &matching_stop);
	if (inputs.matching) {
		report_json_quality(json, "quality", &inputs, p->profile);
		r = put_text(json, &inputs, p->profile);
	}
	report_matching_free(inputs.matching);
	facts_free(inputs.facts);
	return r;
}
