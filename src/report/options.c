#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "profile/metrics/columns.h"
#include "report.h"

enum {
	OPTION_VIEW = 256, /* and the number of the view */
	OPTION_FLAT = 300,
	OPTION_BY_THREAD,
	OPTION_BY_RANK,
	OPTION_OVER_RANKS,
	OPTION_DEPTH,
	OPTION_SORT,
	OPTION_FULL_PATHS,
	OPTION_SERIAL,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_FOLD_SVG,
	OPTION_FOLD_ALONG,
	OPTION_FOLD_OUTLIERS,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	LOOK_OPTIONS,
	{"tree", no_argument, NULL, OPTION_VIEW + REPORT_TREE},
	{"reverse", no_argument, NULL, OPTION_VIEW + REPORT_REVERSE},
	{"flat", optional_argument, NULL, OPTION_FLAT},
	{"mpi", no_argument, NULL, OPTION_VIEW + REPORT_MPI},
	{"messages", no_argument, NULL, OPTION_VIEW + REPORT_MESSAGES},
	{"unmatched", no_argument, NULL, OPTION_VIEW + REPORT_UNMATCHED},
	{"findings", no_argument, NULL, OPTION_VIEW + REPORT_FINDINGS},
	{"by-thread", no_argument, NULL, OPTION_BY_THREAD},
	{"by-rank", no_argument, NULL, OPTION_BY_RANK},
	{"over-ranks", no_argument, NULL, OPTION_OVER_RANKS},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"full-paths", no_argument, NULL, OPTION_FULL_PATHS},
	{"serial", no_argument, NULL, OPTION_SERIAL},
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"quality", no_argument, NULL, OPTION_VIEW + REPORT_QUALITY},
	{"fold", required_argument, NULL, OPTION_VIEW + REPORT_FOLD},
	{"fold-svg", required_argument, NULL, OPTION_FOLD_SVG},
	{"fold-along", required_argument, NULL, OPTION_FOLD_ALONG},
	{"fold-outliers", required_argument, NULL, OPTION_FOLD_OUTLIERS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"Usage: hybrid-report [options] PATH...\n"
	"Prints what hybrid-run measured: how good the measurement is, then where the time went.\n"
	"PATH is an experiment (a directory), one .hyb file or an OTF2 archive; several are merged.\n"
	"\n"
	"What to show:\n"
	"      --tree             the call tree from the top (default)\n"
	"      --reverse          where time was spent, and below it who called\n"
	"      --flat[=function|line|file|module|thread|rank]\n"
	"                         a table by that (default: function)\n"
	"      --mpi              the time in MPI: by function, and by call path\n"
	"      --messages         who sent how much to whom (MPI), and of what sizes\n"
	"      --unmatched        sends without a receive, and receives without a send (of --trace)\n"
	"      --findings         what all analyses found: where time is lost, to what, by whom and\n"
	"                         why, and what could not be measured\n"
	"      --fold REGION      what happens inside the instances of a region, put on one: rates of\n"
	"                         metrics and the code that runs; REGION: name, a part of it that\n"
	"                         fits one region alone, or 'name file:line'\n"
	"      --fold-svg FILE    draw that, too\n"
	"      --fold-along METRIC  by that instead of time, as perf::TASK-CLOCK\n"
	"      --fold-outliers K  set aside instances whose duration is more than K robust standard\n"
	"                         deviations from the middle (default: 5; 0: none)\n"
	"      --diff BASE        what changed from BASE to PATH, in time and in each --metric\n"
	"      --quality          how good the measurement is, and no more\n"
	"\n"
	"Which numbers:\n"
	"  -m, --metric LIST      metrics beside time, separated by commas; order, shares and colours\n"
	"                         go by the first; 'ipc = PAPI_TOT_INS / PAPI_TOT_CYC' derives one;\n"
	"                         help lists what was measured\n"
	"      --metrics-file FILE  derived ones, a line each; shown if no --metric chooses\n"
	"\n"
	"How to read a frame:\n"
	"      --routines         frames merge by function; sampled lines show (default)\n"
	"      --callsites        each line that calls is a node of its own\n"
	"      --functions        frames merge by function; lines do not show\n"
	"      --python-internals show the frames of Python's interpreter, too\n"
	"      --mpi-internals    show the frames inside calls of MPI, too\n"
	"\n"
	"Which part:\n"
	"      --by-thread        each process and thread apart\n"
	"      --by-rank          each rank of MPI apart\n"
	"      --over-ranks       the call tree with mean, least and most over the ranks, of time or of\n"
	"                         the first --metric\n"
	"      --ranks LIST       only these ranks: 0-3,7\n"
	"      --process PID      only this process\n"
	"      --thread TID       only this thread\n"
	"      --depth N          at most N levels below the top\n"
	"      --threshold P      leave out what is below P percent (default: 0.5; with --json\n"
	"                         and --csv: 0)\n"
	"      --sort inclusive|exclusive|samples|calls\n"
	"                         by that (default: inclusive, with --flat exclusive)\n"
	"\n"
	"Output:\n"
	"      --full-paths       files and modules with their directories\n"
	"      --json             one JSON object, quality included; times in nanoseconds\n"
	"      --csv              one row a node\n"
	"      --color[=auto|always|never]\n"
	"                         colours (default: auto, on a terminal); --no-color is never\n"
	"      --serial           under mpiexec or srun: rank 0 alone; else all ranks share the work\n"
	"  -h, --help             this text\n"
	"      --version          the version\n"
	"\n"
	"Examples:\n"
	"  hybrid-report hyb-prog-20260101-120000\n"
	"  hybrid-report --flat=line hyb-prog-20260101-120000\n"
	"  hybrid-report --reverse --functions --threshold 2 hyb-prog-20260101-120000\n"
	"  hybrid-report --diff before after\n"
	"  hybrid-report --over-ranks hyb-solver-20260101-120000\n"
	"  hybrid-report --messages --ranks 0-15 hyb-solver-20260101-120000\n"
	"  hybrid-report --findings hyb-solver-20260101-120000\n"
	"  hybrid-report --fold solve --fold-svg solve.svg hyb-solver-20260101-120000\n"
	"  hybrid-report --json exp | python3 -m json.tool\n"
	"  mpiexec -n 16 hybrid-report hyb-solver-20260101-120000\n";

int report_failed(const char *text)
{
	fprintf(stderr, "hybrid-report: %s\n", text);
	return -1;
}

static int wrong(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "hybrid-report: --%s %s: give %s\n", option, value, allowed);
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

/* `wanted`: what a function of values says of that of the option. */
static int check_value(int c, const char *wanted)
{
	return wanted ? wrong(argument_name(long_options, c), optarg, wanted) : 0;
}

static int parse_flat(struct report_options *o, const char *value)
{
	static const char *const words[] = {"function", "line", "module", "thread", "file", "rank"};
	int by = value ? choose("flat", value, words, 6, "function, line, file, module, thread or rank") : 0;

	if (by < 0)
		return -1;
	o->view = by == 5 ? REPORT_RANKS : REPORT_FLAT;
	o->by = by == 5 ? PROFILE_BY_FUNCTION : (enum profile_by)by;
	return 0;
}

static int parse_outliers(struct report_options *o, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !(v >= 0 && v <= 1000))
		return wrong("fold-outliers", value, "a number from 0 (none is set aside) to 1000");
	o->fold_spread = v;
	return 0;
}

static int parse_sort(int *sort, const char *value)
{
	static const char *const words[] = {"inclusive", "exclusive", "samples", "calls"};

	*sort = choose("sort", value, words, 4, "inclusive, exclusive, samples or calls");
	return *sort < 0 ? -1 : 0;
}

/* Options that only set something. */
static void set_option(struct report_options *o, int c)
{
	switch (c) {
	case OPTION_VIEW + REPORT_FOLD:
		o->fold = optarg;
		break;
	case OPTION_FOLD_SVG:
		o->fold_svg = optarg;
		break;
	case OPTION_FOLD_ALONG:
		o->fold_along = optarg;
		break;
	case OPTION_BY_THREAD:
		o->split = true;
		break;
	case OPTION_BY_RANK:
		o->split_ranks = true;
		break;
	case OPTION_OVER_RANKS:
		o->over_ranks = o->look.part.only_ranks = true;
		break;
	case OPTION_FULL_PATHS:
		o->full_paths = true;
		break;
	case OPTION_SERIAL:
		o->serial = true;
		break;
	case OPTION_JSON:
		o->output = REPORT_JSON;
		break;
	case OPTION_CSV:
		o->output = REPORT_CSV;
		break;
	}
}

static int parse_option(struct report_options *o, int c, const char *refused, int *sort)
{
	switch (c) {
	case OPTION_FLAT:
		return parse_flat(o, optarg);
	case OPTION_DEPTH:
		return check_value(c, argument_number(optarg, 1000000, &o->depth));
	case OPTION_SORT:
		return parse_sort(sort, optarg);
	case OPTION_FOLD_OUTLIERS:
		return parse_outliers(o, optarg);
	case '?':
		fprintf(stderr, "hybrid-report: %s; see hybrid-report --help\n", refused);
		return -1;
	}
	if ((c == OPTION_JSON && o->output == REPORT_CSV) || (c == OPTION_CSV && o->output == REPORT_JSON))
		return report_failed("--json and --csv exclude each other: leave one out");
	if (c >= OPTION_VIEW && c < OPTION_FLAT)
		o->view = (enum report_view)(c - OPTION_VIEW);
	set_option(o, c);
	return check_value(c, look_take(&o->look, c, optarg));
}

static int check_metrics(struct report_options *o)
{
	for (size_t i = 0; i < o->look.metric_count; i++)
		o->list_metrics |= !strcmp(o->look.metrics[i], "help");
	if (!o->look.metric_count && !o->look.metrics_file_count)
		return 0;
	if (o->view > REPORT_QUALITY && o->view != REPORT_FOLD)
		return report_failed(
			"--metric is for call trees and tables; leave --mpi, --messages, --unmatched, "
			"--findings and --flat=rank (--by-rank --depth 1 has metrics) out");
	if (o->over_ranks && o->look.metric_count)
		columns_first(o->look.metrics[0], o->over_metric, sizeof(o->over_metric));
	if (!strcmp(o->over_metric, "time"))
		*o->over_metric = 0;
	return 0;
}

/* What follows from all options together. */
static int check(struct report_options *o, int sort)
{
	bool flat = o->view == REPORT_FLAT;

	if (!o->path_count)
		return report_failed(
			"name an experiment, as hybrid-run printed it; see hybrid-report --help");
	if (o->look.base && o->view != REPORT_TREE && o->view != REPORT_QUALITY)
		return report_failed("--diff compares call trees; leave --flat, --reverse, --mpi, "
				     "--messages, --unmatched, --findings and --fold out");
	if (o->over_ranks && (o->look.base || o->split || o->split_ranks || o->view != REPORT_TREE))
		return report_failed("--over-ranks is a call tree of all ranks together; leave other views, "
				     "--diff, --by-thread and --by-rank out");
	if ((o->fold_svg || o->fold_along) && o->view != REPORT_FOLD) {
		fprintf(stderr, "hybrid-report: %s: name the region with --fold\n",
			o->fold_svg ? "--fold-svg" : "--fold-along");
		return -1;
	}
	if (o->view == REPORT_FINDINGS && (o->split || o->split_ranks || o->output == REPORT_CSV))
		return report_failed("--findings is of all ranks and threads together, as text or --json; "
				     "leave --by-rank, --by-thread and --csv out");
	if (check_metrics(o))
		return -1;
	if (o->view == REPORT_QUALITY && o->output == REPORT_CSV)
		return report_failed("--quality has no rows; use --json instead of --csv");
	o->sort = sort >= 0 ? (enum profile_sort)sort
		  : flat    ? PROFILE_SORT_EXCLUSIVE
			    : PROFILE_SORT_INCLUSIVE;
	if ((flat && o->by == PROFILE_BY_LINE) || o->view == REPORT_FINDINGS)
		o->look.mode = PROFILE_CALLSITE;
	if (flat && o->by == PROFILE_BY_THREAD)
		o->split = true;
	if (o->look.threshold < 0)
		o->look.threshold = o->output == REPORT_TEXT ? 0.5 : 0;
	return 0;
}

int report_options_parse(struct report_options *o, int argc, char **argv)
{
	char text[ARGUMENT_TEXT];
	int c, sort = -1;

	*o = (struct report_options){.look = {.colour = -1, .threshold = -1}, .fold_spread = 5};
	while ((c = argument_next(argc, argv, "hm:", long_options, text)) != -1) {
		if (c == 'h') {
			fputs(help_text, stdout);
			return 1;
		}
		if (c == OPTION_VERSION) {
			puts("hybrid-report " HYBRID_VERSION);
			return 1;
		}
		if (parse_option(o, c, text, &sort))
			return -1;
	}
	o->paths = argv + optind;
	o->path_count = argc - optind;
	return check(o, sort);
}

struct profile_options report_profile_options(const struct report_options *o)
{
	struct profile_options options = {.mode = o->look.mode,
		.sort = o->sort,
		.split_locations = o->split,
		.split_ranks = o->split_ranks,
		.python_internals = o->look.python_internals,
		.mpi_internals = o->look.mpi_internals,
		.spreads = o->over_ranks,
		.spread_metric = *o->over_metric ? o->over_metric : NULL,
		.traffic = o->view == REPORT_MESSAGES,
		.parts = o->view == REPORT_FINDINGS};

	if (!selection_is_all(&o->look.part)) {
		options.select = selection_select;
		options.data = (void *)&o->look.part;
	}
	return options;
}
