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

/* A file of the current version, pid 100, started at tick 1000 and still running, without a location. */
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

/* A thread with its root node, which is entered; returns the root's node id. `location`: 1 to 64. */
uint32_t writer_location(struct writer *w, uint32_t location, uint32_t tid, uint64_t start);

/* Ends it: the root is left, unless other regions are open. */
void writer_location_end(struct writer *w, uint32_t location, uint64_t end);

/* Nodes; counters are set through writer_node_at(). */
uint32_t writer_node(
	struct writer *w, uint32_t location, uint32_t parent, enum hyb_node_kind kind, uint64_t key);

/* Pushes an open region. */
void writer_open(struct writer *w, uint32_t location, uint32_t node, uint64_t enter);

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
/* Bytes as they are, for records that no runtime writes. */
void writer_raw(struct writer *w, uint32_t location, const void *bytes, size_t length);

/* Begins a new trace chunk of that serial number difference (1: the next). */
void writer_trace_break(struct writer *w, uint32_t location, bool lost, unsigned serials);

#endif
