/* Opens what a writer made, by way of a file in memory. */
#ifndef HYB_READER_HELP_H
#define HYB_READER_HELP_H

#include "hyb_writer.h"
#include "hybrid/reader.h"

/* Fails the test if it cannot be opened. */
struct hyb_experiment *help_open(struct writer *w);

/* Opens any bytes; enum hyb_result. */
int help_open_bytes(const void *data, size_t length, struct hyb_experiment **ret, struct hyb_error *err);

/* Reads all events, and touches all that the experiment has to say. Returns the number of events. */
size_t help_read_all(struct hyb_experiment *e, bool complete);

void help_close(struct hyb_experiment *e, struct writer *w);

#endif
