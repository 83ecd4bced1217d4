/* Symbols of an experiment: where its cache and files are, which addresses it has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "reader/error.h"
#include "reader/symbols.h"

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
			.progress = o->progress,
			.data = o->data,
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

static int collect(const struct hyb_location_info *location, struct sym_address **addresses, size_t *count)
{
	for (size_t i = 0; i < location->node_count; i++) {
		const struct hyb_node_info *node = &location->nodes[i];

		if (!has_code(node))
			continue;
		if (!ARRAY_ROOM(*addresses, *count))
			return HYB_ENOMEM;
		(*addresses)[(*count)++] = (struct sym_address){
			.module = node->module,
			.address = node->address,
			.call = node->type == HYB_TYPE_CALL,
		};
	}
	return 0;
}

int hyb_symbols_resolve_all(struct hyb_symbols *symbols, struct hyb_error *err)
{
	struct hyb_experiment *experiment = sym_experiment(symbols);
	struct sym_address *addresses = NULL;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		for (size_t j = 0; j < process->location_count && !r; j++)
			r = collect(&process->locations[j], &addresses, &count);
	}
	if (r)
		error_set(err, HYB_ENOMEM, "%s: no memory for %zu addresses", hyb_experiment_path(experiment),
			count);
	else
		sym_resolve(symbols, addresses, count);
	free(addresses);
	return r;
}
