/* hybrid-dump: threads, nodes and trace records, as they lie in the file. */
#include "format/words.h"
#include "base/path.h"
#include "base/wrap.h"
#include "dump.h"

/* -------------------------------------------------------------- locations */

static void show_reasons(struct out *out, uint32_t location, const char *what, const uint64_t *counts,
	size_t slots, const struct words *words)
{
	for (size_t i = 0; i < slots; i++) {
		if (!counts[i])
			continue;
		out_begin(out, what);
		out_number(out, "location", location);
		out_word(out, "reason", word_key(words, i));
		out_number(out, "number", i);
		out_number(out, "count", counts[i]);
		out_end(out);
	}
}
#define REASONS(out_, location_, what_, counts_, words_) \
	show_reasons(out_, location_, what_, counts_, sizeof(counts_) / sizeof((counts_)[0]), words_)

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
	if (l->ready_known)
		out_number(out, "ready", l->ready);
	out_number(out, "samples", l->samples);
	out_number(out, "taken", l->taken);
	out_number(out, "frames", l->frames);
	out_number(out, "guessed", l->guessed);
	out_number(out, "handler_ticks", l->handler_ticks);
	out_number(out, "period", l->period);
	out_number(out, "slowed", l->slowed);
	out_number(out, "events", l->events);
	out_number(out, "events_lost", l->events_lost);
	out_word(out, "source", word_key(&words_source, l->source));
	out_number(out, "nodes", l->nodes);
	out_number(out, "left_out", l->left_out);
	out_number(out, "python_left_out", l->python_left_out);
	out_number(out, "threads", l->threads);
	out_number(out, "kind", l->kind);
	out_text(out, "name", l->name);
	out_end(out);
	REASONS(out, l->id, "dropped", l->dropped, &words_drop);
	REASONS(out, l->id, "partial", l->partial, &words_partial);
	REASONS(out, l->id, "fault", l->faults, &words_fault);
	REASONS(out, l->id, "python", l->python, &words_python);
	REASONS(out, l->id, "mpi", l->mpi, &words_mpi);
	REASONS(out, l->id, "cost", l->cost, &words_cost);
}

static const struct chunk *find_chunk(
	const struct process *p, uint32_t location, unsigned kind, uint64_t serial)
{
	for (size_t i = 0; i < p->chunk_count; i++)
		if (p->chunks[i]->kind == kind && p->chunks[i]->location == location &&
			p->chunks[i]->serial == serial)
			return p->chunks[i];
	return NULL;
}

/* The last values of a location's metrics; false: there are none that go with its process. */
static bool read_metrics(const struct process *p, const struct chunk *chunk, struct hyb_metrics *ret)
{
	return chunk && p->info.metric_count &&
	       file_read(p->file, chunk->offset + sizeof(struct hyb_chunk), ret, sizeof(*ret)) ==
		       (int64_t)sizeof(*ret) &&
	       ret->width == p->info.metric_count;
}

static void show_metrics(struct out *out, const struct process *p, uint32_t location)
{
	struct hyb_metrics metrics;

	if (!read_metrics(p, find_chunk(p, location, HYB_CHUNK_METRICS, 0), &metrics))
		return;
	out_begin(out, "metrics");
	out_number(out, "location", location);
	out_list(out, "last", metrics.last, metrics.width);
	out_end(out);
}

/* The values where a region was entered. */
static void show_entered(struct out *out, const struct process *p, uint32_t location, size_t depth)
{
	bool second = depth >= HYB_STACK_FIRST;
	const struct chunk *chunk =
		p->info.metric_count ? find_chunk(p, location, HYB_CHUNK_METRICS, second) : NULL;
	int64_t values[HYB_METRICS_MAX];
	struct hyb_metrics metrics;
	size_t at, row;

	if (!read_metrics(p, chunk, &metrics))
		return;
	row = metrics.width * sizeof(*values);
	at = sizeof(struct hyb_chunk) + sizeof(metrics) + (depth - second * HYB_STACK_FIRST) * row;
	if (at + row <= chunk->size && file_read(p->file, chunk->offset + at, values, row) == (int64_t)row)
		out_list(out, "entered", values, metrics.width);
}

static void show_open(struct out *out, const struct process *p, uint32_t location, size_t depth,
	const struct hyb_open *open)
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
	show_entered(out, p, location, depth);
	out_end(out);
}

/* Open regions from `first` on, as many as the chunk holds. */
static void show_stack(struct out *out, const struct process *p, uint64_t offset, size_t size,
	uint32_t location, size_t first, size_t depth, void *buffer)
{
	const struct hyb_open *open = buffer;
	int64_t n = file_read(p->file, offset, buffer, size);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*open) && first + i < depth; i++)
		show_open(out, p, location, first + i, &open[i]);
}

void dump_locations(struct out *out, const struct process *p, void *buffer)
{
	for (size_t i = 0; i < p->chunk_count; i++) {
		const struct chunk *chunk = p->chunks[i], *second;
		struct hyb_location location;
		uint64_t at = chunk->offset + sizeof(struct hyb_chunk);

		if (chunk->kind != HYB_CHUNK_LOCATION ||
			file_read(p->file, at, &location, sizeof(location)) < (int64_t)sizeof(location))
			continue;
		show_location(out, chunk->offset, &location);
		show_metrics(out, p, location.id);
		show_stack(out, p, chunk->offset + HYB_LOCATION_STACK,
			HYB_STACK_FIRST * sizeof(struct hyb_open), location.id, 0, location.depth, buffer);
		second = location.depth > HYB_STACK_FIRST ? find_chunk(p, location.id, HYB_CHUNK_STACK, 0)
							  : NULL;
		if (second)
			show_stack(out, p, second->offset + sizeof(struct hyb_chunk),
				HYB_STACK_SECOND * sizeof(struct hyb_open), location.id, HYB_STACK_FIRST,
				location.depth, buffer);
	}
}

/* ------------------------------------------------------------------ nodes */

void dump_code(char *buffer, size_t room, const struct hyb_module *module, uint64_t address)
{
	const char *name = module ? path_base(module->path) : "";

	snprintf(buffer, room, "%s%s0x%llx", name, *name ? "+" : "", (unsigned long long)address);
}

static void show_key(struct out *out, const struct process *p, const struct hyb_node *node)
{
	const struct hyb_region *region;
	char code[512];

	out_hex(out, "key", node->key);
	if (node->kind == HYB_NODE_REGION) {
		region = process_region(p, HYB_REGION_ID(node->key));
		out_text(out, "name", region ? region->name : "(unknown region)");
	} else if (node->kind == HYB_NODE_PARTIAL) {
		out_word(out, "reason", word_key(&words_partial, node->key));
	} else if (node->kind == HYB_NODE_PYTHON) {
		region = process_region(p, HYB_PYTHON_REGION(node->key));
		out_text(out, "name", region ? region->name : "(unknown function)");
		out_number(out, "line", HYB_PYTHON_LINE(node->key));
	} else if (node->kind == HYB_NODE_MESSAGE) {
		dump_message_key(out, node->key);
	} else if (node->kind == HYB_NODE_FUNCTION || node->kind == HYB_NODE_CALL ||
		   node->kind == HYB_NODE_LEAF) {
		dump_code(code, sizeof(code), process_module(p, HYB_CODE_MODULE(node->key)),
			HYB_CODE_VADDR(node->key));
		out_text(out, "code", code);
	}
}

static void show_node(struct out *out, const struct process *p, const struct chunk *chunk, size_t at,
	const struct hyb_node *node, uint32_t cells)
{
	static const char *const probe[] = {"ran", "skipped"}, *const message[] = {"sent", "received"},
				 *const range[] = {"least", "most"}, *const frame[] = {"waited", "ready"};
	const char *const *names = node->kind == HYB_NODE_MESSAGE                                  ? message
				   : node->kind == HYB_NODE_RANGE                                  ? range
				   : node->kind > HYB_NODE_FUNCTION && node->kind < HYB_NODE_AWAIT ? frame
												   : probe;
	const int64_t *values = (const int64_t *)(node + 1);
	size_t metrics = p->info.metric_count;

	out_begin(out, "node");
	out_number(out, "id", (chunk->offset + at) / HYB_NODE_SIZE);
	out_number(out, "location", chunk->location);
	out_number(out, "parent", node->parent);
	out_word(out, "kind", word_key(&words_node, node->kind));
	show_key(out, p, node);
	out_number(out, "count", node->count);
	out_number(out, "inclusive", node->inclusive);
	out_number(out, "samples", node->samples);
	out_number(out, names[0], node->ran);
	out_number(out, names[1], node->skipped);
	out_flag(out, "demoted", node->flags & HYB_NODE_DEMOTED);
	if (metrics && chunk->kind == HYB_CHUNK_WIDE_NODES &&
		cells == HYB_WIDE_CELLS(metrics + p->overflow_count)) {
		if (node->kind <= HYB_NODE_FUNCTION)
			out_list(out, "values", values, metrics);
		if (p->overflow_count)
			out_list(out, "overflows", values + metrics, p->overflow_count);
	}
	out_end(out);
}

void dump_nodes(struct out *out, const struct process *p, void *buffer)
{
	for (size_t i = 0; i < p->chunk_count; i++) {
		const struct chunk *chunk = p->chunks[i];
		bool wide = chunk->kind == HYB_CHUNK_WIDE_NODES;
		uint32_t cells = 1;
		size_t length;

		if (chunk->kind != HYB_CHUNK_NODES && !wide)
			continue;
		length = file_read_chunk(p->file, chunk, buffer, p->damage);
		if (wide && length >= HYB_NODES_START)
			cells = ((const struct hyb_wide *)((const struct hyb_chunk *)buffer + 1))->cells;
		if (!cells || cells > HYB_WIDE_CELLS(2 * HYB_METRICS_MAX))
			continue;
		for (size_t at = HYB_NODES_START; at + cells * HYB_NODE_SIZE <= length;
			at += cells * HYB_NODE_SIZE) {
			const struct hyb_node *node = (const struct hyb_node *)((char *)buffer + at);

			if (node->kind)
				show_node(out, p, chunk, at, node, cells);
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
	if (r->flags & HYB_SAMPLE_EVENT)
		out_number(out, "overflow", r->metric);
}

/* Of a record that has metrics: as it was written, by how much they grew. `before`: the record in front of
 * it. */
static void show_growth(
	struct out *out, const struct trace *before, const struct trace *trace, const struct trace_record *r)
{
	size_t count = trace->layout.metrics;
	int64_t growth[HYB_METRICS_MAX];

	if (r->kind == HYB_RECORD_OTHER && r->id == HYB_OTHER_METRICS && trace->layout.values)
		out_list(out, "values", trace->values, count);
	if (!(r->flags & HYB_RECORD_METRICS))
		return;
	if (r->kind == HYB_RECORD_SAMPLE && r->flags & HYB_SAMPLE_FIRST && trace->layout.since)
		out_list(out, "since_values", r->since_values, count);
	for (size_t i = 0; i < count; i++)
		growth[i] = wrap_sub(trace->values[i], before->values[i]);
	out_list(out, "growth", growth, count);
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
		dump_other(out, r);
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
		show_growth(out, &before, trace, &record);
		out_end(out);
	}
}

void dump_trace(struct out *out, const struct process *p, void *buffer)
{
	/* By thread, then serial: the order in which a thread wrote them. */
	for (size_t i = 0; i < p->chunk_count; i++) {
		struct trace trace;

		if (p->chunks[i]->kind != HYB_CHUNK_TRACE)
			continue;
		trace_init(&trace, buffer, file_read_chunk(p->file, p->chunks[i], buffer, p->damage),
			process_layout(p));
		show_trace(out, p->chunks[i], &trace);
	}
}
