/* A library of somebody else's that the user preloads: it says so in each process. */
#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
	setenv("PRELOADED", "yes", 1);
}
