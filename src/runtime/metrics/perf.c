/*
 * Counters of the kernel's and of the processor's. Those of a thread are one group, read by one system call;
 * where the processor has too few for a group, the kernel gives each what does not fit its turn, and what was
 * counted is scaled up. The processor's own are read without a system call where the kernel lets us
 * (include/uapi/linux/perf_event.h, struct perf_event_mmap_page).
 */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "launch/perf_event.h"
#include "metrics.h"
#include "runtime/arch/arch.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

/* What read() gives for a group. */
struct group {
	uint64_t count, enabled, running;
	uint64_t value[PERF_COUNTERS];
};

static int open_in(struct perf_event_attr *attr, int leader)
{
	attr->disabled = leader < 0; /* until its group is whole: see perf_counters_start() */
	return perf_event_open_allowed(attr, leader);
}

/* The page by which user space reads the counter; NULL: it cannot. */
static struct perf_event_mmap_page *map_page(int fd, uint32_t type)
{
	struct perf_event_mmap_page *page;

	if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT)
		return NULL;
	page = mmap(NULL, HYB_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

bool perf_counter_open(struct metrics_thread *m, unsigned metric, const struct metric_part *part)
{
	struct perf_event_attr attr = perf_event_attr(part);
	struct perf_counter *c = &m->counter[m->counters];
	unsigned leader = m->counters ? m->counter[m->counters - 1].leader : 0;
	int fd = -1;

	if (m->counters == PERF_COUNTERS)
		return false;
	attr.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (leader < m->counters)
		fd = open_in(&attr, m->counter[leader].fd - 1);
	if (fd < 0) { /* does not fit */
		leader = m->counters;
		fd = open_in(&attr, -1);
	}
	fd = fd < 0 ? fd : sys_move_high(fd);
	if (fd < 0)
		return false;
	*c = (struct perf_counter){
		fd + 1, (uint8_t)leader, (uint8_t)metric, (int8_t)part->sign, map_page(fd, part->type)};
	m->counters++;
	return true;
}

void perf_counters_start(const struct metrics_thread *m)
{
	/* A clock that joins a group which counts already would stand still until the thread is next
	 * scheduled. */
	for (unsigned i = 0; i < m->counters; i++)
		if (m->counter[i].leader == i)
			ioctl(m->counter[i].fd - 1, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_counters_close(struct metrics_thread *m)
{
	uint64_t id;

	for (unsigned i = 0; i < m->counters; i++) {
		/* The program may have closed all descriptors, and used the number again. */
		if (!ioctl(m->counter[i].fd - 1, PERF_EVENT_IOC_ID, &id))
			sys_close(m->counter[i].fd - 1);
		if (m->counter[i].page)
			munmap(m->counter[i].page, HYB_PAGE);
	}
	m->counters = 0;
}

/* Reads a counter of the processor's that counts all the time. False: by a system call, then. */
static bool read_page(const struct perf_event_mmap_page *page, uint64_t *ret)
{
	uint32_t lock, index;
	uint64_t count;

	do {
		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		index = page->index;
		if (!page->cap_user_rdpmc || !index || page->time_enabled != page->time_running ||
			!arch_read_pmc(index - 1, &count))
			return false;
		/* The counter has pmc_width bits, and a sign. */
		*ret = (uint64_t)page->offset +
		       (uint64_t)((int64_t)(count << (64 - page->pmc_width)) >> (64 - page->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock);
	return true;
}

/* A group whose first is `first`: by its pages. False: some cannot. */
static bool read_pages(const struct metrics_thread *m, unsigned first, unsigned end, uint64_t *value)
{
	for (unsigned i = first; i < end; i++)
		if (!m->counter[i].page || !read_page(m->counter[i].page, &value[i - first]))
			return false;
	return true;
}

static bool read_group(struct metrics_thread *m, int fd, unsigned count, struct group *g)
{
	ssize_t n = sys_read(fd, g, sizeof(*g));

	metrics_own_call(m, false, n);
	if (n < (ssize_t)(3 * sizeof(uint64_t)) || g->count != count)
		return false;
	if (g->running && g->running < g->enabled)
		for (unsigned i = 0; i < count; i++)
			g->value[i] =
				(uint64_t)((double)g->value[i] * (double)g->enabled / (double)g->running);
	return true;
}

bool perf_counters_read(struct metrics_thread *m, int64_t *values)
{
	struct group g;

	for (unsigned first = 0, end; first < m->counters; first = end) {
		for (end = first + 1; end < m->counters && m->counter[end].leader == first; end++)
			;
		if (!read_pages(m, first, end, g.value) &&
			!read_group(m, m->counter[first].fd - 1, end - first, &g))
			return false;
		for (unsigned i = first; i < end; i++)
			values[m->counter[i].metric] += m->counter[i].sign * (int64_t)g.value[i - first];
	}
	return true;
}
