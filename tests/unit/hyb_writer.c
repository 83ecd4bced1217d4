#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hyb_writer_parts.h"

#define ROOM (1ul << 30) /* address space of a file under construction */
#define CHUNK_DEFS 16384u
#define CHUNK_NODES 16384u
#define CHUNK_TRACE 16384u

struct writer *writer_new(void)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct hyb_header *h;

	must(w);
	w->data =
		mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(w->data != MAP_FAILED);
	w->length = HYB_PAGE;
	h = writer_header(w);
	memcpy(h->magic, HYB_MAGIC, sizeof(h->magic));
	h->version_major = HYB_VERSION_MAJOR;
	h->version_minor = HYB_VERSION_MINOR;
	h->header_size = sizeof(*h);
	h->claimed = w->length;
	h->pid = 100;
	h->ppid = 1;
	h->clock = HYB_CLOCK_MONOTONIC;
	h->state = HYB_STATE_RUNNING;
	h->first = h->last = (struct hyb_anchor){1000, 1000};
	h->realtime = 1700000000000000000u;
	strcpy(h->host, "testhost");
	h->clock_domain = 0x7e57;
	return w;
}

void writer_free(struct writer *w)
{
	munmap(w->data, ROOM);
	free(w);
}

struct hyb_header *writer_header(struct writer *w)
{
	return w->process ? w->process : (struct hyb_header *)w->data;
}

struct hyb_location *writer_location_at(struct writer *w, uint32_t location)
{
	return (struct hyb_location *)(w->threads[location].head + 1);
}

struct hyb_node *writer_node_at(struct writer *w, uint32_t node)
{
	return (struct hyb_node *)(w->data + (uint64_t)node * HYB_NODE_SIZE);
}

uint8_t *writer_data(struct writer *w, size_t *ret_length)
{
	*ret_length = w->length;
	return w->data;
}

void writer_write(struct writer *w, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	must(fd >= 0);
	for (size_t done = 0; done < w->length;) {
		ssize_t n = write(fd, w->data + done, w->length - done);

		must(n > 0);
		done += (size_t)n;
	}
	must(!close(fd));
}

uint64_t writer_chunk(struct writer *w, unsigned kind, uint32_t size, uint32_t location, uint64_t serial)
{
	struct hyb_chunk *chunk;
	uint64_t at = w->length;

	if (at / HYB_SEGMENT != (at + size - 1) / HYB_SEGMENT)
		at = (at / HYB_SEGMENT + 1) * HYB_SEGMENT;
	must(at + size <= ROOM);
	chunk = (struct hyb_chunk *)(w->data + at);
	*chunk = (struct hyb_chunk){.magic = HYB_CHUNK_MAGIC,
		.kind = (uint16_t)kind,
		.process = (uint16_t)((struct hyb_header *)w->data)->processes,
		.size = size,
		.location = location,
		.used = sizeof(*chunk),
		.serial = serial};
	w->length = at + size;
	((struct hyb_header *)w->data)->claimed = w->length;
	return at;
}

static struct hyb_chunk *chunk_at(struct writer *w, uint64_t offset)
{
	return (struct hyb_chunk *)(w->data + offset);
}

/* ------------------------------------------------------------ definitions */

uint64_t writer_def(
	struct writer *w, unsigned type, const void *head, size_t head_len, const char *a, const char *b)
{
	size_t a_len = a ? strlen(a) + 1 : 0, b_len = b ? strlen(b) + 1 : 0;
	size_t size = (head_len + a_len + b_len + 7) & ~(size_t)7;
	struct hyb_def *def;

	if (!w->defs || w->defs->used + size > w->defs->size)
		w->defs = chunk_at(w, writer_chunk(w, HYB_CHUNK_DEFS, CHUNK_DEFS, 0, 0));
	must(w->defs->used + size <= w->defs->size);
	def = (struct hyb_def *)((uint8_t *)w->defs + w->defs->used);
	memcpy(def, head, head_len);
	if (a)
		memcpy((char *)def + head_len, a, a_len);
	if (b)
		memcpy((char *)def + head_len + a_len, b, b_len);
	*def = (struct hyb_def){HYB_DEF_MAGIC, (uint16_t)type, (uint32_t)size};
	w->defs->used += size;
	return (uint64_t)((uint8_t *)def - w->data);
}

uint64_t writer_region(
	struct writer *w, const char *name, const char *file, unsigned line, enum hyb_region_kind kind)
{
	struct hyb_def_region def = {.kind = (uint16_t)kind,
		.name_len = (uint16_t)strlen(name),
		.file_len = (uint16_t)strlen(file),
		.line = line};

	return writer_def(w, HYB_DEF_REGION, &def, sizeof(def), name, file);
}

uint32_t writer_module(struct writer *w, const char *path, const void *build_id, unsigned build_id_len)
{
	struct hyb_def_module def = {.id = ++w->modules,
		.build_id_len = (uint16_t)build_id_len,
		.path_len = (uint16_t)strlen(path)};

	if (build_id_len)
		memcpy(def.build_id, build_id, build_id_len);
	writer_def(w, HYB_DEF_MODULE, &def, sizeof(def), path, NULL);
	return def.id;
}

uint64_t writer_metadata(struct writer *w, const char *key, const char *value)
{
	struct hyb_def_metadata def = {
		.key_len = (uint16_t)strlen(key), .value_len = (uint16_t)strlen(value)};

	return writer_def(w, HYB_DEF_METADATA, &def, sizeof(def), key, value);
}

uint64_t writer_note(struct writer *w, uint64_t tick, enum hyb_severity severity, const char *text)
{
	struct hyb_def_note def = {
		.tick = tick, .severity = (uint16_t)severity, .text_len = (uint16_t)strlen(text)};

	return writer_def(w, HYB_DEF_NOTE, &def, sizeof(def), text, NULL);
}

uint64_t writer_counter(struct writer *w, const char *name, const char *unit, unsigned type)
{
	struct hyb_def_counter def = {
		.name_len = (uint16_t)strlen(name), .unit_len = (uint16_t)strlen(unit), .type = type};

	return writer_def(w, HYB_DEF_COUNTER, &def, sizeof(def), name, unit);
}

uint64_t writer_text(struct writer *w, const char *text)
{
	struct hyb_def_text def = {.len = (uint16_t)strlen(text)};

	return writer_def(w, HYB_DEF_TEXT, &def, sizeof(def), text, NULL);
}

uint64_t writer_child(
	struct writer *w, uint64_t tick, uint32_t pid, enum hyb_child_kind kind, const char *path)
{
	struct hyb_def_child def = {
		.tick = tick, .pid = pid, .kind = (uint16_t)kind, .path_len = (uint16_t)strlen(path)};

	return writer_def(w, HYB_DEF_CHILD, &def, sizeof(def), path, NULL);
}

uint32_t writer_metric(struct writer *w, const char *name, const char *unit, const char *text,
	enum hyb_metric_mode mode, unsigned flags, uint64_t period)
{
	struct hyb_def_metric def = {.period = period,
		.index = w->metrics++,
		.mode = (uint16_t)mode,
		.flags = (uint16_t)flags,
		.name_len = (uint16_t)strlen(name),
		.unit_len = (uint16_t)strlen(unit),
		.text_len = (uint16_t)strlen(text)};
	char strings[512];

	must(def.index < HYB_METRICS_MAX && def.name_len + def.unit_len + 2u < sizeof(strings) - sizeof(def));
	/* The first two strings count as head. */
	memset(strings, 0, sizeof(strings));
	memcpy(strings, &def, sizeof(def));
	strcpy(strings + sizeof(def), name);
	strcpy(strings + sizeof(def) + def.name_len + 1, unit);
	writer_def(w, HYB_DEF_METRIC, strings, sizeof(def) + def.name_len + def.unit_len + 2u, text, NULL);
	w->overflows += period != 0;
	return def.index;
}

uint32_t writer_process(struct writer *w)
{
	struct hyb_header *file = (struct hyb_header *)w->data, header = *file;
	uint64_t at;

	if (!file->processes)
		*file = (struct hyb_header){.version_major = HYB_VERSION_MAJOR,
			.version_minor = HYB_VERSION_MINOR,
			.header_size = sizeof(*file)};
	else
		header = *writer_header(w);
	memcpy(file->magic, HYB_MAGIC, sizeof(file->magic));
	memcpy(file->host, header.host, sizeof(file->host));
	file->processes++;
	at = writer_chunk(w, HYB_CHUNK_PROCESS, HYB_PAGE, 0, 0);
	w->process = (struct hyb_header *)(chunk_at(w, at) + 1);
	*w->process = header;
	w->process->claimed = 0;
	w->process->processes = 0;
	w->process->pid = 99 + file->processes;
	w->process->threads = 0;
	w->process->trace_bytes = 0;
	chunk_at(w, at)->used += sizeof(header);
	w->defs = NULL;
	w->modules = w->handles = w->metrics = w->overflows = 0;
	memset(w->threads, 0, sizeof(w->threads));
	return file->processes;
}

/* ---------------------------------------------------------------- threads */

static uint32_t node_cells(const struct writer *w)
{
	return w->metrics ? HYB_WIDE_CELLS(w->metrics + w->overflows) : 1;
}

static void claim_metrics(struct writer *w, uint32_t location, unsigned serial, size_t levels)
{
	size_t size =
		sizeof(struct hyb_chunk) + sizeof(struct hyb_metrics) + levels * w->metrics * sizeof(int64_t);
	struct hyb_chunk *chunk =
		chunk_at(w, writer_chunk(w, HYB_CHUNK_METRICS,
				    (uint32_t)(size + HYB_PAGE - 1) & ~(HYB_PAGE - 1), location, serial));

	chunk->used = chunk->size;
	((struct hyb_metrics *)(chunk + 1))->width = w->metrics;
	w->threads[location].metrics[serial] = chunk;
}

struct hyb_metrics *writer_metrics_at(struct writer *w, uint32_t location)
{
	return (struct hyb_metrics *)(w->threads[location].metrics[0] + 1);
}

int64_t *writer_entered_at(struct writer *w, uint32_t location, uint32_t level)
{
	bool second = level >= HYB_STACK_FIRST;
	struct hyb_metrics *metrics;

	if (second && !w->threads[location].metrics[1])
		claim_metrics(w, location, 1, HYB_STACK_SECOND);
	metrics = (struct hyb_metrics *)(w->threads[location].metrics[second] + 1);
	return (int64_t *)(metrics + 1) + (level - second * HYB_STACK_FIRST) * w->metrics;
}

int64_t *writer_values_at(struct writer *w, uint32_t node)
{
	return (int64_t *)(writer_node_at(w, node) + 1);
}

uint64_t *writer_overflows_at(struct writer *w, uint32_t node)
{
	return (uint64_t *)(writer_values_at(w, node) + w->metrics);
}

uint32_t writer_location(struct writer *w, uint32_t location, uint32_t tid, uint64_t start)
{
	struct writer_thread *t = &w->threads[location];
	struct hyb_location *loc;

	must(location && location < LOCATIONS && !t->head);
	t->head = chunk_at(w, writer_chunk(w, HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, location, 0));
	t->head->used = HYB_LOCATION_CHUNK;
	loc = writer_location_at(w, location);
	*loc = (struct hyb_location){.id = location, .tid = tid, .start = start, .last = start};
	loc->root = writer_node(w, location, 0, HYB_NODE_ROOT, 0);
	writer_node_at(w, loc->root)->count = 1;
	writer_open(w, location, loc->root, start);
	if (w->metrics)
		claim_metrics(w, location, 0, HYB_STACK_FIRST);
	t->tick = start;
	t->overflow = -1;
	t->sample = t->enter = t->region = loc->root;
	writer_header(w)->threads++;
	return loc->root;
}

void writer_location_end(struct writer *w, uint32_t location, uint64_t end)
{
	struct hyb_location *loc = writer_location_at(w, location);

	loc->end = loc->last = end;
	if (loc->depth == 1) {
		loc->depth = 0;
		writer_node_at(w, loc->root)->inclusive = end - loc->start;
	}
}

uint32_t writer_node(
	struct writer *w, uint32_t location, uint32_t parent, enum hyb_node_kind kind, uint64_t key)
{
	struct writer_thread *t = &w->threads[location];
	uint32_t size = node_cells(w) * HYB_NODE_SIZE;
	struct hyb_node *node;

	if (!t->nodes || t->nodes->used + size > t->nodes->size) {
		t->nodes = chunk_at(w, writer_chunk(w, w->metrics ? HYB_CHUNK_WIDE_NODES : HYB_CHUNK_NODES,
					       CHUNK_NODES, location, t->node_serial++));
		if (w->metrics)
			((struct hyb_wide *)(t->nodes + 1))->cells = node_cells(w);
		t->nodes->used = HYB_NODES_START;
	}
	node = (struct hyb_node *)((uint8_t *)t->nodes + t->nodes->used);
	*node = (struct hyb_node){.parent = parent, .key = key, .kind = (uint8_t)kind};
	t->nodes->used += size;
	writer_location_at(w, location)->nodes++;
	return (uint32_t)((uint64_t)((uint8_t *)node - w->data) / HYB_NODE_SIZE);
}

uint32_t writer_message_node(struct writer *w, uint32_t location, uint32_t region, uint64_t key,
	uint64_t count, uint64_t inclusive, uint64_t sent, uint64_t received)
{
	uint32_t id = writer_node(w, location, region, HYB_NODE_MESSAGE, key);
	struct hyb_node *node = writer_node_at(w, id);

	node->count = count;
	node->inclusive = inclusive;
	node->sent = sent;
	node->received = received;
	return id;
}

void writer_open(struct writer *w, uint32_t location, uint32_t node, uint64_t enter)
{
	struct writer_thread *t = &w->threads[location];
	struct hyb_location *loc = writer_location_at(w, location);
	struct hyb_open *open = (struct hyb_open *)((uint8_t *)t->head + HYB_LOCATION_STACK) + loc->depth;

	if (loc->depth >= HYB_STACK_FIRST) {
		if (!t->stack)
			t->stack =
				chunk_at(w, writer_chunk(w, HYB_CHUNK_STACK, HYB_STACK_CHUNK, location, 0));
		t->stack->used += sizeof(*open);
		open = (struct hyb_open *)(t->stack + 1) + (loc->depth - HYB_STACK_FIRST);
	}
	must(loc->depth < HYB_STACK_FIRST + HYB_STACK_SECOND);
	*open = (struct hyb_open){.enter = enter, .node = node};
	loc->depth++;
}

/* ------------------------------------------------------------------ trace */

static uint8_t *put_values(const struct writer *w, uint8_t *p, const int64_t *values, const int64_t *less)
{
	for (uint32_t i = 0; i < w->metrics; i++)
		p = varint_put(p, zigzag((int64_t)((uint64_t)values[i] - (less ? (uint64_t)less[i] : 0))));
	return p;
}

static void put_metrics(struct writer *w, uint32_t location)
{
	struct writer_thread *t = &w->threads[location];
	uint8_t record[3 + HYB_METRICS_MAX * VARINT_MAX], *p = record + 3;

	p = put_values(w, p, t->traced, NULL);
	record[0] = HYB_RECORD_OTHER | HYB_OTHER_NOW;
	record[1] = HYB_OTHER_METRICS;
	record[2] = (uint8_t)(p - record - 3);
	must(record[2] < 0x80);
	writer_raw(w, location, record, (size_t)(p - record));
}

void writer_read(struct writer *w, uint32_t location, const int64_t *values)
{
	memcpy(w->threads[location].now, values, w->metrics * sizeof(*values));
}

void writer_cause(struct writer *w, uint32_t location, int metric, const int64_t *since)
{
	struct writer_thread *t = &w->threads[location];

	t->overflow = metric;
	if (since)
		memcpy(t->since, since, w->metrics * sizeof(*since));
}

void writer_trace_break(struct writer *w, uint32_t location, bool lost, unsigned serials)
{
	struct writer_thread *t = &w->threads[location];
	struct hyb_trace_start *start;

	if (t->trace)
		t->trace_serial += serials;
	t->trace = chunk_at(w, writer_chunk(w, HYB_CHUNK_TRACE, CHUNK_TRACE, location, t->trace_serial));
	start = (struct hyb_trace_start *)(t->trace + 1);
	*start = (struct hyb_trace_start){t->tick, t->sample, t->enter, t->region, lost, 0};
	t->trace->used += sizeof(*start);
	writer_header(w)->trace_bytes += CHUNK_TRACE;
	if (w->metrics)
		put_metrics(w, location);
}

void writer_raw(struct writer *w, uint32_t location, const void *bytes, size_t length)
{
	struct writer_thread *t = &w->threads[location];

	if (!t->trace)
		writer_trace_break(w, location, false, 1);
	must(t->trace->used + length <= t->trace->size);
	memcpy((uint8_t *)t->trace + t->trace->used, bytes, length);
	t->trace->used += length;
}

uint8_t *writer_begin(struct writer *w, uint32_t location, unsigned tag, uint64_t tick)
{
	struct writer_thread *t = &w->threads[location];
	uint8_t *p;

	must(tick >= t->tick);
	if (!t->trace ||
		t->trace->used + HYB_RECORD_MAX + HYB_RECORD_METRICS_MAX(w->metrics) > t->trace->size)
		writer_trace_break(w, location, false, 1);
	p = (uint8_t *)t->trace + t->trace->used;
	if (w->metrics && (tag & HYB_RECORD_KIND) <= HYB_RECORD_COMPLETE)
		tag |= HYB_RECORD_METRICS;
	*p++ = (uint8_t)tag;
	p = varint_put(p, tick - t->tick);
	t->tick = tick;
	writer_location_at(w, location)->events++;
	return p;
}

void writer_finish(struct writer *w, uint32_t location, const uint8_t *end)
{
	struct hyb_chunk *trace = w->threads[location].trace;

	trace->used = (uint64_t)(end - (uint8_t *)trace);
}

/* The same for a record that has metrics where there are any. */
static void finish_metrics(struct writer *w, uint32_t location, uint8_t *end)
{
	struct writer_thread *t = &w->threads[location];

	end = put_values(w, end, t->now, t->traced);
	memcpy(t->traced, t->now, sizeof(t->traced));
	writer_finish(w, location, end);
}

void writer_sample(struct writer *w, uint32_t location, uint64_t tick, uint32_t node, uint64_t since,
	uint64_t blocked, uint64_t weight)
{
	struct writer_thread *t = &w->threads[location];
	unsigned tag = HYB_RECORD_SAMPLE | (since != WRITER_NOT_FIRST ? HYB_SAMPLE_FIRST : 0) |
		       (blocked ? HYB_SAMPLE_BLOCKED : 0) | (weight > 1 ? HYB_SAMPLE_WEIGHT : 0) |
		       (t->overflow >= 0 ? HYB_SAMPLE_EVENT : 0);
	uint8_t *p = writer_begin(w, location, tag, tick);

	p = varint_put(p, zigzag((int64_t)node - t->sample));
	if (since != WRITER_NOT_FIRST)
		p = varint_put(p, since);
	if (blocked)
		p = varint_put(p, blocked);
	if (weight > 1)
		p = varint_put(p, weight - 1);
	if (t->overflow >= 0)
		p = varint_put(p, (uint64_t)t->overflow);
	if (since != WRITER_NOT_FIRST && !writer_header(w)->trace_events)
		p = put_values(w, p, t->since, NULL);
	t->sample = node;
	t->overflow = -1;
	memset(t->since, 0, sizeof(t->since));
	finish_metrics(w, location, p);
}

void writer_enter(struct writer *w, uint32_t location, uint64_t tick, uint32_t node)
{
	struct writer_thread *t = &w->threads[location];
	uint8_t *p = writer_begin(w, location, HYB_RECORD_ENTER, tick);

	p = varint_put(p, zigzag((int64_t)node - t->enter));
	t->enter = t->region = node;
	finish_metrics(w, location, p);
}

void writer_leave(struct writer *w, uint32_t location, uint64_t tick)
{
	struct writer_thread *t = &w->threads[location];

	finish_metrics(w, location, writer_begin(w, location, HYB_RECORD_LEAVE, tick));
	do
		t->region = writer_node_at(w, t->region)->parent;
	while (t->region && writer_node_at(w, t->region)->kind > HYB_NODE_FUNCTION);
}

void writer_complete(struct writer *w, uint32_t location, uint64_t tick, uint32_t node)
{
	uint8_t *p = writer_begin(w, location, HYB_RECORD_COMPLETE, tick);

	finish_metrics(w, location, varint_put(p, zigzag((int64_t)node - w->threads[location].sample)));
}

void writer_count(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, int64_t value)
{
	uint8_t *p = writer_begin(w, location, HYB_RECORD_COUNTER, tick);

	writer_finish(w, location, varint_put(varint_put(p, counter / 8), zigzag(value)));
}

void writer_count_real(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, double value)
{
	uint8_t *p = writer_begin(w, location, HYB_RECORD_COUNTER | HYB_COUNTER_DOUBLE, tick);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	writer_finish(w, location, varint_put(varint_put(p, counter / 8), __builtin_bswap64(bits)));
}

void writer_marker(struct writer *w, uint32_t location, uint64_t tick, uint64_t text)
{
	uint8_t *p = writer_begin(w, location, HYB_RECORD_MARKER, tick);

	writer_finish(w, location, varint_put(p, text / 8));
}

void writer_other(
	struct writer *w, uint32_t location, uint64_t tick, uint64_t subtype, const void *body, size_t length)
{
	uint8_t *p = writer_begin(w, location, HYB_RECORD_OTHER, tick);

	p = varint_put(varint_put(p, subtype), length);
	must(p + length <= (uint8_t *)w->threads[location].trace + w->threads[location].trace->size);
	memcpy(p, body, length);
	writer_finish(w, location, p + length);
}
