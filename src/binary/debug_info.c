#include "base/map.h"
#include "base/strings.h"
#include "binary/debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/name.h"

struct scopes {
	Dwarf_Die dies[SYM_DEPTH_MAX]; /* the function, then what is inlined into each other */
	unsigned count;
};

static bool is_block(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
	       tag == DW_TAG_with_stmt || tag == DW_TAG_entry_point;
}

/* GCC has blocks without addresses around code that was inlined twice over. */
static bool is_open(Dwarf_Die *die)
{
	return is_block(dwarf_tag(die)) && !dwarf_hasattr(die, DW_AT_low_pc) &&
	       !dwarf_hasattr(die, DW_AT_ranges);
}

/* Goes to the child of *die that holds the code; false if there is none. */
static bool enter_child(Dwarf_Die *die, uint64_t address, unsigned depth)
{
	Dwarf_Die child, inner;

	if (depth > SYM_DEPTH_MAX || dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_inlined_subroutine && !is_block(tag))
			continue;
		inner = child;
		if (dwarf_haspc(&child, address) > 0 ||
			(is_open(&child) && enter_child(&inner, address, depth + 1))) {
			*die = inner;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static void find_scopes(Dwarf_Die function, uint64_t address, struct scopes *scopes)
{
	Dwarf_Die die = function;
	unsigned depth = 0;

	scopes->dies[0] = function;
	scopes->count = 1;
	while (scopes->count < SYM_DEPTH_MAX && depth++ < 4 * SYM_DEPTH_MAX && enter_child(&die, address, 0))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			scopes->dies[scopes->count++] = die;
}

/* The normalised copy of a file name that belongs to the DWARF file; "" for NULL. */
static const char *file_name(struct sym_dwarf *dwarf, struct sym_unit *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *name;
	char *path;

	if (!file || !*file)
		return "";
	name = map_get(&dwarf->files, MAP_KEY((uintptr_t)file));
	if (name)
		return name;
	path = sym_normalise_path(dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute)), file);
	if (!path)
		return NULL;
	name = strings_add(dwarf->store, path, strlen(path));
	free(path);
	if (!name || !map_put(&dwarf->files, MAP_KEY((uintptr_t)file), (void *)name))
		return NULL;
	return name;
}

static int line_of_code(
	struct sym_dwarf *dwarf, struct sym_unit *unit, uint64_t address, struct hyb_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number = 0;

	frame->file = file_name(dwarf, unit, line ? dwarf_linesrc(line, NULL, NULL) : NULL);
	if (line && dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (unsigned)number;
	return frame->file ? 0 : HYB_ENOMEM;
}

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
		return 0;
	return (unsigned)value;
}

/* Where the inlined function was called. */
static int line_of_call(
	struct sym_dwarf *dwarf, struct sym_unit *unit, Dwarf_Die *inlined, struct hyb_frame *frame)
{
	unsigned index = number_of(inlined, DW_AT_call_file);
	const char *file = NULL;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(&unit->code, &files, &n) == 0 && index < n)
		file = dwarf_filesrc(files, index, NULL, NULL);
	frame->file = file_name(dwarf, unit, file);
	frame->line = number_of(inlined, DW_AT_call_line);
	return frame->file ? 0 : HYB_ENOMEM;
}

static int fill(struct sym_dwarf *dwarf, struct sym_unit *unit, struct scopes *scopes, uint64_t address,
	struct hyb_frame *frames)
{
	int r = line_of_code(dwarf, unit, address, &frames[0]);

	for (unsigned i = 0; i < scopes->count && !r; i++) {
		Dwarf_Die *die = &scopes->dies[scopes->count - 1 - i];
		const struct sym_function *function = sym_dwarf_function(dwarf, die);
		bool inlined = i + 1 < scopes->count;

		if (!function)
			return HYB_ENOMEM;
		frames[i].function = function->name;
		frames[i].function_line = function->line;
		frames[i].inlined = inlined;
		if (inlined)
			r = line_of_call(dwarf, unit, die, &frames[i + 1]);
	}
	return r < 0 ? r : (int)scopes->count;
}

int sym_dwarf_lookup(struct sym_dwarf *dwarf, uint64_t address, struct hyb_frame frames[SYM_DEPTH_MAX])
{
	const struct sym_range *range = sym_ranges_find(&dwarf->ranges, address);
	struct sym_unit *unit;
	struct scopes scopes;
	int r;

	if (!range)
		return 0;
	unit = dwarf->by_index[range->value];
	if (sym_unit_walk(dwarf, unit) < 0)
		return HYB_ENOMEM;
	memset(frames, 0, SYM_DEPTH_MAX * sizeof(frames[0]));
	range = sym_ranges_find(&unit->ranges, address);
	if (range) {
		find_scopes(unit->functions[range->value], address, &scopes);
		return fill(dwarf, unit, &scopes, address, frames);
	}
	r = line_of_code(dwarf, unit, address, &frames[0]);
	frames[0].function = "";
	return r < 0 ? r : 1;
}

int sym_dwarf_extent(struct sym_dwarf *dwarf, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct sym_range *range = sym_ranges_find(&dwarf->ranges, address);
	struct sym_unit *unit = range ? dwarf->by_index[range->value] : NULL;

	if (unit && sym_unit_walk(dwarf, unit) < 0)
		return HYB_ENOMEM;
	range = unit ? sym_ranges_find(&unit->ranges, address) : NULL;
	if (!range)
		return 0;
	*ret_start = range->lo;
	*ret_end = range->hi;
	return 1;
}
