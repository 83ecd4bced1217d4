/* Search in the active pane, as one types. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/app/app_state.h"

#define COPIES_MAX 1000u /* of a part of an expression that is to be repeated */

static void forget(struct viewer *viewer)
{
	if (viewer->app.search)
		regfree(viewer->app.search);
	viewer->app.search = NULL;
}

/*
 * What glibc could take for ever for: references back to a group, and repetitions of repetitions, of which it
 * makes so many copies. Why not, or NULL.
 */
static const char *too_much(const char *text)
{
	unsigned long copies = 1;

	for (const char *p = text; *p; p++) {
		unsigned long least, most = 1;
		char *end;

		if (*p == '\\' && p[1]) {
			if (*++p >= '1' && *p <= '9')
				return "nothing can refer back to a group here";
		} else if (*p == '{') {
			most = least = strtoul(p + 1, &end, 10);
			if (*end == ',')
				most = strtoul(end + 1, NULL, 10);
			most = most > least ? most : least;
		} else if (*p == '+' && p > text && p[-1] == ')') {
			most = 2; /* the group, and any number of it */
		}
		if (most > COPIES_MAX / copies)
			return "it repeats too much";
		copies *= most ? most : 1;
	}
	return NULL;
}

/* Small letters find large ones, too. False: it is no expression, *ret_why has the reason. */
static bool compile(struct viewer *viewer, const char *text, char ret_why[MESSAGE_MAX])
{
	int flags = REG_EXTENDED | REG_NOSUB, error;
	const char *why = too_much(text);

	forget(viewer);
	if (why) {
		snprintf(ret_why, MESSAGE_MAX, "%s", why);
		return false;
	}
	if (!strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		flags |= REG_ICASE;
	error = regcomp(&viewer->expression, text, flags);
	if (error) {
		regerror(error, &viewer->expression, ret_why, MESSAGE_MAX);
		return false;
	}
	viewer->app.search = &viewer->expression;
	return true;
}

static bool can_search(struct app *app)
{
	if (app->active->class->find || app->active->class->fits)
		return true;
	app_say(app, INK_PLAIN, "nothing can be searched here");
	return false;
}

/* What is found out of sight stands in the middle then. */
static bool find_row(struct app *app, struct pane *pane, int direction, bool here)
{
	struct list *list = &pane->list;
	size_t row;

	if (pane->class->find)
		return pane->class->find(pane, app, direction, here);
	row = list_find(list, direction, here, pane, app, pane->class->fits);
	if (row == LIST_NONE)
		return false;
	list->cursor = row;
	list->centre = row < list->top || row >= list->top + (size_t)list->height;
	return true;
}

static void find(struct app *app, int direction, bool here)
{
	struct pane *pane = app->active;

	if (!can_search(app))
		return;
	if (!app->search)
		app_say(app, INK_PLAIN, "what is searched for? / asks");
	else if (!find_row(app, pane, direction, here))
		app_say(app, INK_WARN, "not found");
	else if (pane->class->moved)
		pane->class->moved(pane, app);
}

/* Each key begins again where the cursor was. */
static void go_back(struct app *app)
{
	struct list *list = &app->active->list;

	list_move(list, LONG_MIN);
	list_move(list, (long)viewer_of(app)->search_cursor);
	if (app->active->class->moved)
		app->active->class->moved(app->active, app);
}

static void changed(struct app *app, const char *text)
{
	char why[MESSAGE_MAX];

	go_back(app);
	if (!*text)
		forget(viewer_of(app));
	else if (compile(viewer_of(app), text, why))
		find(app, 1, true);
	/* An expression that is not complete yet is no error. */
}

static void done(struct app *app, const char *text)
{
	char why[MESSAGE_MAX];

	if (*text && !compile(viewer_of(app), text, why))
		app_say(app, INK_BAD, "no regular expression: %s", why);
	else if (*text)
		find(app, 1, true);
}

void app_search(struct app *app, struct pane *pane)
{
	if (!can_search(app))
		return;
	viewer_of(app)->search_cursor = app->active->list.cursor;
	app_prompt(app, "Search:", "", changed, done);
}

void app_search_next(struct app *app, struct pane *pane)
{
	find(app, 1, false);
}

void app_search_previous(struct app *app, struct pane *pane)
{
	find(app, -1, false);
}
