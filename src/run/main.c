/*
 * hybrid-run: runs a program with the runtime preloaded, in a new experiment.
 */
#include "launch/metrics.h"
#include "base/path.h"
#include "run/check.h"
#include "run/child.h"
#include "run/experiment.h"
#include "run/filter.h"
#include "run/harvest.h"
#include "run/interrupt.h"
#include "run/ranks/join.h"
#include "run/ranks/launch.h"
#include "run/options.h"
#include "run/program.h"
#include "run/python.h"
#include "run/message.h"
#include "run/summary.h"
#include "run/switches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_ROOM (1u << 16) /* bytes: the record, the kernel's page of code, the head of a measurement */

enum {
	EXIT_SETUP = 1,
	EXIT_USAGE = 2,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

/* The parts of Hybrid that hybrid-run needs; beside it in the build tree or where it is installed. */
struct tools {
	char library[PATH_MAX];
	char mpi[PATH_MAX]; /* "" if it was not built */
	char papi[PATH_MAX]; /* likewise */
	char report[PATH_MAX];
};

/* All that one hybrid-run knows. */
struct run {
	struct options options;
	struct program program;
	struct tools tools;
	struct launch launch;
	struct experiment experiment;
	char *metrics; /* for METRICS_VARIABLE; NULL: none */
	char *remark; /* on them, for the user; NULL: none */
};

static int find_part(const char *own, const char *built, const char *installed, char ret[PATH_MAX])
{
	const char *const places[] = {built, installed};
	char path[2 * PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		if (places[i][0] == '/')
			snprintf(path, sizeof(path), "%s", places[i]);
		else
			snprintf(path, sizeof(path), "%s/%s", own, places[i]);
		if (realpath(path, ret))
			return 0;
	}
	return -1;
}

static int find_tools(struct tools *ret)
{
	char own[PATH_MAX];
	const char *papi;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0)
		return message("/proc/self/exe: %s; mount /proc", strerror(errno));
	own[length] = 0;
	*strrchr(own, '/') = 0;
	if (find_part(own, "../runtime/libhybrid.so", HYBRID_LIBRARY, ret->library))
		return message("libhybrid.so is neither built nor installed with %s/hybrid-run", own);
	if (find_part(own, "../mpi/libhybrid-mpi.so", HYBRID_MPI, ret->mpi))
		ret->mpi[0] = 0;
	papi = getenv(PAPI_VARIABLE);
	if (papi)
		snprintf(ret->papi, sizeof(ret->papi), "%s", papi);
	else if (find_part(own, "../launch/papi/libhybrid-papi.so", HYBRID_PAPI, ret->papi))
		ret->papi[0] = 0;
	if (strpbrk(ret->library, " :") || strpbrk(ret->mpi, " :"))
		return message(
			"%s: the path has a blank or a colon, which cannot be preloaded; move it elsewhere",
			ret->library);
	if (find_part(own, "../report/hybrid-report", "hybrid-report", ret->report))
		strcpy(ret->report, "hybrid-report");
	return 0;
}

/* In front of what the user preloads: the runtime's functions must be found first. */
static int set_preload(const struct tools *tools, bool mpi)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int result;

	mpi &= *tools->mpi != 0;
	if (asprintf(&value, "%s%s%s%s%s", tools->library, mpi ? ":" : "", mpi ? tools->mpi : "",
		    before && *before ? ":" : "", before ? before : "") < 0)
		return -1;
	result = setenv("LD_PRELOAD", value, 1);
	free(value);
	return result;
}

static int set_variable(const char *name, const char *value)
{
	return value ? setenv(name, value, 1) : unsetenv(name);
}

/* Measures what a sample costs in the kernel, so that the runtime can keep the budget and record the cost. */
static void print_prices(const struct options *options, FILE *out)
{
	bool timer = !strcmp(options->source, "timer") || !strcmp(options->source, "wall");
	unsigned interrupt = 0, signal = 0;

	if (!options->rate)
		return;
	interrupt_measure(timer, &interrupt, &signal);
	if (interrupt)
		fprintf(out, ",interrupt=%u:%u", interrupt, signal);
	/* In a run in a run the children that do it would be measured themselves. */
	if (!timer && strcmp(options->source, "cpu") != 0 && !getenv("HYBRID_DIR"))
		fprintf(out, ",switch=%u", switches_measure(options->rate));
}

static int set_options(const struct options *options)
{
	char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");
	char filter[PATH_MAX];

	if (!out)
		return -1;
	options_print(options, out);
	print_prices(options, out);
	fprintf(out, ",parent=%d", (int)getpid());
	if (fclose(out) || setenv("HYBRID_OPTIONS", text, 1))
		return -1;
	if (!options->filter)
		return unsetenv("HYBRID_FILTER");
	return realpath(options->filter, filter) ? setenv("HYBRID_FILTER", filter, 1) : -1;
}

/* Open MPI passes only the variables that are named in its options on to ranks on other hosts. */
static int set_openmpi(char **command)
{
	static const char name[] = "OMPI_MCA_mca_base_env_list";
	char list[128];

	for (; *command; command++)
		if (!strcmp(*command, "-x")) /* one excludes the other */
			return 0;
	snprintf(list, sizeof(list), "LD_PRELOAD;HYBRID_DIR;HYBRID_OPTIONS%s%s",
		getenv("HYBRID_FILTER") ? ";HYBRID_FILTER" : "",
		getenv(METRICS_VARIABLE) ? ";" METRICS_VARIABLE : "");
	return setenv(name, list, 0);
}

static int set_environment(const struct run *run)
{
	const struct options *options = &run->options;

	if (set_options(options) || setenv("HYBRID_DIR", run->experiment.path, 1) ||
		set_variable(METRICS_VARIABLE, run->metrics) ||
		(run->program.preload && set_preload(&run->tools, options->mpi)) ||
		(run->program.launcher && set_openmpi(options->command)))
		return message("cannot set the environment: %s", strerror(errno));
	return 0;
}

static int say_not_found(const char *name, int error)
{
	if (error != -ENOENT && error != -ENOTDIR) {
		message("%s: cannot be executed: %s", name, strerror(-error));
		return EXIT_CANNOT_EXECUTE;
	}
	if (strchr(name, '/'))
		message("%s: not found", name);
	else if (python_name(name))
		message("%s: not found, neither here nor in PATH", name);
	else
		message("%s: not found in PATH; give ./NAME for one that is here", name);
	return EXIT_NOT_FOUND;
}

static int find_program(const char *name, struct program *ret)
{
	int result = program_find(name, ret->path);
	int python = python_find(result ? name : ret->path, !result, ret);

	if (python < 0) {
		message("%s: a Python program, and there is no python3 in PATH to run it", name);
		return EXIT_NOT_FOUND;
	}
	if (result && !python)
		return say_not_found(name, result);
	program_inspect(ret);
	ret->launcher = launch_is_launcher(path_base(name));
	return 0;
}

static void print_report(const struct tools *tools, const struct experiment *experiment)
{
	char *report[] = {(char *)tools->report, (char *)experiment->path, NULL};

	unsetenv("LD_PRELOAD"); /* the report is not to be measured, */
	launch_forget(); /* and is one process, whoever prints it */
	if (child_run_report(tools->report, report, environ))
		message("%s failed", tools->report);
}

static void finish_with(const struct run *run, const struct outcome *outcome, const struct ranks *ranks,
	const struct harvest *harvest)
{
	struct summary summary = {.experiment = &run->experiment,
		.program = &run->program,
		.outcome = outcome,
		.harvest = harvest,
		.ranks = ranks,
		.mpi = run->options.mpi && *run->tools.mpi};

	if (!run->options.quiet)
		summary_print(&summary, run->tools.report);
	if (run->options.report)
		print_report(&run->tools, &run->experiment);
}

/* One rank of a launch prints the summary for all. A rank that failed prints its own, since its launcher may
 * kill the rest now. */
static void finish_rank(const struct run *run, const struct outcome *outcome)
{
	struct harvest harvest = {0};
	struct ranks ranks;

	if (join_end(&run->experiment, &run->launch, outcome, &ranks)) {
		harvest_directory(run->experiment.path, outcome->pid, &harvest);
		experiment_end_ranks(&run->experiment, &ranks);
		finish_with(run, outcome, &ranks, &harvest);
		ranks_release(&ranks);
		harvest_release(&harvest);
	} else if (outcome->status && ranks.failed == 1 && !run->options.quiet) {
		summary_failed(&run->experiment, &run->launch, outcome->status);
	}
}

static void finish(const struct run *run, const struct outcome *outcome)
{
	struct harvest harvest;

	if (run->launch.place.size) {
		finish_rank(run, outcome);
		return;
	}
	experiment_end(&run->experiment, outcome);
	harvest_directory(run->experiment.path, outcome->pid, &harvest);
	finish_with(run, outcome, NULL, &harvest);
	harvest_release(&harvest);
}

/* 0; a negative errno if it cannot be executed; EXIT_SETUP after a line on stderr. */
static int start(const struct run *run, struct outcome *ret)
{
	const struct program *program = &run->program;
	char **words = program_words(program, run->options.command);
	int result = EXIT_SETUP;

	if (!words)
		message("no memory");
	else if (run->experiment.joined || !experiment_begin(&run->experiment, &run->options, program, words))
		result = child_run(program->path, words, environ, ret);
	if (words != run->options.command)
		free(words);
	return result;
}

/* Nothing was measured. What other ranks have a part in stays. */
static void discard(const struct run *run)
{
	if (!run->launch.place.size)
		experiment_discard(&run->experiment);
}

/* A text without #! is a shell script to execvp() and to every shell, so it is one here. */
static void give_to_shell(struct program *program)
{
	memcpy(program->script, program->path, sizeof(program->script));
	strcpy(program->path, "/bin/sh");
}

/* A descriptor 0, 1 or 2 that is closed stays so for the program, but none of our files may become it. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* --list-metrics and --check: the exit status. */
static int look(struct run *run)
{
	struct checked parts = {run->tools.library, run->tools.mpi, run->tools.papi};

	if (run->options.mode == MODE_CHECK)
		return check(&parts, &run->options, *run->options.command ? &run->program : NULL)
			       ? EXIT_SUCCESS
			       : EXIT_SETUP;
	return metrics_show(run->options.metric_filter, run->tools.papi) ? EXIT_SUCCESS : EXIT_SETUP;
}

/* The directory, and in it what stands there before the program starts. 0, or -1 after a line on stderr. */
static int prepare(struct run *run)
{
	const char *wanted = run->options.directory, *program = run->options.command[0];

	launch_find(&run->launch);
	if (!run->launch.place.size) {
		if (experiment_create(wanted, program, &run->experiment))
			return -1;
	} else if (join_create(wanted, program, &run->launch, &run->experiment) ||
		   join_begin(&run->experiment, &run->launch, run->options.command)) {
		return -1;
	}
	if ((run->experiment.joined || !experiment_save_vdso(&run->experiment)) && !set_environment(run)) {
		if (run->remark && !run->options.quiet && !run->launch.place.rank)
			message("%s", run->remark);
		return 0;
	}
	discard(run);
	return -1;
}

/* Whether files may grow to what an experiment needs at the least: writing more would be a deadly signal. */
static bool has_file_room(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= FILE_ROOM;
}

/* As if hybrid-run were not there. An exit status, if it cannot be started. */
static int run_unmeasured(struct run *run, struct outcome *ret)
{
	char **words = program_words(&run->program, run->options.command);
	int result;

	message("files may not grow here (ulimit -f): nothing is measured");
	result = words ? child_run(run->program.path, words, environ, ret) : -ENOMEM;
	if (result == -ENOEXEC && run->program.text) {
		give_to_shell(&run->program);
		return run_unmeasured(run, ret);
	}
	if (!result)
		child_end_alike(ret->status);
	message("%s: cannot be executed: %s", run->program.path, strerror(-result));
	return result == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

int main(int argc, char **argv)
{
	static struct run run; /* the stack may be as small */
	struct outcome outcome = {0};
	int result;

	fill_standard_descriptors();
	result = options_parse(argc, argv, &run.options);
	if (result != OPTIONS_OK)
		return result == OPTIONS_DONE ? EXIT_SUCCESS : EXIT_USAGE;
	if (run.options.filter && filter_check(run.options.filter, !strcmp(run.options.python, "hooks")))
		return EXIT_USAGE;
	if (run.options.command[0] && run.options.mode != MODE_LIST_METRICS) {
		result = find_program(run.options.command[0], &run.program);
		if (result)
			return result;
	}
	if (find_tools(&run.tools))
		return EXIT_SETUP;
	if (run.options.mode != MODE_RUN)
		return look(&run);
	if (run.options.metrics.count) {
		run.metrics =
			metrics_resolve(&run.options.metrics, run.options.rate, run.tools.papi, &run.remark);
		if (!run.metrics)
			return EXIT_USAGE;
	}
	if (!has_file_room())
		return run_unmeasured(&run, &outcome);
	if (prepare(&run))
		return EXIT_SETUP;
	result = start(&run, &outcome);
	if (result == -ENOEXEC && run.program.text) {
		give_to_shell(&run.program);
		result = start(&run, &outcome);
	}
	if (result) {
		if (result < 0)
			message("%s: cannot be executed: %s", run.program.path, strerror(-result));
		discard(&run);
		return result > 0 ? result : result == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	finish(&run, &outcome);
	child_end_alike(outcome.status);
}
