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

void check_mend(const char *format, ...)
{
	va_list list;

	fputs("       mend: ", stdout);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

bool check_read(const char *path, char *ret, size_t room)
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

/* What lets the kernel count; where its setting already does, a filter of system calls forbids it. */
static void mend_perf(void)
{
	if (perf_paranoid() > 1)
		check_mend("sudo sysctl kernel.perf_event_paranoid=1");
	else
		check_mend("docker run --cap-add PERFMON --security-opt seccomp=unconfined ... (or podman)");
}

/* Where the kernel found that interrupts cost too much it has lowered this by itself, and drops what is
 * above. */
static void check_sample_rate(unsigned rate)
{
	char text[32];

	if (!check_read("/proc/sys/kernel/perf_event_max_sample_rate", text, sizeof(text)))
		return;
	if (strtoul(text, NULL, 10) < rate) {
		check_line(false, "the kernel gives at most %s samples a second, %u are wanted", text, rate);
		check_mend("sudo sysctl kernel.perf_event_max_sample_rate=100000");
	} else {
		check_line(true, "the kernel gives up to %s samples a second (perf_event_max_sample_rate)",
			text);
	}
}

static void check_task_clock(unsigned rate)
{
	int result = perf_try(&perf_task_clock, PERF_SAMPLE);

	if (result) {
		check_line(false, "task clock of perf_event_open: %s; samples come from a timer",
			perf_refusal(result, PERF_SAMPLE));
		mend_perf();
		return;
	}
	check_sample_rate(rate);
	if (!perf_kernel_counts()) {
		check_line(false, "task clock of perf_event_open: without system calls only; samples come "
				  "from a timer");
		mend_perf();
	} else {
		check_line(true, "task clock of perf_event_open: the default, up to 10000 samples a second "
				 "and thread");
	}
}

static void check_signal(unsigned number)
{
	struct sigaction action;
	const char *name = sigdescr_np((int)number);

	if (!sigaction((int)number, NULL, &action) && action.sa_handler == SIG_IGN) {
		check_line(false, "signal %u (%s): is ignored by who started this", number,
			name ? name : "of real time");
		check_mend("hybrid-run --signal 40 PROGRAM");
	} else
		check_line(true, "signal %u (%s): for the samples; --signal takes another", number,
			name ? name : "of real time");
}

static void check_memory(void)
{
	char from = 'x', to = 0;
	struct iovec local = {&to, 1}, remote = {&from, 1};

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1)
		check_line(true, "process_vm_readv: stacks are read safely");
	else {
		check_line(false, "process_vm_readv: %s; paths of samples may be cut", strerror(errno));
		check_mend("docker run --cap-add SYS_PTRACE ... (or podman)");
	}
}

static void check_clock(void)
{
	char source[64] = "unknown";

	check_read(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
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
	else {
		check_line(
			false, "counting in system calls, too: perf_event_paranoid is %d", perf_paranoid());
		mend_perf();
	}
	if (papi)
		papi->components(check_component, NULL);
	else
		check_line(false, "names of PAPI: see above");
}

/* ------------------------------------------------------------------ Python */

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

bool check(const struct checked *parts, const struct options *options, const struct program *program)
{
	bool works;

	check_title("Samples and probes");
	works = check_timer();
	check_task_clock(options->rate);
	check_signal(options->signal);
	check_memory();
	check_clock();
	check_counters(parts->papi);
	check_mpi(parts->mpi, parts->library);
	check_python();
	works &= check_place(options);
	if (program)
		works &= check_program(program, *parts->mpi != 0);
	printf("%s\n", works ? "The default measurement works." : "The default measurement does not work.");
	return works;
}
