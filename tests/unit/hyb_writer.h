/*
 * Makes .hyb files for tests, as a runtime would: in memory, then written out.
 * All times are ticks as given; the clock of a new file is "a tick is a ns".
 * Any misuse or lack of memory ends the test by abort().
 */
#ifndef HYB_WRITER_H
#define HYB_WRITER_H

#include <stdbool.h>

#include "format/format.h"

struct writer;

/*
 * A file of the current version, pid 100, started at tick 1000 and still running, without a location.
 * The clock domain is the same for all.
 */
struct writer *writer_new(void);
void writer_free(struct writer *w);

/* Pointers into the file are good until writer_free(). */
struct hyb_header *writer_header(struct writer *w);
struct hyb_location *writer_location_at(struct writer *w, uint32_t location);
struct hyb_node *writer_node_at(struct writer *w, uint32_t node);
uint8_t *writer_data(struct writer *w, size_t *ret_length);

/* Writes the file; replaces one that is there. */
void writer_write(struct writer *w, const char *path);

/* A chunk of any kind; returns its file offset. */
uint64_t writer_chunk(struct writer *w, unsigned kind, uint32_t size, uint32_t location, uint64_t serial);

/* Definitions return their id (file offset); modules their number 1, 2 ... */
uint64_t writer_def(
	struct writer *w, unsigned type, const void *head, size_t head_len, const char *a, const char *b);
uint64_t writer_region(
	struct writer *w, const char *name, const char *file, unsigned line, enum hyb_region_kind kind);
uint32_t writer_module(struct writer *w, const char *path, const void *build_id, unsigned build_id_len);
uint64_t writer_metadata(struct writer *w, const char *key, const char *value);
uint64_t writer_note(struct writer *w, uint64_t tick, enum hyb_severity severity, const char *text);
uint64_t writer_counter(struct writer *w, const char *name, const char *unit, unsigned type);
uint64_t writer_text(struct writer *w, const char *text);
uint64_t writer_child(
	struct writer *w, uint64_t tick, uint32_t pid, enum hyb_child_kind kind, const char *path);

/* A metric of the process, before its first location: returns its index. From then on nodes have values. */
uint32_t writer_metric(struct writer *w, const char *name, const char *unit, const char *text,
	enum hyb_metric_mode mode, unsigned flags, uint64_t period);

/* MPI: the process is that rank. Its MPI_COMM_WORLD is no handle yet. */
void writer_world(struct writer *w, uint64_t identity, uint32_t rank, uint32_t size);
/* Returns the handle's id in the process, 1, 2 ...; `rank` and `size` of the process in it. */
uint32_t writer_handle(struct writer *w, enum hyb_handle_kind kind, uint64_t identity, uint64_t parent,
	uint32_t rank, uint32_t size, const char *name);
/* All fields as given, but for what the writer knows. */
uint32_t writer_handle_full(struct writer *w, struct hyb_def_handle def, const char *name);
void writer_handle_name(struct writer *w, uint32_t handle, const char *name);
/* A measurement of the clock: rank 0's is own + offset at `mono`; all ns. */
void writer_clock(struct writer *w, uint64_t mono, int64_t offset, uint64_t error);

/*
 * Several processes in one file: from now on everything is of a new process (header, ids of locations,
 * modules and handles; writer_header() is its own), the first one included: call it before anything
 * else. Returns the process's number 1, 2 ...
 */
uint32_t writer_process(struct writer *w);

/* A thread with its root node, which is entered; returns the root's node id. `location`: 1 to 64. */
uint32_t writer_location(struct writer *w, uint32_t location, uint32_t tid, uint64_t start);

/* Ends it: the root is left, unless other regions are open. */
void writer_location_end(struct writer *w, uint32_t location, uint64_t end);

/* Nodes; counters are set through writer_node_at(). */
uint32_t writer_node(
	struct writer *w, uint32_t location, uint32_t parent, enum hyb_node_kind kind, uint64_t key);

/* With metrics. A node's: by index of the metric; and samples by its overflow, 0, 1 ... of those with a
 * period. */
int64_t *writer_values_at(struct writer *w, uint32_t node);
uint64_t *writer_overflows_at(struct writer *w, uint32_t node);
/* A location's, and those where the region at that level of its stack was entered; all zero at first. */
struct hyb_metrics *writer_metrics_at(struct writer *w, uint32_t location);
int64_t *writer_entered_at(struct writer *w, uint32_t location, uint32_t level);

/* A message node below an MPI region's; `key`: HYB_MESSAGE(). */
uint32_t writer_message_node(struct writer *w, uint32_t location, uint32_t region, uint64_t key,
	uint64_t count, uint64_t inclusive, uint64_t sent, uint64_t received);

/* Pushes an open region. */
void writer_open(struct writer *w, uint32_t location, uint32_t node, uint64_t enter);

/* The metrics of a location: what the SAMPLE, ENTER, LEAVE and COMPLETE records from now on carry; 0 at
 * first. */
void writer_read(struct writer *w, uint32_t location, const int64_t *values);
/* For the next sample alone: the metric whose overflow takes it (-1: the clock); and, if it is the first of
 * its instance and the header's trace_events is 0, by how much each has grown since the region was entered.
 */
void writer_cause(struct writer *w, uint32_t location, int metric, const int64_t *since);

/* Trace records; chunks are begun as needed. since: ticks, or WRITER_NOT_FIRST. */
#define WRITER_NOT_FIRST UINT64_MAX
void writer_sample(struct writer *w, uint32_t location, uint64_t tick, uint32_t node, uint64_t since,
	uint64_t blocked, uint64_t weight);
void writer_enter(struct writer *w, uint32_t location, uint64_t tick, uint32_t node);
void writer_leave(struct writer *w, uint32_t location, uint64_t tick);
void writer_complete(struct writer *w, uint32_t location, uint64_t tick, uint32_t node);
void writer_count(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, int64_t value);
void writer_count_real(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, double value);
void writer_marker(struct writer *w, uint32_t location, uint64_t tick, uint64_t text);
void writer_other(struct writer *w, uint32_t location, uint64_t tick, uint64_t subtype, const void *body,
	size_t length);
/*
 * Records of MPI: the tick of the last record is written as HYB_OTHER_NOW. Those of a request alone
 * (POSTED, SENT ...) are writer_request(). request 0: none is written.
 */
void writer_send(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t peer,
	int32_t tag, uint64_t bytes, uint64_t request);
void writer_recv(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t peer,
	int32_t tag, uint64_t bytes, uint64_t request);
void writer_request(
	struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint64_t request);
/* COLLECTIVE with its operation. */
void writer_collective(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t root,
	uint64_t sent, uint64_t received, uint64_t request, uint64_t operation);
/* COLLECTIVE without, PUT, GET, UPDATE. */
void writer_exchange(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint32_t handle,
	uint32_t peer, uint64_t sent, uint64_t received, uint64_t request);
void writer_epoch(struct writer *w, uint32_t location, uint64_t tick, uint32_t window, uint32_t peer);
/* READ, WRITE. offset UINT64_MAX: not known. */
void writer_transfer(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint32_t file,
	uint64_t offset, uint64_t bytes, uint64_t request);
void writer_failed(struct writer *w, uint32_t location, uint64_t tick, uint64_t error);
/* Bytes as they are, for records that no runtime writes. */
void writer_raw(struct writer *w, uint32_t location, const void *bytes, size_t length);

/* Begins a new trace chunk of that serial number difference (1: the next). */
void writer_trace_break(struct writer *w, uint32_t location, bool lost, unsigned serials);

#endif
