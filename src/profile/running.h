/* Whether what is measured still goes on. */
#ifndef HYB_RUNNING_H
#define HYB_RUNNING_H

#include "hybrid/reader.h"

/* It has not said that it ended, and there is such a process on this machine: of others it is not known. No
 * signal is sent. */
bool process_is_running(const struct hyb_process *process);

#endif
