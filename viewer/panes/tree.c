/* The call tree, the reverse tree, the flat table and the difference. */
#include "viewer/panes/tree.h"

#include <stdlib.h>
#include <string.h>

struct tree_job {
	struct job job;
	struct app *app;
	struct tree_pane *pane; /* NULL: nobody waits for it */
	struct tree_request request;
	struct tree_data *data;
};

enum tree_kind tree_pane_kind(const struct tree_pane *p)
{
	const struct pane_class *class = p->pane.class;

	return class == &reverse_pane ? TREE_REVERSED
	       : class == &flat_pane  ? TREE_FLAT
	       : class == &diff_pane  ? TREE_DIFFERENCE
				      : TREE_CALLS_DOWN;
}

static bool is_tree_pane(const struct pane *pane)
{
	return pane->class == &tree_pane || pane->class == &reverse_pane || pane->class == &flat_pane ||
	       pane->class == &diff_pane;
}

struct tree_pane *tree_hider(struct app *app)
{
	for (size_t i = 0; i < app->pane_count; i++)
		if (app->panes[i]->class == &tree_pane)
			return tree_of(app->panes[i]);
	return NULL;
}

void tree_make_all(struct app *app)
{
	for (size_t i = 0; i < app->pane_count; i++)
		if (is_tree_pane(app->panes[i]))
			app->panes[i]->changed |= CHANGED_SNAPSHOT;
	app_redraw(app);
}

const struct tree_row *tree_pane_row(const struct tree_pane *p)
{
	return p->data && p->pane.list.cursor < p->view.count ? &p->view.rows[p->pane.list.cursor] : NULL;
}

/* ---------------------------------------------------------------- cursor */

/* Names of a row: where it is made of the profile's node, that one's. */
static struct focus focus_of(struct tree_pane *p, uint32_t node)
{
	uint32_t origin = tree_data_origin(p->data, node);
	const struct profile_node *n = origin == TREE_NONE
					       ? &p->view.source.nodes[node]
					       : &profile_nodes(p->data->request.snapshot->profile)[origin];
	bool is_module = tree_pane_kind(p) == TREE_FLAT && p->data->request.by == PROFILE_BY_MODULE;

	return (struct focus){.kind = is_module ? 0 : n->kind,
		.python = n->python,
		.name = tree_pane_kind(p) == TREE_FLAT && p->data->request.by == PROFILE_BY_FILE ? ""
												 : n->name,
		.file = n->file,
		.module = n->module,
		.line = n->line,
		.node = origin == TREE_NONE ? NO_NODE : origin,
		.serial = p->data->request.snapshot->serial};
}

static void tell_focus(struct app *app, struct tree_pane *p)
{
	const struct tree_row *row = tree_pane_row(p);
	struct focus focus;

	if (app->main != &p->pane || !p->data)
		return;
	focus = row ? focus_of(p, row->node) : (struct focus){.serial = p->data->request.snapshot->serial};
	app_focus(app, &focus);
}

void tree_pane_changed(struct app *app, struct tree_pane *p, int r)
{
	size_t row = tree_view_row(&p->view, p->view.cursor), line = p->pane.list.cursor - p->pane.list.top;

	if (r)
		app_say(app, INK_BAD, "out of memory");
	p->pane.list.cursor = row;
	p->pane.list.top = row > line ? row - line : 0;
	list_set(&p->pane.list, p->view.count, p->pane.list.height);
	if (p->view.count)
		p->view.cursor = p->view.rows[p->pane.list.cursor].node;
	tell_focus(app, p);
	app_redraw(app);
}

static void tree_forget_search(struct tree_pane *p)
{
	free(p->typed.state);
	p->typed = (struct typed_search){0};
}

void tree_pane_moved(struct pane *pane, struct app *app)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (p->pane.list.cursor != p->typed.row && p->pane.list.cursor != p->typed.found)
		tree_forget_search(p);
	if (row)
		p->view.cursor = row->node;
	tell_focus(app, p);
}

/* ---------------------------------------------------------------- search */

/* A new search remembers what is open; the next key of the same one opens nothing but its own way. */
static void begin_typed(struct tree_pane *p)
{
	struct tree_view *f = &p->view;
	struct typed_search *t = &p->typed;

	if (t->state && p->pane.list.cursor == t->row) {
		memcpy(f->state, t->state, f->source.count);
		while (f->zoom_count > t->zoom_count)
			tree_view_zoom_back(f);
		f->cursor = t->cursor;
		return;
	}
	tree_forget_search(p);
	t->state = malloc(f->source.count);
	if (t->state)
		memcpy(t->state, f->state, f->source.count);
	t->cursor = f->cursor;
	t->zoom_count = f->zoom_count;
	t->row = p->pane.list.cursor;
	tree_view_push(f);
}

bool tree_pane_find(struct pane *pane, struct app *app, int direction, bool here)
{
	struct tree_pane *p = tree_of(pane);
	uint32_t node;

	if (!p->data)
		return false;
	if (here)
		begin_typed(p);
	else
		tree_forget_search(p);
	node = tree_view_find(&p->view, app->search, direction, here);
	if (node == TREE_NONE)
		return false;
	tree_pane_changed(app, p, tree_view_reveal(&p->view, node));
	p->typed.found = p->pane.list.cursor;
	return true;
}

/* ------------------------------------------------------------------ data */

static void run_job(struct job *job)
{
	struct tree_job *j = (struct tree_job *)job;

	if (!atomic_load(&job->stop))
		j->data = tree_data_make(&j->request);
}

/* Seconds between two snapshots, if a rate can be computed from them; else 0. */
static double seconds_between(const struct tree_data *before, const struct tree_data *after)
{
	const struct snapshot *a, *b = after->request.snapshot;

	if (!before)
		return 0;
	a = before->request.snapshot;
	if (!a->running || !b->running || !query_is(&a->query, &b->query) || b->read_at <= a->read_at ||
		before->request.window || after->request.window ||
		before->request.hide.count != after->request.hide.count)
		return 0;
	return (double)(b->read_at - a->read_at) / 1e9;
}

/* The order to begin with: what the command line asks for, or time. */
static void begin_order(struct tree_pane *p, const struct tree_data *data)
{
	static const unsigned first[] = {
		[TREE_CALLS_DOWN] = FIELD_INCLUSIVE,
		[TREE_REVERSED] = FIELD_INCLUSIVE,
		[TREE_FLAT] = FIELD_EXCLUSIVE,
		[TREE_DIFFERENCE] = FIELD_CHANGE,
	};
	const struct column_set *set = data->source.columns;

	if (p->began)
		return;
	p->began = true;
	p->view.sort = first[tree_pane_kind(p)];
	if (!set->shown_count || set->shown[0] == set->metrics)
		return;
	if (tree_pane_kind(p) != TREE_DIFFERENCE)
		p->view.sort = tree_metric(set->shown[0],
			tree_pane_kind(p) == TREE_FLAT ? TREE_PART_EXCLUSIVE : TREE_PART_INCLUSIVE);
	else if (!set->items[set->shown[0]].ratio)
		p->view.sort = tree_metric(set->shown[0], TREE_PART_CHANGE);
}

static void take_data(struct app *app, struct tree_pane *p, struct tree_data *data)
{
	struct tree_data *old = p->data;
	double seconds = seconds_between(old, data);
	bool loose = old && old->request.snapshot->query.mode != data->request.snapshot->query.mode;
	bool first = !old && (tree_pane_kind(p) == TREE_CALLS_DOWN || tree_pane_kind(p) == TREE_DIFFERENCE);
	int r;

	begin_order(p, data);
	tree_forget_search(p);
	r = tree_view_set(
		&p->view, &data->source, old && old->request.by == data->request.by, loose, seconds);
	if (r) {
		tree_data_free(data);
		app_say(app, INK_BAD, "out of memory");
		return;
	}
	tree_data_free(p->past);
	p->past = seconds > 0 ? old : NULL;
	if (!p->past)
		tree_data_free(old);
	p->data = data;
	if (first) {
		r = tree_view_hot_path(&p->view, 0);
		p->view.cursor = 0;
	}
	tree_pane_changed(app, p, r);
}

static void end_job(struct job *job, bool cancelled)
{
	struct tree_job *j = (struct tree_job *)job;
	struct tree_pane *p = j->pane;

	if (p && p->job == j)
		p->job = NULL;
	if (!cancelled && p && j->data) {
		take_data(j->app, p, j->data);
		j->data = NULL;
	} else if (!cancelled && p && !j->data) {
		app_say(j->app, INK_BAD, "out of memory");
	}
	tree_data_free(j->data);
	tree_request_release(&j->request);
	free(j);
}

static const char *const job_texts[] = {
	[TREE_CALLS_DOWN] = "making the call tree",
	[TREE_REVERSED] = "turning the tree upside down",
	[TREE_FLAT] = "adding up the table",
	[TREE_DIFFERENCE] = "making the difference",
};

static int copy_window(struct tree_request *request, const struct app *app)
{
	size_t bytes = profile_count(app->snapshot->profile) * sizeof(*request->window);

	if (!app->window.pane)
		return 0;
	request->window = malloc(bytes);
	if (!request->window)
		return HYB_ENOMEM;
	memcpy(request->window, app->window.nodes, bytes);
	request->from = app->window.from;
	request->to = app->window.to;
	return 0;
}

static void post_job(struct app *app, struct tree_pane *p)
{
	struct tree_job *j = calloc(1, sizeof(*j));

	if (!j || hide_copy(&j->request.hide, &tree_hider(app)->hide) || copy_window(&j->request, app)) {
		app_say(app, INK_BAD, "out of memory");
		if (j)
			tree_request_release(&j->request);
		free(j);
		return;
	}
	j->app = app;
	j->pane = p;
	j->request.kind = tree_pane_kind(p);
	j->request.by = p->by;
	j->request.snapshot = snapshot_keep(app->snapshot);
	j->job.text = job_texts[j->request.kind];
	j->job.run = run_job;
	j->job.done = end_job;
	p->job = j;
	work_post(app->work, &j->job);
}

/* Another snapshot, window, table, or other things are hidden. The window comes with a change of its own. */
void tree_pane_update(struct pane *pane, struct app *app, unsigned changed)
{
	struct tree_pane *p = tree_of(pane);

	if (!(changed & CHANGED_SNAPSHOT) || !app->snapshot || (app->window.pane && !app->window.nodes) ||
		(tree_pane_kind(p) == TREE_DIFFERENCE && !app->snapshot->diff))
		return;
	if (p->job) {
		p->job->pane = NULL;
		work_cancel(app->work, &p->job->job);
	}
	post_job(app, p);
	tell_focus(app, p);
}

int tree_pane_init(struct pane *pane, struct app *app)
{
	tree_of(pane)->view.threshold = app->options->look.threshold;
	return 0;
}

/* Jobs are over by now. */
void tree_pane_release(struct pane *pane, struct app *app)
{
	struct tree_pane *p = tree_of(pane);

	tree_forget_search(p);
	tree_view_release(&p->view);
	tree_data_free(p->data);
	tree_data_free(p->past);
	hide_release(&p->hide);
}

static const char *no_base(struct pane *pane, struct app *app)
{
	return app->snapshot && !app->snapshot->diff
		       ? "nothing to compare with: start hybrid-view with --diff BASE"
		       : NULL;
}

/* --------------------------------------------------------------- classes */

const struct pane_class tree_pane = {
	.name = "tree",
	.title = "Call tree",
	.key = '1',
	TREE_PANE_FUNCTIONS,
	.bindings = tree_bindings,
};

const struct pane_class reverse_pane = {
	.name = "reverse",
	.title = "Reverse tree",
	.key = '2',
	TREE_PANE_FUNCTIONS,
	.bindings = tree_bindings,
};

/* A tree of one level, as far as its rows go. */
const struct pane_class flat_pane = {
	.name = "flat",
	.title = "Flat table",
	.key = '3',
	TREE_PANE_FUNCTIONS,
	.bindings = flat_bindings,
};

const struct pane_class diff_pane = {
	.name = "diff",
	.title = "Difference",
	.key = '7',
	TREE_PANE_FUNCTIONS,
	.empty = no_base,
	.bindings = tree_bindings,
};
