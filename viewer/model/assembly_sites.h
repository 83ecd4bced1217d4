/* Inside of assembly.c: the code addresses that were measured in the modules of a path. */
#ifndef HYB_ASSEMBLY_SITES_H
#define HYB_ASSEMBLY_SITES_H

#include "profile/codes.h"
#include "viewer/model/assembly.h"

/* A module, whatever processes and experiments describe it. */
struct unit {
	const struct hyb_module *module;
	struct hyb_symbols *symbols;
};

struct site {
	uint64_t unit; /* index */
	uint64_t address;
	uint64_t call; /* bool: a return address */
	uint64_t samples, here, through; /* as in struct code_item */
	bool seen, of_function;
};

struct sites {
	const struct snapshot *snapshot;
	const struct assembly_request *request;
	atomic_bool *stop;
	struct unit *units;
	size_t unit_count;
	struct row_map table; /* of struct site; sorted by unit and address */
	struct codes codes;
	struct strings strings;
	/* the module that was asked for last */
	const struct hyb_module *last_module;
	size_t last_unit; /* SIZE_MAX: is not of the path */
};

/* Sums all of them up. 0, HYB_ENOMEM, or 1 if it was stopped; in any case to be released. */
int sites_gather(struct sites *sites, const struct snapshot *snapshot, const struct assembly_request *request,
	atomic_bool *stop);
void sites_release(struct sites *sites);

/* Whether that is the name of what was asked for. */
bool sites_fits(const struct assembly_request *request, const char *function, const char *file);

static inline const struct site *site_at(const struct sites *sites, size_t i)
{
	return (const struct site *)sites->table.rows + i;
}

/* The address that an instruction of it has in it. */
static inline uint64_t site_inside(const struct site *site)
{
	return site->call && site->address ? site->address - 1 : site->address;
}

#endif
