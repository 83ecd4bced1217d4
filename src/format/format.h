/*
 * The layout of a .hyb file: what the runtime writes and the reader decodes.
 *
 * One process writes one file, mapped shared; or the processes of a node write
 * one together. The file is the memory of the measurement: there is no other
 * copy and no step that "writes the profile".
 * docs/format.md describes the same bytes in prose, record by record.
 *
 * Rules that hold everywhere:
 *  - little endian; no pointers, only file offsets and ids derived from them;
 *  - a structure never changes its meaning; numbers are never reused;
 *    new chunk kinds and records may be added in a minor version, and a reader
 *    skips those that it does not know;
 *  - zero bytes are "not written yet" wherever they stand;
 *  - a u64 counter is written by one thread only and with one store, so that a
 *    reader in another process sees the value from before or after;
 *  - times are ticks of the process's clock (struct hyb_header, anchors).
 *
 * This header may be included by everybody and depends on nothing of ours.
 */
#ifndef HYB_FORMAT_H
#define HYB_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define HYB_MAGIC "HYBRID\r\n" /* eight bytes, without the final NUL */
#define HYB_VERSION_MAJOR 1
#define HYB_VERSION_MINOR 6

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
	HYB_STATE_STOPPED = 4, /* the measurement ended early (no space ...); a NOTE says why */
};

/* Kinds of probes that cost something else than those of probe_cost. Since 1.4, append only. */
enum hyb_probe_kind {
	HYB_PROBE_SKIPPED = 0, /* of a demoted region: only counted */
	HYB_PROBE_FUNCTION = 1, /* made by the compiler (-finstrument-functions) */
	HYB_PROBE_FUNCTION_SKIPPED = 2,
	HYB_PROBE_FUNCTION_LEFT_OUT = 3, /* the filter excludes the function */
	HYB_PROBE_PYTHON = 4, /* a function of Python, by a hook, with what that takes from the interpreter */
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

/* ------------------------------------------------------------------ DEFS */

enum hyb_def_type {
	HYB_DEF_REGION = 1,
	HYB_DEF_MODULE = 2,
	HYB_DEF_MAP = 3,
	HYB_DEF_METADATA = 4,
	HYB_DEF_NOTE = 5,
	HYB_DEF_COUNTER = 6,
	HYB_DEF_TEXT = 7,
	HYB_DEF_CHILD = 8,
	HYB_DEF_PAD = 9, /* space left at the end of a chunk */
	HYB_DEF_WORLD = 10, /* since 1.2, as those below */
	HYB_DEF_HANDLE = 11,
	HYB_DEF_HANDLE_NAME = 12,
	HYB_DEF_CLOCK = 13,
	HYB_DEF_METRIC = 14, /* since 1.3 */
	HYB_DEF_ENDED = 20, /* since 1.4, as the one below */
	HYB_DEF_PROGRAM = 21,
};

#define HYB_DEF_MAGIC 0x7eedu

/*
 * Definitions are appended by any thread. Size and magic are written at once;
 * `type` is written last. A record that a killed thread left without its
 * magic is passed over by looking for the next magic at multiples of 8.
 * The id of a definition is its file offset.
 */
struct hyb_def {
	uint16_t magic; /* HYB_DEF_MAGIC */
	uint16_t type; /* enum hyb_def_type; 0: not complete */
	uint32_t size; /* bytes with this header, a multiple of 8 */
};

enum hyb_region_kind {
	HYB_REGION_USER = 1,
	HYB_REGION_FUNCTION = 2, /* the region is the whole function that enters it */
	HYB_REGION_LOOP = 3,
	HYB_REGION_PARAMETER = 4, /* name is "key=value"; left with the region above it */
	HYB_REGION_PAUSED = 5, /* the program asked not to be measured */
	HYB_REGION_OVERFLOW = 6, /* stands for all names after the table was full */
	HYB_REGION_DYNAMIC = 7, /* name made at run time; no file, no line */
	HYB_REGION_WAIT = 8, /* the thread waits for another one there (since 1.1) */
	HYB_REGION_PYTHON = 9, /* a function of Python: file and line of its definition (since 1.1) */
	HYB_REGION_MPI = 10, /* a function of MPI; no file, no line (since 1.2) */
	HYB_REGION_OUTSIDE = 11, /* CPU time of no region: the runtime names it; never entered (since 1.4) */
};

/* Strings follow the structures, each with its final NUL, in the order of the lengths. */
struct hyb_def_region {
	struct hyb_def def;
	uint16_t kind; /* enum hyb_region_kind */
	uint16_t name_len; /* without NUL */
	uint16_t file_len;
	uint16_t reserved;
	uint32_t line;
	uint32_t hash; /* of name, file, line and kind; runtime use */
	/* name, file */
};

/*
 * A module is an ELF object; loaded twice at different addresses it is one
 * module and two maps. Ids count from 1; 0 stands for "no module".
 */
struct hyb_def_module {
	struct hyb_def def;
	uint32_t id;
	uint16_t build_id_len; /* bytes, at most 32; 0 if it has none */
	uint16_t path_len;
	uint64_t file_size; /* of the file at run time; 0 if not known */
	int64_t mtime; /* seconds; 0 if not known */
	uint8_t build_id[32];
	/* path; "[vdso]" for the kernel's page */
};

/*
 * Code made at run time, which no file holds: its addresses are as they were (no MAP). Time is cut into
 * slices, since other code may come to the same addresses: each is a module of its own, and code keeps
 * the one in which it was met first. `file_size` is how long /tmp/perf-PID.map was by then. Since 1.5
 */
#define HYB_MADE_PATH "[made at run time]"
struct hyb_made { /* in the place of its build-id */
	uint64_t process; /* the same in all slices of a process, and of no other one of the experiment */
	uint64_t since; /* when the slice began, ns of CLOCK_MONOTONIC */
};
/*
 * METADATA: where the process may have written names of its code: `process` as 16 hexadecimal digits, a
 * blank, and the path of a map or a dump. What is there in the end is kept in the experiment as
 * "code-DIGITS.map", or ".dump".
 */
#define HYB_MADE_KEY "hybrid.code"
#define HYB_MADE_MAP ".map"
#define HYB_MADE_DUMP ".dump"

struct hyb_def_map {
	struct hyb_def def;
	uint32_t module;
	uint32_t reserved;
	uint64_t bias; /* address minus the ELF file's virtual address */
	uint64_t start; /* first mapped address */
	uint64_t end; /* behind the last */
	uint64_t loaded; /* tick */
	uint64_t unloaded; /* tick, 0 while loaded; written later */
};

struct hyb_def_metadata {
	struct hyb_def def;
	uint16_t key_len;
	uint16_t value_len;
	uint32_t reserved;
	/* key, value. Keys that begin with "hybrid." are the runtime's own. */
};

enum hyb_severity { HYB_NOTE_INFO = 1, HYB_NOTE_WARNING = 2, HYB_NOTE_ERROR = 3 };

/* What the runtime has to say, once for each subject. */
struct hyb_def_note {
	struct hyb_def def;
	uint64_t tick;
	uint16_t severity; /* enum hyb_severity */
	uint16_t text_len;
	uint32_t reserved;
	/* text */
};

struct hyb_def_counter {
	struct hyb_def def;
	uint16_t name_len;
	uint16_t unit_len;
	uint32_t type; /* 1: signed integer, 2: IEEE double */
	/* name, unit */
};

/* A text of its own: the text of markers. */
struct hyb_def_text {
	struct hyb_def def;
	uint16_t len;
	uint16_t reserved[3];
	/* text */
};

enum hyb_child_kind { HYB_CHILD_FORK = 1, HYB_CHILD_EXEC = 2 };

/* The process is about to be replaced (path: what it executes). 1.0 writes no FORK: a child names its parent
 * itself. */
struct hyb_def_child {
	struct hyb_def def;
	uint64_t tick;
	uint32_t pid; /* of the child; own pid for exec */
	uint16_t kind; /* enum hyb_child_kind */
	uint16_t path_len;
	/* path */
};

/* The process has waited for a child: how it ended, and what it took. A measured child has a file, too. */
struct hyb_def_ended {
	struct hyb_def def;
	uint64_t tick;
	uint64_t cpu; /* ns, in program and kernel, with that of its own children that it waited for */
	uint32_t pid; /* 0: not known, the C library waited (system(), pclose()) */
	int32_t status; /* as wait() gives it */
};

/* Why a program cannot be measured. */
enum hyb_unmeasured {
	HYB_UNMEASURED_NOT_KNOWN = 0, /* no reason was seen: it may have been measured */
	HYB_UNMEASURED_STATIC = 1, /* statically linked */
	HYB_UNMEASURED_FOREIGN = 2, /* for another kind of processor, or of 32 bits */
	HYB_UNMEASURED_LIBC = 3, /* of another C library */
	HYB_UNMEASURED_RIGHTS = 4, /* it has other rights (setuid, setgid) */
	HYB_UNMEASURED_ENVIRONMENT = 5, /* its environment does not have the runtime in LD_PRELOAD */
	HYB_UNMEASURED_MEMORY = 6, /* it runs in its parent's memory (clone() with CLONE_VM) */
	HYB_UNMEASURED_SANITIZER = 7, /* built with AddressSanitizer; hybrid-run alone sees it */
};

/* A process, this one or a child of it, is about to execute a program, or did. */
struct hyb_def_program {
	struct hyb_def def;
	uint64_t tick;
	uint32_t pid; /* 0: of the shell of system() or popen() */
	uint16_t unmeasured; /* enum hyb_unmeasured */
	uint16_t path_len;
	/* path */
};

/* The process is a rank of an MPI_COMM_WORLD. At most one of a process. */
struct hyb_def_world {
	struct hyb_def def;
	uint64_t identity; /* the same for all its ranks, and for no other world of the experiment */
	uint32_t rank;
	uint32_t size; /* ranks */
	uint32_t threads; /* the level that MPI provides: MPI_THREAD_SINGLE 0 ... MPI_THREAD_MULTIPLE 3 */
	uint32_t flags; /* HYB_WORLD_FOLLOWS; since 1.5 */
	uint64_t tick; /* when MPI was ready */
};

#define HYB_WORLD_FOLLOWS 1u /* the trace has what was sent and received in pauses, as UNMEASURED */

enum hyb_handle_kind { HYB_HANDLE_COMM = 1, HYB_HANDLE_WINDOW = 2, HYB_HANDLE_FILE = 3 };

/*
 * A communicator, window or file of MPI, as one of its processes knows it. Who its members are, all
 * their definitions of that identity tell together.
 */
struct hyb_def_handle {
	struct hyb_def def;
	uint64_t identity; /* the same in all its processes, and of no other handle of the world */
	uint64_t parent; /* identity of the communicator that it was made of; 0: of none */
	uint32_t id; /* 1, 2, 3 ... in the process: what records and nodes name it by */
	uint16_t kind; /* enum hyb_handle_kind */
	uint16_t name_len;
	uint32_t rank; /* of the process in it (inter-communicator: in its own group) */
	uint32_t size; /* processes in it (its own group) */
	uint32_t remote; /* inter-communicator: processes of the other group; else 0 */
	uint32_t group; /* inter-communicator: 0 or 1, which of its two groups is the process's own */
	/* name: of a file its path; else "" or a name that it has from the start */
};

/* It got a name; the last one holds. */
struct hyb_def_handle_name {
	struct hyb_def def;
	uint32_t id; /* of the handle */
	uint16_t name_len;
	uint16_t reserved;
	/* name */
};

/*
 * What this process's CLOCK_MONOTONIC is beside that of rank 0 of its world, by an exchange of
 * messages (written only where clock domains differ): reference = own + offset.
 */
struct hyb_def_clock {
	struct hyb_def def;
	uint64_t mono; /* own clock, ns, at the moment of the best exchange */
	int64_t offset; /* ns */
	uint64_t error; /* ns: half of that exchange's round trip */
	uint32_t reference; /* world rank whose clock it is compared with */
	uint32_t rounds; /* exchanges made */
};

enum hyb_metric_mode {
	HYB_METRIC_COUNT = 1, /* only grows: what a stretch of time did is the difference */
	HYB_METRIC_LEVEL = 2, /* goes up and down: the difference is by how much it rose */
};

enum hyb_metric_flags {
	HYB_METRIC_ESTIMATED = 1, /* counted a part of the time only (multiplexed), and scaled up */
	HYB_METRIC_PROCESS = 2, /* of the whole process, not of the thread that reads it */
	HYB_METRIC_UNEVEN = 4, /* does not grow with CPU time: see struct hyb_metric. Since 1.4 */
};

/*
 * Something that is read, as a signed integer, wherever time is. All metrics of a process are defined
 * before its first location, and hold for all of its locations.
 */
struct hyb_def_metric {
	struct hyb_def def;
	uint64_t period; /* a sample is taken each time it has grown by so much; 0: it takes none */
	uint32_t index; /* 0, 1, 2 ...: its place wherever values stand side by side */
	uint16_t mode; /* enum hyb_metric_mode */
	uint16_t flags; /* enum hyb_metric_flags */
	uint16_t name_len;
	uint16_t unit_len;
	uint16_t text_len;
	uint16_t reserved;
	/* name, unit ("" for plain numbers), a text that says what it is */
};
#define HYB_METRICS_MAX 16u

/* -------------------------------------------------------------- LOCATION */

/* What became of Python's frames in the samples of a thread. Append only. */
enum hyb_python {
	HYB_PYTHON_WOVEN = 0, /* samples with Python frames in their path */
	HYB_PYTHON_LOST = 1, /* samples where the chain of frames broke off: outer ones are missing */
	HYB_PYTHON_UNMATCHED = 2, /* samples with frames whose evaluation was not on the native stack */
	HYB_PYTHON_RELEASED = 3, /* samples of native code that ran without the GIL, below Python frames */
	HYB_PYTHON_COUNT = 4
};
#define HYB_PYTHON_SLOTS 8

/* Why a sample was not recorded. Append only. */
enum hyb_drop {
	HYB_DROP_IN_PROBE = 0, /* it interrupted our own code */
	HYB_DROP_NO_SPACE = 1, /* no room for a node: disk full or address space */
	HYB_DROP_PAUSED = 2, /* the program paused the measurement */
	HYB_DROP_IDLE = 3, /* monotonic timer only: the thread had not run */
	HYB_DROP_STOPPED = 4, /* the measurement has ended */
	HYB_DROP_NO_STACK = 5, /* the thread's stack was nearly full */
	HYB_DROP_COUNT = 6
};
#define HYB_DROP_SLOTS 16

/* Why a path is not complete. The key of a HYB_NODE_PARTIAL. Append only. */
enum hyb_partial {
	HYB_PARTIAL_NO_RULE = 1, /* code without unwind information */
	HYB_PARTIAL_BAD_STACK = 2, /* the rule led outside the stack, or backwards */
	HYB_PARTIAL_TOO_DEEP = 3, /* more frames than are followed */
	HYB_PARTIAL_COUNT = 4
};
#define HYB_PARTIAL_SLOTS 8

/* What probes did wrong, or the runtime did not follow. Append only. */
enum hyb_fault {
	HYB_FAULT_NOT_ENTERED = 0, /* a region was left that was not entered; ignored */
	HYB_FAULT_NOT_LEFT = 1, /* a region was closed because one around it was left */
	HYB_FAULT_TOO_DEEP = 2, /* enters below the deepest region that is followed */
	HYB_FAULT_NESTED = 3, /* probe calls in a signal handler that had interrupted a probe */
	HYB_FAULT_NO_SPACE = 4, /* enters for which there was no room */
	HYB_FAULT_TOO_MANY = 5, /* enters on call paths that came after HYB_PROBE_NODES_MAX (since 1.1) */
	HYB_FAULT_COUNT = 6
};
#define HYB_FAULT_SLOTS 8

/* What became of calls of MPI. Append only. */
enum hyb_mpi_count {
	HYB_MPI_ERRORS = 0, /* calls that returned an error */
	HYB_MPI_INSIDE = 1, /* calls made by MPI itself, or by what it calls back: not recorded */
	HYB_MPI_ABANDONED = 2, /* calls that the program left by a jump or an exception */
	HYB_MPI_UNTRACKED = 3, /* requests that were not followed: no memory for them */
	HYB_MPI_COUNT = 4
};
#define HYB_MPI_SLOTS 8

/* What measuring costs a thread beside its handlers and probes. Since 1.4, append only. */
enum hyb_cost {
	HYB_COST_INTERRUPT = 0, /* a sample's interrupt and signal, outside of the handler */
	HYB_COST_SWITCH = 1, /* context switches of a thread that the kernel counts something for */
	HYB_COST_THREAD = 2, /* its begin and its end */
	HYB_COST_PROCESS = 3, /* begin and end of its process */
	HYB_COST_COUNT = 4
};
#define HYB_COST_SLOTS 8

/* A region that is open now: the entries of the region stack, outermost first. */
struct hyb_open {
	uint64_t enter; /* tick */
	uint64_t sp; /* stack pointer of the function that entered it (the snippet, paper II) */
	uint64_t ra; /* code address in that function; 0: not known any more */
	uint64_t fp; /* its frame pointer register */
	uint32_t node; /* node id */
	uint32_t skipped; /* enters on top of it that were not followed and are still open;
			   * bit 31: samples were taken in this instance */
};
static_assert(sizeof(struct hyb_open) == 40, "open region");
#define HYB_OPEN_SAMPLED 0x80000000u

enum hyb_location_kind {
	HYB_LOCATION_THREAD = 0,
	/* CPU time of a process that stands in no location of a thread: of threads that ended before a sample
	   was taken, below the regions in which they were made. Any thread writes it, one at a time.
	   Since 1.4 */
	HYB_LOCATION_REST = 1,
};

/* A thread, written by that thread only. */
struct hyb_location {
	uint32_t id; /* 1, 2, 3 ... in the process */
	uint32_t tid; /* kernel thread id */
	uint32_t root; /* node id of its root */
	uint32_t depth; /* open regions now, the root among them */
	uint64_t start; /* tick */
	uint64_t end; /* tick; 0 while it runs */
	uint64_t last; /* tick of the last sample or flush */
	uint64_t cpu_start; /* the thread's CPU clock at start, ns */
	uint64_t cpu; /* the same clock at `last` or at the end, ns */
	uint64_t samples; /* recorded */
	uint64_t partial[HYB_PARTIAL_SLOTS]; /* recorded with an incomplete path, by enum hyb_partial */
	uint64_t dropped[HYB_DROP_SLOTS]; /* by enum hyb_drop */
	uint64_t faults[HYB_FAULT_SLOTS]; /* by enum hyb_fault */
	uint64_t frames; /* frames walked */
	uint64_t guessed; /* of them found without unwind information, by a verified guess */
	uint64_t handler_ticks; /* spent in the sample handler */
	uint64_t period; /* ns that one sample stands for: what was asked for */
	uint64_t slowed; /* how often the budget lowered the rate */
	uint64_t events; /* trace records written */
	uint64_t events_lost; /* trace records not written (limit, no space) */
	uint32_t source; /* enum hyb_source that this thread uses */
	uint32_t nodes; /* nodes made */
	char name[64]; /* NUL-terminated; empty if never named */
	uint64_t taken; /* interrupts that made the samples; one may stand for several */
	uint64_t python[HYB_PYTHON_SLOTS]; /* by enum hyb_python; since 1.1 */
	uint64_t mpi[HYB_MPI_SLOTS]; /* by enum hyb_mpi_count; since 1.2 */
	uint64_t cost[HYB_COST_SLOTS]; /* CPU ns, by enum hyb_cost; since 1.4 */
	uint64_t left_out, python_left_out; /* calls of functions that the filter excludes; since 1.4 */
	uint64_t threads; /* REST: how many threads are in it; since 1.4 */
	uint32_t kind; /* enum hyb_location_kind; since 1.4 */
	uint32_t reserved;
};

/* In a LOCATION chunk: the structure at sizeof(struct hyb_chunk), the stack here. */
#define HYB_LOCATION_STACK 1024u
#define HYB_LOCATION_CHUNK 8192u
static_assert(sizeof(struct hyb_chunk) + sizeof(struct hyb_location) <= HYB_LOCATION_STACK, "location");
#define HYB_STACK_FIRST ((HYB_LOCATION_CHUNK - HYB_LOCATION_STACK) / sizeof(struct hyb_open))
#define HYB_STACK_CHUNK 86016u
/* In a STACK chunk entries begin at sizeof(struct hyb_chunk). */
#define HYB_STACK_SECOND ((HYB_STACK_CHUNK - sizeof(struct hyb_chunk)) / sizeof(struct hyb_open))

/*
 * The chunk METRICS of a location in a process that has metrics: behind the chunk header stands this,
 * then, for each level of the region stack, the values where that region was entered (`width` each, level 0
 * is the root). The chunk with serial 0 has the levels below HYB_STACK_FIRST, that with serial 1 (which
 * has the structure again, `last` unused) the others.
 */
struct hyb_metrics {
	uint32_t width; /* metrics of the process */
	uint32_t reserved;
	int64_t last[HYB_METRICS_MAX]; /* values at the last sample, or at the end */
};

/* ----------------------------------------------------------------- NODES */

enum hyb_node_kind {
	HYB_NODE_ROOT = 1, /* the thread; key 0 */
	HYB_NODE_REGION = 2, /* key: id (file offset) of the region definition */
	HYB_NODE_FUNCTION = 3, /* a probe named by an address; key: code address */
	HYB_NODE_CALL = 4, /* a frame below: key: return address */
	HYB_NODE_LEAF = 5, /* the frame that was interrupted; key: code address */
	HYB_NODE_PARTIAL = 6, /* what stands between is not known; key: enum hyb_partial */
	/* A Python frame, or (1.3) one of which only the name is known; key: HYB_PYTHON(region, line).
	   Since 1.1 */
	HYB_NODE_PYTHON = 7,
	HYB_NODE_AWAIT = 8, /* below the region of a coroutine; key 0. Since 1.1 */
	HYB_NODE_MESSAGE = 9, /* below a region of MPI; key: HYB_MESSAGE(). Since 1.2 */
	HYB_NODE_RANGE = 10, /* below a region of MPI: its shortest and longest call; key 0. Since 1.6 */
};

enum hyb_message_op {
	HYB_MESSAGE_SEND = 1, /* a point-to-point message that was sent, or whose sending began */
	HYB_MESSAGE_RECV = 2, /* one that was received */
	HYB_MESSAGE_COLLECTIVE = 3, /* peer: the root, or HYB_PEER_NONE */
	HYB_MESSAGE_PUT = 4, /* one-sided; peer: the target */
	HYB_MESSAGE_GET = 5,
	HYB_MESSAGE_UPDATE = 6, /* accumulate, fetch and add, compare and swap ... */
	HYB_MESSAGE_READ = 7, /* MPI-IO; peer: HYB_PEER_NONE */
	HYB_MESSAGE_WRITE = 8,
};

/*
 * What was communicated in the calls of a region of MPI: the operation, the size class (0 for no bytes, n
 * for 2^(n-1) to 2^n - 1, of the larger of both directions), the handle's id, and the world rank of the peer.
 */
#define HYB_MESSAGE(op, size, handle, peer) \
	((uint64_t)(op) << 58 | (uint64_t)(size) << 52 | (uint64_t)((handle)&0xfffffu) << 32 | \
		(uint32_t)(peer))
#define HYB_MESSAGE_OP(key) ((uint32_t)((key) >> 58))
#define HYB_MESSAGE_SIZE(key) ((uint32_t)((key) >> 52 & 63))
#define HYB_MESSAGE_HANDLE(key) ((uint32_t)((key) >> 32 & 0xfffff)) /* 0: one of too many */
#define HYB_MESSAGE_PEER(key) ((uint32_t)(key))
#define HYB_PEER_NONE 0xffffffffu
/* The peer is of another MPI_COMM_WORLD (spawned, or connected to): this bit, and its rank in the handle. */
#define HYB_PEER_FOREIGN 0x80000000u

/*
 * A frame of Python stands above the native frame of the evaluation that runs
 * it: <module>, PYTHON a, PYTHON b, CALL in the interpreter, LEAF in a library.
 * Its key is its function's region (a HYB_REGION_PYTHON, by its file offset) and the
 * line that it has come to; 0: not known.
 */
#define HYB_PYTHON(region, line) ((uint64_t)(region) / 8 << 24 | (line))
#define HYB_PYTHON_REGION(key) ((uint64_t)(key) >> 24 << 3)
#define HYB_PYTHON_LINE(key) ((uint32_t)((key)&0xffffffu))

/*
 * A code address in a key: the module's id in the upper 16 bits, the ELF
 * virtual address in the lower 48. Module 0: the address as it was.
 */
#define HYB_CODE(module, vaddr) ((uint64_t)(module) << 48 | ((vaddr)&0xffffffffffffu))
#define HYB_CODE_MODULE(key) ((uint32_t)((key) >> 48))
/* A region's file offset; the upper bits count forks, so that a child's keys differ from its parent's. */
#define HYB_REGION_ID(key) ((key)&0xffffffffffffu)
#define HYB_CODE_VADDR(key) ((key)&0xffffffffffffu)

enum hyb_node_flags {
	HYB_NODE_DEMOTED = 1, /* called too often for too little time: later calls were only counted */
	HYB_NODE_LIFTED = 2, /* its snippet is taken further out; runtime use */
};

/*
 * A call-path node; its id is its file offset divided by HYB_NODE_SIZE. A node
 * stands behind its parent in the file and belongs to the parent's location.
 * Times of the first three kinds: exclusive = inclusive - inclusive of the
 * child nodes of the first three kinds. MESSAGE: `count` messages, `inclusive` ticks
 * of the calls that carried one each and waited for it (0 where requests did), `ran`
 * bytes sent, `skipped` bytes received. AWAIT is no part of its thread's time:
 * `count` times a coroutine was suspended in its region, for `inclusive` ticks
 * in all until it went on. RANGE: ticks of single calls that were left, in `least` and `most`. Instances that
 * are still open are not in `inclusive`: the region stack has them.
 */
struct hyb_node {
	uint32_t parent; /* node id; 0 for a root */
	uint32_t hot; /* node id of the child probe entered last; runtime use */
	uint64_t key;
	uint64_t count; /* probes: enters, the skipped ones among them */
	uint64_t inclusive; /* probes: ticks of all instances that were left */
	uint64_t samples; /* samples whose innermost frame is this node */
	union {
		uint64_t ran; /* probes: CPU ns between the samples in it and those before them */
		uint64_t sent; /* messages: bytes */
		uint64_t least; /* range: ticks; 0: none yet */
	};
	union {
		uint64_t skipped; /* probes: enters that were only counted (demoted) */
		uint64_t received; /* messages: bytes */
		uint64_t most; /* range: ticks */
	};
	uint32_t chain; /* runtime use */
	uint8_t kind; /* enum hyb_node_kind; written last */
	uint8_t flags; /* enum hyb_node_flags */
	uint16_t lift; /* how many frames further out; runtime use */
};
static_assert(sizeof(struct hyb_node) == HYB_NODE_SIZE, "node");
#define HYB_PROBE_NODES_MAX (1u << 20) /* nodes of a location after which probes make no more */
#define HYB_NODES_START 64u /* bytes from the start of a NODES chunk to its first node */

/*
 * In a process with metrics nodes are in chunks WIDE_NODES. Behind the chunk header stands this; from
 * HYB_NODES_START each node takes `cells` times HYB_NODE_SIZE bytes: the node, then its values, 64 bits each:
 * for each metric (in the order of `index`), of probes, by how much it grew in all instances that were left,
 * children included; then, for each metric with a period, the samples whose innermost frame is this node
 * that its overflow took. hyb_node.samples are those of the clock, or with HYB_SOURCE_EVENT those of the
 * first metric with a period.
 */
struct hyb_wide {
	uint32_t cells; /* 1 + (metrics + those with a period) / 8, rounded up */
	uint32_t reserved;
};
#define HYB_WIDE_CELLS(values) (1u + ((values) + 7u) / 8u)

/* ----------------------------------------------------------------- TRACE */

/*
 * A trace chunk can be decoded by itself. Behind the chunk header stands this,
 * then records up to `used`. A record is a tag byte and unsigned LEB128
 * numbers ("v") or zigzag-coded signed ones ("z"):
 *
 * Times are differences, in units of 2^shift ticks (of the chunk).
 *
 *   SAMPLE    v time since the last record of this location
 *             z leaf node id, difference to the last SAMPLE's
 *             [HYB_SAMPLE_FIRST]   v time since its region was entered
 *             [HYB_SAMPLE_BLOCKED] v ns the thread did not run since its last sample
 *             [HYB_SAMPLE_WEIGHT]  v how many more samples this one stands for
 *             [HYB_SAMPLE_EVENT]   v index of the metric whose overflow took it (else: the clock)
 *             [HYB_RECORD_METRICS and HYB_SAMPLE_FIRST, without ENTER records] for each metric z:
 *                                  by how much it grew since its region was entered
 *   ENTER     v ticks, z node id, difference to the last ENTER's
 *   LEAVE     v ticks: of the innermost open region
 *   COMPLETE  v ticks, z node id of the region (difference to the last
 *             SAMPLE's): the instance ended in which samples were taken.
 *             Written only where ENTER and LEAVE are not.
 *   COUNTER   v ticks, v id of the definition / 8, z value
 *             (a double as its 64 bits, byte-swapped, unsigned v)
 *   MARKER    v ticks, v id of the HYB_DEF_TEXT / 8
 *   OTHER     v ticks (not with HYB_OTHER_NOW: the time of the last record),
 *             v subtype (enum hyb_other), v length, that many bytes: skip if not known
 *
 * At the end of SAMPLE, ENTER, LEAVE and COMPLETE with HYB_RECORD_METRICS (since 1.3): for each metric
 * z, by how much it grew since the last record that has it. Where there are metrics the first record of
 * a chunk is an OTHER METRICS with their values there.
 *
 * The region of a sample is the nearest probe above its leaf. A sample without
 * HYB_SAMPLE_FIRST is in the same instance as the last sample of that region.
 * Its end is the LEAVE or COMPLETE of that region which follows.
 */
struct hyb_trace_start {
	uint64_t tick; /* base of the first record's difference */
	uint32_t sample; /* base for SAMPLE nodes */
	uint32_t enter; /* base for ENTER nodes */
	uint32_t region; /* node id of the innermost open region at this point */
	uint16_t lost; /* 1: records are missing before this chunk */
	uint16_t shift; /* times of its records are in units of 2^shift ticks, at most 32 */
};

enum hyb_record {
	HYB_RECORD_NONE = 0,
	HYB_RECORD_SAMPLE = 1,
	HYB_RECORD_ENTER = 2,
	HYB_RECORD_LEAVE = 3,
	HYB_RECORD_COMPLETE = 4,
	HYB_RECORD_COUNTER = 5,
	HYB_RECORD_MARKER = 6,
	HYB_RECORD_OTHER = 7,
};
#define HYB_RECORD_KIND 0x07u /* bits of the tag that hold enum hyb_record */
#define HYB_SAMPLE_FIRST 0x08u
#define HYB_SAMPLE_BLOCKED 0x10u
#define HYB_SAMPLE_WEIGHT 0x20u
#define HYB_SAMPLE_EVENT 0x80u /* since 1.3 */
#define HYB_RECORD_METRICS 0x40u /* of SAMPLE, ENTER, LEAVE and COMPLETE; since 1.3 */
#define HYB_COUNTER_DOUBLE 0x08u
#define HYB_OTHER_NOW 0x08u /* since 1.2 */

/*
 * What calls of MPI did (since 1.2), in front of the LEAVE of the call, with its time. Handles are ids of
 * HYB_DEF_HANDLE, peers world ranks or HYB_PEER_*, both as "v" of 32 bits; `bytes` are of one message.
 * A request is a number that its process has not used before; 0 or nothing: there is none, the call waited.
 *
 *   SEND, RECV  v handle, v peer, z tag, v bytes, [v request]
 *               RECV is written when the message is there; SEND when it is on its way
 *   POSTED      v request: a receive began; its RECV has the request
 *   SENT        v request: its sending is complete (the buffer may be used again)
 *   TESTED      v request: asked for, and not complete
 *   CANCELLED   v request
 *   COLLECTIVE  v handle, v root or HYB_PEER_NONE, v bytes sent, v bytes received, [v request]
 *   COLLECTED   v request: the non-blocking collective is complete
 *   PUT, GET, UPDATE  v window, v target, v bytes to it, v bytes from it, [v request]
 *   EPOCH       v window, v target or HYB_PEER_NONE: a synchronisation of the window; the region says which
 *   READ, WRITE v file, v offset + 1 (0: not known), v bytes, [v request]
 *   DONE        v request: a PUT, GET, UPDATE, READ or WRITE is complete
 *   FAILED      v error: what MPI returned
 *
 * And, since 1.3:
 *
 *   METRICS     for each metric z: its value, since its thread began for those that count
 *
 * And of MPI, since 1.4:
 *
 *   CREATED     v handle: the call made it
 *   FREED       v handle
 *
 * And, since 1.5:
 *
 *   UNMEASURED  v subtype, and its numbers: done in a pause, so that what is behind it has its place in
 *               the order. SEND, RECV, POSTED, SENT, CANCELLED, COLLECTIVE, COLLECTED, DONE, FAILED
 */
enum hyb_other {
	HYB_OTHER_SEND = 1,
	HYB_OTHER_RECV = 2,
	HYB_OTHER_POSTED = 3,
	HYB_OTHER_SENT = 4,
	HYB_OTHER_TESTED = 5,
	HYB_OTHER_CANCELLED = 6,
	HYB_OTHER_COLLECTIVE = 7,
	HYB_OTHER_COLLECTED = 8,
	HYB_OTHER_PUT = 9,
	HYB_OTHER_GET = 10,
	HYB_OTHER_UPDATE = 11,
	HYB_OTHER_EPOCH = 12,
	HYB_OTHER_READ = 13,
	HYB_OTHER_WRITE = 14,
	HYB_OTHER_DONE = 15,
	HYB_OTHER_FAILED = 16,
	HYB_OTHER_METRICS = 17,
	HYB_OTHER_CREATED = 18,
	HYB_OTHER_FREED = 19,
	HYB_OTHER_UNMEASURED = 20,
};

/*
 * The largest record that is written: tag, time, two subtypes, length and five numbers of at most ten bytes;
 * and with metrics each of them twice.
 */
#define HYB_RECORD_MAX 80u
#define HYB_RECORD_METRICS_MAX(metrics) (20u * (metrics))

#endif
