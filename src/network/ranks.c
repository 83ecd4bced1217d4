#include "ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/launch.h"
#include "ranks_mpi.h"

/* Which MPI a launcher is of, by the variables that it sets. */
static const char *mpi_of(const struct launch_place *place)
{
	const char *rank = place->words->rank;

	if (!strcmp(rank, "OMPI_COMM_WORLD_RANK") || !strcmp(rank, "PMIX_RANK"))
		return "openmpi";
	if (!strcmp(rank, "SLURM_PROCID")) /* and no interface of any MPI: srun --mpi=none */
		return NULL;
	return "mpich";
}

void ranks_find(struct ranks *ret)
{
	struct launch_place place;

	*ret = (struct ranks){.size = 1};
	if (launch_place(&place) && place.size > 1)
		*ret = (struct ranks){.rank = (int)place.rank, .size = (int)place.size};
}

void ranks_alone(struct ranks *ranks)
{
	ranks->idle = ranks->rank != 0;
	ranks->size = 1;
	ranks->mpi = NULL;
}

/* Where it is built, or where it is installed. NULL: neither. */
static void *open_library(const char *mpi)
{
	char own[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	void *library;

	if (length <= 0)
		return NULL;
	own[length] = 0;
	*strrchr(own, '/') = 0;
	snprintf(path, sizeof(path), "%s/../network/libhybrid-ranks-%s.so", own, mpi);
	library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		snprintf(path, sizeof(path), "%s/" HYBRID_LIBRARIES "/libhybrid-ranks-%s.so", own, mpi);
		library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	}
	return library;
}

/* NULL, or why ranks cannot reach each other. */
static const char *join(struct ranks *ranks)
{
	struct launch_place place;
	const char *mpi = launch_place(&place) ? mpi_of(&place) : NULL;
	const struct ranks_mpi *functions;
	int rank, size;
	void *library;

	if (!mpi)
		return "the launcher offers no MPI (srun: use --mpi=pmi2 or --mpi=pmix)";
	library = open_library(mpi);
	functions = library ? dlsym(library, "hybrid_ranks") : NULL;
	if (!functions)
		return !strcmp(mpi, "mpich") ? "there is no libhybrid-ranks-mpich.so that can be loaded"
					     : "there is no libhybrid-ranks-openmpi.so that can be loaded";
	if (functions->begin(&rank, &size))
		return "MPI does not begin";
	if (rank == ranks->rank && size == ranks->size) {
		ranks->mpi = functions;
		return NULL;
	}
	functions->end();
	return "MPI knows other ranks than the launcher";
}

void ranks_begin(struct ranks *ranks)
{
	const char *why = ranks->size > 1 ? join(ranks) : NULL;

	if (why && !ranks->rank)
		fprintf(stderr, "hybrid-report: %s: rank 0 works alone; --serial does so at once\n", why);
	if (why)
		ranks_alone(ranks);
}

void ranks_send(const struct ranks *ranks, int to, const struct blob *blob)
{
	ranks->mpi->send(to, blob->data, blob->size);
}

struct blob ranks_receive(const struct ranks *ranks, int from)
{
	struct blob blob = {0};

	blob.data = ranks->mpi->receive(from, &blob.size);
	blob.failed = !blob.data;
	blob.room = blob.size;
	return blob;
}

void ranks_gather(const struct ranks *ranks, void (*take)(void *data, const struct blob *from),
	void (*give)(void *data, struct blob *to), void *data)
{
	struct blob blob = {0};

	for (int step = 1; step < ranks->size; step *= 2) {
		if (ranks->rank & step) {
			give(data, &blob);
			if (blob.failed)
				blob.size = 0; /* what a rank has is never that short */
			ranks_send(ranks, ranks->rank - step, &blob);
			blob_release(&blob);
			return;
		}
		if (ranks->rank + step < ranks->size) {
			blob = ranks_receive(ranks, ranks->rank + step);
			take(data, &blob);
			blob_release(&blob);
		}
	}
}

static void append(void *data, const struct blob *from)
{
	struct blob *to = data;

	blob_put_bytes(to, from->data, from->size);
	if (to->failed || from->failed)
		_exit(1); /* nothing else would wake the others */
}

static void copy(void *data, struct blob *to)
{
	append(to, data);
}

void ranks_exchange(const struct ranks *ranks, struct blob *blob)
{
	int step = 1;

	if (blob->failed)
		_exit(1);
	ranks_gather(ranks, append, copy, blob);
	while (step < ranks->size && !(ranks->rank & step))
		step *= 2;
	if (ranks->rank) {
		blob_release(blob);
		*blob = ranks_receive(ranks, ranks->rank - step);
	}
	if (blob->failed)
		_exit(1);
	for (step /= 2; step; step /= 2)
		if (ranks->rank + step < ranks->size)
			ranks_send(ranks, ranks->rank + step, blob);
}

void ranks_end(const struct ranks *ranks)
{
	if (ranks->mpi)
		ranks->mpi->end();
}
