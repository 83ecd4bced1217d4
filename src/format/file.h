/* The header of a .hyb file, and the head of its chunks. */
#ifndef HYB_FORMAT_FILE_H
#define HYB_FORMAT_FILE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define HYB_MAGIC "HYBRID\r\n" /* eight bytes, without the final NUL */
#define HYB_VERSION_MAJOR 1
#define HYB_VERSION_MINOR 7

#define HYB_PAGE 4096u /* chunks begin and end on multiples of this */
#define HYB_SEGMENT (1u << 20) /* no chunk crosses a multiple of this */
#define HYB_NODE_SIZE 64u

/* A pair of readings of the same moment on two clocks. */
struct hyb_anchor {
	uint64_t tick; /* the process's tick clock */
	uint64_t mono; /* CLOCK_MONOTONIC, nanoseconds */
};

enum hyb_clock {
	HYB_CLOCK_MONOTONIC = 1, /* a tick is a nanosecond of CLOCK_MONOTONIC */
	HYB_CLOCK_TSC = 2, /* a tick is 2^clock_shift cycles of the time stamp counter */
};

enum hyb_source {
	HYB_SOURCE_NONE = 0, /* no sampling asked for, or none possible */
	HYB_SOURCE_CPU_TIMER = 1, /* POSIX timer on the thread's CPU clock: rides on the tick */
	HYB_SOURCE_TASK_CLOCK = 2, /* perf_event software task clock */
	HYB_SOURCE_TIMER = 3, /* POSIX timer on CLOCK_MONOTONIC, samples while running count */
	HYB_SOURCE_WALL = 4, /* the same timer, samples while blocked count too */
	HYB_SOURCE_EVENT = 5, /* no clock: the overflow of the first metric that has a period. Since 1.3 */
};

enum hyb_state {
	HYB_STATE_RUNNING = 1, /* also what a killed process leaves behind */
	HYB_STATE_EXITED = 2, /* exit handlers ran */
	HYB_STATE_EXEC = 3, /* replaced by another image */
	HYB_STATE_STOPPED = 4, /* the measurement ended early (no space ...); a NOTE has the reason */
};

/* Kinds of probes whose cost differs from probe_cost. Since 1.4, append only. */
enum hyb_probe_kind {
	HYB_PROBE_SKIPPED = 0, /* of a demoted region: only counted */
	HYB_PROBE_FUNCTION = 1, /* made by the compiler (-finstrument-functions) */
	HYB_PROBE_FUNCTION_SKIPPED = 2,
	HYB_PROBE_FUNCTION_LEFT_OUT = 3, /* the filter excludes the function */
	HYB_PROBE_PYTHON = 4, /* a function of Python, by a hook; how much the hook slows the interpreter down
				 is in it */
	HYB_PROBE_PYTHON_SKIPPED = 5,
	HYB_PROBE_PYTHON_LEFT_OUT = 6,
	HYB_PROBE_COUNT = 7
};
#define HYB_PROBE_SLOTS 8

/*
 * The first page of the file. A file of several processes (`processes` is not 0, since 1.2) has only
 * magic, version, sizes, `claimed`, `processes` and host there; each process has this structure again,
 * whole but for `claimed`, in a PROCESS chunk of its own.
 */
struct hyb_header {
	char magic[8];
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t header_size; /* bytes of this structure */
	uint64_t claimed; /* file bytes handed out so far; atomic, any thread */
	uint32_t pid;
	uint32_t ppid;
	uint32_t image; /* 0 for the first program of this pid, +1 for each exec */
	uint32_t clock; /* enum hyb_clock */
	uint32_t clock_shift;
	uint32_t state; /* enum hyb_state */
	struct hyb_anchor first; /* at start */
	struct hyb_anchor last; /* renewed while running; ticks to time by the line through both */
	uint64_t realtime; /* CLOCK_REALTIME at `first`, nanoseconds */
	uint64_t end; /* tick of the end, 0 while unknown */
	uint64_t trace_limit; /* bytes of trace chunks allowed */
	uint64_t trace_bytes; /* bytes of trace chunks claimed so far */
	uint64_t trace_stopped; /* tick at which the limit was reached, or 0 */
	uint32_t source; /* enum hyb_source, as asked for or chosen */
	uint32_t rate; /* samples a second asked for (0: no sampling) */
	uint32_t trace_events; /* 1: region enter and leave are in the trace (--trace) */
	uint32_t budget; /* handler CPU allowed, in 1/1000 of the thread's CPU time */
	uint64_t threads; /* locations begun */
	uint64_t threads_lost; /* threads that could not be measured */
	uint64_t regions_lost; /* region names that came after the table was full */
	uint64_t names_cut; /* names that were longer than HYB_NAME_MAX */
	uint64_t probe_cost; /* calibrated ticks of 1024 enter+leave pairs, 0 if not known */
	char host[64]; /* NUL-terminated */
	/* Since 1.2 */
	uint64_t clock_domain; /* processes with the same value read the same CLOCK_MONOTONIC; 0: not known */
	uint32_t processes; /* a file of several: how many have begun there; atomic, any process */
	uint32_t reserved;
	/* Since 1.4 */
	uint64_t call_cost[HYB_PROBE_SLOTS]; /* by enum hyb_probe_kind: ticks of 1024 calls; 0: not known */
	/* `cpu_` is CPU time in ns, of the whole process since its fork; 0: not known */
	uint64_t pid_namespace; /* inode of the namespace that `pid` is of; 0: not known */
	uint64_t cpu_start; /* when the runtime began in this image */
	uint64_t cpu_ready; /* when it had begun */
	uint64_t cpu_end; /* at the image's end */
	uint64_t cpu_children; /* then, of ended children that the process waited for, with theirs */
	uint64_t cpu; /* the CPU clock of the thread that ended the process or executed another program, ns */
};
static_assert(sizeof(struct hyb_header) <= HYB_PAGE, "the header is one page");

#define HYB_NAME_MAX 1023 /* bytes of a name that are kept */

#define HYB_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

enum hyb_chunk_kind {
	HYB_CHUNK_DEFS = 1, /* definitions: struct hyb_def ... */
	HYB_CHUNK_LOCATION = 2, /* one struct hyb_location, then its region stack */
	HYB_CHUNK_NODES = 3, /* struct hyb_node[], from HYB_NODES_START */
	HYB_CHUNK_TRACE = 4, /* struct hyb_trace_start, then records */
	HYB_CHUNK_STACK = 5, /* struct hyb_open[]: continuation of a region stack */
	HYB_CHUNK_PROCESS = 6, /* struct hyb_header of one of several processes (since 1.2) */
	HYB_CHUNK_WIDE_NODES = 7, /* struct hyb_wide, then nodes with values behind each (since 1.3) */
	HYB_CHUNK_METRICS = 8, /* struct hyb_metrics, then values of open regions (since 1.3) */
};

/*
 * Every chunk begins so, at a multiple of HYB_PAGE. A claimed chunk whose
 * header is still zero is skipped page by page.
 */
struct hyb_chunk {
	uint32_t magic; /* written last */
	uint16_t kind; /* enum hyb_chunk_kind */
	uint16_t process; /* 1, 2 ... in a file of several processes; 0 in the file of one (since 1.2) */
	uint32_t size; /* bytes with this header, a multiple of HYB_PAGE, at most HYB_SEGMENT */
	uint32_t location; /* id of the location it belongs to; 0 for the process */
	uint64_t used; /* bytes in use with this header; only grows, published after the data */
	uint64_t serial; /* TRACE, NODES and METRICS: 0, 1, 2 ... in the order of the location's chunks */
};
static_assert(sizeof(struct hyb_chunk) == 32, "chunk header");

#endif
