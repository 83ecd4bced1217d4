/* Processes that are made while their parent, or another thread of it, goes on; by each way there is. */
#include "work.h"

#include <hybrid/hybrid.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 20
#define CHILD_MS 10

static NOINLINE void child(void)
{
	burn_ms(CHILD_MS);
	HYBRID_LEAVE("open at the fork");
	_exit(0);
}

static int cloned(void *argument)
{
	child();
	return 0;
}

static pid_t by_fork(void)
{
	return fork();
}

static pid_t by_plain_fork(void)
{
	return _Fork();
}

static pid_t by_clone(void)
{
	static char stack[1 << 18] __attribute__((aligned(16)));

	return clone(cloned, stack + sizeof(stack), SIGCHLD, NULL);
}

static pid_t by_system_call(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t made_in_handler;

static void fork_in_handler(int sig)
{
	made_in_handler = fork();
}

static pid_t by_handler(void)
{
	signal(SIGUSR1, fork_in_handler);
	raise(SIGUSR1);
	return made_in_handler;
}

static const struct {
	const char *name;
	pid_t (*make)(void);
} ways[] = {{"fork", by_fork}, {"_Fork", by_plain_fork}, {"clone", by_clone}, {"system_call", by_system_call},
	{"handler", by_handler}};

/* The child works in a region that its parent leaves at once. */
static void regions(const char *way)
{
	unsigned died = 0, which = 0;
	int status;

	while (strcmp(ways[which].name, way))
		CHECK(++which < sizeof(ways) / sizeof(ways[0]));
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid;

		HYBRID_ENTER("open at the fork");
		pid = ways[which].make();
		if (!pid)
			child();
		HYBRID_LEAVE("open at the fork");
		HYBRID_ENTER("the parent alone");
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		died += status != 0;
		HYBRID_LEAVE("the parent alone");
	}
	printf("%u of %d died\n", died, CHILDREN);
}

/* Each makes what the file has to grow for. */
static void new_regions(const char *who, unsigned from, unsigned count)
{
	char name[400];

	for (unsigned i = from; i < from + count; i++) {
		size_t len = (size_t)snprintf(name, sizeof(name), "%s %300u", who, i);

		hybrid_enter_name(name, len);
		hybrid_leave_name(name, len);
	}
}

/* The parent's next regions come to lie in parts of the file that the child has not mapped. */
static void segments(const char *argument)
{
	unsigned died = 0;
	int status;

	for (unsigned i = 0; i < 300; i++) {
		pid_t pid;

		HYBRID_ENTER("open at the fork");
		pid = fork();
		if (!pid)
			_exit(0);
		HYBRID_LEAVE("open at the fork");
		new_regions("parent", i * 100, 100);
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		died += status != 0;
	}
	printf("%u died\n", died);
}

static volatile int done;

static void *make_regions(void *who)
{
	for (unsigned i = 0; !done && i < 10000; i += 10)
		new_regions(who, i, 10);
	return NULL;
}

/* Other threads map parts of the file at the moment of the fork. */
static void threads(const char *argument)
{
	pthread_t thread[4];
	unsigned died = 0;
	int status;

	for (unsigned i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, make_regions, (char *[]){"a", "b", "c", "d"}[i]));
	for (unsigned i = 0; i < 150; i++) {
		pid_t pid;

		HYBRID_ENTER("open at the fork");
		pid = fork();
		if (!pid) {
			new_regions("child", 0, 300);
			HYBRID_LEAVE("open at the fork");
			_exit(0);
		}
		HYBRID_LEAVE("open at the fork");
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		died += status != 0;
	}
	done = 1;
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%u died\n", died);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"regions", regions}, {"segments", segments}, {"threads", threads}};

	return RUN_CASE(cases, argc, argv);
}
