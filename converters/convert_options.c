#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "converters/convert.h"

static const char usage[] =
	"Usage: hybrid-convert [options] EXPERIMENT --to FORMAT -o OUTPUT\n"
	"Writes an experiment in another tool's format.\n"
	"\n"
	"  -o, --output OUTPUT  what to make; it must not be there yet; - is standard output\n"
	"  -f, --force          replace a file, or an archive, of that name\n"
	"  -t, --to FORMAT      what to write:\n";

/* Behind the list of formats; each %s: the formats that take the options above. */
static const char usage_bounds[] =
	"\n"
	"How much:\n"
	"      --threshold P    give what is below P percent to its callers\n"
	"                       (%s)\n"
	"      --process PID    only this process\n"
	"      --thread TID     only this thread\n"
	"      --ranks LIST     only these ranks of MPI: 0-3,7\n"
	"                       (%s)\n"
	"      --from TIME      leave out what was before this time since the start: 1.5s, 200ms, 50us\n"
	"      --until TIME     and what was after it\n"
	"                       (%s)\n"
	"\n"
	"Of which numbers:\n"
	"      --metric NAME    a metric weighs instead of time\n"
	"                       (%s)\n"
	"      --callsites      each line that calls is a frame of its own\n"
	"                       (%s)\n"
	"      --fold-recursion a function is on a path once: what it calls again stands below its first "
	"call\n"
	"                       (%s)\n";

static const char usage_rest[] =
	"\n"
	"What becomes of samples and counters (formats of events):\n"
	"  --samples enter-leave   where samples' paths differ, functions are left and entered (default)\n"
	"  --samples context       each sample is an event with its calling context (otf2)\n"
	"  --samples none          only what probes recorded exactly\n"
	"  --counters accumulated  counters as they were read; viewers make rates of them (default)\n"
	"  --counters rate         growth a second, for viewers that do not\n"
	"\n"
	"  -j, --threads N      convert so many threads' traces at a time (default: one for each core)\n"
	"  -q, --quiet          print nothing but errors\n"
	"  -h, --help           this text\n"
	"      --version        the version\n"
	"\n"
	"Exit status: 0, 1 if it failed (nothing is left under the name of OUTPUT then), 2 for wrong usage.\n"
	"\n"
	"Examples:\n"
	"  hybrid-convert exp --to speedscope -o exp.speedscope.json\n"
	"  hybrid-convert exp --to dot -o - | dot -Tsvg -o exp.svg\n"
	"  hybrid-convert exp --to collapsed -o - | flamegraph.pl --countname us > exp.svg\n"
	"  hybrid-run --trace -o exp ./prog && hybrid-convert exp --to otf2 -o exp.otf2\n"
	"  hybrid-convert exp --to otf2 --samples none -o probes.otf2\n";

static int wrong(const char *what, const char *value, const char *known)
{
	convert_failed("%s%s%s: use %s", what, value ? " " : "", value ? value : "", known);
	return -1;
}

/* Index of the word among those of a list that NULL ends; -1: it is not there. */
static int word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

/* The names of all formats that take one of these options (0: of all). */
static const char *list_formats(unsigned takes, char *text, size_t size)
{
	size_t n = 0;

	*text = 0;
	for (const struct converter *c = converters; c->name && n < size; c++)
		if (!takes || c->takes & takes)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", c->name);
	return text;
}

static void print_usage(void)
{
	static const unsigned takes[] = {CONVERT_TAKES_THRESHOLD, CONVERT_TAKES_LOCATIONS,
		CONVERT_TAKES_WINDOW, CONVERT_TAKES_METRIC, CONVERT_TAKES_MODE, CONVERT_TAKES_FOLD};
	char lists[6][200];

	fputs(usage, stdout);
	for (const struct converter *c = converters; c->name; c++)
		printf("      %-14s %s\n", c->name, c->text);
	for (size_t i = 0; i < 6; i++)
		list_formats(takes[i], lists[i], sizeof(lists[i]));
	printf(usage_bounds, lists[0], lists[1], lists[2], lists[3], lists[4], lists[5]);
	fputs(usage_rest, stdout);
}

static int take_format(struct convert_options *options, const char *name)
{
	char known[200];

	for (const struct converter *c = converters; c->name; c++) {
		if (!strcmp(c->name, name)) {
			options->converter = c;
			return 0;
		}
	}
	return convert_failed(
		"unknown format \"%s\"; known ones: %s", name, list_formats(0, known, sizeof(known)));
}

static int take_threads(struct convert_options *options, const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || !value || value > 1024 || *text == '-')
		return wrong("--threads", text, "a number from 1 to 1024");
	options->threads = (unsigned)value;
	return 0;
}

/* "1.5s", "200ms", "50us", "10ns"; seconds where no unit stands. */
static int take_time(const char *option, const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (end == text || strcmp(end, units[i].name) || !(value >= 0 && value * units[i].ns < 1e18))
			continue;
		*ret = (uint64_t)(value * units[i].ns + 0.5);
		return 0;
	}
	return wrong(option, text, "a time since the start, as in 1.5s, 200ms or 50us");
}

enum {
	OPTION_SAMPLES = 256,
	OPTION_COUNTERS,
	OPTION_FROM,
	OPTION_UNTIL,
	OPTION_METRIC,
	OPTION_FOLD,
	OPTION_VERSION,
};

static const struct option known_options[] = {
	{"to", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"threads", required_argument, NULL, 'j'},
	{"samples", required_argument, NULL, OPTION_SAMPLES},
	{"counters", required_argument, NULL, OPTION_COUNTERS},
	{"threshold", required_argument, NULL, LOOK_THRESHOLD},
	{"process", required_argument, NULL, LOOK_PROCESS},
	{"thread", required_argument, NULL, LOOK_THREAD},
	{"ranks", required_argument, NULL, LOOK_RANKS},
	{"from", required_argument, NULL, OPTION_FROM},
	{"until", required_argument, NULL, OPTION_UNTIL},
	{"metric", required_argument, NULL, OPTION_METRIC},
	{"callsites", no_argument, NULL, LOOK_CALLSITES},
	{"fold-recursion", no_argument, NULL, OPTION_FOLD},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

/* Options that mean something to some formats only. */
static const struct limited {
	int option;
	unsigned takes;
} limited[] = {
	{OPTION_SAMPLES, CONVERT_TAKES_SAMPLES},
	{OPTION_COUNTERS, CONVERT_TAKES_COUNTERS},
	{LOOK_THRESHOLD, CONVERT_TAKES_THRESHOLD},
	{LOOK_PROCESS, CONVERT_TAKES_LOCATIONS},
	{LOOK_THREAD, CONVERT_TAKES_LOCATIONS},
	{LOOK_RANKS, CONVERT_TAKES_LOCATIONS},
	{OPTION_FROM, CONVERT_TAKES_WINDOW},
	{OPTION_UNTIL, CONVERT_TAKES_WINDOW},
	{OPTION_METRIC, CONVERT_TAKES_METRIC},
	{LOOK_CALLSITES, CONVERT_TAKES_MODE},
	{OPTION_FOLD, CONVERT_TAKES_FOLD},
};
#define LIMITED (sizeof(limited) / sizeof(*limited))

/* The first option that was given and that the format has no use for is refused. */
static int check_takes(const struct convert_options *options, const bool *given)
{
	const char *name;
	char known[200];
	size_t i = 0;

	while (i < LIMITED && (!given[i] || options->converter->takes & limited[i].takes))
		i++;
	if (i == LIMITED)
		return 0;
	name = argument_name(known_options, limited[i].option);
	if (!*list_formats(limited[i].takes, known, sizeof(known)))
		return convert_failed("--%s: no format takes it", name);
	return convert_failed(
		"--%s: %s does not take it; formats that do: %s", name, options->converter->name, known);
}

static int check(struct convert_options *options, const bool *given, int argc, char **argv)
{
	char known[200];

	if (optind == argc)
		return wrong("no experiment given", NULL, "hybrid-convert EXPERIMENT --to FORMAT -o OUTPUT");
	if (optind + 1 < argc)
		return wrong("more than one experiment:", argv[optind + 1], "one at a time");
	options->path = argv[optind];
	if (!options->converter)
		return convert_failed(
			"no format given: use --to with one of %s", list_formats(0, known, sizeof(known)));
	if (!options->out)
		return wrong("no output given", NULL,
			options->converter->kind == CONVERT_FILE ? "-o FILE, or -o -" : "-o OUTPUT");
	if (options->to <= options->from)
		return convert_failed(
			"--from %gs --until %gs: nothing lies between; use a later time for --until",
			(double)options->from * 1e-9, (double)options->to * 1e-9);
	if (options->to == UINT64_MAX)
		options->to = 0;
	return check_takes(options, given);
}

/* As convert_options_parse(). */
static int take(struct convert_options *options, int option)
{
	static const char *const samples[] = {"enter-leave", "context", "none", NULL};
	static const char *const counters[] = {"accumulated", "rate", NULL};
	const char *wanted;
	int i;

	switch (option) {
	case 't':
		return take_format(options, optarg);
	case 'o':
		options->out = optarg;
		return 0;
	case 'f':
		options->force = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'j':
		return take_threads(options, optarg);
	case OPTION_SAMPLES:
		i = word_index(samples, optarg);
		options->samples = (enum convert_samples)i;
		return i < 0 ? wrong("--samples", optarg, "enter-leave, context or none") : 0;
	case OPTION_COUNTERS:
		i = word_index(counters, optarg);
		options->counters = (enum convert_counters)i;
		return i < 0 ? wrong("--counters", optarg, "accumulated or rate") : 0;
	case OPTION_FROM:
		return take_time("--from", optarg, &options->from);
	case OPTION_UNTIL:
		return take_time("--until", optarg, &options->to);
	case OPTION_METRIC:
		options->metric = optarg;
		return 0;
	case OPTION_FOLD:
		options->fold = CONVERT_FOLD_ALL;
		return 0;
	case OPTION_VERSION:
		puts("hybrid-convert " HYBRID_VERSION);
		return 1;
	case 'h':
		print_usage();
		return 1;
	}
	wanted = look_take(&options->look, option, optarg);
	return wanted ? convert_failed(
				"--%s %s: use %s", argument_name(known_options, option), optarg, wanted)
		      : 0;
}

int convert_options_parse(struct convert_options *options, int argc, char **argv)
{
	bool given[LIMITED] = {false};
	char text[ARGUMENT_TEXT];
	int option, r;

	*options = (struct convert_options){
		.look = {.mode = PROFILE_FUNCTION, .threshold = -1}, .to = UINT64_MAX};
	while ((option = argument_next(argc, argv, "t:o:fqj:h", known_options, text)) != -1) {
		if (option == '?')
			return convert_failed("%s; see hybrid-convert --help", text);
		r = take(options, option);
		if (r)
			return r;
		for (size_t i = 0; i < LIMITED; i++)
			given[i] |= limited[i].option == option;
	}
	return check(options, given, argc, argv);
}
