/*
 * Code made at run time, as a compiler there would: a loop is written to a page, run, and replaced by another
 * one at the same address. Names go to /tmp/perf-PID.map. Each runs for the same CPU time, which is printed.
 * Arguments: milliseconds for each loop; names of loops.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* push %rbp; mov %rsp,%rbp; mov $n,%eax; loop: sub $1,%rdi; jnz loop; pop %rbp; ret. Its size. */
static size_t emit(uint8_t *to, uint8_t n)
{
	const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5, 0xb8, n, 0, 0, 0, 0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0x5d, 0xc3};

	memcpy(to, code, sizeof(code));
	return sizeof(code);
}

int main(int argc, char **argv)
{
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t each = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (page == MAP_FAILED || !map)
		return 1;
	for (int i = 2; i < argc; i++) {
		size_t size = emit(page, (uint8_t)i);
		uint64_t from = cpu_ns(), now;

		fprintf(map, "%lx %zx %s\n", (unsigned long)page, size, argv[i]);
		fflush(map);
		do
			((void (*)(uint64_t))page)(100000);
		while ((now = cpu_ns()) < from + each);
		printf("%s %llu\n", argv[i], (unsigned long long)(now - from));
	}
	return fclose(map) != 0;
}
