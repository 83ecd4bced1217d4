/*
 * The merged call-path profile: probes' exact times, shared out among samples
 * (paper 003, section III.A), one tree over any number of locations, processes
 * and experiments. Knows the reader; knows nothing of printing.
 *
 * The rules (rows T13 to T17). For one location:
 *  - a probe node p has inclusive time I and exclusive time E = I - sum of I of
 *    the probe nodes below it (a probe nested by frames still counts);
 *  - samples on the CPU clock show where the thread ran, not where it was blocked. B = wall time - CPU time
 * of the location is blocked. What frames in p were seen to wait, or to be ready, stands there, cut to the
 * room E - ran, where `ran` is the CPU time that samples saw in p, and to B; the rest of B is given to probes
 * in proportion to the room they have left, and stays with p itself. E without all that is what p ran.
 * Wall-clock samples see all of E, and where no samples were wanted nothing is known to be blocked. Over all
 * locations of a program (with split_locations or split_ranks it is then divided among them: balance.h):
 *  - what a location ran in a probe, if 8 samples or more were to be expected in it, is shared out
 *    among its own samples in it (whose nearest probe it is): n of N samples at a
 *    node carry n/N of it, whatever rate of samples other threads have had;
 *  - what locations ran there for less is summed, and shared out among all their
 *    samples: a thread that lived too short to be sampled so counts where its
 *    like were seen. A sample weighs as much as the period that
 *    it stands for, which differs between runs of different rates;
 *  - this is done for each program and source of samples apart: where a compiler runs is no hint at where a
 * shell does, nor what was taken on the CPU clock how wall time is to be shared out. Locations that were not
 * to be sampled keep what they ran in their probes;
 *  - shares are integers of nanoseconds that add up exactly (each is the
 *    difference of two rounded cumulative sums);
 *  - a probe without samples keeps its E;
 *  - frames between probe and sampled frame are intermediate: exclusive 0.
 * At every node: inclusive = exclusive + blocked + sum of the children's inclusive.
 *
 * Metrics (struct profile_metric) follow the same rules with what they grew by in the place of time:
 *  - nothing is blocked: E of a probe is shared out among its samples, of a metric whose own overflow
 *    took samples among those, of one that accrues with CPU time among the samples that share out time;
 *  - of any other (level, uneven) the values that samples and probes read show where it grew (growth.h);
 * frames between probe and sampled frame may have some of it: what grew between two samples that they are the
 * callers of, and is not known to be of either;
 *  - what goes up and down (level) has its growth at each node, which may be negative: where memory was
 *    taken and given back, not how much was in use;
 *  - what is of the whole process (process_wide) all its threads see at once: it is that of the first of its
 *    threads that take part, so that it counts once; what grew while others ran is where the first one was;
 *  - at every node: inclusive = exclusive + sum of the children's inclusive.
 * Without a clock (HYB_SOURCE_EVENT) time is shared out by the samples of that event, as by those of a CPU
 * clock.
 */
#ifndef HYB_PROFILE_H
#define HYB_PROFILE_H

#include "hybrid/reader.h"

enum profile_mode {
	PROFILE_ROUTINE = 0, /* frames merge by function and file; the sampled leaf keeps its line */
	PROFILE_CALLSITE = 1, /* each call site (function, file, line) is a node of its own */
	PROFILE_FUNCTION = 2, /* as ROUTINE, but a sampled leaf merges with its routine: lines do not show */
};

enum profile_kind {
	PROFILE_ROOT = 1, /* everything below */
	PROFILE_PROBE = 2, /* measured exactly */
	PROFILE_INTERMEDIATE = 3, /* a frame between a probe and a sample */
	PROFILE_LEAF = 4, /* a sampled line */
	PROFILE_INCOMPLETE = 5, /* frames are missing here */
};
extern const struct words profile_kind_words; /* format/words.h */

/* Order of siblings and rows: most first. */
enum profile_sort {
	PROFILE_SORT_INCLUSIVE = 0, /* profile_whole(); what only waited comes behind, longest first */
	PROFILE_SORT_EXCLUSIVE = 1, /* profile_alone() */
	PROFILE_SORT_SAMPLES = 2,
	PROFILE_SORT_CALLS = 3,
};

/*
 * How a time, or (units of that for ns) what a metric grew by, is spread over the ranks.
 * Whole numbers, so that sums do not depend on the order of adding. Ranks that do not have it count as 0.
 */
struct profile_spread {
	unsigned __int128 squares; /* sum of the squares of the ns */
	uint64_t ranks; /* that have it */
	uint64_t total; /* ns */
	uint64_t least, most; /* ns, of those that have it */
	uint32_t least_rank, most_rank; /* where that was; the lowest of several */
};

/* Over `ranks` ranks: mean, ns; least with those that do not have it; standard deviation, ns; and how far the
 * most is above the mean, percent of the mean. */
uint64_t profile_spread_mean(const struct profile_spread *spread, uint64_t ranks);
uint64_t profile_spread_least(const struct profile_spread *spread, uint64_t ranks);
double profile_spread_deviation(const struct profile_spread *spread, uint64_t ranks);
double profile_spread_imbalance(const struct profile_spread *spread, uint64_t ranks);

struct profile_node {
	uint32_t parent; /* index; smaller than the own one; the root's is 0 */
	uint32_t first_child, next_sibling; /* index or 0; sorted by the options */
	uint8_t kind; /* enum profile_kind */
	bool guess; /* no symbol holds the code: as in struct hyb_frame */
	bool demoted;
	bool python; /* a frame of Python; `module` is then its interpreter's */
	bool mpi; /* a function of MPI */
	bool idles; /* no probe is here or above, but a thread or rank: what is blocked here is idle */
	const char *name; /* function, region name, "[incomplete: ...]" */
	const char *file; /* "" if not known */
	const char *module; /* path, "" for regions */
	const char *program; /* that a location or rank runs, at its own node; else NULL */
	unsigned line; /* leaf and call site: the line; probes: the region's line; else 0 */
	unsigned declared; /* frames: line of the function's declaration, 0 if not known; no part of its
			      identity */
	uint64_t calls; /* probes */
	uint64_t skipped; /* probes: calls that were only counted */
	uint64_t samples; /* ended here; for probes: samples without a frame below */
	uint64_t inclusive; /* ns */
	uint64_t exclusive; /* ns, ran (or not sampled) here */
	uint64_t blocked; /* ns, did not run here: waited, or was ready without a processor */
	uint64_t ready; /* ns, that part of it */
	uint64_t idle; /* ns of `inclusive` that are no part of what 100 % is: blocked outside all probes */
	uint64_t idle_alone; /* ns of `blocked`, the same */
	uint64_t messages; /* functions of MPI: sent or received, collectives, one-sided operations, transfers
			    */
	uint64_t sent, received; /* bytes of them */
	uint64_t least, most; /* functions of MPI: ns of their shortest and longest call; 0: not known */
	uint64_t place; /* 0, or: siblings stand in this order, in front of the others */
	uint32_t spread; /* of profile_spreads(), if that was wanted */
};

/* What was read beside time. */
struct profile_metric {
	const char *name, *unit, *description; /* as in struct hyb_metric */
	bool level, process_wide;
	bool estimated; /* in any process */
	bool shared; /* in any: below probes it is shared out as time is, for it accrues with CPU time */
	uint64_t period; /* the longest after which its overflow took samples; 0: it took none */
	uint64_t samples; /* so taken, each in periods */
	uint64_t processes; /* that read it */
};

/* Of a metric at a node. */
struct profile_value {
	int64_t inclusive, exclusive;
	uint64_t samples; /* that its overflow took, and that ended here */
};

/* For what threads waited, as far as the call that waits tells. */
enum profile_wait {
	PROFILE_WAIT_UNKNOWN = 0, /* no call was seen */
	PROFILE_WAIT_MPI = 1,
	PROFILE_WAIT_GIL = 2,
	PROFILE_WAIT_LOCK = 3, /* and conditions, semaphores, joins */
	PROFILE_WAIT_IO = 4,
	PROFILE_WAIT_EVENT = 5, /* poll() and its like */
	PROFILE_WAIT_SLEEP = 6,
	PROFILE_WAIT_CHILD = 7,
	PROFILE_WAITS
};
extern const struct words profile_wait_words; /* format/words.h */

/* The sums over all that was merged which the quality block prints. */
struct profile_quality {
	size_t experiments, processes, locations;
	size_t programs; /* a process runs another one after each exec */
	uint64_t wall; /* ns, from first start to last end */
	uint64_t thread_wall, cpu; /* ns, sums over locations */
	uint64_t taken; /* interrupts; fewer than samples where a rate was lowered, or a thread is sampled in
			   windows */
	uint64_t samples; /* periods that they stand for */
	uint64_t dropped[16], partial[8], faults[8], frames, guessed;
	uint64_t handler_time; /* ns */
	uint64_t probe_calls; /* those of Python and the skipped ones among them */
	uint64_t probe_time; /* ns, estimated: calls times calibrated cost, or by the samples dropped in
				probes; without those below */
	uint64_t skipped_time; /* ns, estimated, of the skipped_calls that are not Python's */
	uint64_t python_calls, python_skipped; /* by hooks */
	uint64_t python_time; /* ns, estimated */
	uint64_t left_out_calls; /* of functions that the filter excludes */
	uint64_t left_out_time; /* ns, estimated */
	uint64_t cost[8]; /* ns, by enum hyb_cost of the format */
	uint64_t slowed, events, events_lost, trace_bytes, file_bytes;
	uint64_t trace_stopped; /* ns after the start of the first process that stopped; 0: none did */
	uint64_t threads_lost, regions_lost, names_cut, demoted_nodes, skipped_calls;
	uint64_t open_regions;
	uint64_t python[8]; /* samples by enum hyb_python of the format */
	uint64_t gil_wait, gil_waits; /* ns that threads waited for Python's GIL, and how often */
	uint64_t blocked; /* ns that anything was blocked, waiting for the GIL apart */
	uint64_t waits[PROFILE_WAITS]; /* ns */
	uint64_t ready; /* ns without a processor */
	uint64_t damage;
	uint64_t ranks; /* processes that are ranks of an MPI_COMM_WORLD */
	uint64_t mpi_calls, mpi_time; /* calls of MPI, ns in them */
	uint64_t mpi[8]; /* calls by enum hyb_mpi_count of the format */
	uint64_t clocks; /* processes whose times were corrected */
	uint64_t clock_error; /* ns, the largest by which a corrected one may be wrong */
	unsigned rate; /* wanted, the highest */
	unsigned sources; /* one bit for each enum hyb_source that a location used: 1 << source */
	double achieved; /* samples a second of CPU (or of wall time, when that was sampled) */
};

/* All that measuring took, ns of CPU time. */
uint64_t profile_cost(const struct profile_quality *quality);

/* Name of the regions, of kind WAIT, in which threads wait for Python's global interpreter lock. */
#define PROFILE_GIL "[waiting for the GIL]"

/* Code whose names are not known. */
struct profile_unresolved {
	const char *module; /* path, "" for code in no module */
	uint64_t addresses; /* different ones */
	uint64_t samples; /* taken at them */
};

/* A function of MPI. */
struct profile_function {
	const char *name;
	uint64_t calls, time; /* ns */
	uint64_t messages, sent, received; /* as in struct profile_node */
	struct profile_spread spread; /* of `time` over ranks */
};

/* A rank of an MPI_COMM_WORLD. */
struct profile_rank {
	uint64_t world; /* identity of that */
	uint32_t rank;
	uint32_t size; /* ranks of the world */
	const char *host;
	uint32_t pid;
	unsigned thread_level; /* 0 single ... 3 multiple */
	uint64_t selected; /* its processes that take part; 0: all below is 0, too */
	uint64_t threads;
	uint64_t wall; /* ns, of the process */
	uint64_t thread_wall, cpu, blocked; /* ns, sums over its threads */
	uint64_t mpi_calls, mpi_time; /* ns */
	uint64_t messages_sent, messages_received; /* point to point */
	uint64_t sent, received; /* bytes, without files */
	uint64_t errors; /* calls of MPI that returned one */
	int64_t clock_shift_start, clock_shift_end; /* ns that were added to its times */
	uint64_t clock_error; /* ns by which they may be wrong then */
};

enum profile_flow_kind {
	PROFILE_POINT_TO_POINT = 1,
	PROFILE_ONE_SIDED =
		2, /* `sent` by the origin of a put, `received` by that of a get; an update may be both */
};

/* Messages as one side saw them: each stands on both sides if both ranks were measured. */
struct profile_side {
	uint64_t messages, bytes;
	uint64_t time; /* ns of the calls that carried one and waited for it */
};

/* All that went from one rank to another. */
struct profile_flow {
	uint64_t world;
	uint32_t from, to; /* world ranks, or HYB_RANK_* */
	uint32_t kind; /* enum profile_flow_kind */
	uint32_t reserved;
	struct profile_side sent, received;
};

/* All of one operation and size on one communicator, window or file. */
struct profile_volume {
	uint64_t world, handle; /* identities; handle 0: not known */
	uint32_t message; /* enum hyb_message_kind */
	uint32_t size_class; /* 0: no bytes; n: 2^(n-1) to 2^n - 1 bytes a message */
	uint64_t messages, sent, received; /* bytes */
	uint64_t time; /* ns, as in struct profile_side */
};

/* A communicator, window or file. */
struct profile_handle {
	uint64_t world, identity;
	uint64_t parent; /* identity */
	const char *name; /* "" if it has none */
	uint32_t type; /* enum hyb_handle_type */
	uint32_t size; /* processes in it (inter-communicator: in both groups) */
	uint64_t members; /* of which were measured */
};

struct profile_options {
	enum profile_mode mode;
	enum profile_sort sort;
	bool python_internals; /* frames of Python's interpreter are shown where they stand */
	bool mpi_internals; /* and those inside MPI, which are else the time of the call */
	bool split_locations; /* one top-level node for each process and thread */
	bool split_ranks; /* one for each rank, and each process that is none */
	bool spreads; /* over ranks, for all nodes: profile_spreads() */
	const char *spread_metric; /* profile_spreads() of the growth of this metric, not of time; NULL */
	bool traffic; /* profile_flows(), _volumes() and _handles() */
	/* Which locations take part; NULL: all. */
	bool (*select)(void *data, const struct hyb_location_info *location);
	void *data;
	bool parts; /* profile_parts() */
};

/* A location that takes part: what its node i has is in nodes[i] of profile_nodes(). */
struct profile_part {
	const struct hyb_location_info *location;
	uint32_t *nodes;
};

struct profile;

/* An empty profile, or NULL when memory is out. */
struct profile *profile_new(const struct profile_options *options);

/*
 * Adds all (selected) locations of an experiment. The experiment and its symbols must
 * stay open as long as the profile lives. 0 or enum hyb_result.
 */
int profile_add(struct profile *profile, struct hyb_experiment *experiment, struct hyb_symbols *symbols,
	struct hyb_error *err);

/* Sorts, and computes what is derived. To be called once, after the last profile_add. */
int profile_finish(struct profile *profile, struct hyb_error *err);

/* In the order in which they were added, with profile_options.parts; they live as long as the profile, and
 * follow its nodes where profile_finish() and profile_order() move these. */
const struct profile_part *profile_parts(const struct profile *profile, size_t *ret_count);

size_t profile_count(const struct profile *profile);
const struct profile_node *profile_nodes(const struct profile *profile); /* node 0 is the root */
/*
 * Shares are of all time but what is idle, or else threads that only wait would make the others small. Of a
 * node and all below it, ns, of the root or a location's node what 100 % is; and of the node alone.
 */
static inline uint64_t profile_whole(const struct profile_node *node)
{
	return node->inclusive - node->idle;
}

static inline uint64_t profile_alone(const struct profile_node *node)
{
	return node->exclusive + node->blocked - node->idle_alone;
}
const struct profile_quality *profile_quality(const struct profile *profile);

/* The program that a process ran, without its folder; "" if that is not known. The process's string. */
const char *profile_program(const struct hyb_process *process);

/* "rank 3 thread 2 worker", "solver 12", "process 12 thread 14 worker" of an unknown program: what a location
 * is called wherever it is shown. The buffer is returned. */
#define PROFILE_LOCATION_NAME 160
const char *profile_name_location(const struct hyb_location_info *location, char text[PROFILE_LOCATION_NAME]);

/*
 * The metrics of all processes, in the order of their indices there, then of their names; and of all nodes
 * their values, [node * count + metric], NULL if there are none. Both live as long as the profile.
 */
const struct profile_metric *profile_metrics(const struct profile *profile, size_t *ret_count);
const struct profile_value *profile_values(const struct profile *profile);

/* Puts siblings with more weight first (by index of the node; NAN last) in place of the order of the options.
 * 0 or HYB_ENOMEM. */
int profile_order(struct profile *profile, const double *weight);

/* By module, most samples first; lives as long as the profile. */
const struct profile_unresolved *profile_unresolved(const struct profile *profile, size_t *ret_count);

/*
 * Python's coroutines that were suspended, longest awaited first; lives as long as the
 * profile. Of a row: name, file, line, calls (suspensions), inclusive (ns between
 * suspension and resumption: many instances may wait at once, so this may exceed wall time).
 */
const struct profile_node *profile_awaits(const struct profile *profile, size_t *ret_count);

/*
 * Of MPI; all live as long as the profile. Functions by time, most first; ranks, flows and volumes by
 * world and number; handles by world, in the order of their types and names. Ranks that are not
 * selected are among the ranks: whose number is missing left no file.
 */
const struct profile_function *profile_functions(const struct profile *profile, size_t *ret_count);
const struct profile_rank *profile_ranks(const struct profile *profile, size_t *ret_count);
const struct profile_flow *profile_flows(const struct profile *profile, size_t *ret_count);
const struct profile_volume *profile_volumes(const struct profile *profile, size_t *ret_count);
const struct profile_handle *profile_handles(const struct profile *profile, size_t *ret_count);

/* By profile_node.spread: inclusive times, or growth of the metric, over ranks. NULL if they were not wanted.
 */
const struct profile_spread *profile_spreads(const struct profile *profile);

void profile_free(struct profile *profile); /* accepts NULL */

#endif
