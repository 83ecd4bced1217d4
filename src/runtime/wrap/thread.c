/* Threads: measured from their first instruction to their last destructor. */
#include <unistd.h>

#include "runtime/fork.h"
#include "runtime/thread.h"
#include "wrap.h"

/* What glibc gives a thread whose creator did not choose. */
static size_t stack_size(const pthread_attr_t *attr)
{
	pthread_attr_t standard;
	size_t size = 0;

	if (attr) {
		pthread_attr_getstacksize(attr, &size);
	} else if (!pthread_getattr_default_np(&standard)) {
		pthread_attr_getstacksize(&standard, &size);
		pthread_attr_destroy(&standard);
	}
	return size;
}

/* Marks the frame whose address it is given as the outermost of the thread, and begins the thread. */
static void attach(struct thread *t, void *frame, uintptr_t function)
{
	uintptr_t top = (uintptr_t)frame;
	/* glibc's own data of a thread lie in the last page of its stack. */
	uintptr_t end = ((uintptr_t)pthread_self() | (HYB_PAGE - 1)) + 1;

	/* Its attributes may have blocked our signal. */
	if (rt.source && signal_block(false))
		t->blocks_signal = true;

	if (!thread_attach(t, top, function + 1, end - t->start.stack_size, top + 16))
		thread_free(t);
}

static void *thread_start(void *data)
{
	struct thread *t = data;
	void *(*function)(void *) = t->start.function;
	void *argument = t->start.argument;

	attach(t, __builtin_frame_address(0), (uintptr_t)thread_start);
	return function(argument);
}

static int c11_start(void *data)
{
	struct thread *t = data;
	thrd_start_t function = t->start.c11_function;
	void *argument = t->start.argument;

	attach(t, __builtin_frame_address(0), (uintptr_t)c11_start);
	return function(argument);
}

/* Memory for the new thread; NULL: it runs unmeasured. */
static struct thread *prepare(const pthread_attr_t *attr, void *argument)
{
	struct thread *t;

	if (!atomic_load(&rt.started))
		runtime_start();
	if (store.header && rt.pid != getpid() && (!self || self->state == THREAD_NONE))
		fork_child(); /* of a child that was made past the C library */
	t = store.header && atomic_load(&rt.on) ? thread_new() : NULL;
	if (!t)
		return NULL;
	t->start.argument = argument;
	t->start.stack_size = stack_size(attr);
	t->start.maker = self && self->state != THREAD_NONE ? self->top->node : 0;
	t->blocks_signal = self && self->blocks_signal;
	return t;
}

EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
	struct thread *t = prepare(attr, argument);
	int error;

	if (!t)
		return REAL(pthread_create)(thread, attr, function, argument);
	t->start.function = function;
	error = REAL(pthread_create)(thread, attr, thread_start, t);
	if (error)
		thread_free(t);
	return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	struct thread *t = prepare(NULL, argument);
	int error;

	if (!t)
		return REAL(thrd_create)(thread, function, argument);
	t->start.c11_function = function;
	error = REAL(thrd_create)(thread, c11_start, t);
	if (error != thrd_success)
		thread_free(t);
	return error;
}
