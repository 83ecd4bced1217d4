/* How good the measurement is. */
#include <stdlib.h>
#include <string.h>

#include "viewer/app/app.h"
#include "viewer/model/quality_text.h"
#include "viewer/snapshot/live.h"

#define LABEL_COLUMNS 9 /* of the words in front of lines */

struct quality_job {
	struct job job;
	struct app *app;
	struct quality_pane *pane;
	struct snapshot *snapshot; /* kept */
	struct judgement *judgement; /* of it; NULL: to be made */
	bool made; /* here */
	unsigned width;
	char *text;
};

struct quality_pane {
	struct pane pane;
	struct quality_job *pending; /* NULL: none */
	struct quality_job *last; /* whose text shows; NULL: none */
	struct live live; /* when another one may be made while the run goes on */
	char **lines; /* in the text */
	bool failed;
};

static void run(struct job *job)
{
	struct quality_job *own = (struct quality_job *)job;

	own->made = !own->judgement;
	if (own->made)
		own->judgement = judgement_make(own->snapshot, job);
	if (own->judgement)
		own->text = judgement_text(own->judgement, own->width);
}

static void job_free(struct quality_job *own)
{
	if (!own)
		return;
	judgement_free(own->judgement);
	snapshot_drop(own->snapshot);
	free(own->text);
	free(own);
}

static size_t split(struct quality_pane *quality)
{
	size_t count = 0;
	char *at = quality->last->text;

	for (const char *p = at; (p = strchr(p, '\n')); p++)
		count++;
	free(quality->lines);
	quality->lines = calloc(count + 1, sizeof(*quality->lines));
	if (!quality->lines)
		return 0;
	for (size_t i = 0; i < count; i++) {
		quality->lines[i] = at;
		at = strchr(at, '\n');
		*at++ = 0;
	}
	return count;
}

static void done(struct job *job, bool cancelled)
{
	struct quality_job *own = (struct quality_job *)job;
	struct quality_pane *quality = own->pane;

	if (quality->pending == own)
		quality->pending = NULL;
	if (cancelled) {
		job_free(own);
		return;
	}
	if (own->made)
		live_read(&quality->live, own->snapshot->running, job->cost);
	job_free(quality->last);
	quality->last = own;
	quality->failed = !own->text;
	list_set(&quality->pane.list, own->text ? split(quality) : 0, quality->pane.list.height);
	quality->pane.changed |= CHANGED_SNAPSHOT; /* there may be a newer one */
	app_redraw(own->app);
}

/* Text of that width, of what is known of the snapshot, if anything is. */
static void start(struct quality_pane *quality, struct app *app, struct snapshot *snapshot, unsigned width)
{
	struct quality_job *last = quality->last, *own = calloc(1, sizeof(*own));

	quality->failed = !own;
	if (!own)
		return;
	*own = (struct quality_job){.job = {.text = "judging the measurement", .run = run, .done = done},
		.app = app,
		.pane = quality,
		.snapshot = snapshot_keep(snapshot),
		.width = width};
	if (last && last->snapshot == snapshot) {
		own->judgement = last->judgement;
		last->judgement = NULL;
	}
	quality->pending = own;
	work_post(app->work, &own->job);
}

/*
 * Of a run that goes on each reading would begin again: what is under way ends first, and then there is a
 * pause, as there is between readings.
 */
static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct quality_pane *quality = (struct quality_pane *)pane;
	struct quality_job *pending = quality->pending, *last = quality->last;
	struct snapshot *snapshot = app->snapshot;
	unsigned width = pane->width > 1 ? (unsigned)pane->width - 1 : 1;

	list_set(&quality->pane.list, quality->pane.list.count, pane->height);
	if (!snapshot || (pending && (pending->snapshot == snapshot || snapshot->running)))
		return;
	if (pending)
		work_cancel(app->work, &pending->job);
	if (last && last->snapshot != snapshot && snapshot->running &&
		query_is(&last->snapshot->query, &snapshot->query) && live_wait(&quality->live) > 0)
		snapshot = last->snapshot;
	if (!last || last->snapshot != snapshot || last->width != width || pending)
		start(quality, app, snapshot, width);
}

static void draw_line(const struct area *area, int y, const char *line)
{
	char label[LABEL_COLUMNS + 1];
	const char *text = line + 1;
	size_t length = strlen(text);

	snprintf(label, sizeof(label), "%s", text);
	canvas_text(area, y, 1, *line == '!' ? INK_WARN : INK_BOLD, label);
	if (length > LABEL_COLUMNS)
		canvas_text(area, y, 1 + LABEL_COLUMNS, *line == '!' ? INK_WARN : INK_PLAIN,
			text + LABEL_COLUMNS);
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct quality_pane *quality = (struct quality_pane *)pane;
	struct list *list = &pane->list;

	list_set(list, list->count, area->height);
	if (quality->failed)
		canvas_text(area, 0, 1, INK_BAD, "out of memory");
	for (int y = 0; y < area->height && list->top + (size_t)y < list->count; y++)
		draw_line(area, y, quality->lines[list->top + (size_t)y]);
	if (list->count > (size_t)area->height)
		canvas_reverse(area, (int)(list->cursor - list->top), 0, area->width);
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	return !regexec(app->search, ((struct quality_pane *)pane)->lines[row] + 1, 0, NULL, 0);
}

static void release(struct pane *pane, struct app *app)
{
	struct quality_pane *quality = (struct quality_pane *)pane;

	job_free(quality->last);
	free(quality->lines);
}

const struct pane_class quality_pane = {
	.name = "quality",
	.title = "Quality of the measurement",
	.key = '8',
	.size = sizeof(struct quality_pane),
	.release = release,
	.update = update,
	.draw = draw,
	.fits = fits,
};
