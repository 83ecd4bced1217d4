/* Inside of the application: what its files share. */
#ifndef HYB_APP_STATE_H
#define HYB_APP_STATE_H

#include "viewer/app/app.h"
#include "viewer/app/prompt.h"
#include "viewer/app/screen.h"

#define MESSAGE_MAX 512

/* `app` is its first member: what panes know as their application is this. */
struct viewer {
	struct app app;
	struct screen screen;
	struct canvas canvas;
	struct area main_area, side_area; /* of the last drawing; no height: it does not show */
	char message[MESSAGE_MAX];
	unsigned message_ink;
	struct prompt prompt;
	void (*prompt_changed)(struct app *app, const char *text);
	void (*prompt_done)(struct app *app, const char *text);
	regex_t expression; /* app.search points to it, or nowhere */
	size_t search_cursor; /* where the cursor was when the prompt was opened */
	char *file; /* that was asked for, to be written over or not */
	struct pane *before; /* that the help screen hides */
	struct pane *before_side;
	bool drawn_late; /* draw again */
	bool leaving;
	int status;
	char failure[MESSAGE_MAX]; /* why it leaves; printed when the terminal is restored */
};

static inline struct viewer *viewer_of(struct app *app)
{
	return (struct viewer *)app;
}

/* app.c */
struct pane *app_pane(struct app *app, const struct pane_class *class);
void app_activate(struct app *app, struct pane *pane);
/* A side pane: opens, or closes it. */
void app_toggle(struct app *app, struct pane *pane);

/* app_draw.c: all of it, with what panes have to update first. */
void app_draw(struct viewer *viewer);
/* Whether both panes show at once. */
bool app_shows_side(const struct viewer *viewer);
/* What stands at x of the key line; NULL: nothing. */
const struct binding *app_key_at(struct viewer *viewer, int x);
/* The pane whose tab stands at x of the title line, or NULL. */
struct pane *app_tab_at(struct viewer *viewer, int x);

/* app_keys.c */
extern const struct binding app_bindings[];
void app_event(struct viewer *viewer, const struct event *event);

/* app_search.c */
void app_search(struct app *app, struct pane *pane);
void app_search_next(struct app *app, struct pane *pane);
void app_search_previous(struct app *app, struct pane *pane);

/* app_write.c: what is on the screen, into a file whose name is asked for. */
void app_write(struct app *app, struct pane *pane);

/* The pane from where help was asked for, and back there. */
void help_open(struct app *app, struct pane *pane);

#endif
