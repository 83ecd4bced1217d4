/*
 * Opens a library that uses MPI as Python does, RTLD_LOCAL: opens LIBRARY. MPI is in no scope that the
 * program has.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : NULL;

	if (!run) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "opens LIBRARY");
		return 2;
	}
	return run();
}
