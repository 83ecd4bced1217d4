#include "profile/merge_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/words.h"
#include "profile/times.h"

/* Whether a Python program's function is entered here, or is in the midst of running. */
static bool is_python(const struct hyb_node_info *n)
{
	return (n->type == HYB_TYPE_PYTHON || n->type == HYB_TYPE_REGION) && n->region->python;
}

static struct code *code_of(const struct work *w, const struct hyb_node_info *n)
{
	return codes_get(w->merge->codes, w->resolver, n->module, n->address, n->type == HYB_TYPE_CALL);
}

/* Whether a frame is the interpreter's, and not to be seen. */
static bool is_interpreter(const struct merge *m, const struct code *code)
{
	return m->weave && (code->module_path == m->interpreter || code->python_program);
}

/* Whether a function without a symbol is main(), found from its caller. */
static bool is_nameless_main(const struct work *w, uint32_t i, const struct code *code)
{
	if (code->start || code->frame_count != 1 || !(code->unresolved || code->frames[0].guess))
		return false;
	while (w->nodes[i].parent != i) {
		const struct hyb_node_info *n = &w->nodes[i = w->nodes[i].parent];
		const struct code *caller = n->type == HYB_TYPE_CALL ? code_of(w, n) : NULL;

		if (!caller || !caller->start)
			return false;
		if (caller->main_start)
			return true;
	}
	return false;
}

static int show(const struct work *w, uint32_t i, struct shown *ret)
{
	const struct hyb_node_info *n = &w->nodes[i];
	struct strings *strings = w->merge->strings;
	const struct code *code;

	if (n->type == HYB_TYPE_PYTHON) {
		ret->python = (struct code_frame){.function = strings_get(strings, n->region->name),
			.file = strings_get(strings, n->region->file),
			.line = n->line,
			.function_line = n->region->line};
		ret->frames = &ret->python;
		ret->count = 1;
		ret->is_python = n->region->python;
		ret->module = ret->is_python && w->merge->interpreter ? w->merge->interpreter
								      : strings_get(strings, "");
		return ret->python.function && ret->python.file && ret->module ? 0 : HYB_ENOMEM;
	}
	code = code_of(w, n);
	if (!code)
		return HYB_ENOMEM;
	*ret = (struct shown){
		.frames = code->frames, .count = code->frame_count, .module = code->module_path};
	if (is_interpreter(w->merge, code)) {
		ret->python = (struct code_frame){
			.function = code->python_part ? code->python_part
						      : strings_get(strings, "Python interpreter"),
			.file = strings_get(strings, "")};
		ret->frames = &ret->python;
		ret->count = 1;
		ret->module = w->merge->interpreter;
		return ret->python.function && ret->python.file ? 0 : HYB_ENOMEM;
	}
	if (is_nameless_main(w, i, code)) {
		ret->python = (struct code_frame){
			.function = strings_get(strings, "main"), .file = strings_get(strings, "")};
		ret->frames = &ret->python;
		return ret->python.function && ret->python.file ? 0 : HYB_ENOMEM;
	}
	return 0;
}

/* Moves a spot one node down. */
static int descend(struct merge *merge, struct spot *spot, const struct profile_node *like)
{
	uint32_t child = tree_child(merge->tree, spot->node, like);

	if (!child)
		return HYB_ENOMEM;
	spot->node = child;
	spot->first = false;
	return 0;
}

static bool is_folded(const struct work *w, uint32_t i, const struct shown *shown)
{
	const struct hyb_node_info *probe = &w->nodes[w->nodes[i].probe];
	const char *name = shown->frames[shown->count - 1].function;

	if (w->merge->mode == PROFILE_CALLSITE || probe->type == HYB_TYPE_ROOT)
		return false;
	if (w->nodes[i].type == HYB_TYPE_PYTHON || (probe->type == HYB_TYPE_REGION && probe->region->python))
		return probe->region == w->nodes[i].region;
	if (probe->type == HYB_TYPE_REGION && probe->region->kind != HYB_REGION_FUNCTION)
		return false;
	return is_function(name, w->merge->tree->nodes[w->places[w->nodes[i].probe].own].name);
}

/* Places the frames of a node as those of a call, or (leaf) as those of a sample. */
static int place_frames(struct work *w, uint32_t i, bool leaf, struct spot *spot)
{
	enum profile_mode mode = w->merge->mode;
	struct shown shown;
	bool folded;

	if (show(w, i, &shown))
		return HYB_ENOMEM;
	folded = spot->first && is_folded(w, i, &shown);
	for (size_t f = shown.count; f-- > 0;) {
		const struct code_frame *frame = &shown.frames[f];
		bool line_of_leaf = leaf && !f && mode != PROFILE_FUNCTION;
		struct profile_node like = {
			.kind = line_of_leaf ? PROFILE_LEAF : PROFILE_INTERMEDIATE,
			.name = frame->function,
			.file = frame->file,
			.module = shown.module,
			.line = line_of_leaf || mode == PROFILE_CALLSITE ? frame->line : 0,
			.declared = frame->function_line,
			.guess = frame->guess,
			.python = shown.is_python,
		};

		if (folded && f == shown.count - 1 && !line_of_leaf)
			spot->first = false;
		else if (descend(w->merge, spot, &like))
			return HYB_ENOMEM;
	}
	return 0;
}

/*
 * A frame that called goes into the tree when something is shown below it; if
 * all that is below it vanishes, samples there are its own: see own_node().
 */
static int settle(struct work *w, struct spot *spot)
{
	uint32_t frame = spot->frame;

	spot->frame = 0;
	return frame ? place_frames(w, frame, false, spot) : 0;
}

/* The node for what ends in a frame that is not shown: the line above it. */
static int own_node(struct work *w, struct spot spot, uint32_t *ret_node)
{
	int r = spot.frame ? place_frames(w, spot.frame, true, &spot) : 0;

	*ret_node = spot.node;
	return r;
}

static int own_if_sampled(struct work *w, uint32_t i, struct place *place)
{
	place->own = place->spot.node;
	return merge_holds(&w->nodes[i], w->metrics) ? own_node(w, place->spot, &place->own) : 0;
}

static int name_probe(const struct work *w, const struct hyb_node_info *n, struct profile_node *like)
{
	struct strings *strings = w->merge->strings;

	if (n->type == HYB_TYPE_REGION) {
		like->name = strings_get(strings, n->region->name);
		like->file = strings_get(strings, n->region->file);
		like->module = strings_get(strings, "");
		like->line = n->region->line;
	} else {
		const struct code *code = code_of(w, n);
		const struct code_frame *f = code ? &code->frames[code->frame_count - 1] : NULL;

		if (!f)
			return HYB_ENOMEM;
		like->name = f->function;
		like->file = f->file;
		like->module = code->module_path;
		like->line = f->function_line ? f->function_line : f->line;
		like->guess = f->guess;
	}
	return like->name && like->file && like->module ? 0 : HYB_ENOMEM;
}

static int place_probe(struct work *w, uint32_t i, struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];
	struct profile_node like = {
		.kind = PROFILE_PROBE, .mpi = n->type == HYB_TYPE_REGION && n->region->mpi};
	struct spot *spot = &place->spot;

	if (!place->woven && w->shapes[i] & SHAPE_PYTHON)
		*spot = place->python;
	if (name_probe(w, n, &like) || settle(w, spot) || descend(w->merge, spot, &like))
		return HYB_ENOMEM;
	spot->first = true;
	spot->ours = NULL;
	place->folded = like.mpi && !w->merge->mpi_internals;
	place->wrapped = false;
	place->woven |= is_python(n);
	place->interpreting = false;
	place->part = NULL;
	place->python = *spot;
	place->own = spot->node;
	return 0;
}

/* The part of the interpreter that is written in Python; its tracebacks leave it out, too. */
static bool is_import_machinery(const struct work *w, const struct hyb_node_info *n)
{
	return n->type == HYB_TYPE_PYTHON &&
	       !strncmp(n->region->file, "<frozen importlib", strlen("<frozen importlib")) &&
	       w->nodes[n->probe].region != n->region;
}

static int place_python(struct work *w, uint32_t i, struct place *place)
{
	if (w->merge->weave && place->woven && is_import_machinery(w, &w->nodes[i])) {
		place->spot.ours = NULL;
		return own_if_sampled(w, i, place);
	}
	if (!place->woven)
		place->spot = place->python;
	if (w->merge->weave && place->spot.frame && is_import_machinery(w, &w->nodes[place->spot.frame]))
		place->spot.frame = 0; /* it imports what is shown from here on */
	if (settle(w, &place->spot))
		return HYB_ENOMEM;
	place->spot.frame = i;
	place->spot.ours = NULL;
	place->part = NULL;
	place->woven = true;
	return own_if_sampled(w, i, place);
}

static int descend_partial(struct work *w, uint32_t i, struct spot *spot)
{
	struct profile_node like = {.kind = PROFILE_INCOMPLETE};
	char name[80];

	spot->ours = NULL;
	if (!(w->shapes[i] & SHAPE_SHOWN))
		return 0;
	snprintf(name, sizeof(name), "[incomplete: %s]", word_text(&words_partial, w->nodes[i].reason));
	like.name = strings_get(w->merge->strings, name);
	like.file = like.module = strings_get(w->merge->strings, "");
	if (!like.name || !like.file || settle(w, spot))
		return HYB_ENOMEM;
	return descend(w->merge, spot, &like);
}

static int place_partial(struct work *w, uint32_t i, struct place *place)
{
	int r = 0;

	if (place->woven || w->shapes[i] & SHAPE_NATIVE)
		r = descend_partial(w, i, &place->spot);
	if (!r && !place->woven && w->shapes[i] & SHAPE_PYTHON)
		r = descend_partial(w, i, &place->python);
	place->own = place->spot.node;
	return r;
}

/* Whether libhybrid does there what no program calls: the evaluation hook of Python. */
static bool is_own_cost(const struct code *code)
{
	return code->unresolved ||
	       !strncmp(code->frames[code->frame_count - 1].function, "python_hook", strlen("python_hook"));
}

/* Inside libhybrid: calls vanish, a leaf has the name of what was called. */
static int place_ours(struct work *w, const struct code *code, bool leaf, struct spot *spot)
{
	struct profile_node like = {.kind = PROFILE_LEAF, .module = code->module_path};

	if (!spot->ours)
		spot->ours = is_own_cost(code) ? strings_get(w->merge->strings, "[hybrid]")
					       : code->frames[code->frame_count - 1].function;
	like.name = spot->ours;
	like.file = strings_get(w->merge->strings, "");
	if (!like.name || !like.file)
		return HYB_ENOMEM;
	if (w->merge->mode == PROFILE_FUNCTION)
		like.kind = PROFILE_INTERMEDIATE;
	return !leaf ? 0 : settle(w, spot) ? HYB_ENOMEM : descend(w->merge, spot, &like);
}

/*
 * Whether a frame is start code that is not to be shown: it stands above main or
 * a thread's function, and nothing that is shown above it.
 */
static bool is_start(
	const struct work *w, uint32_t i, const struct code *code, bool leaf, const struct spot *spot)
{
	if (leaf || w->nodes[i].probe || w->places[i].woven)
		return false;
	return code->main_start || !(w->shapes[i] & SHAPE_SHOWN) ||
	       (spot->first && !spot->frame && code->start);
}

static int place_code(struct work *w, uint32_t i, const struct code *code, bool leaf, struct spot *spot)
{
	if (code->ours)
		return place_ours(w, code, leaf, spot);
	spot->ours = NULL;
	if (is_start(w, i, code, leaf, spot)) {
		if (code->main_start)
			*spot = w->places[0].spot;
		return 0;
	}
	if (settle(w, spot))
		return HYB_ENOMEM;
	if (leaf)
		return place_frames(w, i, true, spot);
	spot->frame = i;
	return 0;
}

/* A frame that is shown; an interrupted one is looked up exactly, whatever is below it. */
static int place_shown(struct work *w, uint32_t i, const struct code *code, struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];
	bool leaf = n->type == HYB_TYPE_LEAF;
	struct spot own = place->spot;
	int r = leaf && merge_holds(n, w->metrics) ? place_code(w, i, code, true, &own) : 0;

	if (!r && (!leaf || w->shapes[i] & SHAPE_INNER))
		r = place_code(w, i, code, false, &place->spot);
	if (!r && !leaf)
		return own_if_sampled(w, i, place);
	place->own = own.node;
	return r;
}

/* Where no Python is near, as in its start and end: one frame stands for all of the interpreter's. */
static int place_interpreter(struct work *w, uint32_t i, struct place *place)
{
	if (!place->interpreting) {
		if (settle(w, &place->spot))
			return HYB_ENOMEM;
		place->spot.frame = i;
		place->spot.ours = NULL;
		place->interpreting = true;
	}
	return own_if_sampled(w, i, place);
}

/* A part of the interpreter has a name of its own, wherever it stands, and stands for what it calls there. */
static int place_part(struct work *w, uint32_t i, const char *part, struct place *place)
{
	/* In the place of the interpreter's other frames. */
	if (place->interpreting && !place->part && !place->woven)
		place->spot.frame = 0;
	if (place->part != part) {
		if (settle(w, &place->spot))
			return HYB_ENOMEM;
		place->spot.frame = i;
		if (!place->woven && w->shapes[i] & SHAPE_PYTHON) {
			if (settle(w, &place->python))
				return HYB_ENOMEM;
			place->python.frame = i;
		}
	}
	place->spot.ours = place->python.ours = NULL;
	place->part = part;
	place->interpreting = true;
	return own_if_sampled(w, i, place);
}

static int place_frame(struct work *w, uint32_t i, struct place *place)
{
	const struct merge *m = w->merge;
	struct code *code = code_of(w, &w->nodes[i]);
	bool inside;
	int r = 0;

	if (!code)
		return HYB_ENOMEM;
	inside = is_interpreter(m, code);
	if (inside && code->python_part)
		return place_part(w, i, code->python_part, place);
	if (place->woven && (inside || (m->weave && code->bridge && w->nodes[i].type == HYB_TYPE_CALL))) {
		place->spot.ours = NULL;
		return own_if_sampled(w, i, place);
	}
	if (!place->woven && w->shapes[i] & SHAPE_PYTHON) {
		if (inside)
			place->python.ours = NULL;
		else
			r = place_code(w, i, code, false, &place->python);
	}
	if (!r && inside && w->shapes[i] & SHAPE_NATIVE)
		return place_interpreter(w, i, place);
	place->interpreting = false;
	place->part = NULL;
	if (!r && (place->woven || w->shapes[i] & SHAPE_NATIVE)) {
		code->shown = true;
		code->samples += w->nodes[i].samples;
		r = place_shown(w, i, code, place);
	}
	return r;
}

/* What stands between the program and a call of MPI. */
static bool is_between(const struct hyb_module *module)
{
	return is_mpi_library(module) || is_wrapper(module);
}

/* The code that made the call of MPI which node i is inside of, past MPI's own bindings; NULL: not known. */
static const struct hyb_module *caller_of_mpi(const struct work *w, uint32_t i)
{
	for (i = w->nodes[w->nodes[i].probe].parent; i; i = w->nodes[i].parent) {
		const struct hyb_node_info *n = &w->nodes[i];

		if (n->module && !is_between(n->module))
			return n->module;
	}
	return NULL;
}

/* Whether MPI has called the program back here. */
static bool is_called_back(const struct work *w, uint32_t i)
{
	const struct hyb_node_info *n = &w->nodes[i];

	return n->type <= HYB_TYPE_FUNCTION || n->type == HYB_TYPE_PYTHON ||
	       (n->module && n->module == caller_of_mpi(w, i));
}

/* Whether a frame only hands a call on to MPI: that of a Fortran or C++ binding. */
static bool is_binding(const struct work *w, uint32_t i)
{
	return w->shapes[i] & SHAPE_MPI && !w->merge->mpi_internals && w->nodes[i].type == HYB_TYPE_CALL &&
	       is_between(w->nodes[i].module);
}

/*
 * Whether a frame is what measuring MPI costs beside the calls themselves: in a wrapper or below one, but for
 * MPI, which a wrapper calls without a region where it is not measured.
 */
static bool is_cost(const struct work *w, uint32_t i, const struct place *place)
{
	const struct hyb_node_info *n = &w->nodes[i];

	if (n->type != HYB_TYPE_CALL && n->type != HYB_TYPE_LEAF && n->type != HYB_TYPE_PARTIAL)
		return false;
	return is_wrapper(n->module) || (place->wrapped && !is_mpi_library(n->module));
}

static int place_cost(struct work *w, uint32_t i, struct place *place)
{
	struct profile_node like = {
		.kind = w->merge->mode == PROFILE_FUNCTION ? PROFILE_INTERMEDIATE : PROFILE_LEAF,
		.name = strings_get(w->merge->strings, "[hybrid]"),
		.file = strings_get(w->merge->strings, ""),
		.module = strings_get(w->merge->strings, "")};
	struct spot spot = place->spot;

	place->wrapped = true;
	if (!merge_holds(&w->nodes[i], w->metrics))
		return 0;
	if (!like.name || !like.file || settle(w, &spot) || descend(w->merge, &spot, &like))
		return HYB_ENOMEM;
	place->own = spot.node;
	return 0;
}

static int place_node(struct work *w, uint32_t i)
{
	struct place *place = &w->places[i];

	*place = w->places[w->nodes[i].parent];
	place->own = place->spot.node;
	place->folded = place->folded && !is_called_back(w, i);
	if (place->folded)
		return 0;
	if (is_binding(w, i))
		return own_if_sampled(w, i, place);
	if (is_cost(w, i, place))
		return place_cost(w, i, place);
	place->wrapped = false;
	switch (w->nodes[i].type) {
	case HYB_TYPE_REGION:
	case HYB_TYPE_FUNCTION:
		return place_probe(w, i, place);
	case HYB_TYPE_PARTIAL:
		return place_partial(w, i, place);
	case HYB_TYPE_PYTHON:
		return place_python(w, i, place);
	case HYB_TYPE_AWAIT:
	case HYB_TYPE_MESSAGE:
		return 0;
	}
	return place_frame(w, i, place);
}

/* Whether code of Python and native code stand here or below, for the nodes above. */
static unsigned weave_of(const struct hyb_node_info *n, unsigned shape, bool sampled)
{
	if (is_python(n))
		return SHAPE_PYTHON;
	if (n->type <= HYB_TYPE_FUNCTION)
		return shape & SHAPE_PYTHON ? SHAPE_PYTHON : SHAPE_NATIVE;
	return (shape & (SHAPE_PYTHON | SHAPE_NATIVE)) | (sampled ? SHAPE_NATIVE : 0);
}

/* Marks the node above a call of MPI. */
static void mark_mpi(const struct work *w, uint32_t i)
{
	const struct hyb_node_info *n = &w->nodes[i];

	if ((n->type == HYB_TYPE_REGION && n->region->mpi) ||
		(n->type == HYB_TYPE_CALL && w->shapes[i] & SHAPE_MPI && is_between(n->module)))
		w->shapes[n->parent] |= SHAPE_MPI;
}

/* Finds the shapes of all nodes: what place_node() needs to know about the nodes below. */
static int find_shapes(struct work *w, const struct hyb_location_info *location)
{
	for (size_t i = location->node_count; i-- > 1;) {
		const struct hyb_node_info *n = &w->nodes[i];
		uint8_t *shape = &w->shapes[i], *above = &w->shapes[n->parent];
		const struct code *code = NULL;
		bool sampled = merge_holds(n, w->metrics);

		if (n->type == HYB_TYPE_AWAIT || n->type == HYB_TYPE_MESSAGE)
			continue;
		mark_mpi(w, (uint32_t)i);
		if (n->type == HYB_TYPE_CALL && !n->probe) {
			code = code_of(w, n);
			if (!code)
				return HYB_ENOMEM;
		}
		if ((!code && n->type != HYB_TYPE_PARTIAL) || n->probe || sampled || !(*shape & SHAPE_INNER))
			*shape |= SHAPE_SHOWN;
		*shape |= (uint8_t)weave_of(n, *shape, sampled);
		*above |= (uint8_t)weave_of(n, *shape, sampled);
		*above |= SHAPE_INNER;
		if (*shape & SHAPE_SHOWN && !(code && code->main_start))
			*above |= SHAPE_SHOWN;
	}
	return 0;
}

int merge_location(struct merge *merge, const struct hyb_location_info *location,
	const struct resolver *resolver, uint32_t top)
{
	struct work w = {merge, resolver, location->nodes, location->process->metric_count, NULL, NULL};
	struct times times = {0};
	uint32_t *own = calloc(location->node_count, sizeof(*own));
	int r = HYB_ENOMEM;

	w.places = calloc(location->node_count, sizeof(*w.places));
	w.shapes = calloc(location->node_count, sizeof(*w.shapes));
	if (w.places && w.shapes && own)
		r = times_of_location(location, &times);
	if (!r)
		r = find_shapes(&w, location);
	if (!r)
		w.places[0] = (struct place){
			.spot = {top, 0, true, NULL}, .python = {top, 0, true, NULL}, .own = top};
	for (uint32_t i = 1; !r && i < location->node_count; i++)
		r = place_node(&w, i);
	for (size_t i = 0; !r && i < location->node_count; i++)
		own[i] = w.places[i].own;
	if (!r)
		r = merge_values(merge, location, &times, own);
	if (!r && merge->ret_nodes) {
		*merge->ret_nodes = own;
		own = NULL;
	}
	times_release(&times);
	free(own);
	free(w.places);
	free(w.shapes);
	return r;
}
