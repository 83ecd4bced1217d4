/* Opens what a writer made, by way of a file in memory. */
#ifndef HYB_READER_HELP_H
#define HYB_READER_HELP_H

#include "hyb_writer.h"
#include "hybrid/reader.h"

/* A thread of that id that did something of everything in MPI, as rank 1 of 4. */
void help_add_mpi(struct writer *w, uint32_t location);

/*
 * A thread with values in a process that has two metrics, the first with a period, and `enters` in its
 * header: an open region with two samples. Returns its node.
 */
uint32_t help_add_metrics(struct writer *w, uint32_t location, bool enters);

/* Fails the test if it cannot be opened. */
struct hyb_experiment *help_open(struct writer *w);

/* Opens any bytes; enum hyb_result. */
int help_open_bytes(const void *data, size_t length, struct hyb_experiment **ret, struct hyb_error *err);

/* Reads all events, and touches all that the experiment has to say. Returns the number of events. */
size_t help_read_all(struct hyb_experiment *e, bool complete);

void help_close(struct hyb_experiment *e, struct writer *w);

#endif
