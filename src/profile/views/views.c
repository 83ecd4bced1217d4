#include "profile/views/views.h"

#include <stdlib.h>
#include <string.h>

#include "profile/state.h"
#include "base/wrap.h"

/* What a node is called where lines of one function are one thing. */
static struct profile_node as_function(const struct profile_node *n)
{
	struct profile_node like = *n;

	if (n->kind == PROFILE_INTERMEDIATE || n->kind == PROFILE_LEAF) {
		like.kind = PROFILE_LEAF;
		like.line = 0;
	}
	return like;
}

/* Whether a node is a line of the very function whose probe stands above it. */
static bool is_line_of(const struct profile_node *n, const struct profile_node *above)
{
	return n->kind == PROFILE_LEAF && above->kind == PROFILE_PROBE && !strcmp(n->name, above->name) &&
	       !strcmp(n->file, above->file);
}

static struct profile_node as_line(const struct profile_node *n)
{
	struct profile_node like = *n;

	if (n->kind == PROFILE_INTERMEDIATE)
		like.kind = PROFILE_LEAF;
	return like;
}

static struct profile_node as_module(const struct profile_node *n, const char *empty)
{
	struct profile_node like = {.name = n->module, .file = empty, .module = empty, .kind = PROFILE_LEAF};

	if (n->kind == PROFILE_ROOT) { /* what waited outside all probes is no part of the whole */
		like.kind = PROFILE_ROOT;
		like.name = n->name;
	} else if (n->kind == PROFILE_PROBE) {
		like.kind = PROFILE_PROBE;
		like.name = *n->module ? n->module : "[probes]";
	} else if (!*n->module) {
		like.name = n->kind == PROFILE_INCOMPLETE ? "[incomplete]" : "[code without a module]";
	}
	return like;
}

static struct profile_node as_file(const struct profile_node *n, const char *empty)
{
	struct profile_node like = {.name = n->file, .file = empty, .module = empty, .kind = PROFILE_LEAF};

	if (!*n->file && (n->kind == PROFILE_INTERMEDIATE || n->kind == PROFILE_LEAF) && *n->module) {
		like.name = PROFILE_NO_FILE;
		like.module = n->module;
	} else if (!*n->file) {
		like = as_module(n, empty);
	}
	return like;
}

struct flat {
	const struct profile_node *nodes;
	size_t count;
	enum profile_by by;
	struct tree table; /* rows are children of its root */
	uint32_t *row_of; /* by node: its row */
	const struct profile_value *values; /* of the nodes */
	size_t metrics;
	struct profile_value *sums; /* by row of the table */
	uint32_t *open; /* by row: nodes of it on the way from the root to where the walk is */
};

static struct profile_node row_identity(const struct flat *flat, uint32_t i)
{
	const struct profile_node *n = &flat->nodes[i];

	switch (flat->by) {
	case PROFILE_BY_FUNCTION:
		return is_line_of(n, &flat->nodes[n->parent]) ? flat->nodes[n->parent] : as_function(n);
	case PROFILE_BY_LINE:
		return as_line(n);
	case PROFILE_BY_MODULE:
		return as_module(n, flat->nodes[0].module);
	case PROFILE_BY_FILE:
		return as_file(n, flat->nodes[0].module);
	case PROFILE_BY_THREAD:
		break;
	}
	/* all below a thread's node is that thread's; row_of has the rows of nodes in front */
	return n->parent ? flat->table.nodes[flat->row_of[n->parent]] : *n;
}

/* What belongs to a thing alone. */
static void values_add(struct profile_value *to, const struct profile_value *from)
{
	wrap_add(&to->exclusive, from->exclusive);
	to->samples += from->samples;
}

static bool values_are_there(const struct profile_value *values, size_t count)
{
	for (size_t k = 0; values && k < count; k++)
		if (values[k].exclusive || values[k].samples)
			return true;
	return false;
}

/* Of metrics, what belongs to the rows alone. */
static int make_sums(struct flat *flat)
{
	if (!flat->metrics)
		return 0;
	flat->sums = calloc(flat->table.count, flat->metrics * sizeof(*flat->sums));
	if (!flat->sums)
		return HYB_ENOMEM;
	for (size_t i = 0; i < flat->count; i++)
		for (size_t k = 0; k < flat->metrics; k++)
			values_add(&flat->sums[flat->row_of[i] * flat->metrics + k],
				&flat->values[i * flat->metrics + k]);
	return 0;
}

/* Sorts a tree and the values of its nodes, by what is asked for or by weights. */
static int arrange(struct tree *tree, struct profile_value **values, size_t metrics, enum profile_sort sort,
	const uint64_t *weights)
{
	uint32_t *map = calloc(tree->count, sizeof(*map));
	int r = map ? tree_arrange(tree, sort, weights, map) : HYB_ENOMEM;

	if (!r)
		r = values_move(values, metrics, map, tree->count);
	free(map);
	return r;
}

/* Finds each node's row and adds what belongs to the node alone. */
static int fill_rows(struct flat *flat)
{
	for (uint32_t i = 0; i < flat->count; i++) {
		const struct profile_node *n = &flat->nodes[i];
		struct profile_node like = row_identity(flat, i);
		uint32_t row = tree_child(&flat->table, 0, &like);
		struct profile_node *r = &flat->table.nodes[row];

		if (!row)
			return HYB_ENOMEM;
		flat->row_of[i] = row;
		r->calls += n->calls;
		r->samples += n->samples;
		r->exclusive += n->exclusive;
		r->blocked += n->blocked;
		r->idle_alone += n->idle_alone;
		r->ready += n->ready;
	}
	return make_sums(flat);
}

static bool is_python_leaf(const struct profile_node *row)
{
	return row->kind == PROFILE_LEAF && row->python;
}

/* Moves what is in one row alone to another. */
static void join_values(struct flat *flat, uint32_t to, uint32_t from)
{
	for (size_t k = 0; k < flat->metrics; k++) {
		values_add(&flat->sums[to * flat->metrics + k], &flat->sums[from * flat->metrics + k]);
		flat->sums[from * flat->metrics + k] = (struct profile_value){0};
	}
}

/*
 * A Python function that has a probe has one row: what samples saw of it where its calls
 * were only counted is in it, too. Strings are interned.
 */
static int join_rows(struct flat *flat)
{
	struct profile_node *rows = flat->table.nodes;
	uint32_t *to = calloc(flat->table.count, sizeof(*to));

	if (!to)
		return HYB_ENOMEM;
	for (size_t a = 1; a < flat->table.count; a++)
		for (uint32_t b = 1; is_python_leaf(&rows[a]) && !to[a] && b < flat->table.count; b++)
			if (rows[b].kind == PROFILE_PROBE && rows[b].name == rows[a].name &&
				rows[b].file == rows[a].file) {
				to[a] = b;
				join_values(flat, b, (uint32_t)a);
				rows[b].samples += rows[a].samples;
				rows[b].exclusive += rows[a].exclusive;
				rows[b].blocked += rows[a].blocked;
				rows[b].ready += rows[a].ready;
				rows[b].idle_alone += rows[a].idle_alone;
				rows[a].samples = rows[a].exclusive = rows[a].blocked = rows[a].ready =
					rows[a].idle_alone = 0;
				rows[a].kind = PROFILE_ROOT; /* which is shown if there is something in it */
			}
	for (size_t i = 0; i < flat->count; i++)
		if (to[flat->row_of[i]])
			flat->row_of[i] = to[flat->row_of[i]];
	free(to);
	return 0;
}

/* Walks the tree; a node's time counts for its row unless it is inside another node of that row. */
static void add_inclusive(struct flat *flat)
{
	uint32_t on = 0; /* the node whose children are being walked */

	for (uint32_t i = 0; i < flat->count; i++) {
		const struct profile_node *n = &flat->nodes[i];

		for (; i && on != n->parent; on = flat->nodes[on].parent)
			flat->open[flat->row_of[on]]--;
		if (!flat->open[flat->row_of[i]]++) {
			flat->table.nodes[flat->row_of[i]].inclusive += n->inclusive;
			flat->table.nodes[flat->row_of[i]].idle += n->idle;
			for (size_t k = 0; k < flat->metrics; k++)
				wrap_add(&flat->sums[flat->row_of[i] * flat->metrics + k].inclusive,
					flat->values[i * flat->metrics + k].inclusive);
		}
		on = i;
	}
}

static bool is_shown(const struct flat *flat, size_t i)
{
	const struct profile_node *row = &flat->table.nodes[i];
	bool grew = values_are_there(flat->sums ? flat->sums + i * flat->metrics : NULL, flat->metrics);

	if (row->kind == PROFILE_ROOT)
		return row->exclusive || row->blocked || row->samples || grew;
	if (flat->by == PROFILE_BY_LINE && row->kind == PROFILE_LEAF)
		return row->line || row->samples || row->blocked || grew;
	return true;
}

/* Takes the rows that are shown out of the table. */
static struct profile_tree take_rows(struct flat *flat)
{
	struct profile_tree rows = {flat->table.nodes, flat->sums, 0, flat->metrics};

	for (size_t i = 1; i < flat->table.count; i++) {
		if (!is_shown(flat, i))
			continue;
		if (flat->metrics) /* never in front of what is read */
			memmove(flat->sums + rows.count * flat->metrics, flat->sums + i * flat->metrics,
				flat->metrics * sizeof(*flat->sums));
		rows.nodes[rows.count] = rows.nodes[i];
		rows.nodes[rows.count].next_sibling = 0;
		rows.nodes[rows.count++].declared = 0; /* there may be several */
	}
	flat->table.nodes = NULL;
	flat->sums = NULL;
	return rows;
}

int profile_flat(const struct profile *profile, enum profile_by by, enum profile_sort sort,
	struct profile_tree *ret_rows)
{
	struct profile_view view = profile_view(profile);

	return profile_view_flat(&view, by, sort, ret_rows);
}

int profile_view_flat(const struct profile_view *view, enum profile_by by, enum profile_sort sort,
	struct profile_tree *ret_rows)
{
	struct flat flat = {.nodes = view->nodes,
		.count = view->count,
		.by = by,
		.values = view->values,
		.metrics = view->metrics};
	int r = tree_init(&flat.table, "");

	if (r)
		return r;
	flat.row_of = calloc(flat.count, sizeof(*flat.row_of));
	r = flat.row_of ? fill_rows(&flat) : HYB_ENOMEM;
	if (!r && by == PROFILE_BY_FUNCTION)
		r = join_rows(&flat);
	if (!r)
		flat.open = calloc(flat.table.count, sizeof(*flat.open));
	if (!r && flat.open) {
		add_inclusive(&flat);
		r = arrange(&flat.table, &flat.sums, flat.metrics, sort, NULL);
	} else {
		r = HYB_ENOMEM;
	}
	if (!r)
		*ret_rows = take_rows(&flat);
	free(flat.sums);
	free(flat.row_of);
	free(flat.open);
	tree_release(&flat.table);
	return r;
}

/* Indices by their weights. */
static int compare_weights(const void *pa, const void *pb, void *data)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const uint64_t *weights = data;

	if (weights[a] != weights[b])
		return weights[a] < weights[b] ? 1 : -1;
	return a < b ? -1 : a > b;
}

int profile_flat_order(struct profile_tree *rows, const double *weight)
{
	struct profile_node *nodes = calloc(rows->count + 1, sizeof(*nodes));
	uint32_t *order = calloc(rows->count + 1, sizeof(*order)),
		 *map = calloc(rows->count + 1, sizeof(*map));
	uint64_t *weights = tree_weights(weight, rows->count);
	int r = HYB_ENOMEM;

	if (order && nodes && map && weights) {
		for (uint32_t i = 0; i < rows->count; i++)
			order[i] = i;
		qsort_r(order, rows->count, sizeof(*order), compare_weights, weights);
		for (uint32_t i = 0; i < rows->count; i++) {
			nodes[i] = rows->nodes[order[i]];
			map[order[i]] = i;
		}
		r = values_move(&rows->values, rows->metrics, map, rows->count);
	}
	if (!r) {
		free(rows->nodes);
		rows->nodes = nodes;
		nodes = NULL;
	}
	free(order);
	free(nodes);
	free(map);
	free(weights);
	return r;
}

/* The tree upside down while it is made. */
struct reversed {
	struct tree tree;
	const struct profile_view *view;
	struct profile_value *values; /* by node, room for tree.capacity of them */
	size_t capacity;
};

static int make_room(struct reversed *r)
{
	size_t metrics = r->view->metrics;
	struct profile_value *grown;

	if (!metrics || r->tree.capacity == r->capacity)
		return 0;
	grown = realloc(r->values, r->tree.capacity * metrics * sizeof(*grown));
	if (!grown)
		return HYB_ENOMEM;
	memset(grown + r->capacity * metrics, 0, (r->tree.capacity - r->capacity) * metrics * sizeof(*grown));
	r->values = grown;
	r->capacity = r->tree.capacity;
	return 0;
}

/* What came by a node of the way; `end`: it ends there. */
static void pass_values(struct reversed *r, uint32_t at, size_t from, bool end)
{
	size_t metrics = r->view->metrics;

	for (size_t k = 0; k < metrics; k++) {
		const struct profile_value *v = &r->view->values[from * metrics + k];
		struct profile_value *to = &r->values[at * metrics + k];

		if (end)
			wrap_add(&to->exclusive, v->exclusive);
		else
			to->samples += v->samples;
	}
}

/* Adds the way from a node up to the root; nodes on it gather samples. */
static int add_way(struct reversed *r, const struct profile_node *from)
{
	const struct profile_node *nodes = r->view->nodes, *n = from;
	struct tree *tree = &r->tree;
	uint32_t at = 0;

	for (unsigned depth = 0; depth <= PROFILE_REVERSE_DEPTH; depth++) {
		struct profile_node like = r->view->callsites ? as_line(n) : as_function(n);

		if (like.kind == PROFILE_LEAF && n != from)
			like.kind = PROFILE_INTERMEDIATE;
		if (n == nodes)
			like.name = "[outside all probes]";
		at = tree_child(tree, at, &like);
		if (!at || make_room(r))
			return HYB_ENOMEM;
		tree->nodes[at].samples += from->samples;
		pass_values(r, at, (size_t)(from - nodes), false);
		if (n == from)
			tree->nodes[at].calls += n->calls;
		if (n == nodes || !n->parent)
			break;
		n = &nodes[n->parent];
	}
	tree->nodes[at].exclusive += from->exclusive;
	tree->nodes[at].blocked += from->blocked;
	tree->nodes[at].ready += from->ready;
	tree->nodes[at].idle_alone += from->idle_alone;
	pass_values(r, at, (size_t)(from - nodes), true);
	tree->nodes[0].samples += from->samples;
	pass_values(r, 0, (size_t)(from - nodes), false);
	return 0;
}

static bool has_something(const struct profile_view *view, size_t i)
{
	const struct profile_node *n = &view->nodes[i];

	return n->exclusive || n->blocked || n->samples ||
	       values_are_there(view->metrics ? view->values + i * view->metrics : NULL, view->metrics);
}

struct profile_view profile_view(const struct profile *profile)
{
	return (struct profile_view){.nodes = profile->tree.nodes,
		.values = profile_values(profile),
		.count = profile->tree.count,
		.metrics = profile->metrics.count,
		.callsites = profile->options.mode == PROFILE_CALLSITE,
		.sort = profile->options.sort};
}

int profile_reverse(const struct profile *profile, struct profile_tree *ret_tree)
{
	struct profile_view view = profile_view(profile);

	return profile_view_reverse(&view, ret_tree);
}

int profile_view_reverse(const struct profile_view *view, struct profile_tree *ret_tree)
{
	struct reversed way = {.view = view};
	size_t metrics = view->metrics;
	int r = tree_init(&way.tree, view->nodes[0].name);

	if (r)
		return r;
	r = make_room(&way);
	for (size_t i = 0; !r && i < view->count; i++)
		if (has_something(view, i))
			r = add_way(&way, &view->nodes[i]);
	if (!r) {
		tree_sum(&way.tree);
		metric_sums_sum(way.values, metrics, way.tree.nodes, way.tree.count);
		r = arrange(&way.tree, &way.values, metrics, view->sort, NULL);
	}
	if (r) {
		tree_release(&way.tree);
		free(way.values);
		return r;
	}
	*ret_tree = (struct profile_tree){
		.nodes = way.tree.nodes, .values = way.values, .count = way.tree.count, .metrics = metrics};
	return 0;
}

int profile_tree_order(struct profile_tree *view, const double *weight)
{
	struct tree tree = {.nodes = view->nodes, .count = view->count};
	uint64_t *weights = tree_weights(weight, view->count);
	int r = weights ? arrange(&tree, &view->values, view->metrics, PROFILE_SORT_INCLUSIVE, weights)
			: HYB_ENOMEM;

	view->nodes = tree.nodes;
	free(weights);
	return r;
}

/* Marks the outermost calls of MPI, and all above them. */
static uint8_t *mark_calls(const struct profile *profile)
{
	const struct profile_node *nodes = profile->tree.nodes;
	uint8_t *marks = calloc(profile->tree.count, sizeof(*marks)); /* 1: inside MPI, 2: leads there */

	if (!marks)
		return NULL;
	for (size_t i = 1; i < profile->tree.count; i++)
		marks[i] = nodes[nodes[i].parent].mpi || marks[nodes[i].parent];
	for (size_t i = profile->tree.count; i-- > 1;) {
		if (!marks[i] && nodes[i].mpi)
			marks[i] = 2;
		if (marks[i] == 2)
			marks[nodes[i].parent] = 2;
	}
	return marks;
}

static void add_mpi_sums(struct profile_node *to, const struct profile_node *from)
{
	to->calls += from->calls;
	to->messages += from->messages;
	to->sent += from->sent;
	to->received += from->received;
	tree_extend_range(to, from->least, from->most);
}

/* Copies what is marked; `map`: new index by old one. */
static int copy_calls(const struct profile *profile, const uint8_t *marks, uint32_t *map, struct tree *tree)
{
	for (size_t i = 1; i < profile->tree.count; i++) {
		const struct profile_node *n = &profile->tree.nodes[i];
		struct profile_node *to;

		if (marks[i] != 2)
			continue;
		map[i] = tree_child(tree, map[n->parent], n);
		if (!map[i])
			return HYB_ENOMEM;
		to = &tree->nodes[map[i]];
		to->place = n->place;
		if (!n->mpi)
			continue;
		add_mpi_sums(to, n);
		to->exclusive = n->inclusive;
	}
	for (size_t i = tree->count; i-- > 1;)
		add_mpi_sums(&tree->nodes[tree->nodes[i].parent], &tree->nodes[i]);
	return 0;
}

int profile_mpi_tree(const struct profile *profile, struct profile_tree *ret_tree)
{
	uint8_t *marks = mark_calls(profile);
	uint32_t *map = calloc(profile->tree.count, sizeof(*map));
	struct tree tree = {0};
	int r = marks && map ? tree_init(&tree, "[MPI]") : HYB_ENOMEM;

	if (!r)
		r = copy_calls(profile, marks, map, &tree);
	if (!r) {
		tree_sum(&tree);
		r = tree_arrange(&tree, profile->options.sort, NULL, NULL);
	}
	if (!r)
		*ret_tree = (struct profile_tree){.nodes = tree.nodes, .count = tree.count};
	else
		tree_release(&tree);
	free(marks);
	free(map);
	return r;
}

void profile_tree_release(struct profile_tree *tree)
{
	free(tree->nodes);
	free(tree->values);
	*tree = (struct profile_tree){0};
}
