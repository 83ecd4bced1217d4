#include "profile/views/fields.h"

#include <math.h>
#include <stddef.h>

#define RATE_LEAST 5e5 /* ns in a second: each reading knows a little better what a sample stands for */

/* ---------------------------------------------------------------- values */

static double share(double part, double whole)
{
	return whole != 0 ? part * 100 / whole : 0;
}

static double difference(uint64_t after, uint64_t before)
{
	return (double)(int64_t)(after - before);
}

static double percent(const struct field_row *row)
{
	double p = share((double)(row->now.inclusive - row->waited), (double)row->whole);

	return row->root && p > 100 ? 100 : p;
}

static double of_parent(const struct field_row *row)
{
	return share((double)row->now.inclusive, (double)row->above);
}

static double child_calls(const struct field_row *row)
{
	return (double)row->child_calls;
}

static double rate(const struct field_row *row)
{
	return row->rate;
}

static double before(const struct field_row *row)
{
	return row->before ? (double)row->before->inclusive : NAN;
}

static double after(const struct field_row *row)
{
	return row->before ? (double)row->now.inclusive : NAN;
}

static double change(const struct field_row *row)
{
	return row->before ? difference(row->now.inclusive, row->before->inclusive) : NAN;
}

static double change_percent(const struct field_row *row)
{
	return share(change(row) - difference(row->waited, row->waited_before), (double)row->whole);
}

static double change_exclusive(const struct field_row *row)
{
	return row->before ? difference(row->now.exclusive, row->before->exclusive) : NAN;
}

/* ------------------------------------------------------------------ heat */

static double heat_of_percent(const struct field_row *row)
{
	return percent(row) / 100;
}

static double heat_of_exclusive(const struct field_row *row)
{
	return share((double)row->now.exclusive, (double)row->whole) / 100;
}

static double heat_of_rate(const struct field_row *row)
{
	return row->rate_of_all > 0 ? row->rate / row->rate_of_all : 0;
}

static double heat_of_change(const struct field_row *row)
{
	return share(change(row), (double)row->whole) / 100;
}

static double heat_of_change_exclusive(const struct field_row *row)
{
	return share(change_exclusive(row), (double)row->whole) / 100;
}

/* ------------------------------------------------------------- the table */

#define TREES (FIELD_TREE | FIELD_REVERSE)
#define PROFILES (TREES | FIELD_FLAT) /* all but a difference */
#define ALL (PROFILES | FIELD_DIFF)
#define AMOUNT(member) offsetof(struct profile_values, member)

/* clang-format off */
const struct field fields[FIELDS] = {
	[FIELD_INCLUSIVE] = {.name = "incl", .key = "inclusive_ns", .form = FIELD_TIME, .at = AMOUNT(inclusive),
		.text = PROFILES, .screen = PROFILES, .data = ALL, .adds = TREES,
		.priority = 1, .early = ALL, .heat = heat_of_percent},
	[FIELD_PERCENT] = {.name = "%", .form = FIELD_SHARE, .width = 7, .value = percent,
		.text = PROFILES, .screen = PROFILES, .adds = TREES,
		.priority = 2, .early = ALL, .heat = heat_of_percent},
	[FIELD_OF_PARENT] = {.name = "%parent", .form = FIELD_SHARE, .width = 8, .value = of_parent,
		.screen = TREES, .adds = TREES, .priority = 11, .early = FIELD_REVERSE},
	[FIELD_EXCLUSIVE] = {.name = "excl", .key = "exclusive_ns", .form = FIELD_TIME, .at = AMOUNT(exclusive),
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .priority = 7, .early = FIELD_FLAT, .heat = heat_of_exclusive},
	[FIELD_BLOCKED] = {.name = "blocked", .key = "blocked_ns", .form = FIELD_TIME, .at = AMOUNT(blocked),
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .needs = FIELD_HAS_BLOCKED, .priority = 8},
	[FIELD_CALLS] = {.name = "calls", .key = "calls", .form = FIELD_COUNT, .width = 8, .at = AMOUNT(calls),
		.text = PROFILES, .screen = PROFILES, .data = ALL,
		.least = 1, .needs = FIELD_HAS_CALLS, .priority = 9},
	[FIELD_CHILD_CALLS] = {.name = "below", .form = FIELD_COUNT, .width = 8, .value = child_calls,
		.screen = FIELD_TREE, .least = 1, .needs = FIELD_HAS_CALLS, .priority = 14},
	[FIELD_SKIPPED] = {.name = "skipped", .key = "skipped", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(skipped), .data = TREES, .least = 1},
	[FIELD_SAMPLES] = {.name = "samples", .key = "samples", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(samples), .text = PROFILES, .screen = PROFILES, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .needs = FIELD_HAS_SAMPLES, .priority = 10},
	[FIELD_RATE] = {.name = "now", .form = FIELD_SECONDS, .width = 8, .value = rate, .screen = ALL,
		.least = RATE_LEAST, .needs = FIELD_HAS_RATE, .priority = 6, .early = ALL,
		.heat = heat_of_rate},
	[FIELD_BEFORE] = {.name = "before", .form = FIELD_TIME, .value = before, .screen = FIELD_DIFF,
		.adds = ALL, .least = 1, .priority = 3, .early = ALL},
	[FIELD_AFTER] = {.name = "after", .form = FIELD_TIME, .value = after, .screen = FIELD_DIFF,
		.adds = ALL, .least = 1, .priority = 4, .early = ALL},
	[FIELD_CHANGE] = {.name = "change", .form = FIELD_TIME, .sign = true, .value = change,
		.screen = FIELD_DIFF, .adds = ALL, .priority = 5, .early = ALL, .heat = heat_of_change},
	[FIELD_CHANGE_PERCENT] = {.name = "change%", .form = FIELD_SHARE, .width = 8, .sign = true,
		.value = change_percent, .screen = FIELD_DIFF, .adds = ALL, .priority = 12},
	[FIELD_CHANGE_EXCLUSIVE] = {.name = "exclchange", .form = FIELD_TIME, .wider = 2, .sign = true,
		.value = change_exclusive, .screen = FIELD_DIFF, .priority = 13, .heat = heat_of_change_exclusive},
};
/* clang-format on */

static uint64_t amount(const struct field *field, const struct profile_values *values)
{
	return *(const uint64_t *)(const void *)((const char *)values + field->at);
}

double field_value(const struct field *field, const struct field_row *row)
{
	return field->at ? (double)amount(field, &row->now) : field->value(row);
}

bool field_is_in(const struct field *field, unsigned in, unsigned view, unsigned has)
{
	return in & view && (field->needs & has) == field->needs;
}

struct profile_values field_values_of_node(const struct profile_node *n)
{
	return (struct profile_values){
		true, n->calls, n->skipped, n->samples, n->inclusive, n->exclusive, n->blocked};
}

struct profile_values field_values_of_row(const struct profile_row *r)
{
	return (struct profile_values){true, r->calls, 0, r->samples, r->inclusive, r->exclusive, r->blocked};
}

/* ------------------------------------------------------------------ text */

const char *field_text(const struct field *field, double value, double unit, char text[FIGURE_SIZE])
{
	*text = 0;
	if (field->least > 0 && !(value >= field->least))
		return text;
	switch (field->form) {
	case FIELD_COUNT:
		return figure_count((uint64_t)value, text);
	case FIELD_SHARE:
		snprintf(text, FIGURE_SIZE, field->sign ? "%+.1f" : "%.1f", value);
		break;
	case FIELD_SECONDS:
		unit = 1e9;
		/* fall through */
	case FIELD_TIME:
		snprintf(text, FIGURE_SIZE, field->sign ? "%+.3f" : "%.3f", value / unit);
		break;
	}
	return text;
}

/* ----------------------------------------------------------- for scripts */

/* The next one that files of this view have: counts, then times, then shares. NULL: no more. */
static const struct field *next_of_data(unsigned view, unsigned *at)
{
	for (; *at < 2 * FIELDS; ++*at) {
		const struct field *field = &fields[*at % FIELDS];

		if (field->data & view && (field->form == FIELD_COUNT) == (*at < FIELDS)) {
			++*at;
			return field;
		}
	}
	return NULL;
}

void field_json(struct json *json, const char *key, const struct field *field, const struct field_row *row)
{
	if (field->at)
		json_number(json, key, amount(field, &row->now));
	else
		json_real(json, key, field->value(row), 17);
}

void fields_json(struct json *json, const struct field_row *row, unsigned view)
{
	const struct field *field;

	for (unsigned at = 0; (field = next_of_data(view, &at));)
		field_json(json, field->key, field, row);
}

void fields_csv_heading(struct csv *csv, const char *prefix, unsigned view)
{
	const struct field *field;
	char text[80];

	for (unsigned at = 0; (field = next_of_data(view, &at));) {
		snprintf(text, sizeof(text), "%s%s", prefix, field->key);
		csv_plain(csv, text);
	}
}

void fields_csv(struct csv *csv, const struct field_row *row, unsigned view)
{
	const struct field *field;

	for (unsigned at = 0; (field = next_of_data(view, &at));)
		if (field->at)
			csv_number(csv, amount(field, &row->now));
		else
			csv_real(csv, field->value(row), 17);
}
