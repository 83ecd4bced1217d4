#include "profile/weave.h"

#include <stdlib.h>

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
	};
	weave->path = malloc((tree->deepest + 1) * sizeof(*weave->path));
	weave->back = malloc(location->node_count * sizeof(*weave->back));
	return weave->path && weave->back ? 0 : HYB_ENOMEM;
}

void weave_release(struct weave *weave)
{
	free(weave->path);
	free(weave->back);
	weave->path = weave->back = NULL;
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

static uint32_t common_of(const struct weave_tree *tree, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (tree->depth[a] >= tree->depth[b])
			a = tree->parent[a];
		else
			b = tree->parent[b];
	}
	return a;
}

/*
 * Where the thread is when the probe is left: where it was, for what called the probe says nothing about the
 * time behind it. Outside of all probes and before the first sample, that is what all probes had in common.
 */
static uint32_t back_from(const struct weave *w, uint32_t node)
{
	uint32_t caller = w->tree->parent[node];

	if (w->open || w->sampled)
		return w->current;
	return w->current ? common_of(w->tree, w->current, caller) : caller;
}

static uint32_t outer_probe(const struct weave *w, uint32_t probe)
{
	return w->nodes[w->nodes[probe].parent].probe;
}

static void enter_probe(struct weave *w, uint32_t probe, const struct hyb_event *event)
{
	uint32_t node = w->own[probe];

	if (event && w->options.record)
		w->options.record(w->options.data, event);
	if (w->options.frames) {
		w->back[probe] = back_from(w, node);
		go_to(w, w->tree->parent[node]);
	}
	tell_enter(w, node, probe, event);
	w->open = probe;
}

/* The innermost open one, with all frames that were sampled in it, and those that only it was called by. */
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
		go_to(w, w->back[probe]);
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
	w->sampled |= !w->open;
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

void weave_event(struct weave *w, const struct hyb_event *event)
{
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
	if (w->location->end > w->time)
		w->time = w->location->end;
	agree(w, 0);
	if (w->options.frames)
		go_to(w, 0);
}
