#include "viewer/timeline/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "profile/views/row_map.h"

/* A row of a table. */
struct group {
	const char *name; /* the key */
	uint64_t time; /* ns of its nodes alone, in the whole run */
};

/* What has neither file nor module belongs to its caller's group. NULL: that. */
static const char *group_name(const struct profile_node *n, enum group_by by)
{
	if (n->kind == PROFILE_ROOT)
		return "";
	if (by == GROUP_BY_FUNCTION)
		return n->name;
	if (n->mpi)
		return "[MPI]";
	if (by == GROUP_BY_FILE && *n->file)
		return path_base(n->file);
	return *n->module ? path_base(n->module) : NULL;
}

/* names[i]: the group's of node i. */
static int name_all(struct timeline_groups *groups, const struct profile_node *nodes, enum group_by by,
	const char **names, struct row_map *table)
{
	for (size_t i = 0; i < groups->node_count; i++) {
		const char *name = group_name(&nodes[i], by);
		struct group *group;

		names[i] = name ? strings_get(&groups->strings, name) : names[nodes[i].parent];
		if (!names[i])
			return HYB_ENOMEM;
		group = row_map_row(table, &names[i]);
		if (!group)
			return HYB_ENOMEM;
		group->time += nodes[i].exclusive + nodes[i].blocked;
	}
	return 0;
}

static int more_first(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (!*a->name != !*b->name) /* threads where nothing is known */
		return *a->name ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* The table is sorted: gives bands. */
static void give_bands(struct timeline_groups *groups, const struct row_map *table, const char *const *names)
{
	const struct group *rows = table->rows;
	size_t named = table->count;

	while (named && !*rows[named - 1].name)
		named--;
	groups->others = named > GROUPS;
	groups->count = groups->others ? GROUPS : named;
	for (size_t i = 0; i < groups->count; i++)
		groups->names[i] = rows[i].name;
	if (groups->others)
		groups->names[GROUPS - 1] = "others";
	for (size_t i = 0; i < groups->node_count; i++) {
		uint8_t band = 0;

		while (band + 1u < groups->count && names[i] != groups->names[band])
			band++;
		groups->band[i] = band;
	}
}

int groups_make(
	struct timeline_groups *groups, const struct profile_node *nodes, size_t count, enum group_by by)
{
	struct row_map table = {.row_size = sizeof(struct group), .key_size = sizeof(const char *)};
	const char **names = malloc(count * sizeof(*names));
	int r = HYB_ENOMEM;

	*groups = (struct timeline_groups){.node_count = count, .band = malloc(count)};
	if (names && groups->band)
		r = name_all(groups, nodes, by, names, &table);
	if (!r) {
		row_map_sort(&table, more_first);
		give_bands(groups, &table, names);
	} else {
		groups_release(groups);
	}
	row_map_release(&table);
	free(names);
	return r;
}

void groups_release(struct timeline_groups *groups)
{
	free(groups->band);
	strings_release(&groups->strings);
	*groups = (struct timeline_groups){0};
}

void groups_sum(const struct timeline_groups *groups, const struct profile_node *nodes, uint64_t sums[GROUPS])
{
	memset(sums, 0, GROUPS * sizeof(*sums));
	for (size_t i = 1; i < groups->node_count; i++)
		sums[groups->band[i]] += nodes[i].exclusive + nodes[i].blocked;
}

const char *group_by_name(enum group_by by)
{
	static const char *const names[] = {"function", "file", "module"};

	return names[by];
}
