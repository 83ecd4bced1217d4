/*
 * Signals: what the program set is what it gets and what it is told, and no
 * call is interrupted that would not be by itself. Each case prints the same
 * bytes with and without a measurement.
 */
#include "work.h"

#include <alloca.h>
#include <errno.h>
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <poll.h>
#include <ucontext.h>
#include <unistd.h>

#define LAST 64

static volatile sig_atomic_t caught[LAST + 1], last_value, sender;

static void note(int number)
{
	caught[number]++;
}

static void note_info(int number, siginfo_t *info, void *context)
{
	caught[number]++;
	last_value = info->si_value.sival_int;
	sender = info->si_pid;
}

static int is_usable(int number)
{
	return number != SIGKILL && number != SIGSTOP && number != 32 && number != 33;
}

static int same_set(const sigset_t *a, const sigset_t *b)
{
	for (int i = 1; i <= LAST; i++)
		if (is_usable(i) && sigismember(a, i) != sigismember(b, i))
			return 0;
	return 1;
}

static void put_set(const char *what, const sigset_t *set)
{
	printf("%s:", what);
	for (int i = 1; i <= LAST; i++)
		if (sigismember(set, i) == 1)
			printf(" %d", i);
	printf("\n");
}

/* What a program finds at its start. */
static void initial(const char *argument)
{
	struct sigaction action;
	sigset_t set;
	stack_t stack;

	CHECK(!sigprocmask(SIG_BLOCK, NULL, &set));
	put_set("blocked", &set);
	CHECK(!sigpending(&set));
	put_set("pending", &set);
	for (int i = 1; i <= LAST; i++)
		if (is_usable(i)) {
			CHECK(!sigaction(i, NULL, &action));
			if (action.sa_handler != SIG_DFL || action.sa_flags)
				printf("%d: %s %x\n", i, action.sa_handler == SIG_IGN ? "ignored" : "handler",
					(unsigned)action.sa_flags);
		}
	CHECK(!sigaltstack(NULL, &stack));
	printf("alternate stack: %d %zu\n", stack.ss_flags, stack.ss_size);
}

static void *blocked_thread(void *argument)
{
	sigset_t all, now;

	sigfillset(&all);
	CHECK(!pthread_sigmask(SIG_BLOCK, NULL, &now));
	CHECK(same_set(&all, &now));
	burn_ms(100);
	CHECK(!pthread_sigmask(SIG_BLOCK, NULL, &now));
	CHECK(same_set(&all, &now));
	return NULL;
}

static void block_all(const char *argument)
{
	sigset_t all, before, now;
	pthread_t thread;

	sigfillset(&all);
	CHECK(!sigprocmask(SIG_SETMASK, &all, &before));
	put_set("before", &before);
	burn_ms(150);
	CHECK(!sigprocmask(SIG_SETMASK, NULL, &now));
	CHECK(same_set(&all, &now));
	CHECK(!sigpending(&now));
	put_set("pending", &now);
	CHECK(!pthread_create(&thread, NULL, blocked_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	raise(SIGUSR1);
	raise(SIGSTKFLT);
	CHECK(!sigpending(&now));
	put_set("pending", &now);
	signal(SIGUSR1, note);
	signal(SIGSTKFLT, note);
	CHECK(!sigprocmask(SIG_SETMASK, &before, &now));
	CHECK(same_set(&all, &now));
	printf("caught %d %d\n", caught[SIGUSR1], caught[SIGSTKFLT]);
	puts("PASS");
}

/* Each signal in turn: set, ask, raise, restore. */
static void handle(int number)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, before, after, now;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, number % LAST + 1);
	CHECK(!sigaction(number, &action, &before));
	CHECK(before.sa_handler == SIG_DFL);
	CHECK(!sigaction(number, NULL, &now));
	CHECK(now.sa_handler == note && (now.sa_flags & ~0x04000000) == SA_RESTART);
	CHECK(same_set(&now.sa_mask, &action.sa_mask));
	CHECK(!raise(number));
	CHECK(!kill(getpid(), number));
	CHECK(caught[number] == 2);
	spin(1, 200000);
	CHECK(signal(number, SIG_IGN) == note);
	CHECK(!raise(number));
	CHECK(caught[number] == 2);
	CHECK(!sigaction(number, &before, &after));
	CHECK(after.sa_handler == SIG_IGN);
}

static void install_all(const char *argument)
{
	struct sigaction action;

	for (int i = 1; i <= LAST; i++)
		if (is_usable(i))
			handle(i);
	CHECK(sigaction(SIGKILL, NULL, &action) == 0);
	action.sa_handler = note;
	CHECK(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
	CHECK(sigaction(65, NULL, &action) == -1 && errno == EINVAL);
	CHECK(signal(0, note) == SIG_ERR && errno == EINVAL);
	puts("PASS");
}

/* A handler for every signal at once, work meanwhile, and none may be called. */
static void none_strays(const char *argument)
{
	struct sigaction action = {.sa_handler = note};

	for (int i = 1; i <= LAST; i++)
		if (is_usable(i))
			CHECK(!sigaction(i, &action, NULL));
	burn_ms(200);
	usleep(100000);
	for (int i = 1; i <= LAST; i++)
		if (caught[i])
			printf("signal %d came %d times\n", i, caught[i]);
	puts("PASS");
}

/* Without a handler the sampler's signal ends the program, as it always did. */
static void default_action(const char *argument)
{
	burn_ms(20);
	puts("last words");
	fflush(stdout);
	kill(getpid(), atoi(argument));
	burn_ms(1000);
	puts("still here");
}

static char other[65536];
static volatile sig_atomic_t on_other;

static void on_stack(int number)
{
	volatile char here = 0;
	stack_t now;

	on_other = &here > other && &here < other + sizeof(other);
	CHECK(!sigaltstack(NULL, &now));
	CHECK(now.ss_flags == SS_ONSTACK);
	burn_ms(50);
}

static void altstack(const char *argument)
{
	stack_t mine = {.ss_sp = other, .ss_size = sizeof(other)}, now;
	struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};

	CHECK(!sigaltstack(&mine, NULL));
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	burn_ms(50);
	CHECK(!raise(SIGUSR1));
	CHECK(on_other == 1);
	CHECK(!sigaltstack(NULL, &now));
	CHECK(now.ss_sp == other && now.ss_size == sizeof(other) && now.ss_flags == 0);
	puts("PASS");
}

#define SMALL 8192 /* SIGSTKSZ when programs could still know it */

static char small[3 * SMALL];

static void on_small_stack(int number)
{
	const struct timespec shortly = {.tv_nsec = 1000};
	struct sigaction action;
	sigset_t now;

	CHECK(!sigprocmask(SIG_BLOCK, NULL, &now));
	CHECK(sigismember(&now, number) == 1 && !sigismember(&now, SIGSTKFLT));
	CHECK(!sigaction(number, NULL, &action));
	CHECK(!sigismember(&action.sa_mask, SIGSTKFLT));
	burn_ms(20);
	CHECK(!nanosleep(&shortly, NULL));
	burn_ms(20);
}

/* Its handler fits there, and no sample beside it: nothing is written below. */
static void small_altstack(const char *argument)
{
	stack_t mine = {.ss_sp = small + 2 * SMALL, .ss_size = SMALL};
	struct sigaction action = {.sa_handler = on_small_stack};

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!raise(SIGUSR1)); /* looks up all functions that it calls */
	action.sa_flags = SA_ONSTACK;
	CHECK(!sigaltstack(&mine, NULL));
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	memset(small, 0x5a, sizeof(small));
	for (int i = 0; i < 5; i++)
		CHECK(!raise(SIGUSR1));
	for (int i = 0; i < 2 * SMALL; i++)
		CHECK(small[i] == 0x5a);
	puts("PASS");
}

static sigjmp_buf overflowed;

static void on_overflow(int number)
{
	siglongjmp(overflowed, 1);
}

static volatile int goes_on = 1;

static NOINLINE int overflow(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return goes_on ? overflow(depth + 1) + frame[0] : 0;
}

/* The stack overflows while samples are taken; the handler on its own stack recovers. */
static void stack_overflow(const char *argument)
{
	stack_t mine = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};

	CHECK(!sigaltstack(&mine, NULL));
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	for (volatile int i = 0; i < 20; i++)
		if (!sigsetjmp(overflowed, 1))
			overflow(0);
	puts("PASS");
}

/* Burns time with `room` bytes left below the frame. */
static NOINLINE void burn_above(char *end, size_t room)
{
	char here;
	volatile char *deep = alloca((size_t)(&here - end) - room);

	*deep = 1;
	burn_ms(15);
}

/* From where only the kernel's frame of a signal and little more have room. */
static void *burn_at_the_end(void *argument)
{
	size_t least = getauxval(AT_MINSIGSTKSZ) + 1536, size;
	pthread_attr_t attributes;
	void *end;

	CHECK(!pthread_getattr_np(pthread_self(), &attributes));
	CHECK(!pthread_attr_getstack(&attributes, &end, &size));
	CHECK(!pthread_attr_destroy(&attributes));
	for (size_t room = least; room <= least + 12288; room += 512)
		burn_above(end, room);
	return NULL;
}

/* What fits the stack without samples fits it with them. */
static void stack_end(const char *argument)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, burn_at_the_end, NULL));
	CHECK(!pthread_join(thread, NULL));
	burn_at_the_end(NULL);
	puts("PASS");
}

static int order[LAST + 1][3];

static void note_order(int number, siginfo_t *info, void *context)
{
	if (caught[number] < 3)
		order[number][caught[number]] = info->si_value.sival_int;
	caught[number]++;
}

static void realtime(const char *argument)
{
	struct sigaction action = {.sa_sigaction = note_order, .sa_flags = SA_SIGINFO};
	sigset_t all, before;

	sigfillset(&all);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		CHECK(!sigaction(i, &action, NULL));
	CHECK(!sigprocmask(SIG_SETMASK, &all, &before));
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		for (int j = 0; j < 3; j++)
			CHECK(!sigqueue(getpid(), i, (union sigval){.sival_int = 100 * i + j}));
	burn_ms(50);
	CHECK(!sigprocmask(SIG_SETMASK, &before, NULL));
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		CHECK(caught[i] == 3);
		for (int j = 0; j < 3; j++)
			CHECK(order[i][j] == 100 * i + j);
	}
	printf("%d signals\n", SIGRTMAX - SIGRTMIN + 1);
	puts("PASS");
}

static void run_signalfd(const char *argument)
{
	struct signalfd_siginfo info;
	struct pollfd wait;
	sigset_t all;

	sigfillset(&all);
	CHECK(!sigprocmask(SIG_SETMASK, &all, NULL));
	wait = (struct pollfd){.fd = signalfd(-1, &all, SFD_CLOEXEC), .events = POLLIN};
	CHECK(wait.fd >= 0);
	burn_ms(100);
	CHECK(poll(&wait, 1, 100) == 0);
	raise(SIGHUP);
	CHECK(!sigqueue(getpid(), SIGSTKFLT, (union sigval){.sival_int = 5}));
	raise(SIGRTMAX);
	for (int i = 0; i < 3; i++) {
		CHECK(read(wait.fd, &info, sizeof(info)) == sizeof(info));
		printf("signal %u value %d\n", info.ssi_signo, info.ssi_int);
	}
	CHECK(poll(&wait, 1, 50) == 0);
	puts("PASS");
}

static void *waits_for_all(void *argument)
{
	const struct timespec shortly = {0, 100000000};
	siginfo_t info;
	sigset_t all;
	int number;

	sigfillset(&all);
	errno = 0;
	CHECK(sigtimedwait(&all, &info, &shortly) == -1);
	printf("nothing came: %s\n", strerror(errno));
	burn_ms(50);
	errno = 0;
	CHECK(sigtimedwait(&all, &info, &shortly) == -1);
	printf("nothing came: %s\n", strerror(errno));
	pthread_kill(pthread_self(), SIGUSR2);
	CHECK(!sigwait(&all, &number));
	printf("sigwait: %d\n", number);
	pthread_kill(pthread_self(), SIGSTKFLT);
	CHECK(sigwaitinfo(&all, &info) == SIGSTKFLT);
	printf("sigwaitinfo: %d code %d own %d\n", info.si_signo, info.si_code, info.si_pid == getpid());
	return NULL;
}

static void sigwait_all(const char *argument)
{
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	CHECK(!sigprocmask(SIG_SETMASK, &all, NULL));
	waits_for_all(NULL);
	CHECK(!pthread_create(&thread, NULL, waits_for_all, NULL));
	CHECK(!pthread_join(thread, NULL));
	puts("PASS");
}

static void burn_until(volatile sig_atomic_t *count, int wanted)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 5000000000;

	while (*count < wanted && clock_ns(CLOCK_MONOTONIC) < end)
		spin(1, 10000);
}

static void own_interval(int which, int number)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}}, none = {{0, 0}, {0, 0}};
	struct itimerval now;

	signal(number, note);
	CHECK(!getitimer((__itimer_which_t)which, &now));
	CHECK(!now.it_interval.tv_sec && !now.it_interval.tv_usec && !now.it_value.tv_usec);
	CHECK(!setitimer((__itimer_which_t)which, &often, &now));
	burn_until(&caught[number], 8);
	CHECK(!setitimer((__itimer_which_t)which, &none, &now));
	CHECK(now.it_interval.tv_usec == 10000);
	printf("signal %d: %s\n", number, caught[number] >= 8 ? "came" : "did not come");
}

static void own_timers(const char *argument)
{
	struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
	const struct itimerspec often = {{0, 5000000}, {0, 5000000}};
	timer_t timer;

	own_interval(ITIMER_REAL, SIGALRM);
	own_interval(ITIMER_PROF, SIGPROF);
	own_interval(ITIMER_VIRTUAL, SIGVTALRM);
	CHECK(!sigaction(SIGRTMIN, &action, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &often, NULL));
	burn_until(&caught[SIGRTMIN], 10);
	CHECK(!timer_delete(timer));
	printf("timer: value %d\n", last_value);
	puts("PASS");
}

static jmp_buf away;

static void jumps(int number)
{
	siglongjmp(away, number);
}

/* Handlers that end by a jump, nest, reset themselves, and leave the mask as they should. */
static void handlers(const char *argument)
{
	struct sigaction action = {.sa_handler = jumps},
			 once = {.sa_handler = note, .sa_flags = SA_RESETHAND};
	sigset_t before, after;

	CHECK(!sigprocmask(SIG_BLOCK, NULL, &before));
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	for (volatile int i = 0; i < 50; i++)
		if (!sigsetjmp(away, 1)) {
			burn_ms(1);
			raise(SIGUSR1);
			puts("not reached");
		}
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &after));
	CHECK(same_set(&before, &after));
	CHECK(!sigaction(SIGSTKFLT, &once, NULL));
	/* One that comes while another of its number is pending is one with it, and that may be a sample's.
	 */
	for (int i = 0; i < 5 && !caught[SIGSTKFLT]; i++)
		raise(SIGSTKFLT);
	CHECK(!sigaction(SIGSTKFLT, NULL, &action));
	printf("reset %d caught %d\n", action.sa_handler == SIG_DFL, caught[SIGSTKFLT]);
	puts("PASS");
}

static void from_child(const char *argument)
{
	struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};
	int status;
	pid_t pid;

	CHECK(!sigaction(SIGSTKFLT, &action, NULL));
	pid = fork();
	if (pid == 0) {
		sigqueue(getppid(), SIGSTKFLT, (union sigval){.sival_int = 77});
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	printf("caught %d value %d from child %d\n", caught[SIGSTKFLT], last_value, sender == pid);
}

/* What is ignored and blocked stays so through exec. */
static void inherit(const char *argument)
{
	sigset_t set;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGSTKFLT, SIG_IGN);
	signal(SIGHUP, note);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGSTKFLT);
	sigaddset(&set, SIGPROF);
	CHECK(!sigprocmask(SIG_SETMASK, &set, NULL));
	raise(SIGUSR2);
	execl("/proc/self/exe", "signals", "initial", NULL);
}

static void keeps_errno(const char *argument)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 300000000;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		errno = 4711;
		spin(1, 200000);
		CHECK(errno == 4711);
	}
	puts("PASS");
}

static void suspend(const char *argument)
{
	const struct itimerval soon = {{0, 0}, {0, 30000}};
	sigset_t but_alarm, before, after;

	signal(SIGALRM, note);
	sigfillset(&but_alarm);
	sigprocmask(SIG_BLOCK, &but_alarm, &before);
	sigdelset(&but_alarm, SIGALRM);
	setitimer(ITIMER_REAL, &soon, NULL);
	burn_ms(60);
	CHECK(!caught[SIGALRM]);
	CHECK(sigsuspend(&but_alarm) == -1 && errno == EINTR);
	CHECK(caught[SIGALRM] == 1);
	sigdelset(&but_alarm, SIGUSR1);
	CHECK(!sigprocmask(SIG_SETMASK, &before, &after));
	CHECK(sigismember(&after, SIGALRM) && sigismember(&after, SIGSTKFLT));
	puts("PASS");
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"initial", initial},
		{"block_all", block_all},
		{"install_all", install_all},
		{"none_strays", none_strays},
		{"default_action", default_action},
		{"altstack", altstack},
		{"small_altstack", small_altstack},
		{"stack_overflow", stack_overflow},
		{"stack_end", stack_end},
		{"realtime", realtime},
		{"signalfd", run_signalfd},
		{"sigwait_all", sigwait_all},
		{"own_timers", own_timers},
		{"handlers", handlers},
		{"from_child", from_child},
		{"inherit", inherit},
		{"keeps_errno", keeps_errno},
		{"suspend", suspend},
	};

	return RUN_CASE(cases, argc, argv);
}
