/*
 * The layout of a .hyb file: what the runtime writes and the reader decodes.
 *
 * One process writes one file, mapped shared. The file is the memory of the
 * measurement: there is no other copy and no step that "writes the profile".
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
#define HYB_VERSION_MINOR 1

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
};

enum hyb_state {
	HYB_STATE_RUNNING = 1, /* also what a killed process leaves behind */
	HYB_STATE_EXITED = 2, /* exit handlers ran */
	HYB_STATE_EXEC = 3, /* replaced by another image */
	HYB_STATE_STOPPED = 4, /* the measurement ended early (no space ...); a NOTE says why */
};

/* The first page of the file. */
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
};

/*
 * Every chunk begins so, at a multiple of HYB_PAGE. A claimed chunk whose
 * header is still zero is skipped page by page.
 */
struct hyb_chunk {
	uint32_t magic; /* written last */
	uint16_t kind; /* enum hyb_chunk_kind */
	uint16_t reserved;
	uint32_t size; /* bytes with this header, a multiple of HYB_PAGE, at most HYB_SEGMENT */
	uint32_t location; /* id of the location it belongs to; 0 for the process */
	uint64_t used; /* bytes in use with this header; only grows, published after the data */
	uint64_t serial; /* TRACE and NODES: 0, 1, 2 ... in the order of the location's chunks */
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
	HYB_DROP_COUNT = 5
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
};

/* In a LOCATION chunk: the structure at sizeof(struct hyb_chunk), the stack here. */
#define HYB_LOCATION_STACK 1024u
#define HYB_LOCATION_CHUNK 8192u
static_assert(sizeof(struct hyb_chunk) + sizeof(struct hyb_location) <= HYB_LOCATION_STACK, "location");
#define HYB_STACK_FIRST ((HYB_LOCATION_CHUNK - HYB_LOCATION_STACK) / sizeof(struct hyb_open))
#define HYB_STACK_CHUNK 86016u
/* In a STACK chunk entries begin at sizeof(struct hyb_chunk). */
#define HYB_STACK_SECOND ((HYB_STACK_CHUNK - sizeof(struct hyb_chunk)) / sizeof(struct hyb_open))

/* ----------------------------------------------------------------- NODES */

enum hyb_node_kind {
	HYB_NODE_ROOT = 1, /* the thread; key 0 */
	HYB_NODE_REGION = 2, /* key: id (file offset) of the region definition */
	HYB_NODE_FUNCTION = 3, /* a probe named by an address; key: code address */
	HYB_NODE_CALL = 4, /* a frame below: key: return address */
	HYB_NODE_LEAF = 5, /* the frame that was interrupted; key: code address */
	HYB_NODE_PARTIAL = 6, /* what stands between is not known; key: enum hyb_partial */
	HYB_NODE_PYTHON = 7, /* a Python frame; key: HYB_PYTHON(region, line). Since 1.1 */
	HYB_NODE_AWAIT = 8, /* below the region of a coroutine; key 0. Since 1.1 */
};

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
 * child nodes of the first three kinds. AWAIT is no part of its thread's time:
 * `count` times a coroutine was suspended in its region, for `inclusive` ticks
 * in all until it went on. Instances that are still open are not
 * in `inclusive`: the region stack has them.
 */
struct hyb_node {
	uint32_t parent; /* node id; 0 for a root */
	uint32_t hot; /* node id of the child probe entered last; runtime use */
	uint64_t key;
	uint64_t count; /* probes: enters, the skipped ones among them */
	uint64_t inclusive; /* probes: ticks of all instances that were left */
	uint64_t samples; /* samples whose innermost frame is this node */
	uint64_t ran; /* probes: CPU ns between the samples in it and those before them */
	uint64_t skipped; /* probes: enters that were only counted (demoted) */
	uint32_t chain; /* runtime use */
	uint8_t kind; /* enum hyb_node_kind; written last */
	uint8_t flags; /* enum hyb_node_flags */
	uint16_t lift; /* how many frames further out; runtime use */
};
static_assert(sizeof(struct hyb_node) == HYB_NODE_SIZE, "node");
#define HYB_PROBE_NODES_MAX (1u << 20) /* nodes of a location after which probes make no more */
#define HYB_NODES_START 64u /* bytes from the start of a NODES chunk to its first node */

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
 *   ENTER     v ticks, z node id, difference to the last ENTER's
 *   LEAVE     v ticks: of the innermost open region
 *   COMPLETE  v ticks, z node id of the region (difference to the last
 *             SAMPLE's): the instance ended in which samples were taken.
 *             Written only where ENTER and LEAVE are not.
 *   COUNTER   v ticks, v id of the definition / 8, z value
 *             (a double as its 64 bits, byte-swapped, unsigned v)
 *   MARKER    v ticks, v id of the HYB_DEF_TEXT / 8
 *   OTHER     v ticks, v subtype, v length, that many bytes: skip if not known
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
#define HYB_COUNTER_DOUBLE 0x08u

/* The largest record of a fixed kind: tag and four numbers of ten bytes. */
#define HYB_RECORD_MAX 48u

#endif
