/*
 * The bytes of the cache. When they or the way of naming change, the version
 * goes up: old files are then made anew.
 */
#ifndef HYB_READER_SYMBOLS_CACHE_FORMAT_H
#define HYB_READER_SYMBOLS_CACHE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define SYM_CACHE_MAGIC "HYBSYM\r\n" /* eight bytes, without the final NUL */
#define SYM_CACHE_VERSION 3

struct sym_cache_header {
	char magic[8];
	uint32_t version;
	uint32_t entries;
	uint32_t frames;
	uint32_t strings; /* bytes */
	uint64_t checksum; /* of the whole file with 0 in this place */
};

/* Strings are offsets from the start of the strings. */
struct sym_cache_entry {
	uint64_t address;
	uint32_t key; /* string */
	uint32_t call; /* 0 or 1 */
	uint32_t first; /* frame */
	uint32_t count; /* of frames, at least 1 */
};

#define SYM_CACHE_INLINED 1u
#define SYM_CACHE_GUESS 2u

struct sym_cache_frame {
	uint32_t function; /* string */
	uint32_t file; /* string */
	uint32_t line;
	uint32_t function_line;
	uint32_t flags;
};

#endif
