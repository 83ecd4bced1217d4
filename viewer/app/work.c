#include "viewer/app/work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct queue {
	struct job *first, **end;
};

struct work {
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more;
	struct queue waiting, finished;
	struct job *running;
	bool leaving;
	int fd; /* counts what is finished */
};

static void queue_put(struct queue *queue, struct job *job)
{
	job->next = NULL;
	*queue->end = job;
	queue->end = &job->next;
}

static struct job *queue_take(struct queue *queue)
{
	struct job *job = queue->first;

	if (job)
		queue->first = job->next;
	if (!queue->first)
		queue->end = &queue->first;
	return job;
}

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void run(struct job *job)
{
	uint64_t start = thread_time();

	if (!atomic_load(&job->stop))
		job->run(job);
	job->cost = thread_time() - start;
}

static void *serve(void *data)
{
	struct work *work = data;

	pthread_mutex_lock(&work->lock);
	for (;;) {
		struct job *job;

		while (!work->waiting.first && !work->leaving)
			pthread_cond_wait(&work->more, &work->lock);
		job = queue_take(&work->waiting);
		if (!job)
			break;
		work->running = job;
		pthread_mutex_unlock(&work->lock);
		run(job);
		pthread_mutex_lock(&work->lock);
		work->running = NULL;
		queue_put(&work->finished, job);
		eventfd_write(work->fd, 1);
	}
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

/* Signals are for the thread that draws. */
static int start(struct work *work)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&work->thread, NULL, serve, work);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

struct work *work_new(void)
{
	struct work *work = calloc(1, sizeof(*work));
	int error;

	if (!work)
		return NULL;
	work->waiting.end = &work->waiting.first;
	work->finished.end = &work->finished.first;
	pthread_mutex_init(&work->lock, NULL);
	pthread_cond_init(&work->more, NULL);
	work->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = work->fd < 0 ? errno : start(work);
	if (!error)
		return work;
	if (work->fd >= 0)
		close(work->fd);
	free(work);
	errno = error;
	return NULL;
}

void work_free(struct work *work)
{
	if (!work)
		return;
	pthread_mutex_lock(&work->lock);
	work->leaving = true;
	for (struct job *job = work->waiting.first; job; job = job->next)
		atomic_store(&job->stop, true);
	if (work->running)
		atomic_store(&work->running->stop, true);
	pthread_cond_signal(&work->more);
	pthread_mutex_unlock(&work->lock);
	pthread_join(work->thread, NULL);
	work_finish(work);
	close(work->fd);
	pthread_cond_destroy(&work->more);
	pthread_mutex_destroy(&work->lock);
	free(work);
}

void work_post(struct work *work, struct job *job)
{
	atomic_init(&job->stop, false);
	atomic_init(&job->permille, 0);
	pthread_mutex_lock(&work->lock);
	if (work->leaving) /* posted by a done() at the end: it does not run */
		atomic_store(&job->stop, true);
	queue_put(work->leaving ? &work->finished : &work->waiting, job);
	pthread_cond_signal(&work->more);
	pthread_mutex_unlock(&work->lock);
}

void work_cancel(struct work *work, struct job *job)
{
	atomic_store(&job->stop, true);
}

bool job_is_stopped(void *job)
{
	return atomic_load(&((struct job *)job)->stop);
}

int work_fd(const struct work *work)
{
	return work->fd;
}

void work_finish(struct work *work)
{
	eventfd_t count;

	eventfd_read(work->fd, &count);
	for (;;) {
		struct job *job;

		pthread_mutex_lock(&work->lock);
		job = queue_take(&work->finished);
		pthread_mutex_unlock(&work->lock);
		if (!job)
			return;
		job->done(job, atomic_load(&job->stop));
	}
}

const struct job *work_running(const struct work *work)
{
	struct work *own = (struct work *)work; /* the lock changes */
	const struct job *job;

	pthread_mutex_lock(&own->lock);
	job = own->running;
	pthread_mutex_unlock(&own->lock);
	return job;
}
