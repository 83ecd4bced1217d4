/* The processes of a file: one as a rule, or all that ran on a node. */
#include "base/array.h"
#include "reader/experiment.h"

static int out_of_memory(const struct file *file, struct hyb_error *err)
{
	return error_set(err, HYB_ENOMEM, "%s: out of memory", file->path);
}

static int add(struct hyb_experiment *e, struct process_source source, struct hyb_error *err)
{
	struct process *process;

	if (!ARRAY_ROOM(e->processes, e->process_count))
		return out_of_memory(source.file, err);
	source.experiment = e;
	source.arena = &e->arena;
	source.damage = &e->damage;
	process = process_open(&source);
	if (!process)
		return out_of_memory(source.file, err);
	e->processes[e->process_count++] = process;
	return HYB_OK;
}

/* How many chunks from `first` on are of the same process. */
static size_t count_chunks(const struct file *file, size_t first)
{
	size_t i = first;

	while (i < file->chunk_count && file->sorted[i]->process == file->sorted[first]->process)
		i++;
	return i - first;
}

/* The PROCESS chunk stands behind the definitions. Others of the same process are damage. */
static const struct chunk *find_process(
	const struct file *file, struct chunk **chunks, size_t count, struct damage *damage)
{
	const struct chunk *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (chunks[i]->kind != HYB_CHUNK_PROCESS)
			continue;
		if (found)
			damage_add(damage, file->path, chunks[i]->offset, "process %u is there twice",
				chunks[i]->process);
		else
			found = chunks[i];
	}
	return found;
}

static int read_process(
	const struct file *file, const struct chunk *chunk, struct hyb_header *header, struct hyb_error *err)
{
	int64_t n;

	memset(header, 0, sizeof(*header));
	n = file_read(file, chunk->offset + sizeof(struct hyb_chunk), header, sizeof(*header));
	if (n < 0)
		return error_system(err, file->path, "cannot be read");
	if (n < (int64_t)sizeof(*header))
		return error_set(err, HYB_EFORMAT, "%s: the file ends inside its header", file->path);
	return file_check_header(header, file->path, err);
}

/* Adds one process of a file of several. *added: whether it could be read. 0 or HYB_ENOMEM. */
static int add_numbered(
	struct hyb_experiment *e, struct process_source source, bool *added, struct hyb_error *err)
{
	const struct file *file = source.file;
	const struct chunk *chunk = find_process(file, source.chunks, source.chunk_count, &e->damage);
	uint64_t offset = chunk ? chunk->offset : source.chunks[0]->offset;
	struct hyb_header header;
	struct hyb_error why;

	*added = false;
	if (!source.number || !chunk) {
		damage_add(&e->damage, file->path, offset, "%zu chunks of process %u, which is not there",
			source.chunk_count, source.number);
		return HYB_OK;
	}
	if (read_process(file, chunk, &header, &why)) {
		damage_add(&e->damage, file->path, offset, "process %u is left out: %s", source.number,
			why.text);
		return HYB_OK;
	}
	source.header = &header;
	*added = true;
	return add(e, source, err);
}

static int add_several(struct hyb_experiment *e, struct file *file, struct hyb_error *err)
{
	uint32_t seen = 0, processes = file->header.processes;
	bool added, any = false;

	for (size_t i = 0, n; i < file->chunk_count; i += n) {
		struct process_source source = {.file = file, .chunks = &file->sorted[i]};
		int error;

		n = count_chunks(file, i);
		source.chunk_count = n;
		source.number = file->sorted[i]->process;
		seen += source.number && source.number <= processes;
		error = add_numbered(e, source, &added, err);
		if (error)
			return error;
		any |= added;
	}
	if (seen < processes)
		damage_add(&e->damage, file->path, offsetof(struct hyb_header, processes),
			"%u of %u processes that began have left nothing", processes - seen, processes);
	if (!any)
		return error_set(err, HYB_EFORMAT, "%s: empty: no process had begun", file->path);
	return HYB_OK;
}

/* Adds the process of a file of one. Chunks of other processes in it are damage. */
static int add_one(struct hyb_experiment *e, struct file *file, struct hyb_error *err)
{
	struct process_source source = {.file = file, .header = &file->header, .chunks = file->sorted};

	/* A file of several processes of which none has begun yet. */
	if (!file->header.pid && !file->chunk_count)
		return error_set(err, HYB_EFORMAT, "%s: empty: no process had begun", file->path);
	if (file->chunk_count && !file->sorted[0]->process)
		source.chunk_count = count_chunks(file, 0);
	for (size_t i = source.chunk_count; i < file->chunk_count; i++)
		damage_add(&e->damage, file->path, file->sorted[i]->offset,
			"a chunk of process %u in the file of one", file->sorted[i]->process);
	return add(e, source, err);
}

int experiment_add_processes(struct hyb_experiment *e, struct file *file, struct hyb_error *err)
{
	return file->header.processes ? add_several(e, file, err) : add_one(e, file, err);
}
