/* The threads of a process: their counters, trees of nodes, open regions, and ends. */
#include <stdlib.h>

#include "reader/metrics.h"

#define OPEN_MOST (HYB_STACK_FIRST + HYB_STACK_SECOND)

static const struct hyb_region unknown_region = {.name = "(unknown region)", .file = ""};
static const struct hyb_region unknown_function = {
	.name = "(unknown function)", .file = "", .kind = HYB_REGION_PYTHON, .python = true};

/* One location while it is loaded. */
struct loader {
	struct process *p;
	struct location *location;
	struct hyb_location_info *info;
	struct hyb_location raw;
	struct chunk **chunks; /* of this location */
	size_t chunk_count;
	bool root_seen;
	bool no_memory;
	uint16_t node_kind; /* of the chunks that are read */
	uint8_t *buffer; /* HYB_SEGMENT bytes */
	struct metrics metrics;
	uint32_t cells; /* of a node with values in this chunk; 0: values are not known */
};

static void damaged_node(const struct loader *l, uint32_t id, const char *what)
{
	if (!process_grows(l->p))
		damage_add(l->p->damage, l->p->file->path, (uint64_t)id * HYB_NODE_SIZE, "%s", what);
}

/* ------------------------------------------------------------------ nodes */

static void name_code(const struct loader *l, struct hyb_node_info *node, uint32_t id, uint64_t key)
{
	uint32_t module = HYB_CODE_MODULE(key);

	node->address = HYB_CODE_VADDR(key);
	node->module = process_module(l->p, module);
	if (!node->module && module)
		damaged_node(l, id, "a node in an unknown module");
}

static void name_python(const struct loader *l, struct hyb_node_info *node, uint32_t id, uint64_t key)
{
	const struct hyb_region *region = process_region(l->p, HYB_PYTHON_REGION(key));

	if (!region || !(region->python || region->kind == HYB_REGION_FUNCTION)) {
		damaged_node(l, id, "a node of an unknown Python function");
		region = &unknown_function;
	}
	node->region = region;
	node->line = HYB_PYTHON_LINE(key);
}

/* Decodes the key of a MESSAGE node. False: it is not a valid one. */
static bool name_message(const struct loader *l, struct hyb_node_info *node, uint32_t id, uint64_t key)
{
	uint32_t op = HYB_MESSAGE_OP(key), handle = HYB_MESSAGE_HANDLE(key);

	if (op < HYB_MESSAGE_SEND || op > HYB_MESSAGE_WRITE) {
		damaged_node(l, id, "a message of unknown kind");
		return false;
	}
	node->message = (uint8_t)op;
	node->size_class = (uint8_t)HYB_MESSAGE_SIZE(key);
	node->peer = HYB_MESSAGE_PEER(key);
	if (!process_peer(l->p, node->peer)) {
		damaged_node(l, id, "a message with an unknown rank");
		node->peer = HYB_RANK_NONE;
	}
	if (handle)
		node->handle = process_handle(l->p, handle);
	if (handle && !node->handle)
		damaged_node(l, id, "a message by an unknown handle");
	return true;
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

/* The node of a frame, which ends waits in the place of calls. */
static void count_frame(struct hyb_node_info *node, const struct hyb_node *raw)
{
	node->samples = raw->samples;
	node->waited = raw->waited;
	node->ready = raw->ready;
}

static void count_message(struct hyb_node_info *node, const struct hyb_node *raw)
{
	node->calls = raw->count;
	node->inclusive = raw->inclusive;
	node->sent = raw->sent;
	node->received = raw->received;
}

static bool childless(unsigned type)
{
	return type >= HYB_TYPE_AWAIT;
}

/* Reads a node that adds facts to the region above it. False: the node is left out, as damaged or as its
 * facts went to that region. */
static bool fill_annex(struct loader *l, struct hyb_node_info *node, uint32_t id, const struct hyb_node *raw)
{
	struct hyb_node_info *parent = &l->location->nodes[node->parent];
	bool await = raw->kind == HYB_NODE_AWAIT;

	if (parent->type != HYB_TYPE_REGION || (!await && !parent->region->mpi)) {
		damaged_node(l, id,
			await                         ? "awaiting without the region of a coroutine"
			: raw->kind == HYB_NODE_RANGE ? "a range without its region of MPI"
						      : "a message without its region of MPI");
		return false;
	}
	if (raw->kind == HYB_NODE_RANGE) {
		parent->least = raw->least;
		parent->most = raw->most;
		return false;
	}
	if (await) {
		count_node(node, raw);
		return true;
	}
	count_message(node, raw);
	return name_message(l, node, id, raw->key);
}

static uint32_t parent_index(const struct loader *l, uint32_t id, uint32_t parent, size_t *hint)
{
	uint32_t index = parent < id ? location_node(l->location, parent, hint) : NODE_NONE;

	if (index != NODE_NONE && !childless(l->location->nodes[index].type))
		return index;
	damaged_node(l, id, "a node without its parent: it hangs below the thread");
	return 0;
}

static void value_node(struct loader *l, struct hyb_node_info *node, const struct hyb_node *raw)
{
	if (l->cells && !metrics_fill_node(l->p, node, (const uint8_t *)(raw + 1)))
		l->no_memory = true;
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
		value_node(l, &l->location->nodes[0], raw);
		l->root_seen = true;
		return 0;
	}
	if (raw->kind == HYB_NODE_ROOT || raw->kind > HYB_NODE_RANGE) {
		if (raw->kind == HYB_NODE_ROOT || !file_newer(l->p->file))
			damaged_node(l, id,
				raw->kind == HYB_NODE_ROOT ? "a second root" : "a node of unknown kind");
		return NODE_NONE;
	}
	*node = (struct hyb_node_info){.type = raw->kind, .peer = HYB_RANK_NONE};
	node->parent = parent_index(l, id, raw->parent, hint);
	node->probe = raw->kind <= HYB_NODE_FUNCTION ? (uint32_t)at : l->location->nodes[node->parent].probe;
	if (childless(raw->kind)) {
		if (!fill_annex(l, node, id, raw))
			return NODE_NONE;
	} else {
		if (raw->kind <= HYB_NODE_FUNCTION)
			count_node(node, raw);
		else
			count_frame(node, raw);
		name_node(l, node, id, raw);
	}
	value_node(l, node, raw);
	l->info->node_count++;
	return (uint32_t)at;
}

static bool of_nodes(const struct chunk *chunk)
{
	return chunk->kind == HYB_CHUNK_NODES || chunk->kind == HYB_CHUNK_WIDE_NODES;
}

/* Nodes of the kind that the process should not have are left out where there are others. */
static void choose_nodes(struct loader *l)
{
	size_t narrow = 0, wide = 0;
	uint16_t kind = l->p->info.metric_count ? HYB_CHUNK_WIDE_NODES : HYB_CHUNK_NODES;

	for (size_t i = 0; i < l->chunk_count; i++) {
		narrow += l->chunks[i]->kind == HYB_CHUNK_NODES;
		wide += l->chunks[i]->kind == HYB_CHUNK_WIDE_NODES;
	}
	l->node_kind =
		wide && (kind == HYB_CHUNK_WIDE_NODES || !narrow) ? HYB_CHUNK_WIDE_NODES : HYB_CHUNK_NODES;
	for (size_t i = 0; i < l->chunk_count; i++)
		if (of_nodes(l->chunks[i]) && l->chunks[i]->kind != l->node_kind)
			damage_add(l->p->damage, l->p->file->path, l->chunks[i]->offset,
				"nodes with and without values in thread %u: these are left out",
				l->chunks[i]->location);
}

/*
 * How many times HYB_NODE_SIZE a node of the chunk takes; 0: not known. Sets l->cells.
 */
static uint32_t node_step(struct loader *l, const struct chunk *chunk)
{
	const struct hyb_wide *wide = (const struct hyb_wide *)(l->buffer + sizeof(struct hyb_chunk));
	uint32_t expected = HYB_WIDE_CELLS(l->p->info.metric_count + l->p->overflow_count), step = 1;

	l->cells = 0;
	if (chunk->kind == HYB_CHUNK_WIDE_NODES)
		step = wide->cells <= HYB_WIDE_CELLS(2 * HYB_METRICS_MAX) ? wide->cells : 0;
	if (!l->p->info.metric_count && chunk->kind == HYB_CHUNK_NODES)
		return step;
	if (!l->p->info.metric_count || chunk->kind == HYB_CHUNK_NODES || step != expected)
		damage_add(l->p->damage, l->p->file->path, chunk->offset,
			"nodes of %u cells do not go with %zu metrics, of which %u take samples",
			chunk->kind == HYB_CHUNK_NODES ? 1 : wide->cells, l->p->info.metric_count,
			l->p->overflow_count);
	else if (l->metrics.sound)
		l->cells = step;
	return step;
}

static uint32_t slots_of(const struct chunk *chunk)
{
	/* A chunk beyond the range of node ids holds nothing that anything can refer to. */
	if (chunk->used < HYB_NODES_START || (chunk->offset + chunk->size) / HYB_NODE_SIZE > UINT32_MAX)
		return 0;
	return (chunk->used - HYB_NODES_START) / HYB_NODE_SIZE;
}

static int reserve_nodes(struct loader *l)
{
	struct location *to = l->location;
	size_t slots = 0, chunks = 0;

	for (size_t i = 0; i < l->chunk_count; i++) {
		if (l->chunks[i]->kind == l->node_kind) {
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
	to->nodes[0].peer = HYB_RANK_NONE;
	l->info->nodes = to->nodes;
	l->info->node_count = 1;
	return HYB_OK;
}

static void load_nodes(struct loader *l, const struct chunk *chunk, uint32_t *slot, size_t *hint)
{
	size_t length = file_read_chunk(l->p->file, chunk, l->buffer, l->p->damage);
	uint32_t first = (uint32_t)((chunk->offset + HYB_NODES_START) / HYB_NODE_SIZE), count, step;
	struct location *to = l->location;
	struct span *span = &to->spans[to->span_count];

	if (length < HYB_NODES_START || !slots_of(chunk))
		return;
	step = node_step(l, chunk);
	if (!step)
		return;
	count = (uint32_t)(length - HYB_NODES_START) / HYB_NODE_SIZE;
	*span = (struct span){first, 0, *slot};
	to->span_count++;
	for (uint32_t i = 0; i + step <= count; i += step) {
		const uint8_t *raw = l->buffer + HYB_NODES_START + (size_t)i * HYB_NODE_SIZE;
		uint32_t index = add_node(l, first + i, (const struct hyb_node *)raw, hint);

		/* The cells of a node's values are no nodes. */
		for (uint32_t cell = 0; cell < step; cell++)
			to->index[(*slot)++] = cell ? NODE_NONE : index;
		span->count += step;
	}
}

static int load_tree(struct loader *l)
{
	size_t hint = 0;
	uint32_t slot = 0;
	int error;

	choose_nodes(l);
	error = reserve_nodes(l);
	if (error)
		return error;
	for (size_t i = 0; i < l->chunk_count; i++)
		if (l->chunks[i]->kind == l->node_kind)
			load_nodes(l, l->chunks[i], &slot, &hint);
	if (!l->root_seen && l->info->node_count > 1)
		damaged_node(l, l->raw.root, "the thread's root node is missing");
	return l->no_memory ? HYB_ENOMEM : HYB_OK;
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
		int64_t n = file_read(l->p->file, second->offset + sizeof(struct hyb_chunk), stack + have,
			want < room ? want : room);

		have += n > 0 ? (size_t)n / sizeof(*stack) : 0;
	}
	if (l->raw.depth > have && !process_grows(l->p))
		damage_add(l->p->damage, l->p->file->path, l->chunks[0]->offset,
			"%u regions are open, the stack has only %zu", l->raw.depth, have);
	return depth < have ? depth : have;
}

/* A call that is still open counts with its length so far. If it is the only one, its range is known in files
 * before 1.6, too. */
static void extend_range(struct hyb_node_info *node, uint64_t ticks)
{
	if (node->type != HYB_TYPE_REGION || !node->region->mpi || (!node->most && node->calls != 1))
		return;
	node->most = ticks > node->most ? ticks : node->most;
	node->least = node->least ? node->least : ticks;
}

static void add_open(struct loader *l, const struct hyb_open *stack, size_t depth, uint64_t end)
{
	size_t hint = 0;

	for (size_t i = 0; i < depth; i++) {
		uint32_t index = location_node(l->location, stack[i].node, &hint);
		struct hyb_node_info *node = &l->location->nodes[index == NODE_NONE ? 0 : index];

		if (index == NODE_NONE || node->probe != index) {
			if (!process_grows(l->p))
				damage_add(l->p->damage, l->p->file->path, l->chunks[0]->offset,
					"the open region %zu is not a probe's", i);
			continue;
		}
		if (end > stack[i].enter) {
			node->inclusive += end - stack[i].enter;
			extend_range(node, end - stack[i].enter);
		}
		metrics_add_open(&l->metrics, l->location->nodes, index, i);
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
		l->p->file, location->traces[location->trace_count - 1], l->buffer, l->p->damage);
	trace_init(&trace, l->buffer, length, process_layout(l->p));
	while (trace_next(&trace, &record) > 0)
		;
	return trace.tick;
}

/* The tick at which the location ended: as recorded, or else the last moment at which it was certainly
 * there. */
static uint64_t find_end(struct loader *l, const struct hyb_open *stack, size_t depth)
{
	const struct hyb_header *header = &l->p->header;
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
	for (size_t i = 0; i < l->info->node_count; i++) {
		nodes[i].inclusive = clock_span(clock, nodes[i].inclusive);
		if (nodes[i].type != HYB_TYPE_REGION)
			continue;
		nodes[i].least = clock_span(clock, nodes[i].least);
		nodes[i].most = clock_span(clock, nodes[i].most);
	}
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
		.ready = raw->ready,
		.ready_known = raw->ready_known,
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
		.left_out = raw->left_out,
		.python_left_out = raw->python_left_out,
		.threads = raw->kind == HYB_LOCATION_REST ? raw->threads : 1,
		.rest = raw->kind == HYB_LOCATION_REST,
	};
	memcpy(info->partial, raw->partial, sizeof(info->partial));
	memcpy(info->dropped, raw->dropped, sizeof(info->dropped));
	memcpy(info->python, raw->python, sizeof(info->python));
	memcpy(info->faults, raw->faults, sizeof(info->faults));
	memcpy(info->mpi, raw->mpi, sizeof(info->mpi));
	memcpy(info->cost, raw->cost, sizeof(info->cost));
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
			damage_add(l->p->damage, l->p->file->path, chunk->offset,
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
	static_assert(sizeof(l->info->mpi) == sizeof(l->raw.mpi), "mpi");
	struct hyb_open *stack = malloc(OPEN_MOST * sizeof(*stack));
	uint64_t end;
	size_t depth;
	int error = stack ? fill_info(l) : HYB_ENOMEM;

	if (!error) {
		depth = load_stack(l, data, length, stack);
		l->info->open = depth ? (unsigned)depth - 1 : 0;
		error = metrics_load(&l->metrics, l->p, l->chunks, l->chunk_count, stack, depth, l->raw.last);
	}
	if (!error)
		error = load_tree(l);
	if (!error) {
		find_traces(l);
		end = find_end(l, stack, depth);
		add_open(l, stack, depth, end);
		error = metrics_finish(&l->metrics, l->info, l->location->nodes);
		finish_times(l, end);
	}
	metrics_release(&l->metrics);
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
		if (!process_grows(p))
			damage_add(p->damage, p->file->path, chunk->offset,
				"%zu chunks of thread %u, which is not there", count, chunk->location);
		return HYB_OK;
	}
	for (size_t i = 1; i < count && chunks[i]->kind == HYB_CHUNK_LOCATION; i++)
		damage_add(p->damage, p->file->path, chunks[i]->offset, "thread %u is there twice",
			chunk->location);
	/* The region stack is not covered by `used`. */
	length = chunk->size < HYB_LOCATION_CHUNK ? chunk->size : HYB_LOCATION_CHUNK;
	memset(head, 0, HYB_LOCATION_CHUNK);
	length = file_read_chunk(
		p->file, &(struct chunk){.offset = chunk->offset, .used = (uint32_t)length}, head, p->damage);
	memcpy(&l.raw, head + sizeof(struct hyb_chunk), sizeof(l.raw));
	if (l.raw.id != chunk->location) {
		/* A thread that was killed before it had begun leaves zeros. */
		if (l.raw.id)
			damage_add(p->damage, p->file->path, chunk->offset, "thread %u calls itself %u",
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

	while (i < p->chunk_count && p->chunks[i]->location == p->chunks[first]->location)
		i++;
	return i - first;
}

int process_load_locations(struct process *p)
{
	uint8_t *buffer = malloc(HYB_SEGMENT), *head = malloc(HYB_LOCATION_CHUNK);
	size_t most = 0;
	int error = HYB_OK;

	for (size_t i = 0; i < p->chunk_count; i++)
		most += p->chunks[i]->kind == HYB_CHUNK_LOCATION;
	/* Never grown: nodes and events point into them. */
	p->locations = calloc(most + !most, sizeof(*p->locations));
	p->info.locations = calloc(most + !most, sizeof(*p->info.locations));
	if (!buffer || !head || !p->locations || !p->info.locations)
		error = HYB_ENOMEM;
	for (size_t i = 0, n; i < p->chunk_count && !error; i += n) {
		n = group_size(p, i);
		if (p->chunks[i]->location)
			error = load_group(p, &p->chunks[i], n, buffer, head);
	}
	free(buffer);
	free(head);
	return error;
}
