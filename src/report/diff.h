/* The difference of two profiles, with the metrics that both have. */
#ifndef HYB_REPORT_DIFF_H
#define HYB_REPORT_DIFF_H

#include "sheet.h"

struct difference {
	const struct profile_diff_node *nodes;
	const struct column_set *set; /* of metrics that both have */
	struct sheet before, after;
	size_t column; /* what order, threshold and shares go by: the first that is shown; time for a ratio */
	double whole; /* 100 % of that: what there was before, or else is after; ns of time */
};

/* Puts nodes in the order of the changes of that column. 0 or HYB_ENOMEM; the other two must live as long. */
int difference_make(struct difference *difference, const struct report_options *options,
	struct profile_diff *diff, const struct column_set *set);
void difference_release(struct difference *difference);

/* Whether a change at or below a node reaches the threshold of the options. */
bool difference_shows(
	const struct difference *difference, const struct report_options *options, uint32_t node);

/* For walks. */
void difference_links(const void *nodes, uint32_t i, uint32_t *ret_child, uint32_t *ret_next);

/* Text; JSON and CSV are in report/machine.c. 0, or HYB_ENOMEM. */
int report_diff(struct style *style, struct difference *d);
int report_json_diff(struct json *json, const struct report_options *options, const struct difference *d);
int report_csv_diff(FILE *out, const struct report_options *options, const struct difference *d);

#endif
