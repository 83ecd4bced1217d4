#include "viewer/app/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "viewer/app/panes.h"

enum {
	OPTION_CALLSITES = 256,
	OPTION_ROUTINES,
	OPTION_FUNCTIONS,
	OPTION_PYTHON_INTERNALS,
	OPTION_MPI_INTERNALS,
	OPTION_THRESHOLD,
	OPTION_PROCESS,
	OPTION_THREAD,
	OPTION_RANKS,
	OPTION_DIFF,
	OPTION_METRICS_FILE,
	OPTION_MAP,
	OPTION_LIVE,
	OPTION_VIEW,
	OPTION_ASCII,
	OPTION_COLOR,
	OPTION_NO_COLOR,
	OPTION_NO_MOUSE,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"callsites", no_argument, NULL, OPTION_CALLSITES},
	{"routines", no_argument, NULL, OPTION_ROUTINES},
	{"functions", no_argument, NULL, OPTION_FUNCTIONS},
	{"python-internals", no_argument, NULL, OPTION_PYTHON_INTERNALS},
	{"mpi-internals", no_argument, NULL, OPTION_MPI_INTERNALS},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"thread", required_argument, NULL, OPTION_THREAD},
	{"ranks", required_argument, NULL, OPTION_RANKS},
	{"diff", required_argument, NULL, OPTION_DIFF},
	{"metric", required_argument, NULL, 'm'},
	{"metrics-file", required_argument, NULL, OPTION_METRICS_FILE},
	{"map", required_argument, NULL, OPTION_MAP},
	{"live", no_argument, NULL, OPTION_LIVE},
	{"view", required_argument, NULL, OPTION_VIEW},
	{"ascii", no_argument, NULL, OPTION_ASCII},
	{"color", optional_argument, NULL, OPTION_COLOR},
	{"colour", optional_argument, NULL, OPTION_COLOR},
	{"no-color", no_argument, NULL, OPTION_NO_COLOR},
	{"no-mouse", no_argument, NULL, OPTION_NO_MOUSE},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"Usage: hybrid-view [options] PATH...\n"
	"Browses in a terminal what hybrid-run measured, or is measuring; ? there shows the keys.\n"
	"PATH is an experiment (a directory), one .hyb file or an OTF2 archive; several are merged.\n"
	"\n"
	"What to show first:\n"
	"      --view NAME        a pane: tree (default), reverse, flat, locations, timeline,\n"
	"                         communication, diff, quality or findings\n"
	"      --diff BASE        what changed from BASE to PATH, in time and in each --metric\n"
	"      --live             the run goes on, or has not begun yet: the screen follows it\n"
	"\n"
	"Which numbers:\n"
	"  -m, --metric LIST      metrics beside time, separated by commas; 'ipc = PAPI_TOT_INS /\n"
	"                         PAPI_TOT_CYC' derives one\n"
	"      --metrics-file FILE  derived ones, a line each; shown if no --metric chooses\n"
	"\n"
	"How to read a frame:\n"
	"      --routines         frames merge by function; sampled lines show (default)\n"
	"      --callsites        each line that calls is a node of its own\n"
	"      --functions        frames merge by function; lines do not show\n"
	"      --python-internals show the frames of Python's interpreter, too\n"
	"      --mpi-internals    show the frames inside calls of MPI, too\n"
	"      --map OLD=NEW      sources that were at OLD are at NEW (several --map: the first that\n"
	"                         fits)\n"
	"\n"
	"Which part:\n"
	"      --ranks LIST       only these ranks: 0-3,7\n"
	"      --process PID      only this process\n"
	"      --thread TID       only this thread\n"
	"      --threshold P      leave out what is below P percent (default: 0.5)\n"
	"\n"
	"The screen:\n"
	"      --color[=WHEN], --colour[=WHEN]  auto (default), always or never; --no-color is never\n"
	"      --no-color         as --color=never\n"
	"      --ascii            nothing but ASCII, also where the locale has UTF-8\n"
	"      --no-mouse         leave the mouse to the terminal\n"
	"  -h, --help             this text\n"
	"      --version          the version\n"
	"\n"
	"Examples:\n"
	"  hybrid-view hyb-prog-20260101-120000\n"
	"  hybrid-view --diff before after\n"
	"  hybrid-view --live hyb-solver-20260101-120000\n"
	"  hybrid-view --view timeline --ranks 0-3 hyb-solver-20260101-120000\n"
	"  hybrid-view --map /build/src=$HOME/src hyb-prog-20260101-120000\n";

static int wrong(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "hybrid-view: %s %s: give %s\n", option, value, allowed);
	return -1;
}

/* `wanted`: what a function of values says of that of the option. */
static int check(const char *option, const char *wanted)
{
	return wanted ? wrong(option, optarg, wanted) : 0;
}

static int parse_view(struct view_options *o, const char *value)
{
	for (size_t i = 0; i < pane_class_count; i++)
		if (!strcmp(pane_classes[i]->name, value)) {
			o->view = value;
			return 0;
		}
	return wrong("--view", value, "the name of a pane; see hybrid-view --help");
}

static int parse_map(struct view_options *o, const char *value)
{
	const char *sign = strchr(value, '=');

	if (!sign || sign == value || !sign[1])
		return wrong("--map", value, "two directories: OLD=NEW");
	if (o->map_count == VIEW_LIST_MAX)
		return wrong("--map", value, "fewer of them");
	o->maps[o->map_count++] = value;
	return 0;
}

static int add_word(const char *option, const char *value, const char **words, size_t *count)
{
	if (*count == VIEW_LIST_MAX)
		return wrong(option, value, "fewer of them, or lists");
	words[(*count)++] = value;
	return 0;
}

static void set_option(struct view_options *o, int c)
{
	switch (c) {
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
	case OPTION_MPI_INTERNALS:
		o->mpi_internals = true;
		break;
	case OPTION_DIFF:
		o->base = optarg;
		break;
	case OPTION_LIVE:
		o->live = true;
		break;
	case OPTION_ASCII:
		o->ascii = true;
		break;
	case OPTION_NO_COLOR:
		o->colour = 0;
		break;
	case OPTION_NO_MOUSE:
		o->mouse = false;
		break;
	}
}

/* `word`: the argument it stands in. */
static int parse_option(struct view_options *o, int c, const char *word)
{
	switch (c) {
	case OPTION_THRESHOLD:
		return check("--threshold", argument_percentage(optarg, &o->threshold));
	case OPTION_PROCESS:
		return check("--process", selection_process(&o->part, optarg));
	case OPTION_THREAD:
		return check("--thread", selection_thread(&o->part, optarg));
	case OPTION_RANKS:
		return check("--ranks", selection_ranks(&o->part, optarg));
	case 'm':
		return add_word("--metric", optarg, o->metrics, &o->metric_count);
	case OPTION_METRICS_FILE:
		return add_word("--metrics-file", optarg, o->metrics_files, &o->metrics_file_count);
	case OPTION_MAP:
		return parse_map(o, optarg);
	case OPTION_VIEW:
		return parse_view(o, optarg);
	case OPTION_COLOR:
		return check("--color", argument_colour(optarg, &o->colour));
	case '?':
		fprintf(stderr,
			"hybrid-view: %s: no such option, or its value is missing; see hybrid-view --help\n",
			word);
		return -1;
	}
	set_option(o, c);
	return 0;
}

int view_options_parse(struct view_options *o, int argc, char **argv)
{
	int c, at = 1;

	*o = (struct view_options){.threshold = 0.5, .colour = -1, .mouse = true};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "hm:", long_options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help_text, stdout);
			return 1;
		}
		if (c == OPTION_VERSION) {
			printf("hybrid-view %s\n", HYBRID_VERSION);
			return 1;
		}
		if (parse_option(o, c, argv[at]))
			return -1;
		at = optind;
	}
	o->paths = argv + optind;
	o->path_count = argc - optind;
	if (!o->path_count) {
		fputs("hybrid-view: which experiment? give its directory; see hybrid-view --help\n", stderr);
		return -1;
	}
	return 0;
}
