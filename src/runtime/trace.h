/*
 * The trace of one thread: records behind one another in chunks of its own.
 * All functions: owner thread, in a probe or in its handler; async-signal-safe.
 */
#ifndef HYB_TRACE_H
#define HYB_TRACE_H

#include "base/varint.h"
#include "thread.h"

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

	if (unlikely(t->trace_end - t->trace_pos < (ptrdiff_t)HYB_RECORD_MAX) && !trace_next_chunk(t))
		return NULL;
	p = t->trace_pos;
	*p++ = tag;
	passed = now > t->trace_tick ? (now - t->trace_tick) >> rt.trace_shift : 0;
	t->trace_tick += passed << rt.trace_shift;
	return varint_put(p, passed);
}

static inline void trace_end(struct thread *t, uint8_t *p)
{
	t->trace->used += (uint64_t)(p - t->trace_pos);
	t->trace_pos = p;
	t->loc->events++;
}

static inline void trace_enter(struct thread *t, uint64_t now, uint32_t node)
{
	uint8_t *p = trace_begin(t, HYB_RECORD_ENTER, now);

	if (p) {
		p = varint_put(p, zigzag((int64_t)node - t->trace_enter));
		t->trace_enter = node;
		trace_end(t, p);
	}
}

static inline void trace_leave(struct thread *t, uint64_t now)
{
	uint8_t *p = trace_begin(t, HYB_RECORD_LEAVE, now);

	if (p)
		trace_end(t, p);
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
};
void trace_sample(struct thread *t, const struct trace_sample *sample);

/* `bits` is the value, or a double's representation if `real`. `id` of the definition. */
void trace_counter(struct thread *t, uint64_t id, bool real, uint64_t bits);
void trace_marker(struct thread *t, uint64_t id);

#endif
