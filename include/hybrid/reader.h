/*
 * hybrid/reader.h: open an experiment and read what was measured.
 *
 * An experiment is a directory that hybrid-run made, or a single .hyb file (the
 * file of one process). Everything is read by pread into memory of our own, no
 * file is mapped: a file that grows, shrinks or vanishes meanwhile cannot harm
 * the reader. No byte of a file is trusted: ids are checked, strings end, trees
 * are trees. What is damaged is left out, counted and described (hyb_damage_*).
 *
 * Objects are owned by their experiment and live until hyb_experiment_close().
 * Nothing here prints or exits. An experiment may be used by one thread at a
 * time; different experiments are independent. Not async-signal-safe.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC of the host on which the process
 * ran; struct hyb_process gives the distance to real time.
 */
#ifndef HYBRID_READER_H
#define HYBRID_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library hides everything else */

enum hyb_result {
	HYB_OK = 0,
	HYB_EIO = -1, /* the file system said no; text has the reason */
	HYB_EFORMAT = -2, /* not a .hyb file, or damaged beyond use */
	HYB_EVERSION = -3, /* written by a newer version than this */
	HYB_EEMPTY = -4, /* a directory without measurements */
	HYB_ENOMEM = -5,
};

/* What went wrong: one line without a final newline, naming file (and offset). */
struct hyb_error {
	int code; /* enum hyb_result */
	char text[512];
};

struct hyb_experiment;

enum hyb_node_type {
	HYB_TYPE_ROOT = 1, /* the thread */
	HYB_TYPE_REGION = 2, /* probe, `region` is set */
	HYB_TYPE_FUNCTION = 3, /* probe, named by a code address: `module` and `address` */
	HYB_TYPE_CALL = 4, /* frame, a return address: the call is in front of it */
	HYB_TYPE_LEAF = 5, /* frame, the address that was interrupted */
	HYB_TYPE_PARTIAL = 6, /* frames are missing here, see `reason` */
	HYB_TYPE_PYTHON = 7, /* frame of Python: `region` is its function, `line` where it was */
	HYB_TYPE_AWAIT = 8, /* below the region of a coroutine; nothing is below it */
};

/* A region definition. Pointers are never NULL; unknown strings are "". */
struct hyb_region {
	const char *name;
	const char *file;
	unsigned line; /* 0: not known */
	unsigned kind; /* enum hyb_region_kind of the format, e.g. function, loop, parameter */
	bool python; /* a function of a Python program */
};

/* An ELF object. */
struct hyb_module {
	const char *path; /* "[vdso]" for the kernel's page */
	uint8_t build_id[32];
	unsigned build_id_len; /* 0: none */
	uint64_t file_size; /* at run time; 0: not known */
	int64_t mtime; /* seconds; 0: not known */
};

/*
 * A call-path node of one location. `parent` is an index into the same array
 * and always smaller than the node's own; node 0 is the root, its parent 0.
 */
struct hyb_node_info {
	uint32_t parent;
	uint32_t probe; /* index of the nearest probe at or above the node */
	uint8_t type; /* enum hyb_node_type */
	bool demoted;
	uint8_t reason; /* HYB_TYPE_PARTIAL: enum hyb_partial of the format */
	uint32_t line; /* HYB_TYPE_PYTHON: of the instruction; 0: not known */
	const struct hyb_region *region; /* HYB_TYPE_REGION and HYB_TYPE_PYTHON, else NULL */
	const struct hyb_module *module; /* code address: NULL if in no module */
	uint64_t address; /* ELF virtual address in `module`, or the raw address */
	uint64_t calls; /* probes: enters; HYB_TYPE_AWAIT: how often it was suspended */
	uint64_t skipped; /* probes: of them only counted (demoted) */
	/* Probes: ns, instances still open counted up to the location's end. HYB_TYPE_AWAIT: ns between
	 * suspensions and resumptions, which are no part of its thread's time. */
	uint64_t inclusive;
	uint64_t samples; /* that ended exactly here */
	uint64_t ran; /* probes: CPU ns seen by samples of this probe */
};

/* A thread. */
struct hyb_location_info {
	struct hyb_process *process;
	uint32_t id;
	uint32_t tid;
	const char *name; /* "" if it was never named */
	uint64_t start; /* ns */
	uint64_t end; /* ns; the last known moment if it did not end properly */
	bool ended;
	uint64_t cpu; /* CPU ns used while measured */
	uint64_t samples; /* recorded, each in periods that were asked for */
	uint64_t taken; /* interrupts that made them: fewer if the budget lowered the rate */
	uint64_t partial[8]; /* by enum hyb_partial */
	uint64_t dropped[16]; /* by enum hyb_drop */
	uint64_t faults[8]; /* by enum hyb_fault */
	uint64_t frames;
	uint64_t guessed;
	uint64_t handler_time; /* ns */
	uint64_t period; /* ns that one sample stands for */
	uint64_t slowed;
	uint64_t events; /* trace records */
	uint64_t events_lost;
	unsigned source; /* enum hyb_source of the format */
	unsigned open; /* regions that were open at the end, without the root */
	const struct hyb_node_info *nodes;
	size_t node_count; /* at least 1 */
	uint64_t python[8]; /* samples by enum hyb_python of the format */
};

struct hyb_text_pair {
	const char *key;
	const char *value;
};

struct hyb_note {
	uint64_t time;
	unsigned severity; /* 1 information, 2 warning, 3 error */
	const char *text;
};

struct hyb_child {
	uint64_t time;
	uint32_t pid;
	unsigned kind; /* enum hyb_child_kind: 1 fork, 2 exec */
	const char *path; /* exec: what it executed */
};

/* One program image of one process: one .hyb file. */
struct hyb_process {
	struct hyb_experiment *experiment;
	const char *file; /* path of the .hyb file */
	const char *host;
	uint32_t pid, ppid;
	uint32_t image; /* 0, 1, 2 ... for each exec of the same pid */
	unsigned state; /* enum hyb_state of the format; RUNNING may also mean killed */
	unsigned source; /* enum hyb_source asked for */
	unsigned rate; /* samples a second asked for */
	bool trace_events;
	double tick_ns; /* ns of one tick of its clock */
	uint64_t start; /* ns */
	uint64_t end; /* ns; last known moment */
	int64_t realtime; /* CLOCK_REALTIME minus CLOCK_MONOTONIC at start, ns */
	uint64_t trace_bytes;
	uint64_t trace_stopped; /* ns; 0: the trace is whole */
	uint64_t threads_lost;
	uint64_t regions_lost;
	uint64_t names_cut;
	uint64_t probe_cost; /* calibrated ns of 1024 enter+leave pairs; 0: not known */
	uint64_t file_size;
	struct hyb_location_info *locations; /* by id */
	size_t location_count;
	const struct hyb_module *modules;
	size_t module_count;
	const struct hyb_text_pair *metadata;
	size_t metadata_count;
	const struct hyb_note *notes;
	size_t note_count;
	const struct hyb_child *children;
	size_t child_count;
};

/*
 * Opens a directory or a file. On success *ret is to be closed by the caller;
 * on failure it is untouched and *err says why. A directory in which some files
 * are unreadable opens with what is left; the others are damage.
 */
int hyb_experiment_open(const char *path, struct hyb_experiment **ret, struct hyb_error *err);

/* Accepts NULL. */
void hyb_experiment_close(struct hyb_experiment *experiment);

/* The path as given. */
const char *hyb_experiment_path(const struct hyb_experiment *experiment);

/* Processes in order of their start. */
size_t hyb_process_count(const struct hyb_experiment *experiment);
struct hyb_process *hyb_process_at(const struct hyb_experiment *experiment, size_t i);

/*
 * What hybrid-run wrote about the whole run ("command", "status", "wall_ns",
 * "user_ns", "system_ns", "started" ...), or NULL.
 */
const char *hyb_experiment_value(const struct hyb_experiment *experiment, const char *key);

/* All of it, in the order of the file. */
const struct hyb_text_pair *hyb_experiment_values(const struct hyb_experiment *experiment, size_t *ret_count);

/* What was found damaged: texts that name file and offset, the first hundred; and the number of all. */
size_t hyb_damage_count(const struct hyb_experiment *experiment);
const char *hyb_damage_text(const struct hyb_experiment *experiment, size_t i); /* NULL behind the last */

/* ---------------------------------------------------------------- events */

enum hyb_event_kind {
	HYB_EVENT_SAMPLE = 1,
	HYB_EVENT_ENTER = 2,
	HYB_EVENT_LEAVE = 3,
	HYB_EVENT_COMPLETE = 4, /* the sampled instance of `node` ended (without --trace) */
	HYB_EVENT_COUNTER = 5,
	HYB_EVENT_MARKER = 6,
	HYB_EVENT_GAP = 7, /* records are missing before the next of this location */
};

#define HYB_TIME_UNKNOWN UINT64_MAX

struct hyb_event {
	uint64_t time; /* ns */
	const struct hyb_location_info *location;
	uint8_t kind; /* enum hyb_event_kind */
	bool is_double; /* COUNTER: `real`, not `integer` */
	uint32_t node; /* SAMPLE: leaf; ENTER, LEAVE, COMPLETE: region; index in location->nodes */
	uint32_t weight; /* SAMPLE: samples it stands for, at least 1 */
	uint64_t since; /* SAMPLE: ns since its region was entered, or HYB_TIME_UNKNOWN */
	uint64_t until; /* SAMPLE: ns to the end of that instance, or HYB_TIME_UNKNOWN */
	uint64_t blocked; /* SAMPLE: ns the thread did not run since its last sample */
	union {
		int64_t integer;
		double real;
	} value;
	const char *text; /* COUNTER: name; MARKER: its text */
	const char *unit; /* COUNTER */
};

struct hyb_events;

/*
 * Iterates over the events of one location (or, with location NULL, of all
 * locations of the experiment merged by time; equal times by process and
 * location order). With `complete`, samples carry `until`, for which the trace
 * is decoded twice and eight bytes a sample are held. Memory is bounded by one
 * chunk a location otherwise. NULL and *err on failure.
 */
struct hyb_events *hyb_events_open(struct hyb_experiment *experiment,
	const struct hyb_location_info *location, bool complete, struct hyb_error *err);

/* 1: *ret_event is the next event, valid until the next call; 0: no more; <0: enum hyb_result. */
int hyb_events_next(struct hyb_events *events, struct hyb_event *ret_event);

/* Accepts NULL. */
void hyb_events_close(struct hyb_events *events);

/* --------------------------------------------------------------- symbols */

/*
 * One source-level frame. Strings are never NULL and live as long as the
 * symbols object. Where symbols were stripped, call frame information still
 * tells functions apart: a guess is then "near+0x1a40", a function that begins
 * so many bytes behind the nearest symbol, or "sub_1a40", one that begins at
 * that ELF address with no symbol in front. Any other guess is the name of the
 * nearest symbol alone.
 */
struct hyb_frame {
	const char *function; /* with scopes and template arguments, without parameters; "" if not known */
	const char *file; /* "" if not known */
	unsigned line; /* 0 if not known */
	unsigned function_line; /* line of the function's declaration, 0 if not known */
	bool inlined; /* into the next frame of the chain */
	bool guess; /* no symbol holds the address; see below */
};

struct hyb_symbols;

struct hyb_symbols_options {
	const char *cache; /* directory of the cache, NULL: the experiment's own */
	bool no_cache;
	/* Called from time to time while a long resolution runs; may be NULL. */
	void (*progress)(void *data, size_t done, size_t total);
	void *data;
};

/*
 * Symbols for one experiment, to be closed before it. NULL options: defaults.
 * NULL and *err on failure. What could be resolved is kept in a file
 * symbols.cache in the experiment (FILE.symbols for a single file), if that
 * can be written; with it no ELF file is opened again, so it also keeps what
 * was resolved without debug information: remove it after installing some.
 */
struct hyb_symbols *hyb_symbols_open(
	struct hyb_experiment *experiment, const struct hyb_symbols_options *options, struct hyb_error *err);

/*
 * The source-level frames of a code address, innermost inlined function first;
 * at least one. `call`: the address is a return address, look in front of it.
 * The array lives as long as the symbols object. module NULL: an address that
 * is in no module.
 */
const struct hyb_frame *hyb_symbols_lookup(struct hyb_symbols *symbols, const struct hyb_module *module,
	uint64_t address, bool call, size_t *ret_count);

/* Resolves all code addresses of the experiment at once, sharing work; lookups are instant then. */
int hyb_symbols_resolve_all(struct hyb_symbols *symbols, struct hyb_error *err);

/*
 * The modules that could not be used because their file is gone, is another
 * one than ran, or cannot be read: one line each that begins with the path.
 * Code in them has no name. The number grows with lookups.
 */
size_t hyb_symbols_problem_count(const struct hyb_symbols *symbols);
const char *hyb_symbols_problem_at(const struct hyb_symbols *symbols, size_t i); /* NULL behind the last */

/* Writes the cache if it grew, and frees. Accepts NULL. */
void hyb_symbols_close(struct hyb_symbols *symbols);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
