#include "base/map.h"
#include "base/path.h"
#include "base/strings.h"
#include "binary/file.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/debug_info.h"
#include "binary/find.h"
#include "binary/go_table.h"
#include "binary/import.h"
#include "binary/name.h"
#include "binary/symtab.h"

struct sym_file {
	struct strings *store; /* not owned */
	const char *name; /* of the module, without directories */
	char *debug_path;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	struct sym_symtab symtab;
	struct go_table go;
	struct sym_dwarf dwarf; /* with dwarf.dwarf NULL where there is none */
	uint64_t dwarf_offset; /* address in the DWARF file minus ELF address */
	Elf *elf; /* of the Dwfl; NULL: none, or `imports` is loaded */
	struct map imports;
};

static void find_go_table(struct go_table *table, Elf *elf)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header; /* a copy: where the file has it, it may lie at any address */
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		Elf_Data *data = name && !strcmp(name, ".gopclntab") ? elf_rawdata(section, NULL) : NULL;

		if (data && data->d_buf)
			go_table_init(table, data->d_buf, data->d_size);
	}
}

static int load(struct sym_file *file, Dwfl_Module *module)
{
	static const struct sym_ranges everywhere;
	Dwarf_Addr bias = 0, dwarf_bias = 0;
	Dwarf *dw;
	int r = sym_symtab_load(&file->symtab, module);

	file->elf = dwfl_module_getelf(module, &bias);
	if (r < 0 || !file->elf)
		return r;
	find_go_table(&file->go, file->elf);
	dw = dwfl_module_getdwarf(module, &dwarf_bias);
	file->dwarf_offset = bias - dwarf_bias;
	if (!dw)
		return 0;
	/* A prelinked file has its sections elsewhere than its debug file. */
	return sym_dwarf_init(
		&file->dwarf, dw, file->dwarf_offset ? &everywhere : &file->symtab.sections, file->store);
}

static int report(
	struct sym_file *file, const struct sym_wanted *wanted, int fd, char *problem, size_t problem_size)
{
	Dwfl_Module *module;

	file->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &file->debug_path,
	};
	file->dwfl = dwfl_begin(&file->callbacks);
	if (!file->dwfl) {
		close(fd);
		return HYB_ENOMEM;
	}
	dwfl_report_begin(file->dwfl);
	/* At address 0, so that addresses are those of the ELF file. */
	module = dwfl_report_elf(file->dwfl, wanted->path, wanted->path, fd, 0, true);
	if (!module) {
		snprintf(problem, problem_size, "%s: %s", wanted->path, dwfl_errmsg(-1));
		close(fd);
		return HYB_EFORMAT;
	}
	dwfl_report_end(file->dwfl, NULL, NULL);
	return load(file, module);
}

int sym_file_open(struct strings *store, const struct sym_wanted *wanted, struct sym_file **ret,
	char *problem, size_t problem_size)
{
	const char *name = path_base(wanted->module->path);
	int fd = sym_find(wanted, problem, problem_size);
	struct sym_file *file;
	int r;

	if (fd < 0)
		return HYB_EFORMAT;
	file = calloc(1, sizeof(*file));
	if (file) {
		file->debug_path = strdup(wanted->debug_path ? wanted->debug_path : SYM_DEBUG_PATH);
		file->name = strings_add(store, name, strlen(name));
	}
	if (!file || !file->debug_path || !file->name) {
		close(fd);
		sym_file_close(file);
		return HYB_ENOMEM;
	}
	file->store = store;
	r = report(file, wanted, fd, problem, problem_size);
	if (r < 0)
		sym_file_close(file);
	else
		*ret = file;
	return r;
}

/*
 * The symbol's name as a function name; versions ("@@GLIBC_2.2.5") are no part of it. Without a symbol the
 * function's own start in its file names it; what is only a label in front of the code is marked.
 */
static char *place_name(const struct sym_file *file, const struct sym_place *place)
{
	const char *symbol = place->symbol ? place->symbol->name : NULL;
	char *readable = symbol ? sym_demangle(symbol) : NULL, *text = NULL;
	int n;

	if (!symbol)
		n = asprintf(&text, "%s+0x%" PRIx64, file->name, place->start);
	else
		n = asprintf(&text, "%.*s%s", (int)(readable ? strlen(readable) : strcspn(symbol, "@")),
			readable ? readable : symbol, place->label ? "~" : "");
	free(readable);
	return n < 0 ? NULL : text;
}

static int name_by_symbol(struct sym_file *file, uint64_t address, struct hyb_frame *frame)
{
	struct sym_place place;
	char *name;

	if (sym_symtab_find(&file->symtab, address, &place) < 0)
		return HYB_ENOMEM;
	if (!place.symbol && !place.start)
		return 0;
	name = place_name(file, &place);
	frame->function = name ? strings_add(file->store, name, strlen(name)) : NULL;
	frame->guess = !place.symbol || place.label;
	free(name);
	return frame->function ? 0 : HYB_ENOMEM;
}

/* 1; 0: it is not Go's; HYB_ENOMEM. */
static int name_by_go(struct sym_file *file, uint64_t address, struct hyb_frame *frame)
{
	uint64_t start, end;

	if (!go_table_find(&file->go, address, frame, &start, &end))
		return 0;
	frame->function = strings_add(file->store, frame->function, strlen(frame->function));
	frame->file = strings_add(file->store, frame->file, strlen(frame->file));
	return frame->function && frame->file ? 1 : HYB_ENOMEM;
}

struct sym_chain *sym_file_lookup(struct sym_file *file, uint64_t address)
{
	struct hyb_frame frames[SYM_DEPTH_MAX];
	struct sym_chain *chain;
	int n = 0;

	if (file->dwarf.dwarf)
		n = sym_dwarf_lookup(&file->dwarf, address + file->dwarf_offset, frames);
	if (n == 0)
		n = name_by_go(file, address, &frames[0]);
	if (n == 0) {
		frames[0] = (struct hyb_frame){.function = "", .file = ""};
		n = 1;
	}
	if (n > 0 && !*frames[n - 1].function && name_by_symbol(file, address, &frames[n - 1]) < 0)
		n = HYB_ENOMEM;
	chain = n > 0 ? arena_alloc(&file->store->arena, sizeof(*chain) + (size_t)n * sizeof(frames[0]))
		      : NULL;
	if (!chain)
		return NULL;
	chain->count = (uint32_t)n;
	memcpy(chain->frames, frames, (size_t)n * sizeof(frames[0]));
	return chain;
}

int sym_file_extent(struct sym_file *file, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	struct hyb_frame frame;
	int r = go_table_find(&file->go, address, &frame, ret_start, ret_end);

	if (!r)
		r = sym_symtab_extent(&file->symtab, address, ret_start, ret_end);
	if (r || !file->dwarf.dwarf)
		return r;
	r = sym_dwarf_extent(&file->dwarf, address + file->dwarf_offset, ret_start, ret_end);
	if (r > 0) {
		*ret_start -= file->dwarf_offset;
		*ret_end -= file->dwarf_offset;
	}
	return r;
}

const char *sym_file_import(struct sym_file *file, uint64_t slot)
{
	if (file->elf && sym_imports_load(&file->imports, file->store, file->elf) < 0)
		return NULL;
	file->elf = NULL;
	return map_get(&file->imports, MAP_KEY(slot));
}

void sym_file_close(struct sym_file *file)
{
	if (!file)
		return;
	sym_dwarf_release(&file->dwarf);
	sym_symtab_release(&file->symtab);
	map_release(&file->imports);
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file->debug_path);
	free(file);
}
