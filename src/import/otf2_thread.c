#include "base/hash.h"
#include "otf2_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/wrap.h"

#define FRAMES_MOST 4096u /* of a calling context: more are a circle */
#define PENDING_MOST 65536u
#define DEPTH_MOST (HYB_STACK_FIRST + HYB_STACK_SECOND) /* as the runtime */
#define TEXTS_MOST 4096u /* different parameters of a process */

/* ------------------------------------------------------------------ nodes */

static uint32_t hash_of(uint32_t parent, uint64_t key)
{
	return (uint32_t)(((key ^ (uint64_t)parent << 40) + parent) * 0x9e3779b97f4a7c15u >> 24);
}

static uint32_t new_node(struct import *im, uint32_t parent, enum hyb_node_kind kind, uint64_t key)
{
	struct thread_node node = {.key = key, .parent = parent, .kind = (uint8_t)kind};

	if (!ARRAY_ROOM(im->nodes, im->node_count) ||
		(im->node_count &&
			!row_index_add(&im->index, hash_of(parent, key), (uint32_t)im->node_count))) {
		im->failed = true;
		return 0;
	}
	node.node = im->node_count ? hyb_write_node(im->w, im->nodes[parent].id, kind, key, &node.id)
				   : hyb_write_root(im->w, &node.id);
	im->nodes[im->node_count] = node;
	return (uint32_t)im->node_count++;
}

uint32_t thread_child(struct import *im, uint32_t parent, enum hyb_node_kind kind, uint64_t key)
{
	uint32_t hot = im->nodes[parent].hot, i;

	if (hot && im->nodes[hot].key == key && im->nodes[hot].kind == kind)
		return hot;
	for (size_t at = 0; row_index_next(&im->index, hash_of(parent, key), &at, &i);) {
		const struct thread_node *node = &im->nodes[i];

		if (node->parent == parent && node->key == key && node->kind == kind)
			return im->nodes[parent].hot = i;
	}
	hot = new_node(im, parent, kind, key);
	return im->nodes[parent].hot = hot;
}

/* ------------------------------------------------------------ definitions */

static uint64_t region_id(struct import *im, uint32_t index)
{
	const struct region_def *region = refs_at(&im->d->regions, index);

	if (!im->regions[index])
		im->regions[index] = hyb_write_region(im->w, region->kind, defs_string(im->d, region->name),
			defs_string(im->d, region->file), region->line);
	return im->regions[index];
}

/* Frames are nodes of the kind that names functions by a region, as those of Python are. */
static uint64_t frame_id(struct import *im, uint32_t index)
{
	const struct region_def *region = refs_at(&im->d->regions, index);

	if (region->kind == HYB_REGION_PYTHON || region->kind == HYB_REGION_FUNCTION)
		return region_id(im, index);
	if (!im->frames[index])
		im->frames[index] = hyb_write_region(im->w, HYB_REGION_FUNCTION,
			defs_string(im->d, region->name), defs_string(im->d, region->file), region->line);
	return im->frames[index];
}

/* The id of a text's definition, made at its first use: of a region of that kind, or (0) of a marker. 0: too
 * many. */
static uint64_t import_text(struct import *im, const char *text, unsigned kind)
{
	uint64_t hash = hash_text(HASH_START + kind, text), *id;

	id = refs_get(&im->texts, hash);
	if (!id && im->texts.count >= TEXTS_MOST && kind)
		return 0;
	if (!id)
		id = refs_add(&im->texts, hash, sizeof(*id));
	if (!id) {
		im->failed = true;
		return 0;
	}
	if (!*id)
		*id = kind ? hyb_write_region(im->w, kind, text, "", 0) : hyb_write_text(im->w, text);
	return *id;
}

/* ------------------------------------------------------------------- begin */

static const char *name_of(const struct import *im)
{
	return im->location->type == OTF2_LOCATION_TYPE_CPU_THREAD && im->number == 1 &&
			       !*defs_string(im->d, im->location->name)
		       ? "main"
		       : defs_string(im->d, im->location->name);
}

static void push(struct import *im, uint32_t node, uint32_t region, uint32_t context)
{
	struct thread_open *open;

	if (!ARRAY_ROOM(im->stack, im->depth)) {
		im->failed = true;
		return;
	}
	open = &im->stack[im->depth++];
	open->node = node;
	open->region = region;
	open->context = context;
	open->carried = 0;
	open->sampled = false;
	open->sampled_context = REF_NONE;
	open->enter = im->tick;
	memcpy(open->values, im->values, im->d->metric_count * sizeof(*open->values));
}

/* At the first event. */
static void start(struct import *im, uint64_t time)
{
	uint64_t tid = im->location->tid;

	im->started = im->tick = time;
	im->out = hyb_write_location(
		im->w, im->number, tid == UINT64_MAX ? im->number : (uint32_t)tid, time, name_of(im));
	new_node(im, 0, HYB_NODE_ROOT, 0);
	push(im, 0, REF_NONE, REF_NONE);
}

static void release_thread(struct import *im)
{
	free(im->nodes);
	free(im->stack);
	free(im->pending);
	im->nodes = NULL;
	im->stack = NULL;
	im->pending = NULL;
	im->node_count = im->depth = im->pending_count = 0;
}

bool thread_begin(struct import *im, uint32_t location, uint32_t number)
{
	im->location = refs_at(&im->d->locations, location);
	im->location_ref = im->d->locations.refs[location];
	im->number = number;
	im->out = NULL;
	release_thread(im);
	im->skipped = 0;
	row_index_clear(&im->index);
	memset(im->values, 0, sizeof(im->values));
	im->fresh = false;
	im->known = 0;
	im->marker = 0;
	return !import_stopped(im);
}

/* Markers of the whole archive are shown with the first thread of the first process. */
static bool is_own_marker(const struct import *im, const struct marker_def *marker)
{
	bool first = im->number == 1;

	switch (marker->scope) {
	case OTF2_MARKER_SCOPE_LOCATION:
		return marker->scope_ref == im->location_ref;
	case OTF2_MARKER_SCOPE_LOCATION_GROUP:
		return first && refs_get(&im->d->processes, marker->scope_ref) == im->process;
	}
	return first && refs_at(&im->d->processes, 0) == im->process;
}

static void put_markers(struct import *im, uint64_t until)
{
	for (; im->marker < im->d->marker_count && im->d->markers[im->marker].time <= until; im->marker++) {
		const struct marker_def *marker = &im->d->markers[im->marker];

		if (!is_own_marker(im, marker))
			continue;
		if (marker->time > im->tick)
			im->tick = marker->time;
		hyb_write_marker(im->w, im->tick, import_text(im, marker->text, 0));
	}
}

bool thread_event(struct import *im, uint64_t time)
{
	++*im->progress;
	if (!im->out)
		start(im, time);
	if (im->marker < im->d->marker_count && im->d->markers[im->marker].time <= time)
		put_markers(im, time);
	if (time < im->tick) {
		im->backwards++;
		time = im->tick;
	}
	im->fresh = im->fresh && time == im->tick;
	im->tick = time;
	return !import_stopped(im);
}

void thread_value(struct import *im, uint32_t slot, int64_t value)
{
	im->fresh = true;
	im->values[slot] = value;
	if (im->known & 1u << slot)
		return;
	im->known |= 1u << slot;
	for (size_t i = 0; i < im->depth; i++) /* nobody knows what it was there */
		im->stack[i].values[slot] = value;
}

/* ---------------------------------------------------------- enter and leave */

static const int64_t *fresh_values(const struct import *im)
{
	return im->fresh ? im->values : NULL;
}

static void enter_node(struct import *im, uint32_t node, uint32_t region, uint32_t context)
{
	const struct region_def *def = refs_at(&im->d->regions, region);

	if (im->depth == DEPTH_MOST) {
		im->out->faults[HYB_FAULT_TOO_DEEP]++;
		im->skipped += region != REF_NONE;
		return;
	}
	im->nodes[node].node->count += !def || !def->sampled;
	push(im, node, region, context);
	hyb_write_enter(im->w, im->tick, im->nodes[node].id, fresh_values(im));
}

static void flush_pending(struct import *im, size_t level)
{
	size_t first = im->pending_count;

	while (first && im->pending[first - 1].level >= level)
		first--;
	for (size_t i = first; i < im->pending_count; i++)
		hyb_write_mpi(im->w, im->tick, &im->pending[i].record);
	im->pending_count = first;
}

static void add_range(struct import *im, const struct thread_open *open)
{
	const struct region_def *region = refs_at(&im->d->regions, open->region);
	uint64_t ticks = im->tick - open->enter;
	struct hyb_node *range;
	uint32_t child;

	if (!region || region->kind != HYB_REGION_MPI)
		return;
	child = thread_child(im, open->node, HYB_NODE_RANGE, 0); /* moves the nodes */
	range = im->nodes[child].node;
	if (!range->least || ticks < range->least)
		range->least = ticks ? ticks : 1;
	if (ticks > range->most)
		range->most = ticks;
}

/* By how much the metrics grew in an instance. */
static void add_growth(struct import *im, const struct thread_open *open)
{
	int64_t *values = hyb_write_values(im->nodes[open->node].node);

	for (uint32_t i = 0; i < im->d->metric_count; i++)
		wrap_add(&values[i], wrap_sub(im->values[i], open->values[i]));
}

static void leave_top(struct import *im)
{
	size_t level = im->depth - 1;
	const struct thread_open *open = &im->stack[level];
	struct hyb_node *node = im->nodes[open->node].node;

	if (im->pending_count)
		flush_pending(im, level);
	node->inclusive += im->tick - open->enter;
	add_range(im, open);
	add_growth(im, open);
	if (open->carried == 1)
		im->nodes[open->message].node->inclusive += im->tick - open->enter;
	im->depth--;
	hyb_write_leave(im->w, im->tick, im->nodes[im->stack[level - 1].node].id, fresh_values(im));
}

void thread_enter(struct import *im, OTF2_RegionRef ref)
{
	uint32_t region = refs_find(&im->d->regions, ref), top = im->stack[im->depth - 1].node;

	if (region == REF_NONE) {
		im->lost++;
		return;
	}
	enter_node(im, thread_child(im, top, HYB_NODE_REGION, region_id(im, region)), region, REF_NONE);
}

/* Leaves the region on that level of the stack, and first those above that the archive did not leave. */
static void leave_level(struct import *im, size_t level)
{
	while (im->depth - 1 > level) {
		if (im->stack[im->depth - 1].region != REF_NONE)
			im->out->faults[HYB_FAULT_NOT_LEFT]++;
		leave_top(im);
	}
	leave_top(im);
}

void thread_leave(struct import *im, OTF2_RegionRef ref)
{
	uint32_t region = refs_find(&im->d->regions, ref);
	size_t level = im->depth - 1;

	if (im->skipped) {
		im->skipped--;
		return;
	}
	while (level && (im->stack[level].region == REF_NONE || im->stack[level].region != region))
		level--;
	if (level)
		leave_level(im, level);
	else
		im->out->faults[HYB_FAULT_NOT_ENTERED]++;
}

size_t thread_innermost(const struct import *im)
{
	size_t level = im->depth - 1;

	while (level && im->stack[level].region == REF_NONE)
		level--;
	return level;
}

void thread_parameter(struct import *im, OTF2_ParameterRef ref, const char *value)
{
	const OTF2_StringRef *name = refs_get(&im->d->parameters, ref);
	char text[HYB_NAME_MAX];
	uint64_t id;
	size_t length;

	if (!name) {
		im->lost++;
		return;
	}
	length = strlen(strncpy(text, defs_string(im->d, *name), sizeof(text) / 2));
	text[length++] = '=';
	strncpy(text + length, value, sizeof(text) - length - 1)[sizeof(text) - length - 1] = 0;
	id = import_text(im, text, HYB_REGION_PARAMETER);
	if (id)
		enter_node(im, thread_child(im, im->stack[im->depth - 1].node, HYB_NODE_REGION, id), REF_NONE,
			REF_NONE);
}

/* --------------------------------------------------------- calling contexts */

/* The nodes of a context below an open region, as far as they are not part of its own context. Index. */
static uint32_t frames_of(struct import *im, const struct thread_open *open, uint32_t context)
{
	uint32_t path[FRAMES_MOST], count = 0, node = open->node;
	const struct context_def *def = refs_at(&im->d->contexts, context);

	while (def && context != open->context && count < FRAMES_MOST) {
		path[count++] = context;
		context = refs_find(&im->d->contexts, def->parent);
		def = refs_at(&im->d->contexts, context);
	}
	while (count) {
		const struct place_def *place;
		uint32_t region;

		def = refs_at(&im->d->contexts, path[--count]);
		region = refs_find(&im->d->regions, def->region);
		place = refs_get(&im->d->places, def->place);
		if (region == REF_NONE)
			continue;
		node = thread_child(im, node, HYB_NODE_PYTHON,
			HYB_PYTHON(frame_id(im, region), place ? place->line & 0xffffffu : 0));
	}
	return node;
}

void thread_enter_context(struct import *im, OTF2_CallingContextRef ref)
{
	uint32_t context = refs_find(&im->d->contexts, ref), region, node, above;
	const struct thread_open *open = &im->stack[im->depth - 1];
	const struct context_def *def = refs_at(&im->d->contexts, context);

	region = def ? refs_find(&im->d->regions, def->region) : REF_NONE;
	if (region == REF_NONE) {
		im->lost++;
		return;
	}
	above = refs_find(&im->d->contexts, def->parent);
	node = above == REF_NONE ? open->node : frames_of(im, open, above);
	node = thread_child(im, node, HYB_NODE_REGION, region_id(im, region));
	enter_node(im, node, region, context);
}

void thread_leave_context(struct import *im, OTF2_CallingContextRef ref)
{
	const struct context_def *def = refs_get(&im->d->contexts, ref);

	if (def)
		thread_leave(im, def->region);
	else
		im->lost++;
}

void thread_sample(struct import *im, OTF2_CallingContextRef ref, OTF2_InterruptGeneratorRef by)
{
	const struct generator_def *generator = refs_get(&im->d->generators, by);
	uint32_t context = refs_find(&im->d->contexts, ref);
	struct thread_open *open = &im->stack[im->depth - 1];

	if (context == REF_NONE) {
		im->lost++;
		return;
	}
	if (open->sampled_context != context) {
		open->sampled_node = frames_of(im, open, context);
		open->sampled_context = context;
	}
	im->nodes[open->sampled_node].node->samples++;
	im->out->samples++;
	im->out->taken++;
	im->out->source = generator ? generator->source : HYB_SOURCE_TIMER;
	if (generator && generator->period) {
		im->out->period = generator->period;
		im->nodes[open->node].node->ran += generator->period;
	}
	hyb_write_sample(im->w, im->tick, im->nodes[open->sampled_node].id,
		open->sampled ? HYB_WRITE_AGAIN : im->tick - open->enter, fresh_values(im));
	open->sampled = true;
}

/* ------------------------------------------------------------------- others */

void thread_pause(struct import *im, bool on)
{
	size_t level = im->depth - 1;
	uint64_t id = import_text(im, "(not measured)", HYB_REGION_PAUSED);
	const struct region_def *region = refs_at(&im->d->regions, im->stack[level].region);

	if (region && region->kind == HYB_REGION_PAUSED) /* is a region of its own in the file */
		return;
	if (on && level && im->stack[level].region == REF_NONE && im->nodes[im->stack[level].node].key == id)
		leave_top(im);
	else if (!on && id)
		enter_node(
			im, thread_child(im, im->stack[level].node, HYB_NODE_REGION, id), REF_NONE, REF_NONE);
}

void thread_mpi(struct import *im, const struct mpi_record *record)
{
	size_t level = thread_innermost(im);
	const struct region_def *region = refs_at(&im->d->regions, im->stack[level].region);

	if (!region || region->kind != HYB_REGION_MPI) {
		hyb_write_mpi(im->w, im->tick, record);
		return;
	}
	if (im->pending_count >= PENDING_MOST)
		flush_pending(im, 0);
	if (!ARRAY_ROOM(im->pending, im->pending_count)) {
		im->failed = true;
		return;
	}
	im->pending[im->pending_count++] = (struct thread_pending){level, *record};
}

void thread_end(struct import *im)
{
	if (!im->out) /* it did nothing */
		start(im, im->d->offset);
	put_markers(im, UINT64_MAX);
	while (im->depth > 1) {
		im->out->faults[HYB_FAULT_NOT_LEFT] += im->stack[im->depth - 1].region != REF_NONE;
		leave_top(im);
	}
	add_growth(im, &im->stack[0]);
	hyb_write_location_end(im->w, im->tick, im->values);
	im->out = NULL;
}

void import_release(struct import *im)
{
	free(im->regions);
	free(im->frames);
	free(im->counters);
	refs_release(&im->texts);
	refs_release(&im->handles);
	map_release(&im->requests);
	map_release(&im->operations);
	row_index_release(&im->index);
	release_thread(im);
}
