#include "budget.h"

#include "sampler.h"

#define CHECK_SAMPLES 16u /* how often the budget is looked at */
#define CHECKS 2u /* so often in a row: the first samples of a thread pay for page faults and rules */
#define LONG 500000u /* ns: a handler that may have waited for the core, however long they usually are */
#define LONGEST 100000000u /* ns: ten samples a second are always affordable */

/* The multiple of the wanted period from `period` on: a sample stands for a whole number of those. */
static uint64_t whole_period(uint64_t period)
{
	uint64_t most = LONGEST > rt.cpu_period ? LONGEST / rt.cpu_period : 1;
	uint64_t times = (period + rt.cpu_period - 1) / rt.cpu_period;

	return rt.cpu_period * (times < 1 ? 1 : times > most ? most : times);
}

/*
 * Of one interrupt, with the signal, until the handler begins and after it ends. CPU-time timers strike at
 * the kernel's tick, which comes in any case.
 */
static uint64_t outside(const struct thread *t, int event)
{
	return event >= 0 || t->loc->source == HYB_SOURCE_CPU_TIMER ? rt.set.signal_ns : rt.set.interrupt_ns;
}

uint64_t budget_first_period(struct thread *t)
{
	uint64_t known = atomic_load_explicit(&rt.affordable_period, memory_order_relaxed), period;

	if (!rt.cpu_period || !rt.set.budget)
		return rt.cpu_period;
	period = whole_period(known ? known : outside(t, -1) * 1000 / rt.set.budget);
	t->loc->slowed += period > rt.cpu_period;
	return period;
}

void budget_interrupt(struct thread *t, int event)
{
	uint64_t ns = outside(t, event);

	cost_outside(t, HYB_COST_INTERRUPT, ns);
	t->cause_ns[event + 1] += ns;
}

/*
 * A handler that took several times as long as usual may not have been running all the
 * time: another thread had the core. The CPU clock knows, and is asked only then.
 */
void budget_count(struct thread *t, uint64_t ticks, uint64_t cpu, int event)
{
	uint64_t most = 4 * t->usual_ticks;

	if (!t->usual_ticks)
		t->usual_ticks = most = rt.handler_usual;
	if (ticks > most || (double)ticks * rt.tick_ns > LONG) {
		uint64_t ran = (uint64_t)((double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / rt.tick_ns);

		ticks = ran < ticks ? ran : ticks;
	}
	t->usual_ticks += (ticks < most ? ticks : most) / 16;
	t->usual_ticks -= t->usual_ticks / 16;
	t->loc->handler_ticks += ticks;
	t->cause_ns[event + 1] += (uint64_t)((double)ticks * rt.tick_ns);
}

/* The clock (0), or the event, whose samples took most since the last check. */
static unsigned find_dearest(const struct thread *t)
{
	unsigned dearest = 0;

	for (unsigned i = 1; i <= rt.events; i++)
		if (t->cause_ns[i] > t->cause_ns[dearest])
			dearest = i;
	return dearest;
}

static void set_period(struct thread *t, uint64_t period)
{
	if (period == t->period)
		return;
	t->loc->slowed += period > t->period;
	t->period = period;
	atomic_store_explicit(&rt.affordable_period, period, memory_order_relaxed);
	rt_source(t)->set_period(t, period);
}

/*
 * Goes to the period that fits, at once, when samples took more than allowed of the time that passed, and
 * back when they take clearly less.
 */
void budget_keep(struct thread *t, uint64_t clock)
{
	uint64_t used = 0, allowed, dearest;
	bool over, under;

	if (++t->taken % CHECK_SAMPLES)
		return;
	for (unsigned i = 0; i <= rt.events; i++)
		used += t->cause_ns[i];
	allowed = (clock - t->check_clock) * rt.set.budget / 1000;
	over = used > allowed;
	under = used + used / 3 < allowed && t->period > rt.cpu_period;
	dearest = over ? find_dearest(t) : 0;
	t->checks_over = over ? t->checks_over + 1 : 0;
	t->checks_under = under ? t->checks_under + 1 : 0;
	if (t->checks_over == CHECKS && dearest) {
		t->loc->slowed++;
		events_slow(t, (unsigned)dearest - 1);
	} else if ((t->checks_over == CHECKS || t->checks_under == CHECKS) && rt.cpu_period) {
		set_period(t, whole_period((uint64_t)((double)t->period * (double)used /
						      (double)(allowed ? allowed : 1))));
	}
	t->checks_over %= CHECKS;
	t->checks_under %= CHECKS;
	t->check_clock = clock;
	memset(t->cause_ns, 0, sizeof(t->cause_ns));
}
