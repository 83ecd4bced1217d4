/* One .hyb file as bytes: its header and the table of its chunks, by process. Knows nothing of their
 * contents. */
#ifndef HYB_FILE_H
#define HYB_FILE_H

#include "format/format.h"
#include "base/error.h"

struct chunk {
	uint64_t offset; /* in the file */
	uint64_t serial;
	uint32_t size; /* with its header; inside the file */
	uint32_t used; /* of them written when the file was opened, at least the header */
	uint32_t location;
	uint16_t kind;
	uint16_t process; /* 0 in a file of one */
	bool noted; /* damage inside it was counted */
};

struct file {
	char *path;
	int fd; /* -1: opened for each read */
	uint64_t size; /* when it was opened */
	struct hyb_header header; /* of a file of several processes: the little that is of all */
	struct chunk *chunks; /* by offset */
	struct chunk **sorted; /* by process, location, kind, then serial (TRACE) or offset */
	size_t chunk_count;
};

/* Opens and walks the chunks. On failure nothing is held. Returns enum hyb_result. */
int file_open(struct file *file, const char *path, struct damage *damage, struct hyb_error *err);

/* Gives the descriptor back; reads open the path anew from now on. */
void file_idle(struct file *file);

void file_release(struct file *file);

/*
 * Reads at most `length` bytes. Returns their number, less where the file
 * ends, or HYB_EIO with errno set.
 */
int64_t file_read(const struct file *file, uint64_t offset, void *buffer, size_t length);

/*
 * The chunk's used bytes, or as many as there are; short reads and failures
 * are damage. `buffer` has room for chunk->used bytes.
 */
size_t file_read_chunk(
	const struct file *file, const struct chunk *chunk, void *buffer, struct damage *damage);

/*
 * Whether a header is one, and of a version that can be read; HYB_OK, or *err is "where: why". What its
 * writer did not know is made 0.
 */
int file_check_header(struct hyb_header *header, const char *where, struct hyb_error *err);

/*
 * Whether more definitions, nodes or chunks of a process are there than when the file was opened: records
 * that were read later may refer to them.
 */
bool file_grows(const struct file *file, uint16_t process);

/* Whether things that this reader does not know are to be expected. */
bool file_newer(const struct file *file);

#endif
