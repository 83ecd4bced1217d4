/*
 * Chrome's trace events, as JSON: begins and ends, counters, instants, flows, and who is who. Times are
 * microseconds with the nanoseconds behind the point. Some readers (speedscope) sort what happens at one
 * moment by themselves, and wrongly: so a begin behind an end, and an end behind a begin, are one nanosecond
 * later at least.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "converters/events/convert_events.h"
#include "converters/formats.h"

#define INSIDE 16u /* ns behind where a call of MPI begins that are in it also if that is drawn later */
#define MICROSECONDS 3 /* digits of ns behind the point: see json_decimal() */
#define TOO_LARGE (200ull << 20) /* bytes; viewers of this format read it whole */

struct chrome {
	struct events_walk walk;
	const struct convert_job *job;
	const struct events_location *location;
	struct json json;
	uint64_t flows;
	uint64_t last; /* ns: the location's last begin or end */
	char last_phase; /* which of them; 0: there was none */
	bool noted;
};

static void begin_event(
	struct chrome *c, const char *phase, const struct events_location *location, uint64_t time)
{
	struct json *json = &c->json;

	json_row(json);
	json_text(json, "ph", phase);
	json_number(json, "pid", location->pid);
	json_number(json, "tid", location->tid);
	json_decimal(json, "ts", time, MICROSECONDS);
}

static void end_event(struct chrome *c)
{
	json_end(&c->json);
	if (c->noted || c->json.written < TOO_LARGE)
		return;
	c->noted = true;
	convert_note(c->job, "this is more than 200 MB, at which viewers of this format give up: take --to "
			     "perfetto, or less with --from, --until, --ranks or --samples none");
}

/* `phase`: "B" or "E". */
static void begin_slice(struct chrome *c, const char *phase, uint64_t time)
{
	if (c->last_phase && time <= c->last)
		time = c->last + (*phase != c->last_phase);
	c->last = time;
	c->last_phase = *phase;
	begin_event(c, phase, c->location, time);
}

/* Who is who. */
static void put_name(struct chrome *c, const char *what, const char *name)
{
	begin_event(c, "M", c->location, 0);
	json_text(&c->json, "name", what);
	json_object(&c->json, "args");
	json_text(&c->json, "name", name);
	json_end(&c->json);
	end_event(c);
}

static void put_place(struct chrome *c, const char *what, uint32_t index)
{
	begin_event(c, "M", c->location, 0);
	json_text(&c->json, "name", what);
	json_object(&c->json, "args");
	json_number(&c->json, "sort_index", index);
	json_end(&c->json);
	end_event(c);
}

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct chrome *c = data;
	bool new_process = !c->location || c->location->process != location->process;
	char name[300];

	c->location = location;
	c->last_phase = 0;
	if (new_process) {
		events_process_name(location->info->process, name, sizeof(name));
		put_name(c, "process_name", name);
		put_place(c, "process_sort_index", location->process);
	}
	events_thread_name(location->info, name, sizeof(name));
	put_name(c, "thread_name", name);
	put_place(c, "thread_sort_index", location->info->id);
	return 0;
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct chrome *c = data;

	begin_slice(c, "B", time);
	json_text(&c->json, "cat", events_category_names[events_category_of(&c->walk, node)]);
	json_text(&c->json, "name", events_node_name(&c->walk, node));
	end_event(c);
	return 0;
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct chrome *c = data;

	begin_slice(c, "E", time);
	json_text(&c->json, "name", events_node_name(&c->walk, node));
	end_event(c);
	return 0;
}

static int put_counter(
	void *data, uint64_t time, const struct events_counter *counter, union events_value value)
{
	struct chrome *c = data;
	char id[16];

	begin_event(c, "C", c->location, time);
	json_text(&c->json, "name", counter->name);
	if (!counter->process_wide) {
		snprintf(id, sizeof(id), "%" PRIu32, c->location->tid);
		json_text(&c->json, "id", id);
	}
	json_object(&c->json, "args");
	if (counter->real)
		json_real(&c->json, "value", value.real, 17);
	else
		json_signed(&c->json, "value", value.integer);
	json_end(&c->json);
	end_event(c);
	return 0;
}

static int marker(void *data, uint64_t time, const char *text)
{
	struct chrome *c = data;

	begin_event(c, "i", c->location, time);
	json_text(&c->json, "s", "t");
	json_text(&c->json, "cat", "marker");
	json_text(&c->json, "name", text);
	end_event(c);
	return 0;
}

/* One end of an arrow. */
static void begin_flow(struct chrome *c, const char *phase, const struct events_location *at, uint64_t time)
{
	begin_event(c, phase, at, time);
	json_text(&c->json, "cat", "message");
	json_text(&c->json, "name", "message");
	json_number(&c->json, "id", c->flows);
}

static int put_message(void *data, const struct events_message *message)
{
	struct chrome *c = data;
	uint64_t way = message->received > message->sent ? message->received - message->sent : 0;

	c->flows++;
	begin_flow(c, "s", message->from, message->sent + (way > INSIDE ? INSIDE : way));
	json_object(&c->json, "args");
	json_number(&c->json, "bytes", message->bytes);
	json_signed(&c->json, "tag", message->tag);
	json_end(&c->json);
	end_event(c);
	begin_flow(c, "f", message->to, message->received);
	json_text(&c->json, "bp", "e");
	end_event(c);
	return 0;
}

static int run(struct chrome *c, struct hyb_error *err)
{
	const struct events_sink sink = {
		.begin = begin,
		.enter = enter,
		.leave = leave,
		.counter = put_counter,
		.marker = marker,
		.message = put_message,
		.data = c,
	};
	struct json *json = &c->json;
	int r;

	json_object(json, NULL);
	json_text(json, "displayTimeUnit", "ns");
	json_list(json, "traceEvents");
	r = events_walk_run(&c->walk, &sink, err);
	json_line(json);
	json_end(json);
	json_line(json);
	json_object(json, "otherData");
	json_text(json, "exporter", "hybrid-convert");
	json_text(json, "experiment", hyb_experiment_path(c->job->experiment));
	convert_put_notes(c->job, json, "notes");
	json_end(json);
	json_end(json);
	fputc('\n', json->out);
	return r ? r : convert_check(c->job, err);
}

int chrome_write(const struct convert_job *job, struct hyb_error *err)
{
	struct chrome c = {.job = job, .json = {.out = job->file}};
	enum profile_mode mode = job->mode == PROFILE_CALLSITE ? PROFILE_CALLSITE : PROFILE_FUNCTION;
	int r = events_walk_make(job, mode, &c.walk, err);

	if (!r)
		r = run(&c, err);
	events_walk_release(&c.walk);
	return r;
}
