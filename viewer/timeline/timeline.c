#include "viewer/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct lane {
	struct lanes *lanes;
	struct weave weave;
	size_t row;
	uint64_t origin, start, end; /* start and end: of the thread, since the origin */
	uint64_t at; /* up to where its time is spent */
	size_t metric;
	bool known; /* the counter has been read */
	double value;
	uint64_t value_time;
};

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void clear(struct profile_node *n)
{
	n->calls = n->skipped = n->samples = 0;
	n->inclusive = n->exclusive = n->blocked = n->ready = n->idle = n->idle_alone = 0;
	n->messages = n->sent = n->received = 0;
}

/* Values of the counter are 0 bytes for as long as they are sums. */
static bool make_arrays(struct timeline *t, const struct profile_node *nodes, bool counter)
{
	size_t cells = t->rows * t->columns;

	t->edges = malloc((t->columns + 1) * sizeof(*t->edges));
	t->where = malloc((cells ? cells : 1) * sizeof(*t->where));
	t->nodes = malloc(t->node_count * sizeof(*t->nodes));
	if (counter)
		t->values = calloc(t->columns, sizeof(*t->values));
	if (!t->edges || !t->where || !t->nodes || (counter && !t->values))
		return false;
	bins_divide(t->edges, t->columns, t->from, t->to);
	for (size_t i = 0; i < t->node_count; i++) {
		t->nodes[i] = nodes[i];
		clear(&t->nodes[i]);
	}
	return true;
}

struct timeline *timeline_new(
	const struct timeline_options *options, const struct profile_node *nodes, size_t count)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->from = options->from;
	t->to = options->to;
	t->columns = options->columns;
	t->rows = options->rows;
	t->node_count = count;
	t->counter = copy_of(options->counter);
	if ((options->counter && !t->counter) || !make_arrays(t, nodes, options->counter)) {
		timeline_free(t);
		return NULL;
	}
	return t;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->marker_count; i++)
		free(t->markers[i].text);
	for (size_t i = 0; i < t->counter_count; i++)
		free(t->counters[i]);
	free(t->markers);
	free(t->counters);
	free(t->counter);
	free(t->unit);
	free(t->values);
	free(t->nodes);
	free(t->where);
	free(t->edges);
	free(t);
}

uint32_t timeline_at_depth(const struct weave_tree *tree, uint32_t node, uint32_t depth)
{
	while (tree->depth[node] > depth)
		node = tree->parent[node];
	return node;
}

int lanes_init(struct lanes *lanes, struct timeline *timeline, const struct weave_tree *tree)
{
	int r;

	*lanes = (struct lanes){.timeline = timeline};
	r = bins_init(&lanes->bins, tree, timeline->edges, timeline->columns);
	lanes->sums = calloc(timeline->columns, sizeof(*lanes->sums));
	lanes->covered = calloc(timeline->columns, sizeof(*lanes->covered));
	if (!r && lanes->sums && lanes->covered)
		return 0;
	lanes_release(lanes);
	return HYB_ENOMEM;
}

void lanes_release(struct lanes *lanes)
{
	bins_release(&lanes->bins);
	free(lanes->sums);
	free(lanes->covered);
	*lanes = (struct lanes){0};
}

static int use_metric(struct timeline *t, const struct hyb_metric *metric)
{
	t->level = metric->level;
	if (!t->unit)
		t->unit = strdup(metric->unit);
	return t->unit ? 0 : HYB_ENOMEM;
}

struct lane *lane_new(struct lanes *lanes, size_t row, const struct hyb_location_info *location,
	const uint32_t *own, uint64_t origin, size_t metric)
{
	struct weave_options options = {.frames = true};
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->lanes = lanes;
	lane->row = row;
	lane->origin = origin;
	lane->start = location->start > origin ? location->start - origin : 0;
	lane->end = location->end > origin ? location->end - origin : 0;
	lane->at = lane->start;
	lane->metric = metric;
	if (metric != SIZE_MAX && use_metric(lanes->timeline, &location->process->metrics[metric])) {
		free(lane);
		return NULL;
	}
	bins_begin(&lanes->bins, &lanes->timeline->where[row * lanes->timeline->columns]);
	if (!weave_init(&lane->weave, lanes->bins.tree, location, own, &options))
		return lane;
	weave_release(&lane->weave);
	free(lane);
	return NULL;
}

/* The thread was at `node` up to `time`. */
static void spend(struct lane *lane, uint32_t node, uint64_t time)
{
	struct timeline *t = lane->lanes->timeline;
	uint64_t from = lane->at > t->from ? lane->at : t->from, to = time < t->to ? time : t->to;

	if (time > lane->at)
		lane->at = time;
	if (from >= to)
		return;
	t->nodes[node].exclusive += to - from;
	bins_spend(&lane->lanes->bins, node, from, to);
}

/* ---------------------------------------------------------------- counters */

/* Spreads `amount` evenly over [from, to), `ns`: so much of that time in each column. */
static void cover(struct lane *lane, uint64_t from, uint64_t to, double amount, bool level)
{
	struct lanes *lanes = lane->lanes;
	const struct timeline *t = lanes->timeline;
	double length = (double)(to - from);
	uint64_t at = from > t->from ? from : t->from, last = to < t->to ? to : t->to;

	for (size_t c = at < last ? bins_find(t->edges, t->columns, at) : 0; at < last; c++) {
		uint64_t end = t->edges[c + 1] < last ? t->edges[c + 1] : last;
		double part = (double)(end - at);

		lanes->sums[c] += level ? amount * part : amount * part / length;
		lanes->covered[c] += part;
		at = end;
	}
}

static void take_value(struct lane *lane, uint64_t time, double value)
{
	bool level = lane->lanes->timeline->level;

	if (lane->known && time > lane->value_time)
		cover(lane, lane->value_time, time, level ? lane->value : value - lane->value, level);
	if (lane->known && time < lane->value_time)
		return;
	lane->known = true;
	lane->value = value;
	lane->value_time = time;
}

/* Remembers a counter's name; it is the one that was asked for. */
static int take_counter(struct lane *lane, const struct hyb_event *e, uint64_t time)
{
	struct timeline *t = lane->lanes->timeline;
	size_t i = 0;

	while (i < t->counter_count && strcmp(t->counters[i], e->text) != 0)
		i++;
	if (i == t->counter_count && i < TIMELINE_COUNTERS) {
		if (!ARRAY_ROOM(t->counters, t->counter_count))
			return HYB_ENOMEM;
		t->counters[i] = strdup(e->text);
		if (!t->counters[i])
			return HYB_ENOMEM;
		t->counter_count++;
	}
	if (!t->values || lane->metric != SIZE_MAX || strcmp(t->counter, e->text) != 0)
		return 0;
	t->level = true;
	if (!t->unit) {
		t->unit = strdup(e->unit ? e->unit : "");
		if (!t->unit)
			return HYB_ENOMEM;
	}
	take_value(lane, time, e->is_double ? e->value.real : (double)e->value.integer);
	return 0;
}

static int take_marker(struct lane *lane, const struct hyb_event *e, uint64_t time)
{
	struct timeline *t = lane->lanes->timeline;
	struct timeline_marker *marker;

	if (t->marker_count == TIMELINE_MARKERS) {
		t->markers_left_out++;
		return 0;
	}
	if (!ARRAY_ROOM(t->markers, t->marker_count))
		return HYB_ENOMEM;
	marker = &t->markers[t->marker_count];
	*marker = (struct timeline_marker){time, lane->row, strdup(e->text)};
	if (!marker->text)
		return HYB_ENOMEM;
	t->marker_count++;
	return 0;
}

/* ---------------------------------------------------------------- events */

/* What counts in the window, at the moment it happened. */
static int count(struct lane *lane, const struct hyb_event *e, uint64_t time)
{
	struct profile_node *node = &lane->lanes->timeline->nodes[lane->weave.own[e->node]];

	switch ((enum hyb_event_kind)e->kind) {
	case HYB_EVENT_SAMPLE:
		if (!e->overflow)
			node->samples += e->weight;
		return 0;
	case HYB_EVENT_ENTER:
		node->calls++;
		return 0;
	case HYB_EVENT_MESSAGE:
		node->messages++;
		node->sent += e->sent;
		node->received += e->received;
		return 0;
	case HYB_EVENT_MARKER:
		return take_marker(lane, e, time);
	default:
		return 0;
	}
}

int lane_event(struct lane *lane, const struct hyb_event *e)
{
	struct timeline *t = lane->lanes->timeline;
	uint64_t time = e->time > lane->origin ? e->time - lane->origin : 0;
	int r = 0;

	t->records++;
	t->gaps += e->kind == HYB_EVENT_GAP;
	weave_until(&lane->weave, e->time);
	if (time > lane->at)
		spend(lane, lane->weave.current, time);
	if (time >= t->from && time < t->to)
		r = count(lane, e, time);
	if (!r && e->kind == HYB_EVENT_COUNTER)
		r = take_counter(lane, e, time);
	if (lane->metric != SIZE_MAX && e->values)
		take_value(lane, time, (double)e->values[lane->metric]);
	weave_event(&lane->weave, e);
	return r ? r : time >= t->to;
}

void lane_end(struct lane *lane)
{
	const struct timeline *t = lane->lanes->timeline;

	weave_until(&lane->weave, lane->weave.location->end);
	if (lane->end > lane->at)
		spend(lane, lane->weave.current, lane->end);
	bins_end(&lane->lanes->bins);
	if (lane->known && t->level && lane->end > lane->value_time)
		take_value(lane, lane->end, lane->value);
	weave_release(&lane->weave);
	free(lane);
}

/* Sums become values: growth a second, or the mean. */
static void finish_counter(struct lanes *lanes)
{
	struct timeline *t = lanes->timeline;

	t->least = INFINITY;
	t->most = -INFINITY;
	for (size_t c = 0; c < t->columns; c++) {
		double seconds = (double)(t->edges[c + 1] - t->edges[c]) / 1e9;

		if (lanes->covered[c] <= 0) {
			t->values[c] = NAN;
			continue;
		}
		t->values[c] = t->level ? lanes->sums[c] / lanes->covered[c] : lanes->sums[c] / seconds;
		t->least = fmin(t->least, t->values[c]);
		t->most = fmax(t->most, t->values[c]);
	}
}

void timeline_finish(struct lanes *lanes)
{
	struct timeline *t = lanes->timeline;

	for (size_t i = 0; i < t->node_count; i++)
		t->nodes[i].inclusive = t->nodes[i].exclusive;
	for (size_t i = t->node_count; i-- > 1;)
		t->nodes[t->nodes[i].parent].inclusive += t->nodes[i].inclusive;
	if (t->values)
		finish_counter(lanes);
}
