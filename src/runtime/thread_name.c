#include "thread_name.h"

#include <sys/prctl.h>

#include "python/names.h"

/* Where a name came from; a name of a later origin replaces one of an earlier. */
enum origin { OF_NOBODY, OF_KERNEL, OF_PYTHON, OF_PROGRAM };

static void set(struct thread *t, enum origin origin, const char *name)
{
	size_t len = strnlen(name, sizeof(t->loc->name) - 1);

	memcpy(t->loc->name, name, len);
	memset(t->loc->name + len, 0, sizeof(t->loc->name) - len);
	t->name.origin = origin;
}

void thread_name_set(struct thread *t, const char *name)
{
	set(t, OF_PROGRAM, name);
}

void thread_name_read(struct thread *t)
{
	char name[sizeof(t->loc->name)] = "";
	bool made = t->start.function; /* the Python frames of others may be those of any greenlet */

	if (t->name.origin == OF_PROGRAM)
		return;
	if (made && python_thread_name(&t->name.object, name, sizeof(name)))
		set(t, OF_PYTHON, name);
	else if (t->name.origin <= OF_KERNEL && (int)t->loc->tid != rt.pid && !prctl(PR_GET_NAME, name))
		set(t, OF_KERNEL, name);
}

void thread_name_look(struct thread *t, uint64_t now)
{
	int saved = errno;

	if (likely(now < t->name.due))
		return;
	t->name.due = 2 * now - t->loc->start;
	thread_name_read(t);
	errno = saved;
}
