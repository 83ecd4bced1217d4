#include "viewer/model/assembly_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STOP_STEP 1024u /* nodes */

static const struct hyb_frame *look_up(
	void *data, const struct hyb_module *module, uint64_t address, bool call, size_t *ret_count)
{
	return hyb_symbols_lookup(data, module, address, call, ret_count);
}

bool sites_fits(const struct assembly_request *request, const char *function, const char *file)
{
	if (strcmp(function, request->name))
		return false;
	return request->probe || !*request->file || !*file || !strcmp(file, request->file);
}

static bool same_contents(const struct hyb_module *a, const struct hyb_module *b)
{
	return a->build_id_len == b->build_id_len && a->file_size == b->file_size && a->mtime == b->mtime &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id)) && !strcmp(a->path, b->path);
}

/* Its index, SIZE_MAX: is not of the path, or -1 below that: memory is out. */
static size_t find_unit(struct sites *s, const struct hyb_module *module, struct hyb_symbols *symbols)
{
	size_t i = 0;

	if (strcmp(module->path, s->request->module))
		return SIZE_MAX;
	while (i < s->unit_count && !same_contents(s->units[i].module, module))
		i++;
	if (i < s->unit_count)
		return i;
	return ARRAY_ADD(s->units, s->unit_count, (struct unit){module, symbols}) ? i : SIZE_MAX - 1;
}

static struct hyb_symbols *symbols_of(
	const struct snapshot *snapshot, const struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < snapshot->opened_count; i++)
		if (snapshot->opened[i].experiment == experiment)
			return snapshot->opened[i].symbols;
	return NULL;
}

/* Whether code of the function, or inlined into it, is at the address. 0, or HYB_ENOMEM. */
static int look_at(struct sites *s, struct site *site, const struct hyb_node_info *n)
{
	struct resolver resolver = {look_up, s->units[site->unit].symbols};
	const struct code *code = codes_get(
		&s->codes, &resolver, s->units[site->unit].module, n->address, n->type == HYB_TYPE_CALL);

	if (!code)
		return HYB_ENOMEM;
	site->seen = true;
	for (size_t f = 0; f < code->frame_count; f++)
		site->of_function |= sites_fits(s->request, code->frames[f].function, code->frames[f].file);
	return 0;
}

/* What a call led to counts where nothing above is the same call. */
static bool is_recursive(const struct hyb_node_info *nodes, size_t i)
{
	for (size_t at = nodes[i].parent; at; at = nodes[at].parent)
		if (nodes[at].type == HYB_TYPE_CALL && nodes[at].address == nodes[i].address &&
			nodes[at].module == nodes[i].module)
			return true;
	return false;
}

static void add(struct sites *s, struct site *site, size_t location, size_t i, uint64_t below)
{
	const struct hyb_node_info *nodes = s->snapshot->locations[location]->nodes;
	const struct profile_node *of_profile = profile_nodes(s->snapshot->profile);
	uint32_t own = s->snapshot->own[location][i];

	if (nodes[i].type == HYB_TYPE_CALL) {
		if (!is_recursive(nodes, i))
			site->through += below;
		return;
	}
	if (nodes[i].type != HYB_TYPE_LEAF)
		return;
	site->samples += nodes[i].samples;
	if (own == s->request->node)
		site->here += nodes[i].samples;
	/* Where the tree knows a name that the symbols do not. */
	if (of_profile[own].kind == PROFILE_LEAF)
		site->of_function |= sites_fits(s->request, of_profile[own].name, of_profile[own].file);
}

static int add_node(
	struct sites *s, struct hyb_symbols *symbols, size_t location, size_t i, const uint64_t *below)
{
	const struct hyb_node_info *n = &s->snapshot->locations[location]->nodes[i];
	struct site key = {.address = n->address, .call = n->type == HYB_TYPE_CALL}, *site;
	int r = 0;

	if (!n->module ||
		(n->type != HYB_TYPE_CALL && n->type != HYB_TYPE_LEAF && n->type != HYB_TYPE_FUNCTION))
		return 0;
	if (n->module != s->last_module) {
		s->last_unit = find_unit(s, n->module, symbols);
		s->last_module = n->module;
	}
	if (s->last_unit == SIZE_MAX)
		return 0;
	key.unit = s->last_unit;
	site = s->last_unit < s->unit_count ? row_map_row(&s->table, &key) : NULL;
	if (!site)
		return HYB_ENOMEM;
	if (!site->seen)
		r = look_at(s, site, n);
	if (!r)
		add(s, site, location, i, below[i]);
	return r;
}

static int add_location(struct sites *s, size_t l)
{
	const struct hyb_location_info *location = s->snapshot->locations[l];
	struct hyb_symbols *symbols = symbols_of(s->snapshot, location->process->experiment);
	uint64_t *below; /* samples at nodes and below them */
	int r = 0;

	if (!symbols || !s->snapshot->own[l])
		return 0;
	below = calloc(location->node_count, sizeof(*below));
	if (!below)
		return HYB_ENOMEM;
	for (size_t i = location->node_count; i-- > 1;) {
		below[i] += location->nodes[i].samples;
		below[location->nodes[i].parent] += below[i];
	}
	for (size_t i = 1; !r && i < location->node_count; i++) {
		if (i % STOP_STEP == 0 && atomic_load(s->stop))
			r = 1;
		else
			r = add_node(s, symbols, l, i, below);
	}
	free(below);
	return r;
}

static int compare(const void *pa, const void *pb)
{
	const struct site *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (site_inside(a) != site_inside(b))
		return site_inside(a) < site_inside(b) ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

int sites_gather(struct sites *s, const struct snapshot *snapshot, const struct assembly_request *request,
	atomic_bool *stop)
{
	int r = 0;

	*s = (struct sites){.snapshot = snapshot,
		.request = request,
		.stop = stop,
		.table = {.row_size = sizeof(struct site), .key_size = offsetof(struct site, samples)},
		.last_unit = SIZE_MAX};
	s->codes = (struct codes){.strings = &s->strings, .mode = snapshot->query.mode};
	for (size_t l = 0; !r && l < snapshot->location_count; l++)
		r = atomic_load(stop) ? 1 : add_location(s, l);
	if (!r && s->table.count)
		row_map_sort(&s->table, compare);
	return r;
}

void sites_release(struct sites *s)
{
	codes_release(&s->codes);
	strings_release(&s->strings);
	row_map_release(&s->table);
	free(s->units);
}
