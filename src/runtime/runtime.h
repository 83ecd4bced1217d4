/*
 * What all of libhybrid.so shares: the settings, the one struct runtime, and
 * the rules of life inside a program that is not ours.
 *
 * Each function of the runtime has a word about who may call it:
 *   async-signal-safe    from the sample handler too
 *   owner thread         by the thread whose struct thread it gets, between
 *                        thread_busy() and thread_ready(), or in its handler
 *   start                before any second thread, or in a fork's child
 *
 * State of the process is `rt`, state of a thread its struct thread, `self`. Beside these there are
 *   - what the files of one part share: store, python, hooks, recursion, real_functions, and
 *     wrap_system_call_target, which is read by assembler
 *   - static variables of one file: its tables, caches, and notes of what was done
 *   - forking and thread_ended, of a thread that has no struct thread, or none any more
 */
#ifndef HYB_RUNTIME_H
#define HYB_RUNTIME_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Orders our memory accesses against our own thread's handler. */
#define signal_barrier() atomic_signal_fence(memory_order_seq_cst)

#define CLOCK_TRIES 8u /* readings of both clocks at a process's start and end */

#define MAX_SEGMENTS 262144u /* of HYB_SEGMENT bytes: 256 GiB, as far as node ids reach */

/* What is done about Python in the process. */
enum python_mode {
	PYTHON_FRAMES = 0, /* samples read the interpreter's frames */
	PYTHON_HOOKS, /* and its functions are probes */
	PYTHON_OFF, /* the interpreter is a native program as any other */
};

/* Whose a file is. */
enum files_mode {
	FILES_AUTO = 0, /* a node's where that spares the file system much, else a process's */
	FILES_PROCESS,
	FILES_NODE,
};

/* HYBRID_OPTIONS, as hybrid-run writes it; see settings.c for the keys. */
struct settings {
	unsigned rate; /* samples a second; 0: none */
	enum hyb_source source; /* HYB_SOURCE_NONE: choose */
	bool trace_events;
	uint64_t trace_limit; /* bytes */
	unsigned budget; /* CPU of samples, 1/1000 */
	unsigned interrupt_ns,
		signal_ns; /* CPU of an interrupt with its signal, and of that alone, without handler */
	unsigned switch_ns; /* CPU that a context switch takes more with a task clock */
	uint64_t demote_calls; /* 0: never demote */
	uint64_t demote_ns;
	int signal;
	enum python_mode python;
	enum files_mode files;
	const char *filter; /* path or NULL */
	char name[64]; /* what the program was called by who executed it; "": not known */
	char dir[4096 - 256]; /* absolute path of the experiment */
};

struct runtime {
	struct settings set;
	_Atomic(bool) started; /* runtime_start() was called */
	_Atomic(bool) on; /* measuring; cleared when it has to end early */
	_Atomic(bool) paused; /* by the program */
	_Atomic(bool) attention; /* paused or not on: looked at where each probe ends */
	int pid; /* of the process that the file belongs to */
	uint16_t epoch; /* forks since the program started; upper bits of region keys */
	bool small_stacks; /* signals are taken on the stacks for those, where a thread has one */
	bool counter; /* the tick clock is the processor's counter */
	double tick_ns; /* estimate for thresholds only */
	uint64_t coarse_ns; /* from one value of CLOCK_MONOTONIC_COARSE to the next */
	uint64_t demote_ticks;
	uint16_t trace_shift; /* times in the trace are in units of 2^n ticks */
	uint64_t handler_usual; /* ticks: what a thread's first samples may count for */
	uint64_t cpu_period; /* wanted ns between samples */
	_Atomic(uint64_t)
		affordable_period; /* that the budget left the last thread whose it changed; 0: none */
	unsigned metrics; /* how many; see metrics.h */
	unsigned events; /* of them that take samples */
	uint32_t node_cells; /* HYB_NODE_SIZE bytes of a node with its values */
	uint32_t record_max; /* bytes of the largest trace record */
	_Atomic(uint32_t) next_location;
	_Atomic(uint32_t) next_handle; /* of MPI */
	_Atomic(uint64_t) noted_cpu; /* ns of children whose end was noted, here or in a parent */
	_Atomic(bool) anchor_busy; /* one writer of header->last at a time */
	uint32_t own_module; /* id of this library */
	const struct source *source; /* NULL: no sampling */
	_Atomic(bool) perf_denied,
		perf_short; /* it was reported that there is no task clock, or not for all */
	struct sigaction program_action; /* what the program wants for our signal */
	_Atomic(uint64_t)
		masks_with_ours; /* bit n - 1: the program's handler of signal n blocks our signal */
	_Atomic(bool) program_handles; /* it has handlers of signals that come at any time */
	_Atomic(bool) yielded; /* the signal is the program's now */
	unsigned signalfds; /* the program's descriptors that should give our signal, too */
	struct {
		int fd;
		sigset_t set;
	} signalfd[8];
};

extern struct runtime rt __attribute__((visibility("hidden")));

/*
 * Begins to measure the process, with its main thread. Our constructor does; constructors of libraries that
 * are initialised before us do it earlier, by making a thread. Later calls do nothing.
 */
void runtime_start(void);

/* Reads HYBRID_DIR and HYBRID_OPTIONS. False: this process is not to be measured. start */
bool settings_read(struct settings *set);

/*
 * Ends the measurement for good: one line on stderr, a note in the file, the
 * program goes on. Only the first call speaks. async-signal-safe
 */
void runtime_stop(const char *why);

/* One line "hybrid: TEXT" on stderr. async-signal-safe */
void say(const char *text);

/* Renews the header's last anchor, the best of so many readings; returns CLOCK_MONOTONIC ns.
 * async-signal-safe */
uint64_t runtime_anchor(unsigned tries);

/* Marks the end of the process in the file. async-signal-safe */
void runtime_end(enum hyb_state state);

/* What a process needs before its first location: the file, the module table, the handler. start */
bool runtime_begin(void);

/* All that is done before the program goes on has been done: what came until here is no time of the
 * program's. */
void runtime_ready(void);

#endif
