#include "viewer/app/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "viewer/app/pane.h"

enum {
	OPTION_MAP = 256,
	OPTION_LIVE,
	OPTION_VIEW,
	OPTION_ASCII,
	OPTION_NO_MOUSE,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	LOOK_OPTIONS,
	{"map", required_argument, NULL, OPTION_MAP},
	{"live", no_argument, NULL, OPTION_LIVE},
	{"view", required_argument, NULL, OPTION_VIEW},
	{"ascii", no_argument, NULL, OPTION_ASCII},
	{"colour", optional_argument, NULL, LOOK_COLOR},
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
	"      --view tree|reverse|flat|locations|timeline|communication|diff|quality|findings\n"
	"                         that pane (default: tree; with --diff: diff)\n"
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
	"      --color[=auto|always|never], --colour[=auto|always|never]\n"
	"                         colours (default: auto)\n"
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
	fprintf(stderr, "hybrid-view: --%s %s: give %s\n", option, value, allowed);
	return -1;
}

static int parse_view(struct view_options *o, const char *value)
{
	for (size_t i = 0; i < pane_class_count; i++)
		if (!strcmp(pane_classes[i]->name, value)) {
			o->view = value;
			return 0;
		}
	return wrong("view", value, "the name of a pane; see hybrid-view --help");
}

static int parse_map(struct view_options *o, const char *value)
{
	const char *sign = strchr(value, '=');

	if (!sign || sign == value || !sign[1])
		return wrong("map", value, "two directories: OLD=NEW");
	if (o->map_count == VIEW_MAPS_MAX)
		return wrong("map", value, "fewer of them");
	o->maps[o->map_count++] = value;
	return 0;
}

static void set_option(struct view_options *o, int c)
{
	switch (c) {
	case OPTION_LIVE:
		o->live = true;
		break;
	case OPTION_ASCII:
		o->ascii = true;
		break;
	case OPTION_NO_MOUSE:
		o->mouse = false;
		break;
	}
}

static int parse_option(struct view_options *o, int c, const char *refused)
{
	const char *wanted;

	switch (c) {
	case OPTION_MAP:
		return parse_map(o, optarg);
	case OPTION_VIEW:
		return parse_view(o, optarg);
	case '?':
		fprintf(stderr, "hybrid-view: %s; see hybrid-view --help\n", refused);
		return -1;
	}
	set_option(o, c);
	wanted = look_take(&o->look, c, optarg);
	return wanted ? wrong(argument_name(long_options, c), optarg, wanted) : 0;
}

int view_options_parse(struct view_options *o, int argc, char **argv)
{
	char text[ARGUMENT_TEXT];
	int c;

	*o = (struct view_options){.look = {.threshold = 0.5, .colour = -1}, .mouse = true};
	while ((c = argument_next(argc, argv, "hm:", long_options, text)) != -1) {
		if (c == 'h') {
			fputs(help_text, stdout);
			return 1;
		}
		if (c == OPTION_VERSION) {
			printf("hybrid-view %s\n", HYBRID_VERSION);
			return 1;
		}
		if (parse_option(o, c, text))
			return -1;
	}
	o->paths = argv + optind;
	o->path_count = argc - optind;
	if (!o->path_count) {
		fputs("hybrid-view: which experiment? give its directory; see hybrid-view --help\n", stderr);
		return -1;
	}
	if (!o->view && o->look.base)
		o->view = diff_pane.name;
	return 0;
}
