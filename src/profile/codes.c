#include "profile/codes.h"

#include "base/path.h"
#include "format/format.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions in which programs and threads begin; a '*' stands for any end of the name. */
static const char *const main_names[] = {"__libc_start_main*", "__libc_start_call_main", NULL};
static const char *const start_names[] = {
	"_start", "start_thread", "clone", "__clone", "clone3", "__clone3", NULL};

/* Objects whose start code often has no symbol of its own. */
static const char *const start_modules[] = {"libc.so", "libc-", "libpthread", "ld-linux"};

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_among(const char *const *names, const char *name)
{
	for (; *names; names++) {
		size_t n = strcspn(*names, "*");

		if ((*names)[n] ? !strncmp(name, *names, n) : !strcmp(name, *names))
			return true;
	}
	return false;
}

static bool is_start_module(const char *path)
{
	for (size_t i = 0; i < sizeof(start_modules) / sizeof(*start_modules); i++)
		if (has_prefix(path_base(path), start_modules[i]))
			return true;
	return false;
}

/* "python", "python3.11", "python3.13t": little but main() if the interpreter is in a library. */
static bool is_python_program(const char *path)
{
	const char *base = path_base(path), *version = base + strlen("python");

	if (!has_prefix(base, "python"))
		return false;
	version += strspn(version, "0123456789.");
	return !version[strspn(version, "dmtu")];
}

/* Functions of CPython, of any version; compilers add ".constprop.0" and such. */
static const char *python_part(const struct code *code)
{
	static const char *const parts[][2] = {
		{"gc_collect_main", "garbage collection"},
		{"collect", "garbage collection"}, /* before 3.10 */
		{"PyGC_Collect", "garbage collection"},
		{"Py_FinalizeEx", "finalisation"},
		{"_Py_Finalize", "finalisation"},
		{"Py_EndInterpreter", "finalisation"},
	};

	for (size_t f = 0; f < code->frame_count; f++) {
		const char *name = code->frames[f].function;
		size_t length = strcspn(name, ".");

		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			if (!strncmp(name, parts[i][0], length) && !parts[i][0][length])
				return parts[i][1];
	}
	return NULL;
}

/* ctypes, cffi and libffi: between Python and the C function that it calls. */
static bool is_bridge(const char *path)
{
	static const char *const bridges[] = {"_ctypes.", "_cffi_backend.", "libffi.", "libffi-"};

	for (size_t i = 0; i < sizeof(bridges) / sizeof(*bridges); i++)
		if (has_prefix(path_base(path), bridges[i]))
			return true;
	return false;
}

static bool is_made(const struct hyb_module *module)
{
	return module && !strcmp(module->path, HYB_MADE_PATH);
}

bool is_wrapper(const struct hyb_module *module)
{
	return module && has_prefix(path_base(module->path), "libhybrid-mpi");
}

bool is_mpi_library(const struct hyb_module *module)
{
	static const char *const names[] = {"libmpi", "libpmpi", "libfmpi"};

	for (size_t i = 0; module && i < sizeof(names) / sizeof(*names); i++)
		if (has_prefix(path_base(module->path), names[i]))
			return true;
	return false;
}

bool is_function(const char *name, const char *region)
{
	size_t n = strlen(region);
	const char *end = name + strcspn(name, "(<");

	if (!strcmp(name, region))
		return true;
	return (size_t)(end - name) >= n && !memcmp(end - n, region, n) &&
	       ((size_t)(end - name) == n || end[-(long)n - 1] == ':');
}

/* What code without a name is called: by address, unless routines merge and it has no module. */
static const char *nameless(const struct codes *codes, const struct code *code)
{
	char name[320];

	if (code->module && !is_made(code->module))
		snprintf(name, sizeof(name), "[%.256s+0x%" PRIx64 "]", path_base(code->module->path),
			code->address);
	else if (codes->mode == PROFILE_CALLSITE)
		snprintf(name, sizeof(name), "[unknown 0x%" PRIx64 "]", code->address);
	else
		snprintf(name, sizeof(name), "[code without a module]");
	return strings_get(codes->strings, name);
}

static int copy_frame(const struct codes *codes, const struct code *code, const struct hyb_frame *from,
	struct code_frame *to)
{
	*to = (struct code_frame){
		.function =
			*from->function ? strings_get(codes->strings, from->function) : nameless(codes, code),
		.file = strings_get(codes->strings, from->file),
		.line = from->line,
		.function_line = from->function_line,
		.guess = from->guess,
	};
	return to->function && to->file ? 0 : HYB_ENOMEM;
}

static void code_free(struct code *code)
{
	if (code)
		free(code->frames);
	free(code);
}

static struct code *code_new(struct codes *codes, const struct resolver *resolver,
	const struct hyb_module *module, uint64_t address, bool call)
{
	struct code *code = calloc(1, sizeof(*code));
	const struct hyb_frame *frames;
	const struct code_frame *outer;
	size_t count = 0;

	if (!code)
		return NULL;
	frames = resolver->lookup(resolver->data, module, address, call, &count);
	*code = (struct code){.module = module, .address = address, .call = call, .frame_count = count};
	code->module_path = strings_get(codes->strings, module ? module->path : "");
	code->frames = frames && count ? calloc(count, sizeof(*code->frames)) : NULL;
	if (!code->module_path || !code->frames)
		goto fail;
	for (size_t i = 0; i < count; i++)
		if (copy_frame(codes, code, &frames[i], &code->frames[i]))
			goto fail;
	outer = &code->frames[count - 1];
	code->unresolved = !*frames[0].function ||
			   (frames[0].guess && frames[0].function[strlen(frames[0].function) - 1] != '~');
	code->ours = has_prefix(path_base(code->module_path), "libhybrid") ||
		     strstr(code->module_path, "/hybrid/_probe.abi3.so");
	code->python_program = is_python_program(code->module_path) ||
			       (is_made(module) && has_prefix(outer->function, "py::"));
	if (python_part(code) && !(code->python_part = strings_get(codes->strings, python_part(code))))
		goto fail;
	code->bridge = is_bridge(code->module_path);
	code->main_start = !outer->guess && is_among(main_names, outer->function);
	code->start = is_among(main_names, outer->function) || is_among(start_names, outer->function) ||
		      ((outer->guess || code->unresolved) && is_start_module(code->module_path));
	return code;
fail:
	code_free(code);
	return NULL;
}

/* Two descriptions with equal members are of the same module; `first` is no part of the key. */
struct code_contents {
	const char *path; /* interned */
	const void *symbols; /* where its names are looked up */
	uint64_t file_size;
	int64_t mtime;
	uint64_t build_id_len;
	uint8_t build_id[32];
	const struct hyb_module *first;
};

/* NULL when memory is out. */
static const struct hyb_module *find_contents(
	struct codes *codes, const struct resolver *resolver, const struct hyb_module *module)
{
	struct code_contents *row, key = {.path = strings_get(codes->strings, module->path),
					   .symbols = resolver->data,
					   .file_size = module->file_size,
					   .mtime = module->mtime,
					   .build_id_len = module->build_id_len};

	codes->contents.row_size = sizeof(key);
	codes->contents.key_size = offsetof(struct code_contents, first);
	memcpy(key.build_id, module->build_id, sizeof(key.build_id));
	row = key.path ? row_map_row(&codes->contents, &key) : NULL;
	if (!row)
		return NULL;
	if (!row->first)
		row->first = module;
	return row->first;
}

static const struct hyb_module *find_module(
	struct codes *codes, const struct resolver *resolver, const struct hyb_module *module)
{
	struct code_module *row, key = {module, NULL};

	if (codes->last.module == module)
		return codes->last.first;
	codes->modules.row_size = sizeof(key);
	codes->modules.key_size = offsetof(struct code_module, first);
	row = row_map_row(&codes->modules, &key);
	if (!row)
		return NULL;
	if (!row->first)
		row->first = find_contents(codes, resolver, module);
	if (row->first)
		codes->last = *row;
	return row->first;
}

struct code *codes_get(struct codes *codes, const struct resolver *resolver, const struct hyb_module *module,
	uint64_t address, bool call)
{
	struct code *code;

	if (module) {
		module = find_module(codes, resolver, module);
		if (!module)
			return NULL;
	}
	code = map_get(&codes->map, MAP_KEY(address, (uintptr_t)module, call));
	if (code)
		return code;
	code = code_new(codes, resolver, module, address, call);
	if (code && !map_put(&codes->map, MAP_KEY(address, (uintptr_t)module, call), code)) {
		code_free(code);
		return NULL;
	}
	return code;
}

void codes_release(struct codes *codes)
{
	for (size_t i = 0; i < codes->map.room; i++)
		code_free(codes->map.slots[i].item);
	map_release(&codes->map);
	row_map_release(&codes->modules);
	row_map_release(&codes->contents);
}
