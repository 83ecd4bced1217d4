#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "clock.h"
#include "sys.h"

#define DEFS_CHUNK 16384u
#define MAX_FD 65536u /* the kernel's table of descriptors is as long as the highest */

struct store store;

/* The program may have closed all descriptors, and used the number again. */
static bool fd_is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == store.device && st.st_ino == store.inode;
}

/* Our descriptor if the program has left it alone, else the file opened anew; negative errno. */
static int store_fd(bool *ret_close)
{
	int fd = atomic_load(&store.fd);

	*ret_close = false;
	if (fd_is_ours(fd))
		return fd;
	atomic_store(&store.fd, -1);
	do
		fd = sys_open(store.path, O_RDWR);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	*ret_close = true;
	return fd;
}

/*
 * Writes zeros to space that nobody else uses: it is the file's then, and its
 * pages are in memory. To touch a page of space that is allocated but not
 * written costs four times as much. Negative errno on failure.
 */
static int write_zeros(int fd, uint64_t from, uint32_t size)
{
	static const char zeros[HYB_PAGE];
	struct iovec page[16];
	uint64_t to = from + size;
	struct rlimit limit;

	/* A file that grows past this limit is a signal for the program. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && to > limit.rlim_cur)
		return -EFBIG;
	for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
		page[i] = (struct iovec){(void *)zeros, sizeof(zeros)};
	while (from < to) {
		uint64_t pages = (to - from) / HYB_PAGE, most = sizeof(page) / sizeof(page[0]);
		ssize_t n = sys_pwritev(fd, page, pages < most ? pages : most, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || n % HYB_PAGE)
			return n < 0 ? -errno : -ENOSPC;
		from += (uint64_t)n;
	}
	return 0;
}

/* Maps the segment unless another thread has. Negative errno on failure. */
static int map_segment(int fd, uint64_t index)
{
	uint8_t *none = NULL, *at;

	if (atomic_load(&store.segment[index]))
		return 0;
	at = mmap(NULL, HYB_SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(index * HYB_SEGMENT));
	if (at == MAP_FAILED)
		return -errno;
	/* Else each first touch of a page reads, and clears, a whole window ahead. */
	madvise(at, HYB_SEGMENT, MADV_RANDOM);
	if (!atomic_compare_exchange_strong(&store.segment[index], &none, at))
		munmap(at, HYB_SEGMENT);
	return 0;
}

/* Makes [offset, offset + size) of the file, which is the caller's, usable memory. Negative errno on failure.
 */
static int make_room(uint64_t offset, uint32_t size)
{
	uint64_t index = offset / HYB_SEGMENT;
	bool close_it;
	int fd, error;

	fd = store_fd(&close_it);
	if (fd < 0)
		return fd;
	error = write_zeros(fd, offset, size);
	if (!error)
		error = map_segment(fd, index);
	if (close_it)
		sys_close(fd);
	return error;
}

uint64_t store_claim(enum hyb_chunk_kind kind, uint32_t size, uint32_t location, uint64_t serial)
{
	uint64_t offset;
	struct hyb_chunk *chunk;
	int error, saved = errno;

	if (!atomic_load_explicit(&rt.on, memory_order_relaxed))
		return 0;
	do /* what is left of a segment stays empty */
		offset = __atomic_fetch_add(&store.header->claimed, size, __ATOMIC_RELAXED);
	while (offset / HYB_SEGMENT != (offset + size - 1) / HYB_SEGMENT);
	error = offset / HYB_SEGMENT < MAX_SEGMENTS ? make_room(offset, size) : -EFBIG;
	errno = saved;
	if (error) {
		/* Out of descriptors is a passing state of the program; the rest is for good. */
		if (error != -EMFILE && error != -ENFILE)
			runtime_stop(error == -ENOSPC || error == -EDQUOT ? "no space left for the experiment"
				     : error == -ENOMEM ? "no memory left to map the experiment"
				     : error == -EFBIG  ? "the experiment's file may not grow further"
							: "the experiment's file cannot be opened any more");
		return 0;
	}
	chunk = store_at(offset);
	chunk->kind = (uint16_t)kind;
	chunk->size = size;
	chunk->location = location;
	chunk->serial = serial;
	chunk->used = sizeof(*chunk);
	__atomic_store_n(&chunk->magic, HYB_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return offset;
}

/* Room for `size` bytes in the DEFS chunk in use, or in a new one. Returns the file offset or 0. */
static uint64_t take_def(uint32_t size)
{
	if (size > DEFS_CHUNK - sizeof(struct hyb_chunk)) { /* one of its own */
		uint32_t whole = (size + (uint32_t)sizeof(struct hyb_chunk) + HYB_PAGE - 1) & ~(HYB_PAGE - 1);
		uint64_t at = whole <= HYB_SEGMENT ? store_claim(HYB_CHUNK_DEFS, whole, 0, 0) : 0;

		if (at)
			((struct hyb_chunk *)store_at(at))->used += size;
		return at ? at + sizeof(struct hyb_chunk) : 0;
	}
	for (;;) {
		uint64_t at = atomic_load(&store.defs), next;
		struct hyb_chunk *chunk = at ? store_at(at) : NULL;

		if (chunk) {
			uint64_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);

			while (used + size <= chunk->size)
				if (__atomic_compare_exchange_n(&chunk->used, &used, used + size, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
					return at + used;
		}
		next = store_claim(HYB_CHUNK_DEFS, DEFS_CHUNK, 0, 0);
		if (!next)
			return 0;
		atomic_compare_exchange_strong(&store.defs, &at, next); /* the loser's stays empty */
	}
}

uint64_t store_define(enum hyb_def_type type, const void *head, size_t head_len, const char *a, size_t a_len,
	const char *b, size_t b_len)
{
	uint32_t size = (uint32_t)(head_len + (a ? a_len + 1 : 0) + (b ? b_len + 1 : 0) + 7) & ~7u;
	uint64_t at = take_def(size);
	struct hyb_def *def;
	char *text;

	if (!at)
		return 0;
	def = store_at(at);
	/* One store: a reader that finds the magic finds the size. */
	__atomic_store_n((uint64_t *)def, HYB_DEF_MAGIC | (uint64_t)size << 32, __ATOMIC_RELEASE);
	memcpy(def + 1, (const struct hyb_def *)head + 1, head_len - sizeof(*def));
	text = (char *)def + head_len;
	if (a) {
		memcpy(text, a, a_len);
		text += a_len + 1;
	}
	if (b)
		memcpy(text, b, b_len);
	__atomic_store_n(&def->type, (uint16_t)type, __ATOMIC_RELEASE);
	return at;
}

void store_note(enum hyb_severity severity, const char *text)
{
	size_t len = strlen(text);
	struct hyb_def_note note = {
		.tick = clock_tick(), .severity = (uint16_t)severity, .text_len = (uint16_t)len};

	store_define(HYB_DEF_NOTE, &note, sizeof(note), text, len, NULL, 0);
}

/* Creates DIR/HOST-PID.IMAGE.hyb for the first IMAGE that is free. Returns the fd or negative errno. */
static int create_file(char *host, size_t host_size, uint32_t *ret_image)
{
	int fd;

	if (gethostname(host, host_size))
		strcpy(host, "localhost");
	host[host_size - 1] = '\0';
	for (uint32_t image = 0; image < 100000; image++) {
		snprintf(store.path, sizeof(store.path), "%s/%s-%d.%u.hyb", rt.set.dir, host, rt.pid, image);
		fd = sys_open(store.path, O_RDWR | O_CREAT | O_EXCL);
		if (fd >= 0 || errno != EEXIST) {
			*ret_image = image;
			return fd >= 0 ? fd : -errno;
		}
	}
	return -EEXIST;
}

/*
 * A copy of the descriptor with a number that the program cannot have: above its
 * limit, which is raised for that moment (no other thread runs). Negative if
 * that is not permitted.
 */
static int copy_above(int fd, const struct rlimit *limit)
{
	struct rlimit higher = {limit->rlim_cur + 1, limit->rlim_max};
	int high;

	if (higher.rlim_max < higher.rlim_cur)
		higher.rlim_max = higher.rlim_cur;
	if (limit->rlim_cur >= MAX_FD || setrlimit(RLIMIT_NOFILE, &higher))
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, (int)limit->rlim_cur);
	setrlimit(RLIMIT_NOFILE, limit);
	return high;
}

/* Moves the descriptor out of the program's way, or gives it up: it can be had again by the path. */
static void hide_fd(int fd)
{
	struct rlimit limit = {1024, 1024};
	int high = -1;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > 256) {
		high = copy_above(fd, &limit);
		if (high < 0)
			high = fcntl(fd, F_DUPFD_CLOEXEC,
				(int)(limit.rlim_cur < MAX_FD ? limit.rlim_cur : MAX_FD) - 100);
	}
	sys_close(fd);
	atomic_store(&store.fd, high);
}

bool store_create(void)
{
	char host[64] = "", text[4200];
	uint32_t image = 0;
	struct stat st;
	int fd = create_file(host, sizeof(host), &image), error = fd;

	if (fd >= 0) {
		error = fstat(fd, &st) ? -errno : 0;
		store.device = st.st_dev;
		store.inode = st.st_ino;
		if (!error)
			error = write_zeros(fd, 0, HYB_PAGE);
		if (!error)
			error = map_segment(fd, 0);
		if (error)
			sys_close(fd);
	}
	if (error < 0) {
		snprintf(text, sizeof(text), "not measured: %s: %s", store.path, strerrordesc_np(-error));
		say(text);
		return false;
	}
	hide_fd(fd);
	store.header = store_at(0);
	*store.header = (struct hyb_header){
		.version_major = HYB_VERSION_MAJOR,
		.version_minor = HYB_VERSION_MINOR,
		.header_size = sizeof(struct hyb_header),
		.claimed = HYB_PAGE,
		.pid = (uint32_t)rt.pid,
		.ppid = (uint32_t)getppid(),
		.image = image,
		.clock = rt.tsc ? HYB_CLOCK_TSC : HYB_CLOCK_MONOTONIC,
		.clock_shift = rt.tsc ? CLOCK_SHIFT : 0,
		.state = HYB_STATE_RUNNING,
		.realtime = clock_ns(CLOCK_REALTIME),
		.trace_limit = rt.set.trace_limit,
		.rate = rt.set.rate,
		.trace_events = rt.set.trace_events,
		.budget = rt.set.budget,
	};
	memcpy(store.header->host, host, sizeof(host));
	store.header->first.tick = clock_tick();
	store.header->first.mono = clock_ns(CLOCK_MONOTONIC);
	store.header->last = store.header->first;
	memcpy(store.header->magic, HYB_MAGIC, sizeof(store.header->magic));
	return true;
}

void store_abandon(void)
{
	for (uint32_t i = 0; i < MAX_SEGMENTS && atomic_load(&store.segment[i]); i++)
		atomic_store(&store.segment[i], NULL);
	/* The descriptor is a copy of the parent's: closing it here is not seen there. */
	if (fd_is_ours(atomic_load(&store.fd)))
		sys_close(atomic_load(&store.fd));
	atomic_store(&store.fd, -1);
	atomic_store(&store.defs, 0);
	store.header = NULL;
}
