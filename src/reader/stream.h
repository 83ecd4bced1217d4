/* The events of one location, in the order of its trace. */
#ifndef HYB_STREAM_H
#define HYB_STREAM_H

#include "reader/process.h"

struct stream {
	const struct hyb_location_info *info;
	const struct location *location;
	const struct process *process;
	uint8_t *buffer; /* one chunk */
	size_t room;
	struct trace trace;
	struct chunk *chunk; /* in the buffer */
	size_t next_chunk;
	uint64_t next_serial; /* of the chunk that has to follow */
	uint32_t region; /* index of the innermost open region; with ENTER and LEAVE */
	bool gap; /* records are missing before the next */
	bool quiet; /* the pass that looks for ends: damage is counted in the other one */
	size_t hint;
	uint64_t
		*entered; /* by node index: tick of the instance that samples refer to, or HYB_TIME_UNKNOWN */
	/* with `complete`: by sample, the tick at which its instance ended, or HYB_TIME_UNKNOWN */
	uint64_t *ends;
	size_t end_count, sample;
	/* Metrics of the process, and values of them, side by side; unknown if the first is VALUE_UNKNOWN. */
	uint32_t metrics;
	int64_t *entered_values; /* by node index: where the instance was entered */
	int64_t *end_values; /* beside ends[] */
	int64_t since[HYB_METRICS_MAX], until[HYB_METRICS_MAX]; /* of the event handed out */
};

#define VALUE_UNKNOWN INT64_MIN

/* 0 or HYB_ENOMEM; the stream is to be released in either case. */
int stream_init(struct stream *stream, const struct hyb_location_info *info, bool complete);

void stream_release(struct stream *stream);

/* 1: *ret is the next event; 0: no more; HYB_ENOMEM. */
int stream_next(struct stream *stream, struct hyb_event *ret);

#endif
