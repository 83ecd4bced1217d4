#include "kernel_events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "perf::" /* libpfm's name for the kernel as a source of events */
#define SPELLINGS 3

#ifndef PERF_COUNT_SW_CGROUP_SWITCHES
#define PERF_COUNT_SW_CGROUP_SWITCHES 11 /* since Linux 5.13; older ones refuse it */
#endif

/* Names are libpfm's, so that what was measured with it and without it compares; the first is listed. */
static const struct {
	uint32_t type;
	uint64_t config;
	enum metric_group group;
	const char *names[SPELLINGS], *unit, *text;
} events[] = {
#define SOFTWARE(group, config, unit, text, ...) \
	{ \
		PERF_TYPE_SOFTWARE, PERF_COUNT_##config, METRIC_##group, \
			{__VA_ARGS__, "PERF_COUNT_" #config}, unit, text \
	}
#define HARDWARE(group, config, text, ...) \
	{ \
		PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, METRIC_##group, {__VA_ARGS__}, "", text \
	}
	SOFTWARE(CPU_TIME, SW_CPU_CLOCK, "ns", "CPU time, by the clock of the core", "CPU-CLOCK"),
	SOFTWARE(CPU_TIME, SW_TASK_CLOCK, "ns", "CPU time, by the clock of the thread", "TASK-CLOCK"),
	SOFTWARE(MEMORY, SW_PAGE_FAULTS, "", "page faults", "PAGE-FAULTS", "FAULTS"),
	SOFTWARE(SWITCHES, SW_CONTEXT_SWITCHES, "", "times the thread left its core", "CONTEXT-SWITCHES",
		"CS"),
	SOFTWARE(SWITCHES, SW_CPU_MIGRATIONS, "", "times the thread went on on another core",
		"CPU-MIGRATIONS", "MIGRATIONS"),
	SOFTWARE(MEMORY, SW_PAGE_FAULTS_MIN, "", "page faults that needed no disk", "MINOR-FAULTS"),
	SOFTWARE(MEMORY, SW_PAGE_FAULTS_MAJ, "", "page faults that read from disk", "MAJOR-FAULTS"),
	SOFTWARE(INSTRUCTIONS, SW_ALIGNMENT_FAULTS, "", "accesses that the kernel had to align",
		"ALIGNMENT-FAULTS"),
	SOFTWARE(INSTRUCTIONS, SW_EMULATION_FAULTS, "", "instructions that the kernel had to emulate",
		"EMULATION-FAULTS"),
	SOFTWARE(SWITCHES, SW_CGROUP_SWITCHES, "", "switches to a thread of another control group",
		"CGROUP-SWITCHES"),
	HARDWARE(INSTRUCTIONS, CPU_CYCLES, "cycles of the core", "CYCLES", "CPU-CYCLES",
		"PERF_COUNT_HW_CPU_CYCLES"),
	HARDWARE(INSTRUCTIONS, INSTRUCTIONS, "instructions completed", "INSTRUCTIONS",
		"PERF_COUNT_HW_INSTRUCTIONS"),
	HARDWARE(CACHES, CACHE_REFERENCES, "accesses to the last cache", "CACHE-REFERENCES",
		"PERF_COUNT_HW_CACHE_REFERENCES"),
	HARDWARE(CACHES, CACHE_MISSES, "accesses that missed the last cache", "CACHE-MISSES",
		"PERF_COUNT_HW_CACHE_MISSES"),
	HARDWARE(INSTRUCTIONS, BRANCH_INSTRUCTIONS, "branches completed", "BRANCH-INSTRUCTIONS", "BRANCHES",
		"PERF_COUNT_HW_BRANCH_INSTRUCTIONS"),
	HARDWARE(INSTRUCTIONS, BRANCH_MISSES, "branches predicted wrongly", "BRANCH-MISSES",
		"PERF_COUNT_HW_BRANCH_MISSES"),
	HARDWARE(INSTRUCTIONS, BUS_CYCLES, "cycles of the bus", "BUS-CYCLES", "PERF_COUNT_HW_BUS_CYCLES"),
	HARDWARE(INSTRUCTIONS, STALLED_CYCLES_FRONTEND, "cycles without an instruction to issue",
		"STALLED-CYCLES-FRONTEND", "IDLE-CYCLES-FRONTEND", "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"),
	HARDWARE(INSTRUCTIONS, STALLED_CYCLES_BACKEND, "cycles in which no instruction could complete",
		"STALLED-CYCLES-BACKEND", "IDLE-CYCLES-BACKEND", "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"),
	HARDWARE(INSTRUCTIONS, REF_CPU_CYCLES, "cycles at the nominal rate", "REF-CYCLES",
		"PERF_COUNT_HW_REF_CPU_CYCLES"),
#undef SOFTWARE
#undef HARDWARE
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

bool kernel_event_at(size_t i, struct papi_event *ret)
{
	if (i >= EVENTS)
		return false;
	*ret = (struct papi_event){
		.parts = 1, .part = {{.sign = 1, .type = events[i].type, .config = events[i].config}}};
	snprintf(ret->name, sizeof(ret->name), PREFIX "%s", events[i].names[0]);
	snprintf(ret->unit, sizeof(ret->unit), "%s", events[i].unit);
	snprintf(ret->text, sizeof(ret->text), "%s", events[i].text);
	return true;
}

enum metric_group kernel_event_group(size_t i)
{
	return events[i].group;
}

/* Behind the prefix, which may be missing as in libpfm. */
static const char *without_prefix(const char *name)
{
	return name + (strncasecmp(name, PREFIX, sizeof(PREFIX) - 1) ? 0 : sizeof(PREFIX) - 1);
}

/* EVENTS: none is spelt so. */
static size_t find(const char *name, size_t length)
{
	if (!length)
		return EVENTS;
	for (size_t i = 0; i < EVENTS; i++)
		for (size_t j = 0; j < SPELLINGS && events[i].names[j]; j++)
			if (!strncasecmp(name, events[i].names[j], length) && !events[i].names[j][length])
				return i;
	return EVENTS;
}

bool kernel_event_find(const char *name, struct papi_event *ret)
{
	name = without_prefix(name);
	return kernel_event_at(find(name, strlen(name)), ret);
}

bool kernel_event_modified(const char *name)
{
	const char *colon;

	name = without_prefix(name);
	colon = strchr(name, ':');
	return colon && find(name, (size_t)(colon - name)) < EVENTS;
}
