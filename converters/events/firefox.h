/*
 * Inside of the writer of the Firefox Profiler's processed format, version 62. Columns stand one after the
 * other in it: memory holds those of one thread, and the tables that all share.
 */
#ifndef HYB_FIREFOX_H
#define HYB_FIREFOX_H

#include "base/json.h"
#include "converters/events/convert_events.h"

#define MILLISECONDS 6 /* digits of ns behind the point: see json_decimal() */

struct firefox_sample {
	uint64_t time; /* ns */
	uint64_t weight; /* ns, or of threads without a clock: samples */
	uint32_t node;
};

struct firefox_marker {
	uint64_t start, end; /* ns; equal: an instant */
	uint32_t text;
	uint8_t category; /* enum events_category; EVENTS_CATEGORIES: other */
};

/* What a counter was at a time. */
struct firefox_point {
	uint64_t time; /* ns */
	double value;
};

struct firefox_counter {
	const char *name, *unit; /* of the walk; NULL: not seen yet */
	bool level;
	struct firefox_point *points;
	size_t count;
};

struct firefox_open {
	uint32_t node;
	uint64_t time; /* ns */
};

struct firefox {
	struct events_walk walk;
	const struct convert_job *job;
	struct json json;
	struct json counters; /* of those of the threads that are done, kept in a file */

	/* The thread that is gone through; arrays are grown by ARRAY_ROOM. */
	const struct events_location *location;
	bool sampled; /* it took samples; */
	bool clockless; /* without a clock */
	uint32_t overflow; /* what took those that weigh, as hyb_event.overflow */
	uint64_t begun, last; /* ns: its first moment; where the stretch of time began */
	struct firefox_sample *samples;
	struct firefox_marker *markers;
	struct firefox_open *open;
	struct firefox_counter *own; /* by number */
	size_t sample_count, marker_count, depth, own_count;

	size_t threads; /* that are done */
	uint64_t rows; /* samples and markers of those */
	struct row_map texts; /* uint64_t: pointer, interned */
};

/* The index of an interned text; ROW_NONE: memory is out. */
uint32_t firefox_text(struct firefox *f, const char *text);

/* ---- firefox_tables.c: what all threads share. 0 or HYB_ENOMEM. */
int firefox_put_shared(struct firefox *f);

/* ---- firefox_meta.c: what the profile says about itself. */
void firefox_put_meta(struct firefox *f);

#endif
