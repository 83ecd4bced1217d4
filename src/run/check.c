#include "run/check.h"

#include "launch/perf_event.h"
#include "runtime/arch/arch.h"
#include "run/metrics/metrics.h"
#include "run/metrics/perf.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

void check_title(const char *title)
{
	printf("%s\n", title);
}

void check_line(bool works, const char *format, ...)
{
	va_list list;

	fputs(works ? "  yes  " : "  no   ", stdout);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

/* The first line of a file; false if it cannot be read. */
static bool read_line(const char *path, char *ret, size_t room)
{
	FILE *in = fopen(path, "re");
	bool done;

	if (!in)
		return false;
	done = fgets(ret, (int)room, in) != NULL;
	fclose(in);
	if (done)
		ret[strcspn(ret, "\n")] = 0;
	return done;
}

/* ---------------------------------------------------------------- sampling */

static bool check_timer(void)
{
	struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
	struct timespec tick = {0, 4000000};
	timer_t timer;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &nothing, &timer)) {
		check_line(false, "timer of the CPU clock: %s; no samples by CPU time", strerror(errno));
		return false;
	}
	timer_delete(timer);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	check_line(true, "timer of the CPU clock: for --source cpu, up to %ld samples a second and thread",
		1000000000 / (tick.tv_nsec ? tick.tv_nsec : 1));
	return true;
}

static void check_task_clock(void)
{
	int result = perf_try(&perf_task_clock, PERF_SAMPLE);

	if (result)
		check_line(false, "task clock of perf_event_open: %s; samples come from a timer",
			perf_refusal(result, PERF_SAMPLE));
	else if (!perf_kernel_counts())
		check_line(false, "task clock of perf_event_open: without system calls only; lower "
				  "/proc/sys/kernel/perf_event_paranoid to 1; samples come from a timer");
	else
		check_line(true, "task clock of perf_event_open: the default, up to 10000 samples a second "
				 "and thread");
}

static void check_signal(unsigned number)
{
	struct sigaction action;
	const char *name = sigdescr_np((int)number);

	if (!sigaction((int)number, NULL, &action) && action.sa_handler == SIG_IGN)
		check_line(false,
			"signal %u (%s): is ignored by who started this; choose another with --signal",
			number, name ? name : "of real time");
	else
		check_line(true, "signal %u (%s): for the samples; --signal takes another", number,
			name ? name : "of real time");
}

static void check_memory(void)
{
	char from = 'x', to = 0;
	struct iovec local = {&to, 1}, remote = {&from, 1};

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1)
		check_line(true, "process_vm_readv: stacks are read safely");
	else
		check_line(false,
			"process_vm_readv: %s; paths of samples may be cut; allow it in the container",
			strerror(errno));
}

static void check_clock(void)
{
	char source[64] = "unknown";

	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
	if (arch_counter_is_steady())
		check_line(true, "%s: runs at a constant rate; reading time costs little", ARCH_COUNTER);
	else
		check_line(false, "%s: none of constant rate; probes read the kernel's clock (%s)",
			ARCH_COUNTER, source);
}

/* ---------------------------------------------------------------- counters */

static void check_event(const char *name, uint32_t type, uint64_t config)
{
	struct metric_part part = {.sign = 1, .type = type, .config = config};
	int result = perf_try(&part, PERF_COUNT);

	if (result)
		check_line(false, "%s: %s", name, perf_refusal(result, PERF_COUNT));
	else
		check_line(true, "%s", name);
}

static void check_component(void *data, const struct papi_component *component)
{
	if (component->disabled)
		check_line(false, "PAPI's part %s: %s", component->name, component->disabled);
	else if (!strcmp(component->name, "perf_event_uncore"))
		check_line(false, "PAPI's part %s: counts the whole machine, not a thread", component->name);
	else if (!strcmp(component->name, "perf_event"))
		check_line(true,
			"PAPI's part %s: its presets and native events, as far as the kernel counts them",
			component->name);
}

static void check_counters(const char *library)
{
	const struct hybrid_papi *papi = metrics_papi(library, "--check");

	check_title("Counters (hybrid-run --list-metrics names them)");
	check_event("events of the kernel: page faults, switches, clocks", PERF_TYPE_SOFTWARE,
		PERF_COUNT_SW_PAGE_FAULTS);
	check_event("counters of the processor: cycles, instructions, cache misses", PERF_TYPE_HARDWARE,
		PERF_COUNT_HW_CPU_CYCLES);
	if (perf_kernel_counts())
		check_line(
			true, "counting in system calls, too (perf_event_paranoid is %d)", perf_paranoid());
	else
		check_line(false, "counting in system calls, too: perf_event_paranoid is %d; lower it to 1",
			perf_paranoid());
	if (papi)
		papi->components(check_component, NULL);
	else
		check_line(false, "names of PAPI: see above");
}

/* --------------------------------------------------------- MPI and Python */

/* The kinds whose wrappers stand beside libhybrid-mpi.so. */
static void check_mpi(const char *library)
{
	static const struct {
		const char *file, *name;
	} kinds[] = {
		{"libhybrid-mpi-mpich.so", "MPICH and its like (Intel MPI, MVAPICH, Cray)"},
		{"libhybrid-mpi-openmpi.so", "Open MPI"},
	};
	int directory = (int)(strrchr(library, '/') ? strrchr(library, '/') - library : 0);
	char path[PATH_MAX + 64];

	check_title("MPI");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", directory, library, kinds[i].file);
		if (*library && !access(path, R_OK))
			check_line(true, "%s", kinds[i].name);
		else
			check_line(false,
				"%s: was not there when Hybrid was built; install its mpi.h, and build "
				"Hybrid anew",
				kinds[i].name);
	}
}

/* "python3.11" and such; its minor version, or -1. */
static int python_minor(const char *name)
{
	int minor, length = 0;

	if (sscanf(name, "python3.%2d%n", &minor, &length) != 1 || name[length])
		return -1;
	return minor;
}

/* A bit for each minor version of Python 3 that is in PATH. */
static uint64_t find_pythons(void)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin"), *rest = path, *name;
	uint64_t found = 0;

	while (path && (name = strsep(&rest, ":"))) {
		DIR *directory = opendir(*name ? name : ".");
		struct dirent *entry;

		while (directory && (entry = readdir(directory))) {
			int minor = python_minor(entry->d_name);

			if (minor >= 0 && minor < 64)
				found |= (uint64_t)1 << minor;
		}
		if (directory)
			closedir(directory);
	}
	free(path);
	return found;
}

static void check_python(void)
{
	uint64_t found = find_pythons();

	check_title("Python (CPython 3.8 to 3.13: functions, lines and probes)");
	for (int i = 0; i < 64; i++)
		if (found >> i & 1)
			check_line(i >= 8 && i <= 13, "python3.%d%s", i,
				i >= 8 && i <= 13 ? "" : ": is measured as a native program");
	if (!found)
		check_line(false, "no python3.* in PATH");
}

/* ------------------------------------------------------------ surroundings */

static void check_limits(void)
{
	struct rlimit files = {0, 0};
	struct statvfs disk;
	char text[128];

	check_title("Limits");
	getrlimit(RLIMIT_NOFILE, &files);
	check_line(files.rlim_cur >= 1024, "open files: %llu%s", (unsigned long long)files.rlim_cur,
		files.rlim_cur >= 1024 ? "" : "; each thread with counters needs some; raise it (ulimit -n)");
	if (!statvfs(".", &disk)) {
		unsigned long long mib = (unsigned long long)disk.f_bavail * disk.f_frsize >> 20;

		check_line(mib >= 1024, "room on the disk here: %llu MiB%s", mib,
			mib >= 1024 ? "" : "; a trace may take 1 GiB a process (--trace-limit)");
	}
	if (read_line("/sys/fs/cgroup/cpu.max", text, sizeof(text)) && strncmp(text, "max", 3))
		check_line(false,
			"the container has a quota of CPU time (%s, in us): threads are stopped when it "
			"is used up",
			text);
	if (!access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK))
		check_line(true, "this is a container: what is forbidden above may be allowed by its runtime "
				 "(--cap-add PERFMON, --security-opt seccomp=...)");
}

bool check(const struct checked *parts, const struct options *options, const struct program *program)
{
	bool works;

	check_title("Samples and probes");
	works = check_timer();
	check_task_clock();
	check_signal(options->signal);
	check_memory();
	check_clock();
	check_counters(parts->papi);
	check_mpi(parts->mpi);
	check_python();
	check_limits();
	if (program)
		works &= check_program(program, *parts->mpi != 0);
	printf("%s\n", works ? "The default measurement works." : "The default measurement does not work.");
	return works;
}
