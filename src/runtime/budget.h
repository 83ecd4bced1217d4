/* What samples cost their thread, and the rate that keeps it within rt.set.budget. */
#ifndef HYB_BUDGET_H
#define HYB_BUDGET_H

#include "thread.h"

/* A sample took so many ticks in the handler; event: number of the metric that overflowed, or -1. In the
 * handler */
void budget_count(struct thread *t, uint64_t ticks, int event);

/* Measuring took so much CPU time outside of handlers and probes. Owner thread; async-signal-safe */
static inline void cost_outside(struct thread *t, enum hyb_cost kind, uint64_t ns)
{
	t->loc->cost[kind] += ns;
}

/* Looks at the budget now and then: `cpu` is the clock that the budget is a part of, in ns. In the handler */
void budget_keep(struct thread *t, uint64_t cpu);

#endif
