#include "profile/views.h"

#include <stdlib.h>
#include <string.h>

#include "profile/state.h"

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

	if (n->kind == PROFILE_ROOT || n->kind == PROFILE_PROBE) {
		like.kind = PROFILE_PROBE;
		like.name = *n->module ? n->module : "[probes]";
	} else if (!*n->module) {
		like.name = n->kind == PROFILE_INCOMPLETE ? "[incomplete]" : "[code without a module]";
	}
	return like;
}

struct flat {
	const struct profile_node *nodes;
	size_t count;
	enum profile_by by;
	struct tree table; /* rows are children of its root */
	uint32_t *row_of; /* by node: its row */
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
	case PROFILE_BY_THREAD:
		break;
	}
	/* all below a thread's node is that thread's; row_of has the rows of nodes in front */
	return n->parent ? flat->table.nodes[flat->row_of[n->parent]] : *n;
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
	}
	return 0;
}

static bool is_python_leaf(const struct profile_node *row)
{
	return row->kind == PROFILE_LEAF && row->python;
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
				rows[b].samples += rows[a].samples;
				rows[b].exclusive += rows[a].exclusive;
				rows[b].blocked += rows[a].blocked;
				rows[a].samples = rows[a].exclusive = rows[a].blocked = 0;
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
		if (!flat->open[flat->row_of[i]]++)
			flat->table.nodes[flat->row_of[i]].inclusive += n->inclusive;
		on = i;
	}
}

static bool is_shown(const struct flat *flat, const struct profile_node *row)
{
	if (row->kind == PROFILE_ROOT)
		return row->exclusive || row->blocked || row->samples;
	if (flat->by == PROFILE_BY_LINE && row->kind == PROFILE_LEAF)
		return row->line || row->samples;
	return true;
}

static int copy_rows(struct flat *flat, struct profile_flat *ret_flat)
{
	struct profile_row *rows = calloc(flat->table.count, sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return HYB_ENOMEM;
	for (size_t i = 1; i < flat->table.count; i++) {
		const struct profile_node *n = &flat->table.nodes[i];

		if (!is_shown(flat, n))
			continue;
		rows[count++] = (struct profile_row){.kind = n->kind,
			.guess = n->guess,
			.python = n->python,
			.name = n->name,
			.file = n->file,
			.module = n->module,
			.line = n->line,
			.calls = n->calls,
			.samples = n->samples,
			.inclusive = n->inclusive,
			.exclusive = n->exclusive,
			.blocked = n->blocked};
	}
	*ret_flat = (struct profile_flat){rows, count};
	return 0;
}

int profile_flat(const struct profile *profile, enum profile_by by, enum profile_sort sort,
	struct profile_flat *ret_flat)
{
	struct flat flat = {.nodes = profile->tree.nodes, .count = profile->tree.count, .by = by};
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
		r = tree_arrange(&flat.table, sort, NULL, NULL);
	} else {
		r = HYB_ENOMEM;
	}
	if (!r)
		r = copy_rows(&flat, ret_flat);
	free(flat.row_of);
	free(flat.open);
	tree_release(&flat.table);
	return r;
}

void profile_flat_release(struct profile_flat *flat)
{
	free(flat->rows);
	*flat = (struct profile_flat){0};
}

/* Adds the way from a node up to the root; nodes on it gather samples. */
static int add_way(const struct profile *p, struct tree *tree, const struct profile_node *from)
{
	const struct profile_node *nodes = p->tree.nodes, *n = from;
	bool lines = p->options.mode == PROFILE_CALLSITE;
	uint32_t at = 0;

	for (unsigned depth = 0; depth <= PROFILE_REVERSE_DEPTH; depth++) {
		struct profile_node like = lines ? as_line(n) : as_function(n);

		if (like.kind == PROFILE_LEAF && n != from)
			like.kind = PROFILE_INTERMEDIATE;
		at = tree_child(tree, at, &like);
		if (!at)
			return HYB_ENOMEM;
		tree->nodes[at].samples += from->samples;
		if (n == from)
			tree->nodes[at].calls += n->calls;
		if (n == nodes || !n->parent)
			break;
		n = &nodes[n->parent];
	}
	tree->nodes[at].exclusive += from->exclusive;
	tree->nodes[at].blocked += from->blocked;
	tree->nodes[0].samples += from->samples;
	return 0;
}

int profile_reverse(const struct profile *profile, struct profile_tree *ret_tree)
{
	struct tree tree;
	int r = tree_init(&tree, profile->tree.nodes[0].name);

	if (r)
		return r;
	for (size_t i = 0; !r && i < profile->tree.count; i++) {
		const struct profile_node *n = &profile->tree.nodes[i];

		if (n->exclusive || n->blocked || n->samples)
			r = add_way(profile, &tree, n);
	}
	if (!r) {
		tree_sum(&tree);
		r = tree_arrange(&tree, profile->options.sort, NULL, NULL);
	}
	if (r) {
		tree_release(&tree);
		return r;
	}
	*ret_tree = (struct profile_tree){tree.nodes, tree.count};
	return 0;
}

void profile_tree_release(struct profile_tree *tree)
{
	free(tree->nodes);
	*tree = (struct profile_tree){0};
}
