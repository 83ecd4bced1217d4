/* The text of a file of source, whatever it is: memory is bounded, and nothing of it is trusted. Pure data.
 */
#ifndef HYB_SOURCE_H
#define HYB_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_BYTES_MAX (UINT32_C(32) << 20) /* what is behind them is not shown */
#define SOURCE_LINES_MAX (UINT32_C(2) << 20)

/* Zero bytes are an empty, valid one. */
struct source {
	char *bytes;
	uint32_t *starts; /* by line, from 0 on: its first byte; starts[count]: behind the last */
	size_t count; /* lines */
	uint64_t file_size;
	int64_t mtime; /* seconds */
	bool cut; /* there is more in the file */
	bool binary; /* it has zero bytes */
};

/* 0 or -errno (-EINVAL: not a regular file; -ECANCELED: `stop`, which may be NULL, was set). */
int source_read(const char *path, atomic_bool *stop, struct source *ret);
void source_release(struct source *source);

/* Line `i` (from 0 on) without its end; its length. Not terminated. */
size_t source_line(const struct source *source, size_t i, const char **ret_text);

#endif
