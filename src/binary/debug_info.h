/*
 * Source-level frames from DWARF.
 *
 * Units are found by an index of their ranges that is made once: the
 * .debug_aranges of the compiler are often missing. A unit is walked when an
 * address in it is first asked for, for the ranges of its functions and for
 * the namespaces and classes that names stand in.
 */
#ifndef HYB_READER_SYMBOLS_DWARF_H
#define HYB_READER_SYMBOLS_DWARF_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/strings.h"
#include "hybrid/reader.h"
#include "binary/ranges.h"

#define SYM_DEPTH_MAX 128 /* nesting that is followed: of inlined calls, of scopes */

/* What can be in front of a "::". */
struct sym_scope {
	uintptr_t start, end; /* of the DIEs inside; end 0: the end of its parent */
	uint32_t parent; /* index, UINT32_MAX: none */
	bool is_function; /* without `name` */
	const char *name; /* as in the file; NULL: anonymous namespace; "": no part of names */
};

/* A unit of the debug information, as far as it was needed. */
struct sym_unit {
	struct sym_unit *next;
	Dwarf_Die die; /* with ranges and line table */
	Dwarf_Die code; /* with functions: the split unit where there is one */
	bool walked;
	struct sym_ranges ranges; /* of functions; values are indices of `functions` */
	Dwarf_Die *functions;
	size_t function_count;
	struct sym_scope *scopes; /* in the order of the file */
	size_t scope_count;
};

struct sym_function {
	const char *name;
	unsigned line;
};

struct sym_dwarf {
	Dwarf *dwarf;
	struct strings *store; /* not owned */
	struct sym_unit *units;
	struct sym_unit **by_index; /* of those with code */
	size_t unit_count;
	struct sym_ranges ranges; /* of units; values are indices of `by_index` */
	const struct sym_ranges *code; /* not owned; ranges outside of it are of discarded code */
	struct map unit_of; /* unit DIE -> struct sym_unit */
	struct map functions; /* DIE -> struct sym_function in the store */
	unsigned naming; /* names that are being made, each for the sake of the one before */
	struct map files; /* string of the file -> normalised string in the store */
};

/* `code`: the sections of code, empty if they are not known. 0 or HYB_ENOMEM. */
int sym_dwarf_init(struct sym_dwarf *dwarf, Dwarf *dw, const struct sym_ranges *code, struct strings *store);

/*
 * The frames of an address of the DWARF file, innermost first. Returns their
 * number; 0 if no unit holds the address; or HYB_ENOMEM. The function of the
 * last one is "" where only the line table knows the code.
 */
int sym_dwarf_lookup(struct sym_dwarf *dwarf, uint64_t address, struct hyb_frame frames[SYM_DEPTH_MAX]);

/* The range of a function that holds an address of the DWARF file. 1, 0 if there is none, or HYB_ENOMEM. */
int sym_dwarf_extent(struct sym_dwarf *dwarf, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

void sym_dwarf_release(struct sym_dwarf *dwarf);

/* The unit of a unit DIE, NULL if out of memory (binary/units.c). */
struct sym_unit *sym_dwarf_unit(struct sym_dwarf *dwarf, Dwarf_Die *unit_die);

/* Walks the unit if it was not yet. 0 or HYB_ENOMEM. */
int sym_unit_walk(const struct sym_dwarf *dwarf, struct sym_unit *unit);

/* The index of the innermost scope around a DIE of a walked unit, UINT32_MAX if none. */
uint32_t sym_unit_scope(const struct sym_unit *unit, const Dwarf_Die *die);

/* Name and line of the function of a subprogram or inlined DIE (binary/function.c). NULL if out of memory.
 */
const struct sym_function *sym_dwarf_function(struct sym_dwarf *dwarf, const Dwarf_Die *die);

#endif
