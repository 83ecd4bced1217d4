/* Trees and tables as text: what their columns share. */
#ifndef HYB_REPORT_TABLE_H
#define HYB_REPORT_TABLE_H

#include "report.h"
#include "sheet.h"

struct table;

/* What stands in front of the names of a tree. */
struct columns {
	void (*heading)(const struct table *table);
	/* Prints what a node has, and the space behind it; returns the columns taken. */
	int (*cells)(const struct table *table, const struct profile_node *node);
};

/* What is printed, for the callbacks of the walk. */
struct table {
	struct style *style;
	const struct report_options *options;
	const struct columns *columns;
	const void *data; /* of the columns */
	const struct profile_node *root; /* of the tree */
	struct sheet *sheet; /* in place of `columns`, or (metrics, not times, are shown) for them; or NULL */
	uint64_t whole; /* ns that are 100 % */
	uint64_t least; /* ns below which lines are left out */
	int width; /* of a time */
};

/* `waited`: ns outside all probes. They are no part of the whole: threads that only wait must not hide those
 * that work. */
void table_init(struct table *table, struct style *style, const struct report_options *options,
	uint64_t total, uint64_t waited);

/* ns that were blocked outside all probes: at the root, or below it at those of threads and ranks. */
uint64_t table_waited(const struct report_options *options, const struct profile_node *nodes);

/* Whether there is room for `columns`; what is not for a terminal has any. */
bool table_has_room(const struct table *table, unsigned columns);

/* Cells; they return the columns taken. A time, or blanks of its width where there is none. */
int table_time(const struct table *table, uint64_t ns, bool blank, bool heat);
int table_percent(const struct table *table, uint64_t ns);
int table_count(const struct table *table, uint64_t count);

/* A time (with `sheet`: a value of its first column), and at which rank that was. */
int table_extreme(const struct table *table, uint64_t value, bool known, uint32_t rank);

/* A tree with columns of its own. 0, or HYB_ENOMEM. */
int table_tree(struct table *table, const struct profile_node *nodes);

#endif
