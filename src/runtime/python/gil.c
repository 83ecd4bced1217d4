/*
 * Waiting for the global interpreter lock. CPython (3.8 to 3.13) waits on
 * conditions that lie inside _PyRuntime, and on no other ones there: such a wait
 * is a probe, so its time is exact, below the Python line that waits.
 * Sub-interpreters with a lock of their own are not seen.
 */
#include "frames.h"
#include "hooks.h"
#include "python.h"
#include "runtime/probe/probe.h"
#include "runtime/probe/regions.h"
#include "runtime/thread_name.h"
#include "runtime/wrap/wrap.h"

static bool is_of_runtime(const pthread_cond_t *condition)
{
	return (uintptr_t)condition >= python.runtime && (uintptr_t)condition < python.runtime_end;
}

static bool is_gil(const pthread_cond_t *condition)
{
	return python_layout() && is_of_runtime(condition);
}

/* The node of the thread's innermost Python frame: a wait takes long enough that finding its place costs
 * little. */
static uint32_t waiting_node(struct thread *t)
{
	struct unwind u = {
		.thread_lo = t->stack_lo, .thread_hi = t->stack_hi, .code = t->new_keys, .max = MAX_FRAMES};
	uint32_t node = t->top->node;

	python_path(&u, t->top, t->loc->depth == 1);
	for (size_t i = u.max - u.count; i < u.max && node; i++)
		node = node_intern(t, node, HYB_NODE_PYTHON, u.code[i] & ~UNWIND_PYTHON);
	return node;
}

/* The key of the region that was entered; 0: none was. */
static uint64_t begin_wait(struct unwind_snippet snippet)
{
	static const char name[] = "[waiting for the GIL]";
	int saved = errno;
	struct thread *t = probe_begin(true);
	uint64_t key;
	uint32_t node;

	if (!t)
		return 0;
	key = region_key(name, sizeof(name) - 1, "", 0, HYB_REGION_WAIT);
	node = key ? waiting_node(t) : 0;
	node = node ? node_intern(t, node, HYB_NODE_REGION, key) : 0;
	if (node)
		probe_push(t, node, snippet);
	probe_end(t);
	errno = saved;
	return node ? key : 0;
}

static void end_wait(uint64_t key)
{
	uint64_t now = clock_tick();
	struct thread *t = key ? probe_begin(false) : NULL;

	if (!t)
		return;
	probe_leave(t, HYB_NODE_REGION, key, now);
	probe_end(t);
}

/*
 * A thread that finds after 5 ms of waiting that the interpreter has ended ends, too. CPython 3.10
 * looks at memory for it that was freed, and dies if the process has not ended by then, which our part of its
 * end delays.
 */
static void leave_ended(const pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!is_of_runtime(condition) || !python.is_ending || !python_is_loaded() || !python.is_ending())
		return;
	pthread_mutex_unlock(mutex);
	pthread_exit(NULL);
}

/*
 * Who lets the lock go holds its mutex while it signals, so nobody runs Python code now, and its own frames
 * are whole.
 */
EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	struct thread *t = self;

	if (unlikely(is_gil(condition)) && t && thread_busy(t)) {
		thread_name_look(t, clock_tick());
		probe_end(t);
	}
	return REAL(pthread_cond_signal)(condition);
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct wait wait;
	uint64_t key;
	int result;

	thread_settle();
	if (likely(!is_gil(condition))) {
		wait = wait_begin();
		result = REAL(pthread_cond_wait)(condition, mutex);
		wait_end(&wait);
		return result;
	}
	key = begin_wait(PROBE_SNIPPET);
	result = REAL(pthread_cond_wait)(condition, mutex);
	end_wait(key);
	return result;
}

EXPORT int pthread_cond_timedwait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	struct wait wait = {.t = NULL};
	uint64_t key = 0;
	int result;

	thread_settle();
	if (unlikely(is_gil(condition)))
		key = begin_wait(PROBE_SNIPPET);
	else
		wait = wait_begin();
	result = REAL(pthread_cond_timedwait)(condition, mutex, until);
	wait_end(&wait);
	end_wait(key);
	if (unlikely(result == ETIMEDOUT && atomic_load(&python.ending)))
		leave_ended(condition, mutex);
	return result;
}

/* An interpreter that begins makes a lock for each module that it imports: from then on it can be hooked. */
EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value)
{
	int saved = errno;

	hooks_install();
	errno = saved;
	return REAL(sem_init)(semaphore, shared, value);
}
