/*
 * Which ELF object holds a code address, and where code made at run time is. The table is read from
 * /proc/self/maps: at start, and again in the handler when an address is
 * nowhere or the program called dlopen or dlclose. No loader function is
 * called, so no loader lock can be waited for, and objects that were mapped
 * by any means are found.
 *
 * Readers copy an entry under a sequence counter; one thread at a time updates,
 * others go on with what there is.
 */
#ifndef HYB_MODULES_H
#define HYB_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An executable mapping of an object, or of none: code made at run time. */
struct module_map {
	uintptr_t start, end; /* of the executable mapping */
	uintptr_t image_lo, image_hi; /* of the whole object in memory */
	uintptr_t bias; /* address minus ELF virtual address */
	uintptr_t eh_frame_hdr; /* address, or 0 if it has none */
	uint64_t def; /* id of its HYB_DEF_MAP */
	uint64_t device, inode; /* with the path, the identity of the file */
	uint32_t module; /* id, from 1; 0: the table of modules is full, or it is of no object */
	uintptr_t moved; /* where its unwind information was before it was copied, minus where it is */
	bool made; /* of no object; what stands above, but for the addresses and the file, is 0 */
	uint32_t seen; /* by the scan of this number */
};

/* Reads the table for the first time (again, for a forked child's file). start */
void modules_init(void);

/* Copies the entry that holds `pc`; false: none. async-signal-safe */
bool modules_find(uintptr_t pc, struct module_map *ret_map);

/* The address in memory that a key names, or 0 if its module is not loaded. async-signal-safe */
uintptr_t modules_address(uint64_t code);

/* The path of the map's object, as it was when it was found; NULL if not known. async-signal-safe */
const char *modules_path(const struct module_map *map);

/* Whether the module of that id is a library of MPI, by its file's name. async-signal-safe */
bool modules_is_mpi(uint32_t module);

/*
 * Brings the table up to date if the program may have loaded or unloaded
 * something, or if `unknown` addresses were met; limits itself to a small share
 * of time. async-signal-safe
 */
void modules_update(bool unknown);

/*
 * The program is about to call dlopen: addresses in what it loads will be unknown, and are
 * looked for at once. async-signal-safe
 */
void modules_opening(void);

/* The program is about to call dlclose: what is known may become wrong. async-signal-safe */
void modules_closing(void);

#endif
