/*
 * Compilers at run time hand the .eh_frame of what they made to the library that unwinds exceptions, by
 * __register_frame(): in passing it is copied. Handlers read copies only: the memory that was registered may
 * go without a word. What is withdrawn leaves its place to the next section that fits.
 */
#include "jit_frames.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "format/format.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"
#include "cache.h"
#include "runtime/wrap/wrap.h"

#define MAX_SECTIONS 4096u
#define MAX_SECTION 0x100000u /* bytes */
#define ARENA 0x1000000u /* bytes of address space for all copies */

/* Values of section.hi that are no address. */
enum { WITHDRAWN = 0, BEING_ADDED = 1 };

/* An .eh_frame that was registered. Others read while it changes: see jit_frames_find(). */
struct section {
	_Atomic(uintptr_t) lo, hi; /* of the code that it is about */
	_Atomic(uintptr_t) begin; /* as it was registered */
	uintptr_t copy; /* of `size` bytes */
	size_t size;
	_Atomic(size_t) room; /* 0: nobody's yet, or being made */
};

static struct {
	struct section section[MAX_SECTIONS];
	_Atomic(uint32_t) count; /* taken: may be more than there are */
	_Atomic(uint32_t) begun, ended; /* changes; pair with the loads in jit_frames_find() */
	_Atomic(uint8_t *) arena;
	_Atomic(size_t) used;
} frames;

static uint32_t section_count(void)
{
	uint32_t count = atomic_load(&frames.count);

	return count < MAX_SECTIONS ? count : MAX_SECTIONS;
}

void jit_frames_init(void)
{
	atomic_store(&frames.begun, 0);
	atomic_store(&frames.ended, 0);
}

static struct module_map map_of(const struct section *s)
{
	return (struct module_map){.image_lo = s->copy,
		.image_hi = s->copy + s->size,
		.moved = s->begin - s->copy,
		.made = true};
}

/* Sections are about single functions as a rule: no order within. */
static bool find_in(const struct section *s, uintptr_t pc, struct cfi_row *row)
{
	struct module_map map = map_of(s);
	uintptr_t at = s->copy, start, end, next;

	for (; (next = cfi_next(&map, at, &start, &end)); at = next)
		if (pc - start < end - start)
			return cfi_find_in(&map, at, pc, row);
	return false;
}

bool jit_frames_find(uintptr_t pc, struct cfi_row *row)
{
	uint32_t ended = atomic_load(&frames.ended);
	bool found = false;

	if (atomic_load(&frames.begun) != ended)
		return false;
	for (uint32_t i = section_count(); i-- && !found;) {
		const struct section *s = &frames.section[i];

		if (pc >= atomic_load_explicit(&s->lo, memory_order_relaxed) &&
			pc < atomic_load_explicit(&s->hi, memory_order_relaxed))
			found = find_in(s, pc, row);
	}
	atomic_thread_fence(memory_order_acquire);
	return found && atomic_load_explicit(&frames.begun, memory_order_relaxed) == ended;
}

/* ------------------------------------------------------------ registering */

/* The bytes of a section up to its zero that ends it; 0 if they are too many or not readable. */
static size_t measure(uintptr_t begin)
{
	uintptr_t at = begin;
	uint32_t length;

	while (at - begin < MAX_SECTION && memory_copy(&length, at, sizeof(length))) {
		if (!length)
			return at - begin;
		if (length == 0xffffffffu || length > MAX_SECTION)
			return 0;
		at += sizeof(length) + length;
	}
	return 0;
}

/* One that was withdrawn, with room for as much. */
static struct section *take_again(size_t room)
{
	for (uint32_t i = 0; i < section_count(); i++) {
		struct section *s = &frames.section[i];
		uintptr_t withdrawn = WITHDRAWN;

		if (atomic_load(&s->room) >= room &&
			atomic_compare_exchange_strong(&s->hi, &withdrawn, BEING_ADDED))
			return s;
	}
	return NULL;
}

/* Memory for copies; NULL: there is none. */
static uint8_t *take_arena(void)
{
	uint8_t *arena = atomic_load(&frames.arena), *made;

	if (arena)
		return arena;
	made = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&frames.arena, &arena, made))
		return made;
	munmap(made, ARENA);
	return arena;
}

/* A section for the caller alone; NULL: there is no room. */
static struct section *take(size_t size)
{
	size_t room = (size + 63) & ~(size_t)63, offset;
	struct section *s = take_again(room);
	uint8_t *arena = s ? NULL : take_arena();
	uint32_t i;

	if (s || !arena || atomic_load(&frames.count) >= MAX_SECTIONS ||
		atomic_load(&frames.used) + room > ARENA)
		return s;
	offset = atomic_fetch_add(&frames.used, room);
	i = offset + room > ARENA ? MAX_SECTIONS : atomic_fetch_add(&frames.count, 1);
	if (i >= MAX_SECTIONS)
		return NULL;
	s = &frames.section[i];
	s->copy = (uintptr_t)arena + offset;
	atomic_store(&s->hi, BEING_ADDED);
	atomic_store(&s->room, room); /* from here on others may take it again */
	return s;
}

/* What the section's records cover together. */
static void cover(struct section *s)
{
	struct module_map map = map_of(s);
	uintptr_t at = s->copy, lo = UINTPTR_MAX, hi = 0, start, end;

	while ((at = cfi_next(&map, at, &start, &end))) {
		if (start >= end)
			continue;
		lo = start < lo ? start : lo;
		hi = end > hi ? end : hi;
	}
	atomic_store(&s->lo, lo);
	atomic_store(&s->hi, hi);
}

/* Nobody waits for another thread that adds one, too, nor for the one that a handler interrupted. */
static void add(uintptr_t begin)
{
	size_t size = measure(begin);
	struct section *s = size ? take(size) : NULL;
	bool copied;

	if (!s)
		return;
	atomic_fetch_add(&frames.begun, 1);
	atomic_thread_fence(memory_order_release); /* others see that number before what follows */
	copied = memory_copy((void *)s->copy, begin, size);
	s->begin = begin;
	s->size = size;
	if (copied)
		cover(s);
	else
		atomic_store(&s->hi, WITHDRAWN);
	atomic_fetch_add(&frames.ended, 1);
	if (copied)
		unwind_cache_forget(s->lo, s->hi);
}

static void withdraw(uintptr_t begin)
{
	for (uint32_t i = 0; i < section_count(); i++) {
		struct section *s = &frames.section[i];
		uintptr_t hi = atomic_load(&s->hi);

		if (hi > BEING_ADDED && s->begin == begin &&
			atomic_compare_exchange_strong(&s->hi, &hi, WITHDRAWN)) {
			unwind_cache_forget(s->lo, hi);
			return;
		}
	}
}

/*
 * The function behind ours that the caller would have got: of the program's libraries, else of those that the
 * caller's own object was linked with.
 */
static void (*behind(const char *name, const void *caller))(void *)
{
	void *symbol = dlsym(RTLD_NEXT, name), *object;
	struct link_map *map;
	Dl_info info;

	if (!symbol && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && *map->l_name) {
		object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
		symbol = object ? dlsym(object, name) : NULL;
		if (object)
			dlclose(object);
	}
	return (void (*)(void *))symbol;
}

/* Of libgcc, which declares them nowhere. */
void __register_frame(void *begin);
void __deregister_frame(void *begin);

EXPORT void __register_frame(void *begin)
{
	void (*real)(void *) = behind(__func__, __builtin_return_address(0));
	int saved;

	if (real)
		real(begin);
	saved = errno;
	if (atomic_load(&rt.on))
		add((uintptr_t)begin);
	errno = saved;
}

EXPORT void __deregister_frame(void *begin)
{
	void (*real)(void *) = behind(__func__, __builtin_return_address(0));

	withdraw((uintptr_t)begin);
	if (real)
		real(begin);
}
