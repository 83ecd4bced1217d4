/*
 * The merged call-path profile: probes' exact times, shared out among samples
 * (paper 003, section III.A), one tree over any number of locations, processes
 * and experiments. Knows the reader; knows nothing of printing.
 *
 * The rules (rows T13 to T17). For one location:
 *  - a probe node p has inclusive time I and exclusive time E = I - sum of I of
 *    the probe nodes below it (a probe nested by frames still counts);
 *  - samples on the CPU clock say where the thread ran, not where it was
 *    blocked. B = wall time - CPU time of the location is blocked; it is given
 *    to probes in proportion to max(0, E - ran) where `ran` is the CPU time that
 *    samples saw in p. Blocked time stays with p itself; E - blocked is what p
 *    ran. Wall-clock samples see all of E, and where no samples were wanted
 *    nothing is known to be blocked.
 * Over all locations (with split_locations: for each alone):
 *  - what the locations ran in a probe of the tree is summed, and shared out
 *    among their samples in it (whose nearest probe it is): n of N samples at a
 *    node carry n/N of it. A thread that lived too short to be sampled so counts
 *    where its like were seen. A sample weighs as much as the period that
 *    it stands for, which differs between runs of different rates;
 *  - this is done for each source of samples apart: what was taken on the CPU
 *    clock does not say how wall time is to be shared out. Locations that were
 *    not to be sampled keep what they ran in their probes;
 *  - shares are integers of nanoseconds that add up exactly (each is the
 *    difference of two rounded cumulative sums);
 *  - a probe without samples keeps its E;
 *  - frames between probe and sampled frame are intermediate: exclusive 0.
 * At every node: inclusive = exclusive + blocked + sum of the children's inclusive.
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

/* Order of siblings and rows: most first. */
enum profile_sort {
	PROFILE_SORT_INCLUSIVE = 0,
	PROFILE_SORT_EXCLUSIVE = 1, /* and blocked: the time of the node alone */
	PROFILE_SORT_SAMPLES = 2,
	PROFILE_SORT_CALLS = 3,
};

struct profile_node {
	uint32_t parent; /* index; smaller than the own one; the root's is 0 */
	uint32_t first_child, next_sibling; /* index or 0; sorted as the options say */
	uint8_t kind; /* enum profile_kind */
	bool guess; /* the name is made of the nearest symbol, or of an address */
	bool demoted;
	bool python; /* a frame of Python; `module` is then its interpreter's */
	const char *name; /* function, region name, "[incomplete: ...]" */
	const char *file; /* "" if not known */
	const char *module; /* path, "" for regions */
	unsigned line; /* leaf and call site: the line; probes: the region's line; else 0 */
	uint64_t calls; /* probes */
	uint64_t skipped; /* probes: calls that were only counted */
	uint64_t samples; /* ended here; for probes: samples without a frame below */
	uint64_t inclusive; /* ns */
	uint64_t exclusive; /* ns, ran (or not sampled) here */
	uint64_t blocked; /* ns, probes: waited here */
};

/* What the report's quality block says; sums over what was merged. */
struct profile_quality {
	size_t experiments, processes, locations;
	size_t programs; /* a process runs another one after each exec */
	uint64_t wall; /* ns, from first start to last end */
	uint64_t thread_wall, cpu; /* ns, sums over locations */
	uint64_t taken; /* interrupts; fewer than samples where the budget lowered a rate */
	uint64_t samples, dropped[16], partial[8], faults[8], frames, guessed;
	uint64_t handler_time; /* ns */
	uint64_t probe_calls;
	uint64_t probe_time; /* ns, estimated: calls times calibrated cost, or by the samples dropped in
				probes */
	uint64_t slowed, events, events_lost, trace_bytes, file_bytes;
	uint64_t trace_stopped; /* ns after the start of the first process that stopped; 0: none did */
	uint64_t threads_lost, regions_lost, names_cut, demoted_nodes, skipped_calls;
	uint64_t open_regions;
	uint64_t python[8]; /* samples by enum hyb_python of the format */
	uint64_t gil_wait, gil_waits; /* ns that threads waited for Python's GIL, and how often */
	uint64_t blocked; /* ns that anything was blocked, waiting for the GIL apart */
	uint64_t damage;
	unsigned rate; /* wanted, the highest */
	unsigned sources; /* one bit for each enum hyb_source that a location used: 1 << source */
	double achieved; /* samples a second of CPU (or of wall time, when that was sampled) */
};

/* Name of the regions, of kind WAIT, in which threads wait for Python's global interpreter lock. */
#define PROFILE_GIL "[waiting for the GIL]"

/* Code whose names are not known. */
struct profile_unresolved {
	const char *module; /* path, "" for code in no module */
	uint64_t addresses; /* different ones */
	uint64_t samples; /* taken at them */
};

struct profile_options {
	enum profile_mode mode;
	enum profile_sort sort;
	bool python_internals; /* frames of Python's interpreter are shown where they stand */
	bool split_locations; /* one top-level node for each process and thread */
	/* Which locations take part; NULL: all. */
	bool (*select)(void *data, const struct hyb_location_info *location);
	void *data;
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

size_t profile_count(const struct profile *profile);
const struct profile_node *profile_nodes(const struct profile *profile); /* node 0 is the root */
const struct profile_quality *profile_quality(const struct profile *profile);

/* By module, most samples first; lives as long as the profile. */
const struct profile_unresolved *profile_unresolved(const struct profile *profile, size_t *ret_count);

/*
 * Python's coroutines that were suspended, longest awaited first; lives as long as the
 * profile. Of a row: name, file, line, calls (suspensions), inclusive (ns between
 * suspension and resumption: many instances may wait at once, so this may exceed wall time).
 */
const struct profile_node *profile_awaits(const struct profile *profile, size_t *ret_count);

void profile_free(struct profile *profile); /* accepts NULL */

#endif
