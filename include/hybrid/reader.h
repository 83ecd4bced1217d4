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
 * Nothing here prints or exits. An open experiment does not change, so that
 * several threads may read it at once, and its events: each with iterators of
 * its own (hyb_events_open, hyb_events_next, hyb_events_close), of the same location or
 * of different ones. Damage that they find is counted together. Opening and
 * closing the experiment, and its symbols, are for one thread at a time;
 * different experiments are independent. Not async-signal-safe.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC of the host on which the process
 * ran, for ranks of MPI of that on which their rank 0 ran; struct hyb_process
 * gives the distance to real time.
 */
#ifndef HYBRID_READER_H
#define HYBRID_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library hides everything else */

enum hyb_result {
	HYB_OK = 0,
	HYB_EIO = -1, /* a system call failed; text has the reason */
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
	/* Frame of Python: `region` is its function, `line` where it was; in what other tools measured, of
	 * any language: a frame whose address is not known. */
	HYB_TYPE_PYTHON = 7,
	HYB_TYPE_AWAIT = 8, /* below the region of a coroutine; nothing is below it */
	HYB_TYPE_MESSAGE = 9, /* below a region of MPI: what its calls communicated; nothing is below it */
};

/* What a message is; values are those of the file format. */
enum hyb_message_kind {
	HYB_SEND = 1,
	HYB_RECV = 2,
	HYB_COLLECTIVE = 3,
	HYB_PUT = 4,
	HYB_GET = 5,
	HYB_UPDATE = 6, /* accumulate, fetch and add, compare and swap ... */
	HYB_READ = 7,
	HYB_WRITE = 8,
};

#define HYB_RANK_NONE UINT32_MAX /* no peer, no root, no rank */
#define HYB_RANK_FOREIGN 0x80000000u /* bit: the rest is the rank in the communicator, of another world */

enum hyb_handle_type { HYB_COMM = 1, HYB_WINDOW = 2, HYB_FILE = 3 };

/* A communicator, window or file of MPI, as one process knows it. Pointers are never NULL. */
struct hyb_handle {
	uint64_t identity; /* the same in all processes of the handle and of no other one of the world */
	uint64_t parent; /* identity of the communicator that it was made of; 0: none */
	uint32_t id; /* in the process */
	unsigned type; /* enum hyb_handle_type */
	const char *name; /* MPI_COMM_WORLD, the last name it was given, a file's path, or "" */
	uint32_t rank, size; /* of the process in it (inter-communicator: in its own group) */
	uint32_t remote; /* inter-communicator: size of the other group, else 0 */
	uint32_t group; /* inter-communicator: 0 or 1, which group is the process's own */
};

/* What was read wherever time was. Pointers are never NULL. */
struct hyb_metric {
	const char *name; /* as PAPI spells it, or "rusage::minor_faults", "user::NAME" ... */
	const char *unit; /* "" for plain numbers */
	const char *description;
	bool level; /* goes up and down; else it only grows */
	bool estimated; /* by multiplexing: counted a part of the time, and scaled up */
	bool process_wide; /* of the process, not of the thread that reads it */
	uint64_t period; /* samples were taken each time it had grown by so much; 0: none */
	bool uneven; /* does not grow with CPU time, so that CPU-time samples do not show where it grew */
};

/* A region definition. Pointers are never NULL; unknown strings are "". */
struct hyb_region {
	const char *name;
	const char *file;
	unsigned line; /* 0: not known */
	unsigned kind; /* enum hyb_region_kind of the format, e.g. function, loop, parameter */
	bool python; /* a function of a Python program */
	bool mpi; /* a function of MPI */
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
	union {
		uint64_t least; /* functions of MPI: ns of the shortest call; 0: not known */
		uint64_t sent; /* HYB_TYPE_MESSAGE: bytes */
		uint64_t waited; /* frames: ns that calls which ended here waited, estimated from some of them
				  */
	};
	union {
		uint64_t most; /* functions of MPI: ns of the longest call; 0: not known */
		uint64_t received; /* HYB_TYPE_MESSAGE: bytes */
		uint64_t ready; /* frames: ns without a processor that were found here */
	};
	/* HYB_TYPE_MESSAGE: `calls` messages, `inclusive` ns of calls that carried one each and waited. */
	const struct hyb_handle *handle; /* NULL: not known */
	uint32_t peer; /* world rank (below world_size), the root of a collective, or HYB_RANK_* */
	uint8_t message; /* enum hyb_message_kind */
	uint8_t size_class; /* 0: no bytes; n: 2^(n-1) to 2^n - 1 bytes a message */
	/*
	 * By the process's metrics, metric_count of each; NULL where that is 0, and where they are not known
	 * (of nodes that a damaged file has without values). Of probes: by how much the metric grew, open
	 * instances counted as in `inclusive`, up to the last reading; and samples that ended exactly here
	 * and were taken by its overflow, each in periods that were asked for. All 0 where there are none.
	 */
	const int64_t *values;
	const uint64_t *overflows;
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
	uint64_t ready; /* ns that it wanted a processor and had none */
	bool ready_known; /* that was measured */
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
	uint64_t mpi[8]; /* calls by enum hyb_mpi_count of the format */
	uint64_t cost[8]; /* CPU ns by enum hyb_cost of the format: what measuring took beside handlers and
			     probes */
	uint64_t left_out, python_left_out; /* calls of functions that the filter excludes */
	/*
	 * 1; or, of the process's rest, how many threads that ended before a sample was taken are in it: it
	 * is the CPU time that stands in no thread's own location, and all its times are sums.
	 */
	uint64_t threads;
	bool rest;
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

/* A child that the process waited for, measured or not. */
struct hyb_ended {
	uint64_t time;
	uint64_t cpu; /* ns, with its own children that it waited for */
	uint32_t pid;
	int status; /* as wait() gives it */
};

/* What the process, or a child of it, executed; `unmeasured`: enum hyb_unmeasured of the format. */
struct hyb_program {
	uint64_t time;
	uint32_t pid;
	unsigned unmeasured;
	const char *path;
};

/* What a process's clock was beside that of rank `reference` of its world, at one moment. */
struct hyb_clock_offset {
	uint64_t time; /* ns, of the process's own clock, not corrected */
	int64_t offset; /* ns to be added to get the reference's */
	uint64_t error; /* ns: half of the round trip it was measured by */
	uint32_t reference;
};

/* One program image of one process: one .hyb file, or its part of a file of several. */
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
	int64_t realtime; /* ns to be added to a time to get its host's CLOCK_REALTIME, as of `start` */
	uint64_t trace_bytes;
	uint64_t trace_stopped; /* ns; 0: the trace is whole */
	uint64_t threads_lost;
	uint64_t regions_lost;
	uint64_t names_cut;
	uint64_t probe_cost; /* calibrated ns of 1024 enter+leave pairs; 0: not known */
	uint64_t call_cost[8]; /* ns of 1024 calls by enum hyb_probe_kind of the format; 0: not known */
	uint64_t file_size; /* of a file of several processes: of its own chunks there */
	struct hyb_location_info *locations; /* by id */
	size_t location_count;
	const struct hyb_module *modules;
	size_t module_count;
	const struct hyb_metric *metrics;
	size_t metric_count; /* at most 16 */
	const struct hyb_text_pair *metadata;
	size_t metadata_count;
	const struct hyb_note *notes;
	size_t note_count;
	const struct hyb_child *children;
	size_t child_count;
	/* MPI */
	uint64_t world; /* identity of its MPI_COMM_WORLD; 0: not a rank of any */
	uint32_t rank; /* in it, or HYB_RANK_NONE */
	uint32_t world_size;
	unsigned thread_level; /* 0 single ... 3 multiple */
	const struct hyb_handle *handles; /* by id, which has gaps in damaged files */
	size_t handle_count;
	/* As measured, by time; none where the clock is rank 0's own. */
	const struct hyb_clock_offset *offsets;
	size_t offset_count;
	uint64_t clock_domain; /* processes with equal ones read the same clock; 0: not known */
	/*
	 * All times of this process (but in `offsets`) are corrected to the clock of rank 0 of its world, if
	 * that is another one and was measured: by a line through the best measurements of its clock domain
	 * at the start and at the end of a rank; before and behind them the shift stays what it is there.
	 * Here are the ns that were added at the process's start and end, and how wrong that may be.
	 * clock_error is HYB_TIME_UNKNOWN if the clock is not known to be rank 0's and was not measured:
	 * its times are not to be compared then. All 0 where nothing had to be done. Processes that are no
	 * ranks are corrected as the ranks of their domain. Stretches of time (of nodes, of samples) are
	 * not: that would matter where clocks differ by more than one in a thousand.
	 */
	int64_t clock_shift_start, clock_shift_end;
	uint64_t clock_error;
	/* Of the whole process since its fork, CPU time in ns; all 0 where not known, as in files before 1.4
	 */
	uint64_t cpu_start, cpu_ready; /* when measurement of this image began, and when it had begun */
	uint64_t cpu_end; /* at its end, if it was seen */
	uint64_t cpu_children; /* then, of children that it had waited for */
	uint64_t pid_namespace; /* that `pid` is of, as the kernel numbers them; 0: not known */
	const struct hyb_ended *ended; /* as they ended */
	size_t ended_count;
	const struct hyb_program
		*programs; /* those that needed a word: not measured, or started by a child of vfork */
	size_t program_count;
	bool follows_pauses; /* its trace has what it sent and received in pauses, as UNMEASURED */
};

/*
 * Opens a directory or a file. On success *ret is to be closed by the caller; on failure it is untouched and
 * *err has the reason. A directory in which some files are unreadable opens with what is left; the others are
 * damage.
 */
int hyb_experiment_open(const char *path, struct hyb_experiment **ret, struct hyb_error *err);

/*
 * In two steps, for who opens a part of the files: the paths of the experiment's .hyb files in the order of
 * their names, to be freed by hyb_files_free(); and an experiment of some of them. This one opens also if
 * none of them can be read or `count` is 0; err->code then is not 0 if a file could not be read, and *err has
 * the reason for the first of them. Times are those of each process's own clock. The programs that one
 * process ran one after the other should stay together: their files are called NAME.0.hyb, NAME.1.hyb ...
 */
int hyb_experiment_files(const char *path, char ***ret_files, size_t *ret_count, struct hyb_error *err);
void hyb_files_free(char **files, size_t count);
int hyb_experiment_open_files(const char *path, char *const *files, size_t count, struct hyb_experiment **ret,
	struct hyb_error *err);

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
	/* Of MPI, in front of the LEAVE of the call and with its time. Fields as described at struct
	 * hyb_event; those that a kind does not have are 0, `peer` HYB_RANK_NONE, `offset` UINT64_MAX. */
	HYB_EVENT_MESSAGE =
		8, /* `message` is its kind; at a SEND the message is on its way, at a RECV it is there */
	HYB_EVENT_POSTED = 9, /* a receive began: `request`, which its RECV has too */
	HYB_EVENT_SENT = 10, /* `request` of a SEND is complete: its buffer is free */
	HYB_EVENT_TESTED = 11, /* `request` was asked for, and was not complete */
	HYB_EVENT_CANCELLED = 12, /* `request` */
	HYB_EVENT_COLLECTED = 13, /* `request` of a COLLECTIVE is complete */
	HYB_EVENT_DONE = 14, /* `request` of a PUT, GET, UPDATE, READ or WRITE is complete */
	HYB_EVENT_EPOCH = 15, /* a window was synchronised: `handle`, `peer` */
	HYB_EVENT_FAILED = 16, /* the call returned an error: `value.integer` */
	HYB_EVENT_CREATED = 17, /* the call made `handle` */
	HYB_EVENT_FREED = 18, /* `handle` */
	/* One of MPI's that was done in a pause, and is returned only for the order of the others:
	 * `unmeasured` is its kind, with the fields of that. */
	HYB_EVENT_UNMEASURED = 19,
};

/* Whether it is one of MPI's that was measured. Others may be added behind these. */
static inline bool hyb_event_is_mpi(enum hyb_event_kind kind)
{
	return kind >= HYB_EVENT_MESSAGE && kind <= HYB_EVENT_FREED;
}

#define HYB_TIME_UNKNOWN UINT64_MAX

struct hyb_event {
	uint64_t time; /* ns */
	const struct hyb_location_info *location;
	uint8_t kind; /* enum hyb_event_kind */
	bool is_double; /* COUNTER: `real`, not `integer` */
	uint32_t node; /* SAMPLE: leaf; ENTER, LEAVE, COMPLETE: region; of MPI: the open one; in
			  location->nodes */
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
	const struct hyb_handle *handle; /* MESSAGE, EPOCH; NULL: not known */
	uint8_t message; /* MESSAGE: enum hyb_message_kind */
	uint8_t collective; /* MESSAGE: COLLECTIVE: enum hyb_operation of the format; 0: not known */
	uint8_t unmeasured; /* UNMEASURED: enum hyb_event_kind */
	uint32_t peer; /* MESSAGE, EPOCH: peer, root or target: rank below world_size, or HYB_RANK_* */
	int32_t tag; /* MESSAGE: SEND and RECV */
	uint64_t sent, received; /* MESSAGE: bytes */
	uint64_t offset; /* MESSAGE: READ and WRITE: in the file, UINT64_MAX: not known */
	uint64_t request; /* never used twice in a process; 0: none, the call waited */
	/*
	 * SAMPLE, ENTER, LEAVE and COMPLETE of a process with metrics: its values, metric_count of each,
	 * until the next call; NULL where they are not known. SAMPLE: by how much they grew since its region
	 * was entered, and will grow to the end of that instance (as `since` and `until`).
	 */
	const int64_t *values, *since_values, *until_values;
	uint32_t overflow; /* SAMPLE: 1 + index of the metric whose overflow took it; 0: a clock did */
};

struct hyb_events;

/*
 * Iterates over the events of one location (or, with location NULL, of all
 * locations of the experiment merged by time; equal times by process and
 * location order). With `complete`, samples carry `until` (and its values), for which the trace
 * is decoded twice and eight bytes a sample (and metric) are held. Memory is bounded by one
 * chunk a location and eight bytes a node of it (and metric) otherwise. NULL and *err on failure.
 */
struct hyb_events *hyb_events_open(struct hyb_experiment *experiment,
	const struct hyb_location_info *location, bool complete, struct hyb_error *err);

/* 1: *ret_event is the next event, valid until the next call; 0: no more; <0: enum hyb_result. */
int hyb_events_next(struct hyb_events *events, struct hyb_event *ret_event);

/* Accepts NULL. */
void hyb_events_close(struct hyb_events *events);

/* --------------------------------------------------------------- symbols */

/*
 * One source-level frame. Strings are never NULL and live as long as the symbols object. A function without a
 * symbol is called "libm.so.6+0x1a40", its file and the ELF address where it begins: by its call frame
 * information, else where the last function in front of it ends. "label~" is code behind a label without a
 * size.
 */
struct hyb_frame {
	const char *function; /* with scopes and template arguments, without parameters; "" if not known */
	const char *file; /* "" if not known */
	unsigned line; /* 0 if not known */
	unsigned function_line; /* line of the function's declaration, 0 if not known */
	bool inlined; /* into the next frame of the chain */
	bool guess; /* no symbol holds the address: one of these two names */
};

struct hyb_symbols;

struct hyb_symbols_options {
	const char *cache; /* directory of the cache, NULL: the experiment's own */
	bool no_cache;
	/* Called from time to time while a long resolution runs; may be NULL. */
	void (*progress)(void *data, size_t done, size_t total);
	void *data;
	/* If not NULL, and not 0: hyb_symbols_resolve_all() ends early, what is left is for lookups. */
	const volatile sig_atomic_t *stop;
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

/*
 * The ELF addresses, from *ret_start to in front of *ret_end, of the function that holds one: from symbols,
 * call frame information or DWARF. False, and both untouched, if none of them knows.
 */
bool hyb_symbols_extent(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t address,
	uint64_t *ret_start, uint64_t *ret_end);

/*
 * The function of another module whose address is put into a slot of this one when it is loaded: what code
 * reaches by way of its global offset table. NULL if there is none, or it is not known; lives as long as the
 * symbols object.
 */
const char *hyb_symbols_import(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t slot);

/* Machine code that was read. */
struct hyb_code {
	size_t size; /* bytes, fewer than were asked for where the segment ends; 0: no code is there */
	unsigned machine; /* e_machine of the ELF file */
	bool wide; /* of 64 bits */
	bool big_endian;
};

/*
 * Reads machine code as the module's file has it. 0; or HYB_EIO, HYB_EFORMAT or HYB_ENOMEM with *err: the
 * file is gone, is another one than ran, or cannot be read.
 */
int hyb_symbols_code(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t address,
	void *buffer, size_t size, struct hyb_code *ret_code, struct hyb_error *err);

/* Resolves all code addresses of the experiment at once, sharing work; lookups are instant then. */
int hyb_symbols_resolve_all(struct hyb_symbols *symbols, struct hyb_error *err);

/*
 * The modules that could not be used because their file is gone, is another
 * one than ran, or cannot be read: one line each that begins with the path.
 * Code in them has no name. The number grows with lookups.
 */
size_t hyb_symbols_problem_count(const struct hyb_symbols *symbols);
const char *hyb_symbols_problem_at(const struct hyb_symbols *symbols, size_t i); /* NULL behind the last */

/*
 * Goes on with another opening of the same experiment, as of a run that has gone on: what was resolved stays.
 * Of the former one modules may be looked up until it is closed, but not behind the next opening. Callbacks
 * are those of the options, the places stay; NULL: none.
 */
void hyb_symbols_attach(struct hyb_symbols *symbols, struct hyb_experiment *experiment,
	const struct hyb_symbols_options *options);

/* Writes the cache if it grew. */
void hyb_symbols_save(struct hyb_symbols *symbols);

/* Writes the cache if it grew, and frees. Accepts NULL. */
void hyb_symbols_close(struct hyb_symbols *symbols);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
