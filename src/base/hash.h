/* FNV-1a of 64 bits, for hash tables and checksums; async-signal-safe. */
#ifndef HYB_HASH_H
#define HYB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/* Goes on from `hash`, which is HASH_START for the first bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *p = (const unsigned char *)data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

/* The same for a text up to its NUL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

#endif
