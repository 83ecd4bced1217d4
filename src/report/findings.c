/* What analyses found: as text, or as JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/finding.h"
#include "base/json.h"
#include "text.h"

int report_findings_make(struct report_inputs *inputs, const struct profile *profile, struct hyb_error *err)
{
	struct hyb_experiment **experiments = calloc(inputs->count + 1, sizeof(struct hyb_experiment *));
	int r = HYB_ENOMEM;

	err->code = 0;
	inputs->findings = calloc(1, sizeof(*inputs->findings));
	for (size_t i = 0; experiments && i < inputs->count; i++)
		experiments[i] = inputs->items[i].experiment;
	if (experiments && inputs->findings)
		r = analysis_find(experiments, inputs->count, profile, NULL, inputs->findings, err);
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
	style_ink(style, INK_BOLD);
	fprintf(style->out, "%zu. %s", number, f->kind->name);
	style_ink(style, INK_PLAIN);
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
	return !f->severity || f->share * 100 >= o->threshold;
}

static void put_text(const struct style *style, const struct report_options *o,
	const struct findings *findings, const struct profile_node *nodes)
{
	size_t shown = 0;

	for (size_t i = 0; i < findings->count; i++)
		if (is_shown(o, &findings->items[i]))
			put_finding(style, nodes, findings, i, ++shown);
	if (shown < findings->count)
		fprintf(style->out, "\n(%zu more below %g %%)\n", findings->count - shown, o->threshold);
	else if (!findings->count)
		fputs("\nnothing was found\n", style->out);
}

/* ----------------------------------------------------------------- JSON */

static void json_path(FILE *out, const struct profile_node *nodes, uint32_t node)
{
	const char *comma = "";

	fputc('[', out);
	for (; node; node = nodes[node].parent, comma = ",") {
		fprintf(out, "%s{\"name\":", comma);
		json_string(out, nodes[node].name);
		fputs(",\"file\":", out);
		json_string(out, nodes[node].file);
		fprintf(out, ",\"line\":%u}", nodes[node].line);
	}
	fputc(']', out);
}

static void json_location(FILE *out, const struct hyb_location_info *location)
{
	const struct hyb_process *p = location->process;

	fprintf(out, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, p->pid, location->tid);
	if (p->world && p->rank != HYB_RANK_NONE)
		fprintf(out, ",\"world\":\"%016" PRIx64 "\",\"rank\":%" PRIu32, p->world, p->rank);
}

static void json_lists(FILE *out, const struct profile_node *nodes, const struct finding *f)
{
	fputs(",\"who\":[", out);
	for (size_t i = 0; i < f->who_count; i++) {
		fputs(i ? ",{" : "{", out);
		json_location(out, f->who[i].location);
		fprintf(out, ",\"share\":%.6f}", f->who[i].share);
	}
	fputs("],\"because\":[", out);
	for (size_t i = 0; i < f->because_count; i++) {
		fputs(i ? ",{" : "{", out);
		json_location(out, f->because[i].location);
		fprintf(out, ",\"share\":%.6f,\"where\":", f->because[i].share);
		json_path(out, nodes, f->because[i].node);
		fputc('}', out);
	}
	fputs("],\"instances\":[", out);
	for (size_t i = 0; i < f->instance_count; i++) {
		fputs(i ? ",{" : "{", out);
		json_location(out, f->instances[i].location);
		fprintf(out, ",\"time_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64 ",\"where\":",
			f->instances[i].time, f->instances[i].duration);
		json_path(out, nodes, f->instances[i].node);
		fputc('}', out);
	}
	fputc(']', out);
}

static void json_kinds(FILE *out, const struct findings *findings)
{
	const char *comma = "";

	fputs(",\n\"finding_kinds\":[", out);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding_kind *kind = findings->items[i].kind;

		if (!is_first_of_kind(findings, i))
			continue;
		fprintf(out, "%s\n{\"kind\":\"%s\",\"name\":", comma, kind->key);
		json_string(out, kind->name);
		fputs(",\"meaning\":", out);
		json_string(out, kind->meaning);
		fputs(",\"computed\":", out);
		json_string(out, kind->computed);
		fputs(",\"advice\":", out);
		json_string(out, kind->advice);
		fputc('}', out);
		comma = ",";
	}
	fputc(']', out);
}

static void put_json(FILE *out, const struct report_options *o, const struct findings *findings,
	const struct profile_node *nodes)
{
	const char *comma = "";

	fputs(",\n\"findings\":[", out);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->items[i];

		if (!is_shown(o, f))
			continue;
		fprintf(out,
			"%s\n{\"kind\":\"%s\",\"severity_ns\":%" PRIu64 ",\"share\":%.6f,\"count\":%" PRIu64
			",\"confidence\":%.3f,\"text\":",
			comma, f->kind->key, f->severity, f->share, f->count, f->confidence);
		json_string(out, f->text);
		fputs(",\"where\":", out);
		json_path(out, nodes, f->node);
		json_lists(out, nodes, f);
		fputc('}', out);
		comma = ",";
	}
	fputc(']', out);
	json_kinds(out, findings);
}

void report_findings(const struct style *style, const struct report_options *options,
	const struct report_inputs *inputs, const struct profile *profile)
{
	if (options->output == REPORT_JSON)
		put_json(style->out, options, inputs->findings, profile_nodes(profile));
	else
		put_text(style, options, inputs->findings, profile_nodes(profile));
}
