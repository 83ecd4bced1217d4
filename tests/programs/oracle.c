/*
 * Preloaded into a program: ten thousand times a second it walks the interrupted
 * stack twice, by the runtime's unwinder and by libunwind, and compares. At the
 * end it appends one line to the file ORACLE_OUT:
 *
 *     NAME samples=N same=N shorter=N longer=N differ=N main=N astray=N guessed=N
 *
 * same: both walks are equal, frame by frame; every second of ours is bounded by
 * a snippet and has to end at its frame. shorter: ours ends early and says that
 * it is incomplete. longer: libunwind ends early. differ: two different frames;
 * the first few are described on lines "#". main: ours came to main. astray: ours
 * claims to be complete and did not, which only a thread or a switched stack may do.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/arch/arch.h"
#include "runtime/probe/cyg.h"
#include "runtime/unwind/jit_frames.h"
#include "runtime/unwind/modules.h"
#include "runtime/python/frames.h"
#include "runtime/python/python.h"
#include "runtime/store.h"
#include "runtime/unwind/unwind.h"
#include "runtime/unwind/cache.h"

#define FRAMES 500 /* that are compared; deeper stacks are cut in both */
#define NOTES 4
#define SIGNAL (SIGRTMAX - 2)
#define PERIOD_NS 100000

/* What the unwinder wants of the rest of the runtime: a place for definitions. */
struct runtime rt;
struct store store;
static _Alignas(8) uint8_t definitions[HYB_SEGMENT];
static uint64_t defined = HYB_PAGE;

uint64_t store_define(enum hyb_def_type type, const void *head, const char *const *texts)
{
	uint64_t at = defined;

	if (at + def_size(type, head) > sizeof(definitions))
		return 0;
	def_put((struct hyb_def *)(definitions + at), type, head, texts);
	defined += def_size(type, head);
	return at;
}

void store_metadata(const char *key, const char *value, size_t length)
{
	(void)key;
	(void)value;
	(void)length;
}

void cyg_forget(void)
{
}

/* Nobody registers unwind information here. */
bool jit_frames_find(uintptr_t pc, struct cfi_row *row)
{
	(void)pc;
	(void)row;
	return false;
}

/* Python's frames are not asked for here. */
struct python python;

void python_walk_begin(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi)
{
	(void)p, (void)stack_lo, (void)stack_hi;
}

bool python_walk_pass(struct python_walk *p, struct unwind *u, uintptr_t sp, uintptr_t reach, uintptr_t last)
{
	(void)p, (void)u, (void)sp, (void)reach, (void)last;
	return false;
}

void python_walk_weave(struct python_walk *p, struct unwind *u, bool whole)
{
	(void)p, (void)u, (void)whole;
}

void python_walk_rest(struct python_walk *p, struct unwind *u)
{
	(void)p, (void)u;
}

static struct oracle {
	const char *name;
	unw_word_t main_start, main_end; /* code of watched_main() */
	struct unwind_snippet snippet; /* in watched_main(), for bounded walks */
	unsigned long samples, same, shorter, longer, differ, through, astray, guessed;
	char notes[NOTES * 4096];
	size_t notes_length;
	unsigned notes_count;
	volatile bool running;
	timer_t timer;
	int (*main)(int, char **, char **);
} oracle;

struct path {
	size_t count;
	uintptr_t pc[FRAMES];
};

/* `data` counts: the first snippet is watched_main's, then there is none. */
/* Never: watched_main() is there as long as samples are taken. */
static void snippet_gone(void *data, uintptr_t sp)
{
	(void)data;
	(void)sp;
	_exit(97);
}

static struct unwind_snippet next_snippet(void *data)
{
	int *asked = data;

	return (*asked)++ ? (struct unwind_snippet){0, 0, 0} : oracle.snippet;
}

static enum unwind_end walk_ours(const ucontext_t *context, struct path *path)
{
	static uint64_t code[FRAMES + 1]; /* one is for what stands for a gap */
	int asked = oracle.samples % 2 ? 0 : 1;
	struct unwind u = {
		/* without the stack's ends, as on stacks of the program's own making */
		.context = context,
		.next_snippet = next_snippet,
		.gone = snippet_gone,
		.data = &asked,
		.code = code,
		.max = FRAMES + 1,
	};

	modules_update(false);
	unwind_walk(&u);
	if (u.end > UNWIND_OUTERMOST)
		u.count--;
	for (size_t i = 0; i < u.count; i++)
		path->pc[i] = modules_address(code[FRAMES - i] & ~UNWIND_EXACT);
	path->count = u.count;
	oracle.guessed += u.guessed;
	return u.end;
}

/* What handlers return to, mov $15,%rax; syscall: no frame of anybody's. */
static bool is_trampoline(uintptr_t pc)
{
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct module_map map;

	return modules_find(pc, &map) && map.end - pc > sizeof(code) &&
	       !memcmp((const void *)pc, code, sizeof(code));
}

static bool in_main(uintptr_t pc)
{
	return pc - 1 >= oracle.main_start && pc - 1 < oracle.main_end;
}

/* A coroutine's function returns to where a function of libc begins, which libunwind takes for its caller. */
static bool is_planted(uintptr_t pc)
{
	unw_proc_info_t info;

	return !unw_get_proc_info_by_ip(unw_local_addr_space, pc, &info, NULL) && info.start_ip == pc;
}

static void walk_libunwind(ucontext_t *context, struct path *path)
{
	unw_cursor_t cursor;
	unw_word_t pc;

	path->count = 0;
	if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME))
		return;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) || !pc)
			return;
		if (!is_trampoline(pc))
			path->pc[path->count++] = pc;
	} while (path->count < FRAMES && unw_step(&cursor) > 0);
}

static void note(const char *kind, const struct path *ours, const struct path *theirs, size_t at, int end)
{
	const struct path *paths[2] = {ours, theirs};
	char *text = oracle.notes + oracle.notes_length;
	size_t room = sizeof(oracle.notes) - oracle.notes_length, n;

	if (oracle.notes_count == NOTES || room < 2048)
		return;
	oracle.notes_count++;
	n = (size_t)snprintf(text, room, "# %s %s at frame %zu, end %d", oracle.name, kind, at, end);
	for (int p = 0; p < 2; p++) {
		n += (size_t)snprintf(
			text + n, room - n, "; %s %zu:", p ? "libunwind" : "ours", paths[p]->count);
		for (size_t i = at > 2 ? at - 2 : 0; i < paths[p]->count && i < at + 4; i++) {
			struct module_map map = {0};
			bool known = modules_find(paths[p]->pc[i] - 1, &map) && !map.made;
			const char *module = known ? modules_path(&map) : "?";

			module = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
			n += (size_t)snprintf(
				text + n, room - n, " %s+%lx", module, paths[p]->pc[i] - map.bias);
		}
	}
	oracle.notes_length += n + (size_t)snprintf(text + n, room - n, "\n");
}

static void compare(const struct path *ours, const struct path *theirs, enum unwind_end end)
{
	size_t at = 0, count = theirs->count;

	while (at < ours->count && at < theirs->count && ours->pc[at] == theirs->pc[at])
		at++;
	if (end == UNWIND_OUTERMOST && count && is_planted(theirs->pc[count - 1]))
		count--;
	if (at == ours->count && (end == UNWIND_SNIPPET ? in_main(ours->pc[at - 1]) : at == count)) {
		oracle.same++;
	} else if (at == ours->count && (end == UNWIND_NO_RULE || end == UNWIND_BAD_STACK)) {
		oracle.shorter++;
		note("shorter", ours, theirs, at, (int)end);
	} else if (at == theirs->count) {
		oracle.longer++;
		note("longer", ours, theirs, at, (int)end);
	} else {
		oracle.differ++;
		note("differ", ours, theirs, at, (int)end);
	}
}

/* Once: were it periodic, walks that take longer than the period would leave the program no time. */
static void arm(void)
{
	static const struct itimerspec once = {.it_value = {0, PERIOD_NS}};

	timer_settime(oracle.timer, 0, &once, NULL);
}

/* Both walks of one sample. */
static void judge(ucontext_t *context, const struct path *ours, enum unwind_end end)
{
	static struct path theirs;
	bool through = false;

	walk_libunwind(context, &theirs);
	oracle.samples++;
	compare(ours, &theirs, end);
	for (size_t i = 0; i < ours->count && !through; i++)
		through = in_main(ours->pc[i]);
	oracle.through += through;
	if (!through && (end == UNWIND_OUTERMOST || end == UNWIND_SNIPPET)) {
		oracle.astray++;
		note("astray", ours, &theirs, ours->count, (int)end);
	}
}

/* libunwind asks for the loader's lock, which a thread that loads may have taken without being its owner yet:
   such a thread is walked by ours alone. */
static bool may_be_loading(void)
{
	return !strcmp(oracle.name, "dlopen") && gettid() != getpid();
}

static void sample(int number, siginfo_t *info, void *context)
{
	static struct path ours;
	static volatile bool busy; /* two threads at once: the second one's sample is not taken */
	enum unwind_end end;

	if (!oracle.running || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		return;
	end = walk_ours(context, &ours);
	if (!may_be_loading())
		judge(context, &ours, end);
	__atomic_clear(&busy, __ATOMIC_RELEASE);
	arm();
}

static void write_all(int fd, const char *text, size_t length)
{
	if (write(fd, text, length) != (ssize_t)length)
		_exit(99);
}

static void finish(void)
{
	char line[512];
	int fd = open(getenv("ORACLE_OUT"), O_WRONLY | O_CREAT | O_APPEND, 0644), n;

	oracle.running = false;
	n = snprintf(line, sizeof(line),
		"%s samples=%lu same=%lu shorter=%lu longer=%lu differ=%lu main=%lu astray=%lu guessed=%lu\n",
		oracle.name, oracle.samples, oracle.same, oracle.shorter, oracle.longer, oracle.differ,
		oracle.through, oracle.astray, oracle.guessed);
	write_all(fd, line, (size_t)n);
	write_all(fd, oracle.notes, oracle.notes_length);
	close(fd);
}

static __attribute__((noinline)) void begin(void)
{
	struct sigaction action = {.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL};

	oracle.snippet.sp = ARCH_CALLER_SP();
	oracle.snippet.ra = (uintptr_t)__builtin_return_address(0);
	store.segment[0] = definitions;
	modules_init();
	if (!strcmp(oracle.name, "dlopen")) /* its cache knows nothing of dlclose */
		unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
	sigaction(SIGNAL, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &oracle.timer))
		_exit(98);
	oracle.running = true;
	arm();
}

/* In the place of main: samples are taken from its first to its last instruction, or nearly so. */
static int watched_main(int argc, char **argv, char **envp)
{
	int result;

	begin();
	result = oracle.main(argc, argv, envp);
	finish();
	return result;
}

typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

__attribute__((visibility("default"))) start_main __libc_start_main;

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_main *next = (start_main *)dlsym(RTLD_NEXT, "__libc_start_main");
	unw_proc_info_t info;

	unsetenv("LD_PRELOAD");
	if (argc < 2 || !getenv("ORACLE_OUT") ||
		unw_get_proc_info_by_ip(unw_local_addr_space, (unw_word_t)watched_main, &info, NULL))
		return next(main, argc, argv, init, fini, rtld_fini, stack_end);
	oracle.name = argv[1];
	oracle.main = main;
	oracle.main_start = info.start_ip;
	oracle.main_end = info.end_ip;
	return next(watched_main, argc, argv, init, fini, rtld_fini, stack_end);
}
