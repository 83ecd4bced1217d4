#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report.h"

enum {
	OPTION_TREE = 256,
	OPTION_REVERSE,
	OPTION_FLAT,
	OPTION_CALLSITES,
	OPTION_ROUTINES,
	OPTION_FUNCTIONS,
	OPTION_PYTHON_INTERNALS,
	OPTION_BY_THREAD,
	OPTION_DEPTH,
	OPTION_THRESHOLD,
	OPTION_SORT,
	OPTION_FULL_PATHS,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_NO_COLOR,
	OPTION_COLOR,
	OPTION_DIFF,
	OPTION_PROCESS,
	OPTION_THREAD,
	OPTION_QUALITY,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"tree", no_argument, NULL, OPTION_TREE},
	{"reverse", no_argument, NULL, OPTION_REVERSE},
	{"flat", optional_argument, NULL, OPTION_FLAT},
	{"callsites", no_argument, NULL, OPTION_CALLSITES},
	{"routines", no_argument, NULL, OPTION_ROUTINES},
	{"functions", no_argument, NULL, OPTION_FUNCTIONS},
	{"python-internals", no_argument, NULL, OPTION_PYTHON_INTERNALS},
	{"by-thread", no_argument, NULL, OPTION_BY_THREAD},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"full-paths", no_argument, NULL, OPTION_FULL_PATHS},
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"no-color", no_argument, NULL, OPTION_NO_COLOR},
	{"color", optional_argument, NULL, OPTION_COLOR},
	{"diff", required_argument, NULL, OPTION_DIFF},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"thread", required_argument, NULL, OPTION_THREAD},
	{"quality", no_argument, NULL, OPTION_QUALITY},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"Usage: hybrid-report [options] PATH...\n"
	"Prints what hybrid-run measured: how good the measurement is, then where the time went.\n"
	"PATH is an experiment (a directory) or one .hyb file; several are merged.\n"
	"\n"
	"What to show:\n"
	"      --tree             the call tree from the top (default)\n"
	"      --reverse          where time was spent, and below it who called\n"
	"      --flat[=BY]        a table by function (default), line, module or thread\n"
	"      --diff BASE        what changed from BASE to PATH\n"
	"      --quality          how good the measurement is, and no more\n"
	"\n"
	"How to read a frame:\n"
	"      --routines         frames merge by function; sampled lines show (default)\n"
	"      --callsites        each line that calls is a node of its own\n"
	"      --functions        frames merge by function; lines do not show\n"
	"      --python-internals show the frames of Python's interpreter, too\n"
	"\n"
	"Which part:\n"
	"      --by-thread        each process and thread apart\n"
	"      --process PID      only this process\n"
	"      --thread TID       only this thread\n"
	"      --depth N          at most N levels below the top\n"
	"      --threshold P      leave out what is below P percent (default: 0.5; with --json\n"
	"                         and --csv: 0)\n"
	"      --sort KEY         inclusive (default), exclusive (default of --flat), samples\n"
	"                         or calls\n"
	"\n"
	"Output:\n"
	"      --full-paths       files and modules with their directories\n"
	"      --json             one JSON object, quality included; times in nanoseconds\n"
	"      --csv              one row a node\n"
	"      --color[=WHEN]     auto (default), always or never; --no-color is never\n"
	"  -h, --help             this text\n"
	"      --version          the version\n"
	"\n"
	"Examples:\n"
	"  hybrid-report hyb-prog-20260101-120000\n"
	"  hybrid-report --flat=line hyb-prog-20260101-120000\n"
	"  hybrid-report --reverse --functions --threshold 2 hyb-prog-20260101-120000\n"
	"  hybrid-report --diff before after\n"
	"  hybrid-report --json exp | python3 -m json.tool\n";

static int wrong(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "hybrid-report: %s %s: give %s\n", option, value, allowed);
	return -1;
}

/* The index of a word, or -1 after a message. */
static int choose(
	const char *option, const char *value, const char *const *words, int count, const char *allowed)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(words[i], value))
			return i;
	return wrong(option, value, allowed);
}

static int parse_number(const char *option, const char *value, unsigned long most, uint32_t *ret)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > most)
		return wrong(option, value, "a whole number from 1");
	*ret = (uint32_t)n;
	return 0;
}

static int parse_threshold(struct report_options *o, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !(v >= 0 && v <= 100))
		return wrong("--threshold", value, "a percentage from 0 to 100");
	o->threshold = v;
	return 0;
}

static int parse_flat(struct report_options *o, const char *value)
{
	static const char *const words[] = {"function", "line", "module", "thread"};
	int by = value ? choose("--flat", value, words, 4, "function, line, module or thread") : 0;

	if (by < 0)
		return -1;
	o->view = REPORT_FLAT;
	o->by = (enum profile_by)by;
	return 0;
}

static int parse_sort(int *sort, const char *value)
{
	static const char *const words[] = {"inclusive", "exclusive", "samples", "calls"};

	*sort = choose("--sort", value, words, 4, "inclusive, exclusive, samples or calls");
	return *sort < 0 ? -1 : 0;
}

static int parse_colour(struct report_options *o, const char *value)
{
	static const char *const words[] = {"auto", "never", "always"};
	int when = value ? choose("--color", value, words, 3, "auto, always or never") : 2;

	if (when < 0)
		return -1;
	o->colour = when == 0 ? -1 : when == 1 ? 0 : 1;
	return 0;
}

/* Options that only set something. */
static void set_option(struct report_options *o, int c)
{
	switch (c) {
	case OPTION_TREE:
		o->view = REPORT_TREE;
		break;
	case OPTION_REVERSE:
		o->view = REPORT_REVERSE;
		break;
	case OPTION_QUALITY:
		o->view = REPORT_QUALITY;
		break;
	case OPTION_CALLSITES:
		o->mode = PROFILE_CALLSITE;
		break;
	case OPTION_ROUTINES:
		o->mode = PROFILE_ROUTINE;
		break;
	case OPTION_FUNCTIONS:
		o->mode = PROFILE_FUNCTION;
		break;
	case OPTION_PYTHON_INTERNALS:
		o->python_internals = true;
		break;
	case OPTION_BY_THREAD:
		o->split = true;
		break;
	case OPTION_FULL_PATHS:
		o->full_paths = true;
		break;
	case OPTION_JSON:
		o->output = REPORT_JSON;
		break;
	case OPTION_CSV:
		o->output = REPORT_CSV;
		break;
	case OPTION_NO_COLOR:
		o->colour = 0;
		break;
	case OPTION_DIFF:
		o->base = optarg;
		break;
	}
}

/* `word`: the argument it stands in. */
static int parse_option(struct report_options *o, int c, const char *word, int *sort)
{
	switch (c) {
	case OPTION_FLAT:
		return parse_flat(o, optarg);
	case OPTION_DEPTH:
		return parse_number("--depth", optarg, 1000000, &o->depth);
	case OPTION_THRESHOLD:
		return parse_threshold(o, optarg);
	case OPTION_SORT:
		return parse_sort(sort, optarg);
	case OPTION_COLOR:
		return parse_colour(o, optarg);
	case OPTION_PROCESS:
		return parse_number("--process", optarg, UINT32_MAX, &o->process);
	case OPTION_THREAD:
		return parse_number("--thread", optarg, UINT32_MAX, &o->thread);
	case '?':
		fprintf(stderr,
			"hybrid-report: %s: no such option, or its value is missing; see hybrid-report "
			"--help\n",
			word);
		return -1;
	}
	set_option(o, c);
	return 0;
}

/* What follows from all options together. */
static int check(struct report_options *o, int sort)
{
	bool flat = o->view == REPORT_FLAT;

	if (!o->path_count) {
		fprintf(stderr, "hybrid-report: name an experiment, as hybrid-run printed it; see "
				"hybrid-report --help\n");
		return -1;
	}
	if (o->base && o->view != REPORT_TREE && o->view != REPORT_QUALITY) {
		fprintf(stderr,
			"hybrid-report: --diff compares call trees; leave --flat and --reverse out\n");
		return -1;
	}
	if (o->view == REPORT_QUALITY && o->output == REPORT_CSV) {
		fprintf(stderr, "hybrid-report: --quality has no rows; use --json instead of --csv\n");
		return -1;
	}
	o->sort = sort >= 0 ? (enum profile_sort)sort
		  : flat    ? PROFILE_SORT_EXCLUSIVE
			    : PROFILE_SORT_INCLUSIVE;
	if (flat && o->by == PROFILE_BY_LINE)
		o->mode = PROFILE_CALLSITE;
	if (flat && o->by == PROFILE_BY_THREAD)
		o->split = true;
	if (o->threshold < 0)
		o->threshold = o->output == REPORT_TEXT ? 0.5 : 0;
	return 0;
}

int report_options_parse(struct report_options *o, int argc, char **argv)
{
	int c, sort = -1;

	*o = (struct report_options){.colour = -1, .threshold = -1};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help_text, stdout);
			return 1;
		}
		if (c == OPTION_VERSION) {
			puts("hybrid-report " HYBRID_VERSION);
			return 1;
		}
		if (parse_option(o, c, argv[optind - 1], &sort))
			return -1;
	}
	o->paths = argv + optind;
	o->path_count = argc - optind;
	return check(o, sort);
}

bool report_is_selected(void *data, const struct hyb_location_info *location)
{
	const struct report_options *o = data;

	return (!o->process || location->process->pid == o->process) &&
	       (!o->thread || location->tid == o->thread);
}
