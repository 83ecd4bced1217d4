/* Unwind information that many threads register and withdraw at once: none is lost. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/runtime.h"
#include "runtime/unwind/cache.h"
#include "runtime/unwind/jit_frames.h"

#define THREADS 8
#define SECTIONS 300 /* of each thread */
#define CODE 0x10000000u /* addresses of code that is never run */

/* What the module stands on in libhybrid. */
struct runtime rt;

void unwind_cache_forget(uintptr_t lo, uintptr_t hi)
{
	(void)lo;
	(void)hi;
}

void __register_frame(void *begin);
void __deregister_frame(void *begin);

/* A CIE with absolute addresses, an FDE for 16 bytes of code, and the end. */
struct section {
	uint32_t cie_length, cie_id;
	uint8_t version, augmentation, code_align, data_align, return_register, def_cfa[3];
	uint32_t fde_length, cie_distance;
	uint64_t start, size;
	uint32_t end;
} __attribute__((packed, aligned(8)));

static struct section sections[THREADS][SECTIONS];
static pthread_barrier_t barrier;

static void make(struct section *s, uintptr_t code)
{
	*s = (struct section){.cie_length = 12,
		.version = 1,
		.code_align = 1,
		.data_align = 0x78,
		.return_register = 16,
		.def_cfa = {0x0c, 7, 8},
		.fde_length = 20,
		.cie_distance = offsetof(struct section, cie_distance),
		.start = code,
		.size = 16};
}

static uintptr_t code_of(size_t thread, size_t i)
{
	return CODE + 16 * (thread * SECTIONS + i);
}

static void *register_all(void *data)
{
	size_t thread = (size_t)data;

	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < SECTIONS; i++)
		__register_frame(&sections[thread][i]);
	return NULL;
}

/* Every second one. */
static void *deregister_half(void *data)
{
	size_t thread = (size_t)data;

	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < SECTIONS; i += 2)
		__deregister_frame(&sections[thread][i]);
	return NULL;
}

/* Each is withdrawn while it may still wait for another thread to add it. */
static void *register_and_deregister(void *data)
{
	size_t thread = (size_t)data;

	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < SECTIONS; i += 2) {
		__register_frame(&sections[thread][i]);
		__deregister_frame(&sections[thread][i]);
	}
	return NULL;
}

static void run(void *(*function)(void *))
{
	pthread_t threads[THREADS];

	for (size_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, function, (void *)t), 0);
	for (size_t t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
}

static size_t count_found(size_t first, size_t step)
{
	struct cfi_row row;
	size_t found = 0;

	for (size_t t = 0; t < THREADS; t++)
		for (size_t i = first; i < SECTIONS; i += step)
			found += jit_frames_find(code_of(t, i) + 5, &row) && row.start == code_of(t, i);
	return found;
}

static void test_threads(void **state)
{
	(void)state;
	atomic_store(&rt.on, true);
	jit_frames_init();
	for (size_t t = 0; t < THREADS; t++)
		for (size_t i = 0; i < SECTIONS; i++)
			make(&sections[t][i], code_of(t, i));
	pthread_barrier_init(&barrier, NULL, THREADS);
	run(register_all);
	assert_int_equal(count_found(0, 1), THREADS * SECTIONS);
	run(deregister_half);
	assert_int_equal(count_found(0, 2), 0);
	assert_int_equal(count_found(1, 2), THREADS * SECTIONS / 2);
	for (int again = 0; again < 20; again++)
		run(register_and_deregister);
	assert_int_equal(count_found(0, 2), 0);
	assert_int_equal(count_found(1, 2), THREADS * SECTIONS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
