/* Inside of the locations pane: what its files share. */
#ifndef HYB_PANE_LOCATIONS_H
#define HYB_PANE_LOCATIONS_H

#include "profile/views/spread.h"
#include "viewer/model/locations.h"

#define HEAD_LINES 4 /* what is shown, two of how even it is, headings */

enum value { VALUE_INCLUSIVE = 0, VALUE_EXCLUSIVE, VALUE_SAMPLES, VALUE_CALLS, VALUES };

struct row {
	size_t location; /* the first one of a process's */
	size_t locations;
	char name[PROFILE_LOCATION_NAME];
	double value; /* ns, or a number; NAN: not defined */
	bool part; /* takes part in the profile */
};

struct locations_pane {
	struct pane pane;
	struct locations data; /* without a profile: not made yet */
	struct snapshot *snapshot; /* of which that is */
	struct making *making; /* the job for the next one */
	bool by_process, by_value;
	size_t shown; /* enum value, behind them the metrics that are shown */
	struct row *rows;
	size_t count;
	bool *picked; /* by location */
	struct profile_spread spread;
	char error[512];
};

static inline struct locations_pane *locations_of(struct pane *pane)
{
	return (struct locations_pane *)pane;
}

/* viewer/panes/locations_draw.c */
void locations_draw(struct pane *pane, struct app *app, const struct area *area);

#endif
