/* What a call of each kind of probe costs, for the report. */
#ifndef HYB_CALIBRATE_H
#define HYB_CALIBRATE_H

/* Measures it, with the calling thread's probes. start */
void calibrate(void);

/* Writes it to the header again: of a file that is new, or because an interpreter was found. Any time */
void calibrate_again(void);

#endif
