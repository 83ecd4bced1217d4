/*
 * The overflow of a counter, by perf_event_open: each metric that has a period interrupts its thread when
 * it has grown by so much, beside the clock or in its place.
 */
#include "sampler.h"
#include "runtime/store.h"
#include "runtime/sys.h"

int events_start(struct thread *t)
{
	int error = 0;

	for (unsigned i = 0; i < rt.events; i++) {
		const struct metric *m = metrics_event(i);
		int fd = perf_open_signal(&m->part[0], m->period, false);

		if (fd < 0)
			error = fd;
		t->metrics.event_period[i] = m->period;
		t->metrics.event_count[i] = 0;
		signal_barrier(); /* it may overflow at once */
		t->metrics.event[i] = fd < 0 ? 0 : fd + 1;
	}
	return error;
}

void events_stop(struct thread *t)
{
	for (unsigned i = 0; i < rt.events; i++) {
		perf_close(t->metrics.event[i] - 1);
		t->metrics.event[i] = 0;
	}
}

int events_find(const struct thread *t, int fd)
{
	for (unsigned i = 0; i < rt.events; i++)
		if (t->metrics.event[i] == fd + 1)
			return (int)i;
	return -1;
}

uint64_t events_weight(struct thread *t, unsigned event)
{
	uint64_t period = metrics_event(event)->period, before = t->metrics.event_count[event] / period, now;
	ssize_t n = sys_read(t->metrics.event[event] - 1, &now, sizeof(now));

	metrics_own_call(&t->metrics, false, n);
	if (n != sizeof(now))
		return 0;
	t->metrics.event_count[event] = now;
	return now / period - before;
}

void events_slow(struct thread *t, unsigned event)
{
	uint64_t period = t->metrics.event_period[event] *= 2;

	perf_set_period(t->metrics.event[event] - 1, period);
}

/* sampler_start() starts events beside any source. */
const struct source source_event = {.id = HYB_SOURCE_EVENT};
