/*
 * hybrid-run: runs a program with the runtime preloaded, in a new experiment.
 */
#include "run/child.h"
#include "run/experiment.h"
#include "run/filter.h"
#include "run/harvest.h"
#include "run/options.h"
#include "run/program.h"
#include "run/python.h"
#include "run/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	EXIT_SETUP = 1,
	EXIT_USAGE = 2,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

/* The parts of Hybrid that hybrid-run needs; beside it in the build tree or where it is installed. */
struct tools {
	char library[PATH_MAX];
	char report[PATH_MAX];
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
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0) {
		say("/proc/self/exe: %s; mount /proc", strerror(errno));
		return -1;
	}
	own[length] = 0;
	*strrchr(own, '/') = 0;
	if (find_part(own, "../runtime/libhybrid.so", HYBRID_LIBRARY, ret->library)) {
		say("libhybrid.so is neither built nor installed with %s/hybrid-run", own);
		return -1;
	}
	if (strpbrk(ret->library, " :")) {
		say("%s: the path has a blank or a colon, which cannot be preloaded; move it elsewhere",
			ret->library);
		return -1;
	}
	if (find_part(own, "../tools/hybrid-report", "hybrid-report", ret->report))
		strcpy(ret->report, "hybrid-report");
	return 0;
}

/* In front of what the user preloads: the runtime's functions must be found first. */
static int set_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int result;

	if (!before || !*before)
		return setenv("LD_PRELOAD", library, 1);
	if (asprintf(&value, "%s:%s", library, before) < 0)
		return -1;
	result = setenv("LD_PRELOAD", value, 1);
	free(value);
	return result;
}

static int set_options(const struct options *options)
{
	char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");
	char filter[PATH_MAX];

	if (!out)
		return -1;
	options_print(options, out);
	fprintf(out, ",parent=%d", (int)getpid());
	if (fclose(out) || setenv("HYBRID_OPTIONS", text, 1))
		return -1;
	if (!options->filter)
		return unsetenv("HYBRID_FILTER");
	return realpath(options->filter, filter) ? setenv("HYBRID_FILTER", filter, 1) : -1;
}

static int set_environment(const struct options *options, const struct program *program,
	const struct experiment *experiment, const struct tools *tools)
{
	if (set_options(options) || setenv("HYBRID_DIR", experiment->path, 1) ||
		(program->preload && set_preload(tools->library))) {
		say("cannot set the environment: %s", strerror(errno));
		return -1;
	}
	return 0;
}

static int say_not_found(const char *name, int error)
{
	if (error != -ENOENT && error != -ENOTDIR) {
		say("%s: cannot be executed: %s", name, strerror(-error));
		return EXIT_CANNOT_EXECUTE;
	}
	if (strchr(name, '/'))
		say("%s: not found", name);
	else if (python_name(name))
		say("%s: not found, neither here nor in PATH", name);
	else
		say("%s: not found in PATH; give ./NAME for one that is here", name);
	return EXIT_NOT_FOUND;
}

static int find_program(const char *name, struct program *ret)
{
	int result = program_find(name, ret->path);
	int python = python_find(result ? name : ret->path, ret);

	if (python < 0) {
		say("%s: a Python program, and there is no python3 in PATH to run it", name);
		return EXIT_NOT_FOUND;
	}
	if (result && !python)
		return say_not_found(name, result);
	program_inspect(ret);
	return 0;
}

static void put_count(FILE *out, uint64_t count, const char *one, const char *many)
{
	fprintf(out, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

static void put_size(FILE *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	double value = (double)bytes;
	int unit = 0;

	for (; value >= 1024 && unit < 3; unit++)
		value /= 1024;
	fprintf(out, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void say_taken(
	const struct program *program, const struct outcome *outcome, const struct harvest *harvest)
{
	char text[PATH_MAX + 256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return;
	fprintf(out, "%.3f s wall, %.3f s CPU; ", (double)outcome->wall / 1e9,
		seconds(&outcome->usage.ru_utime) + seconds(&outcome->usage.ru_stime));
	if (harvest->files) {
		put_count(out, harvest->samples, "sample", "samples");
		fputs(" of ", out);
		put_count(out, harvest->processes, "process", "processes");
		fputs(", ", out);
		put_count(out, harvest->threads, "thread", "threads");
		fputs("; ", out);
		put_size(out, harvest->trace_bytes);
		fputs(" of trace", out);
	}
	if (!harvest->program)
		fprintf(out, "%s%s %s: only its total time was measured", harvest->files ? "; " : "",
			program->path,
			program->obstacle[0] ? program->obstacle : "did not take in the runtime");
	fclose(out);
	say("%s", text);
}

static void say_next(const struct experiment *experiment, const struct tools *tools)
{
	char found[PATH_MAX];
	char *dir = shell_quote(experiment->shown);

	say("next: %s %s", program_find("hybrid-report", found) ? tools->report : "hybrid-report",
		dir ? dir : experiment->shown);
	free(dir);
}

static void say_outcome(const struct experiment *experiment, const struct program *program,
	const struct tools *tools, const struct outcome *outcome)
{
	struct harvest harvest;

	harvest_directory(experiment->path, outcome->pid, &harvest);
	say("experiment in %s", experiment->shown);
	say_taken(program, outcome, &harvest);
	say_next(experiment, tools);
}

static void finish(const struct options *options, const struct experiment *experiment,
	const struct program *program, const struct tools *tools, const struct outcome *outcome)
{
	char *report[] = {(char *)tools->report, (char *)experiment->path, NULL};

	experiment_end(experiment, outcome);
	if (!options->quiet)
		say_outcome(experiment, program, tools, outcome);
	if (!options->report)
		return;
	unsetenv("LD_PRELOAD"); /* the report is not to be measured */
	if (child_run_report(tools->report, report, environ))
		say("%s failed", tools->report);
}

/* 0; a negative errno if it cannot be executed; EXIT_SETUP after a line on stderr. */
static int start(const struct options *options, const struct experiment *experiment,
	const struct program *program, struct outcome *ret)
{
	char **words = program_words(program, options->command);
	int result = EXIT_SETUP;

	if (!words)
		say("no memory");
	else if (!experiment_begin(experiment, options, program->path, words))
		result = child_run(program->path, words, environ, ret);
	if (words != options->command)
		free(words);
	return result;
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

int main(int argc, char **argv)
{
	struct options options;
	struct program program = {0};
	struct experiment experiment;
	struct outcome outcome;
	struct tools tools;
	int result;

	fill_standard_descriptors();
	result = options_parse(argc, argv, &options);
	if (result != OPTIONS_OK)
		return result == OPTIONS_DONE ? EXIT_SUCCESS : EXIT_USAGE;
	if (options.filter && filter_check(options.filter))
		return EXIT_USAGE;
	result = find_program(options.command[0], &program);
	if (result)
		return result;
	if (find_tools(&tools) || experiment_create(options.directory, options.command[0], &experiment))
		return EXIT_SETUP;
	if (experiment_save_vdso(&experiment) || set_environment(&options, &program, &experiment, &tools)) {
		experiment_discard(&experiment);
		return EXIT_SETUP;
	}
	result = start(&options, &experiment, &program, &outcome);
	if (result == -ENOEXEC && program.text) {
		give_to_shell(&program);
		result = start(&options, &experiment, &program, &outcome);
	}
	if (result) {
		if (result < 0)
			say("%s: cannot be executed: %s", program.path, strerror(-result));
		experiment_discard(&experiment);
		return result > 0 ? result : result == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	finish(&options, &experiment, &program, &tools, &outcome);
	child_end_alike(outcome.status);
}
