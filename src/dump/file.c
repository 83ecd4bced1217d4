/* hybrid-dump: header, chunks and definitions, as they lie in the file. */
#include <string.h>

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

enum form { NUMBER, SIGNED, HEX, WORD, FLAG, BUILD_ID };

/* Numbers of definitions, in the order in which they are shown. */
#define AT(def_, member_) \
	.offset = offsetof(struct hyb_def_##def_, member_), \
	.size = sizeof(((struct hyb_def_##def_ *)0)->member_)

static const struct member {
	unsigned type; /* of the definition */
	const char *name;
	enum form form;
	size_t offset, size;
	const struct words *words;
	unsigned bit; /* FLAG */
} members[] = {
	{HYB_DEF_REGION, "kind", WORD, AT(region, kind), .words = &words_region},
	{HYB_DEF_REGION, "line", NUMBER, AT(region, line)},
	{HYB_DEF_MODULE, "id", NUMBER, AT(module, id)},
	{HYB_DEF_MODULE, "build_id", BUILD_ID, AT(module, build_id_len)},
	{HYB_DEF_MODULE, "file_size", NUMBER, AT(module, file_size)},
	{HYB_DEF_MODULE, "mtime", SIGNED, AT(module, mtime)},
	{HYB_DEF_MAP, "module", NUMBER, AT(map, module)},
	{HYB_DEF_MAP, "bias", HEX, AT(map, bias)},
	{HYB_DEF_MAP, "start", HEX, AT(map, start)},
	{HYB_DEF_MAP, "end", HEX, AT(map, end)},
	{HYB_DEF_MAP, "loaded", NUMBER, AT(map, loaded)},
	{HYB_DEF_MAP, "unloaded", NUMBER, AT(map, unloaded)},
	{HYB_DEF_NOTE, "tick", NUMBER, AT(note, tick)},
	{HYB_DEF_NOTE, "severity", WORD, AT(note, severity), .words = &words_severity},
	{HYB_DEF_COUNTER, "values", WORD, AT(counter, type), .words = &words_number},
	{HYB_DEF_CHILD, "tick", NUMBER, AT(child, tick)},
	{HYB_DEF_CHILD, "kind", WORD, AT(child, kind), .words = &words_child},
	{HYB_DEF_CHILD, "pid", NUMBER, AT(child, pid)},
	{HYB_DEF_WORLD, "identity", HEX, AT(world, identity)},
	{HYB_DEF_WORLD, "rank", NUMBER, AT(world, rank)},
	{HYB_DEF_WORLD, "ranks", NUMBER, AT(world, size)},
	{HYB_DEF_WORLD, "threads", NUMBER, AT(world, threads)},
	{HYB_DEF_WORLD, "tick", NUMBER, AT(world, tick)},
	{HYB_DEF_HANDLE, "kind", WORD, AT(handle, kind), .words = &words_handle},
	{HYB_DEF_HANDLE, "id", NUMBER, AT(handle, id)},
	{HYB_DEF_HANDLE, "identity", HEX, AT(handle, identity)},
	{HYB_DEF_HANDLE, "parent", HEX, AT(handle, parent)},
	{HYB_DEF_HANDLE, "rank", NUMBER, AT(handle, rank)},
	{HYB_DEF_HANDLE, "ranks", NUMBER, AT(handle, size)},
	{HYB_DEF_HANDLE, "remote", NUMBER, AT(handle, remote)},
	{HYB_DEF_HANDLE, "group", NUMBER, AT(handle, group)},
	{HYB_DEF_HANDLE_NAME, "id", NUMBER, AT(handle_name, id)},
	{HYB_DEF_CLOCK, "mono", NUMBER, AT(clock, mono)},
	{HYB_DEF_CLOCK, "shift", SIGNED, AT(clock, offset)},
	{HYB_DEF_CLOCK, "error", NUMBER, AT(clock, error)},
	{HYB_DEF_CLOCK, "reference", NUMBER, AT(clock, reference)},
	{HYB_DEF_CLOCK, "rounds", NUMBER, AT(clock, rounds)},
	{HYB_DEF_METRIC, "index", NUMBER, AT(metric, index)},
	{HYB_DEF_METRIC, "mode", WORD, AT(metric, mode), .words = &words_metric_mode},
	{HYB_DEF_METRIC, "period", NUMBER, AT(metric, period)},
	{HYB_DEF_METRIC, "estimated", FLAG, AT(metric, flags), .bit = HYB_METRIC_ESTIMATED},
	{HYB_DEF_METRIC, "process", FLAG, AT(metric, flags), .bit = HYB_METRIC_PROCESS},
	{HYB_DEF_METRIC, "uneven", FLAG, AT(metric, flags), .bit = HYB_METRIC_UNEVEN},
	{HYB_DEF_ENDED, "tick", NUMBER, AT(ended, tick)},
	{HYB_DEF_ENDED, "pid", NUMBER, AT(ended, pid)},
	{HYB_DEF_ENDED, "cpu", NUMBER, AT(ended, cpu)},
	{HYB_DEF_ENDED, "status", NUMBER, AT(ended, status)},
	{HYB_DEF_PROGRAM, "tick", NUMBER, AT(program, tick)},
	{HYB_DEF_PROGRAM, "pid", NUMBER, AT(program, pid)},
	{HYB_DEF_PROGRAM, "unmeasured", WORD, AT(program, unmeasured), .words = &words_unmeasured},
};

static void show_build_id(struct out *out, const struct hyb_def *def)
{
	const struct hyb_def_module *d = (const struct hyb_def_module *)def;
	size_t id_len = d->build_id_len < sizeof(d->build_id) ? d->build_id_len : sizeof(d->build_id);
	char id[2 * sizeof(d->build_id) + 1] = "";

	for (size_t i = 0; i < id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", d->build_id[i]);
	out_word(out, "build_id", id_len || out->json ? id : "-");
}

static void show_member(struct out *out, const struct member *member, const struct hyb_def *def)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)def + member->offset, member->size); /* little-endian, as the file is */
	switch (member->form) {
	case NUMBER:
		out_number(out, member->name, value);
		break;
	case SIGNED:
		out_signed(out, member->name, (int64_t)value);
		break;
	case HEX:
		out_hex(out, member->name, value);
		break;
	case WORD:
		out_word(out, member->name, word_key(member->words, value));
		break;
	case FLAG:
		out_flag(out, member->name, value & member->bit);
		break;
	case BUILD_ID:
		show_build_id(out, def);
		break;
	}
}

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
	for (size_t i = 0; kind && def->size >= kind->size && i < sizeof(members) / sizeof(*members); i++)
		if (members[i].type == def->type)
			show_member(out, &members[i], def);
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
