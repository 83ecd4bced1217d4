/* Runs until the file that its argument names is gone: in early(), and in late() once FILE.late is there. */
#include <unistd.h>

#include "work.h"

/* Some milliseconds, in nobody else's code; `step`: or the compiler makes one of the two. */
#define WORK(step) \
	for (volatile unsigned i = 0; i < 10000000; i = i + (step)) \
		;

NOINLINE static void early(void)
{
	WORK(1);
}

NOINLINE static void late(void)
{
	WORK(2);
}

int main(int argc, char **argv)
{
	char second[4096];

	if (argc < 2)
		return 2;
	snprintf(second, sizeof(second), "%s.late", argv[1]);
	while (!access(argv[1], F_OK)) {
		if (access(second, F_OK))
			early();
		else
			late();
		usleep(20000);
	}
	puts("done");
	return 0;
}
