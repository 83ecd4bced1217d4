/* Definitions of code: regions, groups of them for colouring, calling contexts. */
#include <stdlib.h>
#include <string.h>

#include "converters/otf2/defs.h"

static const struct otf2_region *region_at(const struct otf2 *o, size_t i)
{
	return &((const struct otf2_region *)o->regions.rows)[i];
}

static void define_regions(struct defs *d)
{
	for (size_t i = 0; i < d->o->regions.count; i++) {
		const struct otf2_region *region = region_at(d->o, i);
		uint32_t name = otf2_string(d, region->name);
		uint32_t file = *region->file ? otf2_string(d, region->file) : OTF2_UNDEFINED_STRING;

		DEFINE(d, Region, (uint32_t)i, name, name, otf2_string(d, region->module), region->role,
			region->paradigm, OTF2_REGION_FLAG_NONE, file, (uint32_t)region->line, 0);
	}
}

static const char *file_of(const struct otf2_region *region)
{
	return region->file;
}

/* "" where there is none: MPI's own name for its functions. */
static const char *module_of(const struct otf2_region *region)
{
	return region->mpi ? "MPI" : region->module;
}

struct member {
	const char *of;
	uint64_t region;
};

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	int d = strcmp(a->of, b->of);

	return d ? d : (a->region > b->region) - (a->region < b->region);
}

/* Groups of the regions that have a text in common. */
static void define_groups(struct defs *d, const char *(*of)(const struct otf2_region *region),
	struct member *list, uint64_t *members)
{
	struct otf2 *o = d->o;
	size_t count = o->regions.count;

	for (size_t i = 0; i < count; i++)
		list[i] = (struct member){of(region_at(o, i)), i};
	qsort(list, count, sizeof(*list), compare_members);
	for (size_t i = 0; i < count;) {
		const char *text = list[i].of;
		uint32_t n = 0;

		for (; i < count && !strcmp(list[i].of, text); i++)
			members[n++] = list[i].region;
		if (*text)
			DEFINE(d, Group, o->group_count++, otf2_string(d, text), OTF2_GROUP_TYPE_REGIONS,
				OTF2_PARADIGM_UNKNOWN, OTF2_GROUP_FLAG_NONE, n, members);
	}
}

/* A note where viewers show it, since they count visits of sampled regions like those of others. */
static void define_sampled(struct defs *d, uint64_t *members)
{
	uint32_t n = 0;

	for (size_t i = 0; i < d->o->regions.count; i++)
		if (region_at(d->o, i)->paradigm == OTF2_PARADIGM_SAMPLING)
			members[n++] = i;
	if (n)
		DEFINE(d, Group, d->o->group_count++,
			otf2_string(d, "sampled: entered where a sample shows it, visits are not calls"),
			OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_SAMPLING, OTF2_GROUP_FLAG_NONE, n, members);
}

/* Every node of the tree but its root. */
static void define_contexts(struct defs *d)
{
	struct otf2 *o = d->o;
	struct place {
		uint64_t file, line, ref;
	} * row, key;
	struct row_map places = {.row_size = sizeof(key), .key_size = 2 * sizeof(uint64_t)};

	for (size_t i = 1; i < o->node_count && !d->failed; i++) {
		const struct profile_node *node = &o->nodes[i];
		uint32_t place = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;

		if (*node->file && node->line) {
			key = (struct place){otf2_string(d, node->file), node->line, 0};
			row = row_map_row(&places, &key);
			if (!row) {
				d->failed = HYB_ENOMEM;
				break;
			}
			if (!row->ref) {
				row->ref = places.count;
				DEFINE(d, SourceCodeLocation, (uint32_t)row->ref - 1, (uint32_t)row->file,
					(uint32_t)row->line);
			}
			place = (uint32_t)row->ref - 1;
		}
		DEFINE(d, CallingContext, (uint32_t)i - 1, o->region[i], place,
			o->tree.parent[i] ? o->tree.parent[i] - 1 : OTF2_UNDEFINED_CALLING_CONTEXT);
	}
	row_map_release(&places);
}

void otf2_define_code(struct defs *d)
{
	size_t count = d->o->regions.count;
	struct member *list = calloc(count + 1, sizeof(*list));
	uint64_t *members = calloc(count + 1, sizeof(*members));

	define_regions(d);
	if (list && members) {
		define_groups(d, file_of, list, members);
		define_groups(d, module_of, list, members);
		define_sampled(d, members);
	} else {
		d->failed = HYB_ENOMEM;
	}
	free(list);
	free(members);
	if (d->o->job->samples == CONVERT_CONTEXT)
		define_contexts(d);
}
