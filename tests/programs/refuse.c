/*
 * `refuse SYSCALL ERRNO... -- PROGRAM ARGUMENTS`: runs a program for which system
 * calls fail, as in a container that forbids them. A name is perf or timer, or the
 * call's number.
 */
#include "work.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned number_of(const char *name)
{
	if (!strcmp(name, "perf"))
		return SYS_perf_event_open;
	if (!strcmp(name, "timer"))
		return SYS_timer_create;
	return (unsigned)atoi(name);
}

static void refuse(unsigned number, unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(77);
	}
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc && strcmp(argv[i], "--"); i += 2)
		refuse(number_of(argv[i]), (unsigned)atoi(argv[i + 1]));
	if (i + 1 >= argc)
		return 2;
	execv(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
