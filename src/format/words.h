/*
 * Names for the numbers of a .hyb file (sources of samples, kinds, reasons). Every command, JSON and the
 * Python package take them from here.
 */
#ifndef HYB_WORDS_H
#define HYB_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word {
	const char *key; /* for machines: "cpu_timer"; NULL: no such number */
	const char *text; /* for people: "CPU timer"; NULL: as the key */
};

/* Words by their number in the file. */
struct words {
	const struct word *words;
	size_t count;
};

/* By enum hyb_source, hyb_drop and so on. */
extern const struct words words_source, words_drop, words_partial, words_fault, words_python, words_mpi,
	words_cost, words_probe_kind, words_state, words_clock, words_severity, words_unmeasured,
	words_thread_level, words_chunk, words_def, words_region, words_handle, words_child,
	words_metric_mode, words_number, words_node, words_message, words_collective, words_event;

/* "unknown" where this version does not know the number. */
const char *word_key(const struct words *words, uint64_t number);

/* The same in words for people. */
const char *word_text(const struct words *words, uint64_t number);

/* Whether the number has a word. */
bool word_known(const struct words *words, uint64_t number);

/*
 * The enum hyb_operation of a function of MPI, found by its name in upper or lower case:
 * "MPI_Ineighbor_allgather_init_c". Records have the operation since 1.6; for older files, and for functions
 * that were not called, only the name is known.
 */
unsigned word_collective(const char *function);

#endif
