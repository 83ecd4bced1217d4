#include "run/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 3

/* One of the two interfaces between a program and MPI, and how those who have it call themselves. */
struct kind {
	const char *file, *name, *compiler, *package;
	const char *words[WORDS]; /* one stands in what its mpiexec says of itself */
};

static const struct kind kinds[] = {
	{"libhybrid-mpi-mpich.so", "MPICH and its like (Intel MPI, MVAPICH, Cray)", "mpicc.mpich",
		"libmpich-dev", {"HYDRA", "MPICH", "Intel(R) MPI"}},
	{"libhybrid-mpi-openmpi.so", "Open MPI", "mpicc.openmpi", "libopenmpi-dev",
		{"Open MPI", "OpenRTE", "PRRTE"}},
};

/* Whether the command is of that kind; its version. */
static bool ask(const char *command, const struct kind *kind, char ret_version[32])
{
	char line[256], said[4096];
	const char *word = NULL;
	size_t length;
	FILE *in;

	snprintf(line, sizeof(line), "command -v %s >/dev/null && %s --version </dev/null 2>&1", command,
		command);
	in = popen(line, "r");
	if (!in)
		return false;
	length = fread(said, 1, sizeof(said) - 1, in);
	pclose(in);
	said[length] = 0;
	for (size_t i = 0; i < WORDS && !word; i++)
		word = strstr(said, kind->words[i]);
	if (!word || sscanf(word, "%*[^0-9]%31[0-9.]", ret_version) != 1)
		ret_version[0] = 0;
	return word != NULL;
}

/* The first command in PATH that starts ranks of that kind; NULL: there is none. */
static const char *find(const struct kind *kind, char ret_version[32])
{
	static const char *const commands[] = {
		"mpiexec", "mpiexec.mpich", "mpiexec.hydra", "mpiexec.openmpi", "mpirun"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (ask(commands[i], kind, ret_version))
			return commands[i];
	return NULL;
}

/* Builds what was left out. A packager's build does not say where it was, but has both kinds. */
static void mend(const struct kind *kind, const char *runtime)
{
#ifdef HYBRID_BUILD
	char own[PATH_MAX], line[96];
	bool installed = strncmp(runtime, HYBRID_BUILD "/", sizeof(HYBRID_BUILD)) != 0;
	bool compiler;

	snprintf(line, sizeof(line), "command -v %s >/dev/null || command -v mpicc >/dev/null",
		kind->compiler);
	snprintf(own, sizeof(own), "%s/build.ninja", HYBRID_BUILD);
	if (access(own, R_OK))
		return;
	compiler = !system(line);
	check_mend("%s%s%smeson setup --reconfigure %s && %s %s", compiler ? "" : "sudo apt-get install ",
		compiler ? "" : kind->package, compiler ? "" : " && ", HYBRID_BUILD,
		installed ? "meson install -C" : "ninja -C", HYBRID_BUILD);
#else
	(void)kind, (void)runtime;
#endif
}

void check_mpi(const char *library, const char *runtime)
{
	int directory = (int)(strrchr(library, '/') ? strrchr(library, '/') - library : 0);

	check_title("MPI");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char path[PATH_MAX + 64], version[32] = "";
		const char *command = find(&kinds[i], version);
		bool built;

		snprintf(path, sizeof(path), "%.*s/%s", directory, library, kinds[i].file);
		built = *library && !access(path, R_OK);
		if (built && command)
			check_line(true, "%s: its calls are probes; %s is %s", kinds[i].name, command,
				*version ? version : "of it");
		else if (built)
			check_line(true, "%s: its calls are probes; there is none in PATH", kinds[i].name);
		else if (command) {
			check_line(false,
				"%s: %s is of it, but its mpi.h was not there when Hybrid was built",
				kinds[i].name, command);
			mend(&kinds[i], runtime);
		} else
			check_line(
				false, "%s: neither in PATH, nor there when Hybrid was built", kinds[i].name);
	}
}
