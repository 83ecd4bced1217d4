/* What panes share: what is looked at, where the cursor is, and what they may ask for. One thread. */
#ifndef HYB_APP_H
#define HYB_APP_H

#include <regex.h>

#include "viewer/snapshot/focus.h"
#include "viewer/app/pane.h"

/* A tree to be shown instead of that of the profile: of a window of time. */
struct window {
	struct pane *pane; /* that makes it, also when it does not show; NULL: no window */
	uint64_t from, to; /* ns */
	/* As profile_nodes(), same indices as snapshot->profile has; NULL: of this snapshot still to come. */
	struct profile_node *nodes;
};

struct app {
	const struct view_options *options;
	struct work *work;
	struct session *session;
	struct snapshot *snapshot; /* NULL: nothing is loaded yet */
	struct query query; /* of it */
	struct focus focus; /* a copy; its node is the snapshot's */
	struct window window;
	regex_t *search; /* NULL: none */
	bool utf8;
	struct pane **panes; /* all that there are */
	size_t pane_count;
	struct pane *main, *side; /* visible ones; side: NULL, or follows main */
	struct pane *active; /* of them, has the keys */
};

/* Sets where the cursor is, and updates the side pane. A focus of another snapshot than app->snapshot is
 * ignored: its pane calls this again when it shows the new one. */
void app_focus(struct app *app, const struct focus *focus);

/* Asks for another snapshot; a message shows that it is being made. */
void app_query(struct app *app, const struct query *query);

/* Takes the window's nodes, and shows them in the panes of trees. For another snapshot the pane has to make
 * them again, or to set a window of zeros: there is none any more. */
void app_window(struct app *app, const struct window *window);

/* A line at the bottom until the next key: printf. `ink`: INK_PLAIN, INK_WARN or INK_BAD. */
void app_say(struct app *app, unsigned ink, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Asks for a line of text; `done` gets it if Enter ends it, `changed` at each key (may be NULL). */
void app_prompt(struct app *app, const char *question, const char *text,
	void (*changed)(struct app *app, const char *text), void (*done)(struct app *app, const char *text));

/* Draws again soon: a job brought something. */
void app_redraw(struct app *app);

/* The viewer as a whole: runs until the user leaves. The exit status; after an error a line on stderr. */
int app_run(const struct view_options *options);

#endif
