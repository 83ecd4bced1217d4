/*
 * The metrics that the runtime reads by itself, and the variable that lists for it which ones to read.
 *
 * METRICS_VARIABLE is a list of items, each ended by METRICS_ITEM, in the order of the metrics' indices. An
 * item's fields are each ended by METRICS_FIELD:
 *
 *  - NAME: of metric_words; or METRIC_USER and the name of a counter of the program's; or of a counter of
 *    the kernel's or the processor's
 *  - PERIOD: decimal; a sample is taken each time it has grown by so much; 0: none
 *  - CODE: of a counter of the kernel's, and where samples are taken: what is summed up, each as the fields
 * of struct perf_event_attr, SIGN (+ or -) and then TYPE:CONFIG:CONFIG1:CONFIG2 in hexadecimal. Samples are
 *    taken on the overflow of the first.
 *  - FLAGS: "e" if it is estimated, for there are more counters than the processor has
 *  - UNIT: "" for plain numbers
 *  - TEXT: what it is
 *
 * The last three are given for counters of the kernel's only, whose names PAPI knows (launch/papi).
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define METRICS_VARIABLE "HYBRID_METRICS"
#define METRICS_ITEM '\x1e' /* ASCII's record separator */
#define METRICS_FIELD '\x1f' /* its unit separator */
#define METRICS_PARTS 4u /* counters of the kernel's that one metric may be the sum of */
#define METRIC_USER "user::" /* before the name of a counter that the program counts (hybrid_count) */

/* A counter, by the fields of struct perf_event_attr. */
struct metric_part {
	int sign; /* +1 or -1: how it is added to the others */
	uint32_t type;
	uint64_t config, config1, config2;
};

enum metric_kind {
	METRIC_OF_PERF = 0,
	METRIC_OF_RUSAGE, /* getrusage(RUSAGE_THREAD); `field` counts its longs */
	METRIC_OF_IO, /* /proc/thread-self/io; `field` counts its lines */
	METRIC_OF_MEMORY, /* /proc/self/statm; `field` counts its numbers, which are pages */
	METRIC_OF_USER,
};

/* The question that a metric answers; --list-metrics has a title for each. */
enum metric_group {
	METRIC_CPU_TIME,
	METRIC_SWITCHES,
	METRIC_MEMORY,
	METRIC_INPUT_OUTPUT,
	METRIC_INSTRUCTIONS,
	METRIC_CACHES,
	METRIC_GROUPS,
};

struct metric_word {
	const char *name, *unit, *text;
	enum metric_group group;
	enum metric_kind kind;
	unsigned field;
	bool level; /* goes up and down */
	bool process_wide;
};

static const struct metric_word metric_words[] = {
	{"rusage::user_time", "ns", "CPU time in the program itself", METRIC_CPU_TIME, METRIC_OF_RUSAGE, 0,
		false, false},
	{"rusage::system_time", "ns", "CPU time in the kernel", METRIC_CPU_TIME, METRIC_OF_RUSAGE, 2, false,
		false},
	{"rusage::minor_faults", "", "page faults that needed no disk", METRIC_MEMORY, METRIC_OF_RUSAGE, 8,
		false, false},
	{"rusage::major_faults", "", "page faults that read from disk", METRIC_MEMORY, METRIC_OF_RUSAGE, 9,
		false, false},
	{"rusage::voluntary_switches", "", "times the thread waited", METRIC_SWITCHES, METRIC_OF_RUSAGE, 16,
		false, false},
	{"rusage::involuntary_switches", "", "times the thread lost its core", METRIC_SWITCHES,
		METRIC_OF_RUSAGE, 17, false, false},
	{"io::read_chars", "B", "bytes that calls such as read() returned", METRIC_INPUT_OUTPUT, METRIC_OF_IO,
		0, false, false},
	{"io::write_chars", "B", "bytes given to calls such as write()", METRIC_INPUT_OUTPUT, METRIC_OF_IO, 1,
		false, false},
	{"io::read_calls", "", "calls such as read()", METRIC_INPUT_OUTPUT, METRIC_OF_IO, 2, false, false},
	{"io::write_calls", "", "calls such as write()", METRIC_INPUT_OUTPUT, METRIC_OF_IO, 3, false, false},
	{"io::read_bytes", "B", "bytes fetched from storage", METRIC_INPUT_OUTPUT, METRIC_OF_IO, 4, false,
		false},
	{"io::write_bytes", "B", "bytes to be sent to storage", METRIC_INPUT_OUTPUT, METRIC_OF_IO, 5, false,
		false},
	{"memory::virtual", "B", "address space in use", METRIC_MEMORY, METRIC_OF_MEMORY, 0, true, true},
	{"memory::resident", "B", "memory in use", METRIC_MEMORY, METRIC_OF_MEMORY, 1, true, true},
};
#define METRIC_WORDS (sizeof(metric_words) / sizeof(metric_words[0]))

/* The runtime's own metric of that name; NULL: it is a counter of the kernel or of the program. */
static inline const struct metric_word *metric_word(const char *name)
{
	for (size_t i = 0; i < METRIC_WORDS; i++)
		if (!strcmp(name, metric_words[i].name))
			return &metric_words[i];
	return NULL;
}

static inline enum metric_kind metric_kind(const char *name)
{
	const struct metric_word *word = metric_word(name);

	if (word)
		return word->kind;
	return strncmp(name, METRIC_USER, sizeof(METRIC_USER) - 1) ? METRIC_OF_PERF : METRIC_OF_USER;
}

#endif
