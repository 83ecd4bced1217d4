#include "run/harvest.h"

#include "base/array.h"
#include "base/search.h"
#include "format/format.h"
#include "run/code_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* While the files are read. */
struct reading {
	struct harvest *harvest;
	const char *directory;
	pid_t program;
	time_t since; /* when the experiment was made */
	char here[64]; /* this host */
	struct {
		char name[64];
	} * hosts;
	char host[64]; /* of the process read last, */
	uint32_t pid, image; /* which it is, */
	int64_t launched; /* and its rank to its launcher; -1: none */
	uint32_t *called; /* such ranks that called MPI */
	size_t called_count;
};

static bool header_is_good(const struct hyb_header *header)
{
	return !memcmp(header->magic, HYB_MAGIC, sizeof(header->magic)) &&
	       header->version_major == HYB_VERSION_MAJOR;
}

/* The bytes of a chunk at `offset`, or a page where there is none that makes sense. */
static uint64_t chunk_size(const struct hyb_chunk *chunk, uint64_t offset)
{
	uint64_t room = HYB_SEGMENT - offset % HYB_SEGMENT;

	if (chunk->magic != HYB_CHUNK_MAGIC || !chunk->size || chunk->size % HYB_PAGE || chunk->size > room)
		return HYB_PAGE;
	return chunk->size;
}

static void add_number(uint32_t **list, size_t *count, uint32_t number)
{
	if (array_room(list, *count, sizeof(**list)))
		(*list)[(*count)++] = number;
}

static void add_host(struct reading *r)
{
	struct harvest *harvest = r->harvest;

	for (uint32_t i = 0; i < harvest->hosts; i++)
		if (!memcmp(r->hosts[i].name, r->host, sizeof(r->host)))
			return;
	if (ARRAY_ROOM(r->hosts, harvest->hosts))
		memcpy(r->hosts[harvest->hosts++].name, r->host, sizeof(r->host));
}

/* "3 of 8" */
static void read_launch(struct reading *r, const char *text)
{
	unsigned rank, of;

	if (sscanf(text, "%u of %u", &rank, &of) != 2)
		return;
	add_number(&r->harvest->silent, &r->harvest->silent_count, rank);
	r->harvest->promised = of;
	r->launched = rank;
}

/* One that did not come to the end of MPI_Init has no world. */
static void read_region(struct reading *r, const char *def, size_t size)
{
	if (size >= sizeof(struct hyb_def_region) && r->launched >= 0 &&
		((const struct hyb_def_region *)def)->kind == HYB_REGION_MPI)
		add_number(&r->called, &r->called_count, (uint32_t)r->launched);
}

static void read_metadata(struct reading *r, const char *def, size_t size)
{
	const struct hyb_def_metadata *head = (const struct hyb_def_metadata *)def;
	const char *key = def + sizeof(*head), *value;

	if (size < sizeof(*head) || size - sizeof(*head) < (size_t)head->key_len + head->value_len + 2)
		return;
	value = key + head->key_len + 1;
	if (key[head->key_len] || value[head->value_len])
		return;
	if (!strcmp(key, "hybrid.launch"))
		read_launch(r, value);
	else if (!strcmp(key, HYB_MADE_KEY) && !strncmp(r->host, r->here, sizeof(r->here) - 1))
		code_names_keep(r->directory, value, head->value_len, r->since);
}

static void read_note(struct reading *r, const char *def, size_t size)
{
	const struct hyb_def_note *head = (const struct hyb_def_note *)def;

	if (size >= sizeof(*head) && head->severity == HYB_NOTE_WARNING && !*r->harvest->warning)
		snprintf(r->harvest->warning, sizeof(r->harvest->warning), "%.*s",
			(int)(size - sizeof(*head)), def + sizeof(*head));
}

static void read_defs(struct reading *r, const char *chunk, size_t used)
{
	size_t at = sizeof(struct hyb_chunk);

	while (at + sizeof(struct hyb_def) <= used) {
		const struct hyb_def *def = (const struct hyb_def *)(chunk + at);

		if (def->magic != HYB_DEF_MAGIC || def->size < sizeof(*def) || def->size % 8 ||
			def->size > used - at)
			return; /* killed in the middle: the reader knows how to go on, here it does not
				   matter */
		if (def->type == HYB_DEF_METADATA) {
			read_metadata(r, chunk + at, def->size);
		} else if (def->type == HYB_DEF_NOTE) {
			read_note(r, chunk + at, def->size);
		} else if (def->type == HYB_DEF_REGION) {
			read_region(r, chunk + at, def->size);
		} else if (def->type == HYB_DEF_PROGRAM && def->size >= sizeof(struct hyb_def_program)) {
			r->harvest->fileless +=
				((const struct hyb_def_program *)def)->unmeasured == HYB_UNMEASURED_FILE;
		} else if (def->type == HYB_DEF_WORLD && def->size >= sizeof(struct hyb_def_world)) {
			add_number(&r->harvest->ranks, &r->harvest->rank_count,
				((const struct hyb_def_world *)def)->rank);
			add_host(r);
		}
		at += def->size;
	}
}

static void read_process(struct reading *r, const struct hyb_header *header)
{
	r->harvest->files++;
	r->harvest->processes += header->image == 0;
	r->harvest->trace_bytes += header->trace_bytes;
	r->harvest->program |= header->pid == (uint32_t)r->program;
	memcpy(r->host, header->host, sizeof(r->host));
	r->launched = -1;
	r->pid = header->pid;
	r->image = header->image;
}

/* A location may stand for many threads; the first one of an executed program is that of the program before.
 */
static void read_location(struct reading *r, const struct hyb_location *location)
{
	struct harvest *harvest = r->harvest;

	if (!location->id) /* left by a short thread, for the next one */
		return;
	if (location->kind == HYB_LOCATION_REST)
		harvest->threads += location->threads;
	else
		harvest->threads += !r->image || location->tid != r->pid;
	harvest->samples += location->samples;
	if (location->cpu > location->cpu_start)
		harvest->cpu += location->cpu - location->cpu_start;
}

static void read_chunk(
	struct reading *r, int fd, uint64_t offset, const struct hyb_chunk *chunk, uint64_t size)
{
	union {
		struct hyb_location location;
		struct hyb_header header;
	} head;
	static char defs[1u << 16] __attribute__((aligned(8))); /* the stack may be as small */

	if (chunk->magic != HYB_CHUNK_MAGIC)
		return;
	if (chunk->kind == HYB_CHUNK_DEFS) {
		uint64_t used = chunk->used < size ? chunk->used : size;
		ssize_t got = pread(fd, defs, used < sizeof(defs) ? used : sizeof(defs), (off_t)offset);

		if (got > 0)
			read_defs(r, defs, (size_t)got);
		return;
	}
	if (chunk->kind != HYB_CHUNK_LOCATION && chunk->kind != HYB_CHUNK_PROCESS)
		return;
	memset(&head, 0, sizeof(head));
	if (pread(fd, &head, sizeof(head), (off_t)(offset + sizeof(*chunk))) <= 0)
		return;
	if (chunk->kind == HYB_CHUNK_LOCATION)
		read_location(r, &head.location);
	else if (header_is_good(&head.header))
		read_process(r, &head.header);
}

/* The chunks of a process come after its PROCESS chunk, maybe with those of others between them. */
static void read_chunks(struct reading *r, int fd, uint64_t end)
{
	struct hyb_chunk chunk;
	uint64_t size;

	for (uint64_t offset = HYB_PAGE; offset + sizeof(chunk) <= end; offset += size) {
		if (pread(fd, &chunk, sizeof(chunk), (off_t)offset) != sizeof(chunk))
			return;
		size = chunk_size(&chunk, offset);
		read_chunk(r, fd, offset, &chunk, size);
	}
}

static void read_file(struct reading *r, const char *path)
{
	struct hyb_header header;
	struct stat st;
	uint64_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	memset(&header, 0, sizeof(header));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)HYB_PAGE &&
		pread(fd, &header, sizeof(header), 0) == sizeof(header) && header_is_good(&header)) {
		size = (uint64_t)st.st_size;
		if (header.processes && header.version_minor >= 2)
			memcpy(r->host, header.host, sizeof(r->host));
		else
			read_process(r, &header);
		read_chunks(r, fd, header.claimed < size ? header.claimed : size);
	}
	close(fd);
}

/* Sorts, and keeps one of each that is not in `without`, which is sorted. */
static size_t make_set(uint32_t *list, size_t count, const uint32_t *without, size_t without_count)
{
	size_t kept = 0, other = 0;

	if (!count)
		return 0;
	qsort(list, count, sizeof(*list), compare_u32);
	for (size_t i = 0; i < count; i++) {
		while (other < without_count && without[other] < list[i])
			other++;
		if ((kept && list[kept - 1] == list[i]) ||
			(other < without_count && without[other] == list[i]))
			continue;
		list[kept++] = list[i];
	}
	return kept;
}

/* Names of the files, to be freed each; read before any is opened, for a limit of four descriptors is enough.
 */
static size_t list_files(const char *path, char ***ret_names)
{
	char **names = NULL;
	struct dirent *entry;
	size_t count = 0;
	const char *dot;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		dot = strrchr(entry->d_name, '.');
		if (!dot || strcmp(dot, ".hyb") || !array_room(&names, count, sizeof(*names)))
			continue;
		if (asprintf(&names[count], "%s/%s", path, entry->d_name) >= 0)
			count++;
	}
	if (dir)
		closedir(dir);
	*ret_names = names;
	return count;
}

/* When the first file was written, before any program began. */
static time_t begin_of(const char *path)
{
	char vdso[PATH_MAX];
	struct stat st;

	snprintf(vdso, sizeof(vdso), "%s/vdso.so", path);
	return stat(vdso, &st) ? INT64_MAX : st.st_mtime;
}

void harvest_directory(const char *path, pid_t program, struct harvest *ret)
{
	struct reading r = {.harvest = ret, .directory = path, .program = program, .since = begin_of(path)};
	char **names;
	size_t count = list_files(path, &names);

	gethostname(r.here, sizeof(r.here) - 1);
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < count; i++) {
		read_file(&r, names[i]);
		free(names[i]);
	}
	free(names);
	free(r.hosts);
	if (!ret->processes && ret->files)
		ret->processes = 1; /* the first image was not measured */
	ret->rank_count = make_set(ret->ranks, ret->rank_count, NULL, 0);
	ret->silent_count = make_set(ret->silent, ret->silent_count, ret->ranks, ret->rank_count);
	r.called_count = make_set(r.called, r.called_count, NULL, 0);
	ret->silent_count = make_set(ret->silent, ret->silent_count, r.called, r.called_count);
	free(r.called);
}

void harvest_release(struct harvest *harvest)
{
	free(harvest->ranks);
	free(harvest->silent);
}
