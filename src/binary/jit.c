#include "binary/jit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "binary/ranges.h"

#define FILE_MOST ((size_t)256 << 20) /* bytes of a file that are read */
#define SEARCH_MOST 4096u /* pieces of code at one address that are looked at */
#define ADDRESS_MOST (1ull << 48)

/* A piece of code. */
struct code {
	uint64_t start;
	uint64_t since; /* dump: ns; map: offset of its line */
	const char *name;
	uint32_t first_line, line_count; /* in struct jit_file.lines */
};

struct line {
	uint64_t address;
	const char *file;
	uint32_t line;
};

struct jit_file {
	char *bytes; /* with a NUL behind; NULL: there is no such file */
	size_t size;
	bool timed; /* `since` can be compared */
	struct code *codes;
	size_t code_count;
	struct line *lines;
	size_t line_count;
	struct sym_ranges ranges; /* of codes */
};

struct sym_jit {
	struct jit_file map, dump;
};

static bool read_bytes(int fd, struct jit_file *file)
{
	struct stat st;
	ssize_t got = 1;
	size_t most;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0)
		return false;
	most = (uint64_t)st.st_size < FILE_MOST ? (size_t)st.st_size : FILE_MOST;
	file->bytes = malloc(most + 1);
	while (file->bytes && file->size < most && got > 0) {
		got = read(fd, file->bytes + file->size, most - file->size);
		file->size += got > 0 ? (size_t)got : 0;
	}
	if (file->bytes)
		file->bytes[file->size] = '\0';
	return file->bytes != NULL;
}

/* 0 or HYB_ENOMEM; what cannot be is left out. */
static int add_code(struct jit_file *file, const struct code *code, uint64_t size)
{
	if (!size || code->start >= ADDRESS_MOST || size > ADDRESS_MOST - code->start || !*code->name)
		return 0;
	if (!ARRAY_ROOM(file->codes, file->code_count))
		return HYB_ENOMEM;
	file->codes[file->code_count] = *code;
	return sym_ranges_add(&file->ranges, code->start, code->start + size, (uint32_t)file->code_count++);
}

/* ------------------------------------------------------------------- map */

/* A hexadecimal number and the blanks behind it. False: there is none, or it is too long. */
static bool take_hex(char **p, uint64_t *ret_value)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **p) || !**p)
		return false;
	*ret_value = strtoull(*p, &end, 16);
	if (end - *p > 18 || *end != ' ')
		return false;
	*p = end + strspn(end, " ");
	return true;
}

static int read_map(struct jit_file *file)
{
	char *line = file->bytes, *end;

	/* A line without its end was being written. */
	for (; (end = memchr(line, '\n', (size_t)(file->bytes + file->size - line))); line = end + 1) {
		struct code code = {.since = (uint64_t)(line - file->bytes)};
		uint64_t size;

		*end = '\0';
		if (!take_hex(&line, &code.start) || !take_hex(&line, &size))
			continue;
		code.name = line;
		if (add_code(file, &code, size))
			return HYB_ENOMEM;
	}
	file->timed = true;
	return 0;
}

/* ------------------------------------------------------------------ dump */

#define DUMP_MAGIC 0x4a695444u
#define DUMP_OTHER_CLOCK 1u /* times are not those of CLOCK_MONOTONIC */
#define DUMP_LINE_SHIFT 0x40u /* some makers add the size of an ELF header to addresses of lines */

enum dump_record { DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_LINES = 2 };

struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_prefix {
	uint32_t id, size; /* with this */
	uint64_t time;
};

struct dump_load {
	struct dump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	char name[]; /* then the code */
};

struct dump_move {
	struct dump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct dump_lines {
	struct dump_prefix prefix;
	uint64_t address, count;
	char entries[];
};

struct dump_line {
	uint64_t address;
	uint32_t line, discriminator;
	char file[];
};

/* Facts about the code that the next record loads. */
struct pending {
	uint64_t address;
	size_t first, count;
};

/* A name that can be shown: some makers write bytes of their own memory. */
static bool is_text(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f || (unsigned char)*name == 0xff)
			return false;
	return true;
}

/* A record's bytes are not aligned: heads are copied. */
static int take_lines(struct jit_file *file, const char *at, size_t size, struct pending *pending)
{
	struct dump_lines head;
	const char *p = at + sizeof(head), *end = at + size, *name, *nul;
	const char *last = NULL;

	*pending = (struct pending){.first = file->line_count};
	if (size < sizeof(head))
		return 0;
	memcpy(&head, at, sizeof(head));
	pending->address = head.address;
	for (uint64_t i = 0; i < head.count; i++, p = nul + 1) {
		struct dump_line line;

		if ((size_t)(end - p) <= sizeof(line))
			break;
		memcpy(&line, p, sizeof(line));
		name = p + sizeof(line);
		nul = memchr(name, '\0', (size_t)(end - name));
		if (!nul)
			break;
		if (strcmp(name, "\xff")) /* else: the same as before */
			last = is_text(name) ? name : NULL;
		if (!last || line.address < head.address || line.address >= ADDRESS_MOST)
			break;
		if (!ARRAY_ADD(file->lines, file->line_count, (struct line){line.address, last, line.line}))
			return HYB_ENOMEM;
		pending->count++;
	}
	return 0;
}

/* Code without a line for its first bytes is what makers that add nothing do not make. */
static void shift_lines(struct jit_file *file, const struct pending *pending)
{
	struct line *lines = file->lines + pending->first;

	for (size_t i = 0; i < pending->count; i++)
		if (lines[i].address < pending->address + DUMP_LINE_SHIFT)
			return;
	for (size_t i = 0; i < pending->count; i++)
		lines[i].address -= DUMP_LINE_SHIFT;
}

static int take_load(struct jit_file *file, const char *at, size_t size, struct pending *pending)
{
	struct dump_load head;
	struct code code = {.name = at + sizeof(head)};

	if (size <= sizeof(head) || !memchr(code.name, '\0', size - sizeof(head)))
		return 0;
	memcpy(&head, at, sizeof(head));
	code.start = head.address;
	code.since = head.prefix.time;
	if (pending->count && pending->address == head.address) {
		shift_lines(file, pending);
		code.first_line = (uint32_t)pending->first;
		code.line_count = (uint32_t)pending->count;
	}
	*pending = (struct pending){0};
	return add_code(file, &code, head.size);
}

/* Its lines are those of where it was before. `ranges` are not sorted yet: the last one that begins there. */
static int take_move(struct jit_file *file, const char *at, size_t size)
{
	struct dump_move head;
	struct code code;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, at, sizeof(head));
	for (size_t i = file->code_count, steps = 0; i-- && steps < SEARCH_MOST; steps++) {
		if (file->codes[i].start != head.from)
			continue;
		code = file->codes[i];
		code.start = head.to;
		code.since = head.prefix.time;
		code.line_count = 0;
		return add_code(file, &code, head.size);
	}
	return 0;
}

static int read_dump(struct jit_file *file)
{
	struct dump_header header;
	struct dump_prefix prefix;
	struct pending pending = {0};
	size_t at;
	int r = 0;

	if (file->size < sizeof(header))
		return 0;
	memcpy(&header, file->bytes, sizeof(header));
	if (header.magic != DUMP_MAGIC || header.size < sizeof(header))
		return 0;
	file->timed = !(header.flags & DUMP_OTHER_CLOCK);
	for (at = header.size; at < file->size && file->size - at >= sizeof(prefix) && !r;
		at += prefix.size) {
		memcpy(&prefix, file->bytes + at, sizeof(prefix));
		if (prefix.size < sizeof(prefix) || prefix.size > file->size - at)
			break; /* cut while it was being written */
		if (prefix.id == DUMP_LOAD)
			r = take_load(file, file->bytes + at, prefix.size, &pending);
		else if (prefix.id == DUMP_MOVE)
			r = take_move(file, file->bytes + at, prefix.size);
		else if (prefix.id == DUMP_LINES)
			r = take_lines(file, file->bytes + at, prefix.size, &pending);
	}
	return r;
}

/* --------------------------------------------------------------- look-ups */

static int open_file(struct jit_file *file, const char *path, int (*parse)(struct jit_file *))
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1, r = 0;

	if (fd < 0)
		return 0;
	if (read_bytes(fd, file))
		r = parse(file);
	close(fd);
	sym_ranges_sort(&file->ranges);
	return r;
}

struct sym_jit *sym_jit_open(const char *map, const char *dump)
{
	struct sym_jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	if (!open_file(&jit->map, map, read_map) && !open_file(&jit->dump, dump, read_dump) &&
		(jit->map.bytes || jit->dump.bytes))
		return jit;
	sym_jit_close(jit);
	return NULL;
}

/* Whether `a` is to be preferred to `b` for what was met at `until`. */
static bool is_nearer(const struct code *a, const struct code *b, uint64_t until)
{
	if (!b)
		return true;
	if ((a->since < until) != (b->since < until))
		return a->since < until;
	return a->since < until ? a->since >= b->since : a->since < b->since;
}

static const struct code *find_code(
	const struct jit_file *file, uint64_t address, uint64_t until, uint64_t *ret_end)
{
	const struct sym_range *range = sym_ranges_find(&file->ranges, address);
	const struct code *best = NULL;

	for (unsigned steps = 0; range && steps < SEARCH_MOST; steps++) {
		const struct code *code = &file->codes[range->value];

		if (range->hi > address && is_nearer(code, best, file->timed ? until : UINT64_MAX)) {
			best = code;
			*ret_end = range->hi;
		}
		range = sym_ranges_outer(&file->ranges, range);
	}
	return best;
}

static void find_line(
	const struct jit_file *file, const struct code *code, uint64_t address, struct hyb_frame *frame)
{
	const struct line *best = NULL;

	for (uint32_t i = 0; i < code->line_count; i++) {
		const struct line *line = &file->lines[code->first_line + i];

		if (line->address <= address && (!best || line->address >= best->address))
			best = line;
	}
	if (!best)
		return;
	frame->file = best->file;
	frame->line = best->line;
}

bool sym_jit_find(const struct sym_jit *jit, uint64_t address, const struct sym_jit_when *when,
	struct hyb_frame *frame, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct jit_file *file = &jit->dump;
	const struct code *code = find_code(file, address, when->time, ret_end);

	if (!code) {
		file = &jit->map;
		code = find_code(file, address, when->map_size, ret_end);
	}
	if (!code)
		return false;
	*ret_start = code->start;
	*frame = (struct hyb_frame){.function = code->name, .file = ""};
	find_line(file, code, address, frame);
	return true;
}

static void release(struct jit_file *file)
{
	sym_ranges_release(&file->ranges);
	free(file->codes);
	free(file->lines);
	free(file->bytes);
}

void sym_jit_close(struct sym_jit *jit)
{
	if (!jit)
		return;
	release(&jit->map);
	release(&jit->dump);
	free(jit);
}
