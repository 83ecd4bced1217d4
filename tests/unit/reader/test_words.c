/* The names of the file's numbers: none is missing, and none is there twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "format/words.h"
#include "hybrid/reader.h"

/* Numbers first ... count - 1 have words that differ, and no other number has one. */
static void check(const struct words *words, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < 2 * count; i++) {
		assert_int_equal(word_known(words, i), i >= first && i < count);
		for (unsigned j = first; j < i && i < count; j++)
			assert_string_not_equal(word_key(words, i), word_key(words, j));
	}
}

static void test_all_known(void **state)
{
	(void)state;
	check(&words_source, 0, HYB_SOURCE_EVENT + 1);
	check(&words_drop, 0, HYB_DROP_COUNT);
	check(&words_partial, 1, HYB_PARTIAL_COUNT);
	check(&words_fault, 0, HYB_FAULT_COUNT);
	check(&words_python, 0, HYB_PYTHON_COUNT);
	check(&words_mpi, 0, HYB_MPI_COUNT);
	check(&words_cost, 0, HYB_COST_COUNT);
	check(&words_state, 1, HYB_STATE_STOPPED + 1);
	check(&words_node, 1, HYB_NODE_RANGE + 1);
	check(&words_message, 1, HYB_MESSAGE_WRITE + 1);
	check(&words_collective, 1, HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW + 1);
	check(&words_event, 1, HYB_EVENT_UNMEASURED + 1);
	check(&words_unmeasured, 0, HYB_UNMEASURED_FILE + 1);
}

/* As MPI spells its functions, in C and in Fortran. */
static void test_collectives_by_name(void **state)
{
	(void)state;
	assert_int_equal(word_collective("MPI_Barrier"), HYB_COLLECTIVE_BARRIER);
	assert_int_equal(word_collective("MPI_Ibarrier"), HYB_COLLECTIVE_BARRIER);
	assert_int_equal(word_collective("mpi_iscan"), HYB_COLLECTIVE_SCAN);
	assert_int_equal(
		word_collective("MPI_Reduce_scatter_block_init_c"), HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK);
	assert_int_equal(word_collective("MPIX_Ineighbor_alltoallw"), HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW);
	assert_int_equal(word_collective("MPI_Start"), HYB_COLLECTIVE_UNKNOWN);
	assert_int_equal(word_collective("MPI_Init"), HYB_COLLECTIVE_UNKNOWN);
	assert_int_equal(word_collective("MPI_"), HYB_COLLECTIVE_UNKNOWN);
	assert_int_equal(word_collective(""), HYB_COLLECTIVE_UNKNOWN);
}

static void test_not_known(void **state)
{
	(void)state;
	assert_string_equal(word_key(&words_source, 99), "unknown");
	assert_string_equal(word_key(&words_partial, 0), "unknown");
	assert_string_equal(word_key(&words_drop, UINT64_MAX), "unknown");
	assert_non_null(strstr(word_text(&words_source, 99), "does not know"));
}

static void test_people_and_machines(void **state)
{
	(void)state;
	assert_string_equal(word_key(&words_source, HYB_SOURCE_CPU_TIMER), "cpu_timer");
	assert_string_equal(word_text(&words_source, HYB_SOURCE_CPU_TIMER), "CPU timer");
	assert_string_equal(word_text(&words_source, HYB_SOURCE_TIMER), "timer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_known),
		cmocka_unit_test(test_collectives_by_name),
		cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_people_and_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
