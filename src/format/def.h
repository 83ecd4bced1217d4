/* Definitions: what the chunks DEFS are made of. */
#ifndef HYB_FORMAT_DEF_H
#define HYB_FORMAT_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A message of the runtime (information, warning or error), one for each subject. */
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
	HYB_UNMEASURED_LAUNCHER = 8, /* it starts ranks; no file has it, readers know it by its name */
	HYB_UNMEASURED_FILE = 9, /* it could have no file in the experiment */
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
 * A communicator, window or file of MPI, as one of its processes knows it. The definitions of all members
 * that have the same identity together give the list of members.
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
 * The offset of this process's CLOCK_MONOTONIC from that of rank 0 of its world, measured by an exchange of
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
	HYB_METRIC_COUNT = 1, /* a count that only grows: an interval has the difference of two readings */
	HYB_METRIC_LEVEL = 2, /* a level that goes up and down: the difference is by how much it rose */
};

enum hyb_metric_flags {
	HYB_METRIC_ESTIMATED = 1, /* counted a part of the time only (multiplexed), and scaled up */
	HYB_METRIC_PROCESS = 2, /* of the whole process, not of the thread that reads it */
	HYB_METRIC_UNEVEN = 4, /* does not grow with CPU time: see struct hyb_metric. Since 1.4 */
};

/*
 * A metric: a signed integer that is read wherever time is read. All metrics of a process are defined before
 * its first location, and hold for all of its locations.
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
	/* name, unit ("" for plain numbers), a text that describes it */
};
#define HYB_METRICS_MAX 16u

/* ------------------------------------------------------- writing and reading */

#define DEF_TEXTS 3u /* that a definition has at most */

/* The layout of the definitions of a type: a structure, then texts. */
struct def_kind {
	uint16_t size; /* of the structure; 0: the type is not known */
	struct {
		const char *name; /* NULL: there is none, nor one behind it */
		uint16_t length; /* where in the structure its length is */
	} texts[DEF_TEXTS];
};

/* NULL: the type is not known to this version. */
const struct def_kind *def_kind(unsigned type);

/* Bytes of the definition whose structure this is; lengths of texts are filled in. */
uint32_t def_size(enum hyb_def_type type, const void *head);

/* Writes what stands behind struct hyb_def, to bytes that are 0. Async-signal-safe. */
void def_put(struct hyb_def *to, enum hyb_def_type type, const void *head, const char *const *texts);
#define DEF_WITH(...) ((const char *[]){__VA_ARGS__}) /* texts */

/* Whether a definition has its structure, and texts that end where they should: they go to *ret_texts. */
bool def_texts(const struct hyb_def *def, const char *ret_texts[DEF_TEXTS]);

/* The definitions of a chunk. */
struct def_cursor {
	const uint8_t *data; /* the chunk with its header, aligned to 8 */
	size_t length;
	size_t pos; /* of the next definition */
	size_t garbage; /* bytes passed over that were neither definitions nor zero */
};

/* `length`: used bytes of the chunk. */
void def_cursor_init(struct def_cursor *defs, const void *data, size_t length);

/*
 * The next complete definition, or NULL behind the last. Its size is inside the
 * data; what follows the size is checked by def_texts().
 */
const struct hyb_def *def_cursor_next(struct def_cursor *defs);

/* Offset in the chunk of what def_cursor_next() returned. */
static inline size_t def_cursor_offset(const struct def_cursor *defs, const struct hyb_def *def)
{
	return (size_t)((const uint8_t *)def - defs->data);
}

#endif
