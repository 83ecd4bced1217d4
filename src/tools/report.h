/* Inside of hybrid-report: what its files share. */
#ifndef HYB_REPORT_H
#define HYB_REPORT_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/profile_diff.h"
#include "profile/views.h"

enum report_view {
	REPORT_TREE = 0,
	REPORT_REVERSE,
	REPORT_FLAT,
	REPORT_QUALITY,
};

enum report_output { REPORT_TEXT = 0, REPORT_JSON, REPORT_CSV };

struct report_options {
	enum report_view view;
	enum report_output output;
	enum profile_by by; /* REPORT_FLAT */
	enum profile_mode mode;
	enum profile_sort sort;
	bool python_internals;
	bool split; /* --by-thread */
	bool full_paths;
	unsigned depth; /* 0: no limit */
	double threshold; /* percent */
	int colour; /* 1 always, 0 never, -1 on a terminal */
	uint32_t process, thread; /* 0: all */
	const char *base; /* --diff, or NULL */
	char **paths;
	int path_count;
};

/* An experiment that takes part. */
struct report_input {
	struct hyb_experiment *experiment;
	struct hyb_symbols *symbols;
};

struct report_inputs {
	struct report_input *items;
	size_t count;
	const struct report_options *options; /* which processes and threads */
};

/* report_options.c. 0: go on; 1: all is done (--help); -1: wrong usage, was said. */
int report_options_parse(struct report_options *options, int argc, char **argv);

/* Whether the options choose this thread; `data` is the struct report_options. */
bool report_is_selected(void *data, const struct hyb_location_info *location);

/* --------------------------------------------------- report_style.c */

/* How text looks where it goes. */
struct style {
	FILE *out;
	bool colour;
	bool utf8;
	bool cut; /* lines are cut to `width` */
	unsigned width; /* columns */
	bool full_paths;
	double unit; /* ns that a printed 1.0 of time stands for */
	const char *unit_name; /* "s", "ms", "us" */
	bool guessed; /* a guess was printed: explain the mark */
};

enum ink { INK_PLAIN = 0, INK_BOLD, INK_DIM, INK_PLACE, INK_WARN, INK_HOT, INK_WARM };

void style_init(struct style *style, const struct report_options *options);

/* Chooses the unit of times so that `largest` ns reads well. */
void style_set_unit(struct style *style, uint64_t largest);

/* Switches the colour; INK_PLAIN ends it. */
void style_ink(const struct style *style, enum ink ink);

/* 999999 or 12.3M: at most seven columns. The buffer is returned. */
#define COUNT_SIZE 32
const char *style_count(uint64_t count, char text[COUNT_SIZE]);

/* 1234567 as 1,234,567. */
const char *style_number(uint64_t number, char text[COUNT_SIZE]);

/* "3.026 s", "12.1 ms", "350 ns". */
const char *style_duration(uint64_t ns, char text[COUNT_SIZE]);

/* What a line of the tree is called: `name` may be cut, `place` (file and line) goes behind it. */
struct label {
	uint8_t kind; /* enum profile_kind */
	bool guess;
	bool python; /* a frame of Python: its file says more than its name */
	const char *name, *file, *module;
	unsigned line;
	uint64_t skipped; /* demoted probe: calls only counted, else 0 */
};

/* Ends a line of which `used` columns are taken. */
void style_label(struct style *style, const struct label *label, unsigned used);

/* ------------------------------------------------- text, report_*.c */

void report_quality(struct style *style, const struct report_inputs *inputs, const struct profile *profile);

/* report_quality.c: the functions that ran most, in a line. 0, or HYB_ENOMEM. */
int report_hot(const struct style *style, const struct profile *profile);

/* report_tree.c. 0, or HYB_ENOMEM. */
int report_tree(struct style *style, const struct report_options *options, const struct profile_node *nodes,
	size_t count);
int report_diff(struct style *style, const struct report_options *options, const struct profile_diff *diff);
void report_flat(struct style *style, const struct report_options *options, const struct profile_flat *flat);

/* ---------------------------------------------------- report_await.c */

/* What coroutines waited, longest first: a table, or the list "awaiting". Nothing if there are none. */
void report_awaits(struct style *style, const struct profile *profile);
void report_json_awaits(FILE *out, const struct profile *profile);

/* ------------------------------------------------ report_machine.c */

/* JSON: the object around all, its quality; then one of the views; then the end. */
void report_json_begin(FILE *out);
void report_json_quality(
	FILE *out, const char *key, const struct report_inputs *inputs, const struct profile *profile);
int report_json_tree(
	FILE *out, const struct report_options *options, const struct profile_node *nodes, size_t count);
int report_json_diff(FILE *out, const struct report_options *options, const struct profile_diff *diff);
void report_json_rows(FILE *out, const struct report_options *options, const struct profile_flat *flat);
void report_json_end(FILE *out);

int report_csv_tree(
	FILE *out, const struct report_options *options, const struct profile_node *nodes, size_t count);
int report_csv_diff(FILE *out, const struct report_options *options, const struct profile_diff *diff);
void report_csv_rows(FILE *out, const struct report_options *options, const struct profile_flat *flat);

/* root, probe, intermediate, leaf, incomplete */
const char *report_kind_name(unsigned kind);

/* ---------------------------------------------------- report_walk.c */

/* What a walk sees of a tree, and whom it tells. */
struct walker {
	const void *tree;
	void (*links)(const void *tree, uint32_t i, uint32_t *ret_child, uint32_t *ret_next);
	bool (*visible)(const struct walker *walker, uint32_t i);
	unsigned depth; /* levels below the root; 0: no limit */
	void *data;
	/* Called for each visible node, parents first; `walk` has its depth and the guides. */
	void (*enter)(const struct walker *walker, uint32_t i);
	/* Whether what is left out below `parent` is worth a word; NULL: never. */
	bool (*rest)(const struct walker *walker, uint32_t parent);
	/* Called behind the visible children of such a parent: so many were left out. */
	void (*hidden)(const struct walker *walker, uint32_t parent, uint32_t hidden);
	/* State of the walk, for the callbacks. */
	struct walk_level *levels;
	size_t level; /* of the node told of; the root has 0 */
};

/* levels[n] is about the node of level n on the way to where the walk is. */
struct walk_level {
	uint32_t node;
	uint32_t next; /* visible sibling to tell of after it, or 0 */
	uint32_t hidden; /* siblings left out so far */
	bool rest; /* a word about them follows */
	bool last; /* nothing is printed behind it at its level */
	bool only; /* nor in front of it */
	bool chained; /* for the callbacks: stands below its parent without a step to the right */
};

/* Depth-first over visible nodes, without recursion. 0 or HYB_ENOMEM. */
int report_walk(struct walker *walker);

#endif
