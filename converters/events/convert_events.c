#include "converters/events/convert_events.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "converters/formats.h"
#include "format/format.h"
#include "profile/metrics/figures.h"
#include "profile/origin.h"
#include "base/error.h"
#include "session/session.h"

#define LOOK 4096u /* records between two reports of progress */
#define OWN_NUMBERS 0x40000000u /* above all that Linux gives to threads */
#define METRICS 16u

/* ------------------------------------------------------------- who takes part */

static bool is_selected(void *data, const struct hyb_location_info *info)
{
	const struct convert_bounds *bounds = &((const struct events_walk *)data)->job->bounds;

	return !bounds->select || bounds->select(bounds->data, info);
}

static int list_locations(struct events_walk *walk)
{
	const struct profile_part *parts = profile_parts(walk->profile, &walk->location_count);
	struct events_location *last = NULL;

	walk->locations = calloc(walk->location_count + 1, sizeof(*walk->locations));
	if (!walk->locations)
		return HYB_ENOMEM;
	for (size_t i = 0; i < walk->location_count; i++) {
		struct events_location *location = &walk->locations[i];

		*location = (struct events_location){
			.info = parts[i].location, .own = parts[i].nodes, .first = true};
		if (last && last->info->process == location->info->process) {
			location->first = false;
			location->process = last->process;
			location->origin = last->origin;
		} else {
			location->process = last ? last->process + 1 : 0;
			location->origin = origin_of(location->info->process);
		}
		walk->total += location->info->events;
		last = location;
	}
	return 0;
}

/* `wanted`, or one of our own if that is taken; UINT32_MAX: memory is out. */
static uint32_t free_number(struct row_map *taken, uint32_t wanted)
{
	uint64_t number = wanted;

	for (;;) {
		size_t count = taken->count;

		if (!row_map_row(taken, &number))
			return UINT32_MAX;
		if (taken->count > count)
			return (uint32_t)number;
		number = OWN_NUMBERS + count;
	}
}

/* Hosts have the same numbers, and so have programs that one process ran one after the other. */
static int number_all(struct events_walk *walk)
{
	struct row_map pids = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}, tids = pids;
	int r = 0;

	for (size_t i = 0; i < walk->location_count && !r; i++) {
		struct events_location *location = &walk->locations[i];
		const struct hyb_location_info *info = location->info;

		location->pid =
			location->first ? free_number(&pids, info->process->pid) : walk->locations[i - 1].pid;
		location->tid =
			free_number(&tids, info->tid == info->process->pid ? location->pid : info->tid);
		if (location->pid == UINT32_MAX || location->tid == UINT32_MAX)
			r = HYB_ENOMEM;
	}
	row_map_release(&pids);
	row_map_release(&tids);
	return r;
}

static int make(const struct convert_job *job, enum profile_mode mode, struct events_walk *walk,
	struct hyb_error *err)
{
	struct profile_options options = {.mode = mode, .select = is_selected, .data = walk, .parts = true};
	int r = session_name(job->experiment, NULL, &walk->symbols, err);

	if (!r)
		r = session_add(&(struct session_input){job->experiment, walk->symbols}, 1, &options,
			&walk->profile, err);
	if (r)
		return r;
	walk->nodes = profile_nodes(walk->profile);
	walk->node_count = profile_count(walk->profile);
	walk->kinds = convert_region_kinds(walk->profile);
	if (!walk->kinds || list_locations(walk) ||
		weave_tree_make(&walk->tree, walk->nodes, walk->node_count) || number_all(walk))
		return convert_no_memory(err);
	return convert_check(job, err);
}

int events_walk_make(const struct convert_job *job, enum profile_mode mode, struct events_walk *walk,
	struct hyb_error *err)
{
	*walk = (struct events_walk){.job = job};
	if (job->samples == CONVERT_CONTEXT)
		return error_set(err, HYB_EFORMAT,
			"this format has no calling contexts of samples: use --samples enter-leave or none");
	return make(job, mode, walk, err);
}

void events_walk_release(struct events_walk *walk)
{
	free(walk->locations);
	free(walk->kinds);
	weave_tree_release(&walk->tree);
	strings_release(&walk->strings);
	profile_free(walk->profile);
	hyb_symbols_close(walk->symbols);
	*walk = (struct events_walk){0};
}

/* -------------------------------------------------------------- one location */

struct known_counter {
	const char *name, *unit; /* of the walk; the key, with: */
	uint64_t real;
	struct events_counter counter;
};

struct running {
	struct events_walk *walk;
	const struct events_sink *sink;
	const struct events_location *location;
	struct weave weave;
	uint64_t from, to; /* of the window, ns since the start */
	bool live; /* in the window */
	uint32_t *open; /* nodes that are entered and not left; grown by ARRAY_ROOM */
	size_t depth;
	struct row_map counters; /* of the program */
	struct events_counter metrics[METRICS];
	union events_value shown[METRICS]; /* the last values that were handed out */
	bool known[METRICS]; /* whether that is */
	int64_t last[METRICS]; /* read at last_time */
	uint64_t last_time;
	int result;
};

/* Keeps the first failure. */
static void check(struct running *r, int result)
{
	if (!r->result)
		r->result = result;
}

static uint64_t since_start(const struct running *r, uint64_t time)
{
	return time > r->location->origin ? time - r->location->origin : 0;
}

static void on_enter(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	struct running *r = data;

	if (!ARRAY_ROOM(r->open, r->depth)) {
		check(r, HYB_ENOMEM);
		return;
	}
	r->open[r->depth++] = node;
	if (r->live && !r->result && r->sink->enter)
		check(r, r->sink->enter(r->sink->data, since_start(r, r->weave.time), node));
}

static void on_leave(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	struct running *r = data;

	if (!r->depth)
		return; /* memory was out */
	r->depth--;
	if (r->live && !r->result && r->sink->leave)
		check(r, r->sink->leave(r->sink->data, since_start(r, r->weave.time), node));
}

static void on_sample(void *data, uint32_t node, const struct hyb_event *event)
{
	struct running *r = data;

	if (r->live && !r->result && r->sink->sample)
		check(r, r->sink->sample(r->sink->data, since_start(r, r->weave.time), node, event));
}

static void enter_window(struct running *r)
{
	r->live = true;
	for (size_t i = 0; i < r->depth && r->sink->enter && !r->result; i++)
		check(r, r->sink->enter(r->sink->data, r->from, r->open[i]));
}

static void leave_window(struct running *r)
{
	while (r->depth--)
		if (r->sink->leave && !r->result)
			check(r, r->sink->leave(r->sink->data, r->to, r->open[r->depth]));
	r->depth = 0;
}

static void tell_metric(struct running *r, uint64_t time, unsigned i, int64_t value, uint64_t ns)
{
	const struct events_counter *counter = &r->metrics[i];
	union events_value shown = {.integer = value};

	if (counter->real)
		shown.real = convert_rate(r->last[i], value, ns);
	if (!r->live || (r->known[i] && r->shown[i].integer == shown.integer))
		return;
	r->known[i] = true;
	r->shown[i] = shown;
	check(r, r->sink->counter(r->sink->data, time, counter, shown));
}

/* Hands out metrics that have changed; those of the whole process with its first thread only. */
static void tell_metrics(struct running *r, uint64_t time, const struct hyb_event *event)
{
	const struct hyb_process *process = r->location->info->process;
	bool rates = r->walk->job->counters == CONVERT_RATE;

	if (!event->values || !r->sink->counter || (rates && event->time <= r->last_time))
		return;
	for (unsigned i = 0; i < process->metric_count && i < METRICS; i++) {
		if (process->metrics[i].process_wide && !r->location->first)
			continue;
		tell_metric(r, time, i, event->values[i], event->time - r->last_time);
		r->last[i] = event->values[i];
	}
	r->last_time = event->time;
}

static void tell_counter(struct running *r, uint64_t time, const struct hyb_event *event)
{
	struct known_counter *row, key = {.name = strings_get(&r->walk->strings, event->text),
					   .unit = strings_get(&r->walk->strings, event->unit),
					   .real = event->is_double};
	union events_value value;

	if (!r->live || !r->sink->counter)
		return;
	if (event->is_double && !isfinite(event->value.real)) {
		r->walk->no_numbers++;
		return;
	}
	row = key.name && key.unit ? row_map_row(&r->counters, &key) : NULL;
	if (!row) {
		check(r, HYB_ENOMEM);
		return;
	}
	row->counter = (struct events_counter){key.name, key.unit,
		METRICS + (uint32_t)(row - (struct known_counter *)r->counters.rows), false,
		event->is_double};
	if (event->is_double)
		value.real = event->value.real;
	else
		value.integer = event->value.integer;
	check(r, r->sink->counter(r->sink->data, time, &row->counter, value));
}

/* False: the window is over. */
static bool take(struct running *r, const struct hyb_event *event)
{
	uint64_t time = since_start(r, event->time > r->weave.time ? event->time : r->weave.time);

	weave_until(&r->weave, event->time);
	if (time >= r->to)
		return false;
	if (!r->live && time >= r->from)
		enter_window(r);
	r->walk->outside += !r->live;
	tell_metrics(r, time, event);
	if (event->kind == HYB_EVENT_COUNTER)
		tell_counter(r, time, event);
	else if (event->kind == HYB_EVENT_MARKER && r->live && r->sink->marker)
		check(r, r->sink->marker(r->sink->data, time, event->text));
	else if (event->kind == HYB_EVENT_GAP)
		r->walk->gaps++;
	weave_event(&r->weave, event);
	return true;
}

/* Everything ends with the thread, also where it was killed, or with the window. */
static void finish(struct running *r, bool over)
{
	uint64_t end = since_start(r, r->location->info->end);
	uint64_t last = since_start(r, r->weave.time);

	weave_until(&r->weave, r->location->info->end);
	r->walk->cut |= over || end > r->to;
	end = over || end > r->to ? r->to : end > last ? end : last;
	if (!r->live && end >= r->from)
		enter_window(r);
	if (end == r->to)
		leave_window(r);
	else
		weave_finish(&r->weave);
	if (r->sink->end)
		check(r, r->sink->end(r->sink->data, end));
}

static int run_events(struct running *r, struct hyb_events *events, struct hyb_error *err)
{
	uint64_t read = 0;
	struct hyb_event event;
	bool over = false;
	int more;

	while (!over && (more = hyb_events_next(events, &event)) != 0) {
		if (more < 0)
			return more;
		over = !take(r, &event);
		read += !over;
		if (r->result)
			return r->result;
		if (events_walk_progress(r->walk, err))
			return err->code;
	}
	if (over) {
		r->walk->outside += r->location->info->events - read;
		r->walk->done += r->location->info->events - read;
	}
	finish(r, over);
	return r->result;
}

static void name_metrics(struct running *r)
{
	const struct hyb_process *process = r->location->info->process;

	r->last_time = r->location->info->start;
	for (unsigned i = 0; i < process->metric_count && i < METRICS; i++) {
		const struct hyb_metric *metric = &process->metrics[i];

		r->metrics[i] = (struct events_counter){strings_get(&r->walk->strings, metric->name),
			strings_get(&r->walk->strings, metric->unit), i, metric->process_wide,
			r->walk->job->counters == CONVERT_RATE && !metric->level};
		if (!r->metrics[i].name || !r->metrics[i].unit)
			check(r, HYB_ENOMEM);
	}
}

static int run_location(struct running *r, struct hyb_error *err)
{
	struct hyb_events *events = hyb_events_open(r->walk->job->experiment, r->location->info, false, err);
	int result = events ? run_events(r, events, err) : err->code;

	hyb_events_close(events);
	return result;
}

/* 0, or enum hyb_result; *err may be empty. */
static int walk_location(struct events_walk *walk, const struct events_location *location,
	const struct events_sink *sink, struct hyb_error *err)
{
	const struct convert_bounds *bounds = &walk->job->bounds;
	const struct weave_options options = {
		.frames = walk->job->samples != CONVERT_NONE,
		.enter = on_enter,
		.leave = on_leave,
		.sample = on_sample,
	};
	struct running r = {.walk = walk,
		.sink = sink,
		.location = location,
		.from = bounds->from,
		.to = bounds->to ? bounds->to : UINT64_MAX,
		.counters = {.row_size = sizeof(struct known_counter),
			.key_size = offsetof(struct known_counter, counter)}};
	uint64_t start = since_start(&r, location->info->start);
	int result = 0;

	walk->cut |= start < r.from || start >= r.to;
	if (start >= r.to || since_start(&r, location->info->end) < r.from) {
		walk->outside += location->info->events;
		walk->done += location->info->events;
		return 0;
	}
	if (sink->begin)
		result = sink->begin(sink->data, location, start > r.from ? start : r.from);
	if (!result)
		result = weave_init(&r.weave, &walk->tree, location->info, location->own, &options);
	r.weave.options.data = &r;
	name_metrics(&r);
	if (!result)
		result = r.result ? r.result : run_location(&r, err);
	weave_release(&r.weave);
	row_map_release(&r.counters);
	free(r.open);
	return result > 0 ? 0 : result;
}

/* ---------------------------------------------------------------------- all */

bool events_in_window(const struct convert_bounds *bounds, uint64_t time)
{
	return time >= bounds->from && (!bounds->to || time < bounds->to);
}

int events_walk_progress(struct events_walk *walk, struct hyb_error *err)
{
	const struct convert_job *job = walk->job;

	if (++walk->done - walk->reported < LOOK)
		return 0;
	walk->reported = walk->done;
	if (job->progress)
		job->progress(job->data, walk->done, walk->total);
	return convert_check(job, err);
}

static void note_count(const struct events_walk *walk, uint64_t count, const char *what)
{
	char number[FIGURE_SIZE];

	if (count)
		convert_note(walk->job, "%s %s", figure_number(count, number), what);
}

/* What was open before is cut, also where no record was. */
static void say_window(const struct events_walk *walk)
{
	const double from = (double)walk->job->bounds.from * 1e-9, to = (double)walk->job->bounds.to * 1e-9;
	char before[50] = "", after[50] = "", number[FIGURE_SIZE];

	if (from > 0)
		snprintf(before, sizeof(before), " before %.9g s%s", from, to > 0 ? " or" : "");
	if (to > 0)
		snprintf(after, sizeof(after), " after %.9g s", to);
	if (walk->cut)
		convert_note(walk->job, "what was%s%s is left out: %s records", before, after,
			figure_number(walk->outside, number));
}

static void say_all(const struct events_walk *walk)
{
	say_window(walk);
	note_count(
		walk, walk->left_out, "messages that begin or end outside of what was chosen are left out");
	note_count(walk, walk->no_numbers, "values of counters that are no numbers are left out");
	note_count(walk, walk->beyond,
		"values of counters are left out: their thread has more counters than fit");
	note_count(walk, walk->gaps,
		"times records are missing from the trace: regions are closed as the records behind require");
}

int events_walk_run(struct events_walk *walk, const struct events_sink *sink, struct hyb_error *err)
{
	int r = 0;

	err->code = 0;
	if (sink->message && events_walk_has_messages(walk))
		walk->total *= 2;
	for (size_t i = 0; i < walk->location_count && !r; i++)
		r = walk_location(walk, &walk->locations[i], sink, err);
	if (!r && sink->message && events_walk_has_messages(walk))
		r = events_walk_messages(walk, sink, err);
	if (r == HYB_ENOMEM)
		return convert_no_memory(err);
	if (!r || !err->code)
		r = convert_check(walk->job, err) ? err->code : r;
	if (r && !err->code)
		return error_set(
			err, r, "events of %s cannot be read", hyb_experiment_path(walk->job->experiment));
	if (r)
		return r;
	say_all(walk);
	return 0;
}

const char *const events_category_names[EVENTS_CATEGORIES] = {"sampled", "probe", "mpi", "wait", "python"};

enum events_category events_category_of(const struct events_walk *walk, uint32_t node)
{
	if (walk->nodes[node].python)
		return EVENTS_PYTHON;
	if (walk->nodes[node].kind != PROFILE_PROBE)
		return EVENTS_SAMPLED;
	switch (walk->kinds[node]) {
	case HYB_REGION_MPI:
		return EVENTS_MPI;
	case HYB_REGION_WAIT:
		return EVENTS_WAIT;
	case HYB_REGION_PYTHON:
		return EVENTS_PYTHON;
	default:
		return EVENTS_PROBE;
	}
}

const char *events_node_name(const struct events_walk *walk, uint32_t node)
{
	return *walk->nodes[node].name ? walk->nodes[node].name : "[unknown]";
}

void events_process_name(const struct hyb_process *process, char *text, size_t size)
{
	const char *program = profile_program(process);

	if (process->rank != HYB_RANK_NONE)
		snprintf(text, size, "rank %" PRIu32 "%s%s", process->rank, *program ? " " : "", program);
	else
		snprintf(text, size, "%s", *program ? program : "process");
}

void events_thread_name(const struct hyb_location_info *location, char *text, size_t size)
{
	if (*location->name)
		snprintf(text, size, "%s", location->name);
	else
		snprintf(text, size, "thread %" PRIu32, location->tid);
}
