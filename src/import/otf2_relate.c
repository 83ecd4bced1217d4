/* What the definitions of an archive mean together: processes, hosts, ranks, metrics. */
#include <string.h>
#include <strings.h>

#include "otf2_defs.h"
#include "format/format.h"

#define TREE_DEEP 64 /* levels of the system that are followed */

static_assert(sizeof(((struct defs *)0)->metrics) / sizeof(uint32_t) == HYB_METRICS_MAX, "metrics");

const char *defs_string(const struct defs *d, OTF2_StringRef ref)
{
	const char **text = refs_get(&d->strings, ref);

	return text && *text ? *text : "";
}

const char *defs_host(const struct defs *d, const struct process_def *process)
{
	const struct tree_node *node = refs_get(&d->nodes, process->parent), *nearest = node;

	for (int i = 0; node && i < TREE_DEEP; i++) {
		const char *class_name = defs_string(d, node->class_name);

		if (node->host || !strcasecmp(class_name, "node") || !strcasecmp(class_name, "host"))
			return defs_string(d, node->name);
		node = refs_get(&d->nodes, node->parent);
	}
	return nearest ? defs_string(d, nearest->name) : "";
}

static bool is_python_file(const char *file)
{
	size_t length = strlen(file);

	return length > 3 && !strcmp(file + length - 3, ".py");
}

/* "mpi_send_", as EZTrace has functions of MPI's library for Fortran; "mpi_helper_" may be anybody's. */
static bool is_fortran_mpi(const char *name)
{
	static const char *const names[] = {
#include "mpi_names.h"
		"abort", "comm_rank", "finalized", "get_count", "initialized", "wtick", "wtime"};
	size_t length = strlen(name);

	if (length < 6 || strncmp(name, "mpi_", 4) != 0 || name[length - 1] != '_')
		return false;
	name += 4;
	length -= 5;
	length -= name[length - 1] == '_';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return true;
	return false;
}

enum hyb_region_kind defs_region_kind(
	const char *name, const char *file, OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	bool pause = paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM && !strcmp(name, "(paused)");

	if (paradigm == OTF2_PARADIGM_MPI || !strncmp(name, "MPI_", 4) || is_fortran_mpi(name))
		return HYB_REGION_MPI;
	if (pause) /* ours */
		return HYB_REGION_PAUSED;
	if (role == OTF2_REGION_ROLE_LOOP)
		return HYB_REGION_LOOP;
	if (role == OTF2_REGION_ROLE_THREAD_WAIT || role == OTF2_REGION_ROLE_TASK_WAIT ||
		role == OTF2_REGION_ROLE_BARRIER || role == OTF2_REGION_ROLE_IMPLICIT_BARRIER)
		return HYB_REGION_WAIT;
	if (role != OTF2_REGION_ROLE_FUNCTION)
		return HYB_REGION_USER;
	return is_python_file(file) ? HYB_REGION_PYTHON : HYB_REGION_FUNCTION;
}

/* -------------------------------------------------------------- processes */

static void list_locations(struct defs *d)
{
	uint32_t at = 0;

	d->by_process = arena_alloc(&d->arena, (d->locations.count + 1) * sizeof(*d->by_process));
	if (!d->by_process) {
		d->failed = true;
		return;
	}
	for (uint32_t i = 0; i < d->locations.count; i++)
		((struct process_def *)refs_at(
			 &d->processes, ((struct location_def *)refs_at(&d->locations, i))->process))
			->count++;
	for (uint32_t i = 0; i < d->processes.count; i++) {
		struct process_def *process = refs_at(&d->processes, i);

		process->first = at;
		at += process->count;
		process->count = 0;
	}
	for (uint32_t i = 0; i < d->locations.count; i++) {
		const struct location_def *location = refs_at(&d->locations, i);
		struct process_def *process = refs_at(&d->processes, location->process);

		d->by_process[process->first + process->count++] = i;
	}
}

/* ------------------------------------------------------------------ ranks */

static struct process_def *process_of(const struct defs *d, uint64_t location_ref)
{
	const struct location_def *location = refs_get(&d->locations, location_ref);

	return location ? refs_at(&d->processes, location->process) : NULL;
}

/* If no definition names the ranks, but there are communicators: the processes in their order. */
static void find_ranks(struct defs *d)
{
	const struct group_def *world = d->world.count ? &d->world : NULL;

	if (!d->mpi || (!world && !d->comms.count))
		return;
	d->ranks = world ? world->count : (uint32_t)d->processes.count;
	for (uint32_t i = 0; i < d->ranks; i++) {
		struct process_def *process =
			world ? process_of(d, world->members[i]) : refs_at(&d->processes, i);

		if (process && process->rank == UINT32_MAX)
			process->rank = i;
	}
}

uint32_t defs_group_size(const struct defs *d, const struct group_def *group)
{
	return group->type == OTF2_GROUP_TYPE_COMM_SELF ? 1 : group->count;
}

uint32_t defs_world_rank(const struct defs *d, const struct group_def *group, uint32_t rank, uint32_t own)
{
	const struct process_def *process;
	uint64_t world = UINT32_MAX;

	if (!group || rank >= defs_group_size(d, group))
		return UINT32_MAX;
	switch (group->type) {
	case OTF2_GROUP_TYPE_COMM_SELF:
		return own;
	case OTF2_GROUP_TYPE_COMM_GROUP:
		world = group->members[rank];
		break;
	default: /* locations, by reference */
		process = process_of(d, group->members[rank]);
		world = process ? process->rank : UINT32_MAX;
	}
	return world < d->ranks ? (uint32_t)world : UINT32_MAX;
}

/* ---------------------------------------------------------------- metrics */

static bool is_whole(OTF2_Type type)
{
	return type == OTF2_TYPE_UINT64 || type == OTF2_TYPE_INT64;
}

const struct class_def *defs_class(const struct defs *d, OTF2_MetricRef ref)
{
	const struct class_def *class = refs_get(&d->classes, ref);

	if (class && class->instance)
		class = refs_get(&d->classes, class->of);
	return class && !class->instance ? class : NULL;
}

bool defs_is_relative(const struct member_def *member)
{
	return (member->mode & OTF2_METRIC_VALUE_MASK) == OTF2_METRIC_VALUE_RELATIVE;
}

bool defs_is_absolute(const struct member_def *member)
{
	return (member->mode & OTF2_METRIC_VALUE_MASK) == OTF2_METRIC_VALUE_ABSOLUTE;
}

/* Values that a program records at moments of its own are no state of the thread. */
static bool is_metric(const struct class_def *class, const struct member_def *member)
{
	if (!class->strict && member->source == OTF2_METRIC_TYPE_USER && defs_is_absolute(member))
		return false;
	return class->own && is_whole(member->type);
}

/* What threads read of themselves are metrics, as long as there is room; all else counters. */
static void find_metrics(struct defs *d, bool strict)
{
	for (uint32_t i = 0; i < d->classes.count; i++) {
		const struct class_def *class = refs_at(&d->classes, i);

		for (uint32_t m = 0; class->strict == strict && m < class->count; m++) {
			uint32_t index = refs_find(&d->members, class->members[m]);
			struct member_def *member = refs_at(&d->members, index);

			if (!member || member->slot || !is_metric(class, member) ||
				d->metric_count == HYB_METRICS_MAX)
				continue;
			d->metrics[d->metric_count++] = index;
			member->slot = d->metric_count;
		}
	}
}

static void find_process_wide(struct defs *d)
{
	for (uint32_t i = 0; i < d->classes.count; i++) {
		const struct class_def *instance = refs_at(&d->classes, i);
		const struct class_def *class = instance->process_wide ? defs_class(d, instance->of) : NULL;

		for (uint32_t m = 0; class && m < class->count; m++) {
			struct member_def *member = refs_get(&d->members, class->members[m]);

			if (member)
				member->process_wide = true;
		}
	}
}

void defs_relate(struct defs *d)
{
	list_locations(d);
	find_ranks(d);
	find_metrics(d, true);
	find_metrics(d, false);
	find_process_wide(d);
}
