#include "profile/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/times.h"

/* What is known of a node before it goes anywhere. */
enum shape {
	SHAPE_INNER = 1, /* has children */
	SHAPE_SHOWN = 2, /* and not all of them are start code */
};

/* Where a node of the location went. */
struct place {
	uint32_t node; /* of the tree: what is below goes there */
	uint32_t own; /* the same for its samples */
	bool first; /* nothing is shown yet below its probe */
	const char *ours; /* inside libhybrid: the name under which it was called */
};

struct work {
	struct merge *merge;
	const struct resolver *resolver;
	const struct hyb_node_info *nodes;
	struct place *places;
	uint8_t *shapes; /* enum shape */
};

static const char *partial_name(unsigned reason)
{
	switch (reason) {
	case HYB_PARTIAL_NO_RULE:
		return "[incomplete: code without unwind information]";
	case HYB_PARTIAL_BAD_STACK:
		return "[incomplete: the stack leads nowhere]";
	case HYB_PARTIAL_TOO_DEEP:
		return "[incomplete: more frames than are followed]";
	}
	return "[incomplete]";
}

/* Moves a place one node down. */
static int descend(struct merge *merge, struct place *place, const struct profile_node *like)
{
	uint32_t child = tree_child(merge->tree, place->node, like);

	if (!child)
		return HYB_ENOMEM;
	place->node = child;
	place->first = false;
	return 0;
}

static int place_probe(struct work *w, uint32_t i, struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];
	struct strings *strings = w->merge->strings;
	struct profile_node like = {.kind = PROFILE_PROBE};
	int r;

	if (n->type == HYB_TYPE_REGION) {
		like.name = strings_get(strings, n->region->name);
		like.file = strings_get(strings, n->region->file);
		like.module = strings_get(strings, "");
		like.line = n->region->line;
	} else {
		const struct code *code =
			codes_get(w->merge->codes, w->resolver, n->module, n->address, false);
		const struct code_frame *f = code ? &code->frames[code->frame_count - 1] : NULL;

		if (!f)
			return HYB_ENOMEM;
		like.name = f->function;
		like.file = f->file;
		like.module = code->module_path;
		like.line = f->function_line ? f->function_line : f->line;
		like.guess = f->guess;
	}
	if (!like.name || !like.file || !like.module)
		return HYB_ENOMEM;
	r = descend(w->merge, place, &like);
	place->first = true;
	place->ours = NULL;
	return r;
}

static int place_partial(struct work *w, uint32_t i, struct place *place)
{
	struct profile_node like = {.kind = PROFILE_INCOMPLETE};

	like.name = strings_get(w->merge->strings, partial_name(w->nodes[i].reason));
	like.file = like.module = strings_get(w->merge->strings, "");
	if (!like.name || !like.file)
		return HYB_ENOMEM;
	place->ours = NULL;
	return w->shapes[i] & SHAPE_SHOWN ? descend(w->merge, place, &like) : 0;
}

/* Inside libhybrid: calls vanish, a leaf has the name of what was called. */
static int place_ours(struct work *w, const struct code *code, bool leaf, struct place *place)
{
	struct profile_node like = {.kind = PROFILE_LEAF, .module = code->module_path};

	if (!place->ours)
		place->ours = code->unresolved ? strings_get(w->merge->strings, "[hybrid]")
					       : code->frames[code->frame_count - 1].function;
	like.name = place->ours;
	like.file = strings_get(w->merge->strings, "");
	if (!like.name || !like.file)
		return HYB_ENOMEM;
	if (w->merge->mode == PROFILE_FUNCTION)
		like.kind = PROFILE_INTERMEDIATE;
	return leaf ? descend(w->merge, place, &like) : 0;
}

/* Whether `name`, perhaps "space::name<T>(int)", is the function that a region calls `region`. */
static bool is_function(const char *name, const char *region)
{
	size_t n = strlen(region);
	const char *end = name + strcspn(name, "(<");

	if (!strcmp(name, region))
		return true;
	return (size_t)(end - name) >= n && !memcmp(end - n, region, n) &&
	       ((size_t)(end - name) == n || end[-(long)n - 1] == ':');
}

static bool is_folded(const struct work *w, uint32_t i, const struct code *code)
{
	const struct hyb_node_info *probe = &w->nodes[w->nodes[i].probe];
	const char *name = code->frames[code->frame_count - 1].function;

	if (w->merge->mode == PROFILE_CALLSITE || probe->type == HYB_TYPE_ROOT)
		return false;
	if (probe->type == HYB_TYPE_REGION && probe->region->kind != HYB_REGION_FUNCTION)
		return false;
	return is_function(name, w->merge->tree->nodes[w->places[w->nodes[i].probe].node].name);
}

/*
 * Whether a frame is start code that is not to be shown: it stands above main or
 * a thread's function, and nothing that is shown above it.
 */
static bool is_start(const struct work *w, uint32_t i, const struct code *code, bool leaf)
{
	const struct place *above = &w->places[w->nodes[i].parent];

	if (leaf || w->nodes[i].probe)
		return false;
	return code->main_start || !(w->shapes[i] & SHAPE_SHOWN) || (above->first && code->start);
}

/* Places frames as those of a call, or (leaf) as those of a sample. */
static int place_frames(struct work *w, uint32_t i, const struct code *code, bool leaf, struct place *place)
{
	enum profile_mode mode = w->merge->mode;
	bool folded = place->first && is_folded(w, i, code);

	for (size_t f = code->frame_count; f-- > 0;) {
		const struct code_frame *frame = &code->frames[f];
		bool line_of_leaf = leaf && !f && mode != PROFILE_FUNCTION;
		struct profile_node like = {
			.kind = line_of_leaf ? PROFILE_LEAF : PROFILE_INTERMEDIATE,
			.name = frame->function,
			.file = frame->file,
			.module = code->module_path,
			.line = line_of_leaf || mode == PROFILE_CALLSITE ? frame->line : 0,
			.guess = frame->guess,
		};

		if (folded && f == code->frame_count - 1 && !line_of_leaf)
			place->first = false;
		else if (descend(w->merge, place, &like))
			return HYB_ENOMEM;
	}
	return 0;
}

static int place_code(struct work *w, uint32_t i, const struct code *code, bool leaf, struct place *place)
{
	if (code->ours)
		return place_ours(w, code, leaf, place);
	place->ours = NULL;
	if (is_start(w, i, code, leaf)) {
		if (code->main_start)
			*place = w->places[0];
		return 0;
	}
	return place_frames(w, i, code, leaf, place);
}

/* A frame; an interrupted one is looked up exactly, whatever is below it. */
static int place_frame(struct work *w, uint32_t i, struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];
	bool leaf = n->type == HYB_TYPE_LEAF, inner = w->shapes[i] & SHAPE_INNER;
	struct code *code = codes_get(w->merge->codes, w->resolver, n->module, n->address, !leaf);
	struct place own = *place;
	int r = 0;

	if (!code)
		return HYB_ENOMEM;
	code->samples += n->samples;
	if (leaf && (!inner || n->samples))
		r = place_code(w, i, code, true, &own);
	if (!r && (inner || !leaf))
		r = place_code(w, i, code, false, place);
	place->own = leaf ? own.node : place->node;
	return r;
}

static int place_node(struct work *w, uint32_t i)
{
	struct place *place = &w->places[i];
	int r;

	*place = w->places[w->nodes[i].parent];
	switch (w->nodes[i].type) {
	case HYB_TYPE_REGION:
	case HYB_TYPE_FUNCTION:
		r = place_probe(w, i, place);
		break;
	case HYB_TYPE_PARTIAL:
		r = place_partial(w, i, place);
		break;
	default:
		return place_frame(w, i, place);
	}
	place->own = place->node;
	return r;
}

/* Finds out about all nodes what place_node() needs of the nodes below. */
static int find_shapes(struct work *w, const struct hyb_location_info *location)
{
	for (size_t i = location->node_count; i-- > 1;) {
		const struct hyb_node_info *n = &w->nodes[i];
		uint8_t *shape = &w->shapes[i], *above = &w->shapes[n->parent];
		const struct code *code = NULL;

		if (n->type == HYB_TYPE_CALL && !n->probe) {
			code = codes_get(w->merge->codes, w->resolver, n->module, n->address, true);
			if (!code)
				return HYB_ENOMEM;
		}
		if ((!code && n->type != HYB_TYPE_PARTIAL) || n->probe || n->samples || *shape != SHAPE_INNER)
			*shape |= SHAPE_SHOWN;
		*above |= SHAPE_INNER;
		if (*shape & SHAPE_SHOWN && !(code && code->main_start))
			*above |= SHAPE_SHOWN;
	}
	return 0;
}

static int add_values(struct work *w, const struct hyb_location_info *location, const struct times *times)
{
	const struct merge *m = w->merge;

	for (uint32_t i = 0; i < location->node_count; i++) {
		const struct hyb_node_info *from = &location->nodes[i];
		struct profile_node *to = &m->tree->nodes[w->places[i].own];

		to->blocked += times->blocked[i];
		to->samples += from->samples;
		if (from->type == HYB_TYPE_REGION || from->type == HYB_TYPE_FUNCTION) {
			to->calls += from->calls;
			to->skipped += from->skipped;
			to->demoted |= from->demoted;
		}
		if (location->source == HYB_SOURCE_NONE) {
			to->exclusive += times->exclusive[i];
			continue;
		}
		if (times->exclusive[i] && share_add_time(m->share, m->tree, location->source,
						   w->places[i].own, times->exclusive[i]))
			return HYB_ENOMEM;
		if (from->samples && share_add_samples(m->share, m->tree, location->source, w->places[i].own,
					     from->samples, location->period))
			return HYB_ENOMEM;
	}
	return 0;
}

int merge_location(struct merge *merge, const struct hyb_location_info *location,
	const struct resolver *resolver, uint32_t top)
{
	struct work w = {.merge = merge, .resolver = resolver, .nodes = location->nodes};
	struct times times = {0};
	int r = HYB_ENOMEM;

	w.places = calloc(location->node_count, sizeof(*w.places));
	w.shapes = calloc(location->node_count, sizeof(*w.shapes));
	if (w.places && w.shapes)
		r = times_of_location(location, &times);
	if (!r)
		r = find_shapes(&w, location);
	if (!r)
		w.places[0] = (struct place){.node = top, .own = top, .first = true};
	for (uint32_t i = 1; !r && i < location->node_count; i++)
		r = place_node(&w, i);
	if (!r)
		r = add_values(&w, location, &times);
	times_release(&times);
	free(w.places);
	free(w.shapes);
	return r;
}
