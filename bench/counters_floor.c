/*
 * The floors of reading counters: counters_floor EVENT... (as PAPI names them) prints lines "NAME NS":
 * PAPI_read of all of them, read(2) of one software event of the kernel, and rdpmc where the processor's
 * counters can be read in the program (no line where not). Batches; the median one.
 */
#include <linux/perf_event.h>
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define BATCHES 201
#define READS 1000

struct floor {
	int set, fd;
	uint32_t index; /* of rdpmc, from 1; 0: none */
};

static void measure(const char *name, void (*read_once)(const struct floor *), const struct floor *f)
{
	double ns[BATCHES];

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t start = now();

		for (int i = 0; i < READS; i++)
			read_once(f);
		ns[batch] = (double)(now() - start) / READS;
	}
	qsort(ns, BATCHES, sizeof(ns[0]), compare_doubles);
	printf("%s %.1f\n", name, ns[BATCHES / 2]);
}

static void read_papi(const struct floor *f)
{
	long long values[64];

	if (PAPI_read(f->set, values) != PAPI_OK)
		exit(1);
}

static void read_kernel(const struct floor *f)
{
	uint64_t value;

	if (read(f->fd, &value, sizeof(value)) != sizeof(value))
		exit(1);
}

static void read_pmc(const struct floor *f)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(f->index - 1));
}

static int perf_open(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .exclude_kernel = 1, .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint32_t pmc_index(void)
{
	int fd = perf_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	const struct perf_event_mmap_page *page =
		fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED || !page->cap_user_rdpmc ? 0 : page->index;
}

int main(int argc, char **argv)
{
	struct floor f = {PAPI_NULL, perf_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS), pmc_index()};

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
		PAPI_create_eventset(&f.set) != PAPI_OK)
		return 1;
	for (int i = 1; i < argc; i++)
		if (PAPI_add_named_event(f.set, argv[i]) != PAPI_OK) {
			fprintf(stderr, "counters_floor: %s cannot be counted\n", argv[i]);
			return 1;
		}
	if (argc < 2 || PAPI_start(f.set) != PAPI_OK)
		return 1;
	measure("PAPI_read", read_papi, &f);
	if (f.fd >= 0)
		measure("read", read_kernel, &f);
	if (f.index)
		measure("rdpmc", read_pmc, &f);
	return 0;
}
