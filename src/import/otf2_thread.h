/*
 * One process of an archive on its way into a .hyb file: what its threads share, and of the thread that is
 * read its tree of nodes and its open regions. Events are taken in the order of the archive; times that go
 * backwards are moved up, regions that are not left are closed, and both is counted.
 */
#ifndef HYB_OTF2_IMPORT_THREAD_H
#define HYB_OTF2_IMPORT_THREAD_H

#include "base/map.h"
#include "format/hyb_write.h"
#include "otf2_defs.h"

struct thread_node {
	struct hyb_node *node; /* in the file */
	uint64_t key;
	uint32_t id; /* in the file */
	uint32_t parent; /* index */
	uint32_t hot; /* index of the child that was asked for last */
	uint8_t kind;
};

/* An open region. */
struct thread_open {
	uint32_t node; /* index */
	uint32_t region; /* index of its definition, or REF_NONE: the root, a parameter, a pause */
	uint32_t context; /* index of its calling context, or REF_NONE */
	uint32_t carried; /* messages in this instance that had no request */
	uint32_t message; /* index of the node of the last one */
	uint32_t sampled_context, sampled_node; /* indices, of the last sample in this instance */
	bool sampled;
	uint64_t enter;
	int64_t values[HYB_METRICS_MAX];
};

/* A record of MPI that waits for its region to be left. */
struct thread_pending {
	size_t level; /* of the region */
	struct mpi_record record;
};

/* What has no place in a .hyb file, by the first word of its records' names. */
enum left_out {
	LEFT_FLUSH,
	LEFT_FORK,
	LEFT_LOCK,
	LEFT_TASK,
	LEFT_TEAM,
	LEFT_THREAD,
	LEFT_IO,
	LEFT_UNKNOWN,
	LEFT_COUNT
};

struct import {
	const struct defs *d;
	struct hyb_write *w;
	bool failed; /* memory is out */
	volatile uint64_t *progress; /* events so far of the thread, seen by another process */
	/* The process. */
	const struct process_def *process;
	uint64_t *regions, *frames; /* ids, by index of the region; 0: none yet */
	uint64_t *counters; /* the same, by index of the member */
	struct refs texts; /* uint64_t: ids of markers' and parameters' texts, by hash */
	struct refs handles; /* uint32_t: ids, by kind and reference */
	struct map requests, operations; /* of numbers, see import/otf2_mpi.c */
	uint64_t last_request;
	uint64_t left_out[LEFT_COUNT];
	uint64_t backwards; /* events in front of the one before them */
	uint64_t lost; /* events with references that lead nowhere */
	/* The thread. */
	const struct location_def *location;
	uint64_t location_ref;
	uint32_t number; /* its id in the file */
	struct hyb_location *out; /* NULL: it has had no event */
	struct thread_node *nodes; /* the root first */
	size_t node_count;
	struct row_index index; /* of nodes, by parent and key */
	struct thread_open *stack; /* the root first */
	size_t depth; /* open regions, the root among them */
	size_t skipped; /* on top of them, too deep to be followed */
	struct thread_pending *pending;
	size_t pending_count;
	uint64_t started, tick; /* of its first event, of the last */
	int64_t values[HYB_METRICS_MAX];
	uint32_t known; /* bits of those that were read */
	bool fresh; /* they were read at `tick` */
	size_t marker; /* the next one */
};

bool thread_begin(struct import *im, uint32_t location, uint32_t number);
void thread_end(struct import *im); /* closes what is open */
void import_release(struct import *im); /* what it holds in memory */

/* Every event comes through here first. False: nothing can be written any more. */
bool thread_event(struct import *im, uint64_t time);
/* Whether it was the last one that can be kept. */
static inline bool import_stopped(const struct import *im)
{
	return im->failed || hyb_write_error(im->w);
}

/* References as they stand in events. */
void thread_enter(struct import *im, OTF2_RegionRef region);
void thread_leave(struct import *im, OTF2_RegionRef region);
void thread_enter_context(struct import *im, OTF2_CallingContextRef context);
void thread_leave_context(struct import *im, OTF2_CallingContextRef context);
void thread_sample(struct import *im, OTF2_CallingContextRef context, OTF2_InterruptGeneratorRef generator);
/* A metric was read. */
void thread_value(struct import *im, uint32_t slot, int64_t value);
/* A region that is left with the one around it. */
void thread_parameter(struct import *im, OTF2_ParameterRef parameter, const char *value);
void thread_pause(struct import *im, bool on);

/* The innermost region of the archive: its level on the stack; 0: none is open. */
size_t thread_innermost(const struct import *im);
/* The child of a node; index. */
uint32_t thread_child(struct import *im, uint32_t parent, enum hyb_node_kind kind, uint64_t key);
/* In front of the LEAVE of the region if it is one of MPI, else now. */
void thread_mpi(struct import *im, const struct mpi_record *record);

/* Callbacks for all events (import/otf2_events.c), with struct import as their data; NULL: memory is out. */
OTF2_EvtReaderCallbacks *import_callbacks(void);
/* Those of messages, collective, one-sided and I/O operations (import/otf2_mpi.c). */
void import_set_mpi(OTF2_EvtReaderCallbacks *callbacks);
/* What is read at every enter and leave. In front of the process's first thread. */
void import_define_metrics(struct import *im);

#endif
