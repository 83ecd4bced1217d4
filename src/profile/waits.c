/* For what threads waited, as far as the call that waits tells. */
#include "profile/waits.h"

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/words.h"

static const struct word wait_words[] = {
	[PROFILE_WAIT_UNKNOWN] = {"unknown", "at no known place"},
	[PROFILE_WAIT_MPI] = {"mpi", "in MPI"},
	[PROFILE_WAIT_GIL] = {"gil", "for the GIL"},
	[PROFILE_WAIT_LOCK] = {"lock", "for locks and threads"},
	[PROFILE_WAIT_IO] = {"io", "for reads and writes"},
	[PROFILE_WAIT_EVENT] = {"event", "for events"},
	[PROFILE_WAIT_SLEEP] = {"sleep", "asleep for a time"},
	[PROFILE_WAIT_CHILD] = {"child", "for children"},
};
const struct words profile_wait_words = {wait_words, PROFILE_WAITS};

/* The beginnings of names of the C library's functions that the runtime times. */
static const struct {
	const char *name;
	enum profile_wait why;
} calls[] = {
	{"pthread_", PROFILE_WAIT_LOCK},
	{"mtx_", PROFILE_WAIT_LOCK},
	{"cnd_", PROFILE_WAIT_LOCK},
	{"thrd_join", PROFILE_WAIT_LOCK},
	{"sem_", PROFILE_WAIT_LOCK},
	{"semop", PROFILE_WAIT_LOCK},
	{"semtimedop", PROFILE_WAIT_LOCK},
	{"flock", PROFILE_WAIT_LOCK},
	{"syscall", PROFILE_WAIT_LOCK}, /* a futex, as a rule */
	{"wait", PROFILE_WAIT_CHILD},
	{"sleep", PROFILE_WAIT_SLEEP},
	{"usleep", PROFILE_WAIT_SLEEP},
	{"nanosleep", PROFILE_WAIT_SLEEP},
	{"clock_nanosleep", PROFILE_WAIT_SLEEP},
	{"thrd_sleep", PROFILE_WAIT_SLEEP},
	{"poll", PROFILE_WAIT_EVENT},
	{"ppoll", PROFILE_WAIT_EVENT},
	{"__poll", PROFILE_WAIT_EVENT},
	{"__ppoll", PROFILE_WAIT_EVENT},
	{"select", PROFILE_WAIT_EVENT},
	{"pselect", PROFILE_WAIT_EVENT},
	{"epoll_", PROFILE_WAIT_EVENT},
	{"pause", PROFILE_WAIT_EVENT},
	{"sig", PROFILE_WAIT_EVENT},
};

/* The runtime is asked first: all that it has of its own are wrappers. */
static enum profile_wait why_of_call(const struct profile_node *n)
{
	const char *file = strrchr(n->module, '/');

	if (strcmp(file ? file + 1 : n->module, "libhybrid.so"))
		return PROFILE_WAIT_UNKNOWN;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strncmp(n->name, calls[i].name, strlen(calls[i].name)))
			return calls[i].why;
	return PROFILE_WAIT_IO;
}

static bool is_gil(const struct profile_node *n)
{
	return n->kind == PROFILE_PROBE && !strcmp(n->name, PROFILE_GIL);
}

int waits_sum(const struct tree *tree, struct profile_quality *q)
{
	uint8_t *why = calloc(tree->count, 1);

	if (!why)
		return HYB_ENOMEM;
	memset(q->waits, 0, sizeof(q->waits));
	q->ready = 0;
	for (size_t i = 0; i < tree->count; i++) {
		const struct profile_node *n = &tree->nodes[i];
		uint8_t above = why[n->parent];

		why[i] = n->mpi      ? PROFILE_WAIT_MPI
			 : is_gil(n) ? PROFILE_WAIT_GIL
			 : above     ? above
				     : why_of_call(n);
		q->waits[why[i]] += n->blocked - n->ready;
		q->ready += n->ready;
	}
	free(why);
	return 0;
}
