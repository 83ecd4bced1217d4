#include "sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "modules.h"
#include "nodes.h"
#include "probe.h"
#include "python/frames.h"
#include "python/hooks.h"
#include "python/python.h"
#include "trace.h"
#include "unwind.h"

#define CHECK_SAMPLES 64u /* how often the budget is looked at */
#define MAX_LIFT 4u /* helpers inside one another */
#define JITTER_SAMPLES 16u /* how often the period is varied */

/* Where the walk looks for the next snippet outwards. */
struct snippets {
	const struct thread *t;
	uint32_t level; /* above the next one */
};

static struct unwind_snippet next_snippet(void *data)
{
	struct snippets *s = data;
	const struct hyb_open *open = s->level ? thread_open(s->t, --s->level) : NULL;

	return open ? probe_snippet(open) : (struct unwind_snippet){0, 0, 0};
}

/*
 * The probe was entered by a helper (a timer library, a wrapper in another
 * language) that has returned. From now on its snippet is taken one frame
 * further out where it is entered; this instance makes do with the frame's end.
 */
static void snippet_gone(void *data, uintptr_t sp)
{
	const struct snippets *s = data;
	struct hyb_open *open = thread_open(s->t, s->level);
	struct hyb_node *node = node_at(open->node);

	open->sp = sp;
	open->ra = 0;
	if (node->lift < MAX_LIFT && node->kind != HYB_NODE_ROOT) {
		node->lift++;
		node->flags |= HYB_NODE_LIFTED;
	}
}

static enum hyb_partial partial_of(uint64_t end)
{
	return end == UNWIND_NO_RULE     ? HYB_PARTIAL_NO_RULE
	       : end == UNWIND_BAD_STACK ? HYB_PARTIAL_BAD_STACK
					 : HYB_PARTIAL_TOO_DEEP;
}

/* The node of an entry of a walk. */
static uint32_t intern_entry(struct thread *t, uint32_t parent, uint64_t entry)
{
	if (entry & UNWIND_PYTHON)
		return node_intern(t, parent, HYB_NODE_PYTHON, entry & ~UNWIND_PYTHON);
	if (entry & UNWIND_GAP)
		return node_intern(t, parent, HYB_NODE_PARTIAL, partial_of(entry & ~UNWIND_GAP));
	if (entry & UNWIND_EXACT)
		return node_intern(t, parent, HYB_NODE_LEAF, entry & ~UNWIND_EXACT);
	return node_intern(t, parent, HYB_NODE_CALL, entry);
}

/* The node of the path, below the innermost open region; 0 if there is no room. */
static uint32_t intern_path(struct thread *t, const struct unwind *u)
{
	const uint64_t *code = u->code + u->max - u->count; /* outermost first */
	uint32_t node = t->top->node, same = 0;

	/* Consecutive samples share most of their path. */
	if (node == t->last_base)
		while (same < u->count && same < t->last_count && code[same] == t->keys[same])
			same++;
	t->last_base = node;
	if (same)
		node = t->path[same - 1];
	for (t->last_count = same; t->last_count < u->count && node; t->last_count++) {
		node = intern_entry(t, node, code[t->last_count]);
		t->keys[t->last_count] = code[t->last_count];
		t->path[t->last_count] = node;
	}
	if (!node)
		t->last_base = t->last_count = 0;
	return node;
}

/* A signal that was held back comes in our wrapper's depths: the wrapper is what was called. */
static void trim_wrapper(struct unwind *u)
{
	size_t first = u->max - u->count, last = u->max - 1;

	while (last > first && HYB_CODE_MODULE(u->code[last]) != rt.own_module)
		last--;
	while (last > first && HYB_CODE_MODULE(u->code[last - 1]) == rt.own_module)
		last--;
	if (HYB_CODE_MODULE(u->code[last]) != rt.own_module)
		return;
	if (!(u->code[last] & UNWIND_EXACT))
		u->code[last] = (u->code[last] - 1) | UNWIND_EXACT;
	u->count = last + 1 - first;
	u->max = last + 1;
}

static void count_walk(struct thread *t, const struct unwind *u, uint64_t weight)
{
	const struct python_walk *p = u->python;

	t->loc->frames += u->count;
	t->loc->guessed += u->guessed;
	if (u->end > UNWIND_OUTERMOST)
		t->loc->partial[partial_of(u->end)] += weight;
	if (!p || !p->state)
		return;
	t->loc->python[HYB_PYTHON_WOVEN] += p->placed ? weight : 0;
	t->loc->python[HYB_PYTHON_LOST] += p->lost ? weight : 0;
	t->loc->python[HYB_PYTHON_UNMATCHED] += p->unmatched ? weight : 0;
	t->loc->python[HYB_PYTHON_RELEASED] += p->placed && !p->has_gil ? weight : 0;
}

static uint32_t walk(struct thread *t, const ucontext_t *context, uint64_t weight)
{
	struct python_walk python_walk = {0};
	struct snippets snippets = {t, t->loc->depth};
	struct unwind u = {
		.context = context,
		.next_snippet = next_snippet,
		.gone = snippet_gone,
		.data = &snippets,
		.python = python_layout() ? &python_walk : NULL,
		.thread_lo = t->stack_lo,
		.thread_hi = t->stack_hi,
		.code = t->new_keys,
		.max = MAX_FRAMES,
	};
	uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	if (sp >= t->stack_lo && sp < t->stack_hi) { /* not on a stack of the program's own making */
		u.stack_lo = u.thread_lo = sp;
		u.stack_hi = t->stack_hi;
	}
	unwind_walk(&u);
	count_walk(t, &u, weight);
	if (t->in_blocking_call)
		trim_wrapper(&u);
	return intern_path(t, &u);
}

/* Whether the thread was waiting in the kernel: it stands at or behind a system call that was cut short. */
static bool was_waiting(const struct thread *t, const ucontext_t *context)
{
	const greg_t *regs = context->uc_mcontext.gregs;
	const uint8_t *pc = (const uint8_t *)regs[REG_RIP];

	if (t->in_blocking_call)
		return true;
	if (regs[REG_RAX] == -EINTR)
		return pc[-2] == 0x0f && pc[-1] == 0x05;
	return pc[0] == 0x0f && pc[1] == 0x05;
}

/*
 * A handler that took several times as long as usual was not running all the
 * time: another thread had the core. It counts for four usual ones.
 */
static void count_handler(struct thread *t, uint64_t ticks)
{
	uint64_t most = 4 * t->usual_ticks;

	if (!t->usual_ticks)
		t->usual_ticks = most = rt.handler_usual;
	if (ticks > most)
		ticks = most;
	t->usual_ticks += ticks / 16;
	t->usual_ticks -= t->usual_ticks / 16;
	t->loc->handler_ticks += ticks;
}

/*
 * Halves the rate when handlers take more of the thread's CPU time than allowed,
 * twice in a row: the first samples of a thread pay for page faults and rules.
 */
static void keep_budget(struct thread *t, uint64_t cpu)
{
	uint64_t used = (uint64_t)((double)(t->loc->handler_ticks - t->check_ticks) * rt.tick_ns);
	bool over = used * 1000 > (cpu - t->check_cpu) * rt.set.budget;

	t->checks_over = over ? t->checks_over + 1 : 0;
	if (t->checks_over == 2) {
		t->checks_over = 0;
		t->period *= 2;
		t->loc->slowed++;
		rt_source(t)->set_period(t, t->period);
	}
	t->check_cpu = cpu;
	t->check_ticks = t->loc->handler_ticks;
}

/* Varies the period by up to an eighth, so that it does not beat with the program. */
static void add_jitter(struct thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	rt_source(t)->set_period(t, t->period - t->period / 8 + t->random % (t->period / 4 + 1));
}

static void record(struct thread *t, uint32_t node, uint64_t now, uint64_t cpu, uint64_t weight)
{
	uint64_t mono = runtime_anchor(), ran = cpu - t->last_cpu, passed = mono - t->last_mono;
	struct trace_sample sample = {
		.now = now,
		.node = node,
		.first = !(t->top->skipped & HYB_OPEN_SAMPLED),
		.since = now - t->top->enter,
		.blocked = passed > ran ? passed - ran : 0,
		.weight = weight,
	};

	node_at(node)->samples += weight;
	t->node->ran += ran;
	t->top->skipped |= HYB_OPEN_SAMPLED;
	t->loc->samples += weight;
	t->loc->cpu = t->last_cpu = cpu;
	t->loc->last = now;
	t->last_mono = mono;
	trace_sample(t, &sample);
}

/* One sample of a thread that is ready. */
static void take(struct thread *t, const siginfo_t *info, const ucontext_t *context, uint64_t now)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* In units of the period that was asked for, whatever the budget has made of it. */
	uint64_t weight = t->period / rt.cpu_period;
	uint32_t node;

	if (t->loc->source == HYB_SOURCE_TIMER && was_waiting(t, context)) {
		t->loc->dropped[HYB_DROP_IDLE]++;
		return;
	}
	if (t->loc->source == HYB_SOURCE_WALL)
		weight *= 1 + (uint64_t)info->si_overrun;
	else if (t->in_blocking_call && cpu - t->last_cpu > t->period)
		weight *=
			(cpu - t->last_cpu) / t->period; /* what came while it was held back is one signal */
	modules_update(false);
	hooks_install();
	node = walk(t, context, weight);
	if (!node) {
		t->loc->dropped[HYB_DROP_NO_SPACE]++;
		return;
	}
	record(t, node, now, cpu, weight);
	count_handler(t, clock_tick() - now);
	if (++t->loc->taken % CHECK_SAMPLES == 0)
		keep_budget(t, t->loc->source == HYB_SOURCE_WALL ? t->last_mono : cpu);
	if (rt_source(t)->jitter && t->loc->taken % JITTER_SAMPLES == 0)
		add_jitter(t);
}

/* Follows a pause or its end that another thread began. */
static void follow_pause(struct thread *t)
{
	bool paused = atomic_load(&rt.paused);

	if (t->state == THREAD_STOPPED || paused == (t->state == THREAD_PAUSED))
		return;
	t->state = THREAD_BUSY;
	signal_barrier();
	if (!paused)
		probe_resume(t);
	thread_attend(t);
}

/* Also true for late ones, of a timer that is gone. */
bool sampler_sent(const siginfo_t *info)
{
	return (info->si_code == SI_TIMER && info->si_value.sival_ptr == &rt) ||
	       (info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
}

/* Whether a handler of the program jumped out of the probe that it had interrupted; the thread is ready then.
 */
static bool was_abandoned(struct thread *t, const ucontext_t *context)
{
	uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	if (sp <= t->busy_sp || t->busy_sp < t->stack_lo || sp > t->stack_hi)
		return false;
	thread_ready(t);
	return true;
}

static void handler(int sig, siginfo_t *info, void *context)
{
	uint64_t now = clock_tick();
	int saved = errno;
	struct thread *t = self;

	if (!sampler_sent(info)) {
		foreign_signal(sig, info, context);
	} else if (!t || !t->armed) {
		/* The last one of a thread that is ending. */
	} else if (atomic_load_explicit(&rt.yielded, memory_order_relaxed)) {
		t->loc->dropped[HYB_DROP_STOPPED]++;
		signal_yield_thread(t, context);
	} else if (t->state == THREAD_BUSY && !was_abandoned(t, context)) {
		t->loc->dropped[HYB_DROP_IN_PROBE]++;
	} else if (!atomic_load_explicit(&rt.on, memory_order_relaxed)) {
		t->loc->dropped[HYB_DROP_STOPPED]++;
		sampler_stop(t);
		t->state = THREAD_STOPPED;
	} else {
		follow_pause(t);
		if (t->state == THREAD_PAUSED) {
			t->loc->dropped[HYB_DROP_PAUSED]++;
			t->last_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		} else if (thread_busy(t)) {
			take(t, info, context, now);
			thread_ready(t);
		}
	}
	errno = saved;
}

/* Whether this kernel lets us have a task clock that also runs in system calls. */
static bool task_clock_allowed(void)
{
	struct thread *t = thread_new();
	bool allowed = t && !source_task_clock.start(t, 1000000000u);

	if (allowed)
		source_task_clock.stop(t);
	thread_free(t);
	return allowed;
}

static const struct source *choose(void)
{
	struct timespec tick = {0, 4000000};

	if (!rt.set.rate)
		return NULL;
	if (rt.set.source == HYB_SOURCE_WALL)
		return &source_wall;
	if (rt.set.source == HYB_SOURCE_TIMER)
		return &source_timer;
	if (rt.set.source == HYB_SOURCE_CPU_TIMER)
		return &source_cpu_timer;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick); /* the kernel's tick */
	if (rt.set.source == HYB_SOURCE_NONE && rt.cpu_period >= (uint64_t)tick.tv_nsec * 99 / 100)
		return &source_cpu_timer;
	if (task_clock_allowed())
		return &source_task_clock;
	store_note(HYB_NOTE_INFO, "perf_event_open is not permitted here: samples come from a timer");
	return &source_timer;
}

void sampler_init(void)
{
	rt.source = choose();
	store.header->source = rt.source ? rt.source->id : HYB_SOURCE_NONE;
}

void sampler_install(struct thread *t)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};

	/* Nothing of the program's runs on top of it, from where it could jump away. */
	sigfillset(&action.sa_mask);
	if (rt.source)
		signal_take_over(t, &action);
}

void sampler_start(struct thread *t)
{
	int error;

	t->period = t->loc->period = rt.cpu_period;
	if (!rt.source || atomic_load(&rt.yielded))
		return;
	t->loc->source = rt.source->id;
	t->armed = true; /* the first signal may come at once */
	error = rt.source->start(t, t->period);
	if (error && rt.source == &source_task_clock) { /* out of descriptors, say */
		t->loc->source = HYB_SOURCE_TIMER;
		error = source_timer.start(t, t->period);
	}
	if (!error)
		return;
	t->armed = false;
	store_note(HYB_NOTE_WARNING, "a thread is not sampled: the kernel gave no timer for it");
}

void sampler_stop(struct thread *t)
{
	if (!t->armed)
		return;
	t->armed = false;
	rt_source(t)->stop(t);
}
