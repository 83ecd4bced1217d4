#include "run/options.h"

#include "base/argument.h"
#include "run/message.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RATE_MAX 10000
#define RATE_DEFAULT 200
#define DEMOTE_METRICS_NS \
	20000 /* reading metrics costs a few microseconds: a tenth of that, as without them */

enum {
	OPTION_WALL = 256,
	OPTION_SOURCE,
	OPTION_TRACE,
	OPTION_TRACE_LIMIT,
	OPTION_BUDGET,
	OPTION_DEMOTE,
	OPTION_FILTER,
	OPTION_PYTHON,
	OPTION_MPI,
	OPTION_FILES,
	OPTION_SIGNAL,
	OPTION_REPORT,
	OPTION_LIST_METRICS,
	OPTION_CHECK,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"rate", required_argument, NULL, 'r'},
	{"wall", no_argument, NULL, OPTION_WALL},
	{"source", required_argument, NULL, OPTION_SOURCE},
	{"trace", no_argument, NULL, OPTION_TRACE},
	{"trace-limit", required_argument, NULL, OPTION_TRACE_LIMIT},
	{"metric", required_argument, NULL, 'm'},
	{"event", required_argument, NULL, 'e'},
	{"list-metrics", optional_argument, NULL, OPTION_LIST_METRICS},
	{"check", no_argument, NULL, OPTION_CHECK},
	{"budget", required_argument, NULL, OPTION_BUDGET},
	{"demote", required_argument, NULL, OPTION_DEMOTE},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"python", required_argument, NULL, OPTION_PYTHON},
	{"mpi", required_argument, NULL, OPTION_MPI},
	{"files", required_argument, NULL, OPTION_FILES},
	{"signal", required_argument, NULL, OPTION_SIGNAL},
	{"quiet", no_argument, NULL, 'q'},
	{"report", no_argument, NULL, OPTION_REPORT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"Usage: hybrid-run [options] PROGRAM [arguments...]\n"
	"       hybrid-run --list-metrics [FILTER] | --check [PROGRAM]\n"
	"Runs PROGRAM and measures it; hybrid-report shows the result.\n"
	"\n"
	"  -o, --output DIR       where the experiment goes (default: hyb-PROGRAM-DATE-TIME)\n"
	"\n"
	"Samples:\n"
	"  -r, --rate N           samples a second of each thread, 0 to 10000; 0: none\n"
	"                         (default: the rate of the kernel's tick, at most 200)\n"
	"      --wall             sample what waits, too: by wall time, not by CPU time\n"
	"      --source auto|perf|timer|cpu\n"
	"                         what interrupts: perf (task clock), timer (where perf is\n"
	"                         forbidden) or cpu (cheap, but wrong for threads that sleep);\n"
	"                         default: auto, the first of these that works\n"
	"      --budget PERCENT   CPU time that sampling may cost before the rate is lowered,\n"
	"                         0.1 to 100 (default: 5)\n"
	"      --signal N         number of the signal that samples use (default: 16)\n"
	"\n"
	"Metrics:\n"
	"  -m, --metric NAME,...  read these, too, at each enter, leave and sample: counters of\n"
	"                         the processor and the kernel, user::COUNTER of the program\n"
	"  -e, --event NAME@PERIOD\n"
	"                         and take a sample each time it has grown by PERIOD, beside\n"
	"                         those of the timer; with -r 0 instead of them\n"
	"      --list-metrics     show the metrics of this machine; with FILTER: those that have\n"
	"                         it in name or description\n"
	"      --check            show what can be measured here, and of PROGRAM, and the command\n"
	"                         that mends what cannot\n"
	"\n"
	"Probes and trace:\n"
	"      --trace            record each enter and leave of a region\n"
	"      --trace-limit SIZE bytes of trace for each process, with K, M or G (default: 1G)\n"
	"      --demote CALLS:NS  only count a region after that many calls if they take less\n"
	"                         time on average; 0: never (default: 100000:500, with\n"
	"                         --python=hooks 10000:500; with metrics 20000 for 500)\n"
	"      --filter FILE      lines `include PATTERN` and `exclude PATTERN`: which functions\n"
	"                         of a program built with -finstrument-functions are probes;\n"
	"                         for --python=hooks: `exclude python:package.module.*`\n"
	"\n"
	"Python:\n"
	"      --python frames|hooks|off\n"
	"                         frames: samples show Python functions and lines (default);\n"
	"                         hooks: functions are probes, too, with calls and times;\n"
	"                         off: the interpreter is a native program as any other\n"
	"\n"
	"MPI:\n"
	"      --mpi auto|off     calls of MPI are probes (default: auto), or not measured\n"
	"      --files auto|process|node\n"
	"                         process: each process has a file of its own; node: those of\n"
	"                         a host share one; auto: node for 32 ranks a host and more, and\n"
	"                         on network file systems (default: auto)\n"
	"\n"
	"  -q, --quiet            print nothing at the end\n"
	"      --report           print the report at the end (on stderr)\n"
	"  -h, --help             show this text\n"
	"      --version          show the version\n"
	"\n"
	"The exit status is that of PROGRAM; 2: wrong usage, 1: nowhere to write to, or --check\n"
	"has found that nothing can be measured,\n"
	"126: PROGRAM cannot be executed, 127: PROGRAM not found.\n"
	"\n"
	"Examples:\n"
	"  hybrid-run ./solver input.dat          then: hybrid-report hyb-solver-*\n"
	"  hybrid-run --report -r 997 ./solver    997 samples a second, report at once\n"
	"  hybrid-run -m PAPI_TOT_INS,PAPI_TOT_CYC -e perf::PAGE-FAULTS@100 ./solver\n"
	"  hybrid-run -o run1 --wall ./server     see where it waits\n"
	"  hybrid-run app.py input.dat            a Python program, with python3 of PATH\n"
	"  mpiexec -n 64 hybrid-run ./solver      one experiment of all ranks\n"
	"  srun -n 64 hybrid-run -o run1 ./solver the same under Slurm\n"
	"  hybrid-run mpiexec -n 64 ./solver      the same, started the other way round\n"
	"  hybrid-run --trace --trace-limit 200M ./solver\n";

/* Reads a decimal number that begins `text`; *ret_end is what follows. False if there is none up to `max`. */
static bool read_number(const char *text, uint64_t max, uint64_t *ret, const char **ret_end)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (p == text)
		return false;
	*ret = value;
	*ret_end = p;
	return true;
}

static bool read_whole(const char *text, uint64_t max, uint64_t *ret)
{
	const char *end;
	uint64_t value;

	if (!read_number(text, max, &value, &end) || *end)
		return false;
	*ret = value;
	return true;
}

static bool read_size(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "KMG";
	const char *end, *suffix;
	unsigned shift = 0;
	uint64_t value;

	if (!read_number(text, INT64_MAX, &value, &end))
		return false;
	if (*end) {
		suffix = strchr(suffixes, *end);
		if (!suffix || end[1])
			return false;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (value > (uint64_t)INT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return true;
}

/* A number with at most one decimal, in tenths. */
static bool read_tenths(const char *text, uint64_t max, uint64_t *ret)
{
	const char *end;
	uint64_t value;

	if (!read_number(text, max, &value, &end))
		return false;
	value *= 10;
	if (end[0] == '.' && end[1] >= '0' && end[1] <= '9' && !end[2])
		value += (uint64_t)(end[1] - '0');
	else if (*end)
		return false;
	if (value > max)
		return false;
	*ret = value;
	return true;
}

static int set_rate(struct options *o, const char *text)
{
	uint64_t value;

	if (!read_whole(text, RATE_MAX, &value))
		return message("--rate %s: give a number from 0 (no sampling) to %d samples a second", text,
			RATE_MAX);
	o->rate = (unsigned)value;
	return OPTIONS_OK;
}

/* The one of `names`, NULL behind the last, that is `text`; `wanted` lists them for people. */
static int choose(
	const char *option, const char *text, const char *const *names, const char *wanted, const char **ret)
{
	while (*names && strcmp(text, *names))
		names++;
	if (!*names)
		return message("--%s %s: give %s", option, text, wanted);
	*ret = *names;
	return OPTIONS_OK;
}

static int set_mpi(struct options *o, const char *text)
{
	static const char *const names[] = {"off", "auto", NULL};
	const char *name = NULL;
	int result = choose("mpi", text, names, "auto or off", &name);

	o->mpi = name != names[0];
	return result;
}

static int set_trace_limit(struct options *o, const char *text)
{
	if (read_size(text, &o->trace_limit))
		return OPTIONS_OK;
	return message("--trace-limit %s: give a number of bytes, if need be with K, M or G, as 500M", text);
}

static int set_budget(struct options *o, const char *text)
{
	uint64_t value;

	if (!read_tenths(text, 1000, &value) || !value)
		return message("--budget %s: give percent, 0.1 to 100 with at most one decimal", text);
	o->budget = (unsigned)value;
	return OPTIONS_OK;
}

static int set_demote(struct options *o, const char *text)
{
	uint64_t calls, ns;
	const char *end;

	if (!strcmp(text, "0")) {
		o->demote_calls = o->demote_ns = 0;
		return OPTIONS_OK;
	}
	if (!read_number(text, INT64_MAX, &calls, &end) || *end != ':' ||
		!read_whole(end + 1, INT64_MAX, &ns))
		return message(
			"--demote %s: give CALLS:NANOSECONDS, for instance 100000:500, or 0 for never", text);
	o->demote_calls = calls;
	o->demote_ns = ns;
	return OPTIONS_OK;
}

/* Signals that the kernel, the terminal or the C library cannot do without. */
static bool signal_is_taken(uint64_t number)
{
	static const unsigned char taken[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGCHLD,
		SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, 32, 33};

	return number == 0 || memchr(taken, (int)number, sizeof(taken));
}

static int set_signal(struct options *o, const char *text)
{
	uint64_t value;

	if (!read_whole(text, 64, &value) || signal_is_taken(value))
		return message("--signal %s: give the number of a signal that is free for use, for instance "
			       "16, 27 or 40",
			text);
	o->signal = (unsigned)value;
	return OPTIONS_OK;
}

/* What is measured, or could be. */
static int set_metrics(struct options *o, int option, const char *text)
{
	int result = 0;

	if (option == 'm') {
		result = metrics_add_names(&o->metrics, text);
	} else if (option == 'e') {
		result = metrics_add_events(&o->metrics, text);
	} else if (option == OPTION_CHECK) {
		o->mode = MODE_CHECK;
	} else {
		o->mode = MODE_LIST_METRICS;
		o->metric_filter = text;
	}
	return result ? OPTIONS_BAD : OPTIONS_OK;
}

/* One option of either spelling. */
static int set_option(struct options *o, int option, const char *text)
{
	static const char *const sources[] = {"auto", "cpu", "perf", "timer", NULL};
	static const char *const modes[] = {"frames", "hooks", "off", NULL};
	static const char *const shares[] = {"auto", "process", "node", NULL};

	switch (option) {
	case 'o':
		o->directory = text;
		break;
	case 'r':
		return set_rate(o, text);
	case OPTION_WALL:
		o->source = "wall";
		break;
	case OPTION_SOURCE:
		return choose("source", text, sources, "auto, cpu, perf or timer", &o->source);
	case OPTION_TRACE:
		o->trace = true;
		break;
	case OPTION_TRACE_LIMIT:
		return set_trace_limit(o, text);
	case OPTION_BUDGET:
		return set_budget(o, text);
	case OPTION_DEMOTE:
		return set_demote(o, text);
	case OPTION_FILTER:
		o->filter = text;
		break;
	case OPTION_PYTHON:
		return choose("python", text, modes, "frames, hooks or off", &o->python);
	case OPTION_MPI:
		return set_mpi(o, text);
	case OPTION_FILES:
		return choose("files", text, shares, "auto, process or node", &o->files);
	case OPTION_SIGNAL:
		return set_signal(o, text);
	case 'm':
	case 'e':
	case OPTION_LIST_METRICS:
	case OPTION_CHECK:
		return set_metrics(o, option, text);
	case 'q':
		o->quiet = true;
		break;
	case OPTION_REPORT:
		o->report = true;
		break;
	case 'h':
		fputs(help_text, stdout);
		return OPTIONS_DONE;
	case OPTION_VERSION:
		puts("hybrid-run " HYBRID_VERSION);
		return OPTIONS_DONE;
	default:
		return OPTIONS_BAD;
	}
	return OPTIONS_OK;
}

/* More than the tick's rate costs extra: the timer that rides on the tick has no more to give. */
static unsigned default_rate(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
		return RATE_DEFAULT;
	unsigned hz = (unsigned)(1000000000 / tick.tv_nsec);
	return hz < RATE_DEFAULT ? hz : RATE_DEFAULT;
}

/* What stands behind the options. */
static int set_words(struct options *o, int count, char **words)
{
	o->command = words;
	if (o->mode == MODE_LIST_METRICS) {
		if (count > 1 || (count && o->metric_filter))
			return message("--list-metrics: give one filter, and no program");
		if (count)
			o->metric_filter = words[0];
		return OPTIONS_OK;
	}
	if (!count && o->mode == MODE_RUN)
		return message(
			"no program given: hybrid-run [options] PROGRAM [arguments...]; --help shows more");
	return OPTIONS_OK;
}

int options_parse(int argc, char **argv, struct options *ret)
{
	struct options o = {
		.rate = default_rate(),
		.source = "auto",
		.trace_limit = (uint64_t)1 << 30,
		.budget = 50,
		.demote_calls = 100000,
		.demote_ns = 500,
		.python = "frames",
		.mpi = true,
		.files = "auto",
		.signal = 16,
	};
	bool wall = false, source = false, demote = false;
	char text[ARGUMENT_TEXT];
	int option, result;

	while ((option = argument_next(argc, argv, "+o:r:m:e:qh", long_options, text)) != -1) {
		if (option == '?')
			return message("%s; see hybrid-run --help", text);
		result = set_option(&o, option, optarg);
		if (result != OPTIONS_OK)
			return result;
		wall |= option == OPTION_WALL;
		source |= option == OPTION_SOURCE;
		demote |= option == OPTION_DEMOTE;
	}
	if (wall && source)
		return message("--wall and --source exclude each other: leave one out");
	if (set_words(&o, argc - optind, argv + optind) != OPTIONS_OK)
		return OPTIONS_BAD;
	if (!demote && !strcmp(o.python, "hooks"))
		o.demote_calls = 10000;
	if (!demote && o.metrics.count)
		o.demote_ns = DEMOTE_METRICS_NS;
	*ret = o;
	return OPTIONS_OK;
}

void options_print(const struct options *o, FILE *out)
{
	fprintf(out,
		"rate=%u,source=%s,trace=%d,trace_limit=%llu,budget=%u,demote=%llu:%llu,signal=%u,python=%s,"
		"mpi=%s,files=%s",
		o->rate, o->source, o->trace, (unsigned long long)o->trace_limit, o->budget,
		(unsigned long long)o->demote_calls, (unsigned long long)o->demote_ns, o->signal, o->python,
		o->mpi ? "auto" : "off", o->files);
}
