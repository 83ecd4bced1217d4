#include "modules.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "runtime/clock.h"
#include "runtime/probe/cyg.h"
#include "jit.h"
#include "runtime/memory.h"
#include "runtime/python/python.h"
#include "runtime/store.h"
#include "runtime/sys.h"
#include "cache.h"

#define MAX_MAPS 4096
#define MAX_MODULES 4096
#define SCAN_SHARE 64 /* scans for unknown addresses take at most 1/64 of the time */
/* After a change, which may take long, it is looked again: so many times, each four times later. */
#define RECHECKS 6
#define RECHECK_NS 4000000.0
#define CHANGE_SCANS \
	4 /* that may follow a dlopen at once: the first may come before it has mapped anything */

/* What the def of a module was made for. */
struct module_id {
	uint64_t device, inode;
	int64_t mtime;
	uint32_t path_hash;
	uint32_t id;
	uint64_t def; /* of its HYB_DEF_MODULE */
};

static struct {
	_Atomic(uint32_t) sequence; /* odd while `map` changes; pairs with the loads in modules_find() */
	uint32_t count;
	struct module_map map[MAX_MAPS]; /* by start */
	struct module_id id[MAX_MODULES];
	uint32_t id_count;
	_Atomic(bool) scanning; /* taken, never waited for */
	_Atomic(uint32_t) changes; /* calls of dlopen and dlclose */
	_Atomic(uint32_t) changes_seen;
	_Atomic(uint64_t) not_before; /* tick: no scan for unknown addresses earlier */
	_Atomic(uint32_t) free_scans; /* that are not bound by it */
	uint32_t scan; /* number of the scan */
	_Atomic(uint32_t) rechecks; /* left after the last change */
	_Atomic(uint64_t) recheck_at; /* tick */
	char buffer[8192];
} mods;

bool modules_find(uintptr_t pc, struct module_map *ret_map)
{
	for (int attempt = 0; attempt < 3; attempt++) {
		uint32_t sequence = atomic_load_explicit(&mods.sequence, memory_order_acquire);
		uint32_t lo = 0, hi = mods.count;
		struct module_map found = {0};

		if (sequence & 1)
			continue;
		while (lo < hi) { /* the last map that starts at or before pc */
			uint32_t mid = (lo + hi) / 2;

			if (mods.map[mid].start <= pc)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo > 0 && lo <= MAX_MAPS)
			found = mods.map[lo - 1];
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&mods.sequence, memory_order_relaxed) != sequence)
			continue;
		if (pc < found.start || pc >= found.end)
			return false;
		*ret_map = found;
		return true;
	}
	return false;
}

uintptr_t modules_address(uint64_t code)
{
	uint32_t module = HYB_CODE_MODULE(code);

	if (jit_is_made(code))
		return HYB_CODE_VADDR(code);
	for (uint32_t i = 0; i < mods.count && module; i++)
		if (mods.map[i].module == module)
			return mods.map[i].bias + HYB_CODE_VADDR(code);
	return module ? 0 : HYB_CODE_VADDR(code);
}

static const char *path_of(uint32_t module)
{
	for (uint32_t i = 0; i < mods.id_count; i++)
		if (mods.id[i].id == module)
			return (const char *)((const struct hyb_def_module *)store_at(mods.id[i].def) + 1);
	return NULL;
}

const char *modules_path(const struct module_map *map)
{
	return path_of(map->module);
}

bool modules_is_mpi(uint32_t module)
{
	static const char name[] = "libmpi";
	const char *path = path_of(module), *slash = path ? strrchr(path, '/') : NULL;

	return slash && !strncmp(slash + 1, name, sizeof(name) - 1);
}

/* ------------------------------------------------------------ one object */

/* The object that the lines of the map file are about. */
struct object {
	uintptr_t base; /* where its file offset 0 is mapped first; 0: not seen */
	uintptr_t end; /* of the mapping seen last */
	uint64_t offset; /* of that in the file */
	uint64_t device, inode;
	const char *path;
};

struct elf_info {
	uintptr_t bias, lo, hi, eh_frame_hdr;
	uintptr_t address; /* that the file gives to the code at the offset asked for */
	uint8_t build_id[32];
	uint16_t build_id_len;
};

static void read_build_id(struct elf_info *info, uintptr_t at, size_t size)
{
	char notes[1024];
	size_t pos = 0;

	if (size > sizeof(notes))
		size = sizeof(notes);
	if (!memory_copy(notes, at, size))
		return;
	while (pos + sizeof(Elf64_Nhdr) <= size) {
		const Elf64_Nhdr *n = (const Elf64_Nhdr *)(notes + pos);
		size_t name = pos + sizeof(*n), desc = name + ((n->n_namesz + 3u) & ~3u);

		if (n->n_namesz > size || n->n_descsz > size || desc + n->n_descsz > size)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
			n->n_descsz <= sizeof(info->build_id)) {
			info->build_id_len = (uint16_t)n->n_descsz;
			memcpy(info->build_id, notes + desc, n->n_descsz);
			return;
		}
		pos = desc + ((n->n_descsz + 3u) & ~3u);
	}
}

/* Reads the program headers of the object mapped at `base`; the file has code at `offset`. */
static bool read_elf(uintptr_t base, uint64_t offset, struct elf_info *info)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[32];
	bool biased = false;

	memset(info, 0, sizeof(*info));
	if (!memory_copy(&ehdr, base, sizeof(ehdr)) || memcmp(ehdr.e_ident, ELFMAG, SELFMAG) ||
		ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_phentsize != sizeof(phdr[0]))
		return false;
	if (ehdr.e_phnum > 32)
		ehdr.e_phnum = 32;
	if (!memory_copy(phdr, base + ehdr.e_phoff, ehdr.e_phnum * sizeof(phdr[0])))
		return false;
	for (int i = 0; i < ehdr.e_phnum && !biased; i++)
		if (phdr[i].p_type == PT_LOAD) { /* the first one holds the header */
			info->bias = base - (phdr[i].p_vaddr - phdr[i].p_offset);
			biased = true;
		}
	info->lo = UINTPTR_MAX;
	for (int i = 0; i < ehdr.e_phnum; i++) {
		uintptr_t at = info->bias + phdr[i].p_vaddr, end = at + phdr[i].p_memsz;

		if (phdr[i].p_type == PT_LOAD) {
			info->lo = at < info->lo ? at : info->lo;
			info->hi = end > info->hi ? end : info->hi;
			if (phdr[i].p_flags & PF_X && offset < phdr[i].p_offset + phdr[i].p_filesz &&
				!info->address)
				info->address = phdr[i].p_vaddr - phdr[i].p_offset + offset;
		} else if (phdr[i].p_type == PT_GNU_EH_FRAME)
			info->eh_frame_hdr = at;
		else if (phdr[i].p_type == PT_NOTE && !info->build_id_len)
			read_build_id(info, at, phdr[i].p_memsz);
	}
	return biased;
}

static uint32_t hash_path(const char *path)
{
	uint32_t h = 2166136261u;

	for (; *path; path++)
		h = (h ^ (uint8_t)*path) * 16777619u;
	return h;
}

/* The id of the module, defined in the file if it is new; 0 if there are too many. */
static uint32_t module_of(const struct object *o, const struct elf_info *info)
{
	struct stat st = {0};
	uint32_t h = hash_path(o->path);
	uint64_t at;
	struct hyb_def_module def = {
		.build_id_len = info->build_id_len, .path_len = (uint16_t)strlen(o->path)};

	if (o->path[0] == '/' && (stat(o->path, &st) || st.st_ino != o->inode))
		memset(&st, 0, sizeof(st)); /* deleted or replaced: nothing known of the file that runs */
	for (uint32_t i = 0; i < mods.id_count; i++)
		if (mods.id[i].inode == o->inode && mods.id[i].device == o->device &&
			mods.id[i].path_hash == h && mods.id[i].mtime == st.st_mtime)
			return mods.id[i].id;
	if (mods.id_count == MAX_MODULES)
		return 0;
	def.id = mods.id_count + 1;
	def.file_size = (uint64_t)st.st_size;
	def.mtime = st.st_mtime;
	memcpy(def.build_id, info->build_id, sizeof(def.build_id));
	at = store_define(HYB_DEF_MODULE, &def, DEF_WITH(o->path));
	if (!at)
		return 0;
	if (strstr(o->path, "/libpython3"))
		atomic_store(&python.met, true);
	mods.id[mods.id_count++] = (struct module_id){o->device, o->inode, st.st_mtime, h, def.id, at};
	return def.id;
}

/* ---------------------------------------------------------- the map file */

static void insert(const struct module_map *map)
{
	uint32_t i = mods.count;

	if (mods.count == MAX_MAPS)
		return;
	atomic_fetch_add(&mods.sequence, 1);
	atomic_thread_fence(memory_order_release); /* the odd number is seen before what follows */
	for (; i > 0 && mods.map[i - 1].start > map->start; i--)
		mods.map[i] = mods.map[i - 1];
	mods.map[i] = *map;
	mods.count++;
	atomic_fetch_add(&mods.sequence, 1);
}

/* Whether the last scan found it, too. */
static bool is_known(const struct object *o, uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < mods.count; i++) {
		struct module_map *old = &mods.map[i];

		if (old->start == start && old->end == end && old->device == o->device &&
			old->inode == o->inode) {
			old->seen = mods.scan;
			return true;
		}
	}
	return false;
}

static void add_map(const struct object *o, uintptr_t start, uintptr_t end)
{
	struct module_map map = {
		.start = start, .end = end, .device = o->device, .inode = o->inode, .seen = mods.scan};
	struct hyb_def_map def = {.start = start, .end = end, .loaded = clock_tick()};
	struct elf_info info;

	if (is_known(o, start, end))
		return;
	if (!o->base || !read_elf(o->base, o->offset, &info)) {
		map.made = true;
		jit_map(o->path);
		insert(&map);
		return;
	}
	/* Once more, elsewhere: V8 has its builtins near the code that it makes. */
	if (info.address && (start >= info.hi || end <= info.lo)) {
		info.lo = start;
		info.hi = end;
		info.bias = start - info.address;
		info.eh_frame_hdr = 0; /* speaks of the image */
	}
	map.image_lo = info.lo;
	map.image_hi = info.hi;
	def.bias = map.bias = info.bias;
	map.eh_frame_hdr = info.eh_frame_hdr;
	def.module = map.module = module_of(o, &info);
	map.def = store_define(HYB_DEF_MAP, &def, NULL);
	insert(&map);
}

static const char *hex(const char *p, uint64_t *ret_v)
{
	uint64_t v = 0;

	for (;; p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	*ret_v = v;
	return p;
}

/* Where the start of a file is mapped whose code was seen before; 0: nowhere known. */
static uintptr_t find_base(const struct object *o)
{
	for (uint32_t i = 0; i < mods.count; i++) {
		const struct module_map *map = &mods.map[i];

		if (map->device == o->device && map->inode == o->inode && !map->made)
			return map->image_lo & -(uintptr_t)4096;
	}
	return 0;
}

/* "start-end perms offset major:minor inode    path" */
static void map_line(struct object *o, char *line)
{
	uint64_t start, end, major, minor, inode = 0;
	const char *p = hex(line, &start), *perms;
	bool same;

	if (*p++ != '-')
		return;
	p = hex(p, &end);
	perms = p + 1;
	p = hex(perms + 5, &o->offset);
	p = hex(p + 1, &major);
	p = hex(p + 1, &minor);
	for (p++; *p >= '0' && *p <= '9'; p++)
		inode = inode * 10 + (uint64_t)(*p - '0');
	for (; *p == ' '; p++)
		;
	if (!inode && strcmp(p, "[vdso]")) {
		struct object none = {.path = p};

		if (perms[2] == 'x' && strcmp(p, "[vsyscall]"))
			add_map(&none, start, end);
		return;
	}
	same = o->device == (major << 32 | minor) && o->inode == inode;
	if (o->offset == 0 && !(same && start == o->end)) { /* some linkers map the first page twice */
		o->base = start;
		o->device = major << 32 | minor;
		o->inode = inode;
	} else if (!same) { /* its start is not seen here */
		o->device = major << 32 | minor;
		o->inode = inode;
		o->base = find_base(o);
	}
	o->end = end;
	o->path = p;
	if (perms[2] == 'x')
		add_map(o, start, end);
}

/* Feeds a map file to map_line(). False: it cannot be read, or is empty. */
static bool read_maps(const char *path)
{
	struct object o = {0};
	size_t have = 0, lines = 0;
	ssize_t n;
	int fd = sys_open(path, O_RDONLY);

	if (fd < 0)
		return false;
	while ((n = sys_read(fd, mods.buffer + have, sizeof(mods.buffer) - 1 - have)) > 0) {
		char *line = mods.buffer, *end;

		have += (size_t)n;
		mods.buffer[have] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			map_line(&o, line);
			lines++;
			line = end + 1;
		}
		have = (size_t)(mods.buffer + have - line);
		if (have == sizeof(mods.buffer) - 1)
			break; /* one line fills the buffer: not a map file */
		memmove(mods.buffer, line, have);
	}
	sys_close(fd);
	return n == 0 && lines;
}

/* Takes out what this scan did not see. True if there was an object; what is known of other code is checked.
 */
static bool remove_unseen(void)
{
	uint32_t kept = 0;
	bool unseen = false, removed = false;

	for (uint32_t i = 0; i < mods.count; i++) {
		unseen |= mods.map[i].seen != mods.scan;
		removed |= mods.map[i].seen != mods.scan && !mods.map[i].made;
	}
	if (!unseen)
		return false;
	atomic_fetch_add(&mods.sequence, 1);
	atomic_thread_fence(memory_order_release);
	for (uint32_t i = 0; i < mods.count; i++) {
		if (mods.map[i].seen == mods.scan)
			mods.map[kept++] = mods.map[i];
		else if (mods.map[i].def)
			((struct hyb_def_map *)store_at(mods.map[i].def))->unloaded = clock_tick();
	}
	mods.count = kept;
	atomic_fetch_add(&mods.sequence, 1);
	return removed;
}

static void scan(void)
{
	mods.scan++;
	/* The process's is empty when its first thread has ended. */
	if (!read_maps("/proc/self/maps") && !read_maps("/proc/thread-self/maps"))
		return;
	if (remove_unseen()) {
		unwind_cache_clear();
		cyg_forget();
	}
}

void modules_init(void)
{
	mods.count = mods.id_count = 0;
	unwind_cache_reset();
	atomic_store(&mods.scanning, false);
	atomic_store(&mods.sequence, 0); /* another thread may have been at it when the process was forked */
	scan();
}

void modules_opening(void)
{
	atomic_store(&mods.free_scans, CHANGE_SCANS);
}

void modules_closing(void)
{
	atomic_fetch_add(&mods.changes, 1);
}

/* Whether an unknown address is worth a scan now. */
static bool may_scan(uint64_t now)
{
	uint32_t left = atomic_load(&mods.free_scans);

	if (now >= atomic_load_explicit(&mods.not_before, memory_order_relaxed))
		return true;
	return left && atomic_compare_exchange_strong(&mods.free_scans, &left, left - 1);
}

/* Whether it is time to look again at what a dlopen or dlclose has done since. */
static bool recheck_due(uint64_t now)
{
	uint32_t left = atomic_load_explicit(&mods.rechecks, memory_order_relaxed);

	return left && now >= atomic_load_explicit(&mods.recheck_at, memory_order_relaxed);
}

static void plan_recheck(uint32_t left, uint64_t now)
{
	double gap = RECHECK_NS / rt.tick_ns * (double)(1u << 2 * (RECHECKS - left));

	atomic_store(&mods.recheck_at, now + (uint64_t)gap);
	atomic_store(&mods.rechecks, left);
}

void modules_update(bool unknown)
{
	uint32_t changes = atomic_load(&mods.changes);
	bool changed = changes != atomic_load(&mods.changes_seen);
	uint64_t before = clock_tick(), after;
	bool recheck = recheck_due(before);
	int saved = errno;

	if (!changed && !recheck && (!unknown || !may_scan(before)))
		return;
	if (atomic_exchange(&mods.scanning, true))
		return;
	if (changed) {
		atomic_store(&mods.changes_seen, changes);
		atomic_store(&mods.free_scans, CHANGE_SCANS);
		plan_recheck(RECHECKS, before);
	} else if (recheck)
		plan_recheck(atomic_load(&mods.rechecks) - 1, before);
	scan();
	after = clock_tick();
	atomic_store_explicit(&mods.not_before, after + (after - before) * SCAN_SHARE, memory_order_relaxed);
	atomic_store(&mods.scanning, false);
	errno = saved;
}
