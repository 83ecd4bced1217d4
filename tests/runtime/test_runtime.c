/*
 * The runtime in a program that is linked with it: clock, probes, and walks from a handler. What is true says
 * another clock, the compiler, and the C library's backtrace(). Uses no library, so that it runs wherever it
 * can be built for.
 */
#include <alloca.h>
#include <dirent.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hybrid/hybrid.h"
#include "runtime/clock.h"
#include "runtime/probe/probe.h"
#include "runtime/unwind/cache.h"
#include "runtime/unwind/modules.h"

#define CHECK(condition) check(condition, #condition, __LINE__)
#define FRAMES 100
#define NOINLINE __attribute__((noinline))

extern const struct hybrid_api hybrid_api_1;

static void check(bool holds, const char *what, int line)
{
	if (holds)
		return;
	fprintf(stderr, "test_runtime.c:%d: %s does not hold\n", line, what);
	exit(1);
}

/* ------------------------------------------------------------------- clock */

static void test_clock(void)
{
	struct hyb_anchor at[3];
	uint64_t last = clock_tick();
	double rate[2];

	CHECK(rt.counter);
	for (int i = 0; i < 100000; i++) {
		uint64_t now = clock_tick();

		CHECK(now >= last);
		last = now;
	}
	for (int i = 0; i < 3; i++) {
		at[i] = clock_both(100);
		usleep(50000);
	}
	for (int i = 0; i < 2; i++)
		rate[i] = (double)(at[i + 1].tick - at[i].tick) / (double)(at[i + 1].mono - at[i].mono);
	CHECK(rate[0] > 0.99 * rate[1] && rate[0] < 1.01 * rate[1]);
}

/* ------------------------------------------------------------------ probes */

static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
static struct hybrid_region inner = HYBRID_REGION_INIT("inner", HYBRID_USER);

/* What the probe knows of the function that entered it, and of that one's caller. */
static NOINLINE void test_snippet(void)
{
	struct unwind_snippet s;

	hybrid_api_1.enter(&outer);
	s = probe_snippet(self->top);
	CHECK(s.sp == arch_stack_pointer());
	CHECK(s.fp == (uintptr_t)__builtin_frame_address(0));
	CHECK(unwind_rule_at(s.ra - 1).function == unwind_rule_at((uintptr_t)test_snippet).function);
	CHECK(unwind_up(&s));
	CHECK(s.ra == (uintptr_t)__builtin_return_address(0));
	CHECK(s.fp == *(const uintptr_t *)__builtin_frame_address(0));
	hybrid_api_1.leave(&outer);
}

static void test_probes(void)
{
	const struct hyb_node *out, *in;
	uint32_t depth = self->loc->depth;

	for (int i = 0; i < 1000; i++) {
		hybrid_api_1.enter(&outer);
		for (int k = 0; k < 3; k++) {
			hybrid_api_1.enter(&inner);
			hybrid_api_1.leave(&inner);
		}
		hybrid_api_1.leave(&outer);
	}
	hybrid_api_1.enter(&outer);
	out = self->node;
	hybrid_api_1.enter(&inner);
	in = self->node;
	CHECK(self->loc->depth == depth + 2 && in->parent == self->top[-1].node);
	hybrid_api_1.leave(&inner);
	hybrid_api_1.leave(&outer);
	CHECK(self->loc->depth == depth && self->state == THREAD_READY);
	CHECK(out->count == 1002 && in->count == 3001); /* with test_snippet() */
	CHECK(in->inclusive && out->inclusive > in->inclusive);
	for (int i = 0; i < HYB_FAULT_COUNT; i++)
		CHECK(!self->loc->faults[i]);
}

/* ------------------------------------------------------------------- walks */

static struct seen {
	uint64_t code[FRAMES];
	struct unwind u;
	void *truth[FRAMES]; /* from the handler on */
	int count;
	struct unwind_snippet snippet; /* where the walk is to end; sp 0: at the end of the stack */
} seen;
static volatile int *page; /* whose access fails */

static struct unwind_snippet next_snippet(void *asked)
{
	return (*(int *)asked)++ ? (struct unwind_snippet){0, 0, 0} : seen.snippet;
}

static void walk(int signal, siginfo_t *info, void *context)
{
	int asked = 0;

	CHECK(!mprotect((void *)page, HYB_PAGE, PROT_READ | PROT_WRITE));
	seen.u = (struct unwind){.context = context,
		.next_snippet = next_snippet,
		.data = &asked,
		.code = seen.code,
		.max = FRAMES};
	unwind_walk(&seen.u);
	seen.count = backtrace(seen.truth, FRAMES);
}

static uintptr_t frame(size_t i)
{
	return modules_address(seen.code[seen.u.max - 1 - i] & ~UNWIND_EXACT);
}

/* Frame by frame as the C library sees them, behind the handler and without what it returns to. */
static void compare(enum unwind_end end)
{
	size_t i = 0;
	int at = 0;

	while (at < seen.count && (uintptr_t)seen.truth[at] != frame(0))
		at++;
	for (; at < seen.count && i < seen.u.count; at++) {
		if (unwind_rule_at((uintptr_t)seen.truth[at] - 1).kind == RULE_SIGNAL)
			continue;
		CHECK((uintptr_t)seen.truth[at] == frame(i));
		i++;
	}
	CHECK(i == seen.u.count && seen.u.end == end);
	CHECK(at == seen.count || end == UNWIND_SNIPPET);
	CHECK(seen.code[seen.u.max - 1] & UNWIND_EXACT);
}

/* A leaf: its return address may be in a register only. */
static NOINLINE int touch(void)
{
	return *page;
}

static NOINLINE int hide_and_touch(void)
{
	int r;

	CHECK(!mprotect((void *)page, HYB_PAGE, PROT_NONE));
	r = touch();
	__asm__ volatile("");
	return r;
}

/* A frame of a size that is not known before, and a large one. */
static NOINLINE int with_frames(size_t size)
{
	volatile char large[40000], *some = alloca(size);
	int r;

	large[0] = some[0] = 0;
	r = hide_and_touch();
	return r + large[0] + some[0];
}

/* Walks to the end of the stack, and to a function that is in a region. */
static NOINLINE void walk_twice(void)
{
	hybrid_api_1.enter(&outer);
	with_frames((size_t)getpid() % 100 + 100);
	compare(UNWIND_OUTERMOST);
	CHECK(seen.u.count > 5 && !seen.u.guessed);
	seen.snippet = probe_snippet(self->top);
	with_frames((size_t)getpid() % 100 + 100);
	compare(UNWIND_SNIPPET);
	CHECK(unwind_rule_at(frame(seen.u.count - 1) - 1).function ==
		unwind_rule_at((uintptr_t)walk_twice).function);
	seen.snippet.sp = 0;
	hybrid_api_1.leave(&outer);
}

static void on_signal(int signal)
{
	walk_twice();
}

/* The page of the addresses of functions that the dynamic linker fills in where they are called first. */
static volatile int *unbound_page(void)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_PLTGOT)
			return (volatile int *)((d->d_un.d_ptr + 3 * sizeof(uintptr_t)) &
						~(uintptr_t)(HYB_PAGE - 1));
	return NULL;
}

/* Out of the dynamic linker, whose table backtrace() takes at its word. */
static NOINLINE void walk_from_linker(void)
{
	size_t i = 0;

	seen.u.count = 0;
	page = unbound_page();
	CHECK(page && !mprotect((void *)page, HYB_PAGE, PROT_READ));
	l64a(1);
	while (i < seen.u.count && frame(i) != (uintptr_t)__builtin_return_address(0))
		i++;
	CHECK(i > 2 && i < seen.u.count && !seen.u.guessed);
	CHECK(unwind_rule_at(frame(i - 1) - 1).function ==
		unwind_rule_at((uintptr_t)walk_from_linker).function);
	CHECK(unwind_rule_at(frame(i - 2) - 1).function !=
		unwind_rule_at((uintptr_t)walk_from_linker).function);
	CHECK(seen.u.end == UNWIND_OUTERMOST);
}

static void test_walks(void)
{
	struct sigaction action = {.sa_sigaction = walk, .sa_flags = SA_SIGINFO};

	seen.count = backtrace(seen.truth, FRAMES); /* loads what it needs */
	modules_update(true);
	page = mmap(NULL, HYB_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	walk_twice();
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1); /* on top of a handler */
	walk_from_linker();
}

/* -------------------------------------------------------------------- main */

static void remove_all(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(path);
}

int main(void)
{
	char path[] = "/tmp/test-runtime-XXXXXX";

	CHECK(mkdtemp(path) && !self);
	setenv("HYBRID_DIR", path, 1);
	setenv("HYBRID_OPTIONS", "rate=0", 1);
	rt.started = false; /* the constructor found nothing to do */
	runtime_start();
	CHECK(self && atomic_load(&rt.on));
	test_clock();
	test_snippet();
	test_probes();
	test_walks();
	remove_all(path);
	return 0;
}
