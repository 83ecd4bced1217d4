/* Locations: the node under the tree's cursor over threads or processes, with what is even and what is not.
 */
#include <stdlib.h>
#include <string.h>

#include "viewer/panes/locations.h"

struct making {
	struct job job;
	struct locations_pane *pane;
	struct app *app;
	struct snapshot *snapshot;
	struct locations made;
	struct hyb_error err;
	int result;
};

/* ------------------------------------------------------------------ rows */

static double value_of(
	const struct locations_pane *p, const struct location_value *v, const struct profile_value *metrics)
{
	const struct column_set *set = &p->snapshot->columns;
	double inclusive[set->count], exclusive[set->count];

	switch (p->shown) {
	case VALUE_INCLUSIVE:
		return (double)v->inclusive;
	case VALUE_EXCLUSIVE:
		return (double)v->exclusive;
	case VALUE_SAMPLES:
		return (double)v->samples;
	case VALUE_CALLS:
		return (double)v->calls;
	}
	columns_evaluate(
		set, metrics, (double)v->inclusive / 1e9, (double)v->exclusive / 1e9, inclusive, exclusive);
	return inclusive[set->shown[p->shown - VALUES]];
}

static void add_to(struct location_value *sum, const struct location_value *v)
{
	sum->inclusive += v->inclusive;
	sum->exclusive += v->exclusive;
	sum->samples += v->samples;
	sum->calls += v->calls;
}

/* Locations of one process stand next to each other. */
static size_t rows_end(const struct locations_pane *p, size_t first)
{
	const struct snapshot *s = p->snapshot;
	size_t end = first + 1;

	while (p->by_process && end < s->location_count &&
		s->locations[end]->process == s->locations[first]->process)
		end++;
	return end;
}

static void name_row(const struct locations_pane *p, struct row *row)
{
	const struct hyb_location_info *location = p->snapshot->locations[row->location];

	profile_name_location(location, row->name);
	if (p->by_process) {
		char *thread = strstr(row->name, " thread ");

		if (thread)
			*thread = 0;
	}
}

static void make_row(struct locations_pane *p, size_t first, size_t end, const struct location_value *values,
	struct profile_value *metrics, size_t metric_count)
{
	struct row *row = &p->rows[p->count++];
	struct location_value sum = {0};

	*row = (struct row){.location = first, .locations = end - first};
	for (size_t i = first; i < end; i++) {
		add_to(&sum, &values[i]);
		row->part |= p->data.top[i] != 0;
		for (size_t m = 0; metrics && i > first && m < metric_count; m++) {
			metrics[first * metric_count + m].inclusive +=
				metrics[i * metric_count + m].inclusive;
			metrics[first * metric_count + m].exclusive +=
				metrics[i * metric_count + m].exclusive;
		}
	}
	name_row(p, row);
	row->value = value_of(p, &sum, metrics ? &metrics[first * metric_count] : NULL);
}

static int most_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value > b->value || b->value != b->value ? -1 : 1;
	return (a->location > b->location) - (a->location < b->location);
}

/* Ranks by their numbers, in front of what is none; else as the processes began. */
static uint64_t place_of(const struct locations_pane *p, const struct row *row)
{
	const struct hyb_process *process = p->snapshot->locations[row->location]->process;

	return process->world && process->rank != HYB_RANK_NONE ? process->rank : UINT64_MAX;
}

static int by_place(const void *pa, const void *pb, void *data)
{
	const struct row *a = pa, *b = pb;
	uint64_t place_a = place_of(data, a), place_b = place_of(data, b);

	if (place_a != place_b)
		return place_a < place_b ? -1 : 1;
	return (a->location > b->location) - (a->location < b->location);
}

static void sum_up(struct locations_pane *p)
{
	p->spread = (struct profile_spread){0};
	for (size_t i = 0; i < p->count; i++) {
		double v = p->rows[i].value;

		if (p->rows[i].part && v > 0)
			spread_add(&p->spread, (uint64_t)v, (uint32_t)i);
	}
}

/* Without memory: no rows. */
static void make_rows(struct locations_pane *p, struct app *app)
{
	const struct snapshot *s = p->snapshot;
	struct location_value *values;
	struct profile_value *metrics = NULL;
	size_t metric_count;

	p->count = 0;
	if (!p->data.profile)
		return;
	if (p->shown >= VALUES + s->columns.shown_count)
		p->shown = VALUE_INCLUSIVE;
	profile_metrics(p->data.profile, &metric_count);
	values = calloc(s->location_count + 1, sizeof(*values));
	if (metric_count)
		metrics = calloc(s->location_count * metric_count + 1, sizeof(*metrics));
	free(p->rows);
	p->rows = calloc(s->location_count + 1, sizeof(*p->rows));
	if (values && p->rows && (metrics || !metric_count)) {
		locations_find(&p->data, s, &app->focus, values, metrics);
		for (size_t first = 0, end; first < s->location_count; first = end) {
			end = rows_end(p, first);
			make_row(p, first, end, values, metrics, metric_count);
		}
		if (p->by_value)
			qsort(p->rows, p->count, sizeof(*p->rows), most_first);
		else
			qsort_r(p->rows, p->count, sizeof(*p->rows), by_place, p);
		sum_up(p);
	}
	free(values);
	free(metrics);
	list_set(&p->pane.list, p->count, p->pane.list.height);
}

/* ------------------------------------------------------------------ data */

/* Flags of locations, for another snapshot: those that are in both stand in the same order. NULL: memory is
 * out. */
static bool *carry(const bool *flags, const struct snapshot *from, const struct snapshot *to)
{
	bool *carried = calloc(to->location_count + 1, sizeof(*carried));

	for (size_t i = 0, k = 0; carried && i < from->location_count; i++) {
		size_t next = k;

		while (next < to->location_count && !is_same_thread(from->locations[i], to->locations[next]))
			next++;
		if (next == to->location_count)
			continue; /* it is there no more */
		carried[next] = flags[i];
		k = next + 1;
	}
	return carried;
}

static void carry_picked(struct locations_pane *p, const struct snapshot *to)
{
	bool *picked = p->picked ? carry(p->picked, p->snapshot, to) : NULL;

	free(p->picked);
	p->picked = picked;
}

static void make(struct job *job)
{
	struct making *m = (struct making *)job;

	m->result = locations_make(&m->made, m->snapshot, job, &m->err);
}

static void made(struct job *job, bool cancelled)
{
	struct making *m = (struct making *)job;
	struct locations_pane *p = m->pane;

	if (p->making == m)
		p->making = NULL;
	if (!cancelled && !m->result && m->snapshot == m->app->snapshot) {
		locations_release(&p->data);
		p->data = m->made;
		m->made = (struct locations){0};
		if (p->snapshot)
			carry_picked(p, m->snapshot);
		snapshot_drop(p->snapshot);
		p->snapshot = snapshot_keep(m->snapshot);
		make_rows(p, m->app);
		app_redraw(m->app);
	} else if (!cancelled && m->result) {
		snprintf(p->error, sizeof(p->error), "%s", m->err.text);
	}
	locations_release(&m->made);
	snapshot_drop(m->snapshot);
	free(m);
}

static void start(struct locations_pane *p, struct app *app)
{
	struct making *m = calloc(1, sizeof(*m));

	if (p->making)
		work_cancel(app->work, &p->making->job);
	p->making = m;
	if (!m)
		return;
	*p->error = 0;
	m->job.text = "splitting by location";
	m->job.run = make;
	m->job.done = made;
	m->pane = p;
	m->app = app;
	m->snapshot = snapshot_keep(app->snapshot);
	work_post(app->work, &m->job);
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct locations_pane *p = locations_of(pane);

	if (changed & CHANGED_SNAPSHOT && app->snapshot && app->snapshot != p->snapshot)
		start(p, app);
	/* The focus is one of the new snapshot: until its data is there the rows stay what they are. */
	if (p->snapshot && p->snapshot == app->snapshot)
		make_rows(p, app);
}

static void release(struct pane *pane, struct app *app)
{
	struct locations_pane *p = locations_of(pane);

	locations_release(&p->data);
	snapshot_drop(p->snapshot);
	free(p->rows);
	free(p->picked);
}

static const char *empty(struct pane *pane, struct app *app)
{
	struct locations_pane *p = locations_of(pane);

	if (*p->error)
		return p->error;
	return app->snapshot && !p->data.profile ? "splitting the profile by location ..." : NULL;
}

/* -------------------------------------------------------------- commands */

/* Until a new snapshot is split, its nodes are not those of the rows. */
static bool is_current(const struct locations_pane *p, struct app *app)
{
	if (p->snapshot && p->snapshot == app->snapshot)
		return true;
	app_say(app, INK_PLAIN, "being read again: once more, please");
	return false;
}

static void next_value(struct app *app, struct pane *pane)
{
	struct locations_pane *p = locations_of(pane);

	if (!is_current(p, app))
		return;
	p->shown = (p->shown + 1) % (VALUES + p->snapshot->columns.shown_count);
	make_rows(p, app);
}

static void toggle_process(struct app *app, struct pane *pane)
{
	if (!is_current(locations_of(pane), app))
		return;
	locations_of(pane)->by_process ^= true;
	make_rows(locations_of(pane), app);
}

static void toggle_order(struct app *app, struct pane *pane)
{
	if (!is_current(locations_of(pane), app))
		return;
	locations_of(pane)->by_value ^= true;
	make_rows(locations_of(pane), app);
}

static void pick(struct app *app, struct pane *pane)
{
	struct locations_pane *p = locations_of(pane);
	const struct row *row = &p->rows[p->pane.list.cursor];

	if (!p->count)
		return;
	if (!p->picked)
		p->picked = calloc(p->snapshot->location_count, sizeof(*p->picked));
	for (size_t i = 0; p->picked && i < row->locations; i++)
		p->picked[row->location + i] ^= true;
	list_move(&p->pane.list, 1);
}

/* What is picked, or where the cursor is. */
static void take(struct app *app, struct pane *pane)
{
	struct locations_pane *p = locations_of(pane);
	struct query query = app->query;
	const struct row *row = &p->rows[p->pane.list.cursor];
	size_t count = p->snapshot ? p->snapshot->location_count : 0;
	bool any = false;

	if (!p->count || !is_current(p, app))
		return;
	query.selected = calloc(count, sizeof(*query.selected));
	query.selected_count = count;
	if (!query.selected)
		return;
	for (size_t i = 0; p->picked && i < count; i++)
		any |= query.selected[i] = p->picked[i];
	for (size_t i = 0; !any && i < row->locations; i++)
		query.selected[row->location + i] = true;
	app_query(app, &query);
	free(query.selected);
	free(p->picked);
	p->picked = NULL;
}

static void take_all(struct app *app, struct pane *pane)
{
	struct query query = app->query;

	query.selected = NULL;
	query.selected_count = 0;
	free(locations_of(pane)->picked);
	locations_of(pane)->picked = NULL;
	app_query(app, &query);
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	return !regexec(app->search, locations_of(pane)->rows[row].name, 0, NULL, 0);
}

static const struct binding bindings[] = {
	{{'\n'}, "Only", "show only this location, or those that are picked", take},
	{{' '}, "Pick", "pick this location, or not", pick},
	{{'*'}, "All", "show all locations", take_all},
	{{'c'}, "Value", "next value: inclusive, exclusive, samples, calls, metrics", next_value},
	{{'o'}, "Order", "largest first, or in the order of ranks and threads", toggle_order},
	{{'p'}, "Process", "threads, or processes", toggle_process},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class locations_pane = {
	.name = "locations",
	.title = "Locations",
	.key = '4',
	.size = sizeof(struct locations_pane),
	.release = release,
	.update = update,
	.empty = empty,
	.draw = locations_draw,
	.fits = fits,
	.bindings = bindings,
};
