/*
 * A thread of the program, as the runtime sees it. One struct thread each,
 * found through initial-exec TLS, in memory of its own that a fork wipes: in a
 * child of any kind its state reads THREAD_NONE before anything is touched.
 *
 * Only the owner thread and its own handler use it. Code of ours that changes
 * it runs between thread_busy() and thread_ready(); a handler that finds it
 * busy drops its sample.
 */
#ifndef HYB_THREAD_H
#define HYB_THREAD_H

#include <errno.h>
#include <signal.h>

#include "clock.h"
#include "runtime/metrics/metrics.h"
#include "runtime/mpi/mpi.h"
#include "store.h"

enum thread_state {
	THREAD_NONE = 0, /* not attached (or wiped by a fork) */
	THREAD_READY = 1,
	THREAD_BUSY = 2,
	THREAD_PAUSED = 3, /* as ready, but probes and samples are not recorded */
	THREAD_STOPPED = 4, /* for good */
	THREAD_PENDING = 5, /* as ready, but calls of MPI have still to be recorded: see mpi.c */
};

#define MAX_FRAMES 8192u /* deeper stacks are cut at their outer end; a call in Python can make five */

/* What a thread that left nothing there has for the next one: cleared chunks of the file. */
struct thread_spare {
	struct hyb_chunk *location, *nodes; /* NULL: none */
	uint32_t first_node;
};

struct thread {
	struct thread *next_free; /* see thread_pool.c */
	struct thread_spare spare;
	volatile uint32_t state; /* enum thread_state */
	volatile uintptr_t busy_sp; /* frame of the function that made it busy: gone if the stack is above */
	struct hyb_open *top; /* innermost open region, in the file */
	struct hyb_open *limit; /* last entry of this part of the stack */
	struct hyb_open *base; /* first entry of this part */
	struct hyb_node *node; /* of top */
	struct hyb_location *loc;

	/* the trace chunk in use */
	uint8_t *trace_pos, *trace_end;
	struct hyb_chunk *trace;
	uint64_t trace_tick; /* of the last record */
	uint32_t trace_sample, trace_enter; /* node ids of the last SAMPLE and ENTER */
	uint32_t trace_serial;
	bool trace_lost; /* records are missing since the last chunk */

	/* nodes: a hash table of ids over the mapped structures */
	struct hyb_chunk *node_chunk;
	uint32_t node_serial, node_next_id, node_end_id;
	uint32_t *buckets;
	uint32_t bucket_mask, node_count;

	/* how it was started, see runtime/wrap/thread.c */
	struct {
		void *(*function)(void *);
		int (*c11_function)(void *);
		void *argument;
		size_t stack_size;
		uint32_t maker; /* node of the innermost region in which it was made; 0: not known */
		uint64_t cpu; /* of a thread that ran before: its CPU clock where we began; 0: now */
	} start;
	int destructor_rounds;
	struct {
		uint64_t due; /* tick of the next look at it */
		uintptr_t object; /* Python's, of this thread; 0: not known */
		uint8_t origin; /* see thread_name.c */
	} name;

	/* sampling */
	uint32_t timer; /* kernel timer id, valid if `armed` */
	int perf_fd;
	bool armed;
	bool in_blocking_call; /* a signal that was held back arrives, see runtime/wrap/block.c */
	bool in_watched_call, call_cut; /* not held back, and our signal came in it: see there, too */
	bool blocks_signal; /* the program believes that it blocks our signal */
	uint64_t period; /* ns */
	uint64_t last_cpu, last_mono;
	uint64_t check_clock; /* when the budget was last looked at */
	uint64_t taken; /* samples of all sources */
	uint64_t cause_ns[1 + HYB_METRICS_MAX]; /* of samples since then: for the clock, for each event */
	uint64_t usual_ticks; /* of a sample's handler */
	uint32_t checks_over, checks_under; /* how often in a row it was exceeded, or there was room */
	uint32_t random;
	struct {
		uint64_t last; /* CPU ns at its last interrupt, or where that was due; 0: not known */
		uint64_t interval; /* from there to the next, ns of CPU */
		uint64_t set; /* that the kernel has */
		uint64_t edge; /* ns, CLOCK_MONOTONIC: where a window opens or closes, or the timer was set */
		uint64_t open_cpu; /* ns of CPU where the last window opened */
		uint64_t cycle, next_cycle; /* ns from one window to the next, on average */
		uint64_t look_cpu, look_mono; /* when its switches were last looked at */
		uint64_t switches; /* then */
		uint8_t mode; /* see source_auto.c */
		uint8_t repeats; /* of the interval that are still to come */
		uint8_t shift, next_shift; /* it samples one in 2^n moments, or so much less often */
	} clock; /* of the source */
	struct {
		int fd; /* its schedstat, or -1 */
		uint64_t file; /* its inode */
		bool unknown; /* which cannot be read */
		bool in_call; /* that is timed */
		uint64_t delay; /* ns: schedstat's time on a run queue, when last read */
		uint64_t before; /* ns of it that has no place yet */
		uint64_t cpu, mono; /* ns, at the last look: a sample or a wait that was recorded */
		uint64_t certain; /* ticks from which a wait is always recorded */
		uint32_t every; /* so many short calls will be for one that is measured; 0: none is */
		uint32_t left, drawn; /* calls until the next one, that stands for `drawn` */
		uint64_t credit; /* ns of CPU time to pay for records, each with a period */
		uint64_t paid_cpu, paid_mono; /* ns, where the last one was */
	} waits; /* see sample/waits.c */
	uintptr_t stack_lo, stack_hi;

	/* the last walk, outermost frame first; the handler's scratch */
	uint32_t last_base; /* node below which it hung */
	uint32_t last_count;
	uint64_t keys[MAX_FRAMES], new_keys[MAX_FRAMES];
	uint32_t path[MAX_FRAMES];
	uintptr_t slot[MAX_FRAMES]; /* of frames in new_keys, if they were asked for */

	struct mpi_thread mpi;
	struct metrics_thread metrics;

	uint32_t first_buckets[256];
	struct hyb_open *first_base, *second_base; /* the two parts of the region stack */
};

extern __thread struct thread *self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Memory for a thread about to start; NULL if there is none. Any thread */
struct thread *thread_new(void);
void thread_free(struct thread *t);

/* One after the other, those not in use among them, from *at = 0 on; NULL: all were seen. Any thread */
struct thread *thread_each(uint32_t *at);

/* Whether its code runs on the stack it was given, and not on one of the program's making. Owner thread */
static inline bool thread_on_stack(const struct thread *t)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return sp >= t->stack_lo && sp < t->stack_hi;
}

/* Forgets all: they are the parent's. start */
void thread_forget_all(void);

/* The thread's location and root in the file; `sp` and `ra` as below. False: no room. */
bool thread_locate(struct thread *t, enum hyb_location_kind kind, uintptr_t sp, uintptr_t ra);

/*
 * Begins to measure the calling thread: location, root node, timer. `sp` and
 * `ra` are the snippet of the thread's outermost frame (0: walk to the end of
 * the stack); [lo, hi) the stack. False: the thread runs unmeasured (counted).
 */
bool thread_attach(struct thread *t, uintptr_t sp, uintptr_t ra, uintptr_t lo, uintptr_t hi);

/* Ends it, closing open regions. Owner thread */
void thread_detach(struct thread *t);

/* Called by probes on a thread that is not ready: attaches threads that were not seen starting. */
struct thread *thread_late(void);

/* The open region at this level; 0 is the root. Owner thread */
static inline struct hyb_open *thread_open(const struct thread *t, uint32_t level)
{
	return level < HYB_STACK_FIRST ? &t->first_base[level] : &t->second_base[level - HYB_STACK_FIRST];
}

/* In the place of thread_ready() when rt.attention is set: paused, in the region "(paused)", or stopped. */
void thread_attend(struct thread *t);

/* Makes a THREAD_PENDING one busy, and records what is pending. */
bool thread_catch_up(struct thread *t, uintptr_t frame);

/* Busy until the function with that frame, or a caller of it, makes it ready. */
static inline bool thread_busy_in(struct thread *t, uintptr_t frame)
{
	uint32_t state = t->state; /* read once: a handler makes what is pending ready */

	if (unlikely(state != THREAD_READY))
		return state == THREAD_PENDING && thread_catch_up(t, frame);
	t->busy_sp = frame;
	t->state = THREAD_BUSY;
	signal_barrier();
	return true;
}

/* False: not ready, nothing was done. */
static inline bool thread_busy(struct thread *t)
{
	return thread_busy_in(t, (uintptr_t)__builtin_frame_address(0));
}

static inline void thread_ready(struct thread *t)
{
	signal_barrier();
	t->state = THREAD_READY;
}

/* The calling thread may be about to wait for long: what is pending is recorded. Any time */
static inline void thread_settle(void)
{
	struct thread *t = self;

	if (unlikely(t && t->state == THREAD_PENDING) && thread_busy(t))
		thread_ready(t);
}

#endif
