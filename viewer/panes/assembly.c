/* The machine code of the function that the cursor of another pane is on, with samples by instruction. */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/panes/assembly.h"

#define HOT_PART 10u /* a tenth of the hottest */
#define SCROLL 8 /* columns */
#define SCROLL_MAX 400

struct assembly_job {
	struct job job;
	struct app *app;
	struct assembly_pane *pane;
	struct snapshot *snapshot; /* kept */
	struct assembly_request request; /* with strings of its own */
	int result; /* of assembly_make() */
	struct assembly assembly;
};

static struct assembly_pane *self(struct pane *pane)
{
	return (struct assembly_pane *)pane;
}

/* Of the line that was asked for, else of the function's own instructions, else of all: the hottest. */
static size_t hottest(const struct assembly_pane *p)
{
	const struct code_item *items = p->assembly.items;
	size_t best = 0;
	unsigned best_rank = 0;

	for (size_t i = 0; i < p->assembly.count; i++) {
		unsigned rank = items[i].heading
					? 0
					: 1 + items[i].of_function + items[i].own + 2u * items[i].at_line;

		if (items[i].heading || (rank < best_rank && best_rank) ||
			(rank == best_rank && items[i].samples <= items[best].samples))
			continue;
		best = i;
		best_rank = rank;
	}
	return best;
}

/* --------------------------------------------------------------- loading */

static void job_free(struct assembly_job *j)
{
	snapshot_drop(j->snapshot);
	assembly_release(&j->assembly);
	free((char *)j->request.name);
	free((char *)j->request.file);
	free((char *)j->request.module);
	free(j);
}

static void run(struct job *job)
{
	struct assembly_job *j = (struct assembly_job *)job;

	j->result = assembly_make(j->snapshot, &j->request, &job->stop, &j->assembly);
}

static void take(struct assembly_pane *p, struct assembly_job *j)
{
	p->failed = j->result;
	if (p->failed)
		return;
	assembly_release(&p->assembly);
	p->assembly = j->assembly;
	j->assembly = (struct assembly){0};
	p->total = profile_quality(j->snapshot->profile)->samples;
	p->made = true;
	if (p->go)
		list_go(&p->pane.list, hottest(p));
	p->go = false;
}

static void done(struct job *job, bool cancelled)
{
	struct assembly_job *j = (struct assembly_job *)job;
	struct assembly_pane *p = j->pane;

	if (p->job == j)
		p->job = NULL;
	if (!cancelled)
		take(p, j);
	app_redraw(j->app);
	job_free(j);
}

static void start(struct assembly_pane *p, struct app *app)
{
	struct assembly_job *j = calloc(1, sizeof(*j));

	if (p->job)
		work_cancel(app->work, &p->job->job);
	p->job = NULL;
	p->serial = app->snapshot->serial;
	p->failed = true;
	if (!j)
		return;
	*j = (struct assembly_job){.job = {.text = "disassembling", .run = run, .done = done},
		.app = app,
		.pane = p,
		.snapshot = snapshot_keep(app->snapshot),
		.request = {.name = strdup(p->name),
			.file = strdup(p->file),
			.module = strdup(p->module),
			.line = p->line,
			.node = p->node,
			.probe = app->focus.kind == PROFILE_PROBE,
			.att = p->att}};
	if (!j->request.name || !j->request.file || !j->request.module) {
		job_free(j);
		return;
	}
	p->failed = false;
	p->job = j;
	work_post(app->work, &j->job);
}

static bool is_code(const struct focus *focus)
{
	return focus->kind && focus->kind != PROFILE_ROOT && focus->kind != PROFILE_INCOMPLETE &&
	       !focus->python && *focus->module;
}

/* Takes over what the cursor is on; whether it is anything else than before. */
static bool take_focus(struct assembly_pane *p, const struct focus *focus, const struct snapshot *snapshot)
{
	uint32_t node = focus_node(focus, snapshot);
	bool other = !p->name || !p->module || !p->file || strcmp(p->name, focus->name) ||
		     strcmp(p->module, focus->module) || strcmp(p->file, focus->file);

	if (!other && p->line == focus->line && p->node == node)
		return false;
	p->go |= other || p->line != focus->line;
	if (other) {
		free(p->name);
		free(p->file);
		free(p->module);
		p->name = strdup(focus->name);
		p->file = strdup(focus->file);
		p->module = strdup(focus->module);
		p->left = 0;
		p->made = false;
		assembly_release(&p->assembly);
	}
	p->line = focus->line;
	p->node = node;
	return true;
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct assembly_pane *p = self(pane);
	bool other;

	if (!app->snapshot || !is_code(&app->focus))
		return;
	other = take_focus(p, &app->focus, app->snapshot);
	if (p->name && p->file && p->module && (other || p->serial != app->snapshot->serial))
		start(p, app);
}

static const char *empty(struct pane *pane, struct app *app)
{
	struct assembly_pane *p = self(pane);
	const struct focus *focus = &app->focus;

	if (!focus->kind)
		return "no function or line is chosen: put the cursor of another pane on one";
	if (focus->python)
		return "code of Python has no instructions: choose a function of a library below it";
	if (!is_code(focus)) {
		snprintf(p->why, sizeof(p->why),
			"%.160s is no machine code of its own: choose a function or a line", focus->name);
		return p->why;
	}
	if (p->failed)
		return "no memory for instructions";
	if (!p->made || p->assembly.count)
		return NULL;
	snprintf(p->why, sizeof(p->why), "no code address of %.160s was measured", focus->name);
	return p->why;
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	assembly_draw(self(pane), area);
}

/* ------------------------------------------------------------------- keys */

static void hot(struct app *app, struct assembly_pane *p, int direction)
{
	const struct assembly *a = &p->assembly;
	uint64_t least = a->most / HOT_PART;

	for (size_t i = 1; i < a->count; i++) {
		size_t at = direction > 0 ? p->pane.list.cursor + i : p->pane.list.cursor - i;

		if (at >= a->count)
			break;
		if (!a->items[at].heading && a->items[at].samples && a->items[at].samples >= least) {
			list_go(&p->pane.list, at);
			return;
		}
	}
	app_say(app, INK_PLAIN, "no hot instruction %s", direction > 0 ? "below" : "above");
}

static void hot_next(struct app *app, struct pane *pane)
{
	hot(app, self(pane), 1);
}

static void hot_previous(struct app *app, struct pane *pane)
{
	hot(app, self(pane), -1);
}

static void go_hottest(struct app *app, struct pane *pane)
{
	struct assembly_pane *p = self(pane);

	if (p->assembly.count)
		list_go(&p->pane.list, hottest(p));
}

static void follow(struct app *app, struct pane *pane)
{
	struct assembly_pane *p = self(pane);
	const struct assembly *a = &p->assembly;
	const struct code_item *from;

	if (p->pane.list.cursor >= a->count)
		return;
	from = &a->items[p->pane.list.cursor];
	for (size_t i = 0; from->target && i < a->count; i++)
		if (!a->items[i].heading && a->items[i].address == from->target) {
			list_go(&p->pane.list, i);
			return;
		}
	app_say(app, INK_PLAIN, "%s",
		from->target ? "where that leads to is not shown here" : "no direct jump or call");
}

static void other_syntax(struct app *app, struct pane *pane)
{
	struct assembly_pane *p = self(pane);

	p->att = !p->att;
	p->serial = 0; /* made anew */
	pane->changed |= CHANGED_FOCUS;
	app_redraw(app);
}

static void scroll_left(struct app *app, struct pane *pane)
{
	struct assembly_pane *p = self(pane);

	p->left = p->left > SCROLL ? p->left - SCROLL : 0;
}

static void scroll_right(struct app *app, struct pane *pane)
{
	struct assembly_pane *p = self(pane);

	if (p->left < SCROLL_MAX)
		p->left += SCROLL;
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	const struct assembly *a = &self(pane)->assembly; /* may be another one than was drawn */

	return row < a->count && !regexec(app->search, a->items[row].text, 0, NULL, 0);
}

static void release(struct pane *pane, struct app *app)
{
	struct assembly_pane *p = self(pane);

	assembly_release(&p->assembly);
	free(p->name);
	free(p->file);
	free(p->module);
}

static const struct binding bindings[] = {
	{{'\n'}, "Follow", "go where the jump or call leads to", follow},
	{{']'}, "Hot", "the next hot instruction (at least a tenth of the hottest)", hot_next},
	{{'['}, NULL, "the previous hot instruction", hot_previous},
	{{'H'}, NULL, "go to the hottest instruction", go_hottest},
	{{'y'}, "Syntax", "Intel's or AT&T's syntax", other_syntax},
	{{KEY_LEFT}, NULL, "scroll left", scroll_left},
	{{KEY_RIGHT}, NULL, "scroll right", scroll_right},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class assembly_pane = {
	.name = "assembly",
	.title = "Assembly",
	.key = 'a',
	.side = true,
	.size = sizeof(struct assembly_pane),
	.release = release,
	.update = update,
	.empty = empty,
	.draw = draw,
	.fits = fits,
	.bindings = bindings,
};
