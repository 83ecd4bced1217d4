#include "mpi/spawn.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launch.h"
#include "mpi/handles.h"
#include "mpi/handle_map.h"

#define MOST_VARIABLES 15

static const char env_path[] = "/usr/bin/env";

/* What stands in front of each command. */
struct front {
	char *words[1 + MOST_VARIABLES];
	size_t count;
};

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool in_path(const char *name)
{
	const char *p = getenv("PATH"), *end;
	char path[PATH_MAX];

	for (; p && *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)(end - p), p, name) < PATH_MAX &&
			is_program(path))
			return true;
	}
	return false;
}

static bool has_key(MPI_Info info, const char *key)
{
	int length, flag = 0;

	return info != MPI_INFO_NULL && PMPI_Info_get_valuelen(info, key, &length, &flag) == MPI_SUCCESS &&
	       flag;
}

/* Whether env would find the same program that the launcher finds. */
static bool is_found(const char *command, MPI_Info info)
{
	if (has_key(info, "path") || (*command != '/' && has_key(info, "wdir")))
		return false;
	return strchr(command, '/') ? is_program(command) : in_path(command);
}

static void make_front(struct front *front, char *identity)
{
	front->words[front->count++] = identity;
	for (char **variable = environ; *variable && front->count <= MOST_VARIABLES; variable++)
		if (!strncmp(*variable, "LD_PRELOAD=", 11) ||
			(!strncmp(*variable, "HYBRID_", 7) &&
				strncmp(*variable, LAUNCH_SPAWNED "=", sizeof(LAUNCH_SPAWNED))))
			front->words[front->count++] = *variable;
}

static size_t count_words(char **words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

/* The arguments of env, which end with the command and its own; `room` gets behind them. */
static char **put_words(char ***room, const struct front *front, char *command, char **argv)
{
	char **first = *room, **at = first;
	size_t count = count_words(argv);

	memcpy(at, front->words, front->count * sizeof(*at));
	at += front->count;
	*at++ = command;
	if (count)
		memcpy(at, argv, count * sizeof(*at));
	at += count;
	*at++ = NULL;
	*room = at;
	return first;
}

static bool is_root(MPI_Comm comm, int root)
{
	int rank;

	return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/* Memory: the commands, their arguments' arrays, then all words. */
static void put_front(struct spawn *spawn, int count, char ***commands, char ****argvs, const MPI_Info *infos)
{
	size_t n = (size_t)count, words = 0;
	struct front front = {.count = 0};
	char ***new_argvs, **new_commands, **room, **none;

	make_front(&front, spawn->identity);
	for (size_t i = 0; i < n; i++)
		words += front.count + 2 + count_words(*argvs ? (*argvs)[i] : NULL);
	new_commands = spawn->memory = scratch_take((2 * n + words + 1) * sizeof(char *), &spawn->size);
	if (!spawn->memory)
		return;
	new_argvs = (char ***)(new_commands + n);
	room = (char **)(new_argvs + n);
	none = room++;
	*none = NULL;
	for (size_t i = 0; i < n; i++) {
		char **argv = *argvs ? (*argvs)[i] : NULL;
		bool found = is_found((*commands)[i], infos[i]);

		new_commands[i] = found ? (char *)(uintptr_t)env_path : (*commands)[i];
		new_argvs[i] = found ? put_words(&room, &front, (*commands)[i], argv) : argv ? argv : none;
	}
	*commands = new_commands;
	*argvs = new_argvs;
}

void spawn_many(struct spawn *spawn, MPI_Comm comm, int root, int count, char ***commands, char ****argvs,
	const MPI_Info *infos)
{
	uint64_t identity = comm_next_identity(comm);
	int before = errno;

	snprintf(spawn->identity, sizeof(spawn->identity), LAUNCH_SPAWNED "=%llx",
		(unsigned long long)identity);
	if (identity && count > 0 && is_root(comm, root) && is_program(env_path))
		put_front(spawn, count, commands, argvs, infos);
	errno = before;
}

void spawn_one(
	struct spawn *spawn, MPI_Comm comm, int root, const char **command, char ***argv, MPI_Info info)
{
	char *words = (char *)(uintptr_t)*command, **commands = &words, ***argvs = argv;

	spawn_many(spawn, comm, root, 1, &commands, &argvs, &info);
	*command = *commands;
	*argv = *argvs;
}

void spawn_end(struct spawn *spawn)
{
	if (spawn->memory)
		scratch_give(spawn->memory, spawn->size);
}
