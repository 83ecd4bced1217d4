/* hybrid-dump: threads, nodes and trace records, as they lie in the file. */
#include "reader/trace.h"
#include "tools/dump.h"

static const char *const sources[] = {"none", "cpu-timer", "task-clock", "timer", "wall"};
static const char *const node_kinds[] = {
	NULL, "root", "region", "function", "call", "leaf", "partial", "python", "await"};
static const char *const drops[] = {"in_probe", "no_space", "paused", "idle", "stopped"};
static const char *const partials[] = {NULL, "no_rule", "bad_stack", "too_deep"};
static const char *const pythons[] = {"woven", "lost", "unmatched", "released"};
static const char *const faults[] = {"not_entered", "not_left", "too_deep", "nested", "no_space", "too_many"};

/* -------------------------------------------------------------- locations */

static void show_reasons(struct out *out, uint32_t location, const char *what, const uint64_t *counts,
	size_t slots, const char *const *words, size_t word_count)
{
	for (size_t i = 0; i < slots; i++) {
		if (!counts[i])
			continue;
		out_begin(out, what);
		out_number(out, "location", location);
		out_word(out, "reason", dump_word(words, word_count, i));
		out_number(out, "number", i);
		out_number(out, "count", counts[i]);
		out_end(out);
	}
}
#define REASONS(out_, location_, what_, counts_, words_) \
	show_reasons(out_, location_, what_, counts_, sizeof(counts_) / sizeof((counts_)[0]), words_, \
		sizeof(words_) / sizeof((words_)[0]))

static void show_location(struct out *out, uint64_t offset, struct hyb_location *l)
{
	l->name[sizeof(l->name) - 1] = 0;
	out_begin(out, "location");
	out_hex(out, "offset", offset);
	out_number(out, "id", l->id);
	out_number(out, "tid", l->tid);
	out_number(out, "root", l->root);
	out_number(out, "depth", l->depth);
	out_number(out, "start", l->start);
	out_number(out, "end", l->end);
	out_number(out, "last", l->last);
	out_number(out, "cpu_start", l->cpu_start);
	out_number(out, "cpu", l->cpu);
	out_number(out, "samples", l->samples);
	out_number(out, "taken", l->taken);
	out_number(out, "frames", l->frames);
	out_number(out, "guessed", l->guessed);
	out_number(out, "handler_ticks", l->handler_ticks);
	out_number(out, "period", l->period);
	out_number(out, "slowed", l->slowed);
	out_number(out, "events", l->events);
	out_number(out, "events_lost", l->events_lost);
	out_word(out, "source", DUMP_WORD(sources, l->source));
	out_number(out, "nodes", l->nodes);
	out_text(out, "name", l->name);
	out_end(out);
	REASONS(out, l->id, "dropped", l->dropped, drops);
	REASONS(out, l->id, "partial", l->partial, partials);
	REASONS(out, l->id, "fault", l->faults, faults);
	REASONS(out, l->id, "python", l->python, pythons);
}

static void show_open(struct out *out, uint32_t location, size_t depth, const struct hyb_open *open)
{
	out_begin(out, "open");
	out_number(out, "location", location);
	out_number(out, "depth", depth);
	out_number(out, "node", open->node);
	out_number(out, "enter", open->enter);
	out_hex(out, "sp", open->sp);
	out_hex(out, "ra", open->ra);
	out_hex(out, "fp", open->fp);
	out_number(out, "skipped", open->skipped & ~HYB_OPEN_SAMPLED);
	out_flag(out, "sampled", open->skipped & HYB_OPEN_SAMPLED);
	out_end(out);
}

/* Open regions from `first` on, as many as the chunk holds. */
static void show_stack(struct out *out, const struct process *p, uint64_t offset, size_t size,
	uint32_t location, size_t first, size_t depth, void *buffer)
{
	const struct hyb_open *open = buffer;
	int64_t n = file_read(&p->file, offset, buffer, size);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*open) && first + i < depth; i++)
		show_open(out, location, first + i, &open[i]);
}

static const struct chunk *find_chunk(const struct process *p, uint32_t location, unsigned kind)
{
	for (size_t i = 0; i < p->file.chunk_count; i++)
		if (p->file.chunks[i].kind == kind && p->file.chunks[i].location == location)
			return &p->file.chunks[i];
	return NULL;
}

void dump_locations(struct out *out, const struct process *p, void *buffer)
{
	for (size_t i = 0; i < p->file.chunk_count; i++) {
		const struct chunk *chunk = &p->file.chunks[i], *second;
		struct hyb_location location;
		uint64_t at = chunk->offset + sizeof(struct hyb_chunk);

		if (chunk->kind != HYB_CHUNK_LOCATION ||
			file_read(&p->file, at, &location, sizeof(location)) < (int64_t)sizeof(location))
			continue;
		show_location(out, chunk->offset, &location);
		show_stack(out, p, chunk->offset + HYB_LOCATION_STACK,
			HYB_STACK_FIRST * sizeof(struct hyb_open), location.id, 0, location.depth, buffer);
		second =
			location.depth > HYB_STACK_FIRST ? find_chunk(p, location.id, HYB_CHUNK_STACK) : NULL;
		if (second)
			show_stack(out, p, second->offset + sizeof(struct hyb_chunk),
				HYB_STACK_SECOND * sizeof(struct hyb_open), location.id, HYB_STACK_FIRST,
				location.depth, buffer);
	}
}

/* ------------------------------------------------------------------ nodes */

void dump_code(char *buffer, size_t room, const struct hyb_module *module, uint64_t address)
{
	const char *slash = module ? strrchr(module->path, '/') : NULL;
	const char *name = slash ? slash + 1 : module ? module->path : "";

	snprintf(buffer, room, "%s%s0x%llx", name, *name ? "+" : "", (unsigned long long)address);
}

static void show_key(struct out *out, const struct process *p, const struct hyb_node *node)
{
	const struct hyb_region *region;
	uint16_t index = p->module_index[HYB_CODE_MODULE(node->key)];
	char code[512];

	out_hex(out, "key", node->key);
	if (node->kind == HYB_NODE_REGION) {
		region = process_region(p, HYB_REGION_ID(node->key));
		out_text(out, "name", region ? region->name : "(unknown region)");
	} else if (node->kind == HYB_NODE_PARTIAL) {
		out_word(out, "reason", DUMP_WORD(partials, node->key));
	} else if (node->kind == HYB_NODE_PYTHON) {
		region = process_region(p, HYB_PYTHON_REGION(node->key));
		out_text(out, "name", region ? region->name : "(unknown function)");
		out_number(out, "line", HYB_PYTHON_LINE(node->key));
	} else if (node->kind == HYB_NODE_FUNCTION || node->kind == HYB_NODE_CALL ||
		   node->kind == HYB_NODE_LEAF) {
		dump_code(
			code, sizeof(code), index ? &p->modules[index - 1] : NULL, HYB_CODE_VADDR(node->key));
		out_text(out, "code", code);
	}
}

static void show_node(
	struct out *out, const struct process *p, uint32_t location, uint64_t id, const struct hyb_node *node)
{
	out_begin(out, "node");
	out_number(out, "id", id);
	out_number(out, "location", location);
	out_number(out, "parent", node->parent);
	out_word(out, "kind", DUMP_WORD(node_kinds, node->kind));
	show_key(out, p, node);
	out_number(out, "count", node->count);
	out_number(out, "inclusive", node->inclusive);
	out_number(out, "samples", node->samples);
	out_number(out, "ran", node->ran);
	out_number(out, "skipped", node->skipped);
	out_flag(out, "demoted", node->flags & HYB_NODE_DEMOTED);
	out_end(out);
}

void dump_nodes(struct out *out, const struct process *p, void *buffer)
{
	for (size_t i = 0; i < p->file.chunk_count; i++) {
		const struct chunk *chunk = &p->file.chunks[i];
		size_t length;

		if (chunk->kind != HYB_CHUNK_NODES)
			continue;
		length = file_read_chunk(&p->file, chunk, buffer, p->damage);
		for (size_t at = HYB_NODES_START; at + HYB_NODE_SIZE <= length; at += HYB_NODE_SIZE) {
			const struct hyb_node *node = (const struct hyb_node *)((char *)buffer + at);

			if (node->kind)
				show_node(
					out, p, chunk->location, (chunk->offset + at) / HYB_NODE_SIZE, node);
		}
	}
}

/* ------------------------------------------------------------------ trace */

static void show_sample(struct out *out, const struct trace_record *r)
{
	out_word(out, "kind", "sample");
	out_number(out, "node", r->node);
	if (r->flags & HYB_SAMPLE_FIRST)
		out_number(out, "since", r->since);
	if (r->flags & HYB_SAMPLE_BLOCKED)
		out_number(out, "blocked", r->blocked);
	if (r->flags & HYB_SAMPLE_WEIGHT)
		out_number(out, "weight", r->weight);
}

static void show_counter(struct out *out, const struct trace_record *r)
{
	double real;

	out_word(out, "kind", "counter");
	out_hex(out, "def", r->id);
	memcpy(&real, &r->value, sizeof(real));
	if (r->flags & HYB_COUNTER_DOUBLE)
		out_real(out, "value", real);
	else
		out_signed(out, "value", (int64_t)r->value);
}

static void show_record(struct out *out, const struct trace_record *r)
{
	switch ((enum hyb_record)r->kind) {
	case HYB_RECORD_NONE:
		break;
	case HYB_RECORD_SAMPLE:
		show_sample(out, r);
		break;
	case HYB_RECORD_ENTER:
	case HYB_RECORD_COMPLETE:
		out_word(out, "kind", r->kind == HYB_RECORD_ENTER ? "enter" : "complete");
		out_number(out, "node", r->node);
		break;
	case HYB_RECORD_LEAVE:
		out_word(out, "kind", "leave");
		break;
	case HYB_RECORD_COUNTER:
		show_counter(out, r);
		break;
	case HYB_RECORD_MARKER:
		out_word(out, "kind", "marker");
		out_hex(out, "def", r->id);
		break;
	case HYB_RECORD_OTHER:
		out_word(out, "kind", "other");
		out_number(out, "subtype", r->id);
		out_number(out, "bytes", r->value);
		break;
	}
}

static void begin_record(struct out *out, const struct chunk *chunk, const struct trace *trace)
{
	out_begin(out, "trace");
	out_hex(out, "offset", chunk->offset + trace_offset(trace));
	out_number(out, "location", chunk->location);
}

static void show_trace(struct out *out, const struct chunk *chunk, struct trace *trace)
{
	struct trace_record record;
	struct trace before;
	int result;

	begin_record(out, chunk, trace);
	out_word(out, "kind", "start");
	out_number(out, "serial", chunk->serial);
	out_number(out, "tick", trace->start.tick);
	out_number(out, "sample", trace->start.sample);
	out_number(out, "enter", trace->start.enter);
	out_number(out, "region", trace->start.region);
	out_flag(out, "lost", trace->start.lost);
	out_end(out);
	for (before = *trace; (result = trace_next(trace, &record)) != 0; before = *trace) {
		begin_record(out, chunk, &before);
		if (result < 0) {
			out_word(out, "kind", "damaged");
			out_end(out);
			return;
		}
		out_number(out, "tick", record.tick);
		show_record(out, &record);
		out_end(out);
	}
}

void dump_trace(struct out *out, const struct process *p, void *buffer)
{
	/* By thread, then serial: the order in which a thread wrote them. */
	for (size_t i = 0; i < p->file.chunk_count; i++) {
		struct trace trace;

		if (p->sorted[i]->kind != HYB_CHUNK_TRACE)
			continue;
		trace_init(&trace, buffer, file_read_chunk(&p->file, p->sorted[i], buffer, p->damage));
		show_trace(out, p->sorted[i], &trace);
	}
}
