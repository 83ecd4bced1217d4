#include "mpi/find.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* What is looked for, and what was found so far. */
struct search {
	const char *name;
	const void *preferred;
	bool one; /* the first object will do */
	struct mpi_object *first, *second;
	unsigned count;
	void *symbol;
	uint64_t size; /* of the symbol */
};

struct symbols {
	const Elf64_Sym *table;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
};

/* glibc has made addresses of the entries, but not in objects that it cannot write. */
static const void *pointer(const struct dl_phdr_info *info, Elf64_Addr value)
{
	return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static bool find_symbols(const struct dl_phdr_info *info, struct symbols *ret)
{
	const Elf64_Dyn *dynamic = NULL;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *value = pointer(info, dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			ret->table = value;
		else if (dynamic->d_tag == DT_STRTAB)
			ret->strings = value;
		else if (dynamic->d_tag == DT_GNU_HASH)
			ret->gnu_hash = value;
		else if (dynamic->d_tag == DT_HASH)
			ret->hash = value;
	}
	return ret->table && ret->strings && (ret->gnu_hash || ret->hash);
}

static bool is_symbol(const struct symbols *s, uint32_t i, const char *name)
{
	return s->table[i].st_shndx != SHN_UNDEF && !strcmp(s->strings + s->table[i].st_name, name);
}

/* Index in the symbol table; 0: it is not there. */
static uint32_t look_up_gnu(const struct symbols *s, const char *name)
{
	uint32_t buckets = s->gnu_hash[0], first = s->gnu_hash[1], words = s->gnu_hash[2], hash = 5381, i;
	const Elf64_Addr *bloom = (const void *)(s->gnu_hash + 4);
	const uint32_t *bucket = (const void *)(bloom + words), *chain = bucket + buckets;

	if (!buckets)
		return 0;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	i = bucket[hash % buckets];
	if (i < first)
		return 0;
	for (;; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && is_symbol(s, i, name))
			return i;
		if (chain[i - first] & 1)
			return 0;
	}
}

static uint32_t look_up(const struct symbols *s, const char *name)
{
	if (s->gnu_hash)
		return look_up_gnu(s, name);
	for (uint32_t i = 1; i < s->hash[1]; i++)
		if (is_symbol(s, i, name))
			return i;
	return 0;
}

static void describe(const struct dl_phdr_info *info, struct mpi_object *ret)
{
	strncpy(ret->path, info->dlpi_name, sizeof(ret->path) - 1);
	ret->path[sizeof(ret->path) - 1] = 0;
	ret->start = UINTPTR_MAX;
	ret->end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (start < ret->start)
			ret->start = start;
		if (start + segment->p_memsz > ret->end)
			ret->end = start + segment->p_memsz;
	}
}

bool mpi_object_has(const struct mpi_object *object, const void *address)
{
	return (uintptr_t)address >= object->start && (uintptr_t)address < object->end;
}

static void add_object(struct search *search, const struct mpi_object *found)
{
	search->count++;
	if (search->count == 1) {
		*search->first = *found;
	} else if (mpi_object_has(found, search->preferred)) {
		*search->second = *search->first;
		*search->first = *found;
	} else if (search->count == 2) {
		*search->second = *found;
	}
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct mpi_object object;
	struct symbols symbols;
	uint32_t symbol;

	if (!info->dlpi_name || !*info->dlpi_name || !find_symbols(info, &symbols))
		return 0;
	symbol = look_up(&symbols, search->name);
	if (!symbol)
		return 0;
	describe(info, &object);
	if (mpi_object_has(&object, (const void *)(uintptr_t)mpi_objects))
		return 0;
	search->symbol = (void *)(info->dlpi_addr + symbols.table[symbol].st_value);
	search->size = symbols.table[symbol].st_size;
	add_object(search, &object);
	return search->one;
}

unsigned mpi_objects(const void *preferred, struct mpi_object *ret_first, struct mpi_object *ret_second)
{
	struct search search = {
		.name = "PMPI_Init", .preferred = preferred, .first = ret_first, .second = ret_second};

	dl_iterate_phdr(look_at_object, &search);
	return search.count;
}

void *mpi_symbol(const char *name, uint64_t *ret_size, struct mpi_object *ret_object)
{
	struct mpi_object object = {.start = 0};
	struct search search = {.name = name, .one = true, .first = ret_object ? ret_object : &object};

	dl_iterate_phdr(look_at_object, &search);
	if (search.symbol && ret_size)
		*ret_size = search.size;
	return search.symbol;
}
