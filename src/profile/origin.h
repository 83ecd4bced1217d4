/* Where time begins, for what shows events: one moment for all processes of an experiment. Pure. */
#ifndef HYB_ORIGIN_H
#define HYB_ORIGIN_H

#include "hybrid/reader.h"

/* ns to be added to times of a process to compare them with those of its experiment's first one. */
int64_t origin_shift(const struct hyb_process *process);

/* When the first process of the experiment began, ns on the clock of this process. */
uint64_t origin_of(const struct hyb_process *process);

/* Converts a time on the clock of this process to ns since 1970; any number where the file is damaged. */
int64_t origin_realtime(const struct hyb_process *process, uint64_t time);

#endif
