/*
 * The trace of one thread: records behind one another in chunks of its own.
 * All functions: owner thread, in a probe or in its handler; async-signal-safe.
 */
#ifndef HYB_TRACE_H
#define HYB_TRACE_H

#include "thread.h"

/* Appends to a record by how much the metrics have grown since the one before, at the last reading. */
static inline uint8_t *trace_metrics(struct thread *t, uint8_t *p)
{
	if (likely(!rt.metrics)) /* a copy of nothing is a call, too */
		return p;
	p = record_put_growth(p, t->metrics.now, t->metrics.traced, rt.metrics);
	memcpy(t->metrics.traced, t->metrics.now, rt.metrics * sizeof(*t->metrics.now));
	return p;
}

/* A new chunk, or false: the record is lost and counted. */
bool trace_next_chunk(struct thread *t);

/*
 * Begins a record: tag and time. Returns where its numbers go, or NULL if it is
 * lost. `now` is not before the last record's time. Ends with trace_end().
 */
static inline uint8_t *trace_begin(struct thread *t, uint8_t tag, uint64_t now)
{
	uint64_t passed;
	uint8_t *p;

	if (unlikely(t->trace_end - t->trace_pos < (ptrdiff_t)rt.record_max) && !trace_next_chunk(t))
		return NULL;
	p = t->trace_pos;
	*p++ = tag;
	passed = now > t->trace_tick ? (now - t->trace_tick) >> rt.trace_shift : 0;
	t->trace_tick += passed << rt.trace_shift;
	return varint_put(p, passed);
}

/* The same for a record with the time of the last one, which it does not have. */
static inline uint8_t *trace_begin_together(struct thread *t, uint8_t tag)
{
	if (unlikely(t->trace_end - t->trace_pos < (ptrdiff_t)rt.record_max) && !trace_next_chunk(t))
		return NULL;
	*t->trace_pos = tag;
	return t->trace_pos + 1;
}

static inline void trace_end(struct thread *t, uint8_t *p)
{
	t->trace->used += (uint64_t)(p - t->trace_pos);
	t->trace_pos = p;
	t->loc->events++;
}

/* The tag of a record that has metrics, where there are any. */
static inline uint8_t trace_tag(enum hyb_record kind)
{
	return (uint8_t)(unlikely(rt.metrics) ? kind | HYB_RECORD_METRICS : kind);
}

static inline void trace_enter(struct thread *t, uint64_t now, uint32_t node)
{
	uint8_t *p = trace_begin(t, trace_tag(HYB_RECORD_ENTER), now);

	if (p) {
		p = record_put_node(p, node, t->trace_enter);
		t->trace_enter = node;
		trace_end(t, trace_metrics(t, p));
	}
}

static inline void trace_leave(struct thread *t, uint64_t now)
{
	uint8_t *p = trace_begin(t, trace_tag(HYB_RECORD_LEAVE), now);

	if (p)
		trace_end(t, trace_metrics(t, p));
}

/* The end of a sampled instance, where leaves are not recorded. */
void trace_complete(struct thread *t, uint64_t now, uint32_t node);

struct trace_sample {
	uint64_t now; /* tick */
	uint32_t node; /* leaf */
	bool first; /* in this instance of its region */
	uint64_t since; /* ticks since the region was entered, if first */
	uint64_t blocked; /* ns; small values are not recorded */
	uint64_t weight; /* at least 1 */
	const int64_t *entered; /* the metrics where its region was entered, if there are any */
	uint32_t overflow; /* 1 + index of the metric whose overflow took it; 0: a clock did */
};
void trace_sample(struct thread *t, const struct trace_sample *sample);

/* `bits` is the value, or a double's representation if `real`. `id` of the definition. */
void trace_counter(struct thread *t, uint64_t id, bool real, uint64_t bits);
void trace_marker(struct thread *t, uint64_t id);

#endif
