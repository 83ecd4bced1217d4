/* Whether what is measured still goes on. */
#ifndef HYB_RUNNING_H
#define HYB_RUNNING_H

#include "hybrid/reader.h"

/* Whether the file has no end of the process and the process exists on this machine (false for processes of
 * other machines, which cannot be seen). No signal is sent. */
bool process_is_running(const struct hyb_process *process);

#endif
