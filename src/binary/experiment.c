/* Symbols of an experiment: where its cache and files are, which addresses it has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/array.h"
#include "base/error.h"
#include "binary/symbols.h"
#include "binary/ranges.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *join(const char *a, const char *b)
{
	char *text;

	return asprintf(&text, "%s%s", a, b) < 0 ? NULL : text;
}

/* The absolute path of the experiment's directory, NULL if there is none. */
static char *directory_of(const char *path)
{
	char *real = realpath(path, NULL);
	char *slash = real && !is_directory(real) ? strrchr(real, '/') : NULL;

	if (slash)
		*slash = '\0';
	return real;
}

struct hyb_symbols *hyb_symbols_open(
	struct hyb_experiment *experiment, const struct hyb_symbols_options *options, struct hyb_error *err)
{
	static const struct hyb_symbols_options defaults;
	const struct hyb_symbols_options *o = options ? options : &defaults;
	const char *path = hyb_experiment_path(experiment);
	char *directory = directory_of(path);
	char *vdso = directory ? join(directory, "/vdso.so") : NULL;
	char *cache = o->cache             ? join(o->cache, "/symbols.cache")
		      : is_directory(path) ? join(path, "/symbols.cache")
					   : join(path, ".symbols");
	struct hyb_symbols *symbols = NULL;

	if (cache)
		symbols = sym_open(&(struct sym_places){
			.cache = o->no_cache ? NULL : cache,
			.vdso = vdso,
			.directory = directory,
			.progress = o->progress,
			.data = o->data,
			.stop = o->stop,
		});
	free(cache);
	free(vdso);
	free(directory);
	if (symbols)
		sym_set_experiment(symbols, experiment);
	else
		error_set(err, HYB_ENOMEM, "%s: no memory for symbols", path);
	return symbols;
}

static bool has_code(const struct hyb_node_info *node)
{
	return node->module && (node->type == HYB_TYPE_FUNCTION || node->type == HYB_TYPE_CALL ||
				       node->type == HYB_TYPE_LEAF);
}

/* Addresses that are to be looked up: each once, however many threads have been there. */
struct wanted {
	struct hyb_symbols *symbols;
	struct sym_address *addresses;
	size_t count;
	struct map seen;
	const struct hyb_module *module; /* the last one, and its keys by `call` */
	uint64_t keys[2];
};

static int want(struct wanted *w, const struct hyb_node_info *node)
{
	bool call = node->type == HYB_TYPE_CALL;

	if (node->module != w->module) {
		w->module = node->module;
		w->keys[0] = sym_key(w->symbols, node->module, false);
		w->keys[1] = sym_key(w->symbols, node->module, true);
	}
	if (!w->keys[call])
		return HYB_ENOMEM;
	if (sym_is_known(w->symbols, w->keys[call], node->address) ||
		map_get(&w->seen, MAP_KEY(w->keys[call], node->address)))
		return 0;
	if (!ARRAY_ROOM(w->addresses, w->count) ||
		!map_put(&w->seen, MAP_KEY(w->keys[call], node->address), w))
		return HYB_ENOMEM;
	w->addresses[w->count++] = (struct sym_address){node->module, node->address, call};
	return 0;
}

static int collect(struct wanted *w, const struct hyb_location_info *location)
{
	int r = 0;

	for (size_t i = 0; i < location->node_count && !r; i++)
		if (has_code(&location->nodes[i]))
			r = want(w, &location->nodes[i]);
	return r;
}

int hyb_symbols_resolve_all(struct hyb_symbols *symbols, struct hyb_error *err)
{
	struct hyb_experiment *experiment = sym_experiment(symbols);
	struct wanted w = {.symbols = symbols};
	int r = 0;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		for (size_t j = 0; j < process->location_count && !r; j++)
			r = collect(&w, &process->locations[j]);
	}
	if (r)
		error_set(err, HYB_ENOMEM, "%s: no memory for %zu addresses", hyb_experiment_path(experiment),
			w.count);
	else
		sym_resolve(symbols, w.addresses, w.count);
	map_release(&w.seen);
	free(w.addresses);
	return r;
}
