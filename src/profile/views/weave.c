#include "profile/views/weave.h"

#include <stdlib.h>

/* A stretch that is short, and so many times shorter than that of a sample, is other code than the
 * sample's. */
#define STRETCH_PARTS 8u
#define STRETCH_SHORT 10000u /* ns */

int weave_tree_make(struct weave_tree *tree, const struct profile_node *nodes, size_t count)
{
	struct weave_tree t = {.count = count};

	t.parent = calloc(count, sizeof(*t.parent));
	t.depth = calloc(count, sizeof(*t.depth));
	if (!t.parent || !t.depth) {
		weave_tree_release(&t);
		return HYB_ENOMEM;
	}
	for (size_t i = 1; i < count; i++) {
		t.parent[i] = nodes[i].parent;
		t.depth[i] = t.depth[nodes[i].parent] + 1;
		if (t.depth[i] > t.deepest)
			t.deepest = t.depth[i];
	}
	*tree = t;
	return 0;
}

void weave_tree_release(struct weave_tree *tree)
{
	free(tree->parent);
	free(tree->depth);
	*tree = (struct weave_tree){0};
}

int weave_init(struct weave *weave, const struct weave_tree *tree, const struct hyb_location_info *location,
	const uint32_t *own, const struct weave_options *options)
{
	*weave = (struct weave){
		.tree = tree,
		.options = *options,
		.location = location,
		.nodes = location->nodes,
		.own = own,
		.exact = location->process->trace_events,
		.time = location->start,
		.since = location->start,
	};
	weave->path = malloc((tree->deepest + 1) * sizeof(*weave->path));
	weave->back = malloc(location->node_count * sizeof(*weave->back));
	return weave->path && weave->back ? 0 : HYB_ENOMEM;
}

void weave_release(struct weave *weave)
{
	free(weave->path);
	free(weave->back);
	weave->path = NULL;
	weave->back = NULL;
}

static void tell_enter(struct weave *w, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	if (w->options.enter)
		w->options.enter(w->options.data, node, probe, event);
	w->current = node;
}

static void tell_leave(struct weave *w, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	if (w->options.leave)
		w->options.leave(w->options.data, node, probe, event);
	w->current = w->tree->parent[node];
}

static void leave_and_enter(struct weave *w, uint32_t node)
{
	const uint32_t *parent = w->tree->parent, *depth = w->tree->depth;
	uint32_t to = node;
	size_t n = 0;

	while (depth[w->current] > depth[to])
		tell_leave(w, w->current, 0, NULL);
	for (; depth[to] > depth[w->current]; to = parent[to])
		w->path[n++] = to;
	while (w->current != to) {
		tell_leave(w, w->current, 0, NULL);
		w->path[n++] = to;
		to = parent[to];
	}
	while (n)
		tell_enter(w, w->path[--n], 0, NULL);
}

/* Leaves what is not on the path to `node`, innermost first, and enters what is. */
static void go_to(struct weave *w, uint32_t node)
{
	if (w->current != node)
		leave_and_enter(w, node);
}

static uint32_t outer_probe(const struct weave *w, uint32_t probe)
{
	return w->nodes[w->nodes[probe].parent].probe;
}

/* Probes hang on probes only, but for those that looked for the frames that called them: calls of MPI. */
static bool knows_path(const struct weave *w, uint32_t probe)
{
	const struct hyb_node_info *node = &w->nodes[probe];

	return w->nodes[node->parent].probe != node->parent || (node->region && node->region->mpi);
}

/* The thread's place where the next probe is entered or left, with the stretch that ends there. */
static struct weave_place last_place(const struct weave *w)
{
	struct weave_place last = w->last;
	uint64_t length = w->time > w->since ? w->time - w->since : 1;

	/* The shortest of a place that is seen again: samples come when threads are interrupted, too. */
	if (w->sampled && (w->current != last.node || !last.seen || length < last.seen))
		last.seen = length;
	if (!w->away)
		last.node = w->current;
	return last;
}

static void begin_stretch(struct weave *w, struct weave_place last)
{
	w->last = last;
	w->away = last.node != w->current;
	w->sampled = false;
	w->since = w->time;
}

static void enter_probe(struct weave *w, uint32_t probe, const struct hyb_event *event)
{
	uint32_t node = w->own[probe];

	if (event && w->options.record)
		w->options.record(w->options.data, event);
	if (w->options.frames) {
		w->back[probe] = last_place(w);
		if (!w->back[probe].seen && knows_path(w, probe))
			w->back[probe].node = w->tree->parent[node];
		go_to(w, w->tree->parent[node]);
	}
	tell_enter(w, node, probe, event);
	w->open = probe;
	begin_stretch(w, (struct weave_place){.node = node});
}

/* The innermost open one, with all frames that were sampled in it. */
static void leave_probe(struct weave *w, const struct hyb_event *event)
{
	uint32_t probe = w->open, node = w->own[probe];

	if (event && w->options.record)
		w->options.record(w->options.data, event);
	if (w->options.frames)
		go_to(w, node);
	tell_leave(w, node, probe, event);
	w->open = outer_probe(w, probe);
	if (w->options.frames)
		begin_stretch(w, w->back[probe]);
	else
		w->current = w->open ? w->own[w->open] : 0;
}

/*
 * Makes `probe` the innermost open one. It is, as long as no record is missing; behind a gap, what is open on
 * both sides stays.
 */
static void agree(struct weave *w, uint32_t probe)
{
	uint32_t common = probe;

	if (probe == w->open)
		return;
	while (w->open != common) {
		if (w->open > common)
			leave_probe(w, NULL);
		else
			common = outer_probe(w, common);
	}
	while (w->open != probe) {
		uint32_t next = probe;

		while (outer_probe(w, next) != w->open)
			next = outer_probe(w, next);
		enter_probe(w, next, NULL);
	}
}

static void sample(struct weave *w, const struct hyb_event *event)
{
	uint32_t node = w->own[event->node];

	if (w->exact)
		agree(w, w->nodes[event->node].probe);
	if (w->options.sample)
		w->options.sample(w->options.data, node, event);
	if (!w->options.frames)
		return;
	go_to(w, node);
	w->away = false;
	w->sampled = true;
}

/* Without exact records: the instance that was sampled is over. */
static void complete(struct weave *w, uint32_t probe)
{
	uint32_t node = w->own[probe], at = w->current;

	if (!w->options.frames || !node)
		return;
	while (w->tree->depth[at] > w->tree->depth[node])
		at = w->tree->parent[at];
	if (at == node)
		go_to(w, w->tree->parent[node]);
}

/*
 * The time behind a probe goes to the frames of the last sample, not to the frames that called the probe, so
 * that frames have the same share of time as of samples. An exception: if the time between two probes is
 * short, and much shorter than the stretch of the sample, it is the caller's own code.
 */
void weave_until(struct weave *w, uint64_t time)
{
	uint64_t least = w->last.seen / STRETCH_PARTS;

	least = least < STRETCH_SHORT ? least : STRETCH_SHORT;
	if (!w->away || time <= w->since || time - w->since < least)
		return;
	w->away = false;
	go_to(w, w->last.node);
}

void weave_event(struct weave *w, const struct hyb_event *event)
{
	weave_until(w, event->time);
	if (event->time > w->time)
		w->time = event->time;
	switch ((enum hyb_event_kind)event->kind) {
	case HYB_EVENT_SAMPLE:
		sample(w, event);
		break;
	case HYB_EVENT_ENTER:
		agree(w, outer_probe(w, event->node));
		if (event->node) /* else the file is damaged: nobody enters or leaves the thread */
			enter_probe(w, event->node, event);
		break;
	case HYB_EVENT_LEAVE:
		agree(w, event->node);
		if (w->open)
			leave_probe(w, event);
		break;
	case HYB_EVENT_COMPLETE:
		complete(w, event->node);
		break;
	case HYB_EVENT_COUNTER:
	case HYB_EVENT_MARKER:
	case HYB_EVENT_GAP:
		break;
	default:
		agree(w, event->node);
		break;
	}
}

void weave_finish(struct weave *w)
{
	weave_until(w, w->location->end);
	if (w->location->end > w->time)
		w->time = w->location->end;
	agree(w, 0);
	if (w->options.frames)
		go_to(w, 0);
}
