/* What analyses found: a list, and below it all that is known of the one that the cursor is on. */
#include <stdlib.h>
#include <string.h>

#include "analysis/finding.h"
#include "profile/metrics/figures.h"
#include "viewer/app/app.h"
#include "viewer/snapshot/live.h"

#define LABEL_COLUMNS 9
#define NAME_COLUMNS 20

struct findings_job {
	struct job job;
	struct app *app;
	struct findings_pane *pane;
	struct snapshot *snapshot; /* kept */
	struct findings findings; /* of it */
	struct hyb_error error; /* code 0: none */
};

struct findings_pane {
	struct pane pane;
	struct findings_job *pending; /* NULL: none */
	struct findings_job *last; /* whose findings show; NULL: none */
	struct live live; /* when a run that goes on is looked at again */
};

static struct findings_pane *of(struct pane *pane)
{
	return (struct findings_pane *)pane;
}

/* ------------------------------------------------------------------ data */

static void run(struct job *job)
{
	struct findings_job *own = (struct findings_job *)job;
	const struct snapshot *s = own->snapshot;
	const struct analysis_watch watch = {job_is_stopped, job};
	struct hyb_experiment **experiments = calloc(s->base_from + 1, sizeof(struct hyb_experiment *));

	if (!experiments) {
		own->error = (struct hyb_error){HYB_ENOMEM, "out of memory"};
		return;
	}
	for (size_t i = 0; i < s->base_from; i++)
		experiments[i] = s->opened[i].experiment;
	analysis_find(experiments, s->base_from, s->profile, &watch, &own->findings, &own->error);
	free(experiments);
}

static void job_free(struct findings_job *own)
{
	if (!own)
		return;
	findings_release(&own->findings);
	snapshot_drop(own->snapshot);
	free(own);
}

static void done(struct job *job, bool cancelled)
{
	struct findings_job *own = (struct findings_job *)job;
	struct findings_pane *p = own->pane;

	if (p->pending == own)
		p->pending = NULL;
	if (cancelled) {
		job_free(own);
		return;
	}
	live_read(&p->live, own->snapshot->running, job->cost);
	job_free(p->last);
	p->last = own;
	list_set(&p->pane.list, own->findings.count, p->pane.list.height);
	p->pane.changed |= CHANGED_SNAPSHOT; /* there may be a newer one */
	app_redraw(own->app);
}

static void start(struct findings_pane *p, struct app *app)
{
	struct findings_job *own = calloc(1, sizeof(*own));

	if (!own) {
		app_say(app, INK_BAD, "out of memory");
		return;
	}
	*own = (struct findings_job){.job = {.text = "looking for losses", .run = run, .done = done},
		.app = app,
		.pane = p,
		.snapshot = snapshot_keep(app->snapshot)};
	p->pending = own;
	work_post(app->work, &own->job);
}

/* Of a run that goes on what is under way ends first, and then there is a pause. */
static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct findings_pane *p = of(pane);
	struct snapshot *s = app->snapshot;

	if (!s || s->base || (p->pending && (p->pending->snapshot == s || s->running)) ||
		(!p->pending && p->last && p->last->snapshot == s) ||
		(p->last && s->running && live_wait(&p->live) > 0))
		return;
	if (p->pending)
		work_cancel(app->work, &p->pending->job);
	start(p, app);
}

static const char *empty(struct pane *pane, struct app *app)
{
	const struct findings_pane *p = of(pane);

	if (app->snapshot && app->snapshot->base)
		return "findings are of one measurement: leave --diff out";
	if (!p->last)
		return NULL;
	return p->last->error.code ? p->last->error.text : p->pane.list.count ? NULL : "nothing was found";
}

/* ------------------------------------------------------------------ drawing */

/* Words from column x on, broken where the area ends; the row behind them. */
static int put_words(const struct area *area, int y, int x, const char *words)
{
	int at = x;

	while (*words) {
		size_t length = strcspn(words, " ");
		char word[256];
		int columns;

		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		columns = canvas_columns(area->canvas, word);
		if (at > x && at + columns > area->width) {
			at = x;
			y++;
		}
		canvas_text(area, y, at, INK_PLAIN, word);
		at += columns + 1;
		words += length + (words[length] == ' ');
	}
	return y + 1;
}

static void put_row(const struct area *area, int y, const struct finding *f)
{
	char time[FIGURE_SIZE];

	if (f->severity) {
		canvas_printf(area, y, 1, canvas_heat(f->share), "%10s %5.1f%%",
			figure_duration(f->severity, time), f->share * 100);
	}
	canvas_text(area, y, NAME_COLUMNS, INK_BOLD, f->kind->name);
	canvas_printf(area, y, NAME_COLUMNS + canvas_columns(area->canvas, f->kind->name), INK_PLAIN, ": %s",
		f->text);
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct findings_pane *p = of(pane);
	const struct findings *findings = p->last ? &p->last->findings : NULL;
	int half = area->height / 2, y = 0;

	if (!findings || !findings->count)
		return;
	list_set(
		&p->pane.list, findings->count, findings->count < (size_t)half ? (int)findings->count : half);
	for (; y < p->pane.list.height; y++)
		put_row(area, y, &findings->items[p->pane.list.top + (size_t)y]);
	canvas_reverse(area, (int)(p->pane.list.cursor - p->pane.list.top), 0, area->width);
	y++;
	for (unsigned part = 0; part < FINDING_PARTS; part++) {
		char *words = finding_words(&findings->items[p->pane.list.cursor], part,
			profile_nodes(p->last->snapshot->profile));

		if (!words)
			continue;
		canvas_text(area, y, 1, INK_BOLD, finding_label(part));
		y = put_words(area, y, 1 + LABEL_COLUMNS, words);
		free(words);
	}
}

/* What stands at the side shows where that is. */
static void moved(struct pane *pane, struct app *app)
{
	const struct findings_pane *p = of(pane);
	const struct profile_node *nodes;
	struct focus focus;
	uint32_t node;

	if (!p->last || p->last->snapshot != app->snapshot || p->pane.list.cursor >= p->last->findings.count)
		return;
	node = p->last->findings.items[p->pane.list.cursor].node;
	nodes = profile_nodes(app->snapshot->profile);
	while (node && !*nodes[node].file) /* a function of MPI has no source: its caller has */
		node = nodes[node].parent;
	focus = focus_of_node(app->snapshot, node);
	if (node)
		app_focus(app, &focus);
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	const struct finding *f = &of(pane)->last->findings.items[row];

	return !regexec(app->search, f->kind->name, 0, NULL, 0) || !regexec(app->search, f->text, 0, NULL, 0);
}

static void release(struct pane *pane, struct app *app)
{
	job_free(of(pane)->last);
}

const struct pane_class findings_pane = {
	.name = "findings",
	.title = "Findings",
	.key = 'F',
	.size = sizeof(struct findings_pane),
	.release = release,
	.update = update,
	.empty = empty,
	.draw = draw,
	.moved = moved,
	.fits = fits,
};
