/* What analyses found: as text, or as JSON. */
#include <stdlib.h>

#include "analysis/finding.h"
#include "report.h"

int report_findings_make(struct report_inputs *inputs, const struct profile *profile, struct hyb_error *err)
{
	struct hyb_experiment **experiments =
		calloc(inputs->quality.count + 1, sizeof(struct hyb_experiment *));
	int r = HYB_ENOMEM;

	err->code = 0;
	inputs->findings = calloc(1, sizeof(*inputs->findings));
	for (size_t i = 0; experiments && i < inputs->quality.count; i++)
		experiments[i] = inputs->quality.items[i].experiment;
	if (experiments && inputs->findings)
		r = analysis_find(experiments, inputs->quality.count, profile, NULL, inputs->findings, err);
	free(experiments);
	return r;
}

/* ----------------------------------------------------------------- text */

static bool is_first_of_kind(const struct findings *findings, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (findings->items[i].kind == findings->items[at].kind)
			return false;
	return true;
}

static void put_finding(const struct style *style, const struct profile_node *nodes,
	const struct findings *findings, size_t at, size_t number)
{
	const struct finding *f = &findings->items[at];
	unsigned count = is_first_of_kind(findings, at) ? FINDING_PARTS : FINDING_OF_KIND;
	char n[FIGURE_SIZE];

	fputc('\n', style->out);
	style_put(style, INK_BOLD, "%zu. %s", number, f->kind->name);
	if (f->severity)
		fprintf(style->out, ": %s, %.1f %%", figure_duration(f->severity, n), f->share * 100);
	if (f->confidence < 1)
		fprintf(style->out, ", confidence %.2f", f->confidence);
	fputc('\n', style->out);
	for (unsigned part = 0; part < count; part++) {
		struct text text = text_begin();
		char *words = finding_words(f, part, nodes);

		if (words)
			text_add(&text, "%s", words);
		text_line(style, part < FINDING_OF_KIND ? INK_BOLD : INK_DIM, finding_label(part), &text);
		free(words);
	}
}

/* The threshold is for what costs time. */
static bool is_shown(const struct report_options *o, const struct finding *f)
{
	return !f->severity || f->share * 100 >= o->look.threshold;
}

static void put_text(const struct style *style, const struct report_options *o,
	const struct findings *findings, const struct profile_node *nodes)
{
	size_t shown = 0;

	for (size_t i = 0; i < findings->count; i++)
		if (is_shown(o, &findings->items[i]))
			put_finding(style, nodes, findings, i, ++shown);
	if (shown < findings->count)
		fprintf(style->out, "\n(%zu more below %g %%)\n", findings->count - shown, o->look.threshold);
	else if (!findings->count)
		fputs("\nnothing was found\n", style->out);
}

/* ----------------------------------------------------------------- JSON */

static void json_path(struct json *json, const struct profile_node *nodes, uint32_t node)
{
	json_array(json, "where");
	for (; node; node = nodes[node].parent) {
		json_object(json, NULL);
		json_text(json, "name", nodes[node].name);
		json_text(json, "file", nodes[node].file);
		json_number(json, "line", nodes[node].line);
		json_end(json);
	}
	json_end(json);
}

/* Begins an object of a location. */
static void json_location(struct json *json, const struct hyb_location_info *location)
{
	const struct hyb_process *p = location->process;

	json_object(json, NULL);
	json_number(json, "pid", p->pid);
	json_number(json, "tid", location->tid);
	if (p->world && p->rank != HYB_RANK_NONE) {
		json_id(json, "world", p->world);
		json_number(json, "rank", p->rank);
	}
}

static void json_lists(struct json *json, const struct profile_node *nodes, const struct finding *f)
{
	json_array(json, "who");
	for (size_t i = 0; i < f->who_count; i++) {
		json_location(json, f->who[i].location);
		json_fixed(json, "share", f->who[i].share, 6);
		json_end(json);
	}
	json_end(json);
	json_array(json, "because");
	for (size_t i = 0; i < f->because_count; i++) {
		json_location(json, f->because[i].location);
		json_fixed(json, "share", f->because[i].share, 6);
		json_path(json, nodes, f->because[i].node);
		json_end(json);
	}
	json_end(json);
	json_array(json, "instances");
	for (size_t i = 0; i < f->instance_count; i++) {
		json_location(json, f->instances[i].location);
		json_number(json, "time_ns", f->instances[i].time);
		json_number(json, "duration_ns", f->instances[i].duration);
		json_path(json, nodes, f->instances[i].node);
		json_end(json);
	}
	json_end(json);
}

static void json_kinds(struct json *json, const struct findings *findings)
{
	json_list(json, "finding_kinds");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding_kind *kind = findings->items[i].kind;

		if (!is_first_of_kind(findings, i))
			continue;
		json_row(json);
		json_text(json, "kind", kind->key);
		json_text(json, "name", kind->name);
		json_text(json, "meaning", kind->meaning);
		json_text(json, "computed", kind->computed);
		json_text(json, "advice", kind->advice);
		json_end(json);
	}
	json_end(json);
}

static void put_json(struct json *json, const struct report_options *o, const struct findings *findings,
	const struct profile_node *nodes)
{
	json_list(json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->items[i];

		if (!is_shown(o, f))
			continue;
		json_row(json);
		json_text(json, "kind", f->kind->key);
		json_number(json, "severity_ns", f->severity);
		json_fixed(json, "share", f->share, 6);
		json_number(json, "count", f->count);
		json_fixed(json, "confidence", f->confidence, 3);
		json_text(json, "text", f->text);
		json_path(json, nodes, f->node);
		json_lists(json, nodes, f);
		json_end(json);
	}
	json_end(json);
	json_kinds(json, findings);
}

void report_findings(struct style *style, const struct report_options *options,
	const struct report_inputs *inputs, const struct profile *profile)
{
	if (options->output == REPORT_JSON)
		put_json(&style->json, options, inputs->findings, profile_nodes(profile));
	else
		put_text(style, options, inputs->findings, profile_nodes(profile));
}
