#include "mpi/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "mpi/clocks.h"
#include "mpi/handles.h"
#include "mpi/measured.h"
#include "mpi/ranks.h"
#include "mpi/requests.h"

struct world world;

static bool silent; /* other ranks are not measured */

static uint64_t random_number(void)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = mix(api->mono(), (uint64_t)getpid());
	return number;
}

/*
 * One collective call gives all ranks rank 0's random number (the others have 0), and the greatest and least
 * clock domain. A process that does not know its domain has one of its own.
 */
static void speak(void)
{
	uint64_t domain = api->clock_domain(), own[3] = {0}, all[3];

	if (!domain)
		domain = (uint64_t)world.rank + 1;
	if (!world.rank)
		own[0] = random_number() >> 1 | 1; /* MPICH 4.0 takes the greatest as if they had a sign */
	own[1] = domain;
	own[2] = ~domain;
	PMPI_Allreduce(own, all, 3, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	world.identity = all[0];
	if (all[1] != ~all[2])
		clocks_meet(domain);
}

/* Processes that were spawned inherited what measures them, all or none. */
static bool is_spawned(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void world_announce(void)
{
	if (api->version)
		say_measured();
}

void world_meet(void)
{
	int rank = 0, size = 0;

	if (!api->version)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	world.has_group = PMPI_Comm_group(MPI_COMM_WORLD, &world.group) == MPI_SUCCESS;
	world.rank = (uint32_t)rank;
	world.size = (uint32_t)size;
	silent = !is_spawned() && !all_measured(world.size);
	if (silent)
		world.identity = mix(experiment_identity(), world.size) | 1;
	else
		speak();
	requests_start();
}

static void define(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	PMPI_Query_thread(&world.threads);
	if (PMPI_Get_library_version(text, &length) == MPI_SUCCESS) {
		text[strcspn(text, "\n")] = 0;
		api->metadata("hybrid.mpi.library", text);
	}
	api->world(world.identity, world.rank, world.size, (uint32_t)world.threads);
}

void world_define(void)
{
	if (!world.identity)
		return;
	define();
	if (silent)
		api->note(HYB_NOTE_WARNING,
			"some ranks are not measured: their messages and clocks are not known");
	handles_start();
	clocks_define();
}

void world_part(void)
{
	if (!world.identity)
		return;
	clocks_part();
	clocks_define();
	if (world.has_group)
		PMPI_Group_free(&world.group);
	world.has_group = false;
}

#if MPI_VERSION >= 4

/* A number that the ranks of a job share with no other job of the experiment, from the launchers'
 * variables. */
static uint64_t job_identity(void)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"};
	uint64_t hash = world.size;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		hash = mix(hash, value ? handle_text(value) : 0);
	}
	return hash | 1;
}

static MPI_Session lender; /* of world.group, if any */

void world_session_end(MPI_Session session)
{
	if (!world.has_group || session != lender)
		return;
	PMPI_Group_free(&world.group);
	world.has_group = false;
}

void world_session(MPI_Session session)
{
	int rank = 0, size = 0;

	if (!api->version || world.has_group)
		return;
	if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world.group) != MPI_SUCCESS)
		return;
	world.has_group = true;
	lender = session;
	if (world.identity)
		return;
	PMPI_Group_rank(world.group, &rank);
	PMPI_Group_size(world.group, &size);
	world.rank = (uint32_t)rank;
	world.size = (uint32_t)size;
	world.identity = job_identity();
	define();
}

#endif
