/* Inside of the assembly pane: what its files share. */
#ifndef HYB_PANE_ASSEMBLY_H
#define HYB_PANE_ASSEMBLY_H

#include "viewer/app/app.h"
#include "viewer/model/assembly.h"

struct assembly_pane {
	struct pane pane;
	struct assembly_job *job; /* under way, or NULL */
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
	bool go; /* to the hottest instruction */
	int left; /* columns that are scrolled out */
	char why[300]; /* it is empty */
};

/* viewer/panes/assembly_draw.c */
void assembly_draw(struct assembly_pane *pane, const struct area *area);

#endif
