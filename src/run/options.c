#include "run/options.h"

#include "run/say.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RATE_MAX 10000
#define RATE_DEFAULT 250

enum {
	OPTION_WALL = 256,
	OPTION_SOURCE,
	OPTION_TRACE,
	OPTION_TRACE_LIMIT,
	OPTION_BUDGET,
	OPTION_DEMOTE,
	OPTION_FILTER,
	OPTION_PYTHON,
	OPTION_SIGNAL,
	OPTION_REPORT,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"rate", required_argument, NULL, 'r'},
	{"wall", no_argument, NULL, OPTION_WALL},
	{"source", required_argument, NULL, OPTION_SOURCE},
	{"trace", no_argument, NULL, OPTION_TRACE},
	{"trace-limit", required_argument, NULL, OPTION_TRACE_LIMIT},
	{"budget", required_argument, NULL, OPTION_BUDGET},
	{"demote", required_argument, NULL, OPTION_DEMOTE},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"python", required_argument, NULL, OPTION_PYTHON},
	{"signal", required_argument, NULL, OPTION_SIGNAL},
	{"quiet", no_argument, NULL, 'q'},
	{"report", no_argument, NULL, OPTION_REPORT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"Usage: hybrid-run [options] PROGRAM [arguments...]\n"
	"Runs PROGRAM and measures it; hybrid-report shows the result.\n"
	"\n"
	"  -o, --output DIR       where the experiment goes (default: hyb-PROGRAM-DATE-TIME)\n"
	"\n"
	"Samples:\n"
	"  -r, --rate N           samples a second of each thread, 0 to 10000; 0: none\n"
	"                         (default: the rate of the kernel's tick, at most 250)\n"
	"      --wall             sample what waits, too: by wall time, not by CPU time\n"
	"      --source NAME      auto, cpu (rides on the tick), perf, or timer (default: auto)\n"
	"      --budget PERCENT   CPU time that sampling may cost before the rate is lowered,\n"
	"                         0.1 to 100 (default: 5)\n"
	"      --signal N         number of the signal that samples use (default: 16)\n"
	"\n"
	"Probes and trace:\n"
	"      --trace            record each enter and leave of a region\n"
	"      --trace-limit SIZE bytes of trace for each process, with K, M or G (default: 1G)\n"
	"      --demote CALLS:NS  only count a region after that many calls if they take less\n"
	"                         time on average; 0: never (default: 100000:500, with\n"
	"                         --python=hooks 10000:500)\n"
	"      --filter FILE      lines `include PATTERN` and `exclude PATTERN`: which functions\n"
	"                         of a program built with -finstrument-functions are probes;\n"
	"                         for --python=hooks: `exclude python:package.module.*`\n"
	"\n"
	"Python:\n"
	"      --python MODE      frames: samples show Python functions and lines (default);\n"
	"                         hooks: functions are probes, too, with calls and times;\n"
	"                         off: the interpreter is a native program as any other\n"
	"\n"
	"  -q, --quiet            say nothing at the end\n"
	"      --report           print the report at the end (on stderr)\n"
	"  -h, --help             show this text\n"
	"      --version          show the version\n"
	"\n"
	"The exit status is that of PROGRAM; 2: wrong usage, 1: nowhere to write to,\n"
	"126: PROGRAM cannot be executed, 127: PROGRAM not found.\n"
	"\n"
	"Examples:\n"
	"  hybrid-run ./solver input.dat          then: hybrid-report hyb-solver-*\n"
	"  hybrid-run --report -r 997 ./solver    997 samples a second, report at once\n"
	"  hybrid-run -o run1 --wall ./server     see where it waits\n"
	"  hybrid-run app.py input.dat            a Python program, with python3 of PATH\n"
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

	if (!read_whole(text, RATE_MAX, &value)) {
		say("--rate %s: give a number from 0 (no sampling) to %d samples a second", text, RATE_MAX);
		return OPTIONS_BAD;
	}
	o->rate = (unsigned)value;
	return OPTIONS_OK;
}

/* The one of `names`, NULL behind the last, that is `text`; NULL if none is. */
static const char *find_name(const char *const *names, const char *text)
{
	while (*names && strcmp(text, *names))
		names++;
	return *names;
}

static int set_source(struct options *o, const char *text)
{
	static const char *const names[] = {"auto", "cpu", "perf", "timer", NULL};

	o->source = find_name(names, text);
	if (o->source)
		return OPTIONS_OK;
	say("--source %s: give auto, cpu, perf or timer", text);
	return OPTIONS_BAD;
}

static int set_python(struct options *o, const char *text)
{
	static const char *const names[] = {"frames", "hooks", "off", NULL};

	o->python = find_name(names, text);
	if (o->python)
		return OPTIONS_OK;
	say("--python %s: give frames, hooks or off", text);
	return OPTIONS_BAD;
}

static int set_trace_limit(struct options *o, const char *text)
{
	if (read_size(text, &o->trace_limit))
		return OPTIONS_OK;
	say("--trace-limit %s: give a number of bytes, with K, M or G behind it if you like", text);
	return OPTIONS_BAD;
}

static int set_budget(struct options *o, const char *text)
{
	uint64_t value;

	if (!read_tenths(text, 1000, &value) || !value) {
		say("--budget %s: give percent, 0.1 to 100 with at most one decimal", text);
		return OPTIONS_BAD;
	}
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
		!read_whole(end + 1, INT64_MAX, &ns)) {
		say("--demote %s: give CALLS:NANOSECONDS, for instance 100000:500, or 0 for never", text);
		return OPTIONS_BAD;
	}
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

	if (!read_whole(text, 64, &value) || signal_is_taken(value)) {
		say("--signal %s: give the number of a signal that is free for use, for instance 16, 27 or "
		    "40",
			text);
		return OPTIONS_BAD;
	}
	o->signal = (unsigned)value;
	return OPTIONS_OK;
}

/* One option of either spelling. */
static int set_option(struct options *o, int option, const char *text)
{
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
		return set_source(o, text);
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
		return set_python(o, text);
	case OPTION_SIGNAL:
		return set_signal(o, text);
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
		say("`hybrid-run --help` shows the options"); /* getopt said what is wrong */
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
		.signal = 16,
	};
	bool wall = false, source = false, demote = false;
	int option, result;

	argv[0] = (char *)"hybrid-run"; /* getopt's messages begin with it */
	while ((option = getopt_long(argc, argv, "+o:r:qh", long_options, NULL)) != -1) {
		result = set_option(&o, option, optarg);
		if (result != OPTIONS_OK)
			return result;
		wall |= option == OPTION_WALL;
		source |= option == OPTION_SOURCE;
		demote |= option == OPTION_DEMOTE;
	}
	if (wall && source) {
		say("--wall brings its own source: leave --source out");
		return OPTIONS_BAD;
	}
	if (optind == argc) {
		say("no program given: hybrid-run [options] PROGRAM [arguments...]; --help shows more");
		return OPTIONS_BAD;
	}
	if (!demote && !strcmp(o.python, "hooks"))
		o.demote_calls = 10000;
	o.command = argv + optind;
	*ret = o;
	return OPTIONS_OK;
}

void options_print(const struct options *o, FILE *out)
{
	fprintf(out,
		"rate=%u,source=%s,trace=%d,trace_limit=%llu,budget=%u,demote=%llu:%llu,signal=%u,python=%s",
		o->rate, o->source, o->trace, (unsigned long long)o->trace_limit, o->budget,
		(unsigned long long)o->demote_calls, (unsigned long long)o->demote_ns, o->signal, o->python);
}
