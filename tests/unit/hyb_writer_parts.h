/* What the writer's files share. */
#ifndef HYB_WRITER_PARTS_H
#define HYB_WRITER_PARTS_H

#include <stdlib.h>

#include "base/varint.h"
#include "hyb_writer.h"

#define LOCATIONS 65

struct writer_thread {
	struct hyb_chunk *head, *nodes, *trace, *stack;
	uint64_t node_serial, trace_serial, tick;
	uint32_t sample, enter, region;
	struct hyb_chunk *metrics[2];
	int64_t now[HYB_METRICS_MAX], traced[HYB_METRICS_MAX], since[HYB_METRICS_MAX];
	int overflow;
};

struct writer {
	uint8_t *data;
	size_t length;
	struct hyb_header *process; /* of several: where its header is; else NULL */
	struct hyb_chunk *defs;
	uint32_t modules, handles;
	uint32_t metrics, overflows; /* and of them those with a period */
	struct writer_thread threads[LOCATIONS];
};

static inline void must(bool ok)
{
	if (!ok)
		abort();
}

/* Where a record of at most HYB_RECORD_MAX bytes (and metrics) begins, its tag and time written; where it
 * ends. */
uint8_t *writer_begin(struct writer *w, uint32_t location, unsigned tag, uint64_t tick);
void writer_finish(struct writer *w, uint32_t location, const uint8_t *end);

#endif
