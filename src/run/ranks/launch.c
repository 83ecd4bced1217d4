#include "base/hash.h"
#include "launch.h"

#include "launch/clock_domain.h"

#include <stdio.h>

#define ANCESTORS 32
#define TEXT_MAX 65536

/* The file of a process in /proc as a text that ends with two zero bytes; its length. */
static size_t read_proc(pid_t pid, const char *name, char text[TEXT_MAX])
{
	char path[64];
	size_t length = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	in = fopen(path, "re");
	if (in) {
		length = fread(text, 1, TEXT_MAX - 2, in);
		fclose(in);
	}
	text[length] = text[length + 1] = 0;
	return length;
}

/* Parent and start of a process; false if it is gone. */
static bool read_stat(pid_t pid, pid_t *ret_parent, uint64_t *ret_start)
{
	static char text[TEXT_MAX];
	unsigned long long start;
	const char *rest;
	int parent;

	if (!read_proc(pid, "stat", text))
		return false;
	rest = strrchr(text, ')'); /* the name may hold anything */
	if (!rest ||
		sscanf(rest + 1,
			" %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			&parent, &start) != 2)
		return false;
	*ret_parent = parent;
	*ret_start = start;
	return true;
}

uint64_t process_start(pid_t pid)
{
	uint64_t start;
	pid_t parent;

	return read_stat(pid, &parent, &start) ? start : 0;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash_text(hash, text), "\xff", 1);
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return add_text(hash, text);
}

/* Adds what launchers call a launch, on all hosts alike; false if none of them did. */
static bool add_names(uint64_t *hash)
{
	static const char *const names[] = {
		"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "PALS_APID", "SLURM_JOB_ID", "SLURM_STEP_ID"};
	bool named = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value || !*value)
			continue;
		*hash = add_text(*hash, value);
		named |= strcmp(names[i], "SLURM_JOB_ID") != 0; /* a job has many launches */
	}
	return named;
}

/* Whether `words`, zero bytes between them, hold one that begins so; what follows in it, or NULL. */
static const char *find_word(const char *words, size_t length, const char *begin)
{
	for (const char *p = words; p < words + length; p += strlen(p) + 1)
		if (!strncmp(p, begin, strlen(begin)))
			return p + strlen(begin);
	return NULL;
}

/*
 * Goes up from our parent. Hydra's proxies know no name of the launch but the address of their mpiexec, the
 * same on all hosts. Failing all else the launch is the process that started it: the first that is not itself
 * a rank.
 */
static void add_ancestor(uint64_t *hash, const char *rank, bool named)
{
	static char text[TEXT_MAX];
	uint64_t start, launcher = 0;
	pid_t pid = getppid(), parent, found = 0;
	char variable[64];

	snprintf(variable, sizeof(variable), "%s=", rank);
	for (int i = 0; i < ANCESTORS && pid > 0 && read_stat(pid, &parent, &start); i++, pid = parent) {
		size_t length = read_proc(pid, "cmdline", text);
		const char *port = find_word(text, length, "--control-port");

		if (port && strstr(text, "hydra")) {
			*hash = add_text(*hash, port + strlen(port) + 1);
			return;
		}
		length = read_proc(pid, "environ", text);
		if (!found && !find_word(text, length, variable)) {
			found = pid;
			launcher = start;
		}
	}
	if (named)
		return;
	*hash = add_number(add_number(add_number(*hash, (uint64_t)found), launcher), clock_domain());
}

void launch_find(struct launch *ret)
{
	uint64_t hash = HASH_START;
	bool named;

	memset(ret, 0, sizeof(*ret));
	if (!launch_place(&ret->place) || ret->place.size == 1) {
		ret->place.size = 0;
		return;
	}
	ret->local = launch_local(&ret->place);
	hash = add_number(hash, ret->place.size);
	named = add_names(&hash);
	add_ancestor(&hash, ret->place.words->rank, named);
	snprintf(ret->key, sizeof(ret->key), "%016llx", (unsigned long long)hash);
}
