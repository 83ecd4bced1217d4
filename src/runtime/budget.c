#include "budget.h"

#include "sampler.h"

#define CHECK_SAMPLES 64u /* how often the budget is looked at */

/*
 * A handler that took several times as long as usual was not running all the
 * time: another thread had the core. It counts for four usual ones.
 */
void budget_count(struct thread *t, uint64_t ticks, int event)
{
	uint64_t most = 4 * t->usual_ticks;

	if (!t->usual_ticks)
		t->usual_ticks = most = rt.handler_usual;
	if (ticks > most)
		ticks = most;
	t->usual_ticks += ticks / 16;
	t->usual_ticks -= t->usual_ticks / 16;
	t->loc->handler_ticks += ticks;
	t->cause_ticks[event + 1] += ticks;
}

/* The clock, or the event, whose samples took most since the last check. */
static void slow_dearest(struct thread *t)
{
	unsigned dearest = 0;

	for (unsigned i = 1; i <= rt.events; i++)
		if (t->cause_ticks[i] > t->cause_ticks[dearest])
			dearest = i;
	if (dearest) {
		events_slow(t, dearest - 1);
		return;
	}
	t->period *= 2;
	rt_source(t)->set_period(t, t->period);
}

/*
 * Halves the rate when handlers take more of the thread's CPU time than allowed,
 * twice in a row: the first samples of a thread pay for page faults and rules.
 */
void budget_keep(struct thread *t, uint64_t cpu)
{
	uint64_t used = (uint64_t)((double)(t->loc->handler_ticks - t->check_ticks) * rt.tick_ns);
	bool over = used * 1000 > (cpu - t->check_cpu) * rt.set.budget;

	if (++t->taken % CHECK_SAMPLES)
		return;
	t->checks_over = over ? t->checks_over + 1 : 0;
	if (t->checks_over == 2) {
		t->checks_over = 0;
		t->loc->slowed++;
		slow_dearest(t);
	}
	t->check_cpu = cpu;
	t->check_ticks = t->loc->handler_ticks;
	memset(t->cause_ticks, 0, sizeof(t->cause_ticks));
}
