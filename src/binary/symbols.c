#include "base/map.h"
#include "base/strings.h"
#include "binary/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "format/format.h"
#include "base/error.h"
#include "binary/cache.h"
#include "binary/code.h"
#include "binary/file.h"
#include "binary/find.h"
#include "binary/jit.h"
#include "binary/ranges.h"

#define OPEN_MAX_FILES 16 /* each holds descriptors and, with debug information, much memory */
#define PROGRESS_STEP 64 /* addresses */

/* What was measured under one path. */
struct module {
	struct module *next;
	struct hyb_module info; /* with strings of its own */
	const char *key; /* identity of the contents, interned; see SYM_MEMO_KEY */
	const char *path; /* where the file is looked for */
	bool saved; /* `path` was put beside the measurement */
	bool absent;
	bool made; /* code made at run time: no file of its own, see struct made */
	struct sym_file *file; /* NULL while closed */
	uint64_t used; /* when it was asked last, by hyb_symbols.clock */
};

/* What a process recorded about its code made at run time. */
struct made {
	struct made *next;
	uint64_t process; /* as in struct hyb_made */
	struct sym_jit *jit; /* NULL: nothing was kept */
};

struct hyb_symbols {
	struct hyb_experiment *experiment; /* not owned */
	struct sym_places places; /* with strings in the store */
	struct strings store;
	struct map memo; /* see SYM_MEMO_KEY */
	struct map by_pointer; /* struct hyb_module -> struct module */
	struct module *modules;
	struct made *made;
	unsigned open_files;
	uint64_t clock;
	const char **problems;
	size_t problem_count;
	bool grown; /* beyond the cache */
};

static const struct hyb_frame unknown = {.function = "", .file = ""};

static const char *keep(struct strings *store, const char *s, bool *ok)
{
	const char *kept = s ? strings_add(store, s, strlen(s)) : NULL;

	*ok = *ok && (kept || !s);
	return kept;
}

struct hyb_symbols *sym_open(const struct sym_places *places)
{
	struct hyb_symbols *symbols = calloc(1, sizeof(*symbols));
	bool ok = true;

	if (!symbols)
		return NULL;
	symbols->places = *places;
	symbols->places.cache = keep(&symbols->store, places->cache, &ok);
	symbols->places.vdso = keep(&symbols->store, places->vdso, &ok);
	symbols->places.directory = keep(&symbols->store, places->directory, &ok);
	symbols->places.debug_path = keep(&symbols->store, places->debug_path, &ok);
	if (!ok) {
		hyb_symbols_close(symbols);
		return NULL;
	}
	if (symbols->places.cache)
		sym_cache_read(symbols->places.cache, &symbols->store, &symbols->memo);
	return symbols;
}

struct hyb_experiment *sym_experiment(const struct hyb_symbols *symbols)
{
	return symbols->experiment;
}

void sym_set_experiment(struct hyb_symbols *symbols, struct hyb_experiment *experiment)
{
	symbols->experiment = experiment;
}

void hyb_symbols_attach(struct hyb_symbols *symbols, struct hyb_experiment *experiment,
	const struct hyb_symbols_options *options)
{
	static const struct hyb_symbols_options none;
	const struct hyb_symbols_options *o = options ? options : &none;

	/* The modules of one that is closed may have been where others are now; this one may be, too. */
	map_release(&symbols->by_pointer);
	symbols->experiment = experiment;
	symbols->places.progress = o->progress;
	symbols->places.data = o->data;
	symbols->places.stop = o->stop;
}

/* The same contents have the same key, wherever they lie. */
static const char *key_of(struct strings *store, const struct hyb_module *info)
{
	char hex[SYM_HEX_SIZE];
	char *text = NULL;
	const char *key;
	int len;

	if (sym_build_id_hex(info, hex)) {
		len = asprintf(&text, "build-id:%s", hex);
	} else {
		/* Results for a file that may have a newer version by now are not kept. */
		len = asprintf(&text, "%sfile:%s:%llu:%lld", info->file_size && info->mtime ? "" : "?",
			info->path, (unsigned long long)info->file_size, (long long)info->mtime);
	}
	if (len < 0)
		return NULL;
	key = strings_add(store, text, (size_t)len);
	free(text);
	return key;
}

static struct module *new_module(struct hyb_symbols *symbols, const struct hyb_module *info, const char *key)
{
	struct module *module = arena_alloc(&symbols->store.arena, sizeof(*module));
	bool ok = true;

	if (!module)
		return NULL;
	module->info = *info;
	module->info.path = keep(&symbols->store, info->path, &ok);
	if (!ok || !map_put(&symbols->by_pointer, MAP_KEY((uintptr_t)&module->info), module))
		return NULL;
	module->key = key;
	module->path = module->info.path;
	module->saved = !strcmp(module->path, "[vdso]") && symbols->places.vdso &&
			access(symbols->places.vdso, R_OK) == 0;
	if (module->saved)
		module->path = symbols->places.vdso;
	module->made = !strcmp(module->path, HYB_MADE_PATH) && info->build_id_len == sizeof(struct hyb_made);
	module->next = symbols->modules;
	symbols->modules = module;
	return module;
}

/* Each process has descriptions of its own of the modules that all share. */
static struct module *module_of(struct hyb_symbols *symbols, const struct hyb_module *info)
{
	struct module *module = map_get(&symbols->by_pointer, MAP_KEY((uintptr_t)info));
	const char *key;

	if (module)
		return module;
	key = key_of(&symbols->store, info);
	for (module = symbols->modules; module; module = module->next)
		if (module->key == key && !strcmp(module->info.path, info->path))
			break;
	if (!module && key)
		module = new_module(symbols, info, key);
	if (module && !map_put(&symbols->by_pointer, MAP_KEY((uintptr_t)info), module))
		return NULL;
	return module;
}

static void close_file(struct hyb_symbols *symbols, struct module *module)
{
	if (!module->file)
		return;
	sym_file_close(module->file);
	module->file = NULL;
	symbols->open_files--;
}

static void close_oldest(struct hyb_symbols *symbols)
{
	struct module *oldest = NULL;

	for (struct module *module = symbols->modules; module; module = module->next)
		if (module->file && (!oldest || module->used < oldest->used))
			oldest = module;
	if (oldest)
		close_file(symbols, oldest);
}

static void add_problem(struct hyb_symbols *symbols, const char *text)
{
	const char *kept = strings_add(&symbols->store, text, strlen(text));

	for (size_t i = 0; i < symbols->problem_count; i++)
		if (symbols->problems[i] == kept)
			return;
	if (kept && ARRAY_ROOM(symbols->problems, symbols->problem_count))
		symbols->problems[symbols->problem_count++] = kept;
}

static struct sym_wanted wanted_of(const struct hyb_symbols *symbols, const struct module *module)
{
	return (struct sym_wanted){
		.module = &module->info,
		.path = module->path,
		.saved = module->saved,
		.debug_path = symbols->places.debug_path,
	};
}

static void open_file(struct hyb_symbols *symbols, struct module *module)
{
	const struct sym_wanted wanted = wanted_of(symbols, module);
	char problem[512] = "";

	if (symbols->open_files >= OPEN_MAX_FILES)
		close_oldest(symbols);
	if (sym_file_open(&symbols->store, &wanted, &module->file, problem, sizeof(problem)) == 0) {
		symbols->open_files++;
		return;
	}
	module->absent = true;
	if (*problem)
		add_problem(symbols, problem);
}

/* NULL if there is none that can be used. */
static struct sym_file *file_of(struct hyb_symbols *symbols, struct module *module)
{
	if (!module->file && !module->absent && !module->made)
		open_file(symbols, module);
	module->used = ++symbols->clock;
	return module->file;
}

static struct sym_jit *open_made(const struct hyb_symbols *symbols, uint64_t process)
{
	char *map = NULL, *dump = NULL;
	struct sym_jit *jit = NULL;

	if (symbols->places.directory &&
		asprintf(&map, "%s/code-%016" PRIx64 HYB_MADE_MAP, symbols->places.directory, process) >= 0 &&
		asprintf(&dump, "%s/code-%016" PRIx64 HYB_MADE_DUMP, symbols->places.directory, process) >= 0)
		jit = sym_jit_open(map, dump);
	free(map);
	free(dump);
	return jit;
}

static struct sym_jit *jit_of(struct hyb_symbols *symbols, uint64_t process)
{
	struct made *made = symbols->made;

	while (made && made->process != process)
		made = made->next;
	if (made)
		return made->jit;
	made = arena_alloc(&symbols->store.arena, sizeof(*made));
	if (!made)
		return NULL;
	*made = (struct made){symbols->made, process, open_made(symbols, process)};
	symbols->made = made;
	return made->jit;
}

/* The code that a process made and had at an address when it was met there. False: nothing is known. */
static bool find_made(struct hyb_symbols *symbols, const struct module *module, uint64_t address,
	struct hyb_frame *ret_frame, uint64_t *ret_start, uint64_t *ret_end)
{
	struct hyb_made slice;
	struct sym_jit_when when;
	struct sym_jit *jit;

	memcpy(&slice, module->info.build_id, sizeof(slice));
	when = (struct sym_jit_when){slice.since, module->info.file_size};
	jit = jit_of(symbols, slice.process);
	return jit && sym_jit_find(jit, address, &when, ret_frame, ret_start, ret_end);
}

static struct sym_chain *name_made(struct hyb_symbols *symbols, const struct module *module, uint64_t address)
{
	struct hyb_frame frame;
	struct sym_chain *chain;
	uint64_t start, end;
	bool ok = true;

	if (!find_made(symbols, module, address, &frame, &start, &end))
		return NULL;
	frame.function = keep(&symbols->store, frame.function, &ok);
	frame.file = keep(&symbols->store, frame.file, &ok);
	chain = ok ? arena_alloc(&symbols->store.arena, sizeof(*chain) + sizeof(frame)) : NULL;
	if (!chain)
		return NULL;
	chain->count = 1;
	chain->frames[0] = frame;
	return chain;
}

/* Looks the address up in the file. The result is kept, unless there is no file: there may be one another
 * time. */
static struct sym_chain *resolve(
	struct hyb_symbols *symbols, struct module *module, uint64_t address, bool call)
{
	uint64_t at = call && address ? address - 1 : address;
	struct sym_chain *chain = NULL;

	if (module->made)
		chain = name_made(symbols, module, at);
	else if (file_of(symbols, module))
		chain = sym_file_lookup(module->file, at);
	if (!chain || !map_put(&symbols->memo, MAP_KEY(SYM_MEMO_KEY(module->key, call), address), chain))
		return NULL;
	symbols->grown = true;
	return chain;
}

const struct hyb_frame *hyb_symbols_lookup(struct hyb_symbols *symbols, const struct hyb_module *info,
	uint64_t address, bool call, size_t *ret_count)
{
	struct module *module = info ? module_of(symbols, info) : NULL;
	struct sym_chain *chain = NULL;

	if (module) {
		chain = map_get(&symbols->memo, MAP_KEY(SYM_MEMO_KEY(module->key, call), address));
		if (!chain)
			chain = resolve(symbols, module, address, call);
	}
	*ret_count = chain ? chain->count : 1;
	return chain ? chain->frames : &unknown;
}

bool hyb_symbols_extent(struct hyb_symbols *symbols, const struct hyb_module *info, uint64_t address,
	uint64_t *ret_start, uint64_t *ret_end)
{
	struct module *module = module_of(symbols, info);
	struct sym_file *file = module ? file_of(symbols, module) : NULL;
	uint64_t start = 0, end = 0;
	struct hyb_frame frame;

	if (module && module->made) {
		if (!find_made(symbols, module, address, &frame, &start, &end))
			return false;
	} else if (!file || sym_file_extent(file, address, &start, &end) <= 0)
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}

const char *hyb_symbols_import(struct hyb_symbols *symbols, const struct hyb_module *info, uint64_t slot)
{
	struct module *module = module_of(symbols, info);
	struct sym_file *file = module ? file_of(symbols, module) : NULL;

	return file ? sym_file_import(file, slot) : NULL;
}

int hyb_symbols_code(struct hyb_symbols *symbols, const struct hyb_module *info, uint64_t address,
	void *buffer, size_t size, struct hyb_code *ret_code, struct hyb_error *err)
{
	struct module *module = module_of(symbols, info);
	struct sym_wanted wanted;

	if (!module) {
		error_set(err, HYB_ENOMEM, "%s: out of memory", info->path);
		return HYB_ENOMEM;
	}
	if (module->made) {
		error_set(err, HYB_EIO, "its instructions were made at run time, and are gone");
		return HYB_EIO;
	}
	wanted = wanted_of(symbols, module);
	return sym_code_read(&wanted, address, buffer, size, ret_code, err);
}

uint64_t sym_key(struct hyb_symbols *symbols, const struct hyb_module *info, bool call)
{
	const struct module *module = module_of(symbols, info);

	return module ? SYM_MEMO_KEY(module->key, call) : 0;
}

bool sym_is_known(const struct hyb_symbols *symbols, uint64_t key, uint64_t address)
{
	return map_get(&symbols->memo, MAP_KEY(key, address));
}

static int compare(const void *a, const void *b)
{
	const struct sym_address *x = a, *y = b;

	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (int)x->call - (int)y->call;
}

/* All processes' descriptions of a module become one pointer, then one module follows the other. */
static void sort(struct hyb_symbols *symbols, struct sym_address *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct module *module = addresses[i].module ? module_of(symbols, addresses[i].module) : NULL;

		if (module)
			addresses[i].module = &module->info;
	}
	if (count)
		qsort(addresses, count, sizeof(*addresses), compare);
}

void sym_resolve(struct hyb_symbols *symbols, struct sym_address *addresses, size_t count)
{
	const struct sym_places *places = &symbols->places;

	sort(symbols, addresses, count);
	for (size_t i = 0; i < count; i++) {
		const struct sym_address *at = &addresses[i];
		size_t n;

		if (places->progress && i % PROGRESS_STEP == 0)
			places->progress(places->data, i, count);
		if (places->stop && *places->stop)
			break;
		hyb_symbols_lookup(symbols, at->module, at->address, at->call, &n);
		if (at->module && (i + 1 == count || at[1].module != at->module))
			close_file(symbols, module_of(symbols, at->module));
	}
	if (places->progress)
		places->progress(places->data, count, count);
}

size_t hyb_symbols_problem_count(const struct hyb_symbols *symbols)
{
	return symbols->problem_count;
}

const char *hyb_symbols_problem_at(const struct hyb_symbols *symbols, size_t i)
{
	return i < symbols->problem_count ? symbols->problems[i] : NULL;
}

void hyb_symbols_save(struct hyb_symbols *symbols)
{
	if (symbols->grown && symbols->places.cache)
		sym_cache_write(symbols->places.cache, &symbols->memo);
	symbols->grown = false;
}

void hyb_symbols_close(struct hyb_symbols *symbols)
{
	if (!symbols)
		return;
	hyb_symbols_save(symbols);
	while (symbols->open_files)
		close_oldest(symbols);
	for (struct made *made = symbols->made; made; made = made->next)
		sym_jit_close(made->jit);
	map_release(&symbols->memo);
	map_release(&symbols->by_pointer);
	strings_release(&symbols->store);
	free(symbols->problems);
	free(symbols);
}
