#include "profile/waits.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "format/format.h"
#include "format/words.h"
#include "profile/balance.h"
#include "profile/cost.h"
#include "profile/state.h"

static const struct word kinds[] = {
	[PROFILE_ROOT] = {"root", NULL},
	[PROFILE_PROBE] = {"probe", NULL},
	[PROFILE_INTERMEDIATE] = {"intermediate", NULL},
	[PROFILE_LEAF] = {"leaf", NULL},
	[PROFILE_INCOMPLETE] = {"incomplete", NULL},
};
const struct words profile_kind_words = {kinds, sizeof(kinds) / sizeof(kinds[0])};

struct profile *profile_new(const struct profile_options *options)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (options)
		p->options = *options;
	mpi_init(&p->mpi);
	p->seen = (struct row_map){.row_size = sizeof(struct identity), .key_size = sizeof(struct identity)};
	p->nameless = (struct row_map){
		.row_size = sizeof(struct nameless), .key_size = offsetof(struct nameless, samples)};
	p->codes.strings = &p->strings;
	p->codes.mode = p->options.mode;
	if (tree_init(&p->tree, "[total]") || tree_init(&p->awaits, "")) {
		profile_free(p);
		return NULL;
	}
	p->tree.nodes[0].file = p->tree.nodes[0].module = strings_get(&p->strings, "");
	if (!p->tree.nodes[0].file) {
		profile_free(p);
		return NULL;
	}
	return p;
}

/* The node under which a location goes; 0 is the root, UINT32_MAX: memory is out. */
static uint32_t find_top(struct profile *p, const struct hyb_location_info *location, const char *program)
{
	const struct hyb_process *process = location->process;
	struct profile_node like = {.kind = PROFILE_PROBE, .idles = true};
	char name[PROFILE_LOCATION_NAME];
	uint32_t top;

	if (!p->options.split_locations && !p->options.split_ranks)
		return 0;
	if (p->options.split_locations)
		profile_name_location(location, name);
	else
		profile_name_process(process, name, sizeof(name));
	like.name = strings_get(&p->strings, name);
	like.file = strings_get(&p->strings, "");
	like.module = strings_get(&p->strings, process->file);
	if (!like.name || !like.file || !like.module)
		return UINT32_MAX;
	top = tree_child(&p->tree, 0, &like);
	if (!top)
		return UINT32_MAX;
	p->tree.nodes[top].program = program;
	if (process->world && process->rank != HYB_RANK_NONE)
		p->tree.nodes[top].place = (uint64_t)process->rank + 1;
	if (p->options.split_locations && p->tree.nodes[top].place)
		p->tree.nodes[top].place = p->tree.nodes[top].place << 32 | location->id;
	return top;
}

/* A location may stand for many threads; the first one of an executed program is that of the program before.
 */
static size_t threads_of(const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;

	if (location->rest)
		return location->threads;
	return !process->image || location->tid != process->pid;
}

static void add_quality(struct profile_quality *q, const struct hyb_location_info *location)
{
	q->locations += threads_of(location);
	q->thread_wall += location->nodes[0].inclusive;
	q->cpu += location->cpu;
	q->samples += location->samples;
	/* Timers of wall time count what they missed; who wrote the file may not have counted interrupts. */
	q->taken +=
		location->source == HYB_SOURCE_WALL || !location->taken ? location->samples : location->taken;
	for (size_t i = 0; i < 16; i++)
		q->dropped[i] += location->dropped[i];
	for (size_t i = 0; i < 8; i++) {
		q->python[i] += location->python[i];
		q->partial[i] += location->partial[i];
		q->faults[i] += location->faults[i];
		q->mpi[i] += location->mpi[i];
	}
	q->frames += location->frames;
	q->guessed += location->guessed;
	q->slowed += location->slowed;
	q->events += location->events;
	q->events_lost += location->events_lost;
	q->open_regions += location->open;
	if (location->source < 32)
		q->sources |= 1u << location->source;
	cost_add_location(q, location);
}

/* Adds what coroutines waited. */
static int add_awaits(struct profile *p, const struct hyb_location_info *location)
{
	for (size_t i = 1; i < location->node_count; i++) {
		const struct hyb_node_info *n = &location->nodes[i];
		const struct hyb_region *region = location->nodes[n->parent].region;
		struct profile_node like = {.kind = PROFILE_PROBE};
		uint32_t row;

		if (n->type != HYB_TYPE_AWAIT || !n->calls)
			continue;
		like.name = strings_get(&p->strings, region->name);
		like.file = strings_get(&p->strings, region->file);
		like.module = strings_get(&p->strings, "");
		like.line = region->line;
		if (!like.name || !like.file || !like.module)
			return HYB_ENOMEM;
		row = tree_child(&p->awaits, 0, &like);
		if (!row)
			return HYB_ENOMEM;
		p->awaits.nodes[row].calls += n->calls;
		p->awaits.nodes[row].exclusive += n->inclusive;
	}
	return 0;
}

/* Where the interpreter of a process is, if it had one. */
static int find_interpreter(struct profile *p, const struct hyb_process *process, struct merge *merge)
{
	for (size_t i = 0; i < process->metadata_count; i++) {
		if (strcmp(process->metadata[i].key, "hybrid.python.module"))
			continue;
		merge->interpreter = strings_get(&p->strings, process->metadata[i].value);
		merge->weave = !p->options.python_internals;
		return merge->interpreter ? 0 : HYB_ENOMEM;
	}
	return 0;
}

/* Whether it is the first of its process that takes part. */
static bool speaks(const struct profile *p, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;

	for (size_t i = 0; i < process->location_count; i++)
		if (!p->options.select || p->options.select(p->options.data, &process->locations[i]))
			return &process->locations[i] == location;
	return true;
}

/* Takes the nodes. */
static int add_part(struct profile *p, const struct hyb_location_info *location, uint32_t *nodes)
{
	if (!ARRAY_ROOM(p->parts, p->part_count)) {
		free(nodes);
		return HYB_ENOMEM;
	}
	p->parts[p->part_count++] = (struct profile_part){location, nodes};
	return 0;
}

int profile_add_location(
	struct profile *p, const struct hyb_location_info *location, const struct resolver *resolver)
{
	uint32_t *nodes = NULL;
	struct merge merge = {
		.mode = p->options.mode,
		.tree = &p->tree,
		.strings = &p->strings,
		.ret_nodes = p->options.parts ? &nodes : NULL,
		.codes = &p->codes,
		.experiment = p->experiment,
		.program = strings_get(&p->strings, profile_program(location->process)),
		.share = &p->share,
		.metrics = &p->metrics,
		.speaks = speaks(p, location),
		.spread_metric = p->options.spread_metric,
		.spreads = p->options.spreads ? &p->mpi.spreads : NULL,
		.mpi_internals = p->options.mpi_internals,
	};
	uint32_t top = merge.program ? find_top(p, location, merge.program) : UINT32_MAX;

	if (top == UINT32_MAX || find_interpreter(p, location->process, &merge) || add_awaits(p, location))
		return HYB_ENOMEM;
	add_quality(&p->quality, location);
	if (merge_location(&merge, location, resolver, top) || (nodes && add_part(p, location, nodes)))
		return HYB_ENOMEM;
	return mpi_add_location(&p->mpi, &p->strings, location, merge.blocked, p->options.traffic);
}

void profile_add_process(struct profile *p, const struct hyb_process *process, bool again)
{
	struct profile_quality *q = &p->quality;

	q->processes += !again;
	q->programs++;
	q->trace_bytes += process->trace_bytes;
	q->file_bytes += process->file_size;
	q->threads_lost += process->threads_lost;
	q->regions_lost += process->regions_lost;
	q->names_cut += process->names_cut;
	if (process->rate > q->rate)
		q->rate = process->rate;
	if (process->trace_stopped) {
		uint64_t after =
			process->trace_stopped > process->start ? process->trace_stopped - process->start : 1;

		if (!q->trace_stopped || after < q->trace_stopped)
			q->trace_stopped = after;
	}
}

int profile_end_process(struct profile *p, const struct hyb_process *process, bool selected)
{
	struct profile_quality *q = &p->quality;
	bool corrected = process->clock_shift_start || process->clock_shift_end || process->clock_error;

	if (selected) {
		q->ranks += process->world && process->rank != HYB_RANK_NONE;
		q->clocks += corrected;
		q->clock_error =
			process->clock_error > q->clock_error ? process->clock_error : q->clock_error;
		if (metric_sums_add_process(&p->metrics, &p->strings, process))
			return HYB_ENOMEM;
	}
	return mpi_add_process(&p->mpi, &p->strings, process, &p->tree, selected);
}

static bool has_own(const struct profile *p, size_t node)
{
	const struct profile_value *values = p->metrics.values + node * p->metrics.count;

	for (size_t k = 0; k < p->metrics.count; k++)
		if (values[k].samples)
			return true;
	return p->tree.nodes[node].samples || p->tree.nodes[node].blocked;
}

/* In FUNCTION mode lines merge with their routine: what ended in it is known only now. */
static void name_kinds(struct profile *p)
{
	if (p->options.mode != PROFILE_FUNCTION)
		return;
	for (size_t i = 0; i < p->tree.count; i++)
		if (p->tree.nodes[i].kind == PROFILE_INTERMEDIATE && has_own(p, i))
			p->tree.nodes[i].kind = PROFILE_LEAF;
}

static int compare_unresolved(const void *pa, const void *pb)
{
	const struct profile_unresolved *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return strcmp(a->module, b->module);
}

static int by_module(const void *pa, const void *pb)
{
	return strcmp(((const struct nameless *)pa)->module, ((const struct nameless *)pb)->module);
}

/* Beside those of merged profiles. */
static int add_nameless(struct profile *p)
{
	for (size_t i = 0; i < p->codes.map.room; i++) {
		const struct code *code = p->codes.map.slots[i].item;
		struct nameless *row, key;

		if (!code || !code->unresolved || !code->shown)
			continue;
		key = (struct nameless){code->module_path, code->address, code->call, 0};
		row = row_map_row(&p->nameless, &key);
		if (!row)
			return HYB_ENOMEM;
		row->samples += code->samples;
	}
	return 0;
}

static int sum_unresolved(struct profile *p)
{
	struct profile_unresolved *rows;
	const struct nameless *from;
	size_t kept = 0;

	if (add_nameless(p))
		return HYB_ENOMEM;
	rows = calloc(p->nameless.count + 1, sizeof(*rows));
	if (!rows)
		return HYB_ENOMEM;
	row_map_sort(&p->nameless, by_module);
	from = p->nameless.rows;
	for (size_t i = 0; i < p->nameless.count; i++) {
		if (!kept || rows[kept - 1].module != from[i].module)
			rows[kept++] = (struct profile_unresolved){.module = from[i].module};
		rows[kept - 1].addresses++;
		rows[kept - 1].samples += from[i].samples;
	}
	qsort(rows, kept, sizeof(*rows), compare_unresolved);
	p->unresolved = rows;
	p->unresolved_count = kept;
	return 0;
}

/* Of each experiment from its first start to its last end. */
static uint64_t sum_wall(const struct profile *p)
{
	uint64_t wall = 0;

	for (size_t i = 0; i < p->span_count; i++)
		if (p->spans[i].last > p->spans[i].first)
			wall += (uint64_t)p->spans[i].last - (uint64_t)p->spans[i].first;
	return wall;
}

/* What probes waited for anything but the GIL. */
static uint64_t sum_blocked(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->tree.count; i++) {
		const struct profile_node *n = &p->tree.nodes[i];

		if (n->kind != PROFILE_PROBE || strcmp(n->name, PROFILE_GIL))
			sum += n->blocked;
	}
	return sum;
}

/* Puts the tree in order, with all that is known by its nodes. */
static int arrange(struct profile *p, enum profile_sort sort, const uint64_t *weight)
{
	size_t count = p->tree.count;
	uint32_t *map = calloc(count, sizeof(*map));
	int r = map ? tree_arrange(&p->tree, sort, weight, map) : HYB_ENOMEM;

	if (!r)
		r = share_move(&p->share, map);
	if (!r)
		r = metric_sums_move(&p->metrics, map, count);
	for (size_t i = 0; !r && i < p->part_count; i++)
		for (size_t k = 0; k < p->parts[i].location->node_count; k++)
			p->parts[i].nodes[k] = map[p->parts[i].nodes[k]];
	free(map);
	return r;
}

/* Divides the shares among the locations; nodes added by that have no spread yet. */
static int balance_all(struct profile *p)
{
	struct balance balance;
	uint32_t before = (uint32_t)p->tree.count;
	int r = balance_init(&balance, &p->tree);

	for (unsigned s = 0; !r && s < SHARE_IN_PLACE; s++) {
		r = balance_share(&balance, &p->tree, &p->share, s);
		for (size_t k = 0; !r && k < p->metrics.count; k++)
			r = balance_share(&balance, &p->tree, &p->metrics.rows[k].growth, s);
	}
	balance_release(&balance);
	for (uint32_t i = before; i < p->tree.count; i++)
		p->tree.nodes[i].spread = i;
	return r;
}

/* In an order of the tree that does not depend on what was added first, so that rounding does not either. */
static int share_all(struct profile *p)
{
	uint64_t *exclusive = NULL;
	uint32_t *probe = NULL;
	size_t count;
	int r = arrange(p, PROFILE_SORT_INCLUSIVE, NULL);

	if (!r && (p->options.split_locations || p->options.split_ranks))
		r = balance_all(p);
	count = p->tree.count;
	if (!r) {
		probe = calloc(count, sizeof(*probe));
		exclusive = calloc(count, sizeof(*exclusive));
		r = probe && exclusive ? 0 : HYB_ENOMEM;
	}
	for (uint32_t i = 1; !r && i < count; i++)
		probe[i] = p->tree.nodes[i].kind == PROFILE_PROBE ? i : probe[p->tree.nodes[i].parent];
	if (!r)
		r = share_out(&p->share, probe, count, false, exclusive);
	for (size_t i = 0; !r && i < count; i++)
		p->tree.nodes[i].exclusive += exclusive[i];
	if (!r)
		r = metric_sums_finish(&p->metrics, &p->tree, probe);
	free(exclusive);
	free(probe);
	return r;
}

int profile_finish(struct profile *p, struct hyb_error *err)
{
	struct profile_quality *q = &p->quality;
	uint64_t base = q->sources & (1u << HYB_SOURCE_WALL) ? q->thread_wall : q->cpu;
	int r;

	q->achieved = base ? (double)q->taken * 1e9 / (double)base : 0;
	cost_finish(q);
	q->wall = sum_wall(p);
	for (uint32_t i = 0; i < p->tree.count; i++)
		p->tree.nodes[i].spread = i;
	r = share_all(p);
	share_release(&p->share);
	if (!r && p->options.spreads)
		r = spreads_cover(&p->mpi.spreads, &p->tree);
	if (!r) {
		for (size_t i = 0; i < p->tree.count; i++)
			p->tree.nodes[i].idle_alone = p->tree.nodes[i].idles ? p->tree.nodes[i].blocked : 0;
		tree_sum(&p->tree);
		name_kinds(p);
		r = waits_sum(&p->tree, &p->quality);
	}
	if (!r) {
		tree_sum(&p->awaits);
		r = arrange(p, p->options.sort, NULL);
	}
	if (!r)
		r = tree_arrange(&p->awaits, PROFILE_SORT_INCLUSIVE, NULL, NULL);
	mpi_finish(&p->mpi);
	p->quality.blocked = sum_blocked(p);
	if (!r)
		r = sum_unresolved(p);
	return r ? error_set(err, r, "out of memory with %zu nodes", p->tree.count) : 0;
}

const struct profile_part *profile_parts(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->part_count;
	return p->parts;
}

size_t profile_count(const struct profile *p)
{
	return p->tree.count;
}

const struct profile_node *profile_nodes(const struct profile *p)
{
	return p->tree.nodes;
}

const struct profile_quality *profile_quality(const struct profile *p)
{
	return &p->quality;
}

const struct profile_metric *profile_metrics(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->metrics.count;
	return p->metrics.finished;
}

const struct profile_value *profile_values(const struct profile *p)
{
	return p->metrics.values;
}

int profile_order(struct profile *p, const double *weight)
{
	uint64_t *weights = tree_weights(weight, p->tree.count);
	int r = weights ? arrange(p, p->options.sort, weights) : HYB_ENOMEM;

	free(weights);
	return r;
}

const struct profile_unresolved *profile_unresolved(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->unresolved_count;
	return p->unresolved;
}

const struct profile_node *profile_awaits(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->awaits.count - 1;
	return p->awaits.nodes + 1;
}

const struct profile_function *profile_functions(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->mpi.functions.count;
	return p->mpi.functions.rows;
}

const struct profile_rank *profile_ranks(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->mpi.ranks.count;
	return p->mpi.ranks.rows;
}

const struct profile_flow *profile_flows(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->mpi.flows.count;
	return p->mpi.flows.rows;
}

const struct profile_volume *profile_volumes(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->mpi.volumes.count;
	return p->mpi.volumes.rows;
}

const struct profile_handle *profile_handles(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->mpi.handles.count;
	return p->mpi.handles.rows;
}

const struct profile_spread *profile_spreads(const struct profile *p)
{
	return p->mpi.spreads.rows;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	tree_release(&p->tree);
	tree_release(&p->awaits);
	share_release(&p->share);
	metric_sums_release(&p->metrics);
	mpi_release(&p->mpi);
	codes_release(&p->codes);
	strings_release(&p->strings);
	row_map_release(&p->seen);
	row_map_release(&p->nameless);
	for (size_t i = 0; i < p->part_count; i++)
		free(p->parts[i].nodes);
	free(p->parts);
	free(p->spans);
	free(p->unresolved);
	free(p);
}
