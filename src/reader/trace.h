/* Decoder of the records of a TRACE chunk: pure, from pointer and length. */
#ifndef HYB_TRACE_H
#define HYB_TRACE_H

#include <stdbool.h>

#include "format/format.h"

/* What a chunk does not say itself. */
struct trace_layout {
	uint8_t metrics; /* values in a record that has them, at most HYB_METRICS_MAX */
	bool since; /* samples with HYB_SAMPLE_FIRST have them since their region was entered, too */
	bool values; /* OTHER METRICS is known to the version */
};

struct trace_record {
	uint8_t kind; /* enum hyb_record */
	uint8_t flags; /* HYB_SAMPLE_*, HYB_COUNTER_DOUBLE, HYB_RECORD_METRICS */
	uint32_t node; /* SAMPLE, ENTER, COMPLETE: node id as written */
	uint64_t tick;
	uint64_t since; /* SAMPLE with HYB_SAMPLE_FIRST: ticks */
	uint64_t blocked; /* SAMPLE: ns, else 0 */
	uint64_t weight; /* SAMPLE: samples it stands for, at least 1 */
	uint64_t metric; /* SAMPLE with HYB_SAMPLE_EVENT: index */
	int64_t since_values[HYB_METRICS_MAX]; /* SAMPLE with HYB_SAMPLE_FIRST and HYB_RECORD_METRICS, by the
						  layout */
	uint64_t id; /* COUNTER, MARKER: id of the definition; OTHER: its subtype */
	uint64_t value; /* COUNTER: the bits of the number; OTHER: bytes of its body */
	const uint8_t *body; /* OTHER */
};

struct trace {
	struct hyb_trace_start start;
	const uint8_t *begin, *pos, *end;
	uint64_t tick; /* of the last record */
	uint32_t sample, enter; /* bases of differences */
	const uint8_t *flags; /* that may be set, by kind */
	struct trace_layout layout; /* `metrics`: as the chunk's OTHER METRICS says, once it was read */
	bool known; /* it was: */
	int64_t values[HYB_METRICS_MAX]; /* of the metrics, at the last record that has them */
};

/* `data`: the chunk with its header, `length`: used bytes. Data too short for a start are an empty trace. */
void trace_init(struct trace *trace, const void *data, size_t length, struct trace_layout layout);

/* 1: *ret is the next record; 0: the end; -1: what follows cannot be decoded. Only the kind's fields are set.
 */
int trace_next(struct trace *trace, struct trace_record *ret);

/* Offset in the chunk of the next record. */
static inline size_t trace_offset(const struct trace *trace)
{
	return (size_t)(trace->pos - trace->begin);
}

#endif
