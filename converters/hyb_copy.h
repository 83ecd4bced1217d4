/* To "hybrid": keeps what an archive of another tool was turned into as an experiment. */
#ifndef HYB_HYB_COPY_H
#define HYB_HYB_COPY_H

#include "converters/converter.h"

/* The file `experiment`: what is known of the run, or at least where it comes from. */
int hyb_copy_values(const struct convert_job *job, struct hyb_error *err);
int hyb_copy(const struct convert_job *job, struct hyb_error *err);

#endif
