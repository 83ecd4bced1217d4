/* The tree of all call paths, and the regions that its nodes are instances of. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converters/otf2/state.h"
#include "converters/formats.h"
#include "format/format.h"
#include "session/session.h"

static void describe_probe(struct otf2_region *region)
{
	switch (region->kind) {
	case 0:
	case HYB_REGION_FUNCTION:
		region->paradigm = OTF2_PARADIGM_COMPILER;
		region->role = OTF2_REGION_ROLE_FUNCTION;
		break;
	case HYB_REGION_LOOP:
		region->paradigm = OTF2_PARADIGM_USER;
		region->role = OTF2_REGION_ROLE_LOOP;
		break;
	case HYB_REGION_PYTHON:
		region->paradigm = OTF2_PARADIGM_USER;
		region->role = OTF2_REGION_ROLE_FUNCTION;
		break;
	case HYB_REGION_WAIT:
		region->paradigm = OTF2_PARADIGM_PTHREAD;
		region->role = OTF2_REGION_ROLE_THREAD_WAIT;
		break;
	case HYB_REGION_PAUSED:
	case HYB_REGION_OVERFLOW:
		region->paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM;
		region->role = OTF2_REGION_ROLE_ARTIFICIAL;
		break;
	case HYB_REGION_MPI:
		otf2_region_words(region);
		break;
	default:
		region->paradigm = OTF2_PARADIGM_USER;
		region->role = OTF2_REGION_ROLE_CODE;
	}
}

static void describe_frame(const struct profile_node *node, struct otf2_region *region)
{
	bool made_up = node->kind == PROFILE_INCOMPLETE || *node->name == '[';

	region->paradigm = OTF2_PARADIGM_SAMPLING; /* nobody counts its calls */
	region->role = made_up ? OTF2_REGION_ROLE_ARTIFICIAL : OTF2_REGION_ROLE_FUNCTION;
}

/* `kind`: enum hyb_region_kind of a probe, 0: not known. ROW_NONE when memory is out. */
static uint32_t region_of(struct otf2 *o, const struct profile_node *node, unsigned kind)
{
	bool probe = node->kind == PROFILE_PROBE;
	struct otf2_region key = {.name = node->name,
		.file = node->file,
		.module = node->module,
		.line = probe ? node->line : node->declared,
		.probe = probe,
		.kind = kind};
	size_t count = o->regions.count;
	uint32_t row = row_map_number(&o->regions, &key);

	if (o->regions.count > count && probe)
		describe_probe((struct otf2_region *)o->regions.rows + row);
	else if (o->regions.count > count)
		describe_frame(node, (struct otf2_region *)o->regions.rows + row);
	return row;
}

/* 0 or HYB_ENOMEM. */
static int make_arrays(struct otf2 *o)
{
	uint8_t *kinds = convert_region_kinds(o->profile);
	int r = 0;

	o->regions = (struct row_map){
		.row_size = sizeof(struct otf2_region), .key_size = offsetof(struct otf2_region, role)};
	o->region = calloc(o->node_count, sizeof(*o->region));
	if (!kinds || !o->region || weave_tree_make(&o->tree, o->nodes, o->node_count))
		r = HYB_ENOMEM;
	for (size_t i = 1; !r && i < o->node_count; i++) {
		o->region[i] = region_of(o, &o->nodes[i], kinds[i]);
		r = o->region[i] == ROW_NONE ? HYB_ENOMEM : 0;
	}
	free(kinds);
	return r;
}

/* All locations take part, in the order of their numbers. */
static int make_profile(struct otf2 *o, struct hyb_error *err)
{
	struct profile_options options = {
		.mode = o->job->samples == CONVERT_CONTEXT ? PROFILE_CALLSITE : PROFILE_FUNCTION,
		.parts = true,
	};
	const struct profile_part *parts;
	size_t count;
	int r = session_name(o->job->experiment, NULL, &o->symbols, err);

	if (!r)
		r = session_add(&(struct session_input){o->job->experiment, o->symbols}, 1, &options,
			&o->profile, err);
	parts = r ? NULL : profile_parts(o->profile, &count);
	for (size_t i = 0; !r && i < count; i++)
		o->locations[i].own = parts[i].nodes;
	return r;
}

int otf2_tree_make(struct otf2 *o, struct hyb_error *err)
{
	int r = make_profile(o, err);

	if (!r) {
		o->nodes = profile_nodes(o->profile);
		o->node_count = profile_count(o->profile);
		r = make_arrays(o);
	}
	return r == HYB_ENOMEM ? convert_no_memory(err) : r;
}

void otf2_tree_release(struct otf2 *o)
{
	weave_tree_release(&o->tree);
	free(o->region);
	row_map_release(&o->regions);
	profile_free(o->profile);
	hyb_symbols_close(o->symbols);
}
