#include "hyb_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/varint.h"

#define CHUNK_FIRST 16384u /* bytes of a first chunk; the next ones double */
#define CHUNK_TRACE 262144u /* at most */

/* A chunk that is written, mapped. */
struct part {
	struct hyb_chunk *chunk; /* NULL: none yet */
	uint64_t offset; /* in the file */
	uint32_t used, size;
};

struct mapping {
	void *data;
	size_t size;
};

struct hyb_write {
	int fd, error;
	bool several;
	uint64_t size; /* of the file */
	uint8_t *scrap; /* HYB_SEGMENT bytes that are written where the file cannot be */
	struct hyb_header *page; /* the file's first */
	struct hyb_header *header; /* of the process */
	uint16_t process; /* 0 in the file of one */
	struct part defs;
	uint32_t metrics, periods;
	/* The thread. */
	struct hyb_location *location; /* NULL: none */
	struct hyb_metrics *last;
	struct hyb_node *root;
	struct mapping *kept; /* chunks that stay mapped until its end */
	size_t kept_count;
	struct part nodes, trace;
	uint64_t node_serial, trace_serial, tick;
	uint32_t sample, enter, region;
	int64_t values[HYB_METRICS_MAX]; /* of the last record that has them */
};

static void fail(struct hyb_write *w, int error)
{
	if (!w->error)
		w->error = error ? error : EIO;
}

/* Zero bytes of the file, mapped; scrap after a failure. */
static void *map(struct hyb_write *w, uint64_t offset, uint32_t size)
{
	int error = w->error ? w->error : posix_fallocate(w->fd, (off_t)offset, size);
	void *data = error ? MAP_FAILED
			   : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, (off_t)offset);

	if (data != MAP_FAILED)
		return data;
	fail(w, error ? error : errno);
	memset(w->scrap, 0, size);
	return w->scrap;
}

static void unmap(const struct hyb_write *w, void *data, size_t size)
{
	if (data && data != w->scrap)
		munmap(data, size);
}

static void claim(struct hyb_write *w, struct part *part, unsigned kind, uint32_t size, uint64_t serial)
{
	uint64_t at = w->size;

	if (at / HYB_SEGMENT != (at + size - 1) / HYB_SEGMENT)
		at = (at / HYB_SEGMENT + 1) * HYB_SEGMENT;
	*part = (struct part){map(w, at, size), at, sizeof(*part->chunk), size};
	*part->chunk = (struct hyb_chunk){.magic = HYB_CHUNK_MAGIC,
		.kind = (uint16_t)kind,
		.process = w->process,
		.size = size,
		.location = w->location && kind != HYB_CHUNK_DEFS ? w->location->id : 0,
		.used = sizeof(*part->chunk),
		.serial = serial};
	w->size = at + size;
	w->page->claimed = w->size;
}

static void use(struct part *part, size_t more)
{
	part->used += (uint32_t)more;
	part->chunk->used = part->used;
}

static void end_part(const struct hyb_write *w, struct part *part)
{
	unmap(w, part->chunk, part->size);
	*part = (struct part){0};
}

struct hyb_write *hyb_write_new(int fd, bool several)
{
	struct hyb_write *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = fd;
	w->several = several;
	w->scrap = malloc(HYB_SEGMENT);
	if (!w->scrap) {
		free(w);
		return NULL;
	}
	w->page = map(w, 0, HYB_PAGE);
	w->size = HYB_PAGE;
	w->page->version_major = HYB_VERSION_MAJOR;
	w->page->version_minor = HYB_VERSION_MINOR;
	w->page->header_size = sizeof(*w->page);
	w->page->claimed = w->size;
	return w;
}

int hyb_write_error(const struct hyb_write *w)
{
	return w->error;
}

static void end_process(struct hyb_write *w)
{
	if (w->location)
		hyb_write_location_end(w, w->tick, NULL);
	end_part(w, &w->defs);
	if (w->process)
		unmap(w, (struct hyb_chunk *)w->header - 1, HYB_PAGE);
	w->header = NULL;
	w->metrics = w->periods = 0;
}

void hyb_write_free(struct hyb_write *w)
{
	if (!w)
		return;
	end_process(w);
	unmap(w, w->page, HYB_PAGE);
	free(w->scrap);
	free(w->kept);
	free(w);
}

struct hyb_header *hyb_write_process(struct hyb_write *w, const struct hyb_header *header)
{
	uint64_t claimed;

	end_process(w);
	w->header = w->page;
	if (w->several) {
		struct part part;

		w->process++;
		claim(w, &part, HYB_CHUNK_PROCESS, HYB_PAGE, 0);
		use(&part, sizeof(*header));
		w->header = (struct hyb_header *)(part.chunk + 1);
		w->page->processes = w->process;
		memcpy(w->page->host, header->host, sizeof(w->page->host));
		memcpy(w->page->magic, HYB_MAGIC, sizeof(w->page->magic));
	}
	claimed = w->page->claimed;
	*w->header = *header;
	w->header->version_major = HYB_VERSION_MAJOR;
	w->header->version_minor = HYB_VERSION_MINOR;
	w->header->header_size = sizeof(*header);
	w->header->claimed = w->several ? 0 : claimed;
	w->header->processes = 0;
	memcpy(w->header->magic, HYB_MAGIC, sizeof(w->header->magic));
	return w->header;
}

/* ------------------------------------------------------------ definitions */

static uint16_t length_of(struct hyb_write *w, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length <= HYB_NAME_MAX)
		return (uint16_t)length;
	w->header->names_cut++;
	length = HYB_NAME_MAX;
	while (length > HYB_NAME_MAX - 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--; /* not inside a character of UTF-8 */
	return (uint16_t)length;
}

static uint64_t define(
	struct hyb_write *w, enum hyb_def_type type, const void *head, const char *const *texts)
{
	uint32_t size = def_size(type, head);
	struct hyb_def *def;

	if (!w->defs.chunk || w->defs.used + size > w->defs.size) {
		uint32_t next = w->defs.chunk ? w->defs.size * 2 : CHUNK_FIRST;

		end_part(w, &w->defs);
		claim(w, &w->defs, HYB_CHUNK_DEFS, next < HYB_SEGMENT ? next : HYB_SEGMENT, 0);
	}
	def = (struct hyb_def *)((char *)w->defs.chunk + w->defs.used);
	def_put(def, type, head, texts);
	*def = (struct hyb_def){HYB_DEF_MAGIC, (uint16_t)type, size};
	use(&w->defs, size);
	return w->defs.offset + w->defs.used - size;
}

uint64_t hyb_write_region(
	struct hyb_write *w, enum hyb_region_kind kind, const char *name, const char *file, uint32_t line)
{
	struct hyb_def_region def = {.kind = (uint16_t)kind,
		.name_len = length_of(w, name),
		.file_len = length_of(w, file),
		.line = line};

	return define(w, HYB_DEF_REGION, &def, DEF_WITH(name, file));
}

uint64_t hyb_write_counter(struct hyb_write *w, const char *name, const char *unit, bool real)
{
	struct hyb_def_counter def = {
		.name_len = length_of(w, name), .unit_len = length_of(w, unit), .type = real ? 2 : 1};

	return define(w, HYB_DEF_COUNTER, &def, DEF_WITH(name, unit));
}

uint64_t hyb_write_text(struct hyb_write *w, const char *text)
{
	struct hyb_def_text def = {.len = length_of(w, text)};

	return define(w, HYB_DEF_TEXT, &def, DEF_WITH(text));
}

void hyb_write_metadata(struct hyb_write *w, const char *key, const char *value)
{
	struct hyb_def_metadata def = {.key_len = length_of(w, key), .value_len = length_of(w, value)};

	define(w, HYB_DEF_METADATA, &def, DEF_WITH(key, value));
}

void hyb_write_note(struct hyb_write *w, uint64_t tick, enum hyb_severity severity, const char *text)
{
	struct hyb_def_note def = {
		.tick = tick, .severity = (uint16_t)severity, .text_len = length_of(w, text)};

	define(w, HYB_DEF_NOTE, &def, DEF_WITH(text));
}

void hyb_write_world(struct hyb_write *w, const struct hyb_def_world *world)
{
	define(w, HYB_DEF_WORLD, world, NULL);
}

void hyb_write_handle(struct hyb_write *w, const struct hyb_def_handle *handle, const char *name)
{
	struct hyb_def_handle def = *handle;

	def.name_len = length_of(w, name);
	define(w, HYB_DEF_HANDLE, &def, DEF_WITH(name));
}

void hyb_write_metric(struct hyb_write *w, const struct hyb_def_metric *metric, const char *name,
	const char *unit, const char *text)
{
	struct hyb_def_metric def = *metric;

	if (w->metrics == HYB_METRICS_MAX)
		return;
	def.index = w->metrics++;
	def.name_len = length_of(w, name);
	def.unit_len = length_of(w, unit);
	def.text_len = length_of(w, text);
	w->periods += def.period != 0;
	define(w, HYB_DEF_METRIC, &def, DEF_WITH(name, unit, text));
}

/* ----------------------------------------------------------------- threads */

/* A chunk that stays mapped until the end of the thread. */
static void claim_kept(struct hyb_write *w, struct part *part, unsigned kind, uint32_t size, uint64_t serial)
{
	claim(w, part, kind, size, serial);
	if (ARRAY_ROOM(w->kept, w->kept_count))
		w->kept[w->kept_count++] = (struct mapping){part->chunk, size};
	else
		fail(w, ENOMEM); /* stays mapped */
}

struct hyb_node *hyb_write_node(
	struct hyb_write *w, uint32_t parent, enum hyb_node_kind kind, uint64_t key, uint32_t *ret_id)
{
	uint32_t values = w->metrics + w->periods;
	uint32_t size = w->metrics ? HYB_WIDE_CELLS(values) * HYB_NODE_SIZE : HYB_NODE_SIZE;
	struct part *part = &w->nodes;
	struct hyb_node *node;

	if (!part->chunk || part->used + size > part->size) {
		uint32_t next = part->chunk ? part->size * 2 : CHUNK_FIRST;

		claim_kept(w, part, w->metrics ? HYB_CHUNK_WIDE_NODES : HYB_CHUNK_NODES,
			next < HYB_SEGMENT ? next : HYB_SEGMENT, w->node_serial++);
		if (w->metrics)
			*(struct hyb_wide *)(part->chunk + 1) =
				(struct hyb_wide){.cells = size / HYB_NODE_SIZE};
		use(part, HYB_NODES_START - part->used);
		if ((part->offset + part->size) / HYB_NODE_SIZE > UINT32_MAX)
			fail(w, EFBIG);
	}
	node = (struct hyb_node *)((uint8_t *)part->chunk + part->used);
	*node = (struct hyb_node){.parent = parent, .key = key, .kind = (uint8_t)kind};
	*ret_id = (uint32_t)((part->offset + part->used) / HYB_NODE_SIZE);
	use(part, size);
	w->location->nodes++;
	return node;
}

struct hyb_node *hyb_write_root(struct hyb_write *w, uint32_t *ret_id)
{
	*ret_id = w->location->root;
	return w->root;
}

static void claim_metrics(struct hyb_write *w)
{
	size_t size =
		sizeof(struct hyb_chunk) + sizeof(*w->last) + HYB_STACK_FIRST * w->metrics * sizeof(int64_t);
	struct part part;

	claim_kept(
		w, &part, HYB_CHUNK_METRICS, (uint32_t)((size + HYB_PAGE - 1) & ~(size_t)(HYB_PAGE - 1)), 0);
	w->last = (struct hyb_metrics *)(part.chunk + 1);
	w->last->width = w->metrics;
	use(&part, size - part.used);
}

struct hyb_location *hyb_write_location(
	struct hyb_write *w, uint32_t id, uint32_t tid, uint64_t start, const char *name)
{
	struct part part;

	w->location = NULL;
	claim_kept(w, &part, HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, 0);
	part.chunk->location = id;
	w->location = (struct hyb_location *)(part.chunk + 1);
	*w->location = (struct hyb_location){.id = id, .tid = tid, .start = start, .last = start};
	strncpy(w->location->name, name, sizeof(w->location->name) - 1);
	w->nodes = w->trace = (struct part){0};
	w->node_serial = w->trace_serial = 0;
	w->root = hyb_write_node(w, 0, HYB_NODE_ROOT, 0, &w->location->root);
	w->root->count = 1;
	*(struct hyb_open *)((uint8_t *)part.chunk + HYB_LOCATION_STACK) =
		(struct hyb_open){.enter = start, .node = w->location->root};
	w->location->depth = 1;
	use(&part, part.size - part.used);
	w->tick = start;
	w->sample = w->enter = w->region = w->location->root;
	memset(w->values, 0, sizeof(w->values));
	w->last = NULL;
	if (w->metrics)
		claim_metrics(w);
	w->header->threads++;
	return w->location;
}

void hyb_write_location_end(struct hyb_write *w, uint64_t end, const int64_t *values)
{
	struct hyb_location *location = w->location;

	if (values && w->last)
		memcpy(w->last->last, values, w->metrics * sizeof(*values));
	location->end = location->last = end;
	w->root->inclusive = end - location->start;
	location->depth = 0;
	end_part(w, &w->trace);
	for (size_t i = 0; i < w->kept_count; i++)
		unmap(w, w->kept[i].data, w->kept[i].size);
	free(w->kept);
	w->kept = NULL;
	w->kept_count = 0;
	w->location = NULL;
	w->nodes = (struct part){0};
}

/* ------------------------------------------------------------------- trace */

static void finish(struct hyb_write *w, const uint8_t *end)
{
	use(&w->trace, (size_t)(end - ((uint8_t *)w->trace.chunk + w->trace.used)));
	w->location->events++;
}

/* A new chunk. In a process with metrics their values stand first. */
static void begin_trace(struct hyb_write *w)
{
	uint32_t next = w->trace.chunk ? w->trace.size * 2 : CHUNK_FIRST;
	uint8_t *p;

	end_part(w, &w->trace);
	claim(w, &w->trace, HYB_CHUNK_TRACE, next < CHUNK_TRACE ? next : CHUNK_TRACE, w->trace_serial++);
	*(struct hyb_trace_start *)(w->trace.chunk + 1) =
		(struct hyb_trace_start){w->tick, w->sample, w->enter, w->region, 0, 0};
	use(&w->trace, sizeof(struct hyb_trace_start));
	w->header->trace_bytes += w->trace.size;
	if (!w->metrics)
		return;
	p = (uint8_t *)w->trace.chunk + w->trace.used;
	finish(w, record_put_metrics(p, w->values, w->metrics));
}

/* Where a record goes on behind its tag and time. */
static uint8_t *begin(struct hyb_write *w, unsigned tag, uint64_t tick, const int64_t *values)
{
	uint8_t *p;

	if (!w->trace.chunk ||
		w->trace.used + HYB_RECORD_MAX + HYB_RECORD_METRICS_MAX(w->metrics) > w->trace.size)
		begin_trace(w);
	p = (uint8_t *)w->trace.chunk + w->trace.used;
	*p++ = (uint8_t)(values && w->metrics ? tag | HYB_RECORD_METRICS : tag);
	p = varint_put(p, tick - w->tick);
	w->tick = tick;
	w->location->last = tick;
	return p;
}

/* What a record of metrics ends with. */
static uint8_t *put_growth(struct hyb_write *w, uint8_t *p, const int64_t *values)
{
	if (!values)
		return p;
	p = record_put_growth(p, values, w->values, w->metrics);
	memcpy(w->values, values, w->metrics * sizeof(*values));
	return p;
}

void hyb_write_enter(struct hyb_write *w, uint64_t tick, uint32_t node, const int64_t *values)
{
	uint8_t *p = begin(w, HYB_RECORD_ENTER, tick, values);

	p = record_put_node(p, node, w->enter);
	w->enter = w->region = node;
	finish(w, put_growth(w, p, values));
}

void hyb_write_leave(struct hyb_write *w, uint64_t tick, uint32_t outer, const int64_t *values)
{
	uint8_t *p = begin(w, HYB_RECORD_LEAVE, tick, values);

	w->region = outer;
	finish(w, put_growth(w, p, values));
}

void hyb_write_sample(
	struct hyb_write *w, uint64_t tick, uint32_t node, uint64_t since, const int64_t *values)
{
	unsigned tag = since == HYB_WRITE_AGAIN ? HYB_RECORD_SAMPLE : HYB_RECORD_SAMPLE | HYB_SAMPLE_FIRST;
	uint8_t *p = begin(w, tag, tick, values);

	p = record_put_sample(record_put_node(p, node, w->sample), tag, since, 0, 1, 0);
	w->sample = node;
	finish(w, put_growth(w, p, values));
}

void hyb_write_count(struct hyb_write *w, uint64_t tick, uint64_t counter, int64_t value)
{
	uint8_t *p = begin(w, HYB_RECORD_COUNTER, tick, NULL);

	finish(w, record_put_value(record_put_definition(p, counter), false, (uint64_t)value));
}

void hyb_write_count_real(struct hyb_write *w, uint64_t tick, uint64_t counter, double value)
{
	uint8_t *p = begin(w, HYB_RECORD_COUNTER | HYB_COUNTER_DOUBLE, tick, NULL);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	finish(w, record_put_value(record_put_definition(p, counter), true, bits));
}

void hyb_write_marker(struct hyb_write *w, uint64_t tick, uint64_t text)
{
	finish(w, record_put_definition(begin(w, HYB_RECORD_MARKER, tick, NULL), text));
}

void hyb_write_mpi(struct hyb_write *w, uint64_t tick, const struct mpi_record *record)
{
	bool now = w->trace.chunk && tick == w->tick;
	uint8_t *p = begin(w, now ? HYB_RECORD_OTHER | HYB_OTHER_NOW : HYB_RECORD_OTHER, tick, NULL);

	/* begin() has written a time of 0 in one byte. */
	finish(w, mpi_record_put(now ? p - 1 : p, record));
}
