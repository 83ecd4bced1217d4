#include "otf2.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/now.h"
#include "otf2_process.h"

#define WORKERS_MOST 16
#define HANG_NS 60000000000u /* without progress: libotf2 is in an endless loop */
#define NAP_NS 50000000u /* between two looks at who is at work, at most */

/* What the one who waits sees. */
struct shared {
	volatile uint64_t beats; /* signs of life of the process that starts the others */
	volatile uint64_t total; /* events, by the definitions */
	volatile uint32_t files;
	int code; /* enum hyb_result: why there is nothing */
	char text[400]; /* behind the path */
	struct job_state jobs[OTF2_IMPORT_FILES];
};

/* Processes at work. */
struct worker {
	pid_t pid; /* 0: none */
	struct job *job;
	uint64_t seen, since; /* events when it was looked at, and when they were last more */
};

static void nap(uint64_t *ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)*ns}, NULL);
	*ns = *ns * 2 < NAP_NS ? *ns * 2 : NAP_NS;
}

static void fail(struct shared *shared, int code, const char *text)
{
	if (!shared->code)
		snprintf(shared->text, sizeof(shared->text), "%s", text);
	shared->code = shared->code ? shared->code : code;
}

/* libotf2 prints nothing: what matters it returns. */
static OTF2_ErrorCode be_quiet(void *data, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list args)
{
	return code;
}

/* A child: dies with its parent, prints nothing, leaves no core. */
static void settle(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV, SIGABRT, SIGBUS};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	signal(SIGXFSZ, SIG_IGN); /* the limit is an error of writing */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	OTF2_Error_RegisterCallback(be_quiet, NULL);
}

/* ----------------------------------------------------------------- workers */

/* What does not fit: the disk, as a rule. */
static void say_unwritten(struct shared *shared, int error)
{
	char text[300];

	snprintf(text, sizeof(text), "cannot be turned into an experiment: %s%s", strerror(error),
		error == ENOSPC || error == EDQUOT || error == EFBIG
			? " (for its temporary files; set TMPDIR to another directory)"
			: "");
	fail(shared, error == ENOMEM ? HYB_ENOMEM : HYB_EIO, text);
}

static void start(struct worker *worker, struct job *job, struct job_state *state, struct shared *shared)
{
	*worker = (struct worker){.job = job, .since = now(), .seen = UINT64_MAX};
	worker->pid = fork();
	if (!worker->pid) {
		settle();
		state->error = job_run(job, state);
		_exit(state->error != 0);
	}
	if (worker->pid < 0) {
		worker->pid = 0;
		say_unwritten(shared, errno);
	}
}

/* Again, and no further than to where it failed. False: enough. */
static bool limit(struct job *job, struct job_state *state)
{
	struct job_limit at = {.location = state->location, .events = state->events};

	for (uint32_t i = 0; i < job->limit_count; i++)
		if (job->limits[i].location == at.location && job->limits[i].events <= at.events)
			at.skipped = true;
	if (job->limit_count == LIMITS_MOST || ftruncate(job->fd, 0))
		return false;
	job->limits[job->limit_count++] = at;
	*state = (struct job_state){0};
	return true;
}

/* A worker has ended. */
static void finish(struct worker *worker, int status, struct shared *shared)
{
	struct job_state *state = &shared->jobs[worker->job->number];

	worker->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		state->done += state->events;
		state->events = 0;
		return;
	}
	if (state->error) {
		say_unwritten(shared, state->error);
		return;
	}
	if (limit(worker->job, state))
		start(worker, worker->job, state, shared);
}

static void look_after(struct worker *worker, const struct shared *shared)
{
	const struct job_state *state = &shared->jobs[worker->job->number];
	uint64_t seen = state->done + state->events;

	if (seen != worker->seen) {
		worker->seen = seen;
		worker->since = now();
	} else if (now() - worker->since > HANG_NS) {
		kill(worker->pid, SIGKILL);
	}
}

static bool at_work(const struct worker *workers)
{
	for (int i = 0; i < WORKERS_MOST; i++)
		if (workers[i].pid)
			return true;
	return false;
}

static void run_jobs(struct job *jobs, uint32_t count, struct shared *shared)
{
	struct worker workers[WORKERS_MOST] = {0};
	uint32_t next = 0;
	uint64_t ns = NAP_NS / 64;
	cpu_set_t cpus;
	int cores = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	cores = cores < WORKERS_MOST ? cores : WORKERS_MOST;
	while (!shared->code && (next < count || at_work(workers))) {
		bool idle = true;

		for (int i = 0; i < cores; i++) {
			int status;

			if (workers[i].pid && waitpid(workers[i].pid, &status, WNOHANG) == workers[i].pid) {
				finish(&workers[i], status, shared);
				idle = false;
			}
			if (workers[i].pid)
				look_after(&workers[i], shared);
			else if (next < count) {
				start(&workers[i], &jobs[next], &shared->jobs[next], shared);
				next++;
			}
		}
		shared->beats++;
		if (idle)
			nap(&ns);
	}
	for (int i = 0; i < WORKERS_MOST; i++)
		if (workers[i].pid)
			kill(workers[i].pid, SIGKILL);
}

/* ------------------------------------------------------------- definitions */

static void beat(void *data)
{
	((struct shared *)data)->beats++;
}

/* NULL: memory is out. */
static struct job *make_jobs(const struct job *like, const int *fds)
{
	struct job *jobs = calloc(like->files, sizeof(*jobs));

	for (uint32_t i = 0; jobs && i < like->files; i++) {
		jobs[i] = *like;
		jobs[i].number = i;
		jobs[i].fd = fds[i];
	}
	return jobs;
}

static void convert(OTF2_Reader *reader, const char *anchor, const int *fds, struct shared *shared)
{
	struct defs d = {.beat = beat, .data = shared};
	struct job like = {.d = &d, .anchor = anchor, .creator = ""}, *jobs;
	char *creator = NULL;
	const char *why;
	int r = defs_read(&d, reader, &like.partial, &why);

	if (r) {
		char text[300];

		snprintf(text, sizeof(text), "the definitions of this OTF2 archive cannot be read: %s",
			why ? why : "there is no location");
		fail(shared, HYB_EFORMAT, text);
		return;
	}
	OTF2_Reader_GetTraceId(reader, &like.trace);
	if (!OTF2_Reader_GetCreator(reader, &creator) && creator)
		like.creator = creator;
	OTF2_Reader_Close(reader);
	for (uint32_t i = 0; i < d.locations.count; i++)
		shared->total += ((struct location_def *)refs_at(&d.locations, i))->events;
	like.files =
		(uint32_t)(d.processes.count < OTF2_IMPORT_FILES ? d.processes.count : OTF2_IMPORT_FILES);
	jobs = make_jobs(&like, fds);
	if (!jobs) {
		fail(shared, HYB_ENOMEM, "out of memory");
		return;
	}
	run_jobs(jobs, like.files, shared);
	shared->files = like.files;
}

/* What the first child does: reads definitions, and starts those that read events. */
static void run(const char *anchor, const int *fds, struct shared *shared)
{
	OTF2_Reader *reader;

	settle();
	reader = OTF2_Reader_Open(anchor);
	if (reader)
		convert(reader, anchor, fds, shared);
	else
		fail(shared, HYB_EFORMAT, "not an OTF2 archive that libotf2 can read: its anchor is damaged");
	_exit(shared->code ? 1 : 0);
}

/* ----------------------------------------------------------------- waiting */

static uint64_t events_done(const struct shared *shared)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < OTF2_IMPORT_FILES; i++)
		done += shared->jobs[i].done + shared->jobs[i].events;
	return done;
}

/* The child's wait status; -1: it was stopped. */
static int wait_for(pid_t pid, const struct shared *shared, const struct import_watch *watch)
{
	uint64_t ns = NAP_NS / 64, since = now(), seen = 0;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (shared->beats != seen) {
			seen = shared->beats;
			since = now();
		}
		if (watch && watch->progress && shared->total)
			watch->progress(watch->data, events_done(shared), shared->total);
		if (watch && watch->stop && *watch->stop) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		if (now() - since > HANG_NS)
			kill(pid, SIGKILL);
		nap(&ns);
	}
	return status;
}

static int explain(const struct shared *shared, int status, const char *anchor, struct hyb_error *err)
{
	if (!shared->code && WIFEXITED(status) && !WEXITSTATUS(status))
		return HYB_OK;
	if (shared->code)
		return error_set(err, shared->code, "%s: %s", anchor, shared->text);
	if (status == -1)
		return error_set(err, HYB_EFORMAT, "%s: interrupted", anchor);
	return error_set(err, HYB_EFORMAT,
		"%s: libotf2 fails on the definitions of this archive: they are damaged", anchor);
}

int otf2_import(const char *anchor, const int *fds, const struct import_watch *watch, unsigned *ret_count,
	struct hyb_error *err)
{
	struct shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = shared == MAP_FAILED ? -1 : fork();
	int r;

	if (!pid)
		run(anchor, fds, shared);
	if (pid < 0) {
		r = error_set(err, HYB_ENOMEM, "%s: no process to read it: %s", anchor, strerror(errno));
	} else {
		r = explain(shared, wait_for(pid, shared, watch), anchor, err);
		*ret_count = r ? *ret_count : shared->files;
	}
	if (shared != MAP_FAILED)
		munmap(shared, sizeof(*shared));
	return r;
}
