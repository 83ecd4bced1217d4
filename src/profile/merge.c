#include "profile/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/share.h"

/* Where a node of the location went. */
struct place {
	uint32_t node; /* of the tree */
	bool first; /* nothing is shown yet below its probe */
	const char *ours; /* inside libhybrid: the name under which it was called */
};

struct work {
	struct merge *merge;
	const struct resolver *resolver;
	const struct hyb_node_info *nodes;
	struct place *places;
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
	return descend(w->merge, place, &like);
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

static int place_code(struct work *w, uint32_t i, struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];
	enum profile_mode mode = w->merge->mode;
	bool leaf = n->type == HYB_TYPE_LEAF, folded;
	struct code *code = codes_get(w->merge->codes, w->resolver, n->module, n->address, !leaf);

	if (!code)
		return HYB_ENOMEM;
	code->samples += n->samples;
	if (code->ours)
		return place_ours(w, code, leaf, place);
	place->ours = NULL;
	if (place->first && !leaf && code->start && w->nodes[n->probe].type == HYB_TYPE_ROOT)
		return 0;
	folded = place->first && is_folded(w, i, code);
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

static int place_node(struct work *w, uint32_t i)
{
	w->places[i] = w->places[w->nodes[i].parent];
	switch (w->nodes[i].type) {
	case HYB_TYPE_REGION:
	case HYB_TYPE_FUNCTION:
		return place_probe(w, i, &w->places[i]);
	case HYB_TYPE_PARTIAL:
		return place_partial(w, i, &w->places[i]);
	}
	return place_code(w, i, &w->places[i]);
}

static void add_values(
	struct profile_node *to, const struct hyb_node_info *from, uint64_t exclusive, uint64_t blocked)
{
	to->exclusive += exclusive;
	to->blocked += blocked;
	to->samples += from->samples;
	if (from->type == HYB_TYPE_REGION || from->type == HYB_TYPE_FUNCTION) {
		to->calls += from->calls;
		to->skipped += from->skipped;
		to->demoted |= from->demoted;
	}
}

int merge_location(struct merge *merge, const struct hyb_location_info *location,
	const struct resolver *resolver, uint32_t top)
{
	struct work w = {.merge = merge, .resolver = resolver, .nodes = location->nodes};
	struct share share = {0};
	int r = HYB_ENOMEM;

	w.places = calloc(location->node_count, sizeof(*w.places));
	if (w.places)
		r = share_location(location, &share);
	if (!r)
		w.places[0] = (struct place){.node = top, .first = true};
	for (uint32_t i = 1; !r && i < location->node_count; i++)
		r = place_node(&w, i);
	for (uint32_t i = 0; !r && i < location->node_count; i++)
		add_values(&merge->tree->nodes[w.places[i].node], &location->nodes[i], share.exclusive[i],
			share.blocked[i]);
	share_release(&share);
	free(w.places);
	return r;
}
