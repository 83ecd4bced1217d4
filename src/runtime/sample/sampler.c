#include "sampler.h"

#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "budget.h"
#include "waits.h"
#include "runtime/arch/arch.h"
#include "runtime/unwind/modules.h"
#include "runtime/unwind/path.h"
#include "runtime/probe/probe.h"
#include "runtime/python/frames.h"
#include "runtime/python/hooks.h"
#include "runtime/python/python.h"
#include "runtime/thread_name.h"
#include "runtime/trace.h"

/* What interrupted the thread. */
struct cause {
	int event; /* number of the metric that overflowed, or -1: the clock */
	uint64_t weight; /* samples that it stands for */
	bool primary; /* counts as hyb_node.samples */
};

#define JITTER_SAMPLES 16u /* how often the period is varied */
#define SAMPLE_STACK \
	8192u /* bytes that a sample may need below the handler's frame: 3,200 measured, and new modules */

static uint32_t module_of(uint64_t entry)
{
	return HYB_CODE_MODULE(entry & ~UNWIND_EXACT);
}

/* A signal that was held back comes in our wrapper's depths: the wrapper is what was called. */
static void trim_wrapper(struct unwind *u)
{
	size_t first = u->max - u->count, last = u->max - 1;

	while (last > first && module_of(u->code[last]) != rt.own_module)
		last--;
	while (last > first && module_of(u->code[last - 1]) == rt.own_module)
		last--;
	if (module_of(u->code[last]) != rt.own_module)
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
		t->loc->partial[path_partial(u->end)] += weight;
	if (!p || !p->state)
		return;
	t->loc->python[HYB_PYTHON_WOVEN] += p->placed ? weight : 0;
	t->loc->python[HYB_PYTHON_LOST] += p->lost ? weight : 0;
	t->loc->python[HYB_PYTHON_UNMATCHED] += p->unmatched ? weight : 0;
	t->loc->python[HYB_PYTHON_RELEASED] += p->placed && !p->has_gil ? weight : 0;
}

static uint32_t walk(struct thread *t, const ucontext_t *context, const struct cause *cause)
{
	struct python_walk python_walk = {0};
	struct unwind u = {.context = context, .python = python_layout() ? &python_walk : NULL};

	path_walk(t, &u);
	count_walk(t, &u, cause->primary ? cause->weight : 0);
	if (t->in_blocking_call || t->in_watched_call)
		trim_wrapper(&u);
	return path_intern(t, &u);
}

uint32_t sampler_walk_here(struct thread *t)
{
	struct python_walk python_walk = {0};
	ucontext_t context;
	struct unwind u = {.context = &context, .python = python_layout() ? &python_walk : NULL};

	arch_here(&context);
	path_walk(t, &u);
	trim_wrapper(&u);
	return path_intern(t, &u);
}

bool sampler_was_waiting(const struct thread *t, const ucontext_t *context)
{
	if (t->in_blocking_call)
		return true;
	return arch_system_result(context) == -EINTR ? arch_behind_system_call(context)
						     : arch_before_system_call(context);
}

/*
 * The signal came in a call that is watched. Behind the system call it may have cut that short. Where the
 * kernel would begin it again, since our handler is the first of those that run now, the program's say no.
 */
static void cut_call(struct thread *t, ucontext_t *context)
{
	if (arch_behind_system_call(context))
		t->call_cut = true;
	else if (arch_before_system_call(context) && signal_ends_calls(&context->uc_sigmask))
		arch_end_system_call(context, -EINTR);
}

uint32_t sampler_random(struct thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return t->random;
}

/* -ln(u) for u in (0, 1]: the mean of the intervals times that is the next one. */
uint64_t sampler_interval(struct thread *t, uint64_t mean)
{
	uint32_t u = sampler_random(t);
	int halvings = __builtin_clz(u);
	double m = (double)(u << halvings) * 0x1p-31, y = (m - 1) / (m + 1), y2 = y * y; /* 1 <= m < 2 */
	double ln_m = 2 * y * (1 + y2 * (1.0 / 3 + y2 * (1.0 / 5 + y2 / 7)));
	double x = (halvings + 1) * 0.6931471805599453 - ln_m;

	return 1 + (uint64_t)(x * (double)mean);
}

/* Varies the period by up to an eighth, so that it does not beat with the program. */
static void add_jitter(struct thread *t)
{
	rt_source(t)->set_period(t, t->period - t->period / 8 + sampler_random(t) % (t->period / 4 + 1));
}

static void record(struct thread *t, uint32_t node, uint64_t now, uint64_t cpu, const struct cause *cause)
{
	uint64_t mono = runtime_anchor(1), ran = cpu - t->last_cpu, passed = mono - t->last_mono;
	struct trace_sample sample = {
		.now = now,
		.node = node,
		.first = !(t->top->skipped & HYB_OPEN_SAMPLED),
		.since = now - t->top->enter,
		.blocked = passed > ran ? passed - ran : 0,
		.weight = cause->weight,
		.overflow = cause->event < 0 ? 0 : metrics_event_index((unsigned)cause->event) + 1,
	};

	if (cause->primary) {
		node_at(node)->samples += cause->weight;
		t->loc->samples += cause->weight;
	}
	if (cause->event >= 0)
		metrics_overflow(node, (unsigned)cause->event, cause->weight);
	if (rt.metrics) {
		metrics_read(t);
		metrics_publish(t);
		sample.entered = metrics_entered(t);
	}
	waits_sampled(t, node, cpu, mono);
	t->node->ran += ran;
	t->top->skipped |= HYB_OPEN_SAMPLED;
	t->loc->cpu = t->last_cpu = cpu;
	t->loc->last = now;
	t->last_mono = mono;
	trace_sample(t, &sample);
}

/* One sample of a thread that is ready. */
static void take(
	struct thread *t, const siginfo_t *info, const ucontext_t *context, uint64_t now, struct cause *cause)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool clock = cause->event < 0;
	uint32_t node;

	if (clock) {
		cause->weight = rt_source(t)->weigh(t, &(struct interrupt){info, context, cpu});
		if (!cause->weight) {
			budget_count(t, clock_tick() - now, cpu, cause->event);
			budget_keep(t, t->loc->source == HYB_SOURCE_WALL ? t->last_mono : cpu);
			return;
		}
	}
	modules_update(false);
	hooks_install();
	thread_name_look(t, now);
	node = walk(t, context, cause);
	if (!node) {
		t->loc->dropped[HYB_DROP_NO_SPACE]++;
		return;
	}
	record(t, node, now, cpu, cause);
	budget_count(t, clock_tick() - now, cpu, cause->event);
	budget_keep(t, t->loc->source == HYB_SOURCE_WALL ? t->last_mono : cpu);
	if (!cause->primary)
		return;
	t->loc->taken++;
	if (clock && rt_source(t)->jitter && t->loc->taken % JITTER_SAMPLES == 0)
		add_jitter(t);
}

/* False: the overflow of a descriptor that is gone. */
static bool find_cause(struct thread *t, const siginfo_t *info, struct cause *ret)
{
	*ret = (struct cause){.event = -1, .primary = true};
	if (likely(!rt.events) || info->si_code == SI_TIMER || info->si_fd == t->perf_fd) {
		budget_interrupt(t, -1);
		return true;
	}
	ret->event = events_find(t, info->si_fd);
	if (ret->event < 0)
		return false;
	budget_interrupt(t, ret->event);
	ret->primary = t->loc->source == HYB_SOURCE_EVENT && ret->event == 0;
	return true;
}

/*
 * Not before the sample is taken, or is not to be taken at all: what was dropped in a probe is made up for by
 * the next. False: an overflow whose samples were taken before.
 */
static bool weigh(struct thread *t, struct cause *cause)
{
	if (cause->event < 0)
		return true;
	cause->weight = events_weight(t, (unsigned)cause->event);
	return cause->weight;
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
	uintptr_t sp = arch_sp(context);

	if (sp <= t->busy_sp || t->busy_sp < t->stack_lo || sp > t->stack_hi)
		return false;
	thread_ready(t);
	return true;
}

bool sampler_has_room(const struct thread *t)
{
	return !thread_on_stack(t) || (uintptr_t)__builtin_frame_address(0) - t->stack_lo > SAMPLE_STACK;
}

/* What is dropped is not made up for. */
static void drop(struct thread *t, const siginfo_t *info, enum hyb_drop why)
{
	t->loc->dropped[why]++;
	t->clock.last = 0;
	if (info->si_code == SI_TIMER && rt_source(t)->missed)
		rt_source(t)->missed(t);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	uint64_t now = clock_tick();
	int saved = errno;
	struct thread *t = self;
	struct cause cause;

	if (t && t->in_watched_call && sampler_sent(info))
		cut_call(t, context);
	if (!sampler_sent(info)) {
		foreign_signal(sig, info, context);
	} else if (!t || !t->armed) {
		/* The last one of a thread that is ending. */
	} else if (!find_cause(t, info, &cause)) {
		/* Of a descriptor that is gone. */
	} else if (atomic_load_explicit(&rt.yielded, memory_order_relaxed)) {
		t->loc->dropped[HYB_DROP_STOPPED]++;
		signal_yield_thread(t, context);
	} else if (t->state == THREAD_BUSY && !was_abandoned(t, context)) {
		drop(t, info, HYB_DROP_IN_PROBE);
	} else if (!atomic_load_explicit(&rt.on, memory_order_relaxed)) {
		t->loc->dropped[HYB_DROP_STOPPED]++;
		sampler_stop(t);
		t->state = THREAD_STOPPED;
	} else if (!sampler_has_room(t)) {
		drop(t, info, HYB_DROP_NO_STACK);
	} else {
		uintptr_t busy_sp = t->busy_sp; /* of a probe that has not set its state yet */

		if (t->state == THREAD_PENDING && thread_busy(t))
			thread_ready(t);
		follow_pause(t);
		if (!weigh(t, &cause)) {
			/* Its samples were taken before. */
		} else if (t->state == THREAD_PAUSED) {
			drop(t, info, HYB_DROP_PAUSED);
			t->last_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		} else if (thread_busy(t)) {
			take(t, info, context, now, &cause);
			thread_ready(t);
		}
		t->busy_sp = busy_sp;
	}
	errno = saved;
}

static const struct source *choose(void)
{
	if (!rt.set.rate)
		return rt.events ? &source_event : NULL;
	switch (rt.set.source) {
	case HYB_SOURCE_WALL:
		return &source_wall;
	case HYB_SOURCE_TIMER:
		return &source_timer;
	case HYB_SOURCE_CPU_TIMER:
		return &source_cpu_timer;
	case HYB_SOURCE_TASK_CLOCK:
		return &source_task_clock;
	default:
		return &source_auto;
	}
}

/* "Go\0\0" in a note: an object made by Go's linker. */
static int has_go(
	struct dl_phdr_info *info, size_t size __attribute__((unused)), void *data __attribute__((unused)))
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(ElfW(Nhdr)) + 4) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;

			if (note->n_namesz == 4 && !memcmp(note + 1, "Go", 4))
				return 1;
			at += sizeof(*note) + ((note->n_namesz + 3u) & ~3u) + ((note->n_descsz + 3u) & ~3u);
		}
	}
	return 0;
}

void sampler_init(void)
{
	/* Goroutines' stacks have no room for a signal; threads of Go have a stack for those. */
	rt.small_stacks = dl_iterate_phdr(has_go, NULL);
	rt.source = choose();
	store.header->source = rt.source ? rt.source->id : HYB_SOURCE_NONE;
}

void sampler_install(struct thread *t)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (rt.small_stacks)
		action.sa_flags |= SA_ONSTACK;
	/* Nothing of the program's runs on top of it, from where it could jump away. */
	sigfillset(&action.sa_mask);
	/* On the last bytes of a stack our own frame may be what overflows it: that is the program's signal.
	 */
	sigdelset(&action.sa_mask, SIGSEGV);
	if (rt.source)
		signal_take_over(t, &action);
}

int sampler_fall_back(struct thread *t, int error)
{
	if (error == -EACCES || error == -EPERM || error == -ENOSYS) {
		if (!atomic_exchange(&rt.perf_denied, true))
			store_note(HYB_NOTE_INFO,
				"perf_event_open is not permitted here: samples come from a timer");
		store.header->source = HYB_SOURCE_TIMER;
	} else if (!atomic_exchange(&rt.perf_short, true)) {
		store_note(HYB_NOTE_WARNING,
			"the kernel gave no task clock to some threads (out of descriptors?): their samples "
			"come from a timer, which is less true of threads that sleep");
	}
	t->loc->source = HYB_SOURCE_TIMER;
	return source_timer.start(t, t->period);
}

void sampler_start(struct thread *t)
{
	int error;

	t->period = t->loc->period = rt.cpu_period;
	if (!rt.source || atomic_load(&rt.yielded))
		return;
	t->loc->source = rt.source->id;
	t->period = budget_first_period(t);
	t->armed = true; /* the first signal may come at once */
	if (events_start(t))
		store_note(HYB_NOTE_WARNING,
			"the kernel does not count all metrics that were to take samples, on all threads");
	error = rt.source->start ? rt.source->start(t, t->period) : 0;
	if (error && rt.source == &source_task_clock) /* or out of descriptors */
		error = sampler_fall_back(t, error);
	if (!error)
		return;
	events_stop(t);
	t->armed = false;
	store_note(HYB_NOTE_WARNING, "a thread is not sampled: the kernel gave no timer for it");
}

void sampler_stop(struct thread *t)
{
	if (!t->armed)
		return;
	t->armed = false;
	events_stop(t);
	if (rt_source(t)->stop)
		rt_source(t)->stop(t);
}
