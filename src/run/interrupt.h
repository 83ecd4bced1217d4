/* What an interrupt takes on this machine. */
#ifndef RUN_INTERRUPT_H
#define RUN_INTERRUPT_H

#include <stdbool.h>

/*
 * Measures, in a millisecond, the CPU time that one interrupt of a sample's clock takes with its signal and
 * an empty handler, and a signal alone; ns. `timer`: the clock is one of wall time, not the task clock. What
 * cannot be measured is left as it is.
 */
void interrupt_measure(bool timer, unsigned *ret_interrupt, unsigned *ret_signal);

#endif
