/* Inside of hybrid-report: what its files share. */
#ifndef HYB_REPORT_H
#define HYB_REPORT_H

#include <stdio.h>

#include "base/csv.h"
#include "base/json.h"
#include "profile/metrics/figures.h"
#include "profile/views/label.h"
#include "profile/profile.h"
#include "profile/views/profile_diff.h"
#include "profile/views/views.h"
#include "quality/quality.h"
#include "session/look.h"
#include "session/session.h"

enum report_view {
	REPORT_TREE = 0,
	REPORT_REVERSE,
	REPORT_FLAT,
	REPORT_QUALITY,
	REPORT_MPI,
	REPORT_MESSAGES,
	REPORT_RANKS, /* --flat=rank */
	REPORT_UNMATCHED,
	REPORT_FOLD,
	REPORT_FINDINGS,
};

enum report_output { REPORT_TEXT = 0, REPORT_JSON, REPORT_CSV };

struct report_options {
	struct look look;
	enum report_view view;
	enum report_output output;
	enum profile_by by; /* REPORT_FLAT */
	enum profile_sort sort;
	bool split; /* --by-thread */
	bool split_ranks; /* --by-rank */
	bool over_ranks;
	char over_metric[1024]; /* of what: the first metric's name; "": of time */
	bool full_paths;
	bool serial; /* the ranks of a launch do not share the work */
	unsigned depth; /* 0: no limit */
	bool list_metrics; /* --metric help */
	const char *fold; /* REPORT_FOLD: the region */
	const char *fold_svg; /* file to draw into, or NULL */
	const char *fold_along; /* metric that is taken for time, or NULL */
	double fold_spread; /* robust standard deviations; 0: any */
	char **paths;
	int path_count;
};

struct column_set;
struct sheet;

/* The experiments that take part. */
struct report_inputs {
	struct quality quality; /* they themselves, and how good they are */
	const struct report_options *options;
	struct report_fold *fold; /* see report/fold/fold.h; NULL: not made */
	struct findings *findings; /* see analysis/finding.h; NULL: not made */
};

/* report/options.c. 0: go on; 1: all is done (--help); -1: wrong usage, after a message. */
int report_options_parse(struct report_options *options, int argc, char **argv);

/* A line on stderr; returns -1. */
int report_failed(const char *text);

/* How the profile is to be made for the view; refers to the options. */
struct profile_options report_profile_options(const struct report_options *options);

/* --------------------------------------------------- report/style.c */

/* How text looks where it goes. */
struct style {
	FILE *out;
	struct json json; /* where that is JSON */
	bool colour;
	bool utf8;
	bool cut; /* lines are cut to `width` */
	unsigned width; /* columns */
	bool full_paths;
	double unit; /* ns that a printed 1.0 of time stands for */
	const char *unit_name; /* "s", "ms", "us" */
	bool guessed; /* a function without a symbol was printed: explain the name */
};

enum ink { INK_PLAIN = 0, INK_BOLD, INK_DIM, INK_PLACE, INK_WARN, INK_HOT, INK_WARM };

void style_init(struct style *style, const struct report_options *options);

/* Chooses the unit of times so that `largest` ns reads well. */
void style_set_unit(struct style *style, uint64_t largest);

/* The same for what adds up to `total`; columns that a time takes, with the blank in front. */
int style_times(struct style *style, uint64_t total);

/* "seconds": that unit in words. */
const char *style_unit_words(const struct style *style);

/* Switches the colour; INK_PLAIN ends it. */
void style_ink(const struct style *style, enum ink ink);

/* Prints in a colour. */
__attribute__((format(printf, 3, 4))) void style_put(
	const struct style *style, enum ink ink, const char *format, ...);

/* Ends a line of which `used` columns are taken. */
void style_label(struct style *style, const struct label *label, unsigned used);

/* Behind all lines: what the marks of names mean that were printed. */
void style_legend(const struct style *style);

/* ------------------------------------------------- text, report_*.c */

/* report/style.c: a text behind its label, broken between words, which is freed. Nothing if there is none. */
void text_line(const struct style *style, enum ink ink, const char *label, struct text *text);

/* report/style.c: the quality block. */
void report_quality(const struct style *style, const struct quality *quality, const struct profile *profile);

/* report/metrics.c: what --metric help prints; the metrics of a view for scripts. */
void report_list_metrics(const struct profile_metric *metrics, size_t count);
void report_json_metrics(
	struct json *json, const struct column_set *set, const struct profile_metric *metrics);

/* report/metrics.c: the functions that ran most, or had most of the first metric that is shown, in a line;
 * set: NULL for time. 0, or HYB_ENOMEM. */
int report_hot(const struct style *style, const struct report_options *options, const struct column_set *set,
	const struct profile *profile);

/* ------------------------------------------------- of the tree over ranks */

struct report_over {
	const struct profile_spread *spreads;
	uint64_t ranks;
	const char *metric; /* whose they are; NULL: of time */
};

/* --------------- report/mpi.c, report/messages.c, report/ranks.c */

/* Whole views, in the form that the options choose: text, JSON or CSV. 0, or HYB_ENOMEM. */
int report_mpi(struct style *style, const struct report_options *options, const struct profile *profile);
int report_messages(struct style *style, const struct report_options *options, const struct profile *profile);
int report_ranks(struct style *style, const struct report_options *options, const struct profile *profile);

/* ------------------------------------------------- report/findings.c */

/* What all analyses find in the inputs, which must have a profile with parts. 0, or enum hyb_result with
 * *err; the findings are released by the caller, and freed. */
int report_findings_make(struct report_inputs *inputs, const struct profile *profile, struct hyb_error *err);
void report_findings(struct style *style, const struct report_options *options,
	const struct report_inputs *inputs, const struct profile *profile);

/* ---------------------------------------------------- report/await.c */

/* What coroutines waited, longest first: a table, or the list "awaiting". Nothing if there are none. */
void report_awaits(struct style *style, const struct profile *profile);
void report_json_awaits(struct json *json, const struct profile *profile);

/* ------------------------------------------------ report/unmatched.c */

/* The view --unmatched. */
void report_unmatched(
	struct style *style, const struct report_options *options, const struct quality *quality);

/* ---------------------------------------------------- report/walk.c */

/* A walk over a tree of which a sheet says what is shown, and the callbacks that it makes. */
struct walker {
	const struct sheet *sheet;
	void *data;
	/* Called for each visible node, parents first; `walk` has its depth and the guides. */
	void (*enter)(const struct walker *walker, uint32_t i);
	/* Whether hidden() is called for what is left out below `parent`; NULL: never. */
	bool (*rest)(const struct walker *walker, uint32_t parent);
	/* Called behind the visible children of such a parent: so many were left out. */
	void (*hidden)(const struct walker *walker, uint32_t parent, uint32_t hidden);
	/* State of the walk, for the callbacks. */
	struct walk_level *levels;
	size_t level; /* of the current node; the root has 0 */
};

/* levels[n] is about the node of level n on the way to where the walk is. */
struct walk_level {
	uint32_t node;
	uint32_t next; /* visible sibling that comes after it, or 0 */
	uint32_t hidden; /* siblings left out so far */
	bool rest; /* hidden() will be called for them */
	bool last; /* nothing is printed behind it at its level */
	bool only; /* nor in front of it */
	size_t mark; /* for the callbacks: what they keep of the node */
	bool chained; /* for the callbacks: stands below its parent without a step to the right */
};

/* Depth-first over visible nodes, without recursion. 0 or HYB_ENOMEM. */
int report_walk(struct walker *walker);

/* Prints the lines that lead from the current node to its parent; returns the columns taken. */
int walk_guides(const struct style *style, const struct walker *walker);

#endif
