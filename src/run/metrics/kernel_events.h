/* The events that perf_event_open() has under names of its own: no library is asked for them. */
#ifndef RUN_KERNEL_EVENTS_H
#define RUN_KERNEL_EVENTS_H

#include "launch/papi/papi_call.h"

#include <stdbool.h>
#include <stddef.h>

/* The event of that name or of another spelling of it, in upper or lower case. False: there is none. */
bool kernel_event_find(const char *name, struct papi_event *ret);

/* Whether it is such an event, and ":" and more behind it. */
bool kernel_event_modified(const char *name);

/* Event `i`, by the name that is listed; false behind the last. Whether it can be counted, only perf_try()
 * shows. */
bool kernel_event_at(size_t i, struct papi_event *ret);

/* The question that event `i`, which is there, answers. */
enum metric_group kernel_event_group(size_t i);

#endif
