#include "profile/views/tree.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static uint32_t hash_node(uint32_t parent, const struct profile_node *n)
{
	uint64_t h = mix(parent, (uint64_t)n->line << 9 | (uint64_t)n->guess << 8 | n->kind);

	h = mix(h, (uintptr_t)n->name);
	h = mix(h, (uintptr_t)n->file);
	return (uint32_t)mix(h, (uintptr_t)n->module);
}

static bool same_identity(const struct profile_node *a, const struct profile_node *b)
{
	return a->name == b->name && a->line == b->line && a->file == b->file && a->module == b->module &&
	       a->kind == b->kind && a->guess == b->guess;
}

int tree_init(struct tree *tree, const char *root_name)
{
	struct tree t = {.count = 1, .capacity = FIRST_CAPACITY};

	t.nodes = calloc(t.capacity, sizeof(*t.nodes));
	if (!t.nodes)
		return HYB_ENOMEM;
	t.nodes[0] = (struct profile_node){
		.kind = PROFILE_ROOT, .idles = true, .name = root_name, .file = "", .module = ""};
	*tree = t;
	return 0;
}

void tree_release(struct tree *tree)
{
	free(tree->nodes);
	row_index_release(&tree->index);
	*tree = (struct tree){0};
}

static int tree_grow(struct tree *tree)
{
	size_t capacity = tree->capacity * 2;
	struct profile_node *nodes;

	if (capacity > UINT32_MAX)
		return HYB_ENOMEM;
	nodes = realloc(tree->nodes, capacity * sizeof(*nodes));
	if (!nodes)
		return HYB_ENOMEM;
	tree->nodes = nodes;
	tree->capacity = capacity;
	return 0;
}

/* Behind tree_arrange(), which gave the nodes other numbers. */
static int index_again(struct tree *tree)
{
	for (size_t i = tree->index.count + 1; i < tree->count; i++)
		if (!row_index_add(
			    &tree->index, hash_node(tree->nodes[i].parent, &tree->nodes[i]), (uint32_t)i))
			return HYB_ENOMEM;
	return 0;
}

uint32_t tree_child(struct tree *tree, uint32_t parent, const struct profile_node *like)
{
	uint32_t hash = hash_node(parent, like), i;

	if (tree->index.count + 1 < tree->count && index_again(tree))
		return 0;
	for (size_t at = 0; row_index_next(&tree->index, hash, &at, &i);) {
		struct profile_node *n = &tree->nodes[i];

		if (n->parent != parent || !same_identity(n, like))
			continue;
		n->python |= like->python; /* so that it does not matter who came first */
		n->mpi |= like->mpi;
		return i;
	}
	if ((tree->count == tree->capacity && tree_grow(tree)) ||
		!row_index_add(&tree->index, hash, (uint32_t)tree->count))
		return 0;
	tree->nodes[tree->count] = (struct profile_node){
		.parent = parent,
		.kind = like->kind,
		.guess = like->guess,
		.python = like->python,
		.mpi = like->mpi,
		.idles = tree->nodes[parent].idles && (like->kind != PROFILE_PROBE || like->idles),
		.name = like->name,
		.file = like->file,
		.module = like->module,
		.line = like->line,
		.declared = like->declared,
	};
	return (uint32_t)tree->count++;
}

void tree_sum(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		tree->nodes[i].inclusive = tree->nodes[i].exclusive + tree->nodes[i].blocked;
		tree->nodes[i].idle = tree->nodes[i].idle_alone;
	}
	for (size_t i = tree->count; i-- > 1;) {
		tree->nodes[tree->nodes[i].parent].inclusive += tree->nodes[i].inclusive;
		tree->nodes[tree->nodes[i].parent].idle += tree->nodes[i].idle;
	}
}

struct order {
	const struct profile_node *nodes;
	const uint64_t *weight;
	enum profile_sort sort;
};

static uint64_t sort_value(const struct profile_node *n, enum profile_sort sort)
{
	switch (sort) {
	case PROFILE_SORT_EXCLUSIVE:
		return profile_alone(n);
	case PROFILE_SORT_SAMPLES:
		return n->samples;
	case PROFILE_SORT_CALLS:
		return n->calls;
	case PROFILE_SORT_INCLUSIVE:
		break;
	}
	return profile_whole(n);
}

static int compare_names(const struct profile_node *a, const struct profile_node *b)
{
	int d = strcmp(a->name, b->name);

	if (!d)
		d = strcmp(a->file, b->file);
	if (!d)
		d = strcmp(a->module, b->module);
	if (!d)
		d = COMPARE(a->line, b->line);
	if (!d)
		d = COMPARE(a->kind, b->kind);
	return d ? d : a->guess - b->guess;
}

static int compare_siblings(const void *pa, const void *pb, void *data)
{
	const struct order *o = data;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct profile_node *a = &o->nodes[ia], *b = &o->nodes[ib];
	int d;

	/* 0, "no place", is behind all others */
	if (a->place != b->place)
		return a->place - 1 < b->place - 1 ? -1 : 1;
	if (o->weight)
		d = COMPARE(o->weight[ib], o->weight[ia]);
	else
		d = COMPARE(sort_value(b, o->sort), sort_value(a, o->sort));
	if (!d)
		d = COMPARE(b->inclusive, a->inclusive);
	return d ? d : compare_names(a, b);
}

/* Children of node i, in order: list[start[i]] up to list[start[i + 1]]. start[] is zero before. */
static void list_children(
	const struct tree *tree, struct order *order, uint32_t *start, uint32_t *list, uint32_t *next)
{
	size_t count = tree->count;

	for (size_t i = 1; i < count; i++)
		start[tree->nodes[i].parent + 1]++;
	for (size_t i = 0; i < count; i++)
		start[i + 1] += start[i];
	memcpy(next, start, count * sizeof(*next));
	for (size_t i = 1; i < count; i++)
		list[next[tree->nodes[i].parent]++] = (uint32_t)i;
	for (size_t i = 0; i < count; i++)
		if (start[i + 1] - start[i] > 1)
			qsort_r(list + start[i], start[i + 1] - start[i], sizeof(*list), compare_siblings,
				order);
}

/* map[old index] = depth-first number. */
static void number_nodes(const uint32_t *start, const uint32_t *list, uint32_t *stack, uint32_t *map)
{
	size_t depth = 0;
	uint32_t number = 0;

	stack[depth++] = 0;
	while (depth) {
		uint32_t i = stack[--depth];

		map[i] = number++;
		for (uint32_t to = start[i + 1]; to > start[i];)
			stack[depth++] = list[--to];
	}
}

/* Nodes move to their new places, with new links. */
static void place_nodes(struct tree *tree, struct profile_node *target, const uint32_t *map, uint32_t *last)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct profile_node *n = &target[map[i]];

		*n = tree->nodes[i];
		n->parent = map[n->parent];
		n->first_child = n->next_sibling = 0;
	}
	memset(last, 0, tree->count * sizeof(*last));
	for (uint32_t i = 1; i < tree->count; i++) {
		uint32_t parent = target[i].parent;

		if (last[parent])
			target[last[parent]].next_sibling = i;
		else
			target[parent].first_child = i;
		last[parent] = i;
	}
	free(tree->nodes);
	row_index_release(&tree->index);
	tree->nodes = target;
	tree->capacity = tree->count;
}

int tree_arrange(struct tree *tree, enum profile_sort sort, const uint64_t *weight, uint32_t *ret_map)
{
	struct order order = {.nodes = tree->nodes, .weight = weight, .sort = sort};
	size_t count = tree->count;
	uint32_t *start = calloc(count + 1, sizeof(*start));
	uint32_t *list = malloc(count * sizeof(*list));
	uint32_t *stack = malloc(count * sizeof(*stack));
	uint32_t *map = malloc(count * sizeof(*map));
	struct profile_node *target = malloc(count * sizeof(*target));
	int r = HYB_ENOMEM;

	if (start && list && stack && map && target) {
		list_children(tree, &order, start, list, stack);
		number_nodes(start, list, stack, map);
		place_nodes(tree, target, map, stack);
		if (ret_map)
			memcpy(ret_map, map, count * sizeof(*map));
		target = NULL;
		r = 0;
	}
	free(target);
	free(map);
	free(stack);
	free(list);
	free(start);
	return r;
}

uint64_t *tree_weights(const double *weight, size_t count)
{
	uint64_t *weights = calloc(count + 1, sizeof(*weights));

	for (size_t i = 0; weights && i < count; i++) {
		double w = weight[i] + 0.0; /* there is but one 0 */
		uint64_t bits;

		memcpy(&bits, &w, sizeof(bits));
		/* the bits of positive numbers are in their order, those of negative ones in the opposite */
		if (!isnan(w))
			weights[i] = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
	}
	return weights;
}
