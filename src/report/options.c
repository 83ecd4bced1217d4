#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "profile/metrics/columns.h"
#include "report.h"

enum {
	OPTION_TREE = 256,
	OPTION_REVERSE,
	OPTION_FLAT,
	OPTION_CALLSITES,
	OPTION_ROUTINES,
	OPTION_FUNCTIONS,
	OPTION_PYTHON_INTERNALS,
	OPTION_BY_THREAD,
	OPTION_BY_RANK,
	OPTION_OVER_RANKS,
	OPTION_RANKS,
	OPTION_MPI,
	OPTION_MESSAGES,
	OPTION_UNMATCHED,
	OPTION_FINDINGS,
	OPTION_MPI_INTERNALS,
	OPTION_DEPTH,
	OPTION_THRESHOLD,
	OPTION_SORT,
	OPTION_FULL_PATHS,
	OPTION_SERIAL,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_NO_COLOR,
	OPTION_COLOR,
	OPTION_DIFF,
	OPTION_PROCESS,
	OPTION_THREAD,
	OPTION_METRICS_FILE,
	OPTION_QUALITY,
	OPTION_FOLD,
	OPTION_FOLD_SVG,
	OPTION_FOLD_ALONG,
	OPTION_FOLD_OUTLIERS,
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
	{"mpi", no_argument, NULL, OPTION_MPI},
	{"messages", no_argument, NULL, OPTION_MESSAGES},
	{"unmatched", no_argument, NULL, OPTION_UNMATCHED},
	{"findings", no_argument, NULL, OPTION_FINDINGS},
	{"mpi-internals", no_argument, NULL, OPTION_MPI_INTERNALS},
	{"by-thread", no_argument, NULL, OPTION_BY_THREAD},
	{"by-rank", no_argument, NULL, OPTION_BY_RANK},
	{"over-ranks", no_argument, NULL, OPTION_OVER_RANKS},
	{"ranks", required_argument, NULL, OPTION_RANKS},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"full-paths", no_argument, NULL, OPTION_FULL_PATHS},
	{"serial", no_argument, NULL, OPTION_SERIAL},
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"no-color", no_argument, NULL, OPTION_NO_COLOR},
	{"color", optional_argument, NULL, OPTION_COLOR},
	{"diff", required_argument, NULL, OPTION_DIFF},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"thread", required_argument, NULL, OPTION_THREAD},
	{"metric", required_argument, NULL, 'm'},
	{"metrics-file", required_argument, NULL, OPTION_METRICS_FILE},
	{"quality", no_argument, NULL, OPTION_QUALITY},
	{"fold", required_argument, NULL, OPTION_FOLD},
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
	"      --flat[=BY]        a table by function (default), line, file, module, thread or\n"
	"                         rank\n"
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
	"      --sort KEY         inclusive (default), exclusive (default of --flat), samples\n"
	"                         or calls\n"
	"\n"
	"Output:\n"
	"      --full-paths       files and modules with their directories\n"
	"      --json             one JSON object, quality included; times in nanoseconds\n"
	"      --csv              one row a node\n"
	"      --color[=WHEN]     auto (default), always or never; --no-color is never\n"
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

/* `wanted`: what a function of values says of that of the option. */
static int check_value(const char *option, const char *wanted)
{
	return wanted ? wrong(option, optarg, wanted) : 0;
}

static int parse_flat(struct report_options *o, const char *value)
{
	static const char *const words[] = {"function", "line", "module", "thread", "file", "rank"};
	int by =
		value ? choose("--flat", value, words, 6, "function, line, file, module, thread or rank") : 0;

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
		return wrong("--fold-outliers", value, "a number from 0 (none is set aside) to 1000");
	o->fold_spread = v;
	return 0;
}

static int parse_sort(int *sort, const char *value)
{
	static const char *const words[] = {"inclusive", "exclusive", "samples", "calls"};

	*sort = choose("--sort", value, words, 4, "inclusive, exclusive, samples or calls");
	return *sort < 0 ? -1 : 0;
}

/* Options that only set something: what is shown, */
static void set_view(struct report_options *o, int c)
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
	case OPTION_MPI:
		o->view = REPORT_MPI;
		break;
	case OPTION_MESSAGES:
		o->view = REPORT_MESSAGES;
		break;
	case OPTION_UNMATCHED:
		o->view = REPORT_UNMATCHED;
		break;
	case OPTION_FINDINGS:
		o->view = REPORT_FINDINGS;
		break;
	case OPTION_DIFF:
		o->base = optarg;
		break;
	case OPTION_FOLD:
		o->view = REPORT_FOLD;
		o->fold = optarg;
		break;
	case OPTION_FOLD_SVG:
		o->fold_svg = optarg;
		break;
	case OPTION_FOLD_ALONG:
		o->fold_along = optarg;
		break;
	}
}

/* and how. */
static void set_option(struct report_options *o, int c)
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
	case OPTION_BY_THREAD:
		o->split = true;
		break;
	case OPTION_BY_RANK:
		o->split_ranks = true;
		break;
	case OPTION_OVER_RANKS:
		o->over_ranks = o->part.only_ranks = true;
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
	case OPTION_NO_COLOR:
		o->colour = 0;
		break;
	}
}

static int add_word(const char *option, const char *value, const char **words, size_t *count)
{
	if (*count == REPORT_METRICS_MAX)
		return wrong(option, value, "fewer of them, or lists");
	words[(*count)++] = value;
	return 0;
}

/* `word`: the argument it stands in. */
static int parse_option(struct report_options *o, int c, const char *word, int *sort)
{
	switch (c) {
	case OPTION_FLAT:
		return parse_flat(o, optarg);
	case OPTION_DEPTH:
		return check_value("--depth", argument_number(optarg, 1000000, &o->depth));
	case OPTION_THRESHOLD:
		return check_value("--threshold", argument_percentage(optarg, &o->threshold));
	case OPTION_SORT:
		return parse_sort(sort, optarg);
	case OPTION_COLOR:
		return check_value("--color", argument_colour(optarg, &o->colour));
	case 'm':
		o->list_metrics |= !strcmp(optarg, "help");
		return add_word("--metric", optarg, o->metrics, &o->metric_count);
	case OPTION_METRICS_FILE:
		return add_word("--metrics-file", optarg, o->metrics_files, &o->metrics_file_count);
	case OPTION_RANKS:
		return check_value("--ranks", selection_ranks(&o->part, optarg));
	case OPTION_FOLD_OUTLIERS:
		return parse_outliers(o, optarg);
	case OPTION_PROCESS:
		return check_value("--process", selection_process(&o->part, optarg));
	case OPTION_THREAD:
		return check_value("--thread", selection_thread(&o->part, optarg));
	case '?':
		fprintf(stderr,
			"hybrid-report: %s: no such option, or its value is missing; see hybrid-report "
			"--help\n",
			word);
		return -1;
	}
	set_view(o, c);
	set_option(o, c);
	return 0;
}

static int check_metrics(struct report_options *o)
{
	if (!o->metric_count && !o->metrics_file_count)
		return 0;
	if (o->view > REPORT_QUALITY && o->view != REPORT_FOLD) {
		fprintf(stderr, "hybrid-report: --metric is for call trees and tables; leave --mpi, "
				"--messages, --unmatched, --findings and --flat=rank (--by-rank "
				"--depth 1 has metrics) out\n");
		return -1;
	}
	if (o->over_ranks && o->metric_count)
		columns_first(o->metrics[0], o->over_metric, sizeof(o->over_metric));
	if (!strcmp(o->over_metric, "time"))
		*o->over_metric = 0;
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
		fprintf(stderr, "hybrid-report: --diff compares call trees; leave --flat, --reverse, --mpi, "
				"--messages, --unmatched, --findings and --fold out\n");
		return -1;
	}
	if (o->over_ranks && (o->base || o->split || o->split_ranks || o->view != REPORT_TREE)) {
		fprintf(stderr,
			"hybrid-report: --over-ranks is a call tree of all ranks together; leave other "
			"views, --diff, --by-thread and --by-rank out\n");
		return -1;
	}
	if ((o->fold_svg || o->fold_along) && o->view != REPORT_FOLD) {
		fprintf(stderr, "hybrid-report: %s: name the region with --fold\n",
			o->fold_svg ? "--fold-svg" : "--fold-along");
		return -1;
	}
	if (o->view == REPORT_FINDINGS && (o->split || o->split_ranks || o->output == REPORT_CSV)) {
		fprintf(stderr,
			"hybrid-report: --findings is of all ranks and threads together, as text or --json; "
			"leave --by-rank, --by-thread and --csv out\n");
		return -1;
	}
	if (check_metrics(o))
		return -1;
	if (o->view == REPORT_QUALITY && o->output == REPORT_CSV) {
		fprintf(stderr, "hybrid-report: --quality has no rows; use --json instead of --csv\n");
		return -1;
	}
	o->sort = sort >= 0 ? (enum profile_sort)sort
		  : flat    ? PROFILE_SORT_EXCLUSIVE
			    : PROFILE_SORT_INCLUSIVE;
	if ((flat && o->by == PROFILE_BY_LINE) || o->view == REPORT_FINDINGS)
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

	*o = (struct report_options){.colour = -1, .threshold = -1, .fold_spread = 5};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "hm:", long_options, NULL)) != -1) {
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

struct profile_options report_profile_options(const struct report_options *o)
{
	struct profile_options options = {.mode = o->mode,
		.sort = o->sort,
		.split_locations = o->split,
		.split_ranks = o->split_ranks,
		.python_internals = o->python_internals,
		.mpi_internals = o->mpi_internals,
		.spreads = o->over_ranks,
		.spread_metric = *o->over_metric ? o->over_metric : NULL,
		.traffic = o->view == REPORT_MESSAGES,
		.parts = o->view == REPORT_FINDINGS};

	if (!selection_is_all(&o->part)) {
		options.select = selection_select;
		options.data = (void *)&o->part;
	}
	return options;
}
