#include "waits.h"

#include <sys/stat.h>

#include "budget.h"
#include "runtime/arch/arch.h"
#include "runtime/sys.h"
#include "runtime/unwind/modules.h"
#include "sampler.h"

#define CERTAIN_LEAST 20000u /* ns: longer waits are recorded where records are paid for */
#define PAID_NS 100000000u /* of wall time pay for one: ten a second are affordable to any thread */
#define CREDIT_MOST 256u /* records that can be paid for at most, */
#define CREDIT_FIRST \
	16u /* at the begin of a thread: the first records of a process take ten times as long, */
#define FREE 64u /* and from which on all those are recorded */
#define HALVES 6u /* so much less doubles what is long enough: 20 ms at last */
#define UNASKED_NS 1000000u /* off the CPU that a short thread may be for any reason */
#define NOISE_NS 2000u /* reading the clocks takes about as much: nobody waited */

/* ------------------------------------------- what the scheduler knows */

/* The number in front of `*text`, and the blank behind it; -1: there is none. */
static int64_t number(const char **text)
{
	int64_t value = 0;
	const char *p = *text;

	while (*p >= '0' && *p <= '9' && value < INT64_C(1) << 56)
		value = value * 10 + (*p++ - '0');
	if (p == *text || (*p != ' ' && *p != '\n'))
		return -1;
	*text = p + 1;
	return value;
}

/* schedstat's second number, ns; negative: it is not such a file (the program may have used the number
 * again). */
static int64_t read_delay(int fd, ssize_t *ret_size)
{
	char text[80];
	ssize_t size = syscall(SYS_pread64, fd, text, sizeof(text) - 1, 0);
	const char *p = text;
	int64_t ran, delay;

	*ret_size = size;
	text[size > 0 ? size : 0] = '\0';
	ran = number(&p);
	delay = ran < 0 ? -1 : number(&p);
	return delay < 0 || number(&p) < 0 || *p ? -1 : delay;
}

/* 0: it is not open. */
static uint64_t inode_of(int fd)
{
	struct stat status;

	return fd < 0 || fstat(fd, &status) ? 0 : status.st_ino;
}

static void open_schedstat(struct thread *t)
{
	int fd = sys_open("/proc/thread-self/schedstat", O_RDONLY);

	t->waits.fd = fd < 0 ? -1 : sys_move_high(fd);
	t->waits.file = inode_of(t->waits.fd);
	t->waits.unknown = t->waits.fd < 0;
}

void waits_forget(int fd)
{
	ssize_t size;

	if (fd >= 0 && read_delay(fd, &size) >= 0)
		sys_close(fd);
}

uint64_t waits_ready(struct thread *t)
{
	int64_t now = -1;
	ssize_t size = -1;
	uint64_t ready;

	if (t->waits.unknown || !t->waits.every)
		return 0;
	if (t->waits.fd < 0 && t == self)
		open_schedstat(t);
	if (t->waits.fd >= 0)
		now = read_delay(t->waits.fd, &size);
	metrics_own_call(&t->metrics, false, size);
	if (now < (int64_t)t->waits.delay) {
		t->waits.unknown = t == self;
		return 0;
	}
	ready = (uint64_t)now - t->waits.delay;
	t->waits.delay = (uint64_t)now;
	t->loc->ready += ready;
	t->loc->ready_known = 1;
	return ready;
}

/* ---------------------------------------------------------------- waits */

static uint64_t excess(uint64_t passed, uint64_t ran)
{
	return passed > ran ? passed - ran : 0;
}

static uint64_t off_since(const struct thread *t, uint64_t cpu, uint64_t mono)
{
	return excess(mono - t->waits.mono, cpu - t->waits.cpu);
}

/*
 * Which waits are recorded: long ones for certain, and of shorter ones some, that stand for others as well:
 * by chance in proportion to their length, or of brief calls one in `every`. Chance knows nothing of what a
 * wait is, so that sums are right on average. A record is paid for: by a period of CPU time, or by wall time.
 * The less is left, the fewer are taken.
 */
static void draw(struct thread *t)
{
	uint64_t every = t->waits.drawn = t->waits.every;

	/* Whole parts of intervals without memory, of such a mean that one in `every` calls is met. */
	t->waits.left =
		every < 2 ? 1 : 1 + (uint32_t)(sampler_interval(t, 1024 * every - 512 - 85 / every) / 1024);
}

static void choose(struct thread *t)
{
	uint64_t level = t->waits.credit / t->period;
	unsigned shift = level < FREE ? (unsigned)(FREE - level) / HALVES : 0;

	t->waits.certain = (uint64_t)((double)((uint64_t)CERTAIN_LEAST << shift) / rt.tick_ns);
	if (t->waits.every == 1u << shift)
		return;
	t->waits.every = 1u << shift;
	draw(t);
}

static void pay(struct thread *t, uint64_t cpu, uint64_t mono)
{
	uint64_t most = CREDIT_MOST * t->period, passed = mono - t->waits.paid_mono;
	uint64_t paid = passed < CREDIT_MOST * (uint64_t)PAID_NS ? passed * t->period / PAID_NS : most;
	uint64_t credit = t->waits.credit + (cpu - t->waits.paid_cpu) + paid;

	credit = credit < most ? credit : most;
	t->waits.credit = credit > t->period ? credit - t->period : 0;
	t->waits.paid_cpu = cpu;
	t->waits.paid_mono = mono;
	choose(t);
}

void waits_start(struct thread *t)
{
	memset(&t->waits, 0, sizeof(t->waits));
	t->waits.fd = -1;
	if (!rt.source || rt.source->id == HYB_SOURCE_WALL || !rt.cpu_period)
		return;
	t->waits.paid_cpu = t->waits.cpu = t->last_cpu;
	t->waits.paid_mono = t->waits.mono = t->last_mono;
	t->waits.credit = CREDIT_FIRST * t->period;
	choose(t);
	if (!t->start.function && !t->start.c11_function && t->loc->kind == HYB_LOCATION_THREAD) {
		waits_ready(t); /* it has run before */
		t->loc->ready = 0;
	}
}

/* Opening the file takes as long as some threads live. */
static bool ask_at_end(const struct thread *t)
{
	return off_since(t, clock_ns(CLOCK_THREAD_CPUTIME_ID), clock_ns(CLOCK_MONOTONIC)) > UNASKED_NS;
}

void waits_stop(struct thread *t)
{
	if (!t->waits.every)
		return;
	if (t->waits.fd >= 0 || ask_at_end(t))
		waits_ready(t);
	t->waits.every = 0;
	if (t->waits.fd >= 0 && inode_of(t->waits.fd) == t->waits.file)
		sys_close(t->waits.fd); /* the program may have closed all, and used the number again */
}

/* Busy, if this is the thread's own task: a child of vfork() runs with its memory, and has clocks of its own.
 */
static bool begin(struct thread *t)
{
	return t == self && t->waits.every && (uint32_t)syscall(SYS_gettid) == t->loc->tid && thread_busy(t);
}

/* This call will be one of those that stand for short ones. */
void waits_measure(struct wait *wait)
{
	struct thread *t = wait->t;
	int saved = errno;

	wait->t = NULL;
	if (begin(t)) {
		t->waits.before += waits_ready(t);
		*wait = (struct wait){.t = t,
			.every = t->waits.drawn,
			.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID),
			.mono = clock_ns(CLOCK_MONOTONIC)};
		thread_ready(t);
	}
	draw(t);
	errno = saved;
}

struct off {
	uint64_t waited, ready; /* ns */
};

/* So much of what passed since the last look was off the CPU in this call; it was ready as the rest was. */
static struct off part_of(const struct thread *t, uint64_t off, uint64_t all)
{
	uint64_t ready = t->waits.before < all ? t->waits.before : all;

	ready = all ? (uint64_t)((double)ready * (double)off / (double)all) : 0;
	ready = ready < off ? ready : off;
	return (struct off){off - ready, ready};
}

/* What was off the CPU until here is counted. The clocks of samples go on: what runs in a probe is seen by
 * those alone, which know nothing of waits. */
static void look_again(struct thread *t, uint64_t cpu, uint64_t mono)
{
	t->waits.cpu = cpu;
	t->waits.mono = mono;
}

static void add(uint32_t node, const struct off *off, double weight)
{
	struct hyb_node *n = node_at(node);

	if (n->kind != HYB_NODE_LEAF && n->kind != HYB_NODE_PYTHON && n->kind != HYB_NODE_PARTIAL)
		return; /* the probe itself: what it waited follows from its time */
	n->waited += (uint64_t)((double)off->waited * weight);
	n->ready += (uint64_t)((double)off->ready * weight);
}

void waits_sampled(struct thread *t, uint32_t node, uint64_t cpu, uint64_t mono)
{
	struct off off = {0};

	if (!t->waits.every)
		return;
	off.ready = t->waits.before + waits_ready(t);
	if (t->in_watched_call || t->waits.in_call) /* its end will find the clocks begun anew */
		off.waited = excess(off_since(t, cpu, mono), off.ready);
	t->waits.before = 0;
	look_again(t, cpu, mono);
	add(node, &off, 1);
}

void waits_resume(struct thread *t)
{
	int saved = errno;

	if (!t->waits.every)
		return;
	waits_ready(t);
	errno = saved;
	t->waits.before = 0;
	look_again(t, clock_ns(CLOCK_THREAD_CPUTIME_ID), clock_ns(CLOCK_MONOTONIC));
}

/* A handler's stack may have no room for a walk, and that of a coroutine neither: no signal is due there. */
static bool may_walk(const struct thread *t)
{
	stack_t alternate;

	if (t->stack_hi)
		return thread_on_stack(t) && sampler_has_room(t);
	return !sigaltstack(NULL, &alternate) && !(alternate.ss_flags & SS_ONSTACK);
}

/* Records what a call was off the CPU; it stands for so many calls. */
static void record(struct thread *t, const struct off *off, double weight)
{
	uint32_t node;

	t->waits.before -= off->ready < t->waits.before ? off->ready : t->waits.before;
	if (off->waited + off->ready < NOISE_NS || !may_walk(t))
		return;
	modules_update(false);
	node = sampler_walk_here(t);
	if (node)
		add(node, off, weight);
}

static double ns(uint64_t ticks)
{
	return (double)ticks * rt.tick_ns;
}

bool waits_strike(struct thread *t, uint64_t took)
{
	return (uint64_t)sampler_random(t) * t->waits.certain < took << 32;
}

/* What a call stands for that took so long, and is to be recorded. */
static double weight_of(const struct thread *t, uint64_t took)
{
	return took < t->waits.certain ? (double)t->waits.certain / (double)took : 1;
}

static void look(struct thread *t, uint64_t took)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), mono = runtime_anchor(1);
	uint64_t all = off_since(t, cpu, mono);
	double weight = weight_of(t, took), most = ns(took);
	struct off off;

	t->waits.before += waits_ready(t);
	off = part_of(t, (double)all < most ? all : (uint64_t)most, all);
	look_again(t, cpu, mono);
	pay(t, cpu, mono);
	record(t, &off, weight);
}

/*
 * A brief call that is measured, or in which ticks have passed, `passed` ns in all. One that waited for
 * longer than a tick is recorded as others are; a shorter one if it is measured.
 */
static void look_briefly(struct thread *t, const struct wait *wait, uint64_t passed)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), mono = runtime_anchor(1);
	uint64_t all = off_since(t, cpu, mono), most = passed + rt.coarse_ns, off = all < most ? all : most;
	struct off part;

	if (wait->every)
		off = excess(mono - wait->mono, cpu - wait->cpu);
	if (off < rt.coarse_ns && !wait->every)
		return;
	t->waits.before += waits_ready(t);
	part = part_of(t, off < all ? off : all, all);
	if (off < rt.coarse_ns) {
		look_again(t, cpu, mono);
		pay(t, cpu, mono);
		record(t, &part, wait->every);
	} else if (part.waited >= rt.coarse_ns) {
		uint64_t took = (uint64_t)((double)off / rt.tick_ns);
		double weight = weight_of(t, took);

		if (weight > 1 && !waits_strike(t, took))
			return;
		look_again(t, cpu, mono);
		pay(t, cpu, mono);
		record(t, &part, weight);
	}
}

/* The thread is busy, and has been since tick `now`. */
static void end(struct thread *t, uint64_t now)
{
	cost_outside(t, HYB_COST_WAIT, (uint64_t)ns(clock_tick() - now));
	thread_ready(t);
}

void waits_record(const struct wait *wait, uint64_t took)
{
	struct thread *t = wait->t;
	int saved = errno;

	if (begin(t)) {
		look(t, took);
		end(t, wait->begin + took);
	}
	errno = saved;
}

void waits_look(const struct wait *wait, uint64_t passed)
{
	uint64_t now = clock_tick();
	struct thread *t = wait->t;
	int saved = errno;

	if (begin(t)) {
		look_briefly(t, wait, passed);
		end(t, now);
	}
	errno = saved;
}
