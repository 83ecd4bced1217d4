/* hybrid-dump: every record of an experiment, readable. */
#include "dump.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "base/argument.h"
#include "import/input.h"

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

enum what {
	SHOW_HEADER = 1 << 0,
	SHOW_CHUNKS = 1 << 1,
	SHOW_DEFS = 1 << 2,
	SHOW_NODES = 1 << 3,
	SHOW_TRACE = 1 << 4,
	SHOW_EVENTS = 1 << 5,
	SHOW_ALL = SHOW_HEADER | SHOW_CHUNKS | SHOW_DEFS | SHOW_NODES | SHOW_TRACE,
};

static const char usage[] =
	"Usage: hybrid-dump [options] FILE|DIRECTORY\n"
	"Prints what is in a .hyb file, or in all of an experiment's, one record a line; of an OTF2\n"
	"archive what it is turned into.\n"
	"\n"
	"Without a selection: everything but --events.\n"
	"  --header   file header and clock\n"
	"  --chunks   chunks: offset, kind, size, used bytes\n"
	"  --defs     definitions: regions, modules, metadata, notes, MPI handles ...\n"
	"  --nodes    threads, their open regions and call-path nodes\n"
	"  --trace    trace records, in the order of each thread\n"
	"  --events   events of all threads by time, with call paths in words\n"
	"\n"
	"  --json     one JSON object a line\n"
	"  -h, --help this text\n"
	"  --version  the version\n"
	"\n"
	"Exit status: 0, 1 if something could not be read or is damaged, 2 for wrong usage.\n"
	"\n"
	"Examples:\n"
	"  hybrid-dump hyb-prog-20261121-101500          everything that was measured\n"
	"  hybrid-dump --defs DIRECTORY | grep 'type note'   messages of the measurement\n"
	"  hybrid-dump --events --json DIRECTORY | jq -c 'select(.kind == \"marker\")'\n";

static int fail(const char *text)
{
	fprintf(stderr, "hybrid-dump: %s\n", text);
	return STATUS_FAILED;
}

static void dump_process(struct out *out, const struct process *process, unsigned what, void *buffer)
{
	if (what & SHOW_HEADER)
		dump_header(out, process);
	if (what & SHOW_CHUNKS)
		dump_chunks(out, process);
	if (what & SHOW_DEFS)
		dump_defs(out, process, buffer);
	if (what & SHOW_NODES) {
		dump_locations(out, process, buffer);
		dump_nodes(out, process, buffer);
	}
	if (what & SHOW_TRACE)
		dump_trace(out, process, buffer);
}

static void dump_values(struct out *out, const struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < experiment->value_count; i++) {
		out_begin(out, "run");
		out_text(out, "key", experiment->values[i].key);
		out_text(out, "value", experiment->values[i].value);
		out_end(out);
	}
}

static void dump_damage(struct out *out, const struct hyb_experiment *experiment)
{
	size_t count = hyb_damage_count(experiment), i;
	const char *text;

	for (i = 0; (text = hyb_damage_text(experiment, i)); i++) {
		out_begin(out, "damage");
		out_text(out, "text", text);
		out_end(out);
	}
	if (count > i) {
		out_begin(out, "damage");
		out_number(out, "more", count - i);
		out_end(out);
	}
}

/* The trace is decoded when it is iterated; what is damaged in it shows only then. */
static bool look_at_events(struct hyb_experiment *experiment, struct hyb_error *err)
{
	struct hyb_events *events = hyb_events_open(experiment, NULL, false, err);
	struct hyb_event event;

	while (events && hyb_events_next(events, &event) > 0)
		;
	hyb_events_close(events);
	return events;
}

static int dump(struct out *out, const char *path, unsigned what)
{
	struct hyb_experiment *experiment;
	struct hyb_error err;
	void *buffer;
	bool ok = true;
	size_t damage;

	if (input_open(path, NULL, &experiment, &err))
		return fail(err.text);
	buffer = malloc(HYB_SEGMENT);
	if (!buffer) {
		hyb_experiment_close(experiment);
		return fail("out of memory");
	}
	if (what & SHOW_HEADER)
		dump_values(out, experiment);
	for (size_t i = 0; i < experiment->file_count && what & SHOW_HEADER; i++)
		if (experiment->files[i]->header.processes)
			dump_file(out, experiment->files[i]);
	for (size_t i = 0; i < experiment->process_count && !ferror(out->file); i++)
		dump_process(out, experiment->processes[i], what, buffer);
	if (what & SHOW_EVENTS)
		ok = dump_events(out, experiment, &err);
	else if (what & SHOW_TRACE)
		ok = look_at_events(experiment, &err);
	dump_damage(out, experiment);
	damage = hyb_damage_count(experiment);
	free(buffer);
	hyb_experiment_close(experiment);
	if (!ok)
		return fail(err.text);
	return damage ? STATUS_FAILED : STATUS_OK;
}

/* The selection in *what; >= 0: the exit status, nothing is left to do. */
static int parse(int argc, char **argv, struct out *out, unsigned *what)
{
	enum { OPTION_JSON = 256, OPTION_HELP, OPTION_VERSION };
	static const struct option options[] = {
		{"header", no_argument, NULL, SHOW_HEADER},
		{"chunks", no_argument, NULL, SHOW_CHUNKS},
		{"defs", no_argument, NULL, SHOW_DEFS},
		{"nodes", no_argument, NULL, SHOW_NODES},
		{"trace", no_argument, NULL, SHOW_TRACE},
		{"events", no_argument, NULL, SHOW_EVENTS},
		{"json", no_argument, NULL, OPTION_JSON},
		{"help", no_argument, NULL, OPTION_HELP},
		{"version", no_argument, NULL, OPTION_VERSION},
		{0},
	};
	char text[ARGUMENT_TEXT];
	int option;

	while ((option = argument_next(argc, argv, "h", options, text)) != -1) {
		switch (option) {
		case OPTION_JSON:
			out->json = true;
			break;
		case 'h':
		case OPTION_HELP:
			fputs(usage, stdout);
			return STATUS_OK;
		case OPTION_VERSION:
			puts("hybrid-dump " HYBRID_VERSION);
			return STATUS_OK;
		case '?':
			fprintf(stderr, "hybrid-dump: %s; see hybrid-dump --help\n", text);
			return STATUS_USAGE;
		default:
			*what |= (unsigned)option;
		}
	}
	if (optind + 1 == argc)
		return -1;
	fprintf(stderr, "hybrid-dump: %s; try --help\n",
		optind == argc ? "no file or directory given" : "more than one file or directory given");
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	struct out out = {.file = stdout};
	unsigned what = 0;
	int status;

	signal(SIGPIPE, SIG_DFL); /* `| head` ends it quietly, whatever was inherited */
	status = parse(argc, argv, &out, &what);
	if (status < 0)
		status = dump(&out, argv[optind], what ? what : SHOW_ALL);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "hybrid-dump: cannot write the output: %s\n", strerror(errno));
		return STATUS_FAILED;
	}
	return status;
}
