/* Inside of a session: locations that were chosen, by what they are. Indices change while a run goes on. */
#ifndef HYB_SESSION_CHOSEN_H
#define HYB_SESSION_CHOSEN_H

#include "viewer/snapshot/inputs.h"

/* Zero bytes choose all. */
struct chosen {
	struct chosen_key *keys; /* in order; NULL: all */
	size_t count;
};

/* What query->selected chooses of a snapshot (NULL: all). 0 or HYB_ENOMEM, as all that follow. */
int chosen_make(struct chosen *chosen, const struct snapshot *snapshot, const struct query *query);
int chosen_copy(struct chosen *to, const struct chosen *from);
void chosen_release(struct chosen *chosen);

/* Makes query->selected, which is NULL, for what is open. */
int chosen_apply(const struct chosen *chosen, const struct inputs *inputs, struct query *query);

#endif
