/* Inside of the assembly pane: what its files share. */
#ifndef HYB_PANE_ASSEMBLY_H
#define HYB_PANE_ASSEMBLY_H

#include "viewer/app/app.h"
#include "viewer/model/assembly_load.h"

struct assembly_pane {
	struct pane pane;
	struct app *app; /* is redrawn when a job is done */
	struct list list; /* rows: items of `assembly` */
	struct assembly_load *load; /* under way, or NULL */
	struct assembly assembly;
	bool made; /* there is one */
	bool failed; /* no memory for it */
	uint64_t total; /* samples of the profile that it is of */
	uint64_t serial; /* of the snapshot that it was asked of */
	/* what was looked at then */
	char *name, *file, *module;
	unsigned line;
	uint32_t node;
	bool att; /* syntax of AT&T */
	bool go, centre; /* to the hottest instruction; to the middle */
	int left; /* columns that are scrolled out */
	char why[300]; /* it is empty */
};

/* viewer/panes/assembly_draw.c */
void assembly_draw(struct assembly_pane *pane, const struct area *area);

#endif
