/* What hyb_experiment_open() made: the processes, and what they share. */
#ifndef HYB_EXPERIMENT_H
#define HYB_EXPERIMENT_H

#include "reader/process.h"

struct hyb_experiment {
	char *path;
	struct process **processes; /* by start */
	size_t process_count;
	struct hyb_text_pair *values; /* of the file `experiment` */
	size_t value_count;
	struct arena arena;
	struct damage damage;
};

/* Reads the text file `path`, which may be missing, into experiment->values. 0 or HYB_ENOMEM. */
int experiment_load_values(struct hyb_experiment *experiment, const char *path);

#endif
