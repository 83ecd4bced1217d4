/*
 * Inside of the OTF2 writer. All that events refer to is numbered before the first event is written, and
 * defined after the last one: what is here does not change while threads write, except where a comment says
 * it.
 */
#ifndef HYB_OTF2_WRITE_STATE_H
#define HYB_OTF2_WRITE_STATE_H

#include <otf2/otf2.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "converters/converter.h"
#include "profile/profile.h"
#include "base/strings.h"
#include "profile/views/row_map.h"
#include "profile/views/weave.h"

#define NO_REF ROW_NONE /* also where memory is out */

enum { ATTRIBUTE_ERROR = 0, ATTRIBUTE_OFFSET = 1 };

/* What a region is, in OTF2's words: a row of a table, found by what is in front of `role`. */
struct otf2_region {
	const char *name, *file, *module; /* interned by the profile */
	uint64_t line;
	uint64_t probe; /* 0: sampled */
	uint64_t kind; /* of probes: enum hyb_region_kind; 0: of the compiler */
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	bool mpi;
	uint8_t sync; /* enum otf2_sync */
	uint8_t atomic; /* OTF2_RmaAtomicType */
	bool completes; /* operations on the window are complete behind it */
	bool shared_all; /* a transfer of all ranks together */
};

/* What an epoch's region does with its window. */
enum otf2_sync {
	SYNC_NONE = 0,
	SYNC_ALL, /* a collective one */
	SYNC_GROUP, /* with some ranks */
	SYNC_LOCK,
	SYNC_UNLOCK,
	SYNC_LOCK_ALL,
	SYNC_UNLOCK_ALL,
	SYNC_FLUSH,
};

/* A communicator, window or file, of all processes that know it. */
struct otf2_handle {
	uint64_t identity, type;
	const struct hyb_handle *first; /* one process's description: that with a name, if there is one */
	uint32_t size[2]; /* ranks of its groups; [1]: of an inter-communicator */
	/* By rank in the group: number among all ranks (COMM_LOCATIONS), or NO_REF. */
	uint32_t *members[2];
	uint32_t *place[2]; /* by rank: place in OTF2's group, in which both stand with what is known; or
			       NO_REF */
	uint32_t known;
	uint32_t ref; /* of comm, window or I/O handle */
	uint32_t comm; /* reference of a communicator: its own, or that it was made of */
	bool own_comm; /* window, file: that is not known, so it has one of its own */
	bool self; /* MPI_COMM_SELF: each process's own one, in which it is rank 0 */
	uint32_t group; /* definition */
	atomic_bool created; /* a thread has written where it was made, or given back */
	atomic_bool allocated; /* a window, with its memory */
	uint32_t *rank_of; /* by number among all ranks less `base`: rank | group << 31, or NO_REF */
	uint32_t base, span;
};

/* A request that is not complete. */
struct request {
	const struct otf2_handle *on;
	uint64_t sent, received;
	uint32_t root;
	uint8_t message; /* enum hyb_message_kind */
	uint8_t op; /* OTF2_CollectiveOp */
};

/* Metrics that are recorded together: those of threads, and those of processes. */
struct otf2_metrics {
	uint32_t count;
	uint32_t class_ref;
	uint8_t index[16]; /* among the process's metrics */
	bool level[16];
	OTF2_Type type[16];
	uint32_t member[16];
};

struct otf2_process {
	const struct hyb_process *info;
	uint32_t ref; /* location group */
	uint32_t host; /* system tree node */
	uint32_t number; /* among all ranks, or NO_REF */
	uint32_t first; /* its first location */
	uint32_t *handles; /* by index of its handles: that in `handles`, or NO_REF */
	struct otf2_metrics metrics[2]; /* of each thread; of the process */
	uint32_t generator[17]; /* interrupt generators: of the clock, of the metrics' overflows */
	/* Requests of sends that were left out, by number; under `lock`. */
	struct map dropped;
	atomic_bool any_dropped;
};

/* Sends or receives of a location that have no other end: their numbers among these, from 0 on. */
struct otf2_ends {
	uint64_t *lone;
	size_t count;
};

struct otf2_location {
	const struct hyb_location_info *info;
	struct otf2_process *process;
	const uint32_t *own; /* by node: that of the tree; the profile's */
	uint64_t events; /* written */
	uint32_t shared_metrics; /* metric instance of the process's metrics, or NO_REF */
	struct otf2_ends ends[2]; /* sends, receives */
};

/* A counter of the program: its metric class has one member. */
struct otf2_counter {
	const char *name, *unit; /* interned */
	uint64_t real;
};

/* A metric's definition. */
struct otf2_member {
	const char *name, *unit, *text; /* interned */
	uint64_t level, kind, real; /* kind: enum metric_kind */
};

struct otf2_generator {
	const char *name; /* interned */
	uint64_t period, count; /* count: of a metric, else ns */
};

/* What was written, and what was not. */
struct otf2_totals {
	atomic_ullong records, sends, receives, lone_sends, lone_receives, unknown, gaps, late;
};

struct otf2 {
	const struct convert_job *job;
	struct hyb_symbols *symbols;
	struct profile *profile;
	struct strings strings; /* own ones; those of regions are the profile's */
	OTF2_Archive *archive;

	/* The tree, by node. Node 0 is no region. */
	const struct profile_node *nodes;
	size_t node_count;
	struct weave_tree tree;
	uint32_t *region;
	struct row_map regions; /* struct otf2_region */

	struct otf2_process *processes;
	size_t process_count;
	struct otf2_location *locations;
	size_t location_count;
	uint32_t rank_count;
	uint32_t *rank_processes; /* by number among all ranks */

	struct row_map handles; /* struct otf2_handle; fixed before events */
	struct row_map members, generators;
	uint32_t metric_count, group_count; /* metric_count: classes and instances, without counters */

	pthread_mutex_t lock; /* of what follows */
	struct row_map counters; /* struct otf2_counter; grows with events */
	OTF2_MarkerWriter *markers;
	uint64_t marker_count;

	struct otf2_totals totals;
	atomic_ullong done; /* records read */
	uint64_t total;
	uint64_t start, end; /* ns; updated under `lock` */
	atomic_int failed; /* enum hyb_result */
};

/* ---- converters/otf2/apart.c: runs `write` in a process of its own, whose death harms nobody. As
 * otf2_write().
 */
int otf2_apart(const struct convert_job *job,
	int (*write)(const struct convert_job *job, struct hyb_error *err), struct hyb_error *err);

/* ---- converters/otf2/tree.c: regions. 0 or enum hyb_result. */
int otf2_tree_make(struct otf2 *o, struct hyb_error *err);
void otf2_tree_release(struct otf2 *o);

/* ---- converters/otf2/words.c: facts that follow from the names of MPI's functions. */
void otf2_region_words(struct otf2_region *region);
OTF2_CollectiveOp otf2_collective(unsigned collective); /* an enum hyb_operation other than 0 */

/* ---- converters/otf2/handles.c: communicators, windows and files. */
int otf2_handles_make(struct otf2 *o);
void otf2_handles_release(struct otf2 *o);
/* NULL: not known, or not of that type. */
const struct otf2_handle *otf2_handle_of(const struct otf2 *o, const struct otf2_process *process,
	const struct hyb_handle *handle, unsigned type);
/* The rank in the handle of who is rank `peer` of the process's world, as hyb_event.peer; with | group << 31.
 * NO_REF: not known. */
uint32_t otf2_rank_in(const struct otf2 *o, const struct otf2_process *process,
	const struct otf2_handle *handle, uint32_t peer);
/* The number by which OTF2 knows that rank; NO_REF: it was not measured. */
uint32_t otf2_place(const struct otf2_handle *handle, uint32_t rank);

/* ---- converters/otf2/match.c: which sends and receives have another end. 0 or enum hyb_result, and *err. */
int otf2_match(struct otf2 *o, struct hyb_error *err);
/* How many sends, or receives, of a location were met, and how many of them have none; zero: none yet. */
struct otf2_met {
	uint64_t ends;
	size_t lone;
};
/* Whether the location's next send or receive has one: asked of each in the order of the trace. */
bool otf2_match_next(const struct otf2_location *location, bool receives, struct otf2_met *met);

/* ---- converters/otf2/metrics.c */
int otf2_metrics_make(struct otf2 *o);
/* Metric class of a counter of the program; NO_REF: memory is out. Locks. */
uint32_t otf2_counter_ref(struct otf2 *o, const char *name, const char *unit, bool real);

/* ---- converters/otf2/defs.c: all definitions, when all events are written. */
int otf2_defs_write(struct otf2 *o);

/* ---- converters/otf2/events.c: the events of one location. 0 or enum hyb_result, and *err. */
int otf2_events_write(struct otf2 *o, struct otf2_location *location, struct hyb_error *err);

#endif
