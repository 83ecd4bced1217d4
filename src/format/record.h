/* Records: what the chunks TRACE are made of, how they are written and read. */
#ifndef HYB_FORMAT_RECORD_H
#define HYB_FORMAT_RECORD_H

#include <string.h>

#include "base/varint.h"
#include "format/def.h"
#include "format/file.h"

/*
 * A trace chunk can be decoded by itself. Behind the chunk header stands this,
 * then records up to `used`. A record is a tag byte and unsigned LEB128
 * numbers ("v") or zigzag-coded signed ones ("z"):
 *
 * Times are differences, in units of 2^shift ticks (of the chunk).
 *
 *   SAMPLE    v time since the last record of this location
 *             z leaf node id, difference to the last SAMPLE's
 *             [HYB_SAMPLE_FIRST]   v time since its region was entered
 *             [HYB_SAMPLE_BLOCKED] v ns the thread did not run since its last sample
 *             [HYB_SAMPLE_WEIGHT]  v how many more samples this one stands for
 *             [HYB_SAMPLE_EVENT]   v index of the metric whose overflow took it (else: the clock)
 *             [HYB_RECORD_METRICS and HYB_SAMPLE_FIRST, without ENTER records] for each metric z:
 *                                  by how much it grew since its region was entered
 *   ENTER     v ticks, z node id, difference to the last ENTER's
 *   LEAVE     v ticks: of the innermost open region
 *   COMPLETE  v ticks, z node id of the region (difference to the last
 *             SAMPLE's): the instance ended in which samples were taken.
 *             Written only where ENTER and LEAVE are not.
 *   COUNTER   v ticks, v id of the definition / 8, z value
 *             (a double as its 64 bits, byte-swapped, unsigned v)
 *   MARKER    v ticks, v id of the HYB_DEF_TEXT / 8
 *   OTHER     v ticks (not with HYB_OTHER_NOW: the time of the last record),
 *             v subtype (enum hyb_other), v length, that many bytes: skip if not known
 *
 * At the end of SAMPLE, ENTER, LEAVE and COMPLETE with HYB_RECORD_METRICS (since 1.3): for each metric
 * z, by how much it grew since the last record that has it. Where there are metrics the first record of
 * a chunk is an OTHER METRICS with their values there.
 *
 * The region of a sample is the nearest probe above its leaf. A sample without
 * HYB_SAMPLE_FIRST is in the same instance as the last sample of that region.
 * Its end is the LEAVE or COMPLETE of that region which follows.
 */
struct hyb_trace_start {
	uint64_t tick; /* base of the first record's difference */
	uint32_t sample; /* base for SAMPLE nodes */
	uint32_t enter; /* base for ENTER nodes */
	uint32_t region; /* node id of the innermost open region at this point */
	uint16_t lost; /* 1: records are missing before this chunk */
	uint16_t shift; /* times of its records are in units of 2^shift ticks, at most 32 */
};

enum hyb_record {
	HYB_RECORD_NONE = 0,
	HYB_RECORD_SAMPLE = 1,
	HYB_RECORD_ENTER = 2,
	HYB_RECORD_LEAVE = 3,
	HYB_RECORD_COMPLETE = 4,
	HYB_RECORD_COUNTER = 5,
	HYB_RECORD_MARKER = 6,
	HYB_RECORD_OTHER = 7,
};
#define HYB_RECORD_KIND 0x07u /* bits of the tag that hold enum hyb_record */
#define HYB_SAMPLE_FIRST 0x08u
#define HYB_SAMPLE_BLOCKED 0x10u
#define HYB_SAMPLE_WEIGHT 0x20u
#define HYB_SAMPLE_EVENT 0x80u /* since 1.3 */
#define HYB_RECORD_METRICS 0x40u /* of SAMPLE, ENTER, LEAVE and COMPLETE; since 1.3 */
#define HYB_COUNTER_DOUBLE 0x08u
#define HYB_OTHER_NOW 0x08u /* since 1.2 */

/*
 * What calls of MPI did (since 1.2), in front of the LEAVE of the call, with its time. Handles are ids of
 * HYB_DEF_HANDLE, peers world ranks or HYB_PEER_*, both as "v" of 32 bits; `bytes` are of one message.
 * A request is a number that its process has not used before; 0 or nothing: there is none, the call waited.
 *
 *   SEND, RECV  v handle, v peer, z tag, v bytes, [v request]
 *               RECV is written when the message is there; SEND when it is on its way
 *   POSTED      v request: a receive began; its RECV has the request
 *   SENT        v request: its sending is complete (the buffer may be used again)
 *   TESTED      v request: asked for, and not complete
 *   CANCELLED   v request
 *   COLLECTIVE  v handle, v root or HYB_PEER_NONE, v bytes sent, v bytes received, [v request],
 *               [v operation: enum hyb_operation, since 1.6]
 *   COLLECTED   v request: the non-blocking collective is complete
 *   PUT, GET, UPDATE  v window, v target, v bytes to it, v bytes from it, [v request]
 *   EPOCH       v window, v target or HYB_PEER_NONE: a synchronisation of the window; the region names it
 *   READ, WRITE v file, v offset + 1 (0: not known), v bytes, [v request]
 *   DONE        v request: a PUT, GET, UPDATE, READ or WRITE is complete
 *   FAILED      v error: what MPI returned
 *
 * And, since 1.3:
 *
 *   METRICS     for each metric z: its value, since its thread began for those that count
 *
 * And of MPI, since 1.4:
 *
 *   CREATED     v handle: the call made it
 *   FREED       v handle
 *
 * And, since 1.5:
 *
 *   UNMEASURED  v subtype, and its numbers: done in a pause, so that what is behind it has its place in
 *               the order. SEND, RECV, POSTED, SENT, CANCELLED, COLLECTIVE, COLLECTED, DONE, FAILED
 */
enum hyb_other {
	HYB_OTHER_SEND = 1,
	HYB_OTHER_RECV = 2,
	HYB_OTHER_POSTED = 3,
	HYB_OTHER_SENT = 4,
	HYB_OTHER_TESTED = 5,
	HYB_OTHER_CANCELLED = 6,
	HYB_OTHER_COLLECTIVE = 7,
	HYB_OTHER_COLLECTED = 8,
	HYB_OTHER_PUT = 9,
	HYB_OTHER_GET = 10,
	HYB_OTHER_UPDATE = 11,
	HYB_OTHER_EPOCH = 12,
	HYB_OTHER_READ = 13,
	HYB_OTHER_WRITE = 14,
	HYB_OTHER_DONE = 15,
	HYB_OTHER_FAILED = 16,
	HYB_OTHER_METRICS = 17,
	HYB_OTHER_CREATED = 18,
	HYB_OTHER_FREED = 19,
	HYB_OTHER_UNMEASURED = 20,
};

/* What a collective call does. Since 1.6, append only. */
enum hyb_operation {
	HYB_COLLECTIVE_UNKNOWN = 0,
	HYB_COLLECTIVE_BARRIER = 1,
	HYB_COLLECTIVE_BCAST = 2,
	HYB_COLLECTIVE_GATHER = 3,
	HYB_COLLECTIVE_GATHERV = 4,
	HYB_COLLECTIVE_SCATTER = 5,
	HYB_COLLECTIVE_SCATTERV = 6,
	HYB_COLLECTIVE_ALLGATHER = 7,
	HYB_COLLECTIVE_ALLGATHERV = 8,
	HYB_COLLECTIVE_ALLTOALL = 9,
	HYB_COLLECTIVE_ALLTOALLV = 10,
	HYB_COLLECTIVE_ALLTOALLW = 11,
	HYB_COLLECTIVE_REDUCE = 12,
	HYB_COLLECTIVE_ALLREDUCE = 13,
	HYB_COLLECTIVE_SCAN = 14,
	HYB_COLLECTIVE_EXSCAN = 15,
	HYB_COLLECTIVE_REDUCE_SCATTER = 16,
	HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK = 17,
	HYB_COLLECTIVE_NEIGHBOR_ALLGATHER = 18,
	HYB_COLLECTIVE_NEIGHBOR_ALLGATHERV = 19,
	HYB_COLLECTIVE_NEIGHBOR_ALLTOALL = 20,
	HYB_COLLECTIVE_NEIGHBOR_ALLTOALLV = 21,
	HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW = 22,
};

/*
 * The largest record that is written: tag, time, two subtypes, length and at most six numbers: no more than
 * five of ten bytes; and with metrics each of them twice.
 */
#define HYB_RECORD_MAX 80u
#define HYB_RECORD_METRICS_MAX(metrics) (20u * (metrics))

/* ---------------------------------------------------------------- writing */

/*
 * Each returns the byte behind what it wrote: numbers of a record, behind its tag and time.
 * Async-signal-safe.
 */

/* SAMPLE, ENTER, COMPLETE: the node, as its difference to the last one. */
static inline uint8_t *record_put_node(uint8_t *p, uint32_t node, uint32_t last)
{
	return varint_put(p, zigzag((int64_t)node - last));
}

/* SAMPLE: what stands behind the node, by the flags of the tag. Weights count from 1. */
static inline uint8_t *record_put_sample(
	uint8_t *p, unsigned tag, uint64_t since, uint64_t blocked, uint64_t weight, uint64_t metric)
{
	if (tag & HYB_SAMPLE_FIRST)
		p = varint_put(p, since);
	if (tag & HYB_SAMPLE_BLOCKED)
		p = varint_put(p, blocked);
	if (tag & HYB_SAMPLE_WEIGHT)
		p = varint_put(p, weight - 1);
	if (tag & HYB_SAMPLE_EVENT)
		p = varint_put(p, metric);
	return p;
}

/* HYB_RECORD_METRICS: by how much each value is above that of `base`. */
static inline uint8_t *record_put_growth(
	uint8_t *p, const int64_t *values, const int64_t *base, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		p = varint_put(p, zigzag((int64_t)((uint64_t)values[i] - (uint64_t)base[i])));
	return p;
}

/* COUNTER and MARKER: the definition. */
static inline uint8_t *record_put_definition(uint8_t *p, uint64_t id)
{
	return varint_put(p, id / 8);
}

/* COUNTER: the bits of its number. Doubles of short decimal values end in zero bytes, so their varint is
 * short once the bytes are swapped. */
static inline uint8_t *record_put_value(uint8_t *p, bool real, uint64_t bits)
{
	return varint_put(p, real ? __builtin_bswap64(bits) : zigzag((int64_t)bits));
}

/* OTHER. */
static inline uint8_t *record_put_other(uint8_t *p, enum hyb_other what, const uint8_t *body, size_t size)
{
	*p++ = (uint8_t)what;
	p = varint_put(p, size);
	memcpy(p, body, size);
	return p + size;
}

/* A whole OTHER METRICS, the first record of a chunk: the values from which the differences in the chunk
 * start. */
static inline uint8_t *record_put_metrics(uint8_t *p, const int64_t *values, uint32_t count)
{
	uint8_t body[HYB_METRICS_MAX * VARINT_MAX] = {0}, *end = body;

	for (uint32_t i = 0; i < count; i++)
		end = varint_put(end, zigzag(values[i]));
	*p++ = HYB_RECORD_OTHER | HYB_OTHER_NOW;
	return record_put_other(p, HYB_OTHER_METRICS, body, (size_t)(end - body));
}

/* ---------------------------------------------------------------- reading */

/* What decoding a chunk needs to know and the chunk does not hold. */
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
	struct trace_layout layout; /* `metrics`: from the chunk's OTHER METRICS, once that was read */
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
