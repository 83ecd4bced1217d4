/*
 * What rows of trees and tables have beside their names and metrics: a row of fields.c for each. What
 * prints, exports or draws a profile loops over them, so that a new one is a row there. Pure.
 */
#ifndef HYB_FIELDS_H
#define HYB_FIELDS_H

#include <stddef.h>

#include "base/csv.h"
#include "base/json.h"
#include "profile/metrics/figures.h"
#include "profile/views/profile_diff.h"
#include "profile/views/views.h"

/* From left to right; those of a difference last. */
enum field_id {
	FIELD_INCLUSIVE = 0,
	FIELD_PERCENT, /* of the whole */
	FIELD_PERCENT_ALONE,
	FIELD_EXCLUSIVE,
	FIELD_BLOCKED, /* for scripts; as text its two parts: */
	FIELD_WAIT,
	FIELD_READY,
	FIELD_IDLE, /* of the inclusive time no part of the whole */
	FIELD_IDLE_ALONE, /* of the blocked time */
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
	FIELD_CALL_MEAN, /* of functions of MPI */
	FIELD_CALL_LEAST,
	FIELD_CALL_MOST,
	FIELD_RANKS, /* of a spread over ranks */
	FIELD_MEAN,
	FIELD_LEAST,
	FIELD_LEAST_RANK,
	FIELD_MOST,
	FIELD_MOST_RANK,
	FIELD_DEVIATION,
	FIELD_IMBALANCE,
	FIELD_MESSAGES,
	FIELD_SENT,
	FIELD_RECEIVED,
	FIELDS
};

/* A row as its fields see it. */
struct field_row {
	struct profile_values now; /* of a difference: after */
	const struct profile_values *before; /* of a difference, else NULL */
	uint64_t whole; /* ns that are 100 % */
	uint64_t child_calls; /* of the nearest probes below */
	double rate, rate_of_all; /* NAN: not known */
	uint64_t messages, sent, received, least, most; /* as in struct profile_node */
	const struct profile_spread *spread; /* over so many `ranks`; NULL: not known */
	uint64_t ranks;
	const void *thing; /* of a table with rows of its own: the row */
};

/* FIELD_HAS_READY if so many ns at one node are worth a column, `whole` being the longest: any machine makes
 * threads wait for a processor now and then. */
unsigned field_has_ready(uint64_t ready, uint64_t whole);

struct profile_values field_values_of_node(const struct profile_node *node);

enum field_form {
	FIELD_TIME, /* ns, shown in the unit of all times */
	FIELD_SECONDS, /* ns, shown in seconds */
	FIELD_DURATION, /* ns, each shown with a unit of its own */
	FIELD_SHARE, /* percent; of 1 in JSON and CSV */
	FIELD_COUNT,
	FIELD_SIGNED,
	FIELD_RANK, /* may have the bit HYB_RANK_FOREIGN; HYB_RANK_NONE: not known */
	FIELD_AT_RANK, /* the same with an @ in front */
	FIELD_TEXT, /* `at`: a char *; or `word` finds it */
	FIELD_ID,
};

enum field_view {
	FIELD_TREE = 1,
	FIELD_REVERSE = 2,
	FIELD_FLAT = 4,
	FIELD_DIFF = 8,
	/* parts of the data of a tree */
	FIELD_OVER = 16, /* over the ranks */
	FIELD_OVER_METRIC = 32, /* the same of a metric: keys say no unit */
	FIELD_TRAFFIC = 64, /* messages */
	FIELD_EACH_CALL = 128,
};

/* What not every profile has. */
enum field_need {
	FIELD_HAS_BLOCKED = 1,
	FIELD_HAS_CALLS = 2,
	FIELD_HAS_SAMPLES = 4,
	FIELD_HAS_RATE = 8,
	FIELD_HAS_READY = 16,
};

struct field {
	const char *name; /* its heading */
	const char *key; /* in JSON, CSV and pages; NULL: it is in none */
	enum field_form form;
	const char *group; /* in JSON the object it is in, in CSV in front of the key; or NULL */
	int width; /* columns of text; 0: as wide as times are, `wider` added; < 0: from the left */
	int wider;
	const char *unknown; /* what stands in the place of a rank that is not known; or NULL */
	int digits; /* behind the point, in JSON and CSV, of what `value` finds */
	bool json_only; /* not in CSV */
	bool sign; /* a difference */
	double least; /* what is less is left blank; 0: nothing is */
	unsigned needs; /* enum field_need */
	/* Views (enum field_view) in which there is such a column: of hybrid-report's text, of hybrid-view,
	 * of JSON and CSV; in which what is left out below a row adds up. */
	unsigned text, screen, data, adds;
	/* Where the screen is narrow: the lowest get room first; those of `early` views before metrics. */
	unsigned priority, early;
	/* Of a plain amount: where it is in struct field_row; with `size` (its bytes): in `thing`. Both 0:
	 * `value` finds it, or `word`. */
	size_t at, size;
	double (*value)(const struct field_row *row);
	const char *(*word)(const struct field_row *row);
	double (*heat)(
		const struct field_row *row); /* share of the whole that gives it its colour; or NULL */
};

extern const struct field fields[FIELDS];

/* A column where not all of a view is shown: what is 0 here is as in the field. */
struct field_column {
	const struct field *field; /* NULL: behind the last */
	const char *heading;
	int width;
	unsigned room; /* columns of a terminal from which it is shown */
	bool hot; /* coloured by its heat */
};

/* Tables with rows of their own have fields of their own in the list of their columns: those without a name
 * are not in the text, those without a key are nowhere else. */
#define COLUMN(field_, ...) \
	{ \
		.field = (field_), __VA_ARGS__ \
	}
#define FIELD(...) (&(const struct field){__VA_ARGS__})
#define FIELD_OF(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Its heading in a profile that has `has`: where threads waited, what is exclusive is CPU time. */
const char *field_heading(const struct field *field, unsigned has);

double field_value(const struct field *field, const struct field_row *row); /* NAN: not known */

/* Whether there is such a column in a view of a profile that has `has`; `in`: one of the masks of the field.
 */
bool field_is_in(const struct field *field, unsigned in, unsigned view, unsigned has);

/* A value as text; "" where a zero is left blank. `unit`: of times, ns that a printed 1.0 stands for. */
const char *field_text(const struct field *field, double value, double unit, char text[FIGURE_SIZE]);

/* A value for scripts, exactly; null: not known. */
void field_json(struct json *json, const char *key, const struct field *field, const struct field_row *row);
/* All of a view, counts before times: members of JSON; of CSV the headings (with `prefix` in front), and the
 * cells. */
void fields_json(struct json *json, const struct field_row *row, unsigned view);
void fields_csv_heading(struct csv *csv, const char *prefix, unsigned view);
void fields_csv(struct csv *csv, const struct field_row *row, unsigned view);
/* The same of a list. */
void field_list_json(struct json *json, const struct field_column *list, const struct field_row *row);
void field_list_csv_heading(struct csv *csv, const struct field_column *list);
void field_list_csv(struct csv *csv, const struct field_column *list, const struct field_row *row);
/* A member with `count` rows of `size` bytes, each on a line. */
void field_list_json_rows(struct json *json, const char *key, const struct field_column *list,
	const void *rows, size_t size, size_t count);

#endif
