#include "profile/metrics/columns.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"

#define LISTED_MAX 20u /* names in a message */

__attribute__((format(printf, 2, 3))) static int fail(struct column_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return -1;
}

static struct column *add_column(struct column_set *set, const char *name, size_t length, const char *unit)
{
	struct column *c;

	if (!ARRAY_ROOM(set->items, set->count))
		return NULL;
	c = &set->items[set->count];
	*c = (struct column){.name = strndup(name, length), .unit = strdup(unit)};
	if (!c->name || !c->unit) {
		free(c->name);
		free(c->unit);
		return NULL;
	}
	set->count++;
	return c;
}

int columns_init(struct column_set *set, const struct profile_metric *metrics, size_t count)
{
	*set = (struct column_set){.metrics = count};
	for (size_t i = 0; i < count; i++) {
		struct column *c = add_column(set, metrics[i].name, strlen(metrics[i].name), metrics[i].unit);

		if (!c)
			return HYB_ENOMEM;
		c->level = metrics[i].level;
		c->estimated = metrics[i].estimated;
	}
	return add_column(set, "time", 4, "s") ? 0 : HYB_ENOMEM;
}

void columns_release(struct column_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		free(set->items[i].name);
		free(set->items[i].unit);
		free(set->items[i].expression);
		derive_free(set->items[i].derive);
	}
	free(set->items);
	free(set->shown);
	*set = (struct column_set){0};
}

static size_t find(const struct column_set *set, const char *name, size_t length)
{
	for (size_t i = 0; i < set->count; i++)
		if (strlen(set->items[i].name) == length && !memcmp(set->items[i].name, name, length))
			return i;
	return SIZE_MAX;
}

int columns_add_shown(struct column_set *set, size_t column, struct column_error *error)
{
	for (size_t i = 0; i < set->shown_count; i++)
		if (set->shown[i] == column)
			return 0;
	return ARRAY_ADD(set->shown, set->shown_count, column) ? 0 : fail(error, "out of memory");
}

/* ---------------------------------------------------------- definitions */

/* Arrays of the names, as derive.h wants them. To be freed, both. */
static bool list_names(const struct column_set *set, const char ***ret_names, bool **ret_ratios)
{
	*ret_names = calloc(set->count, sizeof(**ret_names));
	*ret_ratios = calloc(set->count, sizeof(**ret_ratios));
	for (size_t i = 0; *ret_names && *ret_ratios && i < set->count; i++) {
		(*ret_names)[i] = set->items[i].name;
		(*ret_ratios)[i] = set->items[i].ratio;
	}
	return *ret_names && *ret_ratios;
}

static void trim(const char **start, const char **end)
{
	while (*start < *end && isspace((unsigned char)**start))
		++*start;
	while (*end > *start && isspace((unsigned char)(*end)[-1]))
		--*end;
}

/* "NAME [UNIT]" up to `end`. */
static int parse_head(
	const char *start, const char *end, const char **ret_end, char unit[32], struct column_error *error)
{
	const char *open = memchr(start, '[', (size_t)(end - start));

	unit[0] = 0;
	if (open && end[-1] == ']') {
		if (end - open - 2 >= 32)
			return fail(
				error, "%.*s: a unit has less than 32 letters", (int)(end - start), start);
		snprintf(unit, 32, "%.*s", (int)(end - open - 2), open + 1);
		end = open;
		trim(&start, &end);
	}
	for (const char *p = start; p < end; p++)
		if ((unsigned char)*p < 0x20 || *p == '"' || *p == '[' || *p == ',')
			return fail(error, "%.*s: a name of a metric has no \" [ , in it", (int)(end - start),
				start);
	if (start == end)
		return fail(error, "a name is missing in front of the =");
	*ret_end = end;
	return 0;
}

/* An error in an expression, with the place below it. */
static int point_at(
	const char *start, const char *end, size_t at, const char *text, struct column_error *error)
{
	int length = (int)(end - start);

	if (length > 160)
		return fail(error, "%s (character %zu)", text, at + 1);
	return fail(error, "%s\n    %.*s\n    %*s^", text, length, start, (int)at, "");
}

/* 0 with the new column last; 1: a name is not known; -1. */
static int define(struct column_set *set, const char *start, const char *end, struct column_error *error)
{
	const char *equals = memchr(start, '=', (size_t)(end - start)), *head_end, **names = NULL;
	struct derive_error wrong;
	struct derive_names known;
	struct derive *derive = NULL;
	struct column *c;
	bool *ratios = NULL;
	char unit[32], *expression;
	int r;

	head_end = equals;
	trim(&start, &head_end);
	if (parse_head(start, head_end, &head_end, unit, error))
		return -1;
	if (find(set, start, (size_t)(head_end - start)) != SIZE_MAX)
		return fail(error, "%.*s: there is a metric of that name already", (int)(head_end - start),
			start);
	expression = strndup(equals + 1, (size_t)(end - equals - 1));
	r = expression && list_names(set, &names, &ratios) ? 0 : fail(error, "out of memory");
	known = (struct derive_names){names, ratios, set->count};
	if (!r)
		derive = derive_parse(expression, &known, &wrong);
	if (!r && !derive) {
		point_at(start, end, (size_t)(equals + 1 - start) + wrong.at, wrong.text, error);
		r = wrong.unknown ? 1 : -1;
	}
	c = !r ? add_column(set, start, (size_t)(head_end - start), unit) : NULL;
	if (c) {
		c->derive = derive;
		c->expression = strdup(expression + strspn(expression, " \t"));
		c->ratio = derive_is_ratio(derive);
		for (size_t i = 0; i + 1 < set->count; i++) {
			c->estimated |= set->items[i].estimated && derive_uses(derive, i);
			c->level |= set->items[i].level && derive_uses(derive, i) && !c->ratio;
		}
	} else if (!r) {
		derive_free(derive);
		r = fail(error, "out of memory");
	}
	free(expression);
	free(names);
	free(ratios);
	return r;
}

int columns_define_line(
	struct column_set *set, const char *line, size_t *ret_column, struct column_error *error)
{
	const char *end = line + strlen(line);
	int r;

	*ret_column = SIZE_MAX;
	trim(&line, &end);
	if (line == end || *line == '#')
		return 0;
	if (!memchr(line, '=', (size_t)(end - line)))
		return fail(error, "%.*s: a line is NAME = EXPRESSION",
			(int)(end - line < 60 ? end - line : 60), line);
	r = define(set, line, end, error);
	if (!r)
		*ret_column = set->count - 1;
	return r;
}

/* ---------------------------------------------------------------- lists */

static int fail_unknown(
	const struct column_set *set, const char *name, size_t length, struct column_error *error)
{
	size_t used, size = sizeof(error->text);
	char written[120];
	const char **names;
	bool *ratios;

	if (!list_names(set, &names, &ratios))
		return fail(error, "out of memory");
	snprintf(written, sizeof(written), "%.*s", (int)(length < 110 ? length : 110), name);
	snprintf(error->text, size, "there is no metric %s", written);
	nearest_put(error->text, size, written, names, set->count);
	used = strlen(error->text);
	for (size_t i = 0; i < set->count && i < LISTED_MAX && used < size; i++)
		used += (size_t)snprintf(
			error->text + used, size - used, "%s%.100s", i ? ", " : "; there are: ", names[i]);
	free(names);
	free(ratios);
	return -1;
}

/* Where the first item of a list ends. */
static const char *end_of_item(const char *list)
{
	bool quoted = false;

	for (; *list && (*list != ',' || quoted); list++)
		quoted ^= *list == '"';
	return list;
}

static bool is_quoted(const char *start, const char *end)
{
	return end - start > 1 && *start == '"' && end[-1] == '"';
}

static int show_item(struct column_set *set, const char *start, const char *end, struct column_error *error)
{
	size_t column;
	int r = 0;

	trim(&start, &end);
	column = find(set, start, (size_t)(end - start));
	if (column == SIZE_MAX && is_quoted(start, end))
		column = find(set, start + 1, (size_t)(end - start - 2));
	if (column == SIZE_MAX && memchr(start, '=', (size_t)(end - start))) {
		r = define(set, start, end, error);
		column = set->count - 1;
	} else if (start == end) {
		return fail(error, "a name is missing");
	} else if (column == SIZE_MAX) {
		return fail_unknown(set, start, (size_t)(end - start), error);
	}
	return r ? -1 : columns_add_shown(set, column, error);
}

void columns_first(const char *list, char *name, size_t size)
{
	const char *end = end_of_item(list);

	trim(&list, &end);
	if (is_quoted(list, end)) {
		list++;
		end--;
	}
	snprintf(name, size, "%.*s", (int)(end - list), list);
}

int columns_show(struct column_set *set, const char *list, struct column_error *error)
{
	for (const char *end;; list = end + 1) {
		end = end_of_item(list);
		if (show_item(set, list, end, error))
			return -1;
		if (!*end)
			return 0;
	}
}

void columns_evaluate(const struct column_set *set, const struct profile_value *values, double inclusive,
	double exclusive, double *to_inclusive, double *to_exclusive)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct derive *derive = set->items[i].derive;

		if (i < set->metrics) {
			to_inclusive[i] = values ? (double)values[i].inclusive : 0;
			to_exclusive[i] = values ? (double)values[i].exclusive : 0;
		} else if (!derive) {
			to_inclusive[i] = inclusive;
			to_exclusive[i] = exclusive;
		} else {
			to_inclusive[i] = derive_evaluate(derive, to_inclusive);
			to_exclusive[i] = derive_evaluate(derive, to_exclusive);
		}
	}
}
