/* Data of the timeline pane: jobs that make it, and what stands where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/panes/timeline.h"

struct timeline_job {
	struct job job;
	struct app *app;
	struct timeline_pane *pane;
	struct timeline_base *base; /* kept */
	bool messages; /* these are wanted, else the timeline of the options */
	struct timeline_options options;
	char *counter; /* of the options */
	uint32_t *locations; /* by row */
	bool one, whole; /* rows are one location; all of time and of the locations */
	struct timeline *ret;
	struct timeline_messages ret_messages;
	int result;
	struct hyb_error err;
};

static void run(struct job *job)
{
	struct timeline_job *j = (struct timeline_job *)job;

	j->result = timeline_base_make(j->base);
	if (!j->result && j->messages)
		j->result = timeline_messages_read(j->base, job, &j->ret_messages);
	else if (!j->result)
		j->result = timeline_read(j->base, &j->options, j->locations, job, &j->ret, &j->err);
	if (j->result == HYB_ENOMEM)
		snprintf(j->err.text, sizeof(j->err.text), "memory is out");
}

static void cancel(struct timeline_job **job, struct app *app)
{
	struct timeline_job *j = *job;

	*job = NULL;
	if (j)
		work_cancel(app->work, &j->job);
}

void timeline_show_all(struct app *app)
{
	if (app->window.pane)
		app_window(app, &(struct window){0});
}

/* Panes of trees show what was in the window. Nodes are large where a profile is: nobody else keeps them. */
static void share_window(struct timeline_job *j)
{
	struct window window = {&j->pane->pane, j->ret->from, j->ret->to, j->ret->nodes};

	j->ret->nodes = NULL;
	if (j->app->snapshot != j->base->snapshot || j->whole) {
		free(window.nodes);
		window.nodes = NULL; /* of the newer snapshot they are to come */
	}
	if (j->whole)
		timeline_show_all(j->app);
	else
		app_window(j->app, &window);
}

void timeline_forget(struct timeline_pane *t)
{
	if (t->whole != t->data)
		timeline_free(t->whole);
	timeline_free(t->data);
	t->data = t->whole = NULL;
}

void timeline_renew(struct timeline_pane *t, struct app *app)
{
	cancel(&t->messages_job, app);
	timeline_messages_release(&t->messages);
	t->messages_known = false;
	t->in_window = 0;
	timeline_forget(t);
	timeline_base_drop(t->base);
	t->base = t->fresh;
	t->fresh = NULL;
}

/* The same thread in a newer snapshot: its row, or SIZE_MAX. */
static size_t find_again(const struct timeline_base *base, const struct hyb_location_info *location)
{
	for (size_t i = 0; i < base->location_count; i++)
		if (is_same_thread(base->snapshot->locations[base->locations[i]], location))
			return i;
	return SIZE_MAX;
}

static const struct hyb_location_info *location_of_row(const struct timeline_pane *t, size_t row)
{
	return t->base->snapshot->locations[t->base->locations[row]];
}

/* The first data of a newer snapshot: the same window, the cursor at the same thread and moment. */
static void take_fresh(struct timeline_pane *t, struct timeline_job *j)
{
	size_t row = t->one ? t->row : t->pane.list.cursor;
	size_t again = find_again(t->fresh, location_of_row(t, row));

	timeline_renew(t, j->app);
	t->row = again == SIZE_MAX ? 0 : again;
	t->from = j->options.from;
	t->to = j->options.to;
	if (t->cursor < t->from || t->cursor >= t->to)
		t->cursor = t->from;
	t->one = j->one;
	t->location = j->locations[0];
	if (!t->one) {
		list_set(&t->pane.list, t->base->location_count, t->pane.list.height);
		list_move(&t->pane.list, (long)t->row - (long)t->pane.list.cursor);
	}
	if (t->lines)
		timeline_ask_messages(t, j->app);
}

static void take_timeline(struct timeline_pane *t, struct timeline_job *j)
{
	if (j->base == t->fresh)
		take_fresh(t, j);
	if (t->data != t->whole)
		timeline_free(t->data);
	if (j->whole && t->whole)
		timeline_free(t->whole);
	if (j->whole)
		t->whole = j->ret;
	t->data = j->ret;
	t->data_one = j->one;
	t->data_location = j->locations[0];
	*t->error = 0;
	share_window(j);
	j->ret = NULL;
	timeline_select_messages(t);
	timeline_tell_focus(t, j->app);
}

static void take(struct timeline_pane *t, struct timeline_job *j)
{
	if (j->result) {
		snprintf(t->error, sizeof(t->error), "%s", j->err.text);
		app_say(j->app, INK_BAD, "%s", t->error);
		if (!j->messages)
			timeline_show_all(j->app);
	} else if (j->messages) {
		timeline_messages_release(&t->messages);
		t->messages = j->ret_messages;
		j->ret_messages = (struct timeline_messages){0};
		t->messages_known = true;
		timeline_select_messages(t);
	} else if (j->ret) {
		take_timeline(t, j);
	}
	app_redraw(j->app);
}

static void done(struct job *job, bool cancelled)
{
	struct timeline_job *j = (struct timeline_job *)job;
	struct timeline_pane *t = j->pane;
	struct timeline_job **current = j->messages ? &t->messages_job : &t->job;

	if (*current == j) {
		*current = NULL;
		if (!cancelled) {
			live_read(&t->live, j->base->snapshot->running, job->cost);
			take(t, j);
			t->pane.changed |= CHANGED_SNAPSHOT; /* there may be a newer one */
		}
	}
	timeline_free(j->ret);
	timeline_messages_release(&j->ret_messages);
	timeline_base_drop(j->base);
	free(j->locations);
	free(j->counter);
	free(j);
}

static struct timeline_job *job_new(struct timeline_pane *t, struct app *app, struct timeline_base *base)
{
	struct timeline_job *j = calloc(1, sizeof(*j));
	uint32_t only = t->location;
	size_t rows, row = 0;

	if (!j)
		return NULL;
	if (t->one && base != t->base) {
		row = find_again(base, t->base->snapshot->locations[t->location]);
		only = row == SIZE_MAX ? 0 : base->locations[row];
	}
	j->one = t->one && row != SIZE_MAX;
	rows = j->one ? 1 : base->location_count;
	j->job.run = run;
	j->job.done = done;
	j->app = app;
	j->pane = t;
	j->base = timeline_base_keep(base);
	j->locations = malloc((rows + 1) * sizeof(*j->locations));
	if (!j->locations) {
		timeline_base_drop(j->base);
		free(j);
		return NULL;
	}
	memcpy(j->locations, j->one ? &only : base->locations, rows * sizeof(*j->locations));
	j->options.rows = rows;
	return j;
}

void timeline_cancel(struct timeline_pane *t, struct app *app)
{
	cancel(&t->job, app);
	cancel(&t->messages_job, app);
}

void timeline_ask(struct timeline_pane *t, struct app *app)
{
	struct timeline_base *base = t->fresh ? t->fresh : t->base;
	const char *counter = timeline_counter(t);
	struct timeline_job *j;
	bool all;

	cancel(&t->job, app);
	if (!base || !base->location_count)
		return;
	j = job_new(t, app, base);
	if (j && counter)
		j->counter = strdup(counter);
	if (!j || (counter && !j->counter)) {
		app_say(app, INK_BAD, "memory is out: the timeline stays as it is");
		if (j)
			done(&j->job, true);
		return;
	}
	j->job.text = "reading the trace";
	all = (!t->from && t->to == t->base->length) || t->to > base->length;
	j->whole = !j->one && all;
	j->options.from = all ? 0 : t->from;
	j->options.to = all ? base->length : t->to;
	j->options.columns = (size_t)timeline_columns(t);
	j->options.counter = j->counter;
	t->job = j;
	work_post(app->work, &j->job);
}

void timeline_ask_messages(struct timeline_pane *t, struct app *app)
{
	if (t->messages_known || t->messages_job || !t->base)
		return;
	t->messages_job = job_new(t, app, t->base);
	if (!t->messages_job)
		return;
	t->messages_job->messages = true;
	t->messages_job->job.text = "matching messages";
	work_post(app->work, &t->messages_job->job);
}

void timeline_select_messages(struct timeline_pane *t)
{
	t->in_window = 0;
	for (size_t i = 0; i < t->messages.count && t->messages.items[i].from < t->to; i++) {
		const struct timeline_message *m = &t->messages.items[i];

		if (m->to < t->from || !t->base->snapshot->own[m->sender] ||
			!t->base->snapshot->own[m->receiver])
			continue;
		if (t->in_window < MESSAGE_LINES)
			t->drawn[t->in_window] = *m;
		t->in_window++;
	}
}

/* ---------------------------------------------------------------- counters */

const char *timeline_counter(const struct timeline_pane *t)
{
	const struct profile_metric *metrics;
	size_t count, n = t->counter;

	if (!n-- || !t->base)
		return NULL;
	metrics = profile_metrics(t->base->snapshot->profile, &count);
	if (n < count)
		return metrics[n].name;
	n -= count;
	return t->data && n < t->data->counter_count ? t->data->counters[n] : NULL;
}

size_t timeline_counter_count(const struct timeline_pane *t)
{
	size_t count = 0;

	if (t->base)
		profile_metrics(t->base->snapshot->profile, &count);
	return count + (t->data ? t->data->counter_count : 0);
}

/* ---------------------------------------------------------------- what stands where */

/* Row of a timeline that a row of the list is made of; false: that is of other locations. */
static bool data_row(const struct timeline_pane *t, const struct timeline *data, size_t row, size_t *ret)
{
	uint32_t location;

	if (!data || (!t->one && row >= t->base->location_count))
		return false;
	location = t->one ? t->location : t->base->locations[row];
	*ret = 0;
	if (t->data_one && data == t->data)
		return t->data_location == location;
	if (!t->one)
		*ret = row;
	while (*ret < data->rows && t->base->locations[*ret] != location)
		++*ret;
	return *ret < data->rows;
}

/* Where a row was at that moment, as far as has been read: BIN_NOWHERE also where it has not. */
static uint32_t where_at(const struct timeline_pane *t, size_t row, uint64_t time)
{
	const struct timeline *sources[] = {t->data, t->whole};
	size_t at;

	for (size_t i = 0; i < 2; i++) {
		const struct timeline *data = sources[i];

		if (data_row(t, data, row, &at) && time >= data->from && time < data->to)
			return data->where[at * data->columns + bins_find(data->edges, data->columns, time)];
	}
	return BIN_NOWHERE;
}

const struct profile_node *timeline_profile(const struct timeline_pane *t, uint32_t node)
{
	return &profile_nodes(t->base->snapshot->profile)[node];
}

/* The node of a row of locations that is to be shown. */
static uint32_t shown(const struct timeline_pane *t, uint32_t node)
{
	if (t->depth >= DEPTH_FIRST)
		return timeline_at_depth(&t->base->tree, node, t->depth - DEPTH_FIRST + 1);
	if (t->depth == DEPTH_PROBE)
		while (node && timeline_profile(t, node)->kind != PROFILE_PROBE)
			node = t->base->tree.parent[node];
	return node;
}

uint32_t timeline_node(const struct timeline_pane *t, size_t row, int column, uint32_t *ret_exact)
{
	uint64_t begin = timeline_edge(t, column), end = timeline_edge(t, column + 1);
	uint64_t middle = begin + (end - begin) / 2;
	uint32_t node = where_at(t, row, middle), depth = (uint32_t)row + 1;

	if (ret_exact)
		*ret_exact = node;
	if (node == BIN_NOWHERE)
		return node;
	if (!t->one)
		return shown(t, node);
	return t->base->tree.depth[node] < depth ? 0 : timeline_at_depth(&t->base->tree, node, depth);
}

void timeline_band(const struct timeline_pane *t, size_t row, int column, int *ret_begin, int *ret_end)
{
	uint32_t node = timeline_node(t, row, column, NULL);
	int begin = column, end = column + 1, columns = timeline_columns(t);

	while (begin > 0 && timeline_node(t, row, begin - 1, NULL) == node)
		begin--;
	while (end < columns && timeline_node(t, row, end, NULL) == node)
		end++;
	*ret_begin = begin;
	*ret_end = end;
}

/* Of one location as many as it is deep in the window. */
size_t timeline_rows(const struct timeline_pane *t)
{
	size_t deepest = 0;

	if (!t->one)
		return t->base ? t->base->location_count : 0;
	for (int c = 0; t->data && c < timeline_columns(t); c++) {
		uint32_t node;

		timeline_node(t, 0, c, &node);
		if (node != BIN_NOWHERE && t->base->tree.depth[node] > deepest)
			deepest = t->base->tree.depth[node];
	}
	return deepest ? deepest : 1;
}
