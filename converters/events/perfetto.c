/*
 * Perfetto's trace: packets one behind the other, so that it is written as it is made. Each location is a
 * sequence of its own, whose packets refer to names that earlier ones of it brought; the messages are one
 * more. A track is a process, a thread or a counter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converters/events/convert_events.h"
#include "converters/formats.h"
#include "converters/protobuf.h"

#define HELD (256u << 10) /* bytes between two writes */

/* Numbers of fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum { DEFAULTS_EVENT = 11 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_INTEGER = 30,
	EVENT_PLACE = 34,
	EVENT_DOUBLE = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, INTERNED_PLACE = 4 };
enum { NAMED_ID = 1, NAMED_NAME = 2 };
enum { PLACE_ID = 1, PLACE_FILE = 2, PLACE_FUNCTION = 3, PLACE_LINE = 4 };
enum { ANNOTATION_ID = 1, ANNOTATION_INTEGER = 4 };
enum {
	TRACK_ID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, UNIT_NS = 1, UNIT_BYTES = 3 };

static const char *const annotations[] = {"bytes", "tag", "rank"};
enum { BYTES = 1, TAG, RANK };

enum { SEND = 1, RECEIVE = 2 }; /* names in the sequence of messages */

struct perfetto {
	struct events_walk walk;
	const struct convert_job *job;
	const struct events_location *location;
	struct blob out, packet, message, inner; /* `message` is in a packet, `inner` in that */
	struct blob interned; /* what the next packet brings */
	uint8_t *brought; /* by node: the sequence knows it */
	bool process_named;
	struct row_map counters; /* uint64_t: tracks that are defined */
	uint32_t sequence;
	uint64_t flows;
};

/* ------------------------------------------------------------------- packets */

static int write_out(struct perfetto *p)
{
	bool failed = p->out.failed || p->packet.failed || p->message.failed || p->inner.failed;
	size_t written = p->out.size ? fwrite(p->out.data, 1, p->out.size, p->job->file) : 0;

	if (!failed && written < p->out.size)
		return HYB_EIO;
	p->out.size = 0;
	return failed ? HYB_ENOMEM : 0;
}

/* A packet of the sequence around what `message` holds. */
static int put_packet(struct perfetto *p, unsigned field, uint64_t flags)
{
	struct blob *packet = &p->packet;

	protobuf_number(packet, PACKET_SEQUENCE, p->sequence);
	protobuf_number(packet, PACKET_FLAGS, flags);
	if (p->interned.size)
		protobuf_message(packet, PACKET_INTERNED, &p->interned);
	protobuf_message(packet, field, &p->message);
	protobuf_message(&p->out, TRACE_PACKET, packet);
	return p->out.size < HELD && !p->out.failed ? 0 : write_out(p);
}

static int put_event(struct perfetto *p, uint64_t time)
{
	protobuf_number(&p->packet, PACKET_TIMESTAMP, time);
	return put_packet(p, PACKET_EVENT, FLAG_NEEDED);
}

static void bring(struct perfetto *p, unsigned field, uint64_t id, const char *name)
{
	protobuf_number(&p->inner, NAMED_ID, id);
	protobuf_text(&p->inner, NAMED_NAME, name);
	protobuf_message(&p->interned, field, &p->inner);
}

/* -------------------------------------------------------------------- tracks */

#define NOTES_TRACK 1u /* those of processes have higher numbers */

static uint64_t process_track(const struct events_location *location)
{
	return ((uint64_t)location->process + 1) << 40;
}

static uint64_t thread_track(const struct events_location *location)
{
	return process_track(location) | ((uint64_t)location->info->id + 1) << 16;
}

static int put_process_track(struct perfetto *p)
{
	const struct events_location *location = p->location;
	char name[300];

	events_process_name(location->info->process, name, sizeof(name));
	protobuf_number(&p->inner, PROCESS_PID, location->pid);
	protobuf_text(&p->inner, PROCESS_NAME, name);
	protobuf_number(&p->message, TRACK_ID, process_track(location));
	protobuf_message(&p->message, TRACK_PROCESS, &p->inner);
	return put_packet(p, PACKET_TRACK, FLAG_NEEDED);
}

static int put_thread_track(struct perfetto *p)
{
	const struct events_location *location = p->location;
	char name[300];

	events_thread_name(location->info, name, sizeof(name));
	protobuf_number(&p->inner, THREAD_PID, location->pid);
	protobuf_number(&p->inner, THREAD_TID, location->tid);
	protobuf_text(&p->inner, THREAD_NAME, name);
	protobuf_number(&p->message, TRACK_ID, thread_track(location));
	protobuf_number(&p->message, TRACK_PARENT, process_track(location));
	protobuf_message(&p->message, TRACK_THREAD, &p->inner);
	return put_packet(p, PACKET_TRACK, FLAG_NEEDED);
}

/* The first packet of a sequence: what all others of it have. */
static int begin_sequence(struct perfetto *p, uint64_t track)
{
	p->sequence++;
	protobuf_number(&p->inner, EVENT_TRACK, track);
	protobuf_message(&p->message, DEFAULTS_EVENT, &p->inner);
	return put_packet(p, PACKET_DEFAULTS, FLAG_CLEARED);
}

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct perfetto *p = data;
	bool new_process = !p->location || p->location->process != location->process;
	int r;

	p->location = location;
	memset(p->brought, 0, p->walk.node_count);
	for (unsigned i = 0; i < EVENTS_CATEGORIES; i++)
		bring(p, INTERNED_CATEGORY, i + 1, events_category_names[i]);
	r = begin_sequence(p, thread_track(location));
	if (!r && new_process)
		r = put_process_track(p);
	return r ? r : put_thread_track(p);
}

static int put_counter_track(struct perfetto *p, uint64_t track, const struct events_counter *counter)
{
	const struct events_location *location = p->location;
	bool rate = counter->real && counter->number < 16;
	char unit[100], name[300];

	snprintf(unit, sizeof(unit), "%s%s", counter->unit, rate ? "/s" : "");
	snprintf(name, sizeof(name), "%s%s", counter->name, rate ? " rate" : "");
	if (!strcmp(unit, "ns"))
		protobuf_number(&p->inner, COUNTER_UNIT, UNIT_NS);
	else if (!strcmp(unit, "B"))
		protobuf_number(&p->inner, COUNTER_UNIT, UNIT_BYTES);
	else if (*unit)
		protobuf_text(&p->inner, COUNTER_UNIT_NAME, unit);
	protobuf_number(&p->message, TRACK_ID, track);
	protobuf_number(&p->message, TRACK_PARENT,
		counter->process_wide ? process_track(location) : thread_track(location));
	protobuf_text(&p->message, TRACK_NAME, name);
	protobuf_message(&p->message, TRACK_COUNTER, &p->inner);
	return put_packet(p, PACKET_TRACK, FLAG_NEEDED);
}

static int put_counter(
	void *data, uint64_t time, const struct events_counter *counter, union events_value value)
{
	struct perfetto *p = data;
	uint64_t track = thread_track(p->location) | (counter->number + 1);
	size_t known = p->counters.count;
	int r = 0;

	if (counter->number >= 0xffff) { /* the program makes up names without end */
		p->walk.beyond++;
		return 0;
	}
	if (!row_map_row(&p->counters, &track))
		return HYB_ENOMEM;
	if (p->counters.count > known)
		r = put_counter_track(p, track, counter);
	protobuf_number(&p->message, EVENT_TYPE, TYPE_COUNTER);
	protobuf_number(&p->message, EVENT_TRACK, track);
	if (counter->real)
		protobuf_double(&p->message, EVENT_DOUBLE, value.real);
	else
		protobuf_signed(&p->message, EVENT_INTEGER, value.integer);
	return r ? r : put_event(p, time);
}

/* -------------------------------------------------------------------- slices */

/* The name and the place of a node, which have its number. */
static void bring_node(struct perfetto *p, uint32_t number)
{
	const struct profile_node *node = &p->walk.nodes[number];
	unsigned line = node->line ? node->line : node->declared;

	p->brought[number] = 1;
	bring(p, INTERNED_NAME, number, events_node_name(&p->walk, number));
	if (!*node->file)
		return;
	protobuf_number(&p->inner, PLACE_ID, number);
	protobuf_text(&p->inner, PLACE_FILE, node->file);
	protobuf_text(&p->inner, PLACE_FUNCTION, events_node_name(&p->walk, number));
	if (line)
		protobuf_number(&p->inner, PLACE_LINE, line);
	protobuf_message(&p->interned, INTERNED_PLACE, &p->inner);
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct perfetto *p = data;

	if (!p->brought[node])
		bring_node(p, node);
	protobuf_number(&p->message, EVENT_CATEGORY, events_category_of(&p->walk, node) + 1);
	protobuf_number(&p->message, EVENT_TYPE, TYPE_BEGIN);
	protobuf_number(&p->message, EVENT_NAME_ID, node);
	if (*p->walk.nodes[node].file)
		protobuf_number(&p->message, EVENT_PLACE, node);
	return put_event(p, time);
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct perfetto *p = data;

	protobuf_number(&p->message, EVENT_TYPE, TYPE_END);
	return put_event(p, time);
}

static int marker(void *data, uint64_t time, const char *text)
{
	struct perfetto *p = data;

	protobuf_number(&p->message, EVENT_TYPE, TYPE_INSTANT);
	protobuf_text(&p->message, EVENT_NAME, text);
	return put_event(p, time);
}

/* ------------------------------------------------------------------ messages */

static void annotate(struct perfetto *p, unsigned name, int64_t value)
{
	protobuf_number(&p->inner, ANNOTATION_ID, name);
	protobuf_signed(&p->inner, ANNOTATION_INTEGER, value);
	protobuf_message(&p->message, EVENT_ANNOTATION, &p->inner);
}

/* A flow goes from one instant to another one: they stand in the slices of the calls. */
static int put_end(struct perfetto *p, const struct events_message *message, bool sends)
{
	const struct events_location *here = sends ? message->from : message->to;
	const struct events_location *there = sends ? message->to : message->from;

	annotate(p, BYTES, (int64_t)message->bytes);
	annotate(p, TAG, message->tag);
	annotate(p, RANK, (int32_t)there->info->process->rank);
	protobuf_number(&p->message, EVENT_CATEGORY, 1);
	protobuf_number(&p->message, EVENT_TYPE, TYPE_INSTANT);
	protobuf_number(&p->message, EVENT_NAME_ID, sends ? SEND : RECEIVE);
	protobuf_number(&p->message, EVENT_TRACK, thread_track(here));
	protobuf_fixed64(&p->message, sends ? EVENT_FLOW : EVENT_FLOW_END, p->flows);
	return put_event(p, sends ? message->sent : message->received);
}

static int begin_messages(struct perfetto *p)
{
	bring(p, INTERNED_CATEGORY, 1, "message");
	bring(p, INTERNED_NAME, SEND, "send");
	bring(p, INTERNED_NAME, RECEIVE, "receive");
	for (unsigned i = 0; i < sizeof(annotations) / sizeof(*annotations); i++)
		bring(p, INTERNED_ANNOTATION, i + 1, annotations[i]);
	return begin_sequence(p, 0);
}

static int put_message(void *data, const struct events_message *message)
{
	struct perfetto *p = data;
	int r = p->flows++ ? 0 : begin_messages(p);

	if (!r)
		r = put_end(p, message, true);
	return r ? r : put_end(p, message, false);
}

/* --------------------------------------------------------------------- notes */

/* A track of their own, below which each stands where the trace begins. */
static int put_notes(struct perfetto *p)
{
	const struct convert_notes *notes = p->job->notes;
	int r;

	if (!notes || !notes->count)
		return 0;
	r = begin_sequence(p, NOTES_TRACK);
	protobuf_number(&p->message, TRACK_ID, NOTES_TRACK);
	protobuf_text(&p->message, TRACK_NAME, "hybrid-convert");
	if (!r)
		r = put_packet(p, PACKET_TRACK, FLAG_NEEDED);
	for (size_t i = 0; !r && i < notes->count; i++)
		r = marker(p, p->job->bounds.from, notes->lines[i]);
	return r;
}

/* ----------------------------------------------------------------------- all */

static int run(struct perfetto *p, struct hyb_error *err)
{
	const struct events_sink sink = {
		.begin = begin,
		.enter = enter,
		.leave = leave,
		.counter = put_counter,
		.marker = marker,
		.message = put_message,
		.data = p,
	};
	int r;

	p->brought = calloc(p->walk.node_count, 1);
	r = p->brought ? events_walk_run(&p->walk, &sink, err) : convert_no_memory(err);
	if (r)
		return r;
	return put_notes(p) == HYB_ENOMEM || write_out(p) == HYB_ENOMEM ? convert_no_memory(err)
									: convert_check(p->job, err);
}

int perfetto_write(const struct convert_job *job, struct hyb_error *err)
{
	struct perfetto p = {
		.job = job, .counters = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}};
	enum profile_mode mode = job->mode == PROFILE_CALLSITE ? PROFILE_CALLSITE : PROFILE_FUNCTION;
	int r = events_walk_make(job, mode, &p.walk, err);

	if (!r)
		r = run(&p, err);
	events_walk_release(&p.walk);
	row_map_release(&p.counters);
	blob_release(&p.out);
	blob_release(&p.packet);
	blob_release(&p.message);
	blob_release(&p.inner);
	blob_release(&p.interned);
	free(p.brought);
	return r;
}
