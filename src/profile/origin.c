#include "profile/origin.h"

#include <string.h>

int64_t origin_shift(const struct hyb_process *process)
{
	const struct hyb_process *first = hyb_process_at(process->experiment, 0);

	if (process->clock_error != HYB_TIME_UNKNOWN || process == first ||
		!strcmp(process->host, first->host) ||
		(process->clock_domain && process->clock_domain == first->clock_domain))
		return 0;
	return (int64_t)((uint64_t)process->realtime - (uint64_t)first->realtime);
}

uint64_t origin_of(const struct hyb_process *process)
{
	const struct hyb_experiment *experiment = process->experiment;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *p = hyb_process_at(experiment, i);
		int64_t start = (int64_t)(p->start + (uint64_t)origin_shift(p));

		least = start < least ? start : least;
	}
	least = (int64_t)((uint64_t)least - (uint64_t)origin_shift(process));
	return least > 0 ? (uint64_t)least : 0;
}

int64_t origin_realtime(const struct hyb_process *process, uint64_t time)
{
	return (int64_t)(time + (uint64_t)process->realtime);
}
