/*
 * What hybrid-convert knows of formats: one entry each, in the table of converters.c. A converter reads an
 * open experiment and writes a folder or a file; where that finally stands, and that nothing is left behind
 * when something goes wrong, is the command's business.
 */
#ifndef HYB_CONVERTER_H
#define HYB_CONVERTER_H

#include <signal.h>
#include <stdio.h>

#include "base/json.h"
#include "hybrid/reader.h"
#include "profile/profile.h"

enum convert_samples {
	CONVERT_ENTER_LEAVE = 0, /* regions are entered and left where the paths of two samples differ */
	CONVERT_CONTEXT = 1, /* each sample is an event with its calling context */
	CONVERT_NONE = 2, /* probes only */
};

enum convert_counters {
	CONVERT_ACCUMULATED = 0, /* as they were read: a viewer makes rates */
	CONVERT_RATE = 1, /* growth a second since the last value */
};

enum convert_fold {
	CONVERT_FOLD_NONE = 0,
	CONVERT_FOLD_DEEP = 1, /* if a path is deeper than the page's viewer draws */
	CONVERT_FOLD_ALL = 2,
};

/* What is to be left out, so that other tools can show the rest. */
struct convert_bounds {
	uint64_t from, to; /* ns since the first process began; to 0: all. Of formats with events */
	double threshold; /* percent of all time below which a node goes into its parent; negative: as the
			   * format does it, else none. Of the others */
	bool (*select)(void *data, const struct hyb_location_info *location); /* NULL: all locations */
	void *data;
};

/* The notes of a conversion, line by line: for formats that have a place for them. */
struct convert_notes {
	char **lines;
	size_t count;
};

struct convert_profile;

struct convert_job {
	struct hyb_experiment *experiment;
	const char *folder; /* is there, and empty; NULL for formats of one file */
	FILE *file; /* of those; errors are looked at when it is closed, too */
	struct convert_bounds bounds;
	enum profile_mode mode;
	bool by_location; /* of call paths: each process and thread apart, below the root. For formats to set
			   * in a copy */
	const char *metric; /* what weighs instead of time, or NULL */
	enum convert_fold fold; /* of recursion in paths of frames */
	enum convert_samples samples;
	enum convert_counters counters;
	unsigned threads; /* that work at the same time, at least 1 */
	const volatile sig_atomic_t *stop; /* not 0: end as soon as possible, with an error */
	/* Records done of all, several times a second, from the thread that called. May be NULL. */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	/* A line about what was left out, or is worth knowing, for people. May be NULL. */
	void (*note)(void *data, const char *text);
	struct convert_notes *notes; /* all that convert_note() was given; may be NULL */
	/* Members of a JSON object: the quality block of hybrid-report. For formats that show it; may be
	 * NULL. 0 or HYB_ENOMEM. */
	int (*quality)(void *data, const struct convert_profile *p, struct json *json);
	void *data;
};

enum convert_kind {
	CONVERT_FOLDER = 0,
	CONVERT_FILE = 1,
};

enum convert_takes {
	CONVERT_TAKES_WINDOW = 1, /* --from, --until */
	CONVERT_TAKES_THRESHOLD = 2,
	CONVERT_TAKES_LOCATIONS = 4, /* --ranks, --process, --thread */
	CONVERT_TAKES_SAMPLES = 8, /* --samples */
	CONVERT_TAKES_COUNTERS = 16,
	CONVERT_TAKES_METRIC = 32,
	CONVERT_TAKES_MODE = 64, /* --callsites */
	CONVERT_TAKES_FOLD = 128, /* --fold-recursion */
	CONVERT_TAKES_PATHS = CONVERT_TAKES_THRESHOLD | CONVERT_TAKES_LOCATIONS | CONVERT_TAKES_METRIC |
			      CONVERT_TAKES_MODE, /* what formats of call paths can do */
	CONVERT_TAKES_EVENTS = CONVERT_TAKES_WINDOW | CONVERT_TAKES_LOCATIONS | CONVERT_TAKES_SAMPLES |
			       CONVERT_TAKES_COUNTERS | CONVERT_TAKES_MODE, /* and those of events */
};

struct converter {
	const char *name; /* as the user writes it */
	const char *text; /* one line for the help */
	enum convert_kind kind;
	bool events; /* of no use without a trace */
	unsigned takes; /* bits of enum convert_takes: options that mean something */
	/* 0, or enum hyb_result and *err has the reason. */
	int (*convert)(const struct convert_job *job, struct hyb_error *err);
};

/* All formats; the last one has no name. */
extern const struct converter converters[];

/*
 * What formats of call paths write, one walk for all: the profile of the job with its bounds applied. Nodes
 * that are left out have given what they had to their parents, so that sums stay; note() gets their number.
 * Nodes stand depth first, siblings with more time first; equal names, files and modules are equal pointers.
 */
struct convert_profile {
	struct hyb_symbols *symbols;
	struct profile *profile;
	const struct profile_node *nodes; /* as profile_nodes(); children and siblings are those that stay */
	size_t count;
	const struct profile_value *values; /* as profile_values(), or NULL */
	const struct profile_metric *metrics;
	size_t metric_count;
	size_t weight; /* index of the metric that weighs; SIZE_MAX: time, ns */
	uint64_t whole; /* what 100 % of that is */
	struct profile_node
		*kept; /* what `nodes` and `values` point to where a threshold left something out */
	struct profile_value *kept_values;
};

/* HYB_EIO and *err if a signal came or the file cannot be written: to be asked every some thousand records.
 */
int convert_check(const struct convert_job *job, struct hyb_error *err);

/* Returns HYB_ENOMEM with *err set. */
int convert_no_memory(struct hyb_error *err);

/* A line about what was left out, or is worth knowing: to job->note() and job->notes. */
void convert_note(const struct convert_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void convert_notes_release(struct convert_notes *notes);

/* Growth of a metric a second, after that many ns (not 0). */
double convert_rate(int64_t before, int64_t now, uint64_t ns);

/* 0 and to be released, or enum hyb_result and *err. */
int convert_profile_make(const struct convert_job *job, struct convert_profile *ret, struct hyb_error *err);
void convert_profile_release(struct convert_profile *p);

/* What weighs at a node: its own (exclusive and blocked) and with all below; ns, or of the metric (negative:
 * 0). */
uint64_t convert_own(const struct convert_profile *p, uint32_t node);
uint64_t convert_all(const struct convert_profile *p, uint32_t node);

/* The node after this one in a walk, parents first; 0: it was the last one. *level goes along; the root has
 * 0. */
uint32_t convert_next(const struct convert_profile *p, uint32_t node, size_t *level);

#endif
