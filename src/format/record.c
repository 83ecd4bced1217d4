#include "format/record.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define SHIFT_MAX 32
#define SAMPLE_FLAGS (HYB_SAMPLE_FIRST | HYB_SAMPLE_BLOCKED | HYB_SAMPLE_WEIGHT)

/* Which flag bits a record of each kind may carry: others would change what follows. */
static const uint8_t flags_known[HYB_RECORD_KIND + 1] = {
	[HYB_RECORD_SAMPLE] = SAMPLE_FLAGS,
	[HYB_RECORD_COUNTER] = HYB_COUNTER_DOUBLE,
	[HYB_RECORD_OTHER] = HYB_OTHER_NOW,
};
static const uint8_t flags_metrics[HYB_RECORD_KIND + 1] = {
	[HYB_RECORD_SAMPLE] = SAMPLE_FLAGS | HYB_SAMPLE_EVENT | HYB_RECORD_METRICS,
	[HYB_RECORD_ENTER] = HYB_RECORD_METRICS,
	[HYB_RECORD_LEAVE] = HYB_RECORD_METRICS,
	[HYB_RECORD_COMPLETE] = HYB_RECORD_METRICS,
	[HYB_RECORD_COUNTER] = HYB_COUNTER_DOUBLE,
	[HYB_RECORD_OTHER] = HYB_OTHER_NOW,
};

void trace_init(struct trace *trace, const void *data, size_t length, struct trace_layout layout)
{
	size_t head = sizeof(struct hyb_chunk) + sizeof(trace->start);

	memset(trace, 0, sizeof(*trace));
	trace->begin = trace->pos = trace->end = data;
	trace->layout = layout;
	trace->flags = layout.metrics ? flags_metrics : flags_known;
	if (length < head)
		return;
	memcpy(&trace->start, trace->begin + sizeof(struct hyb_chunk), sizeof(trace->start));
	if (trace->start.shift > SHIFT_MAX)
		return;
	trace->pos += head;
	trace->end += length;
	trace->tick = trace->start.tick;
	trace->sample = trace->start.sample;
	trace->enter = trace->start.enter;
}

/* varint_get with the usual case, a single byte, in front. */
static inline const uint8_t *get(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
	if (p && p < end && *p < 0x80) {
		*ret = *p;
		return p + 1;
	}
	return varint_get(p, end, ret);
}

/* A time, in the chunk's units. */
static inline const uint8_t *get_time(const struct trace *trace, const uint8_t *p, uint64_t *ret)
{
	uint64_t v = 0;

	p = get(p, trace->end, &v);
	*ret = v << trace->start.shift;
	return v <= UINT64_MAX >> trace->start.shift ? p : NULL;
}

/* A node id as difference to *base. */
static inline const uint8_t *get_node(const uint8_t *p, const uint8_t *end, uint32_t base, uint32_t *ret)
{
	uint64_t v = 0;

	p = get(p, end, &v);
	v = base + (uint64_t)unzigzag(v);
	*ret = (uint32_t)v;
	return v <= UINT32_MAX ? p : NULL;
}

/* A signed number for each metric, added to values[]. */
static inline const uint8_t *add_values(const struct trace *trace, const uint8_t *p, int64_t *values)
{
	for (unsigned i = 0; i < trace->layout.metrics; i++) {
		uint64_t v = 0;

		p = get(p, trace->end, &v);
		values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)unzigzag(v));
	}
	return p;
}

/* Reads the values at the end of a record, in a process with metrics. */
static __attribute__((noinline)) const uint8_t *get_metrics(
	struct trace *trace, const uint8_t *p, struct trace_record *r)
{
	if (r->flags & HYB_SAMPLE_EVENT)
		p = get(p, trace->end, &r->metric);
	if (!(r->flags & HYB_RECORD_METRICS))
		return p;
	if (r->kind == HYB_RECORD_SAMPLE && r->flags & HYB_SAMPLE_FIRST && trace->layout.since) {
		memset(r->since_values, 0, sizeof(r->since_values));
		p = add_values(trace, p, r->since_values);
	}
	return add_values(trace, p, trace->values);
}

static inline const uint8_t *get_sample(struct trace *trace, const uint8_t *p, struct trace_record *r)
{
	const uint8_t *end = trace->end;

	r->blocked = 0;
	r->weight = 1;
	p = get_node(p, end, trace->sample, &r->node);
	if (r->flags & HYB_SAMPLE_FIRST)
		p = get_time(trace, p, &r->since);
	if (r->flags & HYB_SAMPLE_BLOCKED)
		p = get(p, end, &r->blocked);
	if (r->flags & HYB_SAMPLE_WEIGHT) {
		p = get(p, end, &r->weight);
		r->weight += r->weight < UINT64_MAX;
	}
	if (p)
		trace->sample = r->node;
	return p;
}

static const uint8_t *get_definition(const uint8_t *p, const uint8_t *end, uint64_t *ret_id)
{
	p = get(p, end, ret_id);
	if (p && *ret_id > UINT64_MAX / 8)
		return NULL;
	*ret_id *= 8;
	return p;
}

static const uint8_t *get_counter(const struct trace *trace, const uint8_t *p, struct trace_record *r)
{
	uint64_t v = 0;

	r->id = 0;
	p = get_definition(p, trace->end, &r->id);
	p = get(p, trace->end, &v);
	r->value = r->flags & HYB_COUNTER_DOUBLE ? __builtin_bswap64(v) : (uint64_t)unzigzag(v);
	return p;
}

static const uint8_t *get_other(const struct trace *trace, const uint8_t *p, struct trace_record *r)
{
	p = get(p, trace->end, &r->id);
	p = get(p, trace->end, &r->value);
	if (!p || r->value > (uint64_t)(trace->end - p))
		return NULL;
	r->body = p;
	return p + r->value;
}

/* Reads the body of an OTHER METRICS, which holds the number of values in the records behind it. */
static bool take_values(struct trace *trace, const struct trace_record *r)
{
	const uint8_t *p = r->body, *end = p + r->value;
	int64_t values[HYB_METRICS_MAX] = {0};
	uint8_t count = 0;

	while (p && p < end && count < HYB_METRICS_MAX) {
		uint64_t v = 0;

		p = get(p, end, &v);
		values[count++] = unzigzag(v);
	}
	if (p != end || !count)
		return false;
	memcpy(trace->values, values, sizeof(values));
	trace->layout.metrics = count;
	trace->flags = flags_metrics;
	trace->known = true;
	return true;
}

int trace_next(struct trace *trace, struct trace_record *r)
{
	const uint8_t *p = trace->pos, *end = trace->end;
	uint64_t ticks = 0;
	bool now;

	if (p == end)
		return 0;
	r->kind = *p & HYB_RECORD_KIND;
	r->flags = (uint8_t)(*p & ~HYB_RECORD_KIND);
	if (r->flags & ~trace->flags[r->kind])
		return -1;
	now = *p == (HYB_RECORD_OTHER | HYB_OTHER_NOW);
	p = now ? p + 1 : get_time(trace, p + 1, &ticks);
	r->tick = trace->tick + ticks;
	switch ((enum hyb_record)r->kind) {
	case HYB_RECORD_NONE:
		return -1;
	case HYB_RECORD_SAMPLE:
		p = get_sample(trace, p, r);
		break;
	case HYB_RECORD_ENTER:
		p = get_node(p, end, trace->enter, &r->node);
		if (p)
			trace->enter = r->node;
		break;
	case HYB_RECORD_LEAVE:
		break;
	case HYB_RECORD_COMPLETE:
		p = get_node(p, end, trace->sample, &r->node);
		break;
	case HYB_RECORD_COUNTER:
		p = get_counter(trace, p, r);
		break;
	case HYB_RECORD_MARKER:
		r->id = 0;
		p = get_definition(p, end, &r->id);
		break;
	case HYB_RECORD_OTHER:
		p = get_other(trace, p, r);
		if (p && r->id == HYB_OTHER_METRICS && trace->layout.values && !take_values(trace, r))
			return -1;
		break;
	}
	if (unlikely(r->flags & (HYB_SAMPLE_EVENT | HYB_RECORD_METRICS)))
		p = get_metrics(trace, p, r);
	if (!p || r->tick < ticks)
		return -1;
	trace->tick = r->tick;
	trace->pos = p;
	return 1;
}
