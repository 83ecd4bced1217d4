/* Memory of threads: of who has ended it goes to who begins. It is not unmapped, so that all of it can be
 * looked at. */
#include <sys/mman.h>

#include "thread.h"

#define POOL_MOST 65536u /* more threads at a time are measured, but their last CPU time is not seen */

static struct {
	_Atomic(struct thread *) free;
	_Atomic(bool) taking; /* one at a time; nobody waits */
	_Atomic(uint32_t) count;
	_Atomic(struct thread *) all[POOL_MOST];
} pool __attribute__((aligned(HYB_PAGE)));

static struct thread *take(void)
{
	struct thread *t;

	if (atomic_exchange_explicit(&pool.taking, true, memory_order_acquire))
		return NULL;
	t = atomic_load(&pool.free);
	while (t && !atomic_compare_exchange_weak(&pool.free, &t, t->next_free))
		;
	atomic_store_explicit(&pool.taking, false, memory_order_release);
	return t;
}

struct thread *thread_new(void)
{
	struct thread *t = take();
	uint32_t i;

	if (t)
		return t;
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	madvise(t, sizeof(*t), MADV_WIPEONFORK);
	i = atomic_fetch_add(&pool.count, 1);
	if (i < POOL_MOST)
		atomic_store(&pool.all[i], t);
	return t;
}

/* As it was before its thread began, but for what the next one goes on with. */
static void clean(struct thread *t)
{
	struct thread_spare spare = t->spare;

	if (spare.location) { /* it did nothing that left traces in the large parts */
		memset(t, 0, offsetof(struct thread, last_base));
		memset(t->first_buckets, 0, sizeof(t->first_buckets));
		t->first_base = NULL;
	} else {
		madvise(t, sizeof(*t), MADV_DONTNEED);
	}
	t->spare = spare;
}

void thread_free(struct thread *t)
{
	if (!t)
		return;
	clean(t);
	t->next_free = atomic_load(&pool.free);
	while (!atomic_compare_exchange_weak(&pool.free, &t->next_free, t))
		;
}

struct thread *thread_each(uint32_t *at)
{
	uint32_t count = atomic_load(&pool.count);

	while (*at < count && *at < POOL_MOST) {
		struct thread *t = atomic_load(&pool.all[(*at)++]);

		if (t)
			return t;
	}
	return NULL;
}

void thread_forget_all(void)
{
	uint32_t count = atomic_exchange(&pool.count, 0);

	atomic_store(&pool.free, NULL);
	atomic_store(&pool.taking, false);
	for (uint32_t i = 0; i < count && i < POOL_MOST; i++)
		atomic_store(&pool.all[i], NULL);
}
