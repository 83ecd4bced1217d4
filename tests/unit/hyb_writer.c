#include "hyb_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/varint.h"

#define ROOM (1ul << 30) /* address space of a file under construction */
#define LOCATIONS 65
#define CHUNK_DEFS 16384u
#define CHUNK_NODES 16384u
#define CHUNK_TRACE 16384u

struct writer_thread {
	struct hyb_chunk *head, *nodes, *trace, *stack;
	uint64_t node_serial, trace_serial, tick;
	uint32_t sample, enter, region;
};

struct writer {
	uint8_t *data;
	size_t length;
	struct hyb_chunk *defs;
	uint32_t modules;
	struct writer_thread threads[LOCATIONS];
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

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
	return w;
}

void writer_free(struct writer *w)
{
	munmap(w->data, ROOM);
	free(w);
}

struct hyb_header *writer_header(struct writer *w)
{
	return (struct hyb_header *)w->data;
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
		.size = size,
		.location = location,
		.used = sizeof(*chunk),
		.serial = serial};
	w->length = at + size;
	writer_header(w)->claimed = w->length;
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

/* ---------------------------------------------------------------- threads */

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
	t->tick = start;
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
	struct hyb_node *node;

	if (!t->nodes || t->nodes->used + HYB_NODE_SIZE > t->nodes->size) {
		t->nodes = chunk_at(
			w, writer_chunk(w, HYB_CHUNK_NODES, CHUNK_NODES, location, t->node_serial++));
		t->nodes->used = HYB_NODES_START;
	}
	node = (struct hyb_node *)((uint8_t *)t->nodes + t->nodes->used);
	*node = (struct hyb_node){.parent = parent, .key = key, .kind = (uint8_t)kind};
	t->nodes->used += HYB_NODE_SIZE;
	writer_location_at(w, location)->nodes++;
	return (uint32_t)((uint64_t)((uint8_t *)node - w->data) / HYB_NODE_SIZE);
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

/* Where a record of at most HYB_RECORD_MAX bytes begins, its tag and time written. */
static uint8_t *begin(struct writer *w, uint32_t location, unsigned tag, uint64_t tick)
{
	struct writer_thread *t = &w->threads[location];
	uint8_t *p;

	must(tick >= t->tick);
	if (!t->trace || t->trace->used + HYB_RECORD_MAX > t->trace->size)
		writer_trace_break(w, location, false, 1);
	p = (uint8_t *)t->trace + t->trace->used;
	*p++ = (uint8_t)tag;
	p = varint_put(p, tick - t->tick);
	t->tick = tick;
	writer_location_at(w, location)->events++;
	return p;
}

static void finish(struct writer *w, uint32_t location, const uint8_t *end)
{
	struct hyb_chunk *trace = w->threads[location].trace;

	trace->used = (uint64_t)(end - (uint8_t *)trace);
}

void writer_sample(struct writer *w, uint32_t location, uint64_t tick, uint32_t node, uint64_t since,
	uint64_t blocked, uint64_t weight)
{
	struct writer_thread *t = &w->threads[location];
	unsigned tag = HYB_RECORD_SAMPLE | (since != WRITER_NOT_FIRST ? HYB_SAMPLE_FIRST : 0) |
		       (blocked ? HYB_SAMPLE_BLOCKED : 0) | (weight > 1 ? HYB_SAMPLE_WEIGHT : 0);
	uint8_t *p = begin(w, location, tag, tick);

	p = varint_put(p, zigzag((int64_t)node - t->sample));
	if (since != WRITER_NOT_FIRST)
		p = varint_put(p, since);
	if (blocked)
		p = varint_put(p, blocked);
	if (weight > 1)
		p = varint_put(p, weight - 1);
	t->sample = node;
	finish(w, location, p);
}

void writer_enter(struct writer *w, uint32_t location, uint64_t tick, uint32_t node)
{
	struct writer_thread *t = &w->threads[location];
	uint8_t *p = begin(w, location, HYB_RECORD_ENTER, tick);

	p = varint_put(p, zigzag((int64_t)node - t->enter));
	t->enter = t->region = node;
	finish(w, location, p);
}

void writer_leave(struct writer *w, uint32_t location, uint64_t tick)
{
	struct writer_thread *t = &w->threads[location];

	finish(w, location, begin(w, location, HYB_RECORD_LEAVE, tick));
	do
		t->region = writer_node_at(w, t->region)->parent;
	while (t->region && writer_node_at(w, t->region)->kind > HYB_NODE_FUNCTION);
}

void writer_complete(struct writer *w, uint32_t location, uint64_t tick, uint32_t node)
{
	uint8_t *p = begin(w, location, HYB_RECORD_COMPLETE, tick);

	finish(w, location, varint_put(p, zigzag((int64_t)node - w->threads[location].sample)));
}

void writer_count(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, int64_t value)
{
	uint8_t *p = begin(w, location, HYB_RECORD_COUNTER, tick);

	finish(w, location, varint_put(varint_put(p, counter / 8), zigzag(value)));
}

void writer_count_real(struct writer *w, uint32_t location, uint64_t tick, uint64_t counter, double value)
{
	uint8_t *p = begin(w, location, HYB_RECORD_COUNTER | HYB_COUNTER_DOUBLE, tick);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	finish(w, location, varint_put(varint_put(p, counter / 8), __builtin_bswap64(bits)));
}

void writer_marker(struct writer *w, uint32_t location, uint64_t tick, uint64_t text)
{
	uint8_t *p = begin(w, location, HYB_RECORD_MARKER, tick);

	finish(w, location, varint_put(p, text / 8));
}

void writer_other(
	struct writer *w, uint32_t location, uint64_t tick, uint64_t subtype, const void *body, size_t length)
{
	uint8_t *p = begin(w, location, HYB_RECORD_OTHER, tick);

	p = varint_put(varint_put(p, subtype), length);
	must(p + length <= (uint8_t *)w->threads[location].trace + w->threads[location].trace->size);
	memcpy(p, body, length);
	finish(w, location, p + length);
}
