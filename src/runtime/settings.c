/* HYBRID_OPTIONS: "key=value,..." as hybrid-run writes it; unknown keys are of a newer hybrid-run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/launch.h"
#include "runtime.h"
#include "sys.h"

#define DEFAULT_SIGNAL 16 /* SIGSTKFLT, which nothing sends */
/* As measured on virtual machines; hybrid-run measures the one it runs on. */
#define DEFAULT_INTERRUPT_NS 24000
#define DEFAULT_SWITCH_NS 3000
#define DEFAULT_SIGNAL_NS 1500

static enum hyb_source source_by_name(const char *name)
{
	static const struct {
		const char *name;
		enum hyb_source source;
	} sources[] = {
		{"cpu", HYB_SOURCE_CPU_TIMER},
		{"perf", HYB_SOURCE_TASK_CLOCK},
		{"timer", HYB_SOURCE_TIMER},
		{"wall", HYB_SOURCE_WALL},
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(name, sources[i].name))
			return sources[i].source;
	return HYB_SOURCE_NONE;
}

/* A mode that is not known is of a newer hybrid-run: the default does. */
static enum python_mode python_by_name(const char *name)
{
	if (!strcmp(name, "hooks"))
		return PYTHON_HOOKS;
	return strcmp(name, "off") ? PYTHON_FRAMES : PYTHON_OFF;
}

static enum files_mode files_by_name(const char *name)
{
	if (!strcmp(name, "node"))
		return FILES_NODE;
	return strcmp(name, "process") ? FILES_AUTO : FILES_PROCESS;
}

static void apply(struct settings *set, const char *key, const char *value)
{
	uint64_t number = strtoull(value, NULL, 10);

	if (!strcmp(key, "rate"))
		set->rate = (unsigned)number;
	else if (!strcmp(key, "source"))
		set->source = source_by_name(value);
	else if (!strcmp(key, "trace"))
		set->trace_events = number != 0;
	else if (!strcmp(key, "trace_limit"))
		set->trace_limit = number;
	else if (!strcmp(key, "budget"))
		set->budget = (unsigned)number;
	else if (!strcmp(key, "signal"))
		set->signal = (int)number;
	else if (!strcmp(key, "python"))
		set->python = python_by_name(value);
	else if (!strcmp(key, "files"))
		set->files = files_by_name(value);
	else if (!strcmp(key, "interrupt"))
		sscanf(value, "%u:%u", &set->interrupt_ns, &set->signal_ns);
	else if (!strcmp(key, "switch"))
		set->switch_ns = (unsigned)number;
	else if (!strcmp(key, "demote"))
		sscanf(value, "%lu:%lu", &set->demote_calls, &set->demote_ns);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * What starts the ranks of an MPI program is no part of it: launchers, also those that are scripts, shells
 * between a launcher and the program, and what stands in front of a spawned one.
 */
static bool is_launcher(void)
{
	static const char spawned[] = LAUNCH_SPAWNED "=";
	char line[1024], *word = line, *end;
	struct launch_place place;
	size_t length = sys_command_line(line, sizeof(line) - 1);
	const char *name;
	bool shell;

	if (!length)
		return false;
	line[length + 1] = '\0';
	end = line + length;
	name = base_name(line);
	if (launch_is_launcher(name) ||
		(!strcmp(name, "env") && !strncmp(line + strlen(line) + 1, spawned, strlen(spawned))))
		return true;
	shell = launch_is_shell(name + (*name == '-'));
	if (shell && launch_place(&place))
		return true;
	if (!shell && strncmp(name, "python", 6) && strncmp(name, "perl", 4))
		return false;
	do /* the script, behind the interpreter's options */
		word += strlen(word) + 1;
	while (word < end && *word == '-');
	return word < end && launch_is_launcher(base_name(word));
}

bool settings_read(struct settings *set)
{
	static const int never[] = {
		SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGCHLD, 32, 33};
	const char *dir = getenv("HYBRID_DIR"), *options = getenv("HYBRID_OPTIONS");
	char text[1024], *rest = text, *item;
	sigset_t unusable;

	*set = (struct settings){.rate = 200,
		.trace_limit = 1u << 30,
		.budget = 50,
		.signal = DEFAULT_SIGNAL,
		.interrupt_ns = DEFAULT_INTERRUPT_NS,
		.signal_ns = DEFAULT_SIGNAL_NS,
		.switch_ns = DEFAULT_SWITCH_NS};
	if (!dir || dir[0] != '/' || strlen(dir) >= sizeof(set->dir) || is_launcher())
		return false;
	strcpy(set->dir, dir);
	if (program_invocation_name)
		snprintf(set->name, sizeof(set->name), "%s", base_name(program_invocation_name));
	set->filter = getenv("HYBRID_FILTER");
	sigemptyset(&unusable);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		sigaddset(&unusable, never[i]);
	snprintf(text, sizeof(text), "%s", options ? options : "");
	while ((item = strsep(&rest, ","))) {
		char *value = strchr(item, '=');

		if (value) {
			*value++ = '\0';
			apply(set, item, value);
		}
	}
	if (set->signal < 1 || set->signal > 64 || sigismember(&unusable, set->signal))
		set->signal = DEFAULT_SIGNAL;
	return true;
}
