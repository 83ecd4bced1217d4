/* What the reader holds of one process: definitions, and its threads. */
#ifndef HYB_PROCESS_H
#define HYB_PROCESS_H

#include "base/arena.h"
#include "base/search.h"
#include "reader/clock.h"
#include "reader/file.h"

/* A definition under its id, the file offset. Arrays of these are sorted by id. */
struct def_region {
	uint64_t id;
	struct hyb_region region;
};

struct def_counter {
	uint64_t id;
	const char *name, *unit;
};

struct def_text {
	uint64_t id;
	const char *text;
};

/* A name that a handle of MPI was given. */
struct handle_name {
	uint32_t handle;
	const char *name;
};

/* Node ids [first, first + count) of a location; the index of the first is index[base]. */
struct span {
	uint32_t first, count, base;
};

#define NODE_NONE UINT32_MAX /* no node, or one that was left out */

/* The private half of struct hyb_location_info. */
struct location {
	struct hyb_node_info *nodes;
	struct span *spans; /* by `first` */
	size_t span_count;
	uint32_t *index; /* index in nodes[] or NODE_NONE, by slot */
	struct chunk **traces; /* by serial; in file->sorted */
	size_t trace_count;
};

struct process {
	struct hyb_process info; /* first: a struct hyb_process is one of these */
	struct file *file; /* the experiment's; of several processes perhaps */
	uint32_t number; /* in a file of several, else 0 */
	struct hyb_header header;
	struct chunk **chunks; /* its own: a part of file->sorted */
	size_t chunk_count;
	struct clock clock;
	bool corrected; /* the clock has its shift */
	struct arena *arena; /* the experiment's */
	struct damage *damage; /* the experiment's */
	struct def_region *regions;
	struct def_counter *counters;
	struct def_text *texts;
	struct handle_name *names;
	size_t region_count, counter_count, text_count, name_count;
	struct hyb_module *modules; /* the following eight: as in info, grown by array_room */
	struct hyb_text_pair *metadata;
	struct hyb_note *notes;
	struct hyb_child *children;
	struct hyb_ended *ended;
	struct hyb_program *programs;
	struct hyb_handle *handles;
	struct hyb_clock_offset *offsets;
	struct hyb_metric metrics[HYB_METRICS_MAX]; /* those of metric_mask are defined */
	uint32_t metric_mask;
	uint32_t overflow_count; /* of them with a period */
	uint16_t *module_index; /* by module id: 1 + index in modules, 0: none */
	uint32_t module_ids; /* there is an entry for each below */
	struct location *locations; /* beside info.locations */
};

#define HYB_METRICS_SINCE 3 /* minor version that brought metrics */
#define MODULE_IDS 65536u /* of which 0 is none */

/* NULL: no module, or not known. */
static inline const struct hyb_module *process_module(const struct process *process, uint32_t id)
{
	uint32_t index = id < process->module_ids ? process->module_index[id] : 0;

	return index ? &process->modules[index - 1] : NULL;
}

/* What process_open() needs: where to find it, and whose it will be. */
struct process_source {
	struct hyb_experiment *experiment;
	struct arena *arena;
	struct damage *damage;
	struct file *file;
	const struct hyb_header *header;
	uint32_t number;
	struct chunk **chunks;
	size_t chunk_count;
};

/* NULL if out of memory; nothing is held then. */
struct process *process_open(const struct process_source *source);

void process_close(struct process *process); /* accepts NULL */

/* Whether what is not known may have been written since the file was opened: no damage then. */
bool process_grows(const struct process *process);

/* The definition of that id, or NULL. */
const struct hyb_region *process_region(const struct process *process, uint64_t id);
const struct def_counter *process_counter(const struct process *process, uint64_t id);
const char *process_text(const struct process *process, uint64_t id);

/* The handle of that id (not 0, and there are gaps only in damaged files), or NULL. */
const struct hyb_handle *process_handle(const struct process *process, uint32_t id);

/* Whether a peer is a rank of the process's world, HYB_RANK_NONE, or of another world. */
static inline bool process_peer(const struct process *process, uint32_t peer)
{
	return peer & HYB_RANK_FOREIGN || peer < process->info.world_size;
}

/* How the records of its traces are to be read. */
static inline struct trace_layout process_layout(const struct process *process)
{
	return (struct trace_layout){(uint8_t)process->info.metric_count, !process->header.trace_events,
		process->file->header.version_minor >= HYB_METRICS_SINCE};
}

/* Reads all DEFS chunks. 0 or HYB_ENOMEM. */
int process_load_defs(struct process *process);

/* Reads all locations with their nodes. 0 or HYB_ENOMEM. */
int process_load_locations(struct process *process);

static inline const struct process *location_process(const struct hyb_location_info *info)
{
	return (const struct process *)info->process;
}

static inline const struct location *location_of(const struct hyb_location_info *info)
{
	return &location_process(info)->locations[info - info->process->locations];
}

/* Index of a node id in the location's nodes, or NODE_NONE. *hint: where the last one was; start with 0. */
static inline uint32_t location_node(const struct location *location, uint32_t id, size_t *hint)
{
	const struct span *span = &location->spans[*hint];
	size_t at;

	if (location->span_count && id - span->first < span->count)
		return location->index[span->base + (id - span->first)];
	at = SEARCH(i, location->span_count, location->spans[i].first <= id);
	span = at ? &location->spans[at - 1] : NULL;
	if (!span || id - span->first >= span->count)
		return NODE_NONE;
	*hint = at - 1;
	return location->index[span->base + (id - span->first)];
}

#endif
