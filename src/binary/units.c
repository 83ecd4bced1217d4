/* The units of a DWARF file: where their code is, their functions and scopes. */
#include "base/map.h"
#include "base/search.h"
#include "base/strings.h"
#include "binary/debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NONE UINT32_MAX

/*
 * Adds the ranges of a DIE. Those of functions that the linker threw away
 * begin at 0 or 1 and would hide others.
 */
static int add_ranges(struct sym_ranges *ranges, const struct sym_ranges *code, Dwarf_Die *die,
	uint32_t value, bool *ret_any)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t next = 0;
	int r = 0;

	while (!r && (next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0)
		if (lo < hi && (!code->count || sym_ranges_find(code, lo))) {
			r = sym_ranges_add(ranges, lo, hi, value);
			*ret_any = true;
		}
	return r;
}

struct sym_unit *sym_dwarf_unit(struct sym_dwarf *dwarf, Dwarf_Die *unit_die)
{
	struct sym_unit *unit = map_get(&dwarf->unit_of, MAP_KEY((uintptr_t)unit_die->addr));

	if (unit)
		return unit;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return NULL;
	unit->die = unit->code = *unit_die;
	unit->next = dwarf->units;
	dwarf->units = unit;
	return !map_put(&dwarf->unit_of, MAP_KEY((uintptr_t)unit_die->addr), unit) ? NULL : unit;
}

static int add_unit(struct sym_dwarf *dwarf, Dwarf_Die *die)
{
	struct sym_unit *unit;
	bool any = false;
	int r = add_ranges(&dwarf->ranges, dwarf->code, die, (uint32_t)dwarf->unit_count, &any);

	if (r || !any)
		return r;
	unit = sym_dwarf_unit(dwarf, die);
	if (!unit || !ARRAY_ROOM(dwarf->by_index, dwarf->unit_count))
		return HYB_ENOMEM;
	dwarf->by_index[dwarf->unit_count++] = unit;
	return 0;
}

int sym_dwarf_init(struct sym_dwarf *dwarf, Dwarf *dw, const struct sym_ranges *code, struct strings *store)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int r = 0;

	memset(dwarf, 0, sizeof(*dwarf));
	dwarf->dwarf = dw;
	dwarf->code = code;
	dwarf->store = store;
	while (!r && dwarf_get_units(dw, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			r = add_unit(dwarf, &die);
	sym_ranges_sort(&dwarf->ranges);
	return r;
}

struct walk {
	const struct sym_ranges *code;
	struct sym_unit *unit;
};

static int walk_children(struct walk *walk, Dwarf_Die *parent, uint32_t scope, unsigned depth);

static int enter_scope(struct walk *walk, Dwarf_Die *die, const struct sym_scope *scope, unsigned depth)
{
	struct sym_unit *unit = walk->unit;
	size_t index = unit->scope_count;

	if (!ARRAY_ROOM(unit->scopes, index))
		return HYB_ENOMEM;
	unit->scopes[index] = *scope;
	unit->scopes[index].start = (uintptr_t)die->addr;
	unit->scope_count++;
	return walk_children(walk, die, (uint32_t)index, depth + 1);
}

/*
 * Goes into every function for those in it: Fortran's contained procedures,
 * and lambdas, which may be in one that has no code because it was inlined.
 */
static int visit_function(struct walk *walk, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	const struct sym_scope scope = {.parent = parent, .is_function = true};
	struct sym_unit *unit = walk->unit;
	bool any = false;
	int r = add_ranges(&unit->ranges, walk->code, die, (uint32_t)unit->function_count, &any);

	if (r)
		return r;
	if (any && !ARRAY_ROOM(unit->functions, unit->function_count))
		return HYB_ENOMEM;
	if (any)
		unit->functions[unit->function_count++] = *die;
	return dwarf_haschildren(die) > 0 ? enter_scope(walk, die, &scope, depth) : 0;
}

static int visit(struct walk *walk, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	struct sym_scope scope = {.parent = parent, .name = ""};

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		return visit_function(walk, die, parent, depth);
	case DW_TAG_namespace:
		scope.name = dwarf_diename(die);
		return enter_scope(walk, die, &scope, depth);
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		if (dwarf_diename(die))
			scope.name = dwarf_diename(die);
		return enter_scope(walk, die, &scope, depth);
	case DW_TAG_lexical_block:
		return enter_scope(walk, die, &scope, depth);
	default:
		return 0;
	}
}

static int walk_children(struct walk *walk, Dwarf_Die *parent, uint32_t scope, unsigned depth)
{
	const struct sym_unit *unit = walk->unit;
	Dwarf_Die die;
	int r = 0, more;

	if (depth > SYM_DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		size_t first = unit->scope_count;

		r = visit(walk, &die, scope, depth);
		more = dwarf_siblingof(&die, &die);
		/* The first of the new scopes, if any, is that of the DIE that was visited. */
		if (more == 0 && walk->unit->scope_count > first)
			walk->unit->scopes[first].end = (uintptr_t)die.addr;
	} while (!r && more == 0);
	return r;
}

int sym_unit_walk(const struct sym_dwarf *dwarf, struct sym_unit *unit)
{
	struct walk walk = {.code = dwarf->code, .unit = unit};
	Dwarf_Die split;
	int r;

	if (unit->walked)
		return 0;
	unit->walked = true;
	if (dwarf_tag(&unit->die) == DW_TAG_skeleton_unit || dwarf_hasattr(&unit->die, DW_AT_GNU_dwo_name))
		if (!dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr)
			unit->code = split;
	r = walk_children(&walk, &unit->code, NONE, 0);
	sym_ranges_sort(&unit->ranges);
	return r;
}

static uintptr_t scope_end(const struct sym_unit *unit, uint32_t i)
{
	while (i != NONE && !unit->scopes[i].end)
		i = unit->scopes[i].parent;
	return i == NONE ? UINTPTR_MAX : unit->scopes[i].end;
}

uint32_t sym_unit_scope(const struct sym_unit *unit, const Dwarf_Die *die)
{
	uintptr_t at = (uintptr_t)die->addr;
	size_t count = SEARCH(i, unit->scope_count, unit->scopes[i].start < at);
	uint32_t scope = count ? (uint32_t)count - 1 : NONE;

	while (scope != NONE && scope_end(unit, scope) <= at)
		scope = unit->scopes[scope].parent;
	return scope;
}

void sym_dwarf_release(struct sym_dwarf *dwarf)
{
	while (dwarf->units) {
		struct sym_unit *unit = dwarf->units;

		dwarf->units = unit->next;
		sym_ranges_release(&unit->ranges);
		free(unit->functions);
		free(unit->scopes);
		free(unit);
	}
	free(dwarf->by_index);
	sym_ranges_release(&dwarf->ranges);
	map_release(&dwarf->unit_of);
	map_release(&dwarf->functions);
	map_release(&dwarf->files);
	memset(dwarf, 0, sizeof(*dwarf));
}
