#include "trace.h"

#include <sys/mman.h>

#define TRACE_FIRST 4096u /* bytes of a location's first chunk; doubles up to TRACE_LARGE */
#define TRACE_LARGE_SHIFT 4

/* Blocked times below this are noise of two clocks read one after the other. */
#define BLOCKED_MIN 100000u /* ns */

/* Counts the bytes against the limit; false past it. */
static bool within_limit(uint32_t size)
{
	struct hyb_header *h = store.header;
	uint64_t none = 0;

	if (h->trace_stopped || !atomic_load_explicit(&rt.on, memory_order_relaxed))
		return false;
	if (__atomic_add_fetch(&h->trace_bytes, size, __ATOMIC_RELAXED) <= h->trace_limit)
		return true;
	__atomic_sub_fetch(&h->trace_bytes, size, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(
		&h->trace_stopped, &none, clock_tick(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return false;
}

bool trace_next_chunk(struct thread *t)
{
	uint32_t serial = t->trace_serial;
	uint32_t size = TRACE_FIRST << (serial < TRACE_LARGE_SHIFT ? serial : TRACE_LARGE_SHIFT);
	uint64_t at = within_limit(size) ? store_claim(HYB_CHUNK_TRACE, size, t->loc->id, serial) : 0;
	struct hyb_trace_start *start;

	if (!at) {
		t->loc->events_lost++;
		t->trace_lost = true;
		return false;
	}
	/* The full chunk stays in the page cache; it need not count as the program's memory. */
	if (t->trace)
		madvise(t->trace, t->trace->size, MADV_DONTNEED);
	t->trace = store_at(at);
	t->trace_serial++;
	start = (struct hyb_trace_start *)(t->trace + 1);
	start->tick = t->trace_tick;
	start->sample = t->trace_sample;
	start->enter = t->trace_enter;
	start->region = t->top->node;
	start->lost = t->trace_lost;
	start->shift = rt.trace_shift;
	t->trace_lost = false;
	t->trace_pos = (uint8_t *)(start + 1);
	if (rt.metrics)
		t->trace_pos = record_put_metrics(t->trace_pos, t->metrics.traced, rt.metrics);
	t->trace_end = (uint8_t *)t->trace + size;
	t->trace->used = (uint64_t)(t->trace_pos - (uint8_t *)t->trace);
	return true;
}

void trace_complete(struct thread *t, uint64_t now, uint32_t node)
{
	uint8_t *p = trace_begin(t, trace_tag(HYB_RECORD_COMPLETE), now);

	if (p)
		trace_end(t, trace_metrics(t, record_put_node(p, node, t->trace_sample)));
}

void trace_sample(struct thread *t, const struct trace_sample *s)
{
	bool blocked = s->blocked >= BLOCKED_MIN;
	uint8_t tag = (uint8_t)(trace_tag(HYB_RECORD_SAMPLE) | (s->first ? HYB_SAMPLE_FIRST : 0) |
				(blocked ? HYB_SAMPLE_BLOCKED : 0) | (s->weight > 1 ? HYB_SAMPLE_WEIGHT : 0) |
				(s->overflow ? HYB_SAMPLE_EVENT : 0));
	uint8_t *p = trace_begin(t, tag, s->now);

	if (!p)
		return;
	p = record_put_node(p, s->node, t->trace_sample);
	p = record_put_sample(p, tag, s->since >> rt.trace_shift, s->blocked, s->weight, s->overflow - 1);
	t->trace_sample = s->node;
	if (s->first && !store.header->trace_events) /* else the ENTER has what they were */
		p = record_put_growth(p, t->metrics.now, s->entered, rt.metrics);
	trace_end(t, trace_metrics(t, p));
}

void trace_counter(struct thread *t, uint64_t id, bool real, uint64_t bits)
{
	uint8_t *p =
		trace_begin(t, (uint8_t)(HYB_RECORD_COUNTER | (real ? HYB_COUNTER_DOUBLE : 0)), clock_tick());

	if (!p)
		return;
	trace_end(t, record_put_value(record_put_definition(p, id), real, bits));
}

void trace_marker(struct thread *t, uint64_t id)
{
	uint8_t *p = trace_begin(t, HYB_RECORD_MARKER, clock_tick());

	if (p)
		trace_end(t, record_put_definition(p, id));
}
