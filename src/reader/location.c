/* The threads of a process: their counters, trees of nodes, open regions, and ends. */
#include <stdlib.h>

#include "base/array.h"
#include "reader/process.h"
#include "reader/trace.h"

#define OPEN_MOST (HYB_STACK_FIRST + HYB_STACK_SECOND)

static const struct hyb_region unknown_region = {"(unknown region)", "", 0, 0, false};
static const struct hyb_region unknown_function = {"(unknown function)", "", 0, HYB_REGION_PYTHON, true};

/* One location while it is loaded. */
struct loader {
	struct process *p;
	struct location *location;
	struct hyb_location_info *info;
	struct hyb_location raw;
	struct chunk **chunks; /* of this location */
	size_t chunk_count;
	bool root_seen;
	uint8_t *buffer; /* HYB_SEGMENT bytes */
};

static void damaged_node(const struct loader *l, uint32_t id, const char *what)
{
	damage_add(l->p->damage, l->p->file.path, (uint64_t)id * HYB_NODE_SIZE, "%s", what);
}

/* ------------------------------------------------------------------ nodes */

static void name_code(const struct loader *l, struct hyb_node_info *node, uint32_t id, uint64_t key)
{
	uint32_t module = HYB_CODE_MODULE(key);
	uint16_t index = l->p->module_index[module];

	node->address = HYB_CODE_VADDR(key);
	if (index)
		node->module = &l->p->modules[index - 1];
	else if (module)
		damaged_node(l, id, "a node in an unknown module");
}

static void name_python(const struct loader *l, struct hyb_node_info *node, uint32_t id, uint64_t key)
{
	const struct hyb_region *region = process_region(l->p, HYB_PYTHON_REGION(key));

	if (!region || !region->python) {
		damaged_node(l, id, "a node of an unknown Python function");
		region = &unknown_function;
	}
	node->region = region;
	node->line = HYB_PYTHON_LINE(key);
}

static void name_node(
	const struct loader *l, struct hyb_node_info *node, uint32_t id, const struct hyb_node *raw)
{
	switch (raw->kind) {
	case HYB_NODE_REGION:
		node->region = process_region(l->p, HYB_REGION_ID(raw->key));
		if (!node->region) {
			node->region = &unknown_region;
			damaged_node(l, id, "a node of an unknown region");
		}
		break;
	case HYB_NODE_FUNCTION:
	case HYB_NODE_CALL:
	case HYB_NODE_LEAF:
		name_code(l, node, id, raw->key);
		break;
	case HYB_NODE_PYTHON:
		name_python(l, node, id, raw->key);
		break;
	case HYB_NODE_PARTIAL:
		node->reason = raw->key < HYB_PARTIAL_SLOTS ? (uint8_t)raw->key : HYB_PARTIAL_SLOTS - 1;
		break;
	}
}

/* Times stay ticks until the location's end is known. */
static void count_node(struct hyb_node_info *node, const struct hyb_node *raw)
{
	node->calls = raw->count;
	node->skipped = raw->skipped;
	node->inclusive = raw->inclusive;
	node->samples = raw->samples;
	node->ran = raw->ran;
	node->demoted = raw->flags & HYB_NODE_DEMOTED;
}

static uint32_t parent_index(const struct loader *l, uint32_t id, uint32_t parent, size_t *hint)
{
	uint32_t index = parent < id ? location_node(l->location, parent, hint) : NODE_NONE;

	if (index != NODE_NONE && l->location->nodes[index].type != HYB_TYPE_AWAIT)
		return index;
	damaged_node(l, id, "a node without its parent: it hangs below the thread");
	return 0;
}

/* Returns the index of the node, or NODE_NONE if it is left out. */
static uint32_t add_node(struct loader *l, uint32_t id, const struct hyb_node *raw, size_t *hint)
{
	size_t at = l->info->node_count;
	struct hyb_node_info *node = &l->location->nodes[at];

	if (!raw->kind)
		return NODE_NONE;
	if (raw->kind == HYB_NODE_ROOT && id == l->raw.root) {
		count_node(&l->location->nodes[0], raw);
		l->root_seen = true;
		return 0;
	}
	if (raw->kind == HYB_NODE_ROOT || raw->kind > HYB_NODE_AWAIT) {
		if (raw->kind == HYB_NODE_ROOT || !file_newer(&l->p->file))
			damaged_node(l, id,
				raw->kind == HYB_NODE_ROOT ? "a second root" : "a node of unknown kind");
		return NODE_NONE;
	}
	*node = (struct hyb_node_info){.type = raw->kind};
	node->parent = parent_index(l, id, raw->parent, hint);
	if (raw->kind == HYB_NODE_AWAIT && l->location->nodes[node->parent].type != HYB_TYPE_REGION) {
		damaged_node(l, id, "awaiting without the region of a coroutine");
		return NODE_NONE;
	}
	node->probe = raw->kind <= HYB_NODE_FUNCTION ? (uint32_t)at : l->location->nodes[node->parent].probe;
	count_node(node, raw);
	name_node(l, node, id, raw);
	l->info->node_count++;
	return (uint32_t)at;
}

static uint32_t slots_of(const struct chunk *chunk)
{
	/* What a chunk behind the reach of node ids holds can be named by nobody. */
	if (chunk->used < HYB_NODES_START || (chunk->offset + chunk->size) / HYB_NODE_SIZE > UINT32_MAX)
		return 0;
	return (chunk->used - HYB_NODES_START) / HYB_NODE_SIZE;
}

static int reserve_nodes(struct loader *l)
{
	struct location *to = l->location;
	size_t slots = 0, chunks = 0;

	for (size_t i = 0; i < l->chunk_count; i++) {
		if (l->chunks[i]->kind == HYB_CHUNK_NODES) {
			slots += slots_of(l->chunks[i]);
			chunks++;
		}
	}
	if (slots >= NODE_NONE)
		return HYB_ENOMEM;
	to->nodes = calloc(slots + 1, sizeof(*to->nodes));
	to->index = malloc((slots + 1) * sizeof(*to->index));
	to->spans = malloc((chunks + 1) * sizeof(*to->spans));
	if (!to->nodes || !to->index || !to->spans)
		return HYB_ENOMEM;
	to->nodes[0].type = HYB_TYPE_ROOT;
	l->info->nodes = to->nodes;
	l->info->node_count = 1;
	return HYB_OK;
}

static void load_nodes(struct loader *l, const struct chunk *chunk, uint32_t *slot, size_t *hint)
{
	size_t length = file_read_chunk(&l->p->file, chunk, l->buffer, l->p->damage);
	uint32_t first = (uint32_t)((chunk->offset + HYB_NODES_START) / HYB_NODE_SIZE), count;
	struct location *to = l->location;
	struct span *span = &to->spans[to->span_count];

	if (length < HYB_NODES_START || !slots_of(chunk))
		return;
	count = (uint32_t)(length - HYB_NODES_START) / HYB_NODE_SIZE;
	*span = (struct span){first, 0, *slot};
	to->span_count++;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *raw = l->buffer + HYB_NODES_START + (size_t)i * HYB_NODE_SIZE;
		uint32_t index = add_node(l, first + i, (const struct hyb_node *)raw, hint);

		to->index[(*slot)++] = index;
		span->count++;
	}
}

static int load_tree(struct loader *l)
{
	size_t hint = 0;
	uint32_t slot = 0;
	int error = reserve_nodes(l);

	if (error)
		return error;
	for (size_t i = 0; i < l->chunk_count; i++)
		if (l->chunks[i]->kind == HYB_CHUNK_NODES)
			load_nodes(l, l->chunks[i], &slot, &hint);
	if (!l->root_seen && l->info->node_count > 1)
		damaged_node(l, l->raw.root, "the thread's root node is missing");
	return HYB_OK;
}

/* ----------------------------------------------------------- open regions */

/* The region stack as far as it was written. Returns the number of entries, the root's among them. */
static size_t load_stack(const struct loader *l, const uint8_t *first, size_t length, struct hyb_open *stack)
{
	size_t depth = l->raw.depth < OPEN_MOST ? l->raw.depth : OPEN_MOST, have = 0;
	const struct chunk *second = NULL;

	if (length > HYB_LOCATION_STACK)
		have = (length - HYB_LOCATION_STACK) / sizeof(*stack);
	if (have > HYB_STACK_FIRST)
		have = HYB_STACK_FIRST;
	memcpy(stack, first + HYB_LOCATION_STACK, have * sizeof(*stack));
	for (size_t i = 0; i < l->chunk_count && !second; i++)
		if (l->chunks[i]->kind == HYB_CHUNK_STACK)
			second = l->chunks[i];
	if (depth > HYB_STACK_FIRST && have == HYB_STACK_FIRST && second) {
		size_t want = (depth - have) * sizeof(*stack);
		size_t room = second->size - sizeof(struct hyb_chunk);
		int64_t n = file_read(&l->p->file, second->offset + sizeof(struct hyb_chunk), stack + have,
			want < room ? want : room);

		have += n > 0 ? (size_t)n / sizeof(*stack) : 0;
	}
	if (l->raw.depth > have)
		damage_add(l->p->damage, l->p->file.path, l->chunks[0]->offset,
			"%u regions are open, the stack has only %zu", l->raw.depth, have);
	return depth < have ? depth : have;
}

static void add_open(struct loader *l, const struct hyb_open *stack, size_t depth, uint64_t end)
{
	size_t hint = 0;

	for (size_t i = 0; i < depth; i++) {
		uint32_t index = location_node(l->location, stack[i].node, &hint);
		struct hyb_node_info *node = &l->location->nodes[index == NODE_NONE ? 0 : index];

		if (index == NODE_NONE || node->probe != index) {
			damage_add(l->p->damage, l->p->file.path, l->chunks[0]->offset,
				"the open region %zu is not a probe's", i);
			continue;
		}
		if (end > stack[i].enter)
			node->inclusive += end - stack[i].enter;
	}
}

/* ------------------------------------------------------------------- ends */

/* Tick of the last record that can be decoded, or 0. */
static uint64_t last_record(struct loader *l)
{
	const struct location *location = l->location;
	struct trace_record record;
	struct trace trace;
	size_t length;

	if (!location->trace_count)
		return 0;
	length = file_read_chunk(
		&l->p->file, location->traces[location->trace_count - 1], l->buffer, l->p->damage);
	trace_init(&trace, l->buffer, length);
	while (trace_next(&trace, &record) > 0)
		;
	return trace.tick;
}

/* The location's own word, or the last moment at which it was certainly there; a tick. */
static uint64_t find_end(struct loader *l, const struct hyb_open *stack, size_t depth)
{
	const struct hyb_header *header = &l->p->file.header;
	uint64_t end = l->raw.end ? l->raw.end : l->raw.last, record;

	if (!l->raw.end) {
		for (size_t i = 0; i < depth; i++)
			end = stack[i].enter > end ? stack[i].enter : end;
		record = last_record(l);
		end = record > end ? record : end;
		/* A thread that did not end lived as long as its process, waiting perhaps. */
		if (header->last.tick > end)
			end = header->last.tick;
	}
	return end > l->raw.start ? end : l->raw.start;
}

static void finish_times(struct loader *l, uint64_t end)
{
	const struct clock *clock = &l->p->clock;
	struct hyb_node_info *nodes = l->location->nodes;

	if (!l->root_seen) {
		nodes[0].calls = 1;
		nodes[0].inclusive = end - l->raw.start;
	}
	for (size_t i = 0; i < l->info->node_count; i++)
		nodes[i].inclusive = clock_span(clock, nodes[i].inclusive);
	l->info->start = clock_time(clock, l->raw.start);
	l->info->end = clock_time(clock, end);
}

/* -------------------------------------------------------------- locations */

static int fill_info(struct loader *l)
{
	const struct hyb_location *raw = &l->raw;
	struct hyb_location_info *info = l->info;

	*info = (struct hyb_location_info){
		.process = &l->p->info,
		.id = raw->id,
		.tid = raw->tid,
		.name = arena_string(l->p->arena, raw->name, strnlen(raw->name, sizeof(raw->name))),
		.ended = raw->end != 0,
		.cpu = raw->cpu > raw->cpu_start ? raw->cpu - raw->cpu_start : 0,
		.samples = raw->samples,
		.taken = raw->taken,
		.frames = raw->frames,
		.guessed = raw->guessed,
		.handler_time = clock_span(&l->p->clock, raw->handler_ticks),
		.period = raw->period,
		.slowed = raw->slowed,
		.events = raw->events,
		.events_lost = raw->events_lost,
		.source = raw->source,
	};
	memcpy(info->partial, raw->partial, sizeof(info->partial));
	memcpy(info->dropped, raw->dropped, sizeof(info->dropped));
	memcpy(info->python, raw->python, sizeof(info->python));
	memcpy(info->faults, raw->faults, sizeof(info->faults));
	return info->name ? HYB_OK : HYB_ENOMEM;
}

/* Trace chunks of the same serial: the later one is left out. */
static void find_traces(struct loader *l)
{
	struct location *to = l->location;

	for (size_t i = 0; i < l->chunk_count; i++) {
		struct chunk *chunk = l->chunks[i];

		if (chunk->kind != HYB_CHUNK_TRACE)
			continue;
		if (!to->trace_count)
			to->traces = &l->chunks[i];
		if (to->trace_count && to->traces[to->trace_count - 1]->serial == chunk->serial)
			damage_add(l->p->damage, l->p->file.path, chunk->offset,
				"trace chunk %llu of thread %u is there twice",
				(unsigned long long)chunk->serial, chunk->location);
		else
			to->traces[to->trace_count++] = chunk;
	}
}

static int load_location(struct loader *l, const uint8_t *data, size_t length)
{
	static_assert(sizeof(l->info->partial) == sizeof(l->raw.partial), "partial");
	static_assert(sizeof(l->info->dropped) == sizeof(l->raw.dropped), "dropped");
	static_assert(sizeof(l->info->python) == sizeof(l->raw.python), "python");
	static_assert(sizeof(l->info->faults) == sizeof(l->raw.faults), "faults");
	struct hyb_open *stack = malloc(OPEN_MOST * sizeof(*stack));
	uint64_t end;
	size_t depth;
	int error = stack ? fill_info(l) : HYB_ENOMEM;

	if (!error) {
		depth = load_stack(l, data, length, stack);
		l->info->open = depth ? (unsigned)depth - 1 : 0;
		error = load_tree(l);
	}
	if (!error) {
		find_traces(l);
		end = find_end(l, stack, depth);
		add_open(l, stack, depth, end);
		finish_times(l, end);
	}
	free(stack);
	return error;
}

/* The chunks of one location id are neighbours; its LOCATION chunk is in front. */
static int load_group(struct process *p, struct chunk **chunks, size_t count, uint8_t *buffer, uint8_t *head)
{
	struct loader l = {.p = p, .chunks = chunks, .chunk_count = count, .buffer = buffer};
	const struct chunk *chunk = chunks[0];
	size_t length;

	if (chunk->kind != HYB_CHUNK_LOCATION) {
		damage_add(p->damage, p->file.path, chunk->offset,
			"%zu chunks of thread %u, which is not there", count, chunk->location);
		return HYB_OK;
	}
	for (size_t i = 1; i < count && chunks[i]->kind == HYB_CHUNK_LOCATION; i++)
		damage_add(p->damage, p->file.path, chunks[i]->offset, "thread %u is there twice",
			chunk->location);
	/* The region stack is not covered by `used`. */
	length = chunk->size < HYB_LOCATION_CHUNK ? chunk->size : HYB_LOCATION_CHUNK;
	memset(head, 0, HYB_LOCATION_CHUNK);
	length = file_read_chunk(&p->file, &(struct chunk){.offset = chunk->offset, .used = (uint32_t)length},
		head, p->damage);
	memcpy(&l.raw, head + sizeof(struct hyb_chunk), sizeof(l.raw));
	if (l.raw.id != chunk->location) {
		/* A thread that was killed before it had begun leaves zeros. */
		if (l.raw.id)
			damage_add(p->damage, p->file.path, chunk->offset, "thread %u calls itself %u",
				chunk->location, l.raw.id);
		return HYB_OK;
	}
	l.info = &p->info.locations[p->info.location_count];
	l.location = &p->locations[p->info.location_count++];
	return load_location(&l, head, length);
}

static size_t group_size(const struct process *p, size_t first)
{
	size_t i = first;

	/* Definitions belong to the process, whatever their chunk says. */
	if (p->sorted[i]->kind == HYB_CHUNK_DEFS)
		return 1;
	while (i < p->file.chunk_count && p->sorted[i]->location == p->sorted[first]->location)
		i++;
	return i - first;
}

int process_load_locations(struct process *p)
{
	uint8_t *buffer = malloc(HYB_SEGMENT), *head = malloc(HYB_LOCATION_CHUNK);
	size_t most = 0;
	int error = HYB_OK;

	for (size_t i = 0; i < p->file.chunk_count; i++)
		most += p->file.chunks[i].kind == HYB_CHUNK_LOCATION;
	/* Never grown: nodes and events point into them. */
	p->locations = calloc(most + 1, sizeof(*p->locations));
	p->info.locations = calloc(most + 1, sizeof(*p->info.locations));
	if (!buffer || !head || !p->locations || !p->info.locations)
		error = HYB_ENOMEM;
	for (size_t i = 0, n; i < p->file.chunk_count && !error; i += n) {
		n = group_size(p, i);
		if (p->sorted[i]->location && p->sorted[i]->kind != HYB_CHUNK_DEFS)
			error = load_group(p, &p->sorted[i], n, buffer, head);
	}
	free(buffer);
	free(head);
	return error;
}
