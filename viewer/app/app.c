/* What panes may ask of the application, and its loop. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/app/app_state.h"

#define FIRST_MS 300 /* that an experiment may take to open before the screen appears and shows progress */
#define PROGRESS_MS 250
#define EVENTS_MAX 200 /* that are handled before the screen shows it */

struct pane *app_pane(struct app *app, const struct pane_class *class)
{
	for (size_t i = 0; i < app->pane_count; i++)
		if (app->panes[i]->class == class)
			return app->panes[i];
	return NULL;
}

static void mark_all(struct app *app, unsigned changed, const struct pane *but)
{
	for (size_t i = 0; i < app->pane_count; i++)
		if (app->panes[i] != but)
			app->panes[i]->changed |= changed;
	app_redraw(app);
}

void app_focus(struct app *app, const struct focus *focus)
{
	struct focus copy;

	if (!app->snapshot || focus->serial != app->snapshot->serial || focus_is(focus, &app->focus))
		return;
	if (focus_copy(&copy, focus))
		app_say(app, INK_BAD, "out of memory");
	focus_release(&app->focus);
	app->focus = copy;
	mark_all(app, CHANGED_FOCUS, app->main);
}

void app_query(struct app *app, const struct query *query)
{
	if (session_load(app->session, query, false))
		app_say(app, INK_BAD, "out of memory");
}

void app_window(struct app *app, const struct window *window)
{
	free(app->window.nodes);
	app->window = *window;
	mark_all(app, CHANGED_SNAPSHOT, NULL);
}

void app_activate(struct app *app, struct pane *pane)
{
	if (!pane)
		return;
	if (app->main->class == &help_pane && !pane->class->side)
		app->side = viewer_of(app)->before_side; /* help had hidden it */
	if (pane->class->side)
		app->side = pane;
	else
		app->main = pane;
	app->active = pane;
	app_redraw(app);
}

void app_toggle(struct app *app, struct pane *pane)
{
	bool shows = app_shows_side(viewer_of(app));

	if (app->side == pane && (shows || app->active == pane)) {
		app->side = NULL;
		app->active = app->main;
	} else {
		app->side = pane;
		app->active = shows ? app->main : pane;
	}
	app_redraw(app);
}

void app_say(struct app *app, unsigned ink, const char *format, ...)
{
	struct viewer *viewer = viewer_of(app);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(viewer->message, sizeof(viewer->message), format, arguments);
	va_end(arguments);
	viewer->message_ink = ink;
	app_redraw(app);
}

void app_prompt(struct app *app, const char *question, const char *text,
	void (*changed)(struct app *app, const char *text), void (*done)(struct app *app, const char *text))
{
	struct viewer *viewer = viewer_of(app);

	prompt_open(&viewer->prompt, question, text);
	viewer->prompt_changed = changed;
	viewer->prompt_done = done;
	app_redraw(app);
}

void app_redraw(struct app *app)
{
	viewer_of(app)->drawn_late = true;
}

static void take_snapshot(struct app *app, struct snapshot *snapshot)
{
	struct snapshot *old = app->snapshot;

	app->snapshot = snapshot;
	query_release(&app->query);
	if (query_copy(&app->query, &snapshot->query))
		app->query = (struct query){.mode = snapshot->query.mode};
	free(app->window.nodes);
	app->window.nodes = NULL;
	if (old)
		focus_carry(&app->focus, old, snapshot);
	mark_all(app, CHANGED_SNAPSHOT | CHANGED_FOCUS, NULL);
	snapshot_drop(old);
}

static void loaded(void *data, struct snapshot *snapshot, const char *error)
{
	struct viewer *viewer = data;
	struct app *app = &viewer->app;

	if (snapshot) {
		take_snapshot(app, snapshot);
	} else if (app->snapshot) {
		app_say(app, INK_BAD, "%s", error);
	} else if (app->options->live) {
		app_say(app, INK_WARN, "not yet: %s", error);
	} else {
		snprintf(viewer->failure, sizeof(viewer->failure), "%s", error);
		viewer->leaving = true;
		viewer->status = 1;
	}
}

static int make_panes(struct app *app)
{
	app->panes = calloc(pane_class_count, sizeof(struct pane *));
	if (!app->panes)
		return HYB_ENOMEM;
	for (size_t i = 0; i < pane_class_count; i++) {
		struct pane *pane = calloc(1, pane_classes[i]->size);

		if (!pane)
			return HYB_ENOMEM;
		pane->class = pane_classes[i];
		pane->changed = CHANGED_SNAPSHOT | CHANGED_FOCUS | CHANGED_SIZE;
		if (pane->class->init && pane->class->init(pane, app)) {
			free(pane);
			return HYB_ENOMEM;
		}
		app->panes[app->pane_count++] = pane;
	}
	app->main = app->active = app->panes[0];
	for (size_t i = 0; app->options->view && i < app->pane_count; i++)
		if (!strcmp(app->panes[i]->class->name, app->options->view))
			app_activate(app, app->panes[i]);
	return 0;
}

static int begin(struct viewer *viewer, const struct view_options *options)
{
	struct app *app = &viewer->app;
	struct query query = {.mode = options->look.mode,
		.python_internals = options->look.python_internals,
		.mpi_internals = options->look.mpi_internals};

	app->options = options;
	app->query = query;
	app->work = work_new();
	app->session = app->work ? session_new(options, app->work, loaded, viewer) : NULL;
	if (!app->session || make_panes(app) || canvas_resize(&viewer->canvas, 1, 1))
		return HYB_ENOMEM;
	return session_load(app->session, &query, false);
}

/* Jobs first: what they work on belongs to panes, snapshots and the session. */
static void end(struct viewer *viewer)
{
	struct app *app = &viewer->app;

	work_free(app->work);
	for (size_t i = 0; i < app->pane_count; i++) {
		if (app->panes[i]->class->release)
			app->panes[i]->class->release(app->panes[i], app);
		free(app->panes[i]);
	}
	free(app->panes);
	session_free(app->session);
	snapshot_drop(app->snapshot);
	query_release(&app->query);
	focus_release(&app->focus);
	free(app->window.nodes);
	if (app->search)
		regfree(app->search);
	free(viewer->file);
	canvas_release(&viewer->canvas);
}

static void fit(struct viewer *viewer)
{
	int width, height;

	screen_size(&viewer->screen, &width, &height);
	if (canvas_resize(&viewer->canvas, width, height))
		app_say(&viewer->app, INK_BAD, "out of memory: the screen keeps its size");
	app_redraw(&viewer->app);
}

/* All that has come, at most waiting for the first of it. */
static void handle_events(struct viewer *viewer, int timeout)
{
	for (int i = 0; i < EVENTS_MAX && !viewer->leaving; i++) {
		struct event event = screen_wait(&viewer->screen, work_fd(viewer->app.work), timeout);

		if (event.kind == EVENT_NONE)
			return;
		timeout = 0;
		if (event.kind == EVENT_RESIZE)
			fit(viewer);
		else
			app_event(viewer, &event);
	}
}

/* ms until something is to be done without a key; -1: nothing is. */
static int next_turn(const struct viewer *viewer)
{
	int wait = session_wait(viewer->app.session);

	if (viewer->drawn_late)
		return 0;
	if (work_running(viewer->app.work) && (wait < 0 || wait > PROGRESS_MS))
		wait = PROGRESS_MS;
	return wait;
}

static void loop(struct viewer *viewer)
{
	struct app *app = &viewer->app;

	while (!viewer->leaving) {
		if (viewer->drawn_late || work_running(app->work))
			app_draw(viewer);
		handle_events(viewer, next_turn(viewer));
		work_finish(app->work);
		session_turn(app->session);
	}
}

static void show(struct viewer *viewer, const struct view_options *options)
{
	struct screen_wish wish = {
		.ascii = options->ascii, .mouse = options->mouse, .colour = options->look.colour};

	/* If nothing can be read, the error is printed and the screen never appears. */
	if (screen_settle(work_fd(viewer->app.work), FIRST_MS))
		work_finish(viewer->app.work);
	if (viewer->leaving)
		return;
	screen_start(&viewer->screen, &wish);
	viewer->canvas.utf8 = viewer->app.utf8 = viewer->screen.utf8;
	fit(viewer);
	loop(viewer);
	screen_stop(&viewer->screen);
}

int app_run(const struct view_options *options)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));
	int status = 1;

	if (!viewer) {
		fputs("hybrid-view: out of memory\n", stderr);
		return status;
	}
	if (begin(viewer, options)) {
		snprintf(viewer->failure, sizeof(viewer->failure), "out of memory");
	} else {
		show(viewer, options);
		status = viewer->status;
	}
	if (*viewer->failure)
		fprintf(stderr, "hybrid-view: %s\n", viewer->failure);
	end(viewer);
	free(viewer);
	return status;
}
