/* Enters and leaves of one location, as weave.h finds them; and what is held back while a call of MPI runs.
 */
#include <stddef.h>
#include <stdlib.h>

#include "converters/otf2/events.h"
#include "format/format.h"

#define LOOK 4096u /* records between two reports of progress */

/* OTF2's unwind distance: 1 and how many regions were entered since the last event. */
static uint32_t distance_to(const struct writer *w, uint32_t node)
{
	const uint32_t *parent = w->o->tree.parent, *depth = w->o->tree.depth;
	uint32_t from = w->current, to = node, n = 1;

	for (; depth[from] > depth[to]; from = parent[from])
		;
	for (; depth[to] > depth[from]; to = parent[to])
		n++;
	for (; from != to; from = parent[from], to = parent[to])
		n++;
	return n;
}

static void on_record(void *data, const struct hyb_event *e)
{
	otf2_write_metrics(data, e->values);
}

/* Between its enter and its leave nothing was measured in the thread. */
static bool is_pause(const struct writer *w, uint32_t probe)
{
	return probe && w->nodes[probe].type == HYB_TYPE_REGION &&
	       w->nodes[probe].region->kind == HYB_REGION_PAUSED;
}

static void on_enter(void *data, uint32_t node, uint32_t probe, const struct hyb_event *e)
{
	struct writer *w = data;

	if (w->samples == CONVERT_CONTEXT)
		WRITE(w, CallingContextEnter, NULL, w->time, node - 1, distance_to(w, node));
	else
		WRITE(w, Enter, NULL, w->time, w->o->region[node]);
	w->current = node;
	if (is_pause(w, probe))
		WRITE(w, MeasurementOnOff, NULL, w->time, OTF2_MEASUREMENT_OFF);
}

/* The list that goes with the leave of a call that failed. */
static OTF2_AttributeList *take_attributes(struct writer *w)
{
	if (!w->failed)
		return NULL;
	OTF2_AttributeList_AddInt64(w->attributes, ATTRIBUTE_ERROR, w->failed);
	w->failed = 0;
	return w->attributes;
}

static void on_leave(void *data, uint32_t node, uint32_t probe, const struct hyb_event *e)
{
	struct writer *w = data;
	OTF2_AttributeList *list = probe ? take_attributes(w) : NULL;

	if (is_pause(w, probe))
		WRITE(w, MeasurementOnOff, NULL, w->time, OTF2_MEASUREMENT_ON);
	if (w->samples == CONVERT_CONTEXT)
		WRITE(w, CallingContextLeave, list, w->time, node - 1);
	else
		WRITE(w, Leave, list, w->time, w->o->region[node]);
	w->current = w->o->tree.parent[node];
}

static void on_sample(void *data, uint32_t node, const struct hyb_event *e)
{
	struct writer *w = data;
	unsigned generator = e->overflow <= 16 ? e->overflow : 0;

	otf2_write_metrics(w, e->values);
	if (w->samples != CONVERT_CONTEXT || !node)
		return;
	WRITE(w, CallingContextSample, NULL, w->time, node - 1, distance_to(w, node),
		w->location->process->generator[generator]);
	w->current = node;
}

/* The rest of a call is written: what was held back. */
static int release_held(struct writer *w)
{
	int r = 0;

	w->holding = false;
	for (size_t i = 0; !r && i < w->held_count; i++) {
		const struct hyb_event *e = &w->held[i].event;

		if (e->time > w->time)
			w->time = e->time;
		if (e->kind == HYB_EVENT_SAMPLE)
			weave_event(&w->weave, e);
		else if (e->kind == HYB_EVENT_COUNTER)
			r = otf2_write_counter(w, e);
		else
			otf2_mpi_end(w, e);
	}
	w->held_count = 0;
	return r;
}

static int hold(struct writer *w, const struct hyb_event *e)
{
	struct held *held;

	if (w->held_count == HELD_MOST) {
		atomic_fetch_add_explicit(&w->o->totals.late, 1, memory_order_relaxed);
		return 1;
	}
	held = &w->held[w->held_count++];
	held->event = *e;
	if (e->values) {
		size_t count = w->location->process->info->metric_count;

		for (size_t i = 0; i < count && i < 16; i++)
			held->values[i] = e->values[i];
		held->event.values = held->values;
	}
	return 0;
}

/* 1: it has to be written now; 0: it waits, or has no effect; or HYB_ENOMEM. */
static int hold_sample(struct writer *w, const struct hyb_event *e)
{
	if (w->samples == CONVERT_ENTER_LEAVE && w->own[e->node] != w->current)
		return 1;
	if (w->samples != CONVERT_CONTEXT && !e->values)
		return 0;
	return hold(w, e);
}

/*
 * While a call of MPI runs, what it did is not known, but the records of its beginning have to stand in front
 * of what happens in it. 1: the event is to be written now; 0: it was taken care of; or HYB_ENOMEM.
 */
static int while_holding(struct writer *w, const struct hyb_event *e)
{
	int r = 1;

	if (e->kind == HYB_EVENT_SAMPLE)
		r = hold_sample(w, e);
	else if (e->kind == HYB_EVENT_COUNTER)
		r = hold(w, e);
	else if (e->kind == HYB_EVENT_MARKER)
		return 1;
	else if (hyb_event_is_mpi(e->kind) && e->node == w->call) {
		r = otf2_mpi_begin(w, e);
		if (r || !otf2_mpi_ends(e))
			return r;
		r = hold(w, e);
		if (!r)
			return 0;
		r = release_held(w);
		if (e->time > w->time)
			w->time = e->time;
		otf2_mpi_end(w, e);
		return r;
	}
	if (r > 0 && release_held(w))
		return HYB_ENOMEM;
	return r;
}

/* 0 or HYB_ENOMEM. */
static int write_event(struct writer *w, const struct hyb_event *e)
{
	int r;

	if (w->holding) {
		r = while_holding(w, e);
		if (r <= 0)
			return r;
	}
	weave_until(&w->weave, e->time);
	if (e->time > w->time)
		w->time = e->time;
	weave_event(&w->weave, e);
	switch ((enum hyb_event_kind)e->kind) {
	case HYB_EVENT_ENTER:
		w->holding = w->nodes[e->node].type == HYB_TYPE_REGION && w->nodes[e->node].region->mpi;
		w->call = e->node;
		return 0;
	case HYB_EVENT_SAMPLE:
	case HYB_EVENT_LEAVE:
	case HYB_EVENT_COMPLETE:
		return 0;
	case HYB_EVENT_COUNTER:
		return otf2_write_counter(w, e);
	case HYB_EVENT_MARKER:
		return otf2_write_marker(w, e);
	case HYB_EVENT_GAP:
		atomic_fetch_add_explicit(&w->o->totals.gaps, 1, memory_order_relaxed);
		return 0;
	default:
		r = otf2_mpi_begin(w, e);
		if (!r)
			otf2_mpi_end(w, e);
		return r;
	}
}

/* Everything ends with the thread, also where it was killed. */
static int finish(struct writer *w)
{
	int r = release_held(w);

	weave_until(&w->weave, w->location->info->end);
	if (w->location->info->end > w->time)
		w->time = w->location->info->end;
	weave_finish(&w->weave);
	return r;
}

static int write_all(struct writer *w, struct hyb_events *events)
{
	struct otf2 *o = w->o;
	struct hyb_event event;
	unsigned n = 0;
	int r, result;

	while ((result = hyb_events_next(events, &event)) > 0) {
		r = write_event(w, &event);
		if (r)
			return r;
		if (++n < LOOK)
			continue;
		atomic_fetch_add_explicit(&o->done, n, memory_order_relaxed);
		n = 0;
		if (w->bad || *o->job->stop || atomic_load_explicit(&o->failed, memory_order_relaxed))
			return HYB_EIO;
	}
	atomic_fetch_add_explicit(&o->done, n, memory_order_relaxed);
	return result ? result : finish(w);
}

static void writer_release(struct writer *w)
{
	otf2_mpi_release(w);
	row_map_release(&w->counters);
	if (w->attributes)
		OTF2_AttributeList_Delete(w->attributes);
	free(w->held);
	weave_release(&w->weave);
}

static int writer_init(struct writer *w, struct otf2 *o, struct otf2_location *location)
{
	const struct hyb_location_info *info = location->info;
	struct weave_options options = {.frames = o->job->samples == CONVERT_ENTER_LEAVE,
		.enter = on_enter,
		.leave = on_leave,
		.sample = on_sample,
		.record = on_record,
		.data = w};

	*w = (struct writer){
		.o = o,
		.location = location,
		.nodes = info->nodes,
		.own = location->own,
		.samples = o->job->samples,
		.time = info->start,
		.last_time = {info->start, info->start},
	};
	w->counters.row_size = 4 * sizeof(uint64_t);
	w->counters.key_size = 3 * sizeof(uint64_t);
	w->operations.row_size = sizeof(struct operations);
	w->operations.key_size = offsetof(struct operations, next);
	w->held = malloc(HELD_MOST * sizeof(*w->held));
	w->attributes = OTF2_AttributeList_New();
	if (weave_init(&w->weave, &o->tree, info, location->own, &options))
		return HYB_ENOMEM;
	return w->held && w->attributes ? 0 : HYB_ENOMEM;
}

static void note_span(struct otf2 *o, const struct writer *w)
{
	pthread_mutex_lock(&o->lock);
	if (w->location->info->start < o->start)
		o->start = w->location->info->start;
	if (w->time > o->end)
		o->end = w->time;
	pthread_mutex_unlock(&o->lock);
}

int otf2_events_write(struct otf2 *o, struct otf2_location *location, struct hyb_error *err)
{
	struct writer w;
	struct hyb_events *events = hyb_events_open(o->job->experiment, location->info, false, err);
	int r = events ? writer_init(&w, o, location) : err->code;

	if (!events)
		return r;
	if (!r) {
		w.out = OTF2_Archive_GetEvtWriter(o->archive, (uint64_t)(location - o->locations));
		w.bad = !w.out;
		r = w.out ? write_all(&w, events) : HYB_EIO;
	}
	if (w.out) {
		w.bad |= OTF2_EvtWriter_GetNumberOfEvents(w.out, &location->events) != OTF2_SUCCESS;
		w.bad |= OTF2_Archive_CloseEvtWriter(o->archive, w.out) != OTF2_SUCCESS;
	}
	note_span(o, &w);
	if (!r && w.bad)
		r = HYB_EIO;
	if (r == HYB_ENOMEM)
		convert_no_memory(err);
	writer_release(&w);
	hyb_events_close(events);
	return r;
}
