/* Search in a tree. */
#include <stdlib.h>

#include "base/map.h"
#include "viewer/model/tree_view.h"

/* What is known of names, by their addresses: a tree has few beside its nodes. */
struct names {
	const regex_t *expression;
	struct map known; /* name: FITS or FITS_NOT */
};

static char FITS, FITS_NOT; /* what addresses stand for */

static bool fits(struct names *names, const char *name)
{
	void *known = map_get(&names->known, MAP_KEY((uintptr_t)name));

	if (!known) {
		known = regexec(names->expression, name, 0, NULL, 0) ? &FITS_NOT : &FITS;
		map_put(&names->known, MAP_KEY((uintptr_t)name), known); /* or it is asked again */
	}
	return known == &FITS;
}

static bool node_fits(const struct tree_view *f, struct names *names, uint32_t node)
{
	return (node || !f->source.flat) && fits(names, f->source.nodes[node].name);
}

/* Children in the order of rows if they were sorted, else in that of the tree. */
static uint32_t seek_visible(const struct tree_view *f, uint32_t node)
{
	while (node && !tree_view_is_visible(f, node))
		node = f->source.nodes[node].next_sibling;
	return node;
}

static uint32_t first_of(const struct tree_view *f, uint32_t node)
{
	return f->sorted[node] == f->generation ? f->first[node]
						: seek_visible(f, f->source.nodes[node].first_child);
}

static uint32_t next_of(const struct tree_view *f, uint32_t node)
{
	const struct profile_node *n = &f->source.nodes[node];

	return f->sorted[n->parent] == f->generation ? f->next[node] : seek_visible(f, n->next_sibling);
}

/* The node behind this one; TREE_NONE: it was the last. */
static uint32_t step(const struct tree_view *f, uint32_t node)
{
	uint32_t to = first_of(f, node);

	while (!to && node != f->root) {
		to = next_of(f, node);
		node = f->source.nodes[node].parent;
	}
	return to ? to : TREE_NONE;
}

static uint32_t find_forwards(const struct tree_view *f, struct names *names, bool here)
{
	uint32_t node = here ? f->cursor : step(f, f->cursor);

	for (; node != TREE_NONE; node = step(f, node))
		if (node_fits(f, names, node))
			return node;
	for (node = f->root; node != TREE_NONE; node = step(f, node)) {
		if (node_fits(f, names, node))
			return node;
		if (node == f->cursor)
			break;
	}
	return TREE_NONE;
}

static uint32_t find_backwards(const struct tree_view *f, struct names *names, bool here)
{
	uint32_t best = TREE_NONE;

	if (here && node_fits(f, names, f->cursor))
		return f->cursor;
	for (uint32_t node = f->root; node != TREE_NONE; node = step(f, node)) {
		if (node == f->cursor && best != TREE_NONE)
			break;
		if (node_fits(f, names, node))
			best = node;
	}
	return best;
}

uint32_t tree_view_find(struct tree_view *f, const regex_t *expression, int direction, bool here)
{
	struct names names = {.expression = expression};
	uint32_t node = direction > 0 ? find_forwards(f, &names, here) : find_backwards(f, &names, here);

	map_release(&names.known);
	return node;
}
