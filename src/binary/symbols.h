/* Symbols without an experiment: what hyb_symbols_open() fills in from one. */
#ifndef HYB_READER_SYMBOLS_H
#define HYB_READER_SYMBOLS_H

#include "hybrid/reader.h"

struct sym_places {
	const char *cache; /* file, NULL: none */
	const char *vdso; /* copy of the kernel's page, NULL: none */
	const char *directory; /* of the experiment, NULL: none */
	const char *debug_path; /* for separate debug files, as of libdwfl; NULL: the usual */
	void (*progress)(void *data, size_t done, size_t total); /* may be NULL */
	void *data;
	const volatile sig_atomic_t *stop; /* may be NULL */
};

/* Copies what `places` names. NULL if out of memory; else for hyb_symbols_close(). */
struct hyb_symbols *sym_open(const struct sym_places *places);

struct sym_address {
	const struct hyb_module *module;
	uint64_t address;
	bool call;
};

/* The key under which addresses of a module (not NULL) are looked up, return addresses (`call`) under one of
 * their own; 0: out of memory. */
uint64_t sym_key(struct hyb_symbols *symbols, const struct hyb_module *module, bool call);
/* Whether an address of that key was looked up already. */
bool sym_is_known(const struct hyb_symbols *symbols, uint64_t key, uint64_t address);

/* Looks all of them up, module by module, so that one module's file is open at a time. Sorts the array. */
void sym_resolve(struct hyb_symbols *symbols, struct sym_address *addresses, size_t count);

/* The experiment that was given to hyb_symbols_open(), or NULL. */
struct hyb_experiment *sym_experiment(const struct hyb_symbols *symbols);
void sym_set_experiment(struct hyb_symbols *symbols, struct hyb_experiment *experiment);

#endif
