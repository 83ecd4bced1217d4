/*
 * The definitions of an OTF2 archive, as far as the import needs them, by their references. Nothing in them
 * is trusted: what one refers to may be missing, and every look-up may find nothing.
 */
#ifndef HYB_OTF2_IMPORT_DEFS_H
#define HYB_OTF2_IMPORT_DEFS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "otf2_refs.h"
#include "format/format.h"

struct tree_node {
	OTF2_StringRef name, class_name;
	OTF2_SystemTreeNodeRef parent;
	bool host; /* its processes share memory */
};

struct process_def { /* a location group */
	OTF2_StringRef name;
	OTF2_SystemTreeNodeRef parent;
	uint64_t pid; /* UINT64_MAX: not known */
	uint32_t rank; /* in the world, or UINT32_MAX */
	uint32_t first; /* its locations: index into defs.by_process, and their number */
	uint32_t count;
};

struct location_def {
	OTF2_StringRef name;
	OTF2_LocationType type;
	uint64_t events;
	uint32_t process; /* index */
	uint64_t tid; /* UINT64_MAX: not known */
};

struct region_def {
	OTF2_StringRef name, file;
	uint32_t line;
	uint16_t kind; /* enum hyb_region_kind */
	bool sampled; /* seen in samples: nobody counted its calls */
};

struct group_def {
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	uint32_t count;
	uint64_t *members;
};

struct comm_def {
	OTF2_StringRef name;
	OTF2_GroupRef group, other; /* other: of an inter-communicator, else UNDEFINED */
	OTF2_CommRef parent;
};

struct member_def { /* of a class of metrics */
	OTF2_StringRef name, text, unit;
	OTF2_MetricType source;
	OTF2_MetricMode mode;
	OTF2_Type type;
	OTF2_Base base;
	int64_t exponent;
	bool process_wide;
	uint32_t slot; /* 1 + number of the metric that it is, 0: a counter */
};

struct class_def { /* of metrics, or an instance of one */
	OTF2_MetricRef of; /* instance: its class */
	bool instance, process_wide;
	bool strict; /* read at every enter and leave */
	bool own; /* what a thread reads of itself */
	uint8_t count;
	OTF2_MetricMemberRef *members;
};

struct context_def { /* calling context */
	OTF2_RegionRef region;
	OTF2_SourceCodeLocationRef place;
	OTF2_CallingContextRef parent;
};

struct place_def { /* source code location */
	OTF2_StringRef file;
	uint32_t line;
};

struct window_def {
	OTF2_StringRef name;
	OTF2_CommRef comm;
};

struct file_def { /* I/O file, or a handle of one */
	OTF2_StringRef name;
	OTF2_IoFileRef file;
	OTF2_CommRef comm;
};

struct generator_def { /* of interrupts */
	OTF2_StringRef name;
	uint64_t period; /* ns; 0: no clock */
	uint32_t source; /* enum hyb_source */
};

struct marker_def {
	uint64_t time, scope_ref;
	OTF2_MarkerScope scope;
	const char *text;
};

struct defs {
	struct arena arena;
	struct refs strings; /* const char * */
	struct refs nodes, processes, locations, regions, groups, comms, members, classes, contexts, places;
	struct refs windows, files, handles, generators, parameters /* OTF2_StringRef: the name */;
	struct refs marker_names; /* const char * */
	struct marker_def *markers; /* by time */
	size_t marker_count;
	uint32_t *by_process; /* indices of locations, process by process */
	uint64_t resolution, offset, length, realtime; /* of the clock; realtime 0: not known */
	bool mpi; /* there are regions of MPI */
	struct group_def world; /* the members of MPI_COMM_WORLD; count 0: not known */
	uint32_t ranks; /* in it; 0: there is none */
	uint32_t metrics[16]; /* members that are metrics, by slot */
	uint32_t metric_count;
	bool failed; /* memory is out */
	void (*beat)(void *data); /* called now and then while definitions are read */
	void *data;
};

/*
 * Reads all global definitions and markers. 0, or an error: a text for people in `why`. Definitions in front
 * of the error are there, and *ret_partial is set if some are missing.
 */
int defs_read(struct defs *d, OTF2_Reader *reader, bool *ret_partial, const char **why);

/* Finds out what they mean together; part of defs_read(). */
void defs_relate(struct defs *d);
enum hyb_region_kind defs_region_kind(
	const char *name, const char *file, OTF2_RegionRole role, OTF2_Paradigm paradigm);

/* Never NULL. */
const char *defs_string(const struct defs *d, OTF2_StringRef ref);
/* The class of that reference, or of the instance; NULL: there is none. */
const struct class_def *defs_class(const struct defs *d, OTF2_MetricRef ref);
/* Whether its values are since the last one, or as they are; else they are since the start. */
bool defs_is_relative(const struct member_def *member);
bool defs_is_absolute(const struct member_def *member);
/* The host that a process ran on. */
const char *defs_host(const struct defs *d, const struct process_def *process);
/* The rank in the world of a rank in a group, seen by world rank `own`; UINT32_MAX: not known. */
uint32_t defs_world_rank(const struct defs *d, const struct group_def *group, uint32_t rank, uint32_t own);
uint32_t defs_group_size(const struct defs *d, const struct group_def *group);

#endif
