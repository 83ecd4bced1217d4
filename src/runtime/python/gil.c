/*
 * Waiting for the global interpreter lock. CPython (3.8 to 3.13) waits on
 * conditions that lie inside _PyRuntime, and on no other ones there: such a wait
 * is a probe, so its time is exact. Sub-interpreters with a lock of their own
 * are not seen.
 */
#include "runtime/probe.h"
#include "python.h"
#include "runtime/regions.h"
#include "runtime/wrap.h"

static bool is_gil(const pthread_cond_t *condition)
{
	return python_layout() && (uintptr_t)condition >= python.runtime &&
	       (uintptr_t)condition < python.runtime_end;
}

/* The key of the region that was entered; 0: none was. */
static uint64_t begin_wait(struct unwind_snippet snippet)
{
	static const char name[] = "[waiting for the GIL]";
	struct thread *t = probe_begin(true);
	uint64_t key;

	if (!t)
		return 0;
	key = region_key(name, sizeof(name) - 1, "", 0, HYB_REGION_WAIT);
	if (key)
		probe_enter(t, HYB_NODE_REGION, key, snippet);
	probe_end(t);
	return key;
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

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	uint64_t key;
	int result;

	if (likely(!is_gil(condition)))
		return REAL(pthread_cond_wait)(condition, mutex);
	key = begin_wait(PROBE_SNIPPET);
	result = REAL(pthread_cond_wait)(condition, mutex);
	end_wait(key);
	return result;
}

EXPORT int pthread_cond_timedwait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	uint64_t key;
	int result;

	if (likely(!is_gil(condition)))
		return REAL(pthread_cond_timedwait)(condition, mutex, until);
	key = begin_wait(PROBE_SNIPPET);
	result = REAL(pthread_cond_timedwait)(condition, mutex, until);
	end_wait(key);
	return result;
}
