#include "wrap.h"

#include <dlfcn.h>
#include <limits.h>

#include "runtime/sample/sampler.h"

struct real real_functions;

/* The last thing that a thread does, also when it is cancelled or calls pthread_exit. */
static void end_thread(void *data)
{
	struct thread *t = data;

	/* Other destructors may still run probes: come again in the last round. */
	if (++t->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(real_functions.thread_key, t);
		return;
	}
	thread_detach(t);
	thread_free(t);
}

/* Where the C library still has those for programs of before 2003, dlsym finds them first. */
static void find_newer(void **function, const char *name)
{
	void *newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	if (newer)
		*function = newer;
}

/* Whether one library has both: if somebody stands in front of one of them, the other would pass him by. */
static bool is_of_one_library(void *a, void *b)
{
	Dl_info of_a, of_b;

	return a && b && dladdr1(a, &of_a, NULL, 0) && dladdr1(b, &of_b, NULL, 0) &&
	       of_a.dli_fbase == of_b.dli_fbase;
}

void wrap_init(void)
{
	if (real_functions.sendmmsg)
		return;
	pthread_key_create(&real_functions.thread_key, end_thread);
#define FIND(name) *(void **)&real_functions.name = dlsym(RTLD_NEXT, #name);
	WRAPPED(FIND)
#undef FIND
	if (!is_of_one_library(
		    (void *)real_functions.pthread_mutex_lock, (void *)real_functions.pthread_mutex_trylock))
		real_functions.pthread_mutex_trylock = NULL;
	find_newer((void **)&real_functions.pthread_cond_wait, "pthread_cond_wait");
	find_newer((void **)&real_functions.pthread_cond_timedwait, "pthread_cond_timedwait");
}

void raw_sigaction(int sig, const struct sigaction *action)
{
	REAL(sigaction)(sig, action, NULL);
}
