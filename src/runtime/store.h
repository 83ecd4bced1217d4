/*
 * The mapped file, of this process or shared with others: created at start, grown by chunks, never written by
 * any other way than through memory. A chunk's space is written with zeros before it is touched, so a full
 * disk is an error here and never a SIGBUS later.
 *
 * The file is mapped in segments of HYB_SEGMENT bytes, each when its first
 * chunk is claimed; nothing is unmapped while the process lives.
 */
#ifndef HYB_STORE_H
#define HYB_STORE_H

#include <string.h>

#include "runtime.h"

struct store {
	struct hyb_header *header; /* of this process */
	struct hyb_header *page; /* the file's first page: the same, unless the file is shared */
	_Atomic(uint32_t) mapped; /* no segment from here on is mapped */
	_Atomic(uint64_t) extent; /* shared file: what is left of the extent in use; see take_extent() */
	_Atomic(uint64_t) defs; /* file offset of the DEFS chunk in use */
	_Atomic(int) fd; /* high, close-on-exec; checked before each use */
	uint16_t process; /* number in a shared file; 0: it is the process's own */
	uint64_t device, inode; /* what the fd has to be */
	uint64_t cpu_before; /* CPU ns of this thread that the file of the program before it has */
	char path[4096];
	_Atomic(uint8_t *)
		segment[MAX_SEGMENTS]; /* NULL: nothing of ours is there. Last: a fork copies few */
};

extern struct store store __attribute__((visibility("hidden")));

/* Whether what this process, of another user now, executes can make no file in rt.set.dir. */
bool store_is_forbidden(void);

/* Creates the process's file in rt.set.dir, or joins a shared one, and maps its start. False: after a
 * message. start */
bool store_create(void);

/* Forgets the parent's file; its segments stay mapped and are the caller's to unmap. start */
void store_abandon(void);

/*
 * Claims a chunk of `size` bytes (a multiple of HYB_PAGE, at most HYB_SEGMENT) and
 * writes its header. Returns its file offset, or 0 if there is no room.
 * async-signal-safe, any thread, lock-free
 */
uint64_t store_claim(enum hyb_chunk_kind kind, uint32_t size, uint32_t location, uint64_t serial);

/*
 * Appends a definition: its structure, which has the lengths of its texts, and the texts. Returns its id
 * or 0 if there is no room. async-signal-safe, any thread, lock-free
 */
uint64_t store_define(enum hyb_def_type type, const void *head, const char *const *texts);

/* A fact about the run; `length` bytes of the value. async-signal-safe */
void store_metadata(const char *key, const char *value, size_t length);

/* A message for the report. async-signal-safe */
void store_note(enum hyb_severity severity, const char *text);

static inline void *store_at(uint64_t offset)
{
	return atomic_load_explicit(&store.segment[offset / HYB_SEGMENT], memory_order_acquire) +
	       offset % HYB_SEGMENT;
}

static inline struct hyb_node *node_at(uint32_t id)
{
	return store_at((uint64_t)id * HYB_NODE_SIZE);
}

#endif
