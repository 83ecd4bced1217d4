/*
 * The ends of children: who waits for one learns how it ended and what CPU time it took, and leaves that in
 * the file. So children are accounted for that cannot be measured, or that ended without a word.
 */
#include <errno.h>

#include "runtime/clock.h"
#include "runtime/store.h"
#include "runtime/sys.h"
#include "wrap.h"

static uint64_t nanoseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static uint64_t cpu_of(const struct rusage *usage)
{
	return nanoseconds(&usage->ru_utime) + nanoseconds(&usage->ru_stime);
}

uint64_t wait_cpu_children(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_CHILDREN, &usage) ? 0 : cpu_of(&usage);
}

/* Also in handlers of the program's; a child of vfork waits for none of ours. */
static void note_end(pid_t pid, int status, uint64_t cpu)
{
	struct hyb_def_ended def = {.tick = clock_tick(), .cpu = cpu, .pid = (uint32_t)pid, .status = status};

	if (!(WIFEXITED(status) || WIFSIGNALED(status)) || !store.header || rt.pid != getpid())
		return;
	atomic_fetch_add(&rt.noted_cpu, cpu);
	store_define(HYB_DEF_ENDED, &def, NULL);
}

static uint64_t not_noted(void)
{
	return wait_cpu_children() - atomic_load(&rt.noted_cpu);
}

uint64_t wait_hidden_begin(void)
{
	return store.header ? not_noted() : 0;
}

/* Another thread may have waited meanwhile, and not yet noted it. */
static void note_hidden(pid_t pid, int status, uint64_t begin)
{
	int64_t cpu = store.header ? (int64_t)(not_noted() - begin) : 0;
	int saved = errno;

	if (cpu > 0)
		note_end(pid, status, (uint64_t)cpu);
	errno = saved;
}

void wait_hidden_end(uint64_t begin, int status)
{
	note_hidden(0, status, begin);
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct held_call call = wrap_hold();
	struct rusage own = {0};
	int how = 0, saved;
	/* The kernel writes to the program's address: an invalid one gives the program its EFAULT. */
	pid_t result = REAL(wait4)(pid, status ? status : &how, options, usage ? usage : &own);

	wrap_release(&call);
	if (result <= 0)
		return result;
	saved = errno;
	note_end(result, status ? *status : how, cpu_of(usage ? usage : &own));
	errno = saved;
	return result;
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

EXPORT pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

static int status_of(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED ? (info->si_status & 0xff) << 8 : info->si_status & 0x7f;
}

/* It gives no CPU time. */
EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	bool ends = info && (options & WEXITED) && !(options & WNOWAIT);
	uint64_t begin = ends ? wait_hidden_begin() : 0;
	struct held_call call = wrap_hold();
	int result = REAL(waitid)(type, id, info, options), saved = errno;

	wrap_release(&call);
	errno = saved;
	if (!result && ends && info->si_pid &&
		(info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED))
		note_hidden(info->si_pid, status_of(info), begin);
	return result;
}
