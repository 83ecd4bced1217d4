/* What an interrupt takes on this machine. */
#ifndef RUN_INTERRUPT_H
#define RUN_INTERRUPT_H

/*
 * Measures, in a millisecond, the CPU time that one interrupt of a sample's clock takes with its signal and
 * an empty handler, and a signal alone; ns. What cannot be measured is left as it is.
 */
void interrupt_measure(unsigned *ret_interrupt, unsigned *ret_signal);

#endif
