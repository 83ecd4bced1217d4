/* Inside of the panes of trees and tables: the call tree, the reverse one, the difference, the flat table.
 * They are one implementation, with other data and other keys. */
#ifndef HYB_PANE_TREE_H
#define HYB_PANE_TREE_H

#include "viewer/app/app.h"
#include "viewer/model/tree_data.h"

#define TREE_COLUMNS 64u

/* A search while it is typed: each key begins again where the first one did. */
struct typed_search {
	uint8_t *state; /* what was open then; NULL: nothing is searched for */
	uint32_t cursor, root;
	size_t zoom_count, row, found;
};

struct tree_job;

struct tree_pane {
	struct pane pane;
	struct tree_view view;
	struct tree_data *data; /* of the view; NULL: none yet */
	struct tree_data *past; /* that rates refer to */
	struct tree_job *job; /* makes other data; or NULL */
	struct hide_list hide; /* of the call tree's pane: for all of them */
	enum profile_by by; /* flat */
	unsigned chosen[TREE_COLUMNS]; /* columns; none: as many as the width allows */
	size_t chosen_count;
	struct typed_search typed;
	int name_column; /* of the area drawn last: where names begin */
	unsigned aside; /* levels that a deep tree is moved to the left */
	bool began; /* the order was chosen */
};

static inline struct tree_pane *tree_of(struct pane *pane)
{
	return (struct tree_pane *)pane;
}

/* ------------------------------------------------------------ viewer/panes/tree.c */

enum tree_kind tree_pane_kind(const struct tree_pane *p);
/* Whose list of what is hidden counts. */
struct tree_pane *tree_hider(struct app *app);
/* All panes of trees have to be made again. */
void tree_make_all(struct app *app);
/* The view has changed: `r` of what changed it. The cursor stays on its line of the screen if it can. */
void tree_pane_changed(struct app *app, struct tree_pane *p, int r);
/* Columns that show in a width. */
size_t tree_pane_columns(const struct tree_pane *p, int width, unsigned columns[TREE_COLUMNS]);
/* The row under the cursor, or NULL. */
const struct tree_row *tree_pane_row(const struct tree_pane *p);

/* The functions of struct pane_class. */
int tree_pane_init(struct pane *pane, struct app *app);
void tree_pane_release(struct pane *pane, struct app *app);
void tree_pane_update(struct pane *pane, struct app *app, unsigned changed);
void tree_pane_moved(struct pane *pane, struct app *app);
bool tree_pane_find(struct pane *pane, struct app *app, int direction, bool here);
#define TREE_PANE_FUNCTIONS \
	.size = sizeof(struct tree_pane), .init = tree_pane_init, .release = tree_pane_release, \
	.update = tree_pane_update, .draw = tree_pane_draw, .moved = tree_pane_moved, \
	.mouse = tree_pane_mouse, .find = tree_pane_find

/* ------------------------------------------------------- viewer/panes/tree_draw.c */

void tree_pane_draw(struct pane *pane, struct app *app, const struct area *area);
void tree_pane_mouse(struct pane *pane, struct app *app, int y, int x, unsigned button);

/* ------------------------------------------------------- viewer/panes/tree_keys.c */

extern const struct binding tree_bindings[], flat_bindings[];
/* Opens or closes; in a table nothing. */
void tree_key_toggle(struct app *app, struct pane *pane);

#endif
