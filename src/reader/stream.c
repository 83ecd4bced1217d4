#include "reader/stream.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/mpi_record.h"
#include "format/words.h"

#define OTHER_SINCE 2 /* minor version that gave OTHER records their meaning */
#define OPERATION_SINCE 6 /* minor version since which a collective's record has its operation */

/* Once a chunk, and only in one of two passes. Iterators of other threads may have the same chunk. */
static void note(struct stream *s, const char *what)
{
	if (s->quiet || __atomic_exchange_n(&s->chunk->noted, true, __ATOMIC_RELAXED) ||
		process_grows(s->process))
		return;
	damage_add(s->process->damage, s->process->file->path, s->chunk->offset + trace_offset(&s->trace),
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

	trace_init(&s->trace, s->buffer, length, process_layout(s->process));
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
	begin_chunk(s, file_read_chunk(
			       s->process->file, chunk, s->buffer, s->quiet ? &ignored : s->process->damage));
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
	case HYB_RECORD_OTHER:
		r->node = s->region;
		if (r->id != HYB_OTHER_METRICS || !s->trace.layout.values)
			return true;
		if (s->trace.layout.metrics != s->metrics)
			note(s, "a trace chunk does not have the values of the metrics that the process has");
		return false;
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

/* The values at a record; NULL if they are not known. */
static const int64_t *values_of(struct stream *s, const struct trace_record *r)
{
	if (!(r->flags & HYB_RECORD_METRICS) || s->trace.layout.metrics != s->metrics)
		return NULL;
	if (!s->trace.known)
		note(s, "values of metrics without those at the start of their chunk");
	return s->trace.known ? s->trace.values : NULL;
}

/* Puts values, less others if there are any, in a row; NULL: they are not known. */
static void set_row(const struct stream *s, int64_t *row, const int64_t *values, const int64_t *less)
{
	if (!values)
		row[0] = VALUE_UNKNOWN;
	for (uint32_t i = 0; values && i < s->metrics; i++)
		row[i] = (int64_t)((uint64_t)values[i] - (less ? (uint64_t)less[i] : 0));
}

static void forget_instances(struct stream *s)
{
	memset(s->entered, 0xff, s->info->node_count * sizeof(*s->entered));
	for (size_t i = 0; s->metrics && i < s->info->node_count; i++)
		s->entered_values[i * s->metrics] = VALUE_UNKNOWN;
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
static void end_chain(struct stream *s, uint32_t probe, uint64_t tick, const int64_t *values)
{
	uint64_t at = s->entered[probe];

	while (at != HYB_TIME_UNKNOWN) {
		uint64_t before = s->ends[at];

		s->ends[at] = tick;
		if (s->metrics)
			set_row(s, &s->end_values[at * s->metrics], values, NULL);
		at = before;
	}
	s->entered[probe] = HYB_TIME_UNKNOWN;
}

static void end_all(struct stream *s)
{
	for (size_t i = 0; i < s->info->node_count; i++)
		end_chain(s, (uint32_t)i, HYB_TIME_UNKNOWN, NULL);
}

static int chain_sample(struct stream *s, const struct trace_record *r)
{
	uint32_t probe = s->info->nodes[r->node].probe;

	if (!ARRAY_ROOM(s->ends, s->end_count) ||
		(s->metrics &&
			!array_room(&s->end_values, s->end_count, s->metrics * sizeof(*s->end_values))))
		return HYB_ENOMEM;
	/* A new instance begins, and no record has the end of the one before it. */
	if (r->flags & HYB_SAMPLE_FIRST)
		end_chain(s, probe, HYB_TIME_UNKNOWN, NULL);
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
			end_chain(s, r.node, HYB_TIME_UNKNOWN, NULL);
		else if (r.kind == HYB_RECORD_LEAVE || r.kind == HYB_RECORD_COMPLETE)
			end_chain(s, r.node, r.tick, values_of(s, &r));
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

/* Records before 1.6 have no operation: it follows from the function's name. */
static uint8_t collective_of(const struct stream *s, const struct trace_record *r, uint64_t operation)
{
	const struct hyb_region *region = s->info->nodes[r->node].region;

	if (s->process->file->header.version_minor >= OPERATION_SINCE)
		return word_known(&words_collective, operation) ? (uint8_t)operation : 0;
	return region ? (uint8_t)word_collective(region->name) : 0;
}

/* False: not known, or damaged; the record is left out. */
static bool fill_mpi(struct stream *s, const struct trace_record *r, struct hyb_event *e)
{
	const struct mpi_record_kind *kind;
	struct mpi_record mpi;
	int result;

	if (s->process->file->header.version_minor < OTHER_SINCE)
		return false;
	result = mpi_record_decode(r->id, r->body, r->value, &mpi);
	if (result < 0)
		note(s, "a record of MPI is too short");
	if (result <= 0)
		return false;
	kind = mpi_record_kind(mpi.what);
	e->kind = mpi.unmeasured ? HYB_EVENT_UNMEASURED : kind->event;
	e->unmeasured = mpi.unmeasured ? kind->event : 0;
	e->message = kind->message;
	if (e->message == HYB_COLLECTIVE)
		e->collective = collective_of(s, r, mpi.operation);
	e->tag = (int32_t)mpi.tag;
	e->sent = mpi.sent;
	e->received = mpi.received;
	e->offset = mpi.offset - 1; /* 0, not known, becomes UINT64_MAX */
	e->request = mpi.request;
	e->value.integer = mpi.error;
	if (!process_peer(s->process, (uint32_t)mpi.peer))
		note(s, "a message with an unknown rank");
	else
		e->peer = (uint32_t)mpi.peer;
	if (mpi.handle) {
		e->handle = process_handle(s->process, (uint32_t)mpi.handle);
		if (!e->handle)
			note(s, "a message by an unknown handle");
	}
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
		.peer = HYB_RANK_NONE,
		.offset = UINT64_MAX,
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
	case HYB_RECORD_OTHER:
		return fill_mpi(s, r, e);
	default:
		return fill_text(s, r, e);
	}
}

/* ---------------------------------------------------------------- metrics */

/* By how much the values have grown since a sample's instance was entered, and will grow to its end. */
static void compare(struct stream *s, const int64_t *row, struct hyb_event *e)
{
	if (e->since != HYB_TIME_UNKNOWN && row[0] != VALUE_UNKNOWN) {
		set_row(s, s->since, e->values, row);
		e->since_values = s->since;
	}
	if (e->until == HYB_TIME_UNKNOWN)
		return;
	row = &s->end_values[(s->sample - 1) * s->metrics];
	if (row[0] != VALUE_UNKNOWN) {
		set_row(s, s->until, row, e->values);
		e->until_values = s->until;
	}
}

/* The metric whose overflow took a sample, counted from 1; 0: the clock did. */
static uint32_t overflow_of(struct stream *s, const struct trace_record *r)
{
	if (!(r->flags & HYB_SAMPLE_EVENT))
		return 0;
	if (r->metric < s->metrics && s->process->metrics[r->metric].period)
		return (uint32_t)r->metric + 1;
	note(s, "a sample by the overflow of a metric that takes none");
	return 0;
}

/* Adds the values of metrics to a filled event. A function of its own, so that events without metrics pay
 * nothing. */
__attribute__((noinline)) static void measure(
	struct stream *s, const struct trace_record *r, struct hyb_event *e)
{
	int64_t *row = &s->entered_values[(size_t)s->info->nodes[r->node].probe * s->metrics];

	if (r->kind == HYB_RECORD_NONE || r->kind > HYB_RECORD_COMPLETE)
		return;
	e->values = values_of(s, r);
	switch ((enum hyb_record)r->kind) {
	case HYB_RECORD_SAMPLE:
		e->overflow = overflow_of(s, r);
		/* If there are ENTER records, the row was set at the ENTER. */
		if (r->flags & HYB_SAMPLE_FIRST && s->trace.layout.since)
			set_row(s, row, e->values, r->since_values);
		if (e->values)
			compare(s, row, e);
		break;
	case HYB_RECORD_ENTER:
		set_row(s, row, e->values, NULL);
		break;
	default:
		row[0] = VALUE_UNKNOWN;
	}
}

int stream_next(struct stream *s, struct hyb_event *ret)
{
	struct trace_record r;
	int result;

	do
		result = next_record(s, &r);
	while (result > 0 && !fill_event(s, &r, ret));
	if (__builtin_expect(s->metrics && result > 0, 0))
		measure(s, &r, ret);
	return result;
}

int stream_init(struct stream *s, const struct hyb_location_info *info, bool complete)
{
	int error = HYB_OK;

	memset(s, 0, sizeof(*s));
	s->info = info;
	s->location = location_of(info);
	s->process = location_process(info);
	s->metrics = (uint32_t)s->process->info.metric_count;
	s->entered = malloc(info->node_count * sizeof(*s->entered));
	if (s->metrics)
		s->entered_values = malloc(info->node_count * s->metrics * sizeof(*s->entered_values));
	if (!s->entered || (s->metrics && !s->entered_values))
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
	free(s->entered_values);
	free(s->ends);
	free(s->end_values);
}
