#include "profile/metrics/growth.h"
#include "base/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

/* A row of growth.between. */
struct between {
	uint32_t probe; /* node of the location: the innermost probe around both */
	uint32_t from, to; /* nodes of the tree */
	uint32_t readings;
	int64_t grown[16];
};
#define BETWEEN_KEY (3 * sizeof(uint32_t))

/* Of a node of the tree: what grew between readings that were both in or below it. */
struct rate {
	int64_t grown;
	uint64_t readings;
};

/* -------------------------------------------------------------- reading */

void growth_init(struct growth *g, const struct hyb_location_info *location, const struct tree *tree,
	const uint32_t *own)
{
	*g = (struct growth){.location = location, .tree = tree, .own = own, .from = NOWHERE};
	g->between.row_size = sizeof(struct between);
	g->between.key_size = BETWEEN_KEY;
}

static uint32_t probe_above(const struct hyb_node_info *nodes, uint32_t probe)
{
	return nodes[nodes[probe].parent].probe;
}

/* The innermost probe that both nodes are in; parents stand in front of their children. */
static uint32_t common_probe(const struct hyb_node_info *nodes, uint32_t a, uint32_t b)
{
	a = nodes[a].probe;
	b = nodes[b].probe;
	while (a != b) {
		if (a > b)
			a = probe_above(nodes, a);
		else
			b = probe_above(nodes, b);
	}
	return a;
}

/* Where in `probe` itself a node is: inside of a probe below, where that was entered. */
static uint32_t place_in(const struct hyb_node_info *nodes, uint32_t node, uint32_t probe)
{
	while (nodes[node].probe != probe)
		node = nodes[nodes[node].probe].parent;
	return node;
}

static int grew(struct growth *g, uint32_t from, uint32_t to, const int64_t *before, const int64_t *now)
{
	const struct hyb_node_info *nodes = g->location->nodes;
	uint32_t probe = common_probe(nodes, from, to);
	struct between key = {.probe = probe,
			       .from = g->own[place_in(nodes, from, probe)],
			       .to = g->own[place_in(nodes, to, probe)]},
		       *row = row_map_row(&g->between, &key);

	if (!row)
		return HYB_ENOMEM;
	row->readings++;
	for (size_t k = 0; k < g->location->process->metric_count; k++)
		wrap_add(&row->grown[k], wrap_sub(now[k], before[k]));
	return 0;
}

/* A reading while the thread was at `to`; from there it goes on at `behind`. */
static int take(struct growth *g, uint32_t to, uint32_t behind, uint64_t time, const int64_t *values)
{
	int r = g->from == NOWHERE ? 0 : grew(g, g->from, to, g->values, values);

	g->from = behind;
	g->time = time;
	memcpy(g->values, values, g->location->process->metric_count * sizeof(*values));
	return r;
}

/* Without records of probes, the first sample in an instance holds the values read when the instance was
 * entered. */
static int take_sample(struct growth *g, const struct hyb_event *e)
{
	const struct hyb_node_info *nodes = g->location->nodes;
	uint32_t probe = nodes[e->node].probe;
	int64_t entered[16];
	int r = 0;

	if (e->since_values && e->since != HYB_TIME_UNKNOWN &&
		(g->from == NOWHERE || e->time - e->since > g->time)) {
		for (size_t k = 0; k < g->location->process->metric_count; k++)
			entered[k] = wrap_sub(e->values[k], e->since_values[k]);
		r = take(g, nodes[probe].parent, probe, e->time - e->since, entered);
	}
	return r ? r : take(g, e->node, e->node, e->time, e->values);
}

int growth_event(struct growth *g, const struct hyb_event *e)
{
	const struct hyb_node_info *nodes = g->location->nodes;

	if (e->kind == HYB_EVENT_GAP)
		g->from = NOWHERE;
	if (e->kind > HYB_EVENT_COMPLETE || !e->values)
		return 0;
	switch (e->kind) {
	case HYB_EVENT_SAMPLE:
		return take_sample(g, e);
	case HYB_EVENT_ENTER:
		return take(g, nodes[e->node].parent, e->node, e->time, e->values);
	case HYB_EVENT_LEAVE:
	case HYB_EVENT_COMPLETE:
		return take(g, e->node, nodes[e->node].parent, e->time, e->values);
	default:
		return 0;
	}
}

int growth_read(struct growth *g, struct hyb_experiment *experiment)
{
	struct hyb_error err;
	struct hyb_events *events = hyb_events_open(experiment, g->location, false, &err);
	struct hyb_event event;
	int r = 0;

	if (!events)
		return err.code == HYB_ENOMEM ? HYB_ENOMEM : 0;
	while (!r && hyb_events_next(events, &event) > 0)
		r = growth_event(g, &event);
	hyb_events_close(events);
	return r;
}

/* -------------------------------------------------------------- placing */

struct work {
	const struct growth *growth;
	size_t metric;
	struct rate *rates; /* by node of the tree */
	int64_t *sums; /* by probe of the location: what was read to have grown in it */
	int64_t *placed; /* by probe of the location */
	int64_t *unread; /* by probe of the location: what grew in probes below it and was not read there */
	const int64_t *exclusive;
	int (*add)(void *data, uint32_t node, int64_t amount);
	void *data;
};

/* The innermost node that both are in, and on the way there the last one of each side (or that node). */
static uint32_t common_node(const struct tree *tree, uint32_t a, uint32_t b, uint32_t *ret_a, uint32_t *ret_b)
{
	uint32_t last_a = a, last_b = b;

	while (a != b) {
		if (a > b) {
			last_a = a;
			a = tree->nodes[a].parent;
		} else {
			last_b = b;
			b = tree->nodes[b].parent;
		}
	}
	*ret_a = last_a;
	*ret_b = last_b;
	return a;
}

static const struct between *row_at(const struct growth *g, size_t i)
{
	return (const struct between *)g->between.rows + i;
}

static void find_rates(struct work *w)
{
	const struct growth *g = w->growth;
	uint32_t a, b;

	for (size_t i = 0; i < g->between.count; i++) {
		const struct between *row = row_at(g, i);
		struct rate *rate = &w->rates[common_node(g->tree, row->from, row->to, &a, &b)];

		wrap_add(&rate->grown, row->grown[w->metric]);
		rate->readings += row->readings;
		wrap_add(&w->sums[row->probe], row->grown[w->metric]);
	}
	for (size_t i = g->tree->count; i-- > 1;) {
		struct rate *above = &w->rates[g->tree->nodes[i].parent];

		if (g->tree->nodes[i].kind == PROFILE_PROBE) /* what is its own is not the caller's */
			continue;
		wrap_add(&above->grown, w->rates[i].grown);
		above->readings += w->rates[i].readings;
	}
	for (uint32_t i = g->location->node_count; i-- > 1;) {
		int64_t *above = &w->unread[probe_above(g->location->nodes, i)];

		if (g->location->nodes[i].probe != i)
			continue;
		wrap_add(above, w->unread[i]);
		wrap_add(above, wrap_sub(w->exclusive[i], w->sums[i]));
	}
}

/* What a node usually grows by in so many readings, as far as that is a part of `grown`. */
static int64_t usual(const struct rate *rate, uint64_t readings, int64_t grown)
{
	double usual = (double)rate->grown / (double)rate->readings * (double)readings;

	if (grown < 0)
		return usual < (double)grown ? grown : usual < 0 ? (int64_t)usual : 0;
	return usual > (double)grown ? grown : usual > 0 ? (int64_t)usual : 0;
}

/* Divides `grown` between `a` and `b` in proportion to what they usually grow by. If that is known of one
 * only, the other gets the rest. */
static void split(const struct rate *a, const struct rate *b, uint64_t readings, int64_t grown,
	int64_t *ret_a, int64_t *ret_b)
{
	int64_t of_a = a->readings ? usual(a, readings, grown) : 0;
	int64_t of_b = b->readings ? usual(b, readings, grown) : 0;

	if (!a->readings && !b->readings)
		of_a = of_b = 0;
	else if (!a->readings)
		of_a = wrap_sub(grown, of_b);
	else if (!b->readings)
		of_b = wrap_sub(grown, of_a);
	else if (of_a || of_b) {
		of_a = (int64_t)((double)grown * ((double)of_a / ((double)of_a + (double)of_b)));
		of_b = wrap_sub(grown, of_a);
	}
	*ret_a = of_a;
	*ret_b = of_b;
}

/*
 * Without records of probes, two readings may have calls of probes below between them. Growth beyond that of
 * the probe itself belongs to these calls, as far as they have growth that was not read. Else it went away
 * unread.
 */
static int64_t part_of(const struct work *w, uint32_t probe, int64_t grown)
{
	double whole = (double)w->sums[probe], more = whole - (double)w->exclusive[probe],
	       unread = (double)w->unread[probe], part;

	if (w->growth->location->process->trace_events || w->sums[probe] == 0 || more / whole <= 0 ||
		unread / whole <= 0)
		return grown;
	part = 1 - fmin(more / whole, unread / whole);
	return part > 0 ? (int64_t)((double)grown * part) : 0;
}

static int put(struct work *w, uint32_t probe, uint32_t node, int64_t amount)
{
	wrap_add(&w->placed[probe], amount);
	return amount ? w->add(w->data, node, amount) : 0;
}

static int place_row(struct work *w, const struct between *row)
{
	int64_t grown = part_of(w, row->probe, row->grown[w->metric]), of_from = 0, of_to = 0;
	uint32_t a, b, common = common_node(w->growth->tree, row->from, row->to, &a, &b);
	const struct rate *rates = w->rates;
	int r;

	if (!grown)
		return 0;
	if (a != common && b != common)
		split(&rates[a], &rates[b], row->readings, grown, &of_from, &of_to);
	else if (a != common && rates[a].readings)
		of_from = usual(&rates[a], row->readings, grown);
	else if (b != common && rates[b].readings)
		of_to = usual(&rates[b], row->readings, grown);
	r = put(w, row->probe, row->from, of_from);
	if (!r)
		r = put(w, row->probe, row->to, of_to);
	return r ? r : put(w, row->probe, common, wrap_sub(wrap_sub(grown, of_from), of_to));
}

static int place_all(struct work *w)
{
	const struct growth *g = w->growth;
	int r = 0;

	for (size_t i = 0; !r && i < g->between.count; i++)
		r = place_row(w, row_at(g, i));
	for (uint32_t i = 0; !r && i < g->location->node_count; i++) {
		int64_t rest = wrap_sub(w->exclusive[i], w->placed[i]);

		if (rest)
			r = w->add(w->data, g->own[i], rest);
	}
	return r;
}

int growth_place(const struct growth *g, size_t metric, const int64_t *exclusive,
	int (*add)(void *data, uint32_t node, int64_t amount), void *data)
{
	size_t count = g->location->node_count;
	struct work w = {.growth = g,
		.metric = metric,
		.rates = calloc(g->tree->count, sizeof(*w.rates)),
		.sums = calloc(count, sizeof(*w.sums)),
		.placed = calloc(count, sizeof(*w.placed)),
		.unread = calloc(count, sizeof(*w.unread)),
		.exclusive = exclusive,
		.add = add,
		.data = data};
	int r = HYB_ENOMEM;

	if (w.rates && w.sums && w.placed && w.unread) {
		find_rates(&w);
		r = place_all(&w);
	}
	free(w.rates);
	free(w.sums);
	free(w.placed);
	free(w.unread);
	return r;
}

void growth_release(struct growth *g)
{
	row_map_release(&g->between);
}
