/*
 * What rows of trees and tables have beside their names and metrics: a row of fields.c for each. What
 * prints, exports or draws a profile loops over them, so that a new one is a row there. Pure.
 */
#ifndef HYB_FIELDS_H
#define HYB_FIELDS_H

#include "base/csv.h"
#include "base/json.h"
#include "profile/metrics/figures.h"
#include "profile/views/profile_diff.h"
#include "profile/views/views.h"

/* From left to right; those of a difference last. */
enum field_id {
	FIELD_INCLUSIVE = 0,
	FIELD_PERCENT, /* of the whole */
	FIELD_OF_PARENT, /* percent */
	FIELD_EXCLUSIVE,
	FIELD_BLOCKED,
	FIELD_CALLS,
	FIELD_CHILD_CALLS,
	FIELD_SKIPPED,
	FIELD_SAMPLES,
	FIELD_RATE, /* growth of inclusive time, ns a second */
	FIELD_BEFORE,
	FIELD_AFTER,
	FIELD_CHANGE,
	FIELD_CHANGE_PERCENT, /* of the whole */
	FIELD_CHANGE_EXCLUSIVE,
	FIELDS
};

/* A row as its fields see it. */
struct field_row {
	struct profile_values now; /* of a difference: after */
	const struct profile_values *before; /* of a difference, else NULL */
	uint64_t above; /* ns: the inclusive time of the row above; of the first row its own */
	uint64_t waited; /* ns of `now` and no part of the whole: outside all probes */
	uint64_t waited_before;
	uint64_t whole; /* ns that are 100 % */
	uint64_t child_calls; /* of the nearest probes below */
	double rate, rate_of_all; /* NAN: not known */
	bool root; /* has no more than all */
};

struct profile_values field_values_of_node(const struct profile_node *node);
struct profile_values field_values_of_row(const struct profile_row *row);

enum field_form {
	FIELD_TIME, /* ns, shown in the unit of all times */
	FIELD_SECONDS, /* ns, shown in seconds */
	FIELD_SHARE, /* percent */
	FIELD_COUNT,
};

enum field_view { FIELD_TREE = 1, FIELD_REVERSE = 2, FIELD_FLAT = 4, FIELD_DIFF = 8 };

/* What not every profile has. */
enum field_need { FIELD_HAS_BLOCKED = 1, FIELD_HAS_CALLS = 2, FIELD_HAS_SAMPLES = 4, FIELD_HAS_RATE = 8 };

struct field {
	const char *name; /* its heading */
	const char *key; /* in JSON, CSV and pages; NULL: it is in none */
	enum field_form form;
	int width; /* columns of text; 0: as wide as times are, `wider` added */
	int wider;
	bool sign; /* a difference */
	double least; /* what is less is left blank; 0: nothing is */
	unsigned needs; /* enum field_need */
	/* Views (enum field_view) in which there is such a column: of hybrid-report's text, of hybrid-view,
	 * of JSON and CSV; in which what is left out below a row adds up. */
	unsigned text, screen, data, adds;
	/* Where the screen is narrow: the lowest get room first; those of `early` views before metrics. */
	unsigned priority, early;
	size_t at; /* of a plain amount: where it is in struct profile_values; 0: `value` finds it */
	double (*value)(const struct field_row *row);
	double (*heat)(
		const struct field_row *row); /* share of the whole that gives it its colour; or NULL */
};

extern const struct field fields[FIELDS];

double field_value(const struct field *field, const struct field_row *row); /* NAN: not known */

/* Whether there is such a column in a view of a profile that has `has`; `in`: one of the masks of the field.
 */
bool field_is_in(const struct field *field, unsigned in, unsigned view, unsigned has);

/* A value as it reads; "" where it says nothing. `unit`: of times, ns that a printed 1.0 stands for. */
const char *field_text(const struct field *field, double value, double unit, char text[FIGURE_SIZE]);

/* A value for scripts, exactly; null: not known. */
void field_json(struct json *json, const char *key, const struct field *field, const struct field_row *row);
/* All of a view, counts before times: members of JSON; of CSV the headings (with `prefix` in front), and the
 * cells. */
void fields_json(struct json *json, const struct field_row *row, unsigned view);
void fields_csv_heading(struct csv *csv, const char *prefix, unsigned view);
void fields_csv(struct csv *csv, const struct field_row *row, unsigned view);

#endif
