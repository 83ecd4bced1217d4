#include "reader/stream.h"

#include <stdlib.h>

#include "base/array.h"

/* Once a chunk, and only in one of two passes. */
static void note(struct stream *s, const char *what)
{
	if (s->quiet || s->chunk->noted)
		return;
	s->chunk->noted = true;
	damage_add(s->process->damage, s->process->file.path, s->chunk->offset + trace_offset(&s->trace),
		"%s", what);
}

static uint32_t parent_probe(const struct stream *s, uint32_t probe)
{
	const struct hyb_node_info *nodes = s->info->nodes;

	return nodes[nodes[probe].parent].probe;
}

static uint32_t probe_index(struct stream *s, uint32_t id)
{
	uint32_t index = location_node(s->location, id, &s->hint);

	return index != NODE_NONE && s->info->nodes[index].probe == index ? index : NODE_NONE;
}

/* ----------------------------------------------------------------- chunks */

static void begin_chunk(struct stream *s, size_t length)
{
	uint64_t floor = s->trace.tick;
	uint32_t region;

	trace_init(&s->trace, s->buffer, length);
	s->gap |= s->trace.start.lost != 0;
	if (s->trace.tick < floor) {
		if (s->trace.pos < s->trace.end)
			note(s, "a trace chunk begins before the end of the one in front");
		s->trace.tick = floor;
	}
	region = s->trace.start.region;
	s->region = region ? probe_index(s, region) : 0;
	if (s->region == NODE_NONE) {
		note(s, "a trace chunk begins in an unknown region");
		s->region = 0;
	}
}

/* 1: the next chunk is in the buffer; 0: there is none; HYB_ENOMEM. */
static int load_chunk(struct stream *s)
{
	struct damage ignored = {.count = DAMAGE_TEXTS};
	struct chunk *chunk;

	if (s->next_chunk >= s->location->trace_count)
		return 0;
	chunk = s->location->traces[s->next_chunk];
	if (chunk->used > s->room) {
		free(s->buffer);
		s->room = 0;
		s->buffer = malloc(chunk->size);
		if (!s->buffer)
			return HYB_ENOMEM;
		s->room = chunk->size;
	}
	s->next_chunk++;
	s->chunk = chunk;
	if (chunk->serial != s->next_serial) {
		s->gap = true;
		s->trace.pos = s->trace.begin;
		note(s, "the trace chunk in front of this one is missing");
	}
	s->next_serial = chunk->serial + 1;
	begin_chunk(s, file_read_chunk(&s->process->file, chunk, s->buffer,
			       s->quiet ? &ignored : s->process->damage));
	return 1;
}

/* Records that depend on what was left out are not to be misread. */
static bool leave_out_rest(struct stream *s, const char *what)
{
	note(s, what);
	s->gap = true;
	s->trace.pos = s->trace.end;
	return false;
}

/* Puts an index in the place of the node id. False: the record is left out. */
static bool resolve(struct stream *s, struct trace_record *r)
{
	switch ((enum hyb_record)r->kind) {
	case HYB_RECORD_SAMPLE:
		r->node = location_node(s->location, r->node, &s->hint);
		if (r->node == NODE_NONE)
			note(s, "a sample at an unknown node");
		return r->node != NODE_NONE;
	case HYB_RECORD_ENTER:
		r->node = probe_index(s, r->node);
		if (r->node == NODE_NONE)
			return leave_out_rest(s, "an unknown region is entered");
		s->region = r->node;
		return true;
	case HYB_RECORD_LEAVE:
		r->node = s->region;
		s->region = parent_probe(s, s->region);
		return true;
	case HYB_RECORD_COMPLETE:
		r->node = probe_index(s, r->node);
		if (r->node == NODE_NONE)
			note(s, "an unknown region is complete");
		return r->node != NODE_NONE;
	case HYB_RECORD_COUNTER:
	case HYB_RECORD_MARKER:
		r->node = 0;
		return true;
	default:
		return false;
	}
}

/* The next record, its node resolved; HYB_RECORD_NONE stands for a gap. 1, 0 at the end, or HYB_ENOMEM. */
static int next_record(struct stream *s, struct trace_record *r)
{
	for (;;) {
		int result = trace_next(&s->trace, r);

		if (result > 0) {
			if (resolve(s, r))
				return 1;
			continue;
		}
		if (result < 0)
			leave_out_rest(s, "the trace is damaged from here to the end of its chunk");
		result = load_chunk(s);
		if (result <= 0)
			return result;
		if (s->gap) {
			s->gap = false;
			r->kind = HYB_RECORD_NONE;
			r->node = 0;
			r->tick = s->trace.tick;
			return 1;
		}
	}
}

static void forget_instances(struct stream *s)
{
	memset(s->entered, 0xff, s->info->node_count * sizeof(*s->entered));
}

static void rewind_stream(struct stream *s)
{
	memset(&s->trace, 0, sizeof(s->trace));
	s->next_chunk = 0;
	s->next_serial = 0;
	s->region = 0;
	s->gap = false;
	forget_instances(s);
}

/* ------------------------------------------------------------------- ends */

/*
 * In the first pass the samples of an unfinished instance are a chain: its
 * last one in entered[probe], each one's predecessor in ends[].
 */
static void end_chain(struct stream *s, uint32_t probe, uint64_t tick)
{
	uint64_t at = s->entered[probe];

	while (at != HYB_TIME_UNKNOWN) {
		uint64_t before = s->ends[at];

		s->ends[at] = tick;
		at = before;
	}
	s->entered[probe] = HYB_TIME_UNKNOWN;
}

static void end_all(struct stream *s)
{
	for (size_t i = 0; i < s->info->node_count; i++)
		end_chain(s, (uint32_t)i, HYB_TIME_UNKNOWN);
}

static int chain_sample(struct stream *s, const struct trace_record *r)
{
	uint32_t probe = s->info->nodes[r->node].probe;

	if (!ARRAY_ROOM(s->ends, s->end_count))
		return HYB_ENOMEM;
	/* A new instance, and nothing said when the one before it ended. */
	if (r->flags & HYB_SAMPLE_FIRST)
		end_chain(s, probe, HYB_TIME_UNKNOWN);
	s->ends[s->end_count] = s->entered[probe];
	s->entered[probe] = s->end_count++;
	return HYB_OK;
}

static int find_ends(struct stream *s)
{
	struct trace_record r;
	int result;

	s->quiet = true;
	while ((result = next_record(s, &r)) > 0) {
		if (r.kind == HYB_RECORD_SAMPLE)
			result = chain_sample(s, &r);
		else if (r.kind == HYB_RECORD_ENTER)
			end_chain(s, r.node, HYB_TIME_UNKNOWN);
		else if (r.kind == HYB_RECORD_LEAVE || r.kind == HYB_RECORD_COMPLETE)
			end_chain(s, r.node, r.tick);
		else if (r.kind == HYB_RECORD_NONE)
			end_all(s);
		if (result < 0)
			break;
	}
	end_all(s);
	s->quiet = false;
	return result;
}

/* ----------------------------------------------------------------- events */

static void fill_sample(struct stream *s, const struct trace_record *r, struct hyb_event *e)
{
	const struct clock *clock = &s->process->clock;
	uint32_t probe = s->info->nodes[r->node].probe;
	uint64_t end, *entered = &s->entered[probe];

	e->kind = HYB_EVENT_SAMPLE;
	e->weight = r->weight < UINT32_MAX ? (uint32_t)r->weight : UINT32_MAX;
	e->blocked = r->blocked;
	if (r->flags & HYB_SAMPLE_FIRST)
		*entered = r->since <= r->tick ? r->tick - r->since : HYB_TIME_UNKNOWN;
	if (*entered != HYB_TIME_UNKNOWN)
		e->since = clock_span(clock, r->tick - *entered);
	end = s->sample < s->end_count ? s->ends[s->sample] : HYB_TIME_UNKNOWN;
	s->sample++;
	if (end != HYB_TIME_UNKNOWN && end >= r->tick)
		e->until = clock_span(clock, end - r->tick);
}

/* The text of a counter or marker; false: its definition is missing, the record is left out. */
static bool fill_text(struct stream *s, const struct trace_record *r, struct hyb_event *e)
{
	const struct def_counter *counter;

	if (r->kind == HYB_RECORD_MARKER) {
		e->kind = HYB_EVENT_MARKER;
		e->text = process_text(s->process, r->id);
		if (!e->text)
			note(s, "a marker without its text");
		return e->text;
	}
	counter = process_counter(s->process, r->id);
	if (!counter) {
		note(s, "a value of an unknown counter");
		return false;
	}
	e->kind = HYB_EVENT_COUNTER;
	e->text = counter->name;
	e->unit = counter->unit;
	e->is_double = r->flags & HYB_COUNTER_DOUBLE;
	memcpy(&e->value, &r->value, sizeof(r->value));
	return true;
}

static bool fill_event(struct stream *s, const struct trace_record *r, struct hyb_event *e)
{
	*e = (struct hyb_event){
		.time = clock_time(&s->process->clock, r->tick),
		.location = s->info,
		.node = r->node,
		.since = HYB_TIME_UNKNOWN,
		.until = HYB_TIME_UNKNOWN,
	};
	switch ((enum hyb_record)r->kind) {
	case HYB_RECORD_SAMPLE:
		fill_sample(s, r, e);
		return true;
	case HYB_RECORD_ENTER:
		e->kind = HYB_EVENT_ENTER;
		s->entered[r->node] = r->tick;
		return true;
	case HYB_RECORD_LEAVE:
	case HYB_RECORD_COMPLETE:
		e->kind = r->kind == HYB_RECORD_LEAVE ? HYB_EVENT_LEAVE : HYB_EVENT_COMPLETE;
		s->entered[r->node] = HYB_TIME_UNKNOWN;
		return true;
	case HYB_RECORD_NONE:
		e->kind = HYB_EVENT_GAP;
		forget_instances(s);
		return true;
	default:
		return fill_text(s, r, e);
	}
}

int stream_next(struct stream *s, struct hyb_event *ret)
{
	struct trace_record r;
	int result;

	do
		result = next_record(s, &r);
	while (result > 0 && !fill_event(s, &r, ret));
	return result;
}

int stream_init(struct stream *s, const struct hyb_location_info *info, bool complete)
{
	int error = HYB_OK;

	memset(s, 0, sizeof(*s));
	s->info = info;
	s->location = location_of(info);
	s->process = location_process(info);
	s->entered = malloc(info->node_count * sizeof(*s->entered));
	if (!s->entered)
		return HYB_ENOMEM;
	rewind_stream(s);
	if (complete) {
		error = find_ends(s);
		rewind_stream(s);
	}
	return error;
}

void stream_release(struct stream *s)
{
	free(s->buffer);
	free(s->entered);
	free(s->ends);
}
