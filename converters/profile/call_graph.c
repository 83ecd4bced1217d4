#include "converters/profile/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "converters/formats.h"
#include "base/error.h"

struct walk {
	struct call_graph *graph;
	const struct convert_profile *p;
	uint64_t *all; /* by node: costs with all below */
	uint32_t *way; /* functions from the root to where the walk is */
	size_t count; /* of the way */
	uint32_t *open; /* by function: how often it is on the way */
	uint32_t *function_of; /* by node */
	size_t *depth; /* by node: how much of the way leads to it, itself included */
};

static uint64_t own_cost(
	const struct convert_profile *p, const struct call_graph *graph, uint32_t i, size_t k)
{
	int64_t value;

	if (k < 2)
		return k ? p->nodes[i].samples : profile_alone(&p->nodes[i]);
	value = p->values[i * p->metric_count + graph->metrics[k]].exclusive;
	return value > 0 ? (uint64_t)value : 0;
}

/* ROW_NONE: memory is out. */
static uint32_t function_of(struct call_graph *graph, const struct profile_node *n, const char *empty)
{
	struct call_function key = {.name = n->name, .file = n->file, .module = *n->file ? empty : n->module};
	uint32_t number = row_map_number(&graph->functions, &key);
	unsigned line = n->kind == PROFILE_PROBE ? n->line : n->declared;
	struct call_function *row;

	if (number == ROW_NONE)
		return ROW_NONE;
	row = (struct call_function *)graph->functions.rows + number;
	if (!row->object || !*row->object)
		row->object = n->module;
	if (!row->line)
		row->line = line;
	row->calls += n->kind == PROFILE_PROBE ? n->calls : 0;
	return number;
}

/* All functions and costs of nodes, before the walk. */
static int prepare(struct walk *w)
{
	struct call_graph *graph = w->graph;
	const struct convert_profile *p = w->p;

	for (uint32_t i = 0; i < p->count; i++) {
		bool own = i && convert_is_own_line(p, i);

		w->function_of[i] = own ? w->function_of[p->nodes[i].parent]
					: function_of(graph, &p->nodes[i], p->nodes[0].module);
		if (w->function_of[i] == ROW_NONE)
			return HYB_ENOMEM;
		for (size_t k = 0; k < graph->width; k++)
			w->all[i * graph->width + k] = own_cost(p, graph, i, k);
	}
	for (size_t i = p->count; i-- > 1;)
		for (size_t k = 0; k < graph->width; k++)
			w->all[p->nodes[i].parent * graph->width + k] += w->all[i * graph->width + k];
	memcpy(graph->total, w->all, graph->width * sizeof(*graph->total));
	return HYB_OK;
}

/* A row's number, with zeros in *costs for a new one. ROW_NONE: memory is out. */
static uint32_t row_with_costs(struct row_map *table, const void *key, uint64_t **costs, size_t width)
{
	size_t count = table->count;
	uint32_t row = row_map_number(table, key);

	if (table->count > count) {
		if (!array_room(costs, count, width * sizeof(**costs)))
			return ROW_NONE;
		memset(*costs + count * width, 0, width * sizeof(**costs));
	}
	return row;
}

static int spend(struct walk *w, uint32_t node)
{
	struct call_graph *graph = w->graph;
	const struct profile_node *n = &w->p->nodes[node];
	struct call_line key = {w->function_of[node], n->line ? n->line : n->declared};
	uint32_t line = row_with_costs(&graph->lines, &key, &graph->spent, graph->width);

	if (line == ROW_NONE)
		return HYB_ENOMEM;
	for (size_t k = 0; k < graph->width; k++) {
		uint64_t cost = own_cost(w->p, graph, node, k);

		graph->spent[line * graph->width + k] += cost;
		graph->exclusive[key.function * graph->width + k] += cost;
	}
	return HYB_OK;
}

/* The call that leads to a node; it carries nothing if that function is open already. */
static int add_call(struct walk *w, uint32_t node)
{
	struct call_graph *graph = w->graph;
	const struct profile_node *n = &w->p->nodes[node], *above = &w->p->nodes[n->parent];
	struct call_edge key = {.from = w->function_of[n->parent],
		.to = w->function_of[node],
		.line = above->line ? above->line : above->declared};
	uint32_t edge = row_with_costs(&graph->edges, &key, &graph->carried, graph->width);

	if (edge == ROW_NONE)
		return HYB_ENOMEM;
	((struct call_edge *)graph->edges.rows)[edge].calls += n->kind == PROFILE_PROBE ? n->calls : 0;
	for (size_t k = 0; !w->open[key.to] && k < graph->width; k++)
		graph->carried[edge * graph->width + k] += w->all[node * graph->width + k];
	return HYB_OK;
}

/* Goes on to a node, whose parents' way is still open. */
static int visit(struct walk *w, uint32_t node)
{
	struct call_graph *graph = w->graph;
	const uint32_t function = w->function_of[node];
	size_t above = node ? w->depth[w->p->nodes[node].parent] : 0;

	while (w->count > above)
		w->open[w->way[--w->count]]--;
	w->depth[node] = above;
	if (node && convert_is_own_line(w->p, node))
		return spend(w, node);
	if ((node && add_call(w, node)) || !ARRAY_ROOM(w->way, w->count))
		return HYB_ENOMEM;
	for (size_t k = 0; !w->open[function] && k < graph->width; k++)
		graph->inclusive[function * graph->width + k] += w->all[node * graph->width + k];
	w->way[w->count++] = function;
	w->open[function]++;
	w->depth[node] = w->count;
	return spend(w, node);
}

static int run(struct walk *w)
{
	struct call_graph *graph = w->graph;
	size_t functions;
	int r = prepare(w);

	if (r)
		return r;
	functions = graph->functions.count;
	graph->exclusive = calloc(functions * graph->width, sizeof(*graph->exclusive));
	graph->inclusive = calloc(functions * graph->width, sizeof(*graph->inclusive));
	w->open = calloc(functions, sizeof(*w->open));
	if (!graph->exclusive || !graph->inclusive || !w->open)
		return HYB_ENOMEM;
	for (uint32_t i = 0; !r && i < w->p->count; i++)
		r = visit(w, i);
	return r;
}

/* Costs: time, samples, metrics that only grow. */
static int choose_costs(struct call_graph *graph, const struct convert_profile *p)
{
	graph->metrics = calloc(p->metric_count + 2, sizeof(*graph->metrics));
	graph->total = calloc(p->metric_count + 2, sizeof(*graph->total));
	if (!graph->metrics || !graph->total)
		return HYB_ENOMEM;
	graph->width = 2;
	for (size_t k = 0; p->values && k < p->metric_count; k++)
		if (!p->metrics[k].level)
			graph->metrics[graph->width++] = (uint32_t)k;
	return HYB_OK;
}

int call_graph_make(struct call_graph *graph, const struct convert_profile *p)
{
	struct walk w = {.graph = graph, .p = p};
	int r;

	*graph = (struct call_graph){
		.functions = {.row_size = sizeof(struct call_function),
			.key_size = offsetof(struct call_function, object)},
		.edges = {.row_size = sizeof(struct call_edge),
			.key_size = offsetof(struct call_edge, calls)},
		.lines = {.row_size = sizeof(struct call_line), .key_size = sizeof(struct call_line)},
	};
	r = choose_costs(graph, p);
	if (r)
		return r;
	w.all = calloc(p->count * graph->width, sizeof(*w.all));
	w.function_of = calloc(p->count, sizeof(*w.function_of));
	w.depth = calloc(p->count, sizeof(*w.depth));
	r = w.all && w.function_of && w.depth ? run(&w) : HYB_ENOMEM;
	free(w.all);
	free(w.function_of);
	free(w.depth);
	free(w.way);
	free(w.open);
	return r;
}

void call_graph_release(struct call_graph *graph)
{
	row_map_release(&graph->functions);
	row_map_release(&graph->edges);
	row_map_release(&graph->lines);
	free(graph->exclusive);
	free(graph->inclusive);
	free(graph->carried);
	free(graph->spent);
	free(graph->total);
	free(graph->metrics);
	*graph = (struct call_graph){0};
}

size_t call_graph_weight(
	const struct call_graph *graph, const struct convert_profile *p, struct hyb_error *err)
{
	if (p->weight == SIZE_MAX)
		return 0;
	for (size_t k = 2; k < graph->width; k++)
		if (graph->metrics[k] == p->weight)
			return k;
	error_set(err, HYB_EFORMAT,
		"--metric %.100s goes up and down, for which the format has no place; collapsed, speedscope, "
		"pprof and csv have",
		p->metrics[p->weight].name);
	return SIZE_MAX;
}
