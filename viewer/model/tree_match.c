/* The same nodes in two trees. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/row_index.h"
#include "viewer/model/tree_view.h"

#define NOT_ASKED 0u
#define NOT_THERE UINT32_MAX

struct match {
	const struct profile_node *from, *to;
	size_t from_count, to_count;
	bool loose;
	uint32_t *map; /* by node of `from`: NOT_ASKED, NOT_THERE or the node of `to` + 1 */
	uint8_t *entered; /* by node of `to`: its children are in the table */
	struct row_index index; /* of nodes of `to` */
	uint32_t *way; /* from a node up to one whose counterpart is known */
	size_t way_room;
};

static unsigned line_of(const struct match *m, const struct profile_node *n)
{
	return m->loose && n->kind == PROFILE_INTERMEDIATE ? 0 : n->line;
}

/* `parent`: of `to`. */
static uint32_t hash_of(const struct match *m, uint32_t parent, const struct profile_node *n)
{
	uint64_t h = (HASH_START ^ parent) * 0x9e3779b97f4a7c15u;

	h = hash_text(h ^ n->kind, n->name);
	h = hash_text(h ^ line_of(m, n), path_base(n->file));
	h *= 0x9e3779b97f4a7c15u; /* lines that follow each other must not stand in one row */
	return (uint32_t)(h ^ h >> 32);
}

static bool same(const struct match *m, const struct profile_node *a, const struct profile_node *b)
{
	return a->kind == b->kind && line_of(m, a) == line_of(m, b) && !strcmp(a->name, b->name) &&
	       !strcmp(path_base(a->file), path_base(b->file));
}

static bool enter_children(struct match *m, uint32_t parent)
{
	if (m->entered[parent])
		return true;
	for (uint32_t c = m->to[parent].first_child; c; c = m->to[c].next_sibling)
		if (!row_index_add(&m->index, hash_of(m, parent, &m->to[c]), c))
			return false;
	m->entered[parent] = 1;
	return true;
}

/* Of two that are the same as `n` the one of the same path, else of the same module, else the larger one. */
static bool is_better(
	const struct profile_node *n, const struct profile_node *a, const struct profile_node *b)
{
	bool a_same = !strcmp(a->file, n->file), b_same = !strcmp(b->file, n->file);

	if (a_same == b_same) {
		a_same = !strcmp(a->module, n->module);
		b_same = !strcmp(b->module, n->module);
	}
	return a_same != b_same ? a_same : a->inclusive > b->inclusive;
}

/* The child of `parent` that is the same as `n`, or NOT_THERE. */
static uint32_t find_child(struct match *m, uint32_t parent, const struct profile_node *n)
{
	uint32_t best = NOT_THERE, hash = hash_of(m, parent, n), c;

	if (!m->to[parent].first_child || !enter_children(m, parent))
		return NOT_THERE;
	for (size_t at = 0; row_index_next(&m->index, hash, &at, &c);)
		if (m->to[c].parent == parent && same(m, &m->to[c], n) &&
			(best == NOT_THERE || is_better(n, &m->to[c], &m->to[best])))
			best = c;
	return best;
}

struct match *match_new(const struct profile_node *from, size_t from_count, const struct profile_node *to,
	size_t to_count, bool loose)
{
	struct match *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct match){
		.from = from, .to = to, .from_count = from_count, .to_count = to_count, .loose = loose};
	m->map = calloc(from_count, sizeof(*m->map));
	m->entered = calloc(to_count, sizeof(*m->entered));
	if (m->map && m->entered) {
		m->map[0] = 1;
		return m;
	}
	match_free(m);
	return NULL;
}

void match_free(struct match *m)
{
	if (!m)
		return;
	free(m->map);
	free(m->entered);
	row_index_release(&m->index);
	free(m->way);
	free(m);
}

uint32_t match_find(struct match *m, uint32_t node)
{
	size_t length = 0;
	uint32_t found;

	for (; m->map[node] == NOT_ASKED; node = m->from[node].parent) {
		if (length == m->way_room) {
			uint32_t *grown = realloc(m->way, (2 * length + 64) * sizeof(*grown));

			if (!grown)
				return TREE_NONE;
			m->way = grown;
			m->way_room = 2 * length + 64;
		}
		m->way[length++] = node;
	}
	found = m->map[node];
	while (length-- > 0) {
		if (found != NOT_THERE) {
			found = find_child(m, found - 1, &m->from[m->way[length]]);
			found += found != NOT_THERE;
		}
		m->map[m->way[length]] = found;
	}
	return found == NOT_THERE ? TREE_NONE : found - 1;
}

/* -------------------------------------------------- what stays the same */

/* Marks in the tree before what has something open below. */
static void mark_ways(const struct tree_view *from)
{
	for (uint32_t i = 1; i < from->source.count; i++)
		for (uint32_t at = i; at && from->state[i] & TREE_OPEN;) {
			at = from->source.nodes[at].parent;
			if (from->state[at] & TREE_BELOW)
				break;
			from->state[at] |= TREE_BELOW;
		}
}

/* From the root down to all that was open. A node that was split is open in all its parts. */
static void adopt_state(struct tree_view *f, const struct tree_view *from, struct match *to_past)
{
	const struct profile_node *nodes = f->source.nodes;
	uint32_t node = 0;

	mark_ways(from);
	for (;;) {
		uint32_t past = match_find(to_past, node), child = 0;

		if (past != TREE_NONE) {
			f->state[node] =
				from->state[past] & TREE_OPEN && nodes[node].first_child ? TREE_OPEN : 0;
			if (from->state[past])
				child = nodes[node].first_child;
		}
		while (!child && node) {
			child = nodes[node].next_sibling;
			node = nodes[node].parent;
		}
		if (!child)
			break;
		node = child;
	}
	for (size_t i = 0; i < from->source.count; i++)
		from->state[i] &= TREE_OPEN;
}

/* The same node, or the nearest one above it that is there. */
static uint32_t find_near(struct match *m, uint32_t node)
{
	while (match_find(m, node) == TREE_NONE)
		node = m->from[node].parent;
	return match_find(m, node);
}

static uint32_t find_mark(struct match *m, uint32_t node)
{
	return node == TREE_NONE ? TREE_NONE : match_find(m, node);
}

/* Roots that are not there are left out. */
static int adopt_zooms(struct tree_view *f, const struct tree_view *from, struct match *to_new)
{
	uint32_t root = match_find(to_new, from->root);

	if (root == TREE_NONE || !from->zoom_count)
		return 0;
	f->zooms = calloc(from->zoom_count, sizeof(*f->zooms));
	if (!f->zooms)
		return HYB_ENOMEM;
	for (size_t i = 0; i < from->zoom_count; i++) {
		uint32_t to = match_find(to_new, from->zooms[i]);

		if (to != TREE_NONE)
			f->zooms[f->zoom_count++] = to;
	}
	f->root = root;
	return 0;
}

int tree_view_adopt(struct tree_view *f, const struct tree_view *from, bool loose, double seconds)
{
	struct match *to_past =
		match_new(f->source.nodes, f->source.count, from->source.nodes, from->source.count, loose);
	struct match *to_new =
		match_new(from->source.nodes, from->source.count, f->source.nodes, f->source.count, loose);
	int r = to_past && to_new ? adopt_zooms(f, from, to_new) : HYB_ENOMEM;

	if (!r) {
		adopt_state(f, from, to_past);
		f->state[f->root] |= TREE_OPEN;
		f->cursor = find_near(to_new, from->cursor);
		for (size_t i = 0; i < 26; i++)
			f->marks[i] = find_mark(to_new, from->marks[i]);
		for (unsigned i = 0; i < from->back_count; i++)
			f->back[f->back_count++] = find_near(to_new, from->back[i]);
	}
	if (!r && seconds > 0) {
		f->past = to_past;
		f->past_nodes = from->source.nodes;
		f->past_seconds = seconds;
		to_past = NULL;
	}
	match_free(to_past);
	match_free(to_new);
	return r;
}
