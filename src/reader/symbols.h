/* Symbols without an experiment: what hyb_symbols_open() fills in from one. */
#ifndef HYB_READER_SYMBOLS_H
#define HYB_READER_SYMBOLS_H

#include "hybrid/reader.h"

struct sym_places {
	const char *cache; /* file, NULL: none */
	const char *vdso; /* copy of the kernel's page, NULL: none */
	const char *debug_path; /* for separate debug files, as of libdwfl; NULL: the usual */
	void (*progress)(void *data, size_t done, size_t total); /* may be NULL */
	void *data;
};

/* Copies what `places` names. NULL if out of memory; else for hyb_symbols_close(). */
struct hyb_symbols *sym_open(const struct sym_places *places);

struct sym_address {
	const struct hyb_module *module;
	uint64_t address;
	bool call;
};

/* Looks all of them up, module by module, so that one module's file is open at a time. Sorts the array. */
void sym_resolve(struct hyb_symbols *symbols, struct sym_address *addresses, size_t count);

/* The experiment that was given to hyb_symbols_open(), or NULL. */
struct hyb_experiment *sym_experiment(const struct hyb_symbols *symbols);
void sym_set_experiment(struct hyb_symbols *symbols, struct hyb_experiment *experiment);

#endif
