/* Processes that begin and end in every way; each case prints what it sees. */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <hybrid/hybrid.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self_path;

static void say_status(const char *what, int status)
{
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", what, WTERMSIG(status));
	else
		printf("%s: exit %d\n", what, WEXITSTATUS(status));
	fflush(stdout);
}

static void reap(const char *what, pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	say_status(what, status);
}

static NOINLINE void child_work(void)
{
	HYBRID_ENTER("child work");
	burn_ms(30);
	HYBRID_LEAVE("child work");
}

static void run_fork(const char *argument)
{
	pid_t pid;

	HYBRID_ENTER("before");
	burn_ms(20);
	pid = fork();
	if (pid == 0) {
		child_work();
		exit(11);
	}
	reap("fork", pid);
	HYBRID_LEAVE("before");
}

/* Each runs `processes work` in a child. */
static char *work_argv[] = {NULL, (char *)"work", NULL};

static void work(const char *argument)
{
	child_work();
	printf("work %s\n", argument);
	fflush(stdout);
	_exit(12);
}

static void fork_exec(const char *argument)
{
	pid_t pid = fork();

	if (pid == 0) {
		execv(self_path, work_argv);
		_exit(1);
	}
	reap("fork_exec", pid);
}

static void vfork_exec(const char *argument)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(self_path, work_argv);
		_exit(1);
	}
	reap("vfork_exec", pid);
	pid = vfork();
	if (pid == 0)
		_exit(13);
	reap("vfork_exit", pid);
	burn_ms(20);
}

static void spawn(const char *argument)
{
	char *argv[] = {self_path, (char *)"work", (char *)"spawned", NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	CHECK(!posix_spawn_file_actions_init(&actions));
	CHECK(!posix_spawn_file_actions_adddup2(&actions, 1, 2));
	CHECK(!posix_spawn(&pid, self_path, &actions, NULL, argv, environ));
	reap("spawn", pid);
	CHECK(posix_spawn(&pid, "/nowhere/nothing", NULL, NULL, argv, environ) == ENOENT);
}

static char clone_stack[1 << 18] __attribute__((aligned(16)));

static int cloned(void *argument)
{
	HYBRID_ENTER("cloned");
	spin(1, 20000000);
	HYBRID_LEAVE("cloned");
	return 14;
}

static void run_clone(const char *argument)
{
	reap("clone", clone(cloned, clone_stack + sizeof(clone_stack), SIGCHLD, NULL));
	reap("clone_vm", clone(cloned, clone_stack + sizeof(clone_stack), CLONE_VM | SIGCHLD, NULL));
	reap("clone_vfork",
		clone(cloned, clone_stack + sizeof(clone_stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	burn_ms(20);
}

/* A fork behind the C library's back. */
static void raw_fork(const char *argument)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		child_work();
		_exit(15);
	}
	reap("raw fork", pid);
	burn_ms(20);
}

static void run_system(const char *argument)
{
	char text[64] = "";
	FILE *pipe;

	say_status("system", system("echo in a shell; exit 16"));
	pipe = popen("echo from a pipe", "r");
	CHECK(pipe && fgets(text, sizeof(text), pipe));
	printf("%s", text);
	fflush(stdout);
	say_status("popen", pclose(pipe));
}

/* The daemon writes into the pipe that it keeps. */
static void run_daemon(const char *argument)
{
	int ends[2];
	char text[16] = "";
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		CHECK(!daemon(0, 0));
		child_work();
		CHECK(write(ends[1], "daemon", 6) == 6);
		exit(0);
	}
	close(ends[1]);
	reap("daemon", pid);
	CHECK(read(ends[0], text, sizeof(text) - 1) == 6);
	puts(text);
	CHECK(read(ends[0], text, sizeof(text) - 1) == 0);
}

static void double_fork(const char *argument)
{
	int ends[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			setsid();
			child_work();
			CHECK(write(ends[1], "x", 1) == 1);
		}
		_exit(17);
	}
	close(ends[1]);
	reap("first", pid);
	CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
	CHECK(read(ends[0], &byte, 1) == 0);
	puts("grandchild done");
}

static void children(const char *argument)
{
	int count = *argument ? atoi(argument) : 300, status, sum = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			HYBRID_ENTER("short");
			spin(1, 10000);
			HYBRID_LEAVE("short");
			_exit(i % 100);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		sum += WEXITSTATUS(status);
	}
	printf("children %d, sum %d\n", count, sum);
}

/* Executes itself again with a number that falls to 0. */
static void exec_chain(const char *argument)
{
	int left = *argument ? atoi(argument) : 5;
	char text[16];
	char *argv[] = {self_path, (char *)"exec_chain", text, NULL};

	HYBRID_ENTER("link");
	burn_ms(10);
	HYBRID_LEAVE("link");
	printf("link %d\n", left);
	fflush(stdout);
	if (!left)
		exit(18);
	sprintf(text, "%d", left - 1);
	execv(self_path, argv);
}

static void beside(const char *name, char path[4096])
{
	snprintf(path, 4096, "%s", self_path);
	strcpy(strrchr(path, '/') + 1, name);
}

static void exec_static(const char *argument)
{
	char path[4096];

	beside("static", path);
	execl(path, "static", "after exec", NULL);
}

static void exec_fails(const char *argument)
{
	char *argv[] = {(char *)"x", NULL};

	errno = 0;
	CHECK(execv("/nowhere/nothing", argv) == -1 && errno == ENOENT);
	errno = 0;
	CHECK(execvp("/tmp", argv) == -1 && errno == EACCES);
	child_work();
	puts("PASS");
}

/* The environment is gone, and with it the runtime. */
static void exec_bare(const char *argument)
{
	char *nothing[] = {(char *)"ONLY=this", NULL};

	execle(self_path, self_path, "show_environment", NULL, nothing);
}

static void show_environment(const char *argument)
{
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "HYBRID_", 7))
			puts(*e);
}

static void at_exit(void)
{
	puts("at exit");
}

static void at_quick_exit_handler(void)
{
	puts("at quick exit");
	fflush(stdout);
}

static void end_exit(const char *argument)
{
	atexit(at_exit);
	child_work();
	exit(20);
}

static void end__exit(const char *argument)
{
	atexit(at_exit);
	child_work();
	_exit(21);
}

static void end_quick(const char *argument)
{
	atexit(at_exit);
	at_quick_exit(at_quick_exit_handler);
	child_work();
	quick_exit(22);
}

static void end_abort(const char *argument)
{
	child_work();
	abort();
}

static void end_segv(const char *argument)
{
	volatile int *volatile nowhere = (volatile int *)16;

	child_work();
	*nowhere = 1;
}

static void end_kill(const char *argument)
{
	child_work();
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

static void end_syscall(const char *argument)
{
	child_work();
	syscall(SYS_exit_group, 23);
}

static void end_term(const char *argument)
{
	child_work();
	raise(SIGTERM);
}

/* Memory runs out: malloc says so, and the program goes on. */
static void end_oom(const char *argument)
{
	struct rlimit limit = {(rlim_t)300 << 20, (rlim_t)300 << 20};
	size_t blocks = 0;

	CHECK(!setrlimit(RLIMIT_AS, &limit));
	while (blocks < 1000 && malloc(1 << 20))
		blocks++;
	CHECK(blocks < 300);
	child_work();
	puts("out of memory");
	fflush(stdout);
	_exit(24);
}

static volatile int stays = 1; /* always set: the compiler shall not know that nobody returns */

static void end_recursion(const char *argument)
{
	volatile char frame[100000];

	frame[0] = *argument;
	if (stays)
		end_recursion((const char *)frame);
	frame[1] = frame[0];
}

/* Descriptors are numbered as without us, and closing all of them harms nobody. */
static void descriptors(const char *argument)
{
	int first = open("/dev/null", O_RDONLY), ends[2];

	CHECK(!pipe(ends));
	printf("%d %d %d\n", first, ends[0], ends[1]);
	fflush(stdout);
	CHECK(!close_range(3, ~0u, 0));
	first = open("/dev/null", O_RDONLY);
	printf("%d\n", first);
	for (int fd = 3; fd < 1100; fd++)
		close(fd);
	burn_ms(100);
	for (int i = 0; i < 500; i++) {
		hybrid_enter_name(argument, (size_t)i % 3);
		hybrid_leave_name(argument, (size_t)i % 3);
	}
	first = open("/dev/null", O_RDONLY);
	printf("%d\n", first);
	fflush(stdout);
	run_fork("");
}

/* The program's own file stands where a descriptor of ours was. */
static void reused(const char *argument)
{
	char path[] = "/tmp/hybrid-test-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && !unlink(path));
	CHECK(write(fd, "mine", 4) == 4);
	for (int i = 3; i < 1024; i++)
		if (i != fd)
			dup2(fd, i);
	burn_ms(100);
	for (int i = 0; i < 20000; i++) {
		char name[32];
		size_t length = (size_t)sprintf(name, "region %d", i);

		hybrid_enter_name(name, length);
		hybrid_leave_name(name, length);
	}
	CHECK(lseek(fd, 0, SEEK_END) == 4);
	puts("PASS");
}

/* Burns and enters regions until it is killed. */
static void forever(const char *argument)
{
	printf("running\n");
	fflush(stdout);
	for (;;) {
		HYBRID_ENTER("forever");
		spin(1, 100000);
		HYBRID_LEAVE("forever");
	}
}

/* A limited time of regions and work; prints that it came to its end. */
static void steady(const char *argument)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(*argument ? atoi(argument) : 500) * 1000000;
	char name[64];

	for (int i = 0; clock_ns(CLOCK_MONOTONIC) < end; i++) {
		size_t length = (size_t)sprintf(name, "a region with a name of its own %d", i % 5000);

		hybrid_enter_name(name, length);
		spin(1, 2000);
		hybrid_leave_name(name, length);
	}
	puts("PASS");
	exit(25);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"fork", run_fork},
		{"work", work},
		{"fork_exec", fork_exec},
		{"vfork", vfork_exec},
		{"spawn", spawn},
		{"clone", run_clone},
		{"raw_fork", raw_fork},
		{"system", run_system},
		{"daemon", run_daemon},
		{"double_fork", double_fork},
		{"children", children},
		{"exec_chain", exec_chain},
		{"exec_static", exec_static},
		{"exec_fails", exec_fails},
		{"exec_bare", exec_bare},
		{"show_environment", show_environment},
		{"exit", end_exit},
		{"_exit", end__exit},
		{"quick_exit", end_quick},
		{"abort", end_abort},
		{"segv", end_segv},
		{"kill", end_kill},
		{"exit_group", end_syscall},
		{"term", end_term},
		{"oom", end_oom},
		{"stack_overflow", end_recursion},
		{"descriptors", descriptors},
		{"reused", reused},
		{"forever", forever},
		{"steady", steady},
	};

	self_path = realpath("/proc/self/exe", NULL);
	if (!self_path)
		self_path = argv[0];
	work_argv[0] = self_path;
	return RUN_CASE(cases, argc, argv);
}
