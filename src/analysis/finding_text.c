/* A finding in words, for whatever prints or draws it. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/finding.h"
#include "profile/metrics/figures.h"
#include "profile/views/label.h"

#define PATH 6u /* nodes of a call path that are printed */
#define LISTED 5u /* locations, and instances */

/* "MPI_Recv < exchange:halo.c:12 < main:halo.c:80" */
static void put_path(FILE *out, const struct profile_node *nodes, uint32_t node)
{
	for (unsigned i = 0; node; node = nodes[node].parent, i++) {
		const struct profile_node *n = &nodes[node];
		struct label label = {.kind = n->kind,
			.name = n->name,
			.file = n->file,
			.module = n->module,
			.line = n->line};
		char *place = i < PATH ? label_place(&label, false) : NULL;

		if (i == PATH) {
			fputs(" < ...", out);
			return;
		}
		fprintf(out, "%s%s%s", i ? " < " : "", n->name, place ? place : "");
		free(place);
	}
}

static void put_share(FILE *out, double share)
{
	if (share > 0)
		fprintf(out, " %.*f %%", share >= 0.0995 ? 0 : 1, share * 100);
}

static void put_what(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	fputs(f->text, out);
}

static void put_where(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	put_path(out, nodes, f->node);
}

static void put_who(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	char name[PROFILE_LOCATION_NAME];

	for (size_t i = 0; i < f->who_count && i < LISTED; i++) {
		fprintf(out, "%s%s", i ? ", " : "", profile_name_location(f->who[i].location, name));
		put_share(out, f->who[i].share);
	}
	if (f->who_count > LISTED)
		fprintf(out, ", and %zu more", f->who_count - LISTED);
}

static void put_because(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	char name[PROFILE_LOCATION_NAME];

	for (size_t i = 0; i < f->because_count; i++) {
		const struct finding_cause *cause = &f->because[i];

		fprintf(out, "%s%s", i ? ", because of " : "", profile_name_location(cause->location, name));
		if (cause->node && cause->node != f->node) {
			fputs(" in ", out);
			put_path(out, nodes, cause->node);
		}
		if (cause->share < 1)
			put_share(out, cause->share);
	}
}

static void put_when(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	char name[PROFILE_LOCATION_NAME], n[FIGURE_SIZE];

	for (size_t i = 0; i < f->instance_count && i < LISTED; i++) {
		const struct finding_instance *in = &f->instances[i];

		fprintf(out, "%s%s at %.6f s", i ? "; " : "", profile_name_location(in->location, name),
			(double)(int64_t)(in->time - in->location->process->start) / 1e9);
		if (in->duration)
			fprintf(out, " by %s", figure_duration(in->duration, n));
		if (in->node && in->node != f->node)
			fprintf(out, " in %s", nodes[in->node].name);
	}
	if (f->instance_count && f->count > LISTED)
		fputs("; ...", out);
}

static void put_meaning(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	fputs(f->kind->meaning, out);
}

static void put_computed(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	fputs(f->kind->computed, out);
}

static void put_advice(FILE *out, const struct finding *f, const struct profile_node *nodes)
{
	fputs(f->kind->advice, out);
}

static const struct {
	const char *label;
	void (*put)(FILE *out, const struct finding *finding, const struct profile_node *nodes);
} parts[] = {{"what", put_what}, {"where", put_where}, {"who", put_who}, {"because", put_because},
	{"when", put_when}, {"meaning", put_meaning}, {"computed", put_computed}, {"advice", put_advice}};

_Static_assert(sizeof(parts) / sizeof(*parts) == FINDING_PARTS, "as many as the header says");

const char *finding_label(unsigned part)
{
	return parts[part].label;
}

char *finding_words(const struct finding *finding, unsigned part, const struct profile_node *nodes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	parts[part].put(out, finding, nodes);
	if (!fclose(out) && size)
		return text;
	free(text);
	return NULL;
}
