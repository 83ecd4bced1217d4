/* hybrid-dump: header, chunks and definitions, as they lie in the file. */
#include "format/words.h"
#include "dump.h"

void dump_file(struct out *out, const struct file *file)
{
	const struct hyb_header *h = &file->header;

	out_begin(out, "file");
	out_text(out, "path", file->path);
	out_number(out, "major", h->version_major);
	out_number(out, "minor", h->version_minor);
	out_number(out, "size", file->size);
	out_number(out, "claimed", h->claimed);
	out_number(out, "processes", h->processes);
	out_text(out, "host", h->host);
	out_end(out);
}

/* What was done to the times of events, of a process whose clock is not rank 0's. */
static void show_correction(struct out *out, const struct hyb_process *info)
{
	out_begin(out, "correction");
	if (info->clock_error == HYB_TIME_UNKNOWN) {
		out_flag(out, "unknown", true);
	} else {
		out_signed(out, "shift_start", info->clock_shift_start);
		out_signed(out, "shift_end", info->clock_shift_end);
		out_number(out, "error", info->clock_error);
	}
	out_end(out);
}

void dump_header(struct out *out, const struct process *process)
{
	const struct hyb_header *h = &process->header;

	out_begin(out, process->number ? "process" : "file");
	out_text(out, "path", process->file->path);
	if (process->number)
		out_number(out, "number", process->number);
	out_number(out, "major", h->version_major);
	out_number(out, "minor", h->version_minor);
	out_number(out, "size", process->info.file_size);
	if (!process->number)
		out_number(out, "claimed", h->claimed);
	out_number(out, "pid", h->pid);
	out_number(out, "ppid", h->ppid);
	out_number(out, "pid_namespace", h->pid_namespace);
	out_number(out, "image", h->image);
	out_word(out, "state", word_key(&words_state, h->state));
	out_text(out, "host", h->host);
	out_end(out);
	out_begin(out, "clock");
	out_word(out, "kind", word_key(&words_clock, h->clock));
	out_number(out, "shift", h->clock_shift);
	out_number(out, "first_tick", h->first.tick);
	out_number(out, "first_mono", h->first.mono);
	out_number(out, "last_tick", h->last.tick);
	out_number(out, "last_mono", h->last.mono);
	out_number(out, "realtime", h->realtime);
	out_hex(out, "domain", h->clock_domain);
	out_number(out, "end", h->end);
	out_end(out);
	if (process->corrected || process->info.clock_error)
		show_correction(out, &process->info);
	out_begin(out, "settings");
	out_word(out, "source", word_key(&words_source, h->source));
	out_number(out, "rate", h->rate);
	out_number(out, "trace_events", h->trace_events);
	out_number(out, "trace_limit", h->trace_limit);
	out_number(out, "budget", h->budget);
	out_end(out);
	out_begin(out, "totals");
	out_number(out, "threads", h->threads);
	out_number(out, "threads_lost", h->threads_lost);
	out_number(out, "regions_lost", h->regions_lost);
	out_number(out, "names_cut", h->names_cut);
	out_number(out, "trace_bytes", h->trace_bytes);
	out_number(out, "trace_stopped", h->trace_stopped);
	out_number(out, "probe_cost", h->probe_cost);
	out_number(out, "cpu_start", h->cpu_start);
	out_number(out, "cpu_ready", h->cpu_ready);
	out_number(out, "cpu_end", h->cpu_end);
	out_number(out, "cpu_children", h->cpu_children);
	out_number(out, "cpu", h->cpu);
	out_end(out);
	for (size_t i = 0; i < HYB_PROBE_COUNT; i++) {
		if (!h->call_cost[i])
			continue;
		out_begin(out, "call_cost");
		out_word(out, "kind", word_key(&words_probe_kind, i));
		out_number(out, "number", i);
		out_number(out, "ticks", h->call_cost[i]);
		out_end(out);
	}
}

void dump_chunks(struct out *out, const struct process *process)
{
	for (size_t i = 0; i < process->chunk_count; i++) {
		const struct chunk *chunk = process->chunks[i];

		out_begin(out, "chunk");
		out_hex(out, "offset", chunk->offset);
		out_word(out, "kind", word_key(&words_chunk, chunk->kind));
		if (!word_known(&words_chunk, chunk->kind))
			out_number(out, "number", chunk->kind);
		out_number(out, "size", chunk->size);
		out_number(out, "used", chunk->used);
		out_number(out, "location", chunk->location);
		out_number(out, "serial", chunk->serial);
		out_end(out);
	}
}

/* ------------------------------------------------------------ definitions */

static void show_region(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_region *d = (const struct hyb_def_region *)def;

	out_word(out, "kind", word_key(&words_region, d->kind));
	out_number(out, "line", d->line);
}

static void show_module(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_module *d = (const struct hyb_def_module *)def;
	size_t id_len = d->build_id_len < sizeof(d->build_id) ? d->build_id_len : sizeof(d->build_id);
	char id[2 * sizeof(d->build_id) + 1] = "";

	for (size_t i = 0; i < id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", d->build_id[i]);
	out_number(out, "id", d->id);
	out_word(out, "build_id", id_len || out->json ? id : "-");
	out_number(out, "file_size", d->file_size);
	out_signed(out, "mtime", d->mtime);
}

static void show_map(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_map *d = (const struct hyb_def_map *)def;

	out_number(out, "module", d->module);
	out_hex(out, "bias", d->bias);
	out_hex(out, "start", d->start);
	out_hex(out, "end", d->end);
	out_number(out, "loaded", d->loaded);
	out_number(out, "unloaded", d->unloaded);
}

static void show_note(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_note *d = (const struct hyb_def_note *)def;

	out_number(out, "tick", d->tick);
	out_word(out, "severity", word_key(&words_severity, d->severity));
}

static void show_counter(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_counter *d = (const struct hyb_def_counter *)def;

	out_word(out, "values", word_key(&words_number, d->type));
}

static void show_child(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_child *d = (const struct hyb_def_child *)def;

	out_number(out, "tick", d->tick);
	out_word(out, "kind", word_key(&words_child, d->kind));
	out_number(out, "pid", d->pid);
}

static void show_ended(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_ended *d = (const struct hyb_def_ended *)def;

	out_number(out, "tick", d->tick);
	out_number(out, "pid", d->pid);
	out_number(out, "cpu", d->cpu);
	out_number(out, "status", (uint64_t)(uint32_t)d->status);
}

static void show_program(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_program *d = (const struct hyb_def_program *)def;

	out_number(out, "tick", d->tick);
	out_number(out, "pid", d->pid);
	out_word(out, "unmeasured", word_key(&words_unmeasured, d->unmeasured));
}

static void show_world(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_world *d = (const struct hyb_def_world *)def;

	out_hex(out, "identity", d->identity);
	out_number(out, "rank", d->rank);
	out_number(out, "ranks", d->size);
	out_number(out, "threads", d->threads);
	out_number(out, "tick", d->tick);
}

static void show_handle(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_handle *d = (const struct hyb_def_handle *)def;

	out_word(out, "kind", word_key(&words_handle, d->kind));
	out_number(out, "id", d->id);
	out_hex(out, "identity", d->identity);
	out_hex(out, "parent", d->parent);
	out_number(out, "rank", d->rank);
	out_number(out, "ranks", d->size);
	out_number(out, "remote", d->remote);
	out_number(out, "group", d->group);
}

static void show_handle_name(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_handle_name *d = (const struct hyb_def_handle_name *)def;

	out_number(out, "id", d->id);
}

static void show_clock(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_clock *d = (const struct hyb_def_clock *)def;

	out_number(out, "mono", d->mono);
	out_signed(out, "shift", d->offset);
	out_number(out, "error", d->error);
	out_number(out, "reference", d->reference);
	out_number(out, "rounds", d->rounds);
}

static void show_metric(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_metric *d = (const struct hyb_def_metric *)def;

	out_number(out, "index", d->index);
	out_word(out, "mode", word_key(&words_metric_mode, d->mode));
	out_number(out, "period", d->period);
	out_flag(out, "estimated", d->flags & HYB_METRIC_ESTIMATED);
	out_flag(out, "process", d->flags & HYB_METRIC_PROCESS);
	out_flag(out, "uneven", d->flags & HYB_METRIC_UNEVEN);
}

static void (*const shows[])(struct out *out, const struct hyb_def *def) = {
	[HYB_DEF_REGION] = show_region,
	[HYB_DEF_MODULE] = show_module,
	[HYB_DEF_MAP] = show_map,
	[HYB_DEF_NOTE] = show_note,
	[HYB_DEF_COUNTER] = show_counter,
	[HYB_DEF_CHILD] = show_child,
	[HYB_DEF_WORLD] = show_world,
	[HYB_DEF_HANDLE] = show_handle,
	[HYB_DEF_HANDLE_NAME] = show_handle_name,
	[HYB_DEF_CLOCK] = show_clock,
	[HYB_DEF_METRIC] = show_metric,
	[HYB_DEF_ENDED] = show_ended,
	[HYB_DEF_PROGRAM] = show_program,
};

/* Damage is what the reader describes. */
static void show_def(struct out *out, uint64_t id, const struct hyb_def *def)
{
	const struct def_kind *kind = def_kind(def->type);
	const char *texts[DEF_TEXTS];

	out_begin(out, "def");
	out_hex(out, "offset", id);
	out_word(out, "type", word_key(&words_def, def->type));
	if (!kind)
		out_number(out, "number", def->type);
	out_number(out, "size", def->size);
	if (kind && def->size >= kind->size && def->type < sizeof(shows) / sizeof(shows[0]) &&
		shows[def->type])
		shows[def->type](out, def);
	if (kind && !def_texts(def, texts))
		out_flag(out, "damaged", true);
	else
		for (unsigned i = 0; kind && i < DEF_TEXTS && kind->texts[i].name; i++)
			out_text(out, kind->texts[i].name, texts[i]);
	out_end(out);
}

void dump_defs(struct out *out, const struct process *process, void *buffer)
{
	for (size_t i = 0; i < process->chunk_count; i++) {
		const struct chunk *chunk = process->chunks[i];
		const struct hyb_def *def;
		struct def_cursor defs;

		if (chunk->kind != HYB_CHUNK_DEFS)
			continue;
		def_cursor_init(
			&defs, buffer, file_read_chunk(process->file, chunk, buffer, process->damage));
		while ((def = def_cursor_next(&defs)))
			show_def(out, chunk->offset + def_cursor_offset(&defs, def), def);
	}
}
