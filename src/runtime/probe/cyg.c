#include "cyg.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "filter.h"
#include "runtime/unwind/modules.h"
#include "probe.h"
#include "runtime/sys.h"
#include "runtime/unwind/cache.h"
#include "runtime/wrap/wrap.h"

#define ENTRIES 16384u
#define LOCKED 1u /* as an address: the entry is being written */

/* Keys by function address, direct-mapped. The address is written last; pairs with cyg_key(). */
static struct entry {
	_Atomic(uintptr_t) function;
	_Atomic(uint64_t) key; /* 0: excluded */
} cache[ENTRIES] __attribute__((aligned(HYB_PAGE)));

/* ----------------------------------------------- names, for the filter only */

/* The name of the function symbol at `vaddr` in an ELF file's table, or NULL. */
static const char *find_symbol(const uint8_t *image, size_t size, uint64_t vaddr)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + ehdr->e_shoff);

	if (size < sizeof(*ehdr) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) || ehdr->e_shoff > size ||
		ehdr->e_shnum > (size - ehdr->e_shoff) / sizeof(*sections))
		return NULL;
	for (unsigned i = 0; i < ehdr->e_shnum; i++) {
		const Elf64_Shdr *table = &sections[i], *strings;
		const Elf64_Sym *symbol;

		if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
			table->sh_link >= ehdr->e_shnum)
			continue;
		strings = &sections[table->sh_link];
		if (table->sh_offset > size || table->sh_size > size - table->sh_offset ||
			strings->sh_offset > size || strings->sh_size > size - strings->sh_offset ||
			!strings->sh_size || image[strings->sh_offset + strings->sh_size - 1])
			continue;
		symbol = (const Elf64_Sym *)(image + table->sh_offset);
		for (size_t n = table->sh_size / sizeof(*symbol); n--; symbol++)
			if (symbol->st_value == vaddr && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
				symbol->st_name < strings->sh_size)
				return (const char *)image + strings->sh_offset + symbol->st_name;
	}
	return NULL;
}

/* Reads the symbol table of the object's file: once for each function, in the probe that meets it first. */
static bool excluded(uintptr_t function)
{
	struct module_map map;
	char link[64];
	const char *name;
	struct stat st;
	uint8_t *image;
	bool result = false;
	int fd;

	if (!filter_active() || !modules_find(function, &map))
		return false;
	/* The file that is mapped there, whatever has become of its name. */
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", map.start, map.end);
	fd = sys_open(link, O_RDONLY);
	if (fd < 0 && modules_path(&map))
		fd = sys_open(modules_path(&map), O_RDONLY);
	if (fd < 0)
		return false;
	image = fstat(fd, &st) ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	sys_close(fd);
	if (image == MAP_FAILED)
		return false;
	name = find_symbol(image, (size_t)st.st_size, function - map.bias);
	result = name && filter_excludes(name);
	munmap(image, (size_t)st.st_size);
	return result;
}

/* -------------------------------------------------------------------- keys */

static uint64_t make_key(struct entry *e, uintptr_t function)
{
	int saved = errno;
	uint64_t key = excluded(function) ? 0 : unwind_rule_at(function).code;
	uintptr_t old = atomic_load(&e->function);

	errno = saved;
	if (key && !HYB_CODE_MODULE(key))
		return key; /* its module was not found yet */
	if (old != LOCKED && atomic_compare_exchange_strong(&e->function, &old, LOCKED)) {
		atomic_store(&e->key, key);
		atomic_store(&e->function, function);
	}
	return key;
}

uint64_t cyg_key(uintptr_t function)
{
	struct entry *e = &cache[(function * 0x9e3779b97f4a7c15u) >> 50];
	uint64_t key;

	if (likely(atomic_load_explicit(&e->function, memory_order_acquire) == function)) {
		key = atomic_load_explicit(&e->key, memory_order_acquire);
		if (likely(atomic_load_explicit(&e->function, memory_order_relaxed) == function))
			return key;
	}
	return make_key(e, function);
}

void cyg_remember(uintptr_t function, uint64_t key)
{
	struct entry *e = &cache[(function * 0x9e3779b97f4a7c15u) >> 50];

	atomic_store(&e->key, key);
	atomic_store(&e->function, function);
}

void cyg_forget(void)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		uintptr_t function = atomic_load_explicit(&cache[i].function, memory_order_relaxed);

		if (function != LOCKED && function)
			atomic_compare_exchange_strong(&cache[i].function, &function, 0);
	}
}

void cyg_init(void)
{
	madvise(cache, sizeof(cache), MADV_DONTNEED);
	if (rt.set.filter && !filter_active() && !filter_load(rt.set.filter))
		store_note(HYB_NOTE_WARNING, "the filter file cannot be read: no function is left out");
}

/* --------------------------------------------------- the compiler's hooks */

EXPORT void __cyg_profile_func_enter(void *function, void *site);
EXPORT void __cyg_profile_func_exit(void *function, void *site);

EXPORT void __cyg_profile_func_enter(void *function, void *site __attribute__((unused)))
{
	struct thread *t = probe_begin(true);
	uint64_t key;

	if (!t)
		return;
	key = cyg_key((uintptr_t)function);
	if (key)
		probe_enter(t, HYB_NODE_FUNCTION, key, PROBE_SNIPPET);
	else
		t->loc->left_out++;
	probe_end(t);
}

EXPORT void __cyg_profile_func_exit(void *function, void *site __attribute__((unused)))
{
	uint64_t now = clock_tick(), key;
	struct thread *t = probe_begin(false);

	if (!t)
		return;
	key = cyg_key((uintptr_t)function);
	if (key)
		probe_leave(t, HYB_NODE_FUNCTION, key, now);
	probe_end(t);
}
