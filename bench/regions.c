/*
 * What a region costs: ns of each kind of enter and leave, beside the clock
 * reads that it cannot do without. In each round one batch of each kind; the
 * median of the rounds counts, without the first SKIP ones.
 *
 *     regions [ROUNDS [SKIP]]
 */
#include <hybrid/hybrid.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BATCH 2000
#define NEST 10
#define MANY 64
#define ROUNDS_MAX 10000

static struct hybrid_region one = HYBRID_REGION_INIT("one", HYBRID_USER);
static struct hybrid_region two = HYBRID_REGION_INIT("two", HYBRID_USER);
static struct hybrid_region nested[NEST], many[MANY];
static char names[NEST + MANY][16];

static void ticks(void)
{
	for (int i = 0; i < BATCH; i++)
		__asm__ volatile("" ::"r"(read_tick()), "r"(read_tick()));
}

static void clock_reads(void)
{
	struct timespec t;

	for (int i = 0; i < BATCH; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
}

static void same(void)
{
	for (int i = 0; i < BATCH; i++) {
		hybrid_enter(&one);
		hybrid_leave(&one);
	}
}

static void alternating(void)
{
	for (int i = 0; i < BATCH; i += 2) {
		hybrid_enter(&one);
		hybrid_leave(&one);
		hybrid_enter(&two);
		hybrid_leave(&two);
	}
}

static void nesting(void)
{
	for (int i = 0; i < BATCH; i += NEST) {
		for (int k = 0; k < NEST; k++)
			hybrid_enter(&nested[k]);
		for (int k = NEST; k-- > 0;)
			hybrid_leave(&nested[k]);
	}
}

static void in_turn(void)
{
	for (int i = 0; i < BATCH; i++) {
		struct hybrid_region *region = &many[(unsigned)i * 37 % MANY];

		hybrid_enter(region);
		hybrid_leave(region);
	}
}

static void macros(void)
{
	for (int i = 0; i < BATCH; i++) {
		HYBRID_ENTER("macro");
		HYBRID_LEAVE("macro");
	}
}

static void by_name(void)
{
	for (int i = 0; i < BATCH; i++) {
		hybrid_enter_name("by name", 7);
		hybrid_leave_name("by name", 7);
	}
}

static const struct kind {
	const char *name;
	void (*batch)(void);
} kinds[] = {
	{"ticks", ticks},
	{"clock", clock_reads},
	{"same", same},
	{"alternating", alternating},
	{"nested", nesting},
	{"turn", in_turn},
	{"macro", macros},
	{"name", by_name},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void name_regions(void)
{
	for (int i = 0; i < NEST + MANY; i++) {
		struct hybrid_region region = {names[i], __FILE__, __LINE__, HYBRID_USER, 0};

		snprintf(names[i], sizeof(names[i]), "region %d", i);
		*(i < NEST ? &nested[i] : &many[i - NEST]) = region;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, skip = argc > 2 ? atoi(argv[2]) : rounds / 10;
	static double ns[KINDS][ROUNDS_MAX];

	if (rounds < 1 || rounds > ROUNDS_MAX || skip < 0 || skip >= rounds)
		return 2;
	name_regions();
	for (int round = 0; round < rounds; round++) {
		for (size_t k = 0; k < KINDS; k++) {
			uint64_t start = now();

			kinds[k].batch();
			ns[k][round] = (double)(now() - start) / BATCH;
		}
	}
	for (size_t k = 0; k < KINDS; k++) {
		qsort(&ns[k][skip], (size_t)(rounds - skip), sizeof(double), compare_doubles);
		printf("%s %.3f\n", kinds[k].name, ns[k][skip + (rounds - skip) / 2]);
	}
	return 0;
}
