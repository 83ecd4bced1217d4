#include "converters/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define BLOCK (64u << 10)
#define GZIP_WINDOW (15 + 16) /* the largest, in a gzip wrapper */

struct gzip {
	z_stream stream;
	FILE *file;
	uint8_t block[BLOCK];
};

struct gzip *gzip_open(FILE *file)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	gzip->file = file;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
		    Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static void run(struct gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->block;
		gzip->stream.avail_out = BLOCK;
		deflate(&gzip->stream, flush);
		fwrite(gzip->block, 1, BLOCK - gzip->stream.avail_out, gzip->file);
	} while (!gzip->stream.avail_out);
}

void gzip_write(struct gzip *gzip, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		size_t n = size < UINT_MAX ? size : UINT_MAX;

		gzip->stream.next_in = (uint8_t *)(uintptr_t)at; /* which zlib does not write to */
		gzip->stream.avail_in = (unsigned)n;
		run(gzip, Z_NO_FLUSH);
		at += n;
		size -= n;
	}
}

void gzip_close(struct gzip *gzip)
{
	if (!gzip)
		return;
	gzip->stream.avail_in = 0;
	run(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	free(gzip);
}
