/* Inside of the source pane: what its files share. */
#ifndef HYB_PANE_SOURCE_H
#define HYB_PANE_SOURCE_H

#include "viewer/app/app.h"
#include "viewer/model/source_load.h"

#define LINE_MAX_SHOWN 16384u /* bytes of a line */

struct source_pane {
	struct pane pane;
	struct app *app; /* is redrawn when a job is done */
	struct paths paths;
	struct source_load *load; /* under way, or NULL */
	struct lines lines; /* of the snapshot `serial` */
	uint64_t serial;
	char *file, *module; /* that is shown, or asked for */
	char *path, *missing;
	struct source source;
	char note[200];
	const struct line_cost *costs; /* of the file, in `lines` */
	size_t cost_count;
	uint64_t most; /* ns, of its hottest line */
	unsigned wanted; /* line that is marked; 0: none is known */
	unsigned focused, declared; /* lines of what was looked at last, and of its function; 0: not known */
	char *function; /* then: whose hottest line is wanted */
	bool go; /* to the wanted line */
	bool called; /* call sites' inclusive times are known */
	int left; /* columns that are scrolled out */
	char why[300]; /* it is empty */
};

static inline size_t row_count(const struct source_pane *p)
{
	return p->path ? p->source.count : p->cost_count;
}

static inline unsigned line_of_row(const struct source_pane *p, size_t row)
{
	if (p->path)
		return (unsigned)row + 1;
	return row < p->cost_count ? p->costs[row].line : 0;
}

/* viewer/panes/source_draw.c */
void source_draw(struct source_pane *pane, const struct area *area);

#endif
