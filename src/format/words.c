#include "format/words.h"

#include <string.h>
#include <strings.h>

#include "format/format.h"
#include "hybrid/reader.h"

#define WORDS(name_, ...) \
	static const struct word name_##_list[] = {__VA_ARGS__}; \
	const struct words words_##name_ = {name_##_list, sizeof(name_##_list) / sizeof(name_##_list[0])}

/* clang-format off */
WORDS(source,
	[HYB_SOURCE_NONE] = {"none", "no sampling"},
	[HYB_SOURCE_CPU_TIMER] = {"cpu_timer", "CPU timer"},
	[HYB_SOURCE_TASK_CLOCK] = {"task_clock", "perf task clock"},
	[HYB_SOURCE_TIMER] = {"timer", NULL},
	[HYB_SOURCE_WALL] = {"wall", "wall-clock timer"},
	[HYB_SOURCE_EVENT] = {"event", "overflow of a metric"});

WORDS(drop,
	[HYB_DROP_IN_PROBE] = {"in_probe", "inside the measurement itself"},
	[HYB_DROP_NO_SPACE] = {"no_space", "no space left"},
	[HYB_DROP_PAUSED] = {"paused", "while paused"},
	[HYB_DROP_IDLE] = {"idle", "the thread had not run"},
	[HYB_DROP_STOPPED] = {"stopped", "the measurement had ended"},
	[HYB_DROP_NO_STACK] = {"no_stack", "the stack was nearly full"});

WORDS(partial,
	[HYB_PARTIAL_NO_RULE] = {"no_rule", "code without unwind information"},
	[HYB_PARTIAL_BAD_STACK] = {"bad_stack", "the stack leads nowhere"},
	[HYB_PARTIAL_TOO_DEEP] = {"too_deep", "more frames than are followed"});

WORDS(fault,
	[HYB_FAULT_NOT_ENTERED] = {"not_entered", "left without being entered"},
	[HYB_FAULT_NOT_LEFT] = {"not_left", "not left before the region around it"},
	[HYB_FAULT_TOO_DEEP] = {"too_deep", "nested too deeply to follow"},
	[HYB_FAULT_NESTED] = {"nested", "in a signal handler that interrupted a probe"},
	[HYB_FAULT_NO_SPACE] = {"no_space", "no space left"},
	[HYB_FAULT_TOO_MANY] = {"too_many", "on call paths after the first million"});

WORDS(python,
	[HYB_PYTHON_WOVEN] = {"woven", "with Python frames"},
	[HYB_PYTHON_LOST] = {"lost", "whose outer Python frames are missing"},
	[HYB_PYTHON_UNMATCHED] = {"unmatched", "whose Python frames are not on the native stack"},
	[HYB_PYTHON_RELEASED] = {"released", "of native code without the GIL"});

WORDS(mpi,
	[HYB_MPI_ERRORS] = {"errors", NULL},
	[HYB_MPI_INSIDE] = {"inside", NULL},
	[HYB_MPI_ABANDONED] = {"abandoned", NULL},
	[HYB_MPI_UNTRACKED] = {"untracked", NULL});

WORDS(cost,
	[HYB_COST_INTERRUPT] = {"interrupts", NULL},
	[HYB_COST_SWITCH] = {"switches", NULL},
	[HYB_COST_THREAD] = {"threads", NULL},
	[HYB_COST_PROCESS] = {"processes", NULL},
	[HYB_COST_WAIT] = {"waits", NULL});

WORDS(probe_kind,
	[HYB_PROBE_SKIPPED] = {"skipped", NULL},
	[HYB_PROBE_FUNCTION] = {"function", NULL},
	[HYB_PROBE_FUNCTION_SKIPPED] = {"function_skipped", NULL},
	[HYB_PROBE_FUNCTION_LEFT_OUT] = {"function_left_out", NULL},
	[HYB_PROBE_PYTHON] = {"python", NULL},
	[HYB_PROBE_PYTHON_SKIPPED] = {"python_skipped", NULL},
	[HYB_PROBE_PYTHON_LEFT_OUT] = {"python_left_out", NULL});

WORDS(state,
	[HYB_STATE_RUNNING] = {"running", NULL},
	[HYB_STATE_EXITED] = {"exited", NULL},
	[HYB_STATE_EXEC] = {"exec", NULL},
	[HYB_STATE_STOPPED] = {"stopped", NULL});

WORDS(clock,
	[HYB_CLOCK_MONOTONIC] = {"monotonic", NULL},
	[HYB_CLOCK_TSC] = {"tsc", NULL});

WORDS(severity,
	[HYB_NOTE_INFO] = {"information", NULL},
	[HYB_NOTE_WARNING] = {"warning", NULL},
	[HYB_NOTE_ERROR] = {"error", NULL});

WORDS(unmeasured,
	[HYB_UNMEASURED_NOT_KNOWN] = {"not_known", "for an unknown reason"},
	[HYB_UNMEASURED_STATIC] = {"static", "it is static"},
	[HYB_UNMEASURED_FOREIGN] = {"foreign", "it is for another machine, or of 32 bits"},
	[HYB_UNMEASURED_LIBC] = {"libc", "it has another C library"},
	[HYB_UNMEASURED_RIGHTS] = {"rights", "it runs with other rights"},
	[HYB_UNMEASURED_ENVIRONMENT] = {"environment", "it was started without the environment of its parent"},
	[HYB_UNMEASURED_MEMORY] = {"memory", "it runs in the memory of its parent"},
	[HYB_UNMEASURED_SANITIZER] = {"sanitizer", "it is built with AddressSanitizer"},
	[HYB_UNMEASURED_LAUNCHER] = {"launcher", "it starts the ranks of MPI programs"},
	[HYB_UNMEASURED_FILE] = {"file", "it could not make its file in the experiment"});

WORDS(thread_level,
	{"single", NULL},
	{"funneled", NULL},
	{"serialized", NULL},
	{"multiple", NULL});

WORDS(chunk,
	[HYB_CHUNK_DEFS] = {"defs", NULL},
	[HYB_CHUNK_LOCATION] = {"location", NULL},
	[HYB_CHUNK_NODES] = {"nodes", NULL},
	[HYB_CHUNK_TRACE] = {"trace", NULL},
	[HYB_CHUNK_STACK] = {"stack", NULL},
	[HYB_CHUNK_PROCESS] = {"process", NULL},
	[HYB_CHUNK_WIDE_NODES] = {"wide_nodes", NULL},
	[HYB_CHUNK_METRICS] = {"metrics", NULL});

WORDS(def,
	[HYB_DEF_REGION] = {"region", NULL},
	[HYB_DEF_MODULE] = {"module", NULL},
	[HYB_DEF_MAP] = {"map", NULL},
	[HYB_DEF_METADATA] = {"metadata", NULL},
	[HYB_DEF_NOTE] = {"note", NULL},
	[HYB_DEF_COUNTER] = {"counter", NULL},
	[HYB_DEF_TEXT] = {"text", NULL},
	[HYB_DEF_CHILD] = {"child", NULL},
	[HYB_DEF_PAD] = {"pad", NULL},
	[HYB_DEF_WORLD] = {"world", NULL},
	[HYB_DEF_HANDLE] = {"handle", NULL},
	[HYB_DEF_HANDLE_NAME] = {"handle_name", NULL},
	[HYB_DEF_CLOCK] = {"clock", NULL},
	[HYB_DEF_METRIC] = {"metric", NULL},
	[HYB_DEF_ENDED] = {"ended", NULL},
	[HYB_DEF_PROGRAM] = {"program", NULL});

WORDS(region,
	[HYB_REGION_USER] = {"user", NULL},
	[HYB_REGION_FUNCTION] = {"function", NULL},
	[HYB_REGION_LOOP] = {"loop", NULL},
	[HYB_REGION_PARAMETER] = {"parameter", NULL},
	[HYB_REGION_PAUSED] = {"paused", NULL},
	[HYB_REGION_OVERFLOW] = {"overflow", NULL},
	[HYB_REGION_DYNAMIC] = {"dynamic", NULL},
	[HYB_REGION_WAIT] = {"wait", NULL},
	[HYB_REGION_PYTHON] = {"python", NULL},
	[HYB_REGION_MPI] = {"mpi", NULL});

WORDS(handle,
	[HYB_HANDLE_COMM] = {"communicator", NULL},
	[HYB_HANDLE_WINDOW] = {"window", NULL},
	[HYB_HANDLE_FILE] = {"file", NULL});

WORDS(child,
	[HYB_CHILD_FORK] = {"fork", NULL},
	[HYB_CHILD_EXEC] = {"exec", NULL});

WORDS(metric_mode,
	[HYB_METRIC_COUNT] = {"count", NULL},
	[HYB_METRIC_LEVEL] = {"level", NULL});

WORDS(number,
	[1] = {"integer", NULL},
	[2] = {"double", NULL});

WORDS(node,
	[HYB_NODE_ROOT] = {"root", NULL},
	[HYB_NODE_REGION] = {"region", NULL},
	[HYB_NODE_FUNCTION] = {"function", NULL},
	[HYB_NODE_CALL] = {"call", NULL},
	[HYB_NODE_LEAF] = {"leaf", NULL},
	[HYB_NODE_PARTIAL] = {"partial", NULL},
	[HYB_NODE_PYTHON] = {"python", NULL},
	[HYB_NODE_AWAIT] = {"await", NULL},
	[HYB_NODE_MESSAGE] = {"message", NULL},
	[HYB_NODE_RANGE] = {"range", NULL});

WORDS(message,
	[HYB_MESSAGE_SEND] = {"send", NULL},
	[HYB_MESSAGE_RECV] = {"recv", NULL},
	[HYB_MESSAGE_COLLECTIVE] = {"collective", NULL},
	[HYB_MESSAGE_PUT] = {"put", NULL},
	[HYB_MESSAGE_GET] = {"get", NULL},
	[HYB_MESSAGE_UPDATE] = {"update", NULL},
	[HYB_MESSAGE_READ] = {"read", NULL},
	[HYB_MESSAGE_WRITE] = {"write", NULL});

WORDS(collective,
	[HYB_COLLECTIVE_BARRIER] = {"barrier", NULL},
	[HYB_COLLECTIVE_BCAST] = {"bcast", NULL},
	[HYB_COLLECTIVE_GATHER] = {"gather", NULL},
	[HYB_COLLECTIVE_GATHERV] = {"gatherv", NULL},
	[HYB_COLLECTIVE_SCATTER] = {"scatter", NULL},
	[HYB_COLLECTIVE_SCATTERV] = {"scatterv", NULL},
	[HYB_COLLECTIVE_ALLGATHER] = {"allgather", NULL},
	[HYB_COLLECTIVE_ALLGATHERV] = {"allgatherv", NULL},
	[HYB_COLLECTIVE_ALLTOALL] = {"alltoall", NULL},
	[HYB_COLLECTIVE_ALLTOALLV] = {"alltoallv", NULL},
	[HYB_COLLECTIVE_ALLTOALLW] = {"alltoallw", NULL},
	[HYB_COLLECTIVE_REDUCE] = {"reduce", NULL},
	[HYB_COLLECTIVE_ALLREDUCE] = {"allreduce", NULL},
	[HYB_COLLECTIVE_SCAN] = {"scan", NULL},
	[HYB_COLLECTIVE_EXSCAN] = {"exscan", NULL},
	[HYB_COLLECTIVE_REDUCE_SCATTER] = {"reduce_scatter", NULL},
	[HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", NULL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLGATHER] = {"neighbor_allgather", NULL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLGATHERV] = {"neighbor_allgatherv", NULL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALL] = {"neighbor_alltoall", NULL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALLV] = {"neighbor_alltoallv", NULL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW] = {"neighbor_alltoallw", NULL});

WORDS(event,
	[HYB_EVENT_SAMPLE] = {"sample", NULL},
	[HYB_EVENT_ENTER] = {"enter", NULL},
	[HYB_EVENT_LEAVE] = {"leave", NULL},
	[HYB_EVENT_COMPLETE] = {"complete", NULL},
	[HYB_EVENT_COUNTER] = {"counter", NULL},
	[HYB_EVENT_MARKER] = {"marker", NULL},
	[HYB_EVENT_GAP] = {"gap", NULL},
	[HYB_EVENT_MESSAGE] = {"message", NULL},
	[HYB_EVENT_POSTED] = {"posted", NULL},
	[HYB_EVENT_SENT] = {"sent", NULL},
	[HYB_EVENT_TESTED] = {"tested", NULL},
	[HYB_EVENT_CANCELLED] = {"cancelled", NULL},
	[HYB_EVENT_COLLECTED] = {"collected", NULL},
	[HYB_EVENT_DONE] = {"done", NULL},
	[HYB_EVENT_EPOCH] = {"epoch", NULL},
	[HYB_EVENT_FAILED] = {"failed", NULL},
	[HYB_EVENT_CREATED] = {"created", NULL},
	[HYB_EVENT_FREED] = {"freed", NULL},
	[HYB_EVENT_UNMEASURED] = {"unmeasured", NULL});
/* clang-format on */

bool word_known(const struct words *words, uint64_t number)
{
	return number < words->count && words->words[number].key != NULL;
}

const char *word_key(const struct words *words, uint64_t number)
{
	return word_known(words, number) ? words->words[number].key : "unknown";
}

const char *word_text(const struct words *words, uint64_t number)
{
	if (!word_known(words, number))
		return "of a kind that this version does not know";
	return words->words[number].text ? words->words[number].text : words->words[number].key;
}

static unsigned find_collective(const char *name, size_t length)
{
	for (size_t i = 1; i < words_collective.count; i++) {
		const char *key = words_collective.words[i].key;

		if (strlen(key) == length && !strncasecmp(key, name, length))
			return (unsigned)i;
	}
	return HYB_COLLECTIVE_UNKNOWN;
}

static size_t without(const char *name, size_t length, const char *end)
{
	size_t tail = strlen(end);

	return length > tail && !strncasecmp(name + length - tail, end, tail) ? length - tail : length;
}

unsigned word_collective(const char *function)
{
	const char *name = function + (!strncasecmp(function, "mpi_", 4)           ? 4
					      : !strncasecmp(function, "mpix_", 5) ? 5
										   : 0);
	size_t length = without(name, without(name, strlen(name), "_c"), "_init");
	unsigned found = find_collective(name, length);

	return found || (*name | 32) != 'i' ? found : find_collective(name + 1, length - 1);
}
