/*
 * Launchers of MPI programs (mpiexec, mpirun, srun ...): their names, and the environment variables that they
 * set for the processes that they start. No other file knows these.
 */
#ifndef BASE_LAUNCH_H
#define BASE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* File of an experiment to which each measured rank adds a line before MPI_Init; see src/mpi/measured.c. */
#define LAUNCH_MEASURED ".measured"

/* The variable that gives processes of MPI_Comm_spawn the identity of the communicator between them and their
 * parents, in hexadecimal digits; see src/mpi/spawn.c. */
#define LAUNCH_SPAWNED "HYBRID_SPAWNED"

/* A variable as a number below 2^31; -1: not set, or no number. */
static inline int64_t launch_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (!text || *text < '0' || *text > '9')
		return -1;
	value = strtoul(text, &end, 10);
	return *end || value > INT32_MAX ? -1 : (int64_t)value;
}

/* The variables of one kind of launcher. */
struct launch_words {
	const char *rank, *size, *local; /* local: ranks on this host */
};

static const struct launch_words launch_words[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
	{"PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_SIZE"},
	{"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
};

/* A process of a launch of several, or of one. */
struct launch_place {
	const struct launch_words *words; /* whose variables were found */
	uint32_t rank, size;
};

/* False: no launcher started this process. */
static inline bool launch_place(struct launch_place *ret)
{
	for (size_t i = 0; i < sizeof(launch_words) / sizeof(launch_words[0]); i++) {
		int64_t rank = launch_number(launch_words[i].rank),
			size = launch_number(launch_words[i].size);

		if (rank < 0 || size <= rank)
			continue;
		*ret = (struct launch_place){&launch_words[i], (uint32_t)rank, (uint32_t)size};
		return true;
	}
	return false;
}

/* Removes the launchers' variables, so that programs which this process starts see no launcher. */
static inline void launch_forget(void)
{
	for (size_t i = 0; i < sizeof(launch_words) / sizeof(launch_words[0]); i++)
		unsetenv(launch_words[i].rank);
}

/* The number of ranks on this host, from the launcher's variables; 0: not known. */
static inline uint32_t launch_local(const struct launch_place *place)
{
	const char *text = getenv(place->words->local);

	/* Slurm writes "64(x2),32": the first hosts' number will do. */
	return text && *text >= '0' && *text <= '9' ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static inline bool launch_one_of(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

/* A launcher, or what it starts to start processes. `name` has no slash. */
static inline bool launch_is_launcher(const char *name)
{
	static const char *const names[] = {"mpiexec", "mpirun", "orterun", "prterun", "prun", "srun",
		"aprun", "jsrun", "ibrun", "mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich",
		"mpiexec.openmpi", "mpirun.openmpi", "mpiexec.gforker", "mpiexec_mpt", "hydra_pmi_proxy",
		"hydra_bstrap_proxy", "hydra_persist", "hydra_nameserver", "orted", "prted", "prte",
		"pbs_tmrsh", "plink", "ssh", "rsh", "slurmstepd", NULL};

	return launch_one_of(names, name);
}

static inline bool launch_is_shell(const char *name)
{
	static const char *const names[] = {
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "busybox", NULL};

	return launch_one_of(names, name);
}

#endif
