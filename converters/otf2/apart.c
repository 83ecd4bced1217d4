/*
 * libotf2 does not survive an error while it writes: when the writer is closed, it uses memory that it has
 * freed. So a process of its own writes, and the first error ends it; its notes are in memory that both
 * processes share.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converters/otf2/state.h"

#define LINES 16u
#define NAP 20000000 /* ns between two looks */

struct shared {
	atomic_ullong done, total;
	atomic_uint lines; /* that are complete */
	char texts[LINES][256];
	atomic_bool failed; /* `error` was written, or is being */
	struct hyb_error error;
};

/* Called from all threads. */
static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list arguments)
{
	struct shared *shared = data;
	int error = errno;
	char text[200];

	if (code <= OTF2_SUCCESS) /* warnings */
		return code;
	if (atomic_exchange(&shared->failed, true))
		while (true) /* another thread ends the process */
			pause();
	vsnprintf(text, sizeof(text), format, arguments);
	shared->error.code = HYB_EIO;
	snprintf(shared->error.text, sizeof(shared->error.text), "cannot be written: %s (libotf2: %s%s%s)",
		error ? strerror(error) : "unknown reason", OTF2_Error_GetDescription(code),
		*text ? ": " : "", text);
	_exit(1);
}

static void tell_progress(void *data, uint64_t done, uint64_t total)
{
	struct shared *shared = data;

	atomic_store(&shared->total, total);
	atomic_store(&shared->done, done);
}

static void keep_line(void *data, const char *text)
{
	struct shared *shared = data;
	unsigned n = atomic_load(&shared->lines);

	if (n == LINES)
		return;
	snprintf(shared->texts[n], sizeof(shared->texts[n]), "%s", text);
	atomic_store(&shared->lines, n + 1);
}

static void run(struct shared *shared, const struct convert_job *job, pid_t parent,
	int (*write)(const struct convert_job *job, struct hyb_error *err))
{
	struct convert_job own = *job;
	struct hyb_error err = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	OTF2_Error_RegisterCallback(on_error, shared);
	own.progress = tell_progress;
	own.note = keep_line;
	own.data = shared;
	if (write(&own, &err)) {
		if (!atomic_exchange(&shared->failed, true))
			shared->error = err;
		_exit(1);
	}
	_exit(0);
}

/* The process's status. */
static int wait_for(const struct shared *shared, const struct convert_job *job, pid_t pid)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		nanosleep(&(struct timespec){0, NAP}, NULL);
		if (*job->stop)
			kill(pid, SIGKILL);
		else if (job->progress)
			job->progress(job->data, atomic_load(&shared->done), atomic_load(&shared->total));
	}
	return status;
}

static int end(const struct shared *shared, const struct convert_job *job, int status, struct hyb_error *err)
{
	for (unsigned i = 0; i < atomic_load(&shared->lines); i++)
		convert_note(job, "%s", shared->texts[i]);
	if (WIFEXITED(status) && !WEXITSTATUS(status) && !*job->stop)
		return 0;
	*err = shared->error;
	if (!err->code)
		err->code = HYB_EIO;
	if (!*err->text && WIFSIGNALED(status))
		snprintf(err->text, sizeof(err->text),
			"the process that wrote it was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return err->code;
}

int otf2_apart(const struct convert_job *job,
	int (*write)(const struct convert_job *job, struct hyb_error *err), struct hyb_error *err)
{
	struct shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), pid;
	int r;

	if (shared == MAP_FAILED) {
		return convert_no_memory(err);
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		run(shared, job, parent, write);
	if (pid < 0) {
		err->code = HYB_ENOMEM;
		snprintf(err->text, sizeof(err->text), "no process to write with: %s", strerror(errno));
		r = HYB_ENOMEM;
	} else {
		r = end(shared, job, wait_for(shared, job, pid), err);
	}
	munmap(shared, sizeof(*shared));
	return r;
}
