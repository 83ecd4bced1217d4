/*
 * Chrome's trace events, as JSON: begins and ends, counters, instants, flows, and who is who. Times are
 * microseconds with the nanoseconds behind the point. Some readers (speedscope) sort what happens at one
 * moment by themselves, and wrongly: so a begin behind an end, and an end behind a begin, are one nanosecond
 * later at least.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "converters/events/convert_events.h"
#include "converters/formats.h"

#define INSIDE 16u /* ns behind where a call of MPI begins that are in it also if that is drawn later */
#define TOO_LARGE (200ull << 20) /* bytes; viewers of this format read it whole */

struct chrome {
	struct events_walk walk;
	const struct convert_job *job;
	const struct events_location *location;
	char **names; /* by node: as JSON, made when it is first entered; [0]: not used */
	uint64_t written; /* bytes */
	uint64_t flows;
	uint64_t last; /* ns: the location's last begin or end */
	char last_phase; /* which of them; 0: there was none */
	bool begun, told;
};

static void put(struct chrome *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct chrome *c, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vfprintf(c->job->file, format, arguments);
	va_end(arguments);
	c->written += n > 0 ? (uint64_t)n : 0;
	if (c->told || c->written < TOO_LARGE)
		return;
	c->told = true;
	convert_say(c->job, "this is more than 200 MB, at which viewers of this format give up: take --to "
			    "perfetto, or less with --from, --until, --ranks or --samples none");
}

/* A text as JSON, to be freed; NULL: memory is out. */
static char *quoted(const char *text)
{
	char *buffer = NULL;
	size_t size;
	FILE *out = open_memstream(&buffer, &size);

	if (!out)
		return NULL;
	json_string(out, text);
	if (!fclose(out))
		return buffer;
	free(buffer);
	return NULL;
}

static void put_begin(struct chrome *c, char phase, const struct events_location *location, uint64_t time)
{
	put(c, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
		c->begun ? ",\n" : "\n", phase, location->pid, location->tid, time / 1000,
		(unsigned)(time % 1000));
	c->begun = true;
}

static void put_slice(struct chrome *c, char phase, uint64_t time)
{
	if (c->last_phase && time <= c->last)
		time = c->last + (phase != c->last_phase);
	c->last = time;
	c->last_phase = phase;
	put_begin(c, phase, c->location, time);
}

/* A fact about who is who: `value` is JSON. */
static void put_fact(struct chrome *c, const char *what, const char *key, const char *value)
{
	put_begin(c, 'M', c->location, 0);
	put(c, ",\"name\":\"%s\",\"args\":{\"%s\":%s}}", what, key, value);
}

static int name_location(struct chrome *c, bool new_process)
{
	const struct hyb_location_info *info = c->location->info;
	char text[300], index[20], *process, *thread;
	int r = HYB_ENOMEM;

	events_process_name(info->process, text, sizeof(text));
	process = quoted(text);
	events_thread_name(info, text, sizeof(text));
	thread = quoted(text);
	if (process && thread) {
		snprintf(index, sizeof(index), "%" PRIu32, c->location->process);
		if (new_process) {
			put_fact(c, "process_name", "name", process);
			put_fact(c, "process_sort_index", "sort_index", index);
		}
		snprintf(index, sizeof(index), "%" PRIu32, info->id);
		put_fact(c, "thread_name", "name", thread);
		put_fact(c, "thread_sort_index", "sort_index", index);
		r = 0;
	}
	free(process);
	free(thread);
	return r;
}

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct chrome *c = data;
	bool new_process = !c->location || c->location->process != location->process;

	c->location = location;
	c->last_phase = 0;
	return name_location(c, new_process);
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct chrome *c = data;
	if (!c->names[node])
		c->names[node] = quoted(events_node_name(&c->walk, node));
	if (!c->names[node])
		return HYB_ENOMEM;
	put_slice(c, 'B', time);
	put(c, ",\"cat\":\"%s\",\"name\":%s}", events_category_names[events_category_of(&c->walk, node)],
		c->names[node]);
	return 0;
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct chrome *c = data;

	put_slice(c, 'E', time);
	put(c, ",\"name\":%s}", c->names[node] ? c->names[node] : "\"\"");
	return 0;
}

static int put_counter(
	void *data, uint64_t time, const struct events_counter *counter, union events_value value)
{
	struct chrome *c = data;
	char *name = quoted(counter->name);

	if (!name)
		return HYB_ENOMEM;
	put_begin(c, 'C', c->location, time);
	put(c, ",\"name\":%s,", name);
	if (!counter->process_wide)
		put(c, "\"id\":\"%" PRIu32 "\",", c->location->tid);
	if (counter->real)
		put(c, "\"args\":{\"value\":%.17g}}", value.real);
	else
		put(c, "\"args\":{\"value\":%" PRId64 "}}", value.integer);
	free(name);
	return 0;
}

static int marker(void *data, uint64_t time, const char *text)
{
	struct chrome *c = data;
	char *name = quoted(text);

	if (!name)
		return HYB_ENOMEM;
	put_begin(c, 'i', c->location, time);
	put(c, ",\"s\":\"t\",\"cat\":\"marker\",\"name\":%s}", name);
	free(name);
	return 0;
}

static int put_message(void *data, const struct events_message *message)
{
	struct chrome *c = data;
	uint64_t way = message->received > message->sent ? message->received - message->sent : 0;

	c->flows++;
	put_begin(c, 's', message->from, message->sent + (way > INSIDE ? INSIDE : way));
	put(c,
		",\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64 ",\"args\":{\"bytes\":%" PRIu64
		",\"tag\":%" PRId32 "}}",
		c->flows, message->bytes, message->tag);
	put_begin(c, 'f', message->to, message->received);
	put(c, ",\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64 ",\"bp\":\"e\"}", c->flows);
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
	struct json json = {.out = c->job->file};
	int r;

	c->names = calloc(c->walk.node_count, sizeof(*c->names));
	if (!c->names)
		return convert_no_memory(err);
	fputs("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[", c->job->file);
	r = events_walk_run(&c->walk, &sink, err);
	fputs("\n],\n\"otherData\":", c->job->file);
	json_object(&json, NULL);
	json_text(&json, "exporter", "hybrid-convert");
	json_text(&json, "experiment", hyb_experiment_path(c->job->experiment));
	convert_put_notes(c->job, &json, "notes");
	json_end(&json);
	fputs("}\n", c->job->file);
	return r ? r : convert_check(c->job, err);
}

int chrome_write(const struct convert_job *job, struct hyb_error *err)
{
	struct chrome c = {.job = job};
	enum profile_mode mode = job->mode == PROFILE_CALLSITE ? PROFILE_CALLSITE : PROFILE_FUNCTION;
	int r = events_walk_make(job, mode, &c.walk, err);

	if (!r)
		r = run(&c, err);
	for (size_t i = 0; c.names && i < c.walk.node_count; i++)
		free(c.names[i]);
	free(c.names);
	events_walk_release(&c.walk);
	return r;
}
