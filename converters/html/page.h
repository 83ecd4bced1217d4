/*
 * Inside of the page that hybrid-convert --to html writes: the parts of its data, each a member of one JSON
 * object. All return 0, or enum hyb_result and *err.
 */
#ifndef HYB_HTML_PAGE_H
#define HYB_HTML_PAGE_H

#include "base/json.h"
#include "converters/converter.h"
#include "profile/views/views.h"

/* Bounds of the page, whatever was measured. The page has a line about what was left out. */
#define HTML_FUNCTIONS 20000u /* rows of the table */
#define HTML_ROWS 2000u /* locations in the timeline, and in the comparison */
#define HTML_CELLS 400000u /* functions times locations compared */
#define HTML_BINS 1500000u /* of the timeline, over all its rows */

struct html {
	const struct convert_job *job; /* with the bounds that are applied */
	struct json json; /* to where '<' becomes what ends no element of the page */
	struct convert_profile whole; /* of all locations together, nothing left out */
	struct profile_tree functions; /* of it; most time of their own first */
};

/* converters/html/locations.c: "locations": what each thread has of the functions with most time. */
int html_put_locations(struct html *html, struct hyb_error *err);

/* converters/html/timeline.c: "timeline": in which function each thread was, by bins of time; null without a
 * trace. */
int html_put_timeline(struct html *html, struct hyb_error *err);

#endif
