/* The definitions of a process, from its DEFS chunks. */
#include "base/array.h"
#include "reader/module_name.h"
#include "reader/process.h"

#define INDEX_FIRST 16u /* entries of module_index */
#define THREADS_MOST 3u /* MPI_THREAD_MULTIPLE */

/* What was read, and is known to be whole. */
struct definition {
	uint64_t id;
	const struct hyb_def *def;
	const char *texts[DEF_TEXTS]; /* the arena's */
};

enum outcome { TAKEN = 0, BAD = 1 }; /* or HYB_ENOMEM */

#define TAKE(...) (ARRAY_ADD(__VA_ARGS__) ? TAKEN : HYB_ENOMEM)

static int take_region(struct process *p, const struct definition *d)
{
	const struct hyb_def_region *raw = (const struct hyb_def_region *)d->def;
	const char *name = d->texts[0];
	char module[HYB_NAME_MAX];

	if (raw->kind == HYB_REGION_PYTHON && !strcmp(name, "<module>")) {
		module_name(d->texts[1], module, sizeof(module));
		name = arena_string(p->arena, module, strlen(module));
	}
	if (!name || !ARRAY_ROOM(p->regions, p->region_count))
		return HYB_ENOMEM;
	p->regions[p->region_count].id = d->id;
	p->regions[p->region_count++].region = (struct hyb_region){name, d->texts[1], raw->line, raw->kind,
		raw->kind == HYB_REGION_PYTHON, raw->kind == HYB_REGION_MPI};
	return TAKEN;
}

/* Ids count from 1, as a rule without gaps. */
static bool index_room(struct process *p, uint32_t id)
{
	uint32_t ids = p->module_ids ? p->module_ids : INDEX_FIRST;
	uint16_t *grown;

	if (id < p->module_ids)
		return true;
	while (ids <= id)
		ids *= 2;
	grown = realloc(p->module_index, ids * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + p->module_ids, 0, (ids - p->module_ids) * sizeof(*grown));
	p->module_index = grown;
	p->module_ids = ids;
	return true;
}

static int take_module(struct process *p, const struct definition *d)
{
	const struct hyb_def_module *raw = (const struct hyb_def_module *)d->def;
	size_t count = p->info.module_count;
	struct hyb_module *to;

	if (raw->build_id_len > sizeof(raw->build_id) || !raw->id || raw->id >= MODULE_IDS ||
		process_module(p, raw->id))
		return BAD;
	if (!ARRAY_ROOM(p->modules, count) || !index_room(p, raw->id))
		return HYB_ENOMEM;
	to = &p->modules[count];
	*to = (struct hyb_module){.path = d->texts[0],
		.build_id_len = raw->build_id_len,
		.file_size = raw->file_size,
		.mtime = raw->mtime};
	memcpy(to->build_id, raw->build_id, raw->build_id_len);
	p->module_index[raw->id] = (uint16_t)++p->info.module_count;
	return TAKEN;
}

static int take_metadata(struct process *p, const struct definition *d)
{
	return TAKE(p->metadata, p->info.metadata_count, (struct hyb_text_pair){d->texts[0], d->texts[1]});
}

static int take_note(struct process *p, const struct definition *d)
{
	const struct hyb_def_note *raw = (const struct hyb_def_note *)d->def;

	return TAKE(p->notes, p->info.note_count,
		(struct hyb_note){clock_time(&p->clock, raw->tick), raw->severity, d->texts[0]});
}

static int take_counter(struct process *p, const struct definition *d)
{
	return TAKE(p->counters, p->counter_count, (struct def_counter){d->id, d->texts[0], d->texts[1]});
}

static int take_text(struct process *p, const struct definition *d)
{
	return TAKE(p->texts, p->text_count, (struct def_text){d->id, d->texts[0]});
}

static int take_child(struct process *p, const struct definition *d)
{
	const struct hyb_def_child *raw = (const struct hyb_def_child *)d->def;

	return TAKE(p->children, p->info.child_count,
		(struct hyb_child){clock_time(&p->clock, raw->tick), raw->pid, raw->kind, d->texts[0]});
}

static int take_ended(struct process *p, const struct definition *d)
{
	const struct hyb_def_ended *raw = (const struct hyb_def_ended *)d->def;

	return TAKE(p->ended, p->info.ended_count,
		(struct hyb_ended){clock_time(&p->clock, raw->tick), raw->cpu, raw->pid, raw->status});
}

static int take_program(struct process *p, const struct definition *d)
{
	const struct hyb_def_program *raw = (const struct hyb_def_program *)d->def;

	return TAKE(p->programs, p->info.program_count,
		(struct hyb_program){
			clock_time(&p->clock, raw->tick), raw->pid, raw->unmeasured, d->texts[0]});
}

/* --------------------------------------------------------------- metrics */

static int take_metric(struct process *p, const struct definition *d)
{
	const struct hyb_def_metric *raw = (const struct hyb_def_metric *)d->def;

	if (raw->mode < HYB_METRIC_COUNT || raw->mode > HYB_METRIC_LEVEL)
		return BAD;
	if (raw->index >= HYB_METRICS_MAX || p->metric_mask >> raw->index & 1) {
		damage_add(p->damage, p->file->path, d->id,
			raw->index < HYB_METRICS_MAX ? "metric %u is defined twice"
						     : "a metric has the index %u, which is too large",
			raw->index);
		return TAKEN;
	}
	p->metrics[raw->index] = (struct hyb_metric){
		.name = d->texts[0],
		.unit = d->texts[1],
		.description = d->texts[2],
		.level = raw->mode == HYB_METRIC_LEVEL,
		.estimated = raw->flags & HYB_METRIC_ESTIMATED,
		.process_wide = raw->flags & HYB_METRIC_PROCESS,
		.period = raw->period,
		.uneven = raw->flags & HYB_METRIC_UNEVEN,
	};
	p->metric_mask |= 1u << raw->index;
	return TAKEN;
}

/* Values stand side by side by index: one whose definition was lost keeps its place. */
static void finish_metrics(struct process *p)
{
	for (uint32_t i = 0; p->metric_mask >> i; i++) {
		p->info.metric_count = i + 1;
		p->overflow_count += p->metrics[i].period != 0;
		if (p->metric_mask >> i & 1)
			continue;
		p->metrics[i] =
			(struct hyb_metric){.name = "(unknown metric)", .unit = "", .description = ""};
		damage_add(p->damage, p->file->path, 0, "metric %u is not defined", i);
	}
	p->info.metrics = p->metrics;
}

/* ------------------------------------------------------------------- MPI */

static int take_world(struct process *p, const struct definition *d)
{
	const struct hyb_def_world *raw = (const struct hyb_def_world *)d->def;

	if (!raw->identity || p->info.world || raw->size > HYB_RANK_FOREIGN || raw->rank >= raw->size ||
		raw->threads > THREADS_MOST)
		return BAD;
	p->info.world = raw->identity;
	p->info.rank = raw->rank;
	p->info.world_size = raw->size;
	p->info.thread_level = raw->threads;
	p->info.follows_pauses = raw->flags & HYB_WORLD_FOLLOWS;
	return TAKEN;
}

static int take_handle(struct process *p, const struct definition *d)
{
	const struct hyb_def_handle *raw = (const struct hyb_def_handle *)d->def;

	if (!raw->id || raw->kind < HYB_HANDLE_COMM || raw->kind > HYB_HANDLE_FILE ||
		raw->rank >= raw->size || raw->group > 1)
		return BAD;
	return TAKE(p->handles, p->info.handle_count,
		(struct hyb_handle){
			.identity = raw->identity,
			.parent = raw->parent,
			.id = raw->id,
			.type = raw->kind,
			.name = d->texts[0],
			.rank = raw->rank,
			.size = raw->size,
			.remote = raw->remote,
			.group = raw->group,
		});
}

static int take_handle_name(struct process *p, const struct definition *d)
{
	const struct hyb_def_handle_name *raw = (const struct hyb_def_handle_name *)d->def;

	return TAKE(p->names, p->name_count, (struct handle_name){raw->id, d->texts[0]});
}

static int take_clock(struct process *p, const struct definition *d)
{
	const struct hyb_def_clock *raw = (const struct hyb_def_clock *)d->def;

	return TAKE(p->offsets, p->info.offset_count,
		(struct hyb_clock_offset){raw->mono, raw->offset, raw->error, raw->reference});
}

static int compare_handles(const void *a, const void *b)
{
	const struct hyb_handle *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct hyb_clock_offset *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Sorts handles by id, each once, and names them; sorts clock offsets by time. */
static void finish_mpi(struct process *p)
{
	size_t count = p->info.handle_count, kept = 0;

	if (count)
		qsort(p->handles, count, sizeof(*p->handles), compare_handles);
	for (size_t i = 0; i < count; i++) {
		if (kept && p->handles[kept - 1].id == p->handles[i].id)
			damage_add(
				p->damage, p->file->path, 0, "handle %u is defined twice", p->handles[i].id);
		else
			p->handles[kept++] = p->handles[i];
	}
	p->info.handle_count = kept;
	for (size_t i = 0; i < p->name_count; i++) {
		struct hyb_handle *handle = (struct hyb_handle *)process_handle(p, p->names[i].handle);

		if (handle)
			handle->name = p->names[i].name;
		else
			damage_add(p->damage, p->file->path, 0, "the unknown handle %u is named",
				p->names[i].handle);
	}
	if (p->info.offset_count)
		qsort(p->offsets, p->info.offset_count, sizeof(*p->offsets), compare_offsets);
	p->info.handles = p->handles;
	p->info.offsets = p->offsets;
}

typedef int take_fn(struct process *p, const struct definition *d);

/* MAP is not read: only the runtime needs to know where a module was mapped, node keys do not depend on
 * it. */
static take_fn *const take[] = {
	[HYB_DEF_REGION] = take_region,
	[HYB_DEF_MODULE] = take_module,
	[HYB_DEF_METADATA] = take_metadata,
	[HYB_DEF_NOTE] = take_note,
	[HYB_DEF_COUNTER] = take_counter,
	[HYB_DEF_TEXT] = take_text,
	[HYB_DEF_CHILD] = take_child,
	[HYB_DEF_WORLD] = take_world,
	[HYB_DEF_HANDLE] = take_handle,
	[HYB_DEF_HANDLE_NAME] = take_handle_name,
	[HYB_DEF_CLOCK] = take_clock,
	[HYB_DEF_METRIC] = take_metric,
	[HYB_DEF_ENDED] = take_ended,
	[HYB_DEF_PROGRAM] = take_program,
};

static int take_definition(struct process *p, struct definition *d)
{
	unsigned type = d->def->type;
	const struct def_kind *kind = def_kind(type);

	if (kind && !def_texts(d->def, d->texts))
		return BAD;
	if (type >= sizeof(take) / sizeof(take[0]) || !take[type])
		return TAKEN;
	for (unsigned i = 0; i < DEF_TEXTS && kind->texts[i].name; i++) {
		d->texts[i] = arena_string(p->arena, d->texts[i], strlen(d->texts[i]));
		if (!d->texts[i])
			return HYB_ENOMEM;
	}
	return take[type](p, d);
}

static int load_chunk(struct process *p, const struct chunk *chunk, void *buffer)
{
	size_t length = file_read_chunk(p->file, chunk, buffer, p->damage);
	const char *path = p->file->path;
	const struct hyb_def *def;
	struct def_cursor defs;

	def_cursor_init(&defs, buffer, length);
	while ((def = def_cursor_next(&defs))) {
		struct definition d = {.id = chunk->offset + def_cursor_offset(&defs, def), .def = def};
		int outcome = take_definition(p, &d);

		if (outcome < 0)
			return outcome;
		if (outcome == BAD)
			damage_add(p->damage, path, d.id, "a definition of type %u is damaged", def->type);
		else if (!def_kind(def->type) && !file_newer(p->file))
			damage_add(p->damage, path, d.id, "a definition of unknown type %u", def->type);
	}
	if (defs.garbage)
		damage_add(p->damage, path, chunk->offset, "%zu bytes of the definitions are damaged",
			defs.garbage);
	return HYB_OK;
}

int process_load_defs(struct process *p)
{
	void *buffer = malloc(HYB_SEGMENT);
	int error = HYB_OK;

	if (!buffer)
		error = HYB_ENOMEM;
	for (size_t i = 0; i < p->chunk_count && !error; i++)
		if (p->chunks[i]->kind == HYB_CHUNK_DEFS)
			error = load_chunk(p, p->chunks[i], buffer);
	free(buffer);
	p->info.modules = p->modules;
	p->info.metadata = p->metadata;
	p->info.notes = p->notes;
	p->info.children = p->children;
	p->info.ended = p->ended;
	p->info.programs = p->programs;
	if (error)
		return error;
	finish_metrics(p);
	finish_mpi(p);
	return HYB_OK;
}
