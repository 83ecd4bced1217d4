/* What samples cost their thread, and the rate that keeps it within rt.set.budget. */
#ifndef HYB_BUDGET_H
#define HYB_BUDGET_H

#include "runtime/thread.h"

/* Measuring took so much CPU time outside of handlers and probes. Owner thread; async-signal-safe */
static inline void cost_outside(struct thread *t, enum hyb_cost kind, uint64_t ns)
{
	t->loc->cost[kind] += ns;
}

/* The period with which a thread begins whose source is known: what the first interrupts alone allow. */
uint64_t budget_first_period(struct thread *t);

/* An interrupt came. event: number of the metric that overflowed, or -1. In the handler */
void budget_interrupt(struct thread *t, int event);

/* The sample that began at `cpu` of the thread's CPU clock took so many ticks in the handler. In the handler
 */
void budget_count(struct thread *t, uint64_t ticks, uint64_t cpu, int event);

/* Looks at the budget now and then: `clock` is what the budget is a part of, in ns. In the handler */
void budget_keep(struct thread *t, uint64_t clock);

#endif
