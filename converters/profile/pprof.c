/*
 * pprof's profile.proto, gzipped: a sample for each call path that has something of its own, with its time,
 * samples, calls and metrics. What samples refer to follows them, as readers want all of it anyway: what is
 * in memory is the profile and one row for each place in the code. Inlined frames are frames like others.
 */
#include <string.h>

#include "converters/formats.h"
#include "converters/gzip.h"
#include "converters/protobuf.h"
#include "profile/origin.h"
#include "profile/views/row_map.h"

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION_FIELD = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7, /* and 8, 9, 10: file names, line numbers, inlined frames */
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

/* Rows of tables, all or the front of them key. Ids are numbers of rows, from 1. */
struct function {
	const char *name, *file, *module;
	uint64_t start;
};

struct location {
	uint64_t function, line, mapping;
};

struct pprof {
	const struct convert_job *job;
	struct convert_profile p;
	struct gzip *gzip;
	struct row_map strings; /* of texts: rows are pointers, of which equal ones are equal texts mostly */
	struct row_map functions, locations, mappings;
	struct blob message, inner, packed;
	bool calls, blocked; /* there are any */
	bool failed; /* memory was out */
};

static uint64_t number_of(struct pprof *o, struct row_map *table, const void *key)
{
	uint32_t number = row_map_number(table, key);

	o->failed |= number == ROW_NONE;
	return number == ROW_NONE ? 0 : (uint64_t)number + 1;
}

/* String 0 has to be the empty one, and so has its row. */
static uint64_t text_number(struct pprof *o, const char *text)
{
	return *text ? number_of(o, &o->strings, &text) : 0;
}

/* Sends a field with a message made in `message`. */
static void put(struct pprof *o, unsigned field)
{
	struct blob head = {0};

	protobuf_key(&head, field, PROTOBUF_BYTES);
	blob_put(&head, o->message.size);
	o->failed |= head.failed || o->message.failed || o->inner.failed || o->packed.failed;
	if (!o->failed) {
		gzip_write(o->gzip, head.data, head.size);
		gzip_write(o->gzip, o->message.data, o->message.size);
	}
	blob_release(&head);
	o->message.size = 0;
}

static void put_number(struct pprof *o, unsigned field, uint64_t number)
{
	protobuf_number(&o->message, field, number);
	o->failed |= o->message.failed;
	if (!o->failed)
		gzip_write(o->gzip, o->message.data, o->message.size);
	o->message.size = 0;
}

static void put_type(struct pprof *o, const char *type, const char *unit)
{
	protobuf_number(&o->message, VALUE_TYPE_TYPE, text_number(o, type));
	protobuf_number(&o->message, VALUE_TYPE_UNIT, text_number(o, unit));
	put(o, PROFILE_SAMPLE_TYPE);
}

static void put_types(struct pprof *o)
{
	const struct convert_profile *p = &o->p;

	put_type(o, "time", "nanoseconds");
	put_type(o, "samples", "count");
	if (o->calls)
		put_type(o, "calls", "count");
	if (o->blocked) { /* of all time, "time" has what was blocked in probes alone */
		put_type(o, "cpu", "nanoseconds");
		put_type(o, "wait", "nanoseconds");
		put_type(o, "ready", "nanoseconds");
	}
	for (size_t k = 0; k < p->metric_count; k++)
		put_type(o, p->metrics[k].name, *p->metrics[k].unit ? p->metrics[k].unit : "count");
	put_number(o, PROFILE_DEFAULT_SAMPLE_TYPE,
		text_number(o, p->weight == SIZE_MAX ? "time" : p->metrics[p->weight].name));
}

static uint64_t location_of(struct pprof *o, uint32_t node)
{
	const struct profile_node *n = &o->p.nodes[node];
	const unsigned start = n->kind == PROFILE_PROBE ? n->line : n->declared;
	struct function function = {n->name, n->file, n->module, start};
	struct location location = {.line = n->line ? n->line : n->declared};

	if (convert_is_own_line(&o->p, node)) /* the probe's function, then */
		function.start = o->p.nodes[n->parent].line;
	if (!node)
		function = (struct function){CONVERT_NO_FRAMES, "", "", 0};
	location.function = number_of(o, &o->functions, &function);
	location.mapping = *function.module ? number_of(o, &o->mappings, &function.module) : 0;
	return number_of(o, &o->locations, &location);
}

static bool has_own(const struct pprof *o, uint32_t node)
{
	const struct profile_node *n = &o->p.nodes[node];
	const struct profile_value *values = o->p.values ? &o->p.values[node * o->p.metric_count] : NULL;

	for (size_t k = 0; values && k < o->p.metric_count; k++)
		if (values[k].exclusive)
			return true;
	return n->exclusive || n->blocked || n->samples || (node && n->calls);
}

static void put_sample(struct pprof *o, uint32_t node, const uint64_t *ids)
{
	const struct profile_node *nodes = o->p.nodes, *n = &nodes[node];

	for (uint32_t i = node; i; i = nodes[i].parent) {
		blob_put(&o->packed, ids[i]);
		if (convert_is_own_line(&o->p, i))
			i = nodes[i].parent;
	}
	if (!node)
		blob_put(&o->packed, location_of(o, 0));
	protobuf_message(&o->message, SAMPLE_LOCATION_ID, &o->packed);
	blob_put(&o->packed, profile_alone(n));
	blob_put(&o->packed, n->samples);
	if (o->calls)
		blob_put(&o->packed, node ? n->calls : 0);
	if (o->blocked) {
		blob_put(&o->packed, n->exclusive);
		blob_put(&o->packed, n->blocked - n->ready);
		blob_put(&o->packed, n->ready);
	}
	for (size_t k = 0; k < o->p.metric_count; k++)
		blob_put(&o->packed,
			o->p.values ? (uint64_t)o->p.values[node * o->p.metric_count + k].exclusive : 0);
	protobuf_message(&o->message, SAMPLE_VALUE, &o->packed);
	put(o, PROFILE_SAMPLE);
}

static int put_samples(struct pprof *o, struct hyb_error *err)
{
	uint64_t *ids = calloc(o->p.count, sizeof(*ids));
	int r = ids ? HYB_OK : convert_no_memory(err);

	for (uint32_t i = 0; !r && i < o->p.count; i++) {
		if (i)
			ids[i] = location_of(o, i);
		if (has_own(o, i))
			put_sample(o, i, ids);
		r = o->failed ? convert_no_memory(err) : i % 4096 == 0 ? convert_check(o->job, err) : 0;
	}
	free(ids);
	return r;
}

static void put_locations(struct pprof *o)
{
	const struct location *locations = o->locations.rows;

	for (size_t i = 0; i < o->locations.count; i++) {
		protobuf_number(&o->message, LOCATION_ID, i + 1);
		protobuf_number(&o->message, LOCATION_MAPPING_ID, locations[i].mapping);
		protobuf_number(&o->inner, LINE_FUNCTION_ID, locations[i].function);
		protobuf_number(&o->inner, LINE_LINE, locations[i].line);
		protobuf_message(&o->message, LOCATION_LINE, &o->inner);
		put(o, PROFILE_LOCATION);
	}
}

static void put_functions(struct pprof *o)
{
	const struct function *functions = o->functions.rows;

	for (size_t i = 0; i < o->functions.count; i++) {
		uint64_t name = text_number(o, *functions[i].name ? functions[i].name : "[unknown]");

		protobuf_number(&o->message, FUNCTION_ID, i + 1);
		protobuf_number(&o->message, FUNCTION_NAME, name);
		protobuf_number(&o->message, FUNCTION_SYSTEM_NAME, name);
		protobuf_number(&o->message, FUNCTION_FILENAME, text_number(o, functions[i].file));
		protobuf_number(&o->message, FUNCTION_START_LINE, functions[i].start);
		put(o, PROFILE_FUNCTION_FIELD);
	}
}

/* The build id of what ran under that path, in hexadecimal; "" if it is not known. */
static void build_id_of(const struct pprof *o, const char *path, char text[65])
{
	*text = 0;
	for (size_t i = 0; !*text && i < hyb_process_count(o->job->experiment); i++) {
		const struct hyb_process *process = hyb_process_at(o->job->experiment, i);

		for (size_t k = 0; !*text && k < process->module_count; k++) {
			const struct hyb_module *m = &process->modules[k];

			for (size_t b = 0; !strcmp(m->path, path) && b < m->build_id_len; b++)
				snprintf(text + 2 * b, 3, "%02x", m->build_id[b]);
		}
	}
}

/* And all texts, as build ids are in no table. */
static void put_mappings(struct pprof *o)
{
	const char *const *modules = o->mappings.rows;
	char(*ids)[65] = calloc(o->mappings.count + 1, sizeof(*ids));
	const char *const *texts;

	o->failed |= !ids;
	for (size_t i = 0; ids && i < o->mappings.count; i++) {
		build_id_of(o, modules[i], ids[i]);
		protobuf_number(&o->message, MAPPING_ID, i + 1);
		protobuf_number(&o->message, MAPPING_FILENAME, text_number(o, modules[i]));
		protobuf_number(&o->message, MAPPING_BUILD_ID, text_number(o, ids[i]));
		for (unsigned f = MAPPING_HAS_FUNCTIONS; f <= MAPPING_HAS_INLINE_FRAMES; f++)
			protobuf_number(&o->message, f, 1);
		put(o, PROFILE_MAPPING);
	}
	texts = o->strings.rows;
	for (size_t i = 0; i <= o->strings.count; i++) {
		protobuf_text(&o->message, PROFILE_STRING_TABLE, i ? texts[i - 1] : "");
		o->failed |= o->message.failed;
		if (!o->failed)
			gzip_write(o->gzip, o->message.data, o->message.size);
		o->message.size = 0;
	}
	free(ids);
}

static void put_about(struct pprof *o)
{
	const char *command = hyb_experiment_value(o->job->experiment, "command");
	const struct convert_notes *notes = o->job->notes;

	if (hyb_process_count(o->job->experiment)) {
		const struct hyb_process *first = hyb_process_at(o->job->experiment, 0);

		put_number(o, PROFILE_TIME_NANOS, (uint64_t)origin_realtime(first, first->start));
	}
	put_number(o, PROFILE_DURATION_NANOS, profile_quality(o->p.profile)->wall);
	if (command)
		put_number(o, PROFILE_COMMENT, text_number(o, command));
	for (size_t i = 0; notes && i < notes->count; i++)
		put_number(o, PROFILE_COMMENT, text_number(o, notes->lines[i]));
}

/* pprof takes the first mapping for the program: that of the process that ran most, as g++ only starts
 * cc1plus. */
static void put_program_first(struct pprof *o)
{
	const struct hyb_process *program = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < hyb_process_count(o->job->experiment); i++) {
		const struct hyb_process *process = hyb_process_at(o->job->experiment, i);
		uint64_t cpu = 0;

		for (size_t k = 0; k < process->location_count; k++)
			cpu += process->locations[k].cpu;
		if (process->module_count && (!program || cpu > most)) {
			program = process;
			most = cpu;
		}
	}
	for (size_t i = 0; program && i < o->p.count; i++) {
		if (!strcmp(o->p.nodes[i].module, program->modules[0].path)) {
			number_of(o, &o->mappings, &o->p.nodes[i].module);
			return;
		}
	}
}

static int put_all(struct pprof *o, struct hyb_error *err)
{
	int r;

	for (size_t i = 0; i < o->p.count; i++) {
		o->calls |= i && o->p.nodes[i].calls > 0;
		o->blocked |= o->p.nodes[i].blocked > 0;
	}
	put_program_first(o);
	put_types(o);
	put_about(o);
	r = put_samples(o, err);
	if (r)
		return r;
	put_locations(o);
	put_functions(o);
	put_mappings(o);
	return o->failed ? convert_no_memory(err) : HYB_OK;
}

static struct row_map table_of(size_t size)
{
	return (struct row_map){.row_size = size, .key_size = size};
}

int pprof_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_job lines = *job;
	struct pprof o = {.job = &lines,
		.strings = table_of(sizeof(const char *)),
		.mappings = table_of(sizeof(const char *)),
		.functions = table_of(sizeof(struct function)),
		.locations = table_of(sizeof(struct location))};
	int r;

	lines.mode = PROFILE_CALLSITE;
	r = convert_profile_make(&lines, &o.p, err);
	if (r)
		return r;
	o.gzip = gzip_open(job->file);
	r = o.gzip ? put_all(&o, err) : convert_no_memory(err);
	gzip_close(o.gzip);
	row_map_release(&o.strings);
	row_map_release(&o.mappings);
	row_map_release(&o.functions);
	row_map_release(&o.locations);
	blob_release(&o.message);
	blob_release(&o.inner);
	blob_release(&o.packed);
	convert_profile_release(&o.p);
	return r;
}
