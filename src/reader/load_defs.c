/* The definitions of a process, from its DEFS chunks. */
#include "base/array.h"
#include "reader/defs.h"
#include "reader/process.h"

enum outcome { TAKEN = 0, BAD = 1 }; /* or HYB_ENOMEM */

static const char *keep(struct process *p, const char *text, size_t length)
{
	return arena_string(p->arena, text, length);
}

static int take_region(struct process *p, uint64_t id, const struct hyb_def *def)
{
	const struct hyb_def_region *raw = (const struct hyb_def_region *)def;
	struct def_region *to;
	const char *name, *file;

	if (def->size < sizeof(*raw) ||
		!def_strings(def, sizeof(*raw), raw->name_len, &name, raw->file_len, &file))
		return BAD;
	if (!ARRAY_ROOM(p->regions, p->region_count))
		return HYB_ENOMEM;
	to = &p->regions[p->region_count];
	to->id = id;
	to->region = (struct hyb_region){keep(p, name, raw->name_len), keep(p, file, raw->file_len),
		raw->line, raw->kind, raw->kind == HYB_REGION_PYTHON};
	if (!to->region.name || !to->region.file)
		return HYB_ENOMEM;
	p->region_count++;
	return TAKEN;
}

static int take_module(struct process *p, uint64_t id __attribute__((unused)), const struct hyb_def *def)
{
	const struct hyb_def_module *raw = (const struct hyb_def_module *)def;
	size_t count = p->info.module_count;
	struct hyb_module *to;
	const char *path;

	if (def->size < sizeof(*raw) || !def_strings(def, sizeof(*raw), raw->path_len, &path, 0, NULL) ||
		raw->build_id_len > sizeof(raw->build_id) || !raw->id || raw->id >= MODULE_IDS ||
		p->module_index[raw->id])
		return BAD;
	if (!ARRAY_ROOM(p->modules, count))
		return HYB_ENOMEM;
	to = &p->modules[count];
	*to = (struct hyb_module){.path = keep(p, path, raw->path_len),
		.build_id_len = raw->build_id_len,
		.file_size = raw->file_size,
		.mtime = raw->mtime};
	if (!to->path)
		return HYB_ENOMEM;
	memcpy(to->build_id, raw->build_id, raw->build_id_len);
	p->module_index[raw->id] = (uint16_t)++p->info.module_count;
	return TAKEN;
}

static int take_metadata(struct process *p, uint64_t id __attribute__((unused)), const struct hyb_def *def)
{
	const struct hyb_def_metadata *raw = (const struct hyb_def_metadata *)def;
	size_t count = p->info.metadata_count;
	const char *key, *value;

	if (def->size < sizeof(*raw) ||
		!def_strings(def, sizeof(*raw), raw->key_len, &key, raw->value_len, &value))
		return BAD;
	if (!ARRAY_ROOM(p->metadata, count))
		return HYB_ENOMEM;
	p->metadata[count] =
		(struct hyb_text_pair){keep(p, key, raw->key_len), keep(p, value, raw->value_len)};
	if (!p->metadata[count].key || !p->metadata[count].value)
		return HYB_ENOMEM;
	p->info.metadata_count++;
	return TAKEN;
}

static int take_note(struct process *p, uint64_t id __attribute__((unused)), const struct hyb_def *def)
{
	const struct hyb_def_note *raw = (const struct hyb_def_note *)def;
	size_t count = p->info.note_count;
	const char *text;

	if (def->size < sizeof(*raw) || !def_strings(def, sizeof(*raw), raw->text_len, &text, 0, NULL))
		return BAD;
	if (!ARRAY_ROOM(p->notes, count))
		return HYB_ENOMEM;
	p->notes[count] = (struct hyb_note){
		clock_time(&p->clock, raw->tick), raw->severity, keep(p, text, raw->text_len)};
	if (!p->notes[count].text)
		return HYB_ENOMEM;
	p->info.note_count++;
	return TAKEN;
}

static int take_counter(struct process *p, uint64_t id, const struct hyb_def *def)
{
	const struct hyb_def_counter *raw = (const struct hyb_def_counter *)def;
	size_t count = p->counter_count;
	const char *name, *unit;

	if (def->size < sizeof(*raw) ||
		!def_strings(def, sizeof(*raw), raw->name_len, &name, raw->unit_len, &unit))
		return BAD;
	if (!ARRAY_ROOM(p->counters, count))
		return HYB_ENOMEM;
	p->counters[count] =
		(struct def_counter){id, keep(p, name, raw->name_len), keep(p, unit, raw->unit_len)};
	if (!p->counters[count].name || !p->counters[count].unit)
		return HYB_ENOMEM;
	p->counter_count++;
	return TAKEN;
}

static int take_text(struct process *p, uint64_t id, const struct hyb_def *def)
{
	const struct hyb_def_text *raw = (const struct hyb_def_text *)def;
	size_t count = p->text_count;
	const char *text;

	if (def->size < sizeof(*raw) || !def_strings(def, sizeof(*raw), raw->len, &text, 0, NULL))
		return BAD;
	if (!ARRAY_ROOM(p->texts, count))
		return HYB_ENOMEM;
	p->texts[count] = (struct def_text){id, keep(p, text, raw->len)};
	if (!p->texts[count].text)
		return HYB_ENOMEM;
	p->text_count++;
	return TAKEN;
}

static int take_child(struct process *p, uint64_t id __attribute__((unused)), const struct hyb_def *def)
{
	const struct hyb_def_child *raw = (const struct hyb_def_child *)def;
	size_t count = p->info.child_count;
	const char *path;

	if (def->size < sizeof(*raw) || !def_strings(def, sizeof(*raw), raw->path_len, &path, 0, NULL))
		return BAD;
	if (!ARRAY_ROOM(p->children, count))
		return HYB_ENOMEM;
	p->children[count] = (struct hyb_child){
		clock_time(&p->clock, raw->tick), raw->pid, raw->kind, keep(p, path, raw->path_len)};
	if (!p->children[count].path)
		return HYB_ENOMEM;
	p->info.child_count++;
	return TAKEN;
}

/* Where a module was mapped matters to the runtime; node keys are free of it. */
static int take_map(struct process *p __attribute__((unused)), uint64_t id __attribute__((unused)),
	const struct hyb_def *def)
{
	return def->size < sizeof(struct hyb_def_map) ? BAD : TAKEN;
}

static int take_pad(struct process *p __attribute__((unused)), uint64_t id __attribute__((unused)),
	const struct hyb_def *def __attribute__((unused)))
{
	return TAKEN;
}

typedef int take_fn(struct process *p, uint64_t id, const struct hyb_def *def);

static take_fn *const take[] = {
	[HYB_DEF_REGION] = take_region,
	[HYB_DEF_MODULE] = take_module,
	[HYB_DEF_MAP] = take_map,
	[HYB_DEF_METADATA] = take_metadata,
	[HYB_DEF_NOTE] = take_note,
	[HYB_DEF_COUNTER] = take_counter,
	[HYB_DEF_TEXT] = take_text,
	[HYB_DEF_CHILD] = take_child,
	[HYB_DEF_PAD] = take_pad,
};

static int load_chunk(struct process *p, const struct chunk *chunk, void *buffer)
{
	size_t length = file_read_chunk(&p->file, chunk, buffer, p->damage);
	const char *path = p->file.path;
	const struct hyb_def *def;
	struct defs defs;

	defs_init(&defs, buffer, length);
	while ((def = defs_next(&defs))) {
		uint64_t id = chunk->offset + defs_offset(&defs, def);
		bool known = def->type < sizeof(take) / sizeof(take[0]);
		int outcome = known ? take[def->type](p, id, def) : TAKEN;

		if (outcome < 0)
			return outcome;
		if (outcome == BAD)
			damage_add(p->damage, path, id, "a definition of type %u is damaged", def->type);
		else if (!known && !file_newer(&p->file))
			damage_add(p->damage, path, id, "a definition of unknown type %u", def->type);
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

	p->module_index = calloc(MODULE_IDS, sizeof(*p->module_index));
	if (!buffer || !p->module_index)
		error = HYB_ENOMEM;
	for (size_t i = 0; i < p->file.chunk_count && !error; i++)
		if (p->file.chunks[i].kind == HYB_CHUNK_DEFS)
			error = load_chunk(p, &p->file.chunks[i], buffer);
	free(buffer);
	p->info.modules = p->modules;
	p->info.metadata = p->metadata;
	p->info.notes = p->notes;
	p->info.children = p->children;
	return error;
}
