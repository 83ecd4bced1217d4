/* What hyb_experiment_open() made: the processes, and what they share. */
#ifndef HYB_EXPERIMENT_H
#define HYB_EXPERIMENT_H

#include "base/blob.h"
#include "reader/process.h"

struct hyb_experiment {
	char *path;
	struct file **files;
	size_t file_count;
	struct process **processes; /* by start */
	size_t process_count;
	struct hyb_text_pair *values; /* of the file `experiment` */
	size_t value_count;
	struct arena arena;
	struct damage damage;
};

/*
 * Adds the processes of a file: one, or several of which those that cannot be read are damage. HYB_ENOMEM, or
 * HYB_EFORMAT if there are none, and *err is set.
 */
int experiment_add_processes(struct hyb_experiment *experiment, struct file *file, struct hyb_error *err);

/*
 * Corrects the times of all processes to the clock of rank 0 of their world, where the two clocks were
 * compared. To be called once, when all processes are there. `from`: what other parts of the same experiment
 * packed (not this one), one behind the other; NULL: there are none. Damage shows in `from`. 0 or HYB_ENOMEM.
 */
int experiment_correct_clocks(struct hyb_experiment *experiment, struct blob_reader *from);

/* Packs what other parts of the experiment need to correct the clocks of their processes. Lack of memory
 * shows in `to`. */
void experiment_pack_clocks(const struct hyb_experiment *experiment, struct blob *to);

/* Reads the text file `path`, which may be missing, into experiment->values. 0 or HYB_ENOMEM. */
int experiment_load_values(struct hyb_experiment *experiment, const char *path);

#endif
