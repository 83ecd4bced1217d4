#include "jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/clock.h"
#include "runtime/store.h"
#include "runtime/sys.h"

#define SLICE_NS 1000000u /* between slices for new code, at the least, */
#define SLICE_SHARE 64 /* and this part of the time that the process has run */

static struct {
	_Atomic(uint32_t) slices; /* begun */
	_Atomic(bool) busy; /* taken, never waited for */
	_Atomic(uint64_t) next; /* no slice for new code earlier than this; ns of CLOCK_MONOTONIC */
	uint64_t start; /* likewise */
	struct hyb_made identity;
	char map[40]; /* where the process would write the names of its code */
	_Atomic(bool) linked; /* it was there */
	_Atomic(bool) dump; /* of a compiler was found */
	/* What is in the experiment of both. */
	char kept_map[sizeof(rt.set.dir) + 32], kept_dump[sizeof(rt.set.dir) + 32];
} jit;

void jit_init(void)
{
	atomic_store(&jit.slices, 0);
	atomic_store(&jit.linked, false);
	atomic_store(&jit.dump, false);
	atomic_store(&jit.busy, false);
	atomic_store(&jit.next, 0);
	jit.start = clock_ns(CLOCK_MONOTONIC);
	jit.identity.process = (store.header->realtime ^ (uint64_t)rt.pid << 40) * 0x9e3779b97f4a7c15u;
	snprintf(jit.map, sizeof(jit.map), "/tmp/perf-%d.map", (int)rt.pid);
	snprintf(jit.kept_map, sizeof(jit.kept_map), "%s/code-%016" PRIx64 HYB_MADE_MAP, rt.set.dir,
		jit.identity.process);
	snprintf(jit.kept_dump, sizeof(jit.kept_dump), "%s/code-%016" PRIx64 HYB_MADE_DUMP, rt.set.dir,
		jit.identity.process);
}

/* Records where names may be in the end. */
static void tell(const char *path)
{
	char value[16 + 1 + 512];
	size_t len = strlen(path);

	if (len >= sizeof(value) - 17)
		return;
	for (int i = 0; i < 16; i++)
		value[i] = "0123456789abcdef"[jit.identity.process >> (60 - 4 * i) & 15];
	value[16] = ' ';
	memcpy(value + 17, path, len);
	store_metadata(HYB_MADE_KEY, value, 17 + len);
}

/*
 * A second name in the experiment, if that is on the same file system: the file stays there when the program
 * removes it, and can be read while the program runs.
 */
static void link_names(const char *path, const char *kept)
{
	syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept, 0);
}

/* How much of the names was written by now. A file that is older was another process's of that number. */
static uint64_t map_size(void)
{
	struct stat st;

	if (stat(jit.map, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (st.st_mtime >= (time_t)(store.header->realtime / 1000000000) - 1 &&
		!atomic_exchange(&jit.linked, true))
		link_names(jit.map, jit.kept_map);
	return (uint64_t)st.st_size;
}

/* Begins a slice, and records how much of the names was written by now. */
static void begin_slice(uint32_t slice, uint64_t now)
{
	struct hyb_def_module def = {.id = JIT_MODULE + slice,
		.build_id_len = sizeof(jit.identity),
		.path_len = sizeof(HYB_MADE_PATH) - 1,
		.file_size = map_size()};

	jit.identity.since = now;
	memcpy(def.build_id, &jit.identity, sizeof(jit.identity));
	if (store_define(HYB_DEF_MODULE, &def, DEF_WITH(HYB_MADE_PATH))) {
		atomic_store(&jit.next, now + SLICE_NS + (now - jit.start) / SLICE_SHARE);
		atomic_store(&jit.slices, slice + 1);
		if (!slice)
			tell(jit.map);
	}
}

uint64_t jit_code(uintptr_t pc, bool replaced)
{
	uint32_t slices = atomic_load(&jit.slices);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (slices < JIT_SLICES && (replaced || now >= atomic_load(&jit.next)) &&
		!atomic_exchange(&jit.busy, true)) {
		begin_slice(atomic_load(&jit.slices), now);
		atomic_store(&jit.busy, false);
		slices = atomic_load(&jit.slices);
	}
	return HYB_CODE(slices ? JIT_MODULE + slices - 1 : 0, pc);
}

void jit_map(const char *path)
{
	static const char begin[] = "jit-", end[] = HYB_MADE_DUMP;
	const char *base = path ? strrchr(path, '/') : NULL;
	size_t len = base ? strlen(base + 1) : 0;

	if (len <= sizeof(begin) + sizeof(end) - 2 || strncmp(base + 1, begin, sizeof(begin) - 1) ||
		strcmp(base + 1 + len - (sizeof(end) - 1), end))
		return;
	if (!atomic_exchange(&jit.dump, true)) { /* a process has one */
		tell(path);
		link_names(path, jit.kept_dump);
	}
}
