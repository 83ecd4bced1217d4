#include "store_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "launch/clock_domain.h"
#include "base/launch.h"
#include "clock.h"
#include "store.h"
#include "sys.h"
#include "thread.h"

#define ABOVE 65536u /* numbers above the program's limit that ours may have */
/* The kernel's table of descriptors is as long as the highest, and each fork copies it. */
#define MAX_FD 65536u /* for a number that the program cannot have */
#define MAX_COMMON_FD 4096u /* for one that it could */
#define MAX_FILE ((uint64_t)MAX_SEGMENTS * HYB_SEGMENT)
#define MAX_PROCESSES 65535u /* of a file: hyb_chunk.process */
#define MAX_FILES 1000u /* of a node */
#define NODE_RANKS 32u /* from so many ranks on a host they share a file */

/* The first page of a file. */
struct first_page {
	struct hyb_header header;
	uint8_t reserved[HYB_PAGE / 2 - sizeof(struct hyb_header)];
	/*
	 * Shared files only, and nobody's but the runtime's: pid << 32 | image of who came last with that
	 * pid modulo the size, so that a program which is executed knows how many were before it.
	 */
	uint64_t images[HYB_PAGE / 16];
};
static_assert(sizeof(struct first_page) == HYB_PAGE, "one page");

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
 * Writes copies of `content`, a page, to space that nobody else uses: it is the file's then, and its pages
 * are in memory. To touch a page of space that is allocated but not written costs four times as much.
 * Negative errno on failure.
 */
static int write_pages(int fd, const void *content, uint64_t from, uint32_t size)
{
	struct iovec page[16];
	uint64_t to = from + size;
	struct rlimit limit;

	/* A file that grows past this limit is a signal for the program. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && to > limit.rlim_cur)
		return -EFBIG;
	for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
		page[i] = (struct iovec){(void *)content, HYB_PAGE};
	while (from < to) {
		uint64_t pages = (to - from) / HYB_PAGE, most = sizeof(page) / sizeof(page[0]);
		ssize_t n = sys_pwritev(fd, page, pages < most ? pages : most, from);

		if (self)
			metrics_own_call(&self->metrics, true, n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || n % HYB_PAGE)
			return n < 0 ? -errno : -ENOSPC;
		from += (uint64_t)n;
	}
	return 0;
}

static const char zeros[HYB_PAGE];

/* Maps the segment unless another thread has. Negative errno on failure. */
static int map_segment(int fd, uint64_t index)
{
	uint8_t *none = NULL, *at;
	uint32_t mapped;

	if (atomic_load(&store.segment[index]))
		return 0;
	at = mmap(NULL, HYB_SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(index * HYB_SEGMENT));
	if (at == MAP_FAILED)
		return -errno;
	/* Else each first touch of a page reads, and clears, a whole window ahead. */
	madvise(at, HYB_SEGMENT, MADV_RANDOM);
	/* First: the child of another thread's fork has to find all that it inherits. */
	mapped = atomic_load(&store.mapped);
	while (mapped <= index && !atomic_compare_exchange_weak(&store.mapped, &mapped, (uint32_t)index + 1))
		;
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
	error = write_pages(fd, zeros, offset, size);
	if (!error)
		error = map_segment(fd, index);
	if (close_it)
		sys_close(fd);
	return error;
}

/* The next extent of a shared file, as its first page << 16 | its pages; 0: the file is full. */
static uint64_t take_extent(void)
{
	uint64_t *claimed = &store.page->claimed, from = __atomic_load_n(claimed, __ATOMIC_RELAXED), to;

	do {
		to = (from / STORE_EXTENT + 1) * STORE_EXTENT;
		if (to > MAX_FILE)
			return 0;
	} while (!__atomic_compare_exchange_n(claimed, &from, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return from / HYB_PAGE << 16 | (to - from) / HYB_PAGE;
}

/* From the process's extent, or a new one. Returns an offset, MAX_FILE if there is none. */
static uint64_t claim_shared(uint32_t size)
{
	uint64_t extent = atomic_load(&store.extent), pages = size / HYB_PAGE, next;

	for (;;) {
		if ((extent & 0xffff) >= pages) {
			if (atomic_compare_exchange_weak(
				    &store.extent, &extent, extent + (pages << 16) - pages))
				return (extent >> 16) * HYB_PAGE;
			continue;
		}
		next = take_extent();
		if (!next)
			return MAX_FILE;
		if (atomic_compare_exchange_strong(&store.extent, &extent, next)) /* else it stays empty */
			extent = next;
	}
}

/* From the end of the file. What is left of a segment stays empty. */
static uint64_t claim_end(uint32_t size)
{
	uint64_t offset;

	do
		offset = __atomic_fetch_add(&store.page->claimed, size, __ATOMIC_RELAXED);
	while (offset / HYB_SEGMENT != (offset + size - 1) / HYB_SEGMENT);
	return offset;
}

int store_room(uint32_t size, uint64_t *ret_offset)
{
	bool shared = store.process && size <= STORE_EXTENT;
	uint64_t offset = shared ? claim_shared(size) : claim_end(size);

	if (offset >= MAX_FILE)
		return -EFBIG;
	*ret_offset = offset;
	return make_room(offset, size);
}

/*
 * A copy of the descriptor with a number that the program cannot have: above its
 * limit, which is raised for that moment (other threads, and a child that one of
 * them forks then, see it so). Negative if that is not permitted.
 */
static int copy_above(int fd, const struct rlimit *limit)
{
	struct rlimit higher = {limit->rlim_cur + ABOVE, limit->rlim_max};
	int high;

	if (higher.rlim_max <= limit->rlim_cur)
		higher.rlim_max = higher.rlim_cur;
	if (higher.rlim_cur > higher.rlim_max)
		higher.rlim_cur = higher.rlim_max;
	if (limit->rlim_cur >= MAX_FD || setrlimit(RLIMIT_NOFILE, &higher))
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit->rlim_cur > 256 ? limit->rlim_cur : 256));
	setrlimit(RLIMIT_NOFILE, limit);
	return high;
}

/* Numbers below this are the program's, too. */
static int common(const struct rlimit *limit)
{
	return (int)(limit->rlim_cur < MAX_COMMON_FD ? limit->rlim_cur : MAX_COMMON_FD);
}

int sys_move_high(int fd)
{
	static _Atomic(bool) busy; /* who sees a limit that another thread has raised would keep it */
	struct rlimit limit = {1024, 1024};
	int high = -1;

	if (!atomic_exchange(&busy, true)) {
		getrlimit(RLIMIT_NOFILE, &limit);
		high = copy_above(fd, &limit);
		atomic_store(&busy, false);
	}
	if (high < 0)
		high = fcntl(fd, F_DUPFD_CLOEXEC, common(&limit) / 2);
	sys_close(fd);
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
			high = fcntl(fd, F_DUPFD_CLOEXEC, common(&limit) - 100);
	}
	sys_close(fd);
	atomic_store(&store.fd, high);
}

static struct hyb_header new_header(const char *host)
{
	struct hyb_header header = {
		.version_major = HYB_VERSION_MAJOR,
		.version_minor = HYB_VERSION_MINOR,
		.header_size = sizeof(header),
	};

	memcpy(header.magic, HYB_MAGIC, sizeof(header.magic));
	memcpy(header.host, host, sizeof(header.host));
	return header;
}

/* The descriptor of the process's file, whose first segment is mapped; negative errno. */
static int keep_file(int fd)
{
	struct stat st;
	int error = fstat(fd, &st) ? -errno : 0;

	store.device = st.st_dev;
	store.inode = st.st_ino;
	if (!error)
		error = map_segment(fd, 0);
	if (error) {
		sys_close(fd);
		return error;
	}
	store.page = store_at(0);
	return fd;
}

/* Reads the CPU time until the process executed the next program from its own file at store.path. */
static uint64_t read_cpu(void)
{
	struct hyb_header header = {0};
	int fd = sys_open(store.path, O_RDONLY);
	bool ours = fd >= 0 && sys_read(fd, &header, sizeof(header)) == sizeof(header) &&
		    header.pid == (uint32_t)rt.pid && header.state == HYB_STATE_EXEC;

	if (fd >= 0)
		sys_close(fd);
	return ours ? header.cpu : 0;
}

/* Creates DIR/HOST-PID.IMAGE.hyb for the first IMAGE that is free. Returns the fd or negative errno. */
static int create_own(const char *host, uint32_t *ret_image)
{
	int fd, error;

	for (uint32_t image = 0; image < 100000; image++) {
		snprintf(store.path, sizeof(store.path), "%s/%s-%d.%u.hyb", rt.set.dir, host, rt.pid, image);
		fd = sys_open(store.path, O_RDWR | O_CREAT | O_EXCL);
		if (fd < 0 && errno == EEXIST) {
			store.cpu_before = read_cpu();
			continue;
		}
		*ret_image = image;
		if (fd < 0)
			return -errno;
		error = write_pages(fd, zeros, 0, HYB_PAGE);
		if (!error)
			return keep_file(fd);
		sys_close(fd);
		return error;
	}
	return -EEXIST;
}

/*
 * Makes the shared file with its first page: under another name first, so that nobody sees it
 * without. 0 if it exists then, or negative errno.
 */
static int make_shared(const char *host)
{
	struct first_page page = {.header = new_header(host)};
	char path[sizeof(store.path)];
	int fd, error;

	page.header.claimed = HYB_PAGE;
	snprintf(path, sizeof(path), "%s/.%s-%d.new", rt.set.dir, host, rt.pid);
	fd = sys_open(path, O_RDWR | O_CREAT | O_TRUNC);
	if (fd < 0)
		return -errno;
	error = write_pages(fd, &page, 0, HYB_PAGE);
	sys_close(fd);
	if (!error && link(path, store.path) && errno != EEXIST)
		error = -errno;
	unlink(path);
	return error;
}

/* Whether the mapped file is one of ours with room for another process, whose number it takes then. */
static bool join_shared(void)
{
	const struct hyb_header *page = store.page;
	uint32_t number;

	if (memcmp(page->magic, HYB_MAGIC, sizeof(page->magic)) || page->version_major != HYB_VERSION_MAJOR ||
		page->version_minor != HYB_VERSION_MINOR ||
		__atomic_load_n(&page->claimed, __ATOMIC_RELAXED) + STORE_EXTENT > MAX_FILE)
		return false;
	number = __atomic_add_fetch(&store.page->processes, 1, __ATOMIC_RELAXED);
	if (number > MAX_PROCESSES)
		__atomic_sub_fetch(&store.page->processes, 1, __ATOMIC_RELAXED);
	store.process = (uint16_t)(number > MAX_PROCESSES ? 0 : number);
	return store.process != 0;
}

/* How many programs this process has executed before in the shared file. */
static uint32_t next_image(void)
{
	struct first_page *page = (struct first_page *)store.page;
	uint64_t *last = &page->images[(uint32_t)rt.pid % (sizeof(page->images) / sizeof(page->images[0]))];
	uint64_t entry = __atomic_load_n(last, __ATOMIC_RELAXED);
	uint32_t image = entry >> 32 == (uint32_t)rt.pid ? (uint32_t)entry + 1 : 0;

	__atomic_store_n(last, (uint64_t)rt.pid << 32 | image, __ATOMIC_RELAXED);
	return image;
}

/*
 * Joins DIR/HOST-node-DOMAIN.N.hyb for the first N that has room, or creates it. The clock domain is that of
 * the kernel: only its processes share memory. Returns the fd or negative errno.
 */
static int open_shared(const char *host, uint32_t *ret_image)
{
	for (uint32_t n = 0; n < MAX_FILES; n++) {
		int fd, error;

		snprintf(store.path, sizeof(store.path), "%s/%s-node-%08x.%u.hyb", rt.set.dir, host,
			(uint32_t)clock_domain(), n);
		fd = sys_open(store.path, O_RDWR);
		if (fd < 0 && errno == ENOENT) {
			error = make_shared(host);
			if (error)
				return error;
			fd = sys_open(store.path, O_RDWR);
		}
		if (fd < 0)
			return -errno;
		/* A file that is shorter is none of ours: to look at it would be SIGBUS. */
		fd = lseek(fd, 0, SEEK_END) >= (off_t)HYB_PAGE ? keep_file(fd) : (sys_close(fd), -EINVAL);
		if (fd < 0)
			return fd;
		if (join_shared()) {
			*ret_image = next_image();
			if (*ret_image) /* where that one's header is nobody knows */
				store.cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			return fd;
		}
		sys_close(fd);
		munmap(store_at(0), HYB_SEGMENT);
		atomic_store(&store.segment[0], NULL);
	}
	return -EMFILE;
}

/* File systems of other machines, where each file that is made takes long and burdens all. */
static bool is_network(void)
{
	static const uint32_t magics[] = {0x6969 /* NFS */, 0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */,
		0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */,
		0x5346414f /* AFS */, 0xaad7aaea /* PanFS */, 0x20030528 /* OrangeFS */};
	struct statfs fs;

	if (statfs(rt.set.dir, &fs))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs.f_type == magics[i])
			return true;
	return false;
}

static bool wants_shared(void)
{
	struct launch_place place;

	if (rt.set.files != FILES_AUTO)
		return rt.set.files == FILES_NODE;
	return (launch_place(&place) && launch_local(&place) >= NODE_RANKS) || is_network();
}

/* Opens the file that is wanted; where none can be shared, one of its own. Returns the fd or negative errno.
 */
static int open_file(const char *host, uint32_t *ret_image)
{
	int fd = -EINVAL;

	store.process = 0;
	store.cpu_before = 0;
	if (wants_shared())
		fd = open_shared(host, ret_image);
	if (fd < 0 && fd != -ENOSPC && fd != -EDQUOT)
		fd = create_own(host, ret_image);
	return fd;
}

/* The header of this process: the file's first page, or in a chunk of its own. 0 or negative errno. */
static int place_header(struct hyb_header *header)
{
	struct hyb_chunk *chunk;
	uint64_t at;
	int error;

	if (!store.process) {
		header->claimed = HYB_PAGE;
		memset(header->magic, 0, sizeof(header->magic));
		store.header = store.page;
		*store.header = *header;
		__atomic_thread_fence(__ATOMIC_RELEASE);
		memcpy(store.header->magic, HYB_MAGIC, sizeof(header->magic));
		return 0;
	}
	error = store_room(HYB_PAGE, &at);
	if (error)
		return error;
	chunk = store_at(at);
	chunk->kind = HYB_CHUNK_PROCESS;
	chunk->process = store.process;
	chunk->size = HYB_PAGE;
	chunk->used = sizeof(*chunk) + sizeof(*header);
	store.header = (struct hyb_header *)(chunk + 1);
	*store.header = *header;
	__atomic_store_n(&chunk->magic, HYB_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

bool store_is_forbidden(void)
{
	struct stat st;
	uid_t user = geteuid();

	/* access() would be true for one who loses his capabilities only when he executes a program. */
	return user && !stat(rt.set.dir, &st) && st.st_uid != user && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool store_create(void)
{
	char host[64] = "", text[4200];
	struct hyb_header header;
	uint32_t image = 0;
	int fd, error;

	if (gethostname(host, sizeof(host)))
		strcpy(host, "localhost");
	host[sizeof(host) - 1] = '\0';
	error = fd = open_file(host, &image);
	if (fd >= 0) {
		header = new_header(host);
		header.pid = (uint32_t)rt.pid;
		header.ppid = (uint32_t)getppid();
		header.image = image;
		header.clock = rt.counter ? HYB_CLOCK_TSC : HYB_CLOCK_MONOTONIC;
		header.clock_shift = rt.counter ? ARCH_COUNTER_SHIFT : 0;
		header.state = HYB_STATE_RUNNING;
		header.realtime = clock_ns(CLOCK_REALTIME);
		header.trace_limit = rt.set.trace_limit;
		header.rate = rt.set.rate;
		header.trace_events = rt.set.trace_events;
		header.budget = rt.set.budget;
		header.clock_domain = clock_domain();
		header.pid_namespace = pid_namespace();
		header.cpu_start = header.cpu_ready = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		header.first = clock_both(CLOCK_TRIES);
		header.last = header.first;
		hide_fd(fd);
		error = place_header(&header);
	}
	/* Of a program that was executed by a measured one that has noted it. */
	if (error == -EACCES && !rt.epoch && store_is_forbidden())
		return false;
	if (error < 0) {
		snprintf(text, sizeof(text), "not measured: %s: %s", store.path, strerrordesc_np(-error));
		say(text);
		return false;
	}
	return true;
}

void store_abandon(void)
{
	for (uint32_t i = atomic_load(&store.mapped); i-- > 0;)
		atomic_store(&store.segment[i], NULL);
	atomic_store(&store.mapped, 0);
	/* The descriptor is a copy of the parent's: closing it here is not seen there. */
	if (fd_is_ours(atomic_load(&store.fd)))
		sys_close(atomic_load(&store.fd));
	atomic_store(&store.fd, -1);
	atomic_store(&store.defs, 0);
	atomic_store(&store.extent, 0);
	store.header = store.page = NULL;
}
