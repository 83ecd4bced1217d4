/* What the reader holds of one .hyb file: definitions, and its threads. */
#ifndef HYB_PROCESS_H
#define HYB_PROCESS_H

#include "base/arena.h"
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
	struct chunk **traces; /* by serial; in process->sorted */
	size_t trace_count;
};

struct process {
	struct hyb_process info; /* first: a struct hyb_process is one of these */
	struct file file;
	struct clock clock;
	struct arena *arena; /* the experiment's */
	struct damage *damage; /* the experiment's */
	struct chunk **sorted; /* by location, kind, then serial (TRACE) or offset */
	struct def_region *regions;
	struct def_counter *counters;
	struct def_text *texts;
	size_t region_count, counter_count, text_count;
	struct hyb_module *modules; /* the following four: as in info, grown by array_room */
	struct hyb_text_pair *metadata;
	struct hyb_note *notes;
	struct hyb_child *children;
	uint16_t *module_index; /* by module id: 1 + index in modules, 0: none */
	struct location *locations; /* beside info.locations */
};

#define MODULE_IDS 65536u /* of which 0 is none */

/* Opens one file. On failure nothing is held. */
int process_open(const char *path, struct hyb_experiment *experiment, struct arena *arena,
	struct damage *damage, struct process **ret, struct hyb_error *err);

void process_close(struct process *process); /* accepts NULL */

/* The definition of that id, or NULL. */
const struct hyb_region *process_region(const struct process *process, uint64_t id);
const struct def_counter *process_counter(const struct process *process, uint64_t id);
const char *process_text(const struct process *process, uint64_t id);

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
	size_t low = 0, high = location->span_count;

	if (high && id - span->first < span->count)
		return location->index[span->base + (id - span->first)];
	while (low < high) {
		size_t middle = (low + high) / 2;

		span = &location->spans[middle];
		if (id < span->first) {
			high = middle;
		} else if (id - span->first >= span->count) {
			low = middle + 1;
		} else {
			*hint = middle;
			return location->index[span->base + (id - span->first)];
		}
	}
	return NODE_NONE;
}

#endif
