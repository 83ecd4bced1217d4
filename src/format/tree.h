/* Locations and their call trees: what the chunks LOCATION, STACK, METRICS and NODES are made of. */
#ifndef HYB_FORMAT_TREE_H
#define HYB_FORMAT_TREE_H

#include "format/def.h"
#include "format/file.h"

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
	HYB_COST_WAIT = 4, /* recording where it waited. Since 1.7 */
	HYB_COST_COUNT = 5
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
	uint32_t ready_known; /* 1: `ready` was measured; since 1.7 */
	uint64_t ready; /* ns that it wanted a processor and had none; since 1.7 */
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
 * of the calls that carried one each and waited for it (0 where requests did). AWAIT is no part of its
 * thread's time: `count` times a coroutine was suspended in its region, for `inclusive` ticks in all until it
 * went on. Instances that are still open are not in `inclusive`: the region stack has them.
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
		uint64_t waited; /* leaves: ns asleep in calls that ended here; since 1.7 */
		uint64_t sent; /* messages: bytes */
		uint64_t least; /* range: ticks; 0: none yet */
	};
	union {
		uint64_t skipped; /* probes: enters that were only counted (demoted) */
		uint64_t ready; /* leaves: ns without a processor, found here; since 1.7 */
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

#endif
