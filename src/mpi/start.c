/*
 * How a wrapper library gets at the runtime and, if it is loaded and not linked, at MPI.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>

#include "mpi/library.h"
#include "mpi/wrappers.h"

/* Without hybrid-run: version 0, so that MPI_Init makes no world, and nothing else is asked for. */
static bool begin_nothing(struct mpi_function *function)
{
	return false;
}

static void do_nothing(void)
{
}

static const struct hybrid_mpi nothing = {
	.begin = begin_nothing,
	.begin_late = begin_nothing,
	.pause = do_nothing,
	.resume = do_nothing,
};

const struct hybrid_mpi *api = &nothing;

#ifdef HYB_MPI_LINKED

/* Not there in a program without a dynamic linker. */
extern __typeof__(dlsym) dlsym __attribute__((weak));

__attribute__((constructor)) static void find_runtime(void)
{
	const struct hybrid_mpi *found = dlsym ? dlsym(RTLD_DEFAULT, "hybrid_mpi_1") : NULL;
	int *linked = dlsym ? dlsym(RTLD_DEFAULT, "hybrid_mpi_linked") : NULL;

	if (found)
		api = found;
	if (linked)
		*linked = 1;
}

bool fortran_helps(struct fortran_helper *helper, const void *caller)
{
	return false;
}

#else

struct pmpi pmpi;
static struct mpi_finder finder;

void pmpi_start(const struct hybrid_mpi *runtime, const struct mpi_finder *from)
{
	void **pointers = (void **)&pmpi;

	for (unsigned i = 0; i < pmpi_count; i++)
		pointers[i] = from->real(pmpi_names[i]);
	finder = *from;
	api = runtime;
}

static void look_up(struct fortran_helper *helper)
{
	static const char *const suffixes[] = {"_", "_f08_"};
	char name[64];

	for (int i = 0; i < 2; i++) {
		uint64_t size = 0;

		snprintf(name, sizeof(name), "%s%s", helper->name, suffixes[i]);
		for (char *c = name; *c; c++)
			*c = (char)tolower(*c);
		helper->start[i] = (uintptr_t)finder.symbol(name, &size, NULL);
		helper->size[i] = size;
	}
	atomic_store_explicit(&helper->known, true, memory_order_release);
}

bool fortran_helps(struct fortran_helper *helper, const void *caller)
{
	uintptr_t address = (uintptr_t)caller;

	if (address < finder.fortran.start || address >= finder.fortran.end)
		return false;
	if (!atomic_load_explicit(&helper->known, memory_order_acquire))
		look_up(helper);
	return address - helper->start[0] >= helper->size[0] && address - helper->start[1] >= helper->size[1];
}

#endif
