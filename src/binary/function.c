/* The names of functions in DWARF. */
#include "base/map.h"
#include "base/strings.h"
#include "binary/debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/name.h"

#define NAME_MAX_BYTES 4096
#define NAMING_MAX 16 /* functions in functions */
#define NONE UINT32_MAX

/* Follows one reference attribute; false if the DIE has none. */
static bool follow(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die target;

	if (!dwarf_attr(die, name, &attribute) || !dwarf_formref_die(&attribute, &target))
		return false;
	*die = target;
	return true;
}

/* The declaration that the DIE comes from in the end: its place gives the scope. */
static Dwarf_Die declaration_of(const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	unsigned steps = 0;

	while (steps++ < 16 && (follow(&at, DW_AT_abstract_origin) || follow(&at, DW_AT_specification)))
		;
	return at;
}

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* A function's name has its own scopes in it already. */
static const char *scope_name(
	struct sym_dwarf *dwarf, const struct sym_unit *unit, const struct sym_scope *scope)
{
	const struct sym_function *function = NULL;

	if (scope->is_function && dwarf->naming < NAMING_MAX) {
		Dwarf_Die die = {.addr = (void *)scope->start, .cu = unit->code.cu};

		dwarf->naming++;
		function = sym_dwarf_function(dwarf, &die);
		dwarf->naming--;
	}
	if (scope->is_function)
		return function ? function->name : "";
	return scope->name ? scope->name : "(anonymous namespace)";
}

/* "a::b::name". The scopes come innermost first, so the text is made from its end. */
static const char *qualified(struct sym_dwarf *dwarf, Dwarf_Die *die, const char *name)
{
	char buffer[NAME_MAX_BYTES];
	char *p = buffer + sizeof(buffer);
	Dwarf_Die declaration = declaration_of(die), unit_die;
	struct sym_unit *unit;
	size_t len = strlen(name);

	if (len >= sizeof(buffer) || !dwarf_diecu(&declaration, &unit_die, NULL, NULL))
		return strings_add(dwarf->store, name, len);
	unit = sym_dwarf_unit(dwarf, &unit_die);
	if (!unit || sym_unit_walk(dwarf, unit) < 0)
		return NULL;
	p -= len;
	memcpy(p, name, len);
	for (uint32_t i = sym_unit_scope(unit, &declaration); i != NONE; i = unit->scopes[i].parent) {
		const struct sym_scope *scope = &unit->scopes[i];
		const char *outer = scope_name(dwarf, unit, scope);

		len = strlen(outer);
		if ((size_t)(p - buffer) < len + 2)
			break;
		if (len) {
			p = memcpy(p - 2, "::", 2);
			p = memcpy(p - len, outer, len);
		}
		if (scope->is_function)
			break;
	}
	return strings_add(dwarf->store, p, (size_t)(buffer + sizeof(buffer) - p));
}

static const char *name_of(struct sym_dwarf *dwarf, Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_name);
	const char *linkage = string_of(die, DW_AT_linkage_name);
	const char *result;
	char *readable;

	if (!linkage)
		linkage = string_of(die, DW_AT_MIPS_linkage_name);
	readable = linkage ? sym_demangle(linkage) : NULL;
	if (!readable && name)
		return qualified(dwarf, die, name);
	result = readable ? readable : linkage ? linkage : "";
	result = strings_add(dwarf->store, result, strlen(result));
	free(readable);
	return result;
}

static unsigned line_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line = 0;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute), &line) != 0 ||
		line > UINT32_MAX)
		return 0;
	return (unsigned)line;
}

const struct sym_function *sym_dwarf_function(struct sym_dwarf *dwarf, const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	struct sym_function *function;

	/* All inlined copies share the function that they are copies of. */
	follow(&at, DW_AT_abstract_origin);
	function = map_get(&dwarf->functions, MAP_KEY((uintptr_t)at.addr));
	if (function)
		return function;
	function = arena_alloc(&dwarf->store->arena, sizeof(*function));
	if (!function)
		return NULL;
	function->name = name_of(dwarf, &at);
	function->line = line_of(&at);
	if (!function->name || !map_put(&dwarf->functions, MAP_KEY((uintptr_t)at.addr), function))
		return NULL;
	return function;
}
