/*
 * libhybrid-mpi.so: preloaded, it has MPI_X and PMPI_X for every function X of the MPIs that Hybrid was built
 * for. Each is a stub (stubs.S, generated) that jumps to its target. The first call of any finds the MPI that
 * is loaded, of whatever kind and however it was loaded, and sets all targets: to the wrappers of that ABI's
 * wrapper library, or to MPI's own functions where nothing is measured.
 *
 * Fortran needs PMPI_X: Open MPI's library for it calls that. What another tool that wraps MPI_X calls is
 * PMPI_X, too: then MPI_X is the tool's, and the wrapper stands behind it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/find.h"
#include "mpi/library.h"

/* Of stubs.S: the names, "MPI_Abort\0MPI_Accumulate\0...\0", their number, and the targets of MPI_X and
 * PMPI_X. */
extern const char hybrid_mpi_names[];
extern const unsigned hybrid_mpi_count;
extern void *_Atomic hybrid_mpi_targets[];

/* Set by wrappers that are linked to the program: then nothing is measured here. */
extern int hybrid_mpi_linked;
__attribute__((visibility("default"))) int hybrid_mpi_linked;

/* Called by a stub whose target is not set: where to go on. `stub` counts MPI_X and PMPI_X of each name. */
__attribute__((used)) void *hybrid_mpi_resolve(unsigned stub);

static void *mpi; /* handle of the MPI that is used; threads that meet here set the same */
static struct mpi_object object; /* the same */

/* MPI's own: a function by its PMPI name, one of Fortran, which has a library of its own, or a variable. */
static void *find_real(const char *name)
{
	void *found;

	if (!strncmp(name, "mpi_", 4))
		return mpi_symbol(name, NULL, NULL);
	/* The linker may have moved a variable into the executable. */
	found = *name == 'P' ? NULL : dlsym(RTLD_DEFAULT, name);
	if (!found)
		found = dlsym(mpi, name);
	if (!found && *name == 'P')
		found = dlsym(mpi, name + 1);
	return found ? found : mpi_symbol(name, NULL, NULL);
}

static void complain(const char *what)
{
	static atomic_flag reported = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&reported))
		dprintf(STDERR_FILENO, "hybrid: MPI calls are not measured: %s\n", what);
}

/* The name of the wrapper library; NULL: there is none for such an MPI. */
static const char *library_name(void)
{
	int (*get_version)(char *, int *) = dlsym(mpi, "PMPI_Get_library_version");
	char text[8192 + 1]; /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING is the longest */
	int length;

	if (!get_version || get_version(text, &length))
		return NULL;
	if (strstr(text, "Open MPI"))
		return "libhybrid-mpi-openmpi.so";
	/* MPI 5's own ABI is another one, whoever made the library. */
	if (strstr(object.path, "mpi_abi"))
		return NULL;
	for (const char *const *name = (const char *const[]){"MPICH", "Intel(R) MPI", "MVAPICH", NULL}; *name;
		name++)
		if (strstr(text, *name))
			return "libhybrid-mpi-mpich.so";
	return NULL;
}

static void start_library(const struct mpi_library *library, const struct hybrid_mpi *api)
{
	struct mpi_finder finder = {find_real, mpi_symbol, {"", 0, 0}};

	mpi_symbol("mpi_init_", NULL, &finder.fortran);
	library->start(api, &finder);
}

/* The wrapper library for this MPI, ready to be called; NULL: nothing is measured. */
static const struct mpi_library *load_library(const struct hybrid_mpi *api)
{
	const char *name = library_name();
	char path[PATH_MAX], text[PATH_MAX + 100];
	const struct mpi_library *library;
	const char *slash;
	void *handle;
	Dl_info own;

	if (!name) {
		snprintf(text, sizeof(text), "%s is neither MPICH's nor Open MPI's ABI", object.path);
		complain(text);
		return NULL;
	}
	if (!dladdr((void *)(uintptr_t)hybrid_mpi_resolve, &own) || !(slash = strrchr(own.dli_fname, '/')))
		return NULL;
	snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - own.dli_fname), own.dli_fname, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	library = handle ? dlsym(handle, HYBRID_MPI_LIBRARY) : NULL;
	if (!library) {
		if (access(path, F_OK))
			snprintf(
				text, sizeof(text), "Hybrid was built without %s, for %s", name, object.path);
		else
			snprintf(text, sizeof(text), "%s", dlerror());
		complain(text);
		return NULL;
	}
	start_library(library, api);
	return library;
}

static int compare_wrapper(const void *name, const void *wrapper)
{
	return strcmp(name, ((const struct mpi_wrapper *)wrapper)->name);
}

static void *find_wrapper(const struct mpi_library *library, const char *name)
{
	const struct mpi_wrapper *found = NULL;

	if (library)
		found = bsearch(name, library->wrappers, library->count, sizeof(*found), compare_wrapper);
	return found ? found->code : NULL;
}

/* Another tool's MPI_X, found before MPI's own. */
static void *find_tool(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	return next && !mpi_object_has(&object, next) && mpi_object_has(&object, dlsym(mpi, name)) ? next
												   : NULL;
}

static void set_targets(const struct mpi_library *library)
{
	const char *name = hybrid_mpi_names;

	for (unsigned i = 0; i < hybrid_mpi_count; i++, name += strlen(name) + 1) {
		char profiling[64] = "P";
		void *real, *code, *tool;

		strncat(profiling, name, sizeof(profiling) - 2);
		real = find_real(*name == 'm' ? name : profiling);
		if (!real)
			continue;
		code = find_wrapper(library, name);
		tool = find_tool(name);
		if (!code)
			code = real;
		atomic_store_explicit(&hybrid_mpi_targets[2 * i], tool ? tool : code, memory_order_release);
		atomic_store_explicit(&hybrid_mpi_targets[2 * i + 1], code, memory_order_release);
	}
}

static const char *stub_name(unsigned stub)
{
	const char *name = hybrid_mpi_names;

	for (unsigned i = 0; i < stub / 2; i++)
		name += strlen(name) + 1;
	return name;
}

/* MPI_Initialized and MPI_Finalized as long as there is no MPI. */
static int say_no(int *ret_flag)
{
	*ret_flag = 0;
	return 0;
}

/* As the dynamic linker ends a program. */
__attribute__((noreturn)) static void *missing(unsigned stub)
{
	dprintf(STDERR_FILENO, "%s: symbol lookup error: undefined symbol: %s%s\n", program_invocation_name,
		stub & 1 ? "P" : "", stub_name(stub));
	_exit(127);
}

static bool find_mpi(const struct hybrid_mpi *api)
{
	static atomic_flag reported = ATOMIC_FLAG_INIT;
	struct mpi_object first, second;
	char text[2 * PATH_MAX + 100];
	unsigned count = mpi_objects(dlsym(RTLD_NEXT, "PMPI_Init"), &first, &second);

	if (!count)
		return false;
	mpi = dlopen(first.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!mpi)
		return false;
	object = first;
	if (count > 1 && !atomic_flag_test_and_set(&reported)) {
		snprintf(text, sizeof(text), "two MPIs in one process: %s is used and measured, not %s",
			first.path, second.path);
		dprintf(STDERR_FILENO, "hybrid: %s\n", text);
		if (api)
			api->note(HYB_NOTE_WARNING, text);
	}
	return true;
}

void *hybrid_mpi_resolve(unsigned stub)
{
	const struct hybrid_mpi *api = dlsym(RTLD_DEFAULT, "hybrid_mpi_1");
	int before = errno;
	void *target;

	if (!find_mpi(api)) {
		const char *name = stub_name(stub);

		if (strcmp(name, "MPI_Initialized") && strcmp(name, "MPI_Finalized"))
			missing(stub);
		errno = before;
		return (void *)(uintptr_t)say_no;
	}
	set_targets(api && !hybrid_mpi_linked ? load_library(api) : NULL);
	target = atomic_load_explicit(&hybrid_mpi_targets[stub], memory_order_acquire);
	if (!target)
		missing(stub);
	errno = before;
	return target;
}
