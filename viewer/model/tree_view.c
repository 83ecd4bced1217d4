#include "viewer/model/tree_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY 0.5 /* percent below which nobody looks for what is missing */
#define FEW 64u /* children that are sorted by comparing them */

/* A child while it is sorted. */
struct sorted {
	uint64_t key; /* more comes first */
	uint32_t node;
};

static void release_nodes(struct tree_view *f)
{
	free(f->state);
	free(f->first);
	free(f->next);
	free(f->sorted);
	free(f->rest);
	free(f->scratch);
	free(f->changes);
	match_free(f->past);
}

void tree_view_release(struct tree_view *f)
{
	release_nodes(f);
	free(f->rows);
	free(f->zooms);
	*f = (struct tree_view){0};
}

/* ---------------------------------------------------------------- order */

bool tree_view_is_visible(const struct tree_view *f, uint32_t node)
{
	double least = f->threshold / 100 * tree_view_whole(f);

	return tree_view_size(f, node) >= (f->source.pairs && !f->changes ? floor(least) : least);
}

/* Orders as the numbers do; NAN is last in both directions. */
static uint64_t key_of(double value, bool ascending)
{
	uint64_t bits;

	if (isnan(value))
		return 0;
	value += 0.0; /* no -0 */
	memcpy(&bits, &value, sizeof(bits));
	bits = bits >> 63 ? ~bits : bits | 1ull << 63;
	return ascending ? ~bits : bits;
}

/* By the largest change at or below a node. */
static bool sorts_by_change(const struct tree_view *f)
{
	size_t column = (f->sort - TREE_METRICS) / TREE_PARTS;

	return f->sort == FIELD_CHANGE || (f->changes && f->sort == tree_metric(column, TREE_PART_CHANGE));
}

static double sort_value(const struct tree_view *f, uint32_t node)
{
	if (f->source.pairs && sorts_by_change(f))
		return tree_view_size(f, node);
	/* As in the report: what is idle does not count, and stands behind what does. */
	return tree_view_value(f, node, f->sort == FIELD_INCLUSIVE ? FIELD_PERCENT : f->sort);
}

static int compare_sorted(const void *pa, const void *pb)
{
	const struct sorted *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* By bytes of the key, the last ones first: a million children must not take longer than a key may. Those
 * that are equal stay as they stand. False: memory is out. */
static bool sort_many(struct sorted *items, size_t count)
{
	struct sorted *other = malloc(count * sizeof(*other)), *from = items, *to = other, *swap;

	if (!other)
		return false;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t starts[257] = {0};

		for (size_t i = 0; i < count; i++)
			starts[256 - (from[i].key >> shift & 255)]++;
		if (starts[256 - (from[0].key >> shift & 255)] == count)
			continue;
		for (unsigned b = 1; b < 257; b++)
			starts[b] += starts[b - 1];
		for (size_t i = 0; i < count; i++)
			to[starts[255 - (from[i].key >> shift & 255)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(other);
	return true;
}

static void link_children(struct tree_view *f, uint32_t node, const struct sorted *items, size_t count)
{
	f->first[node] = count ? items[0].node : 0;
	for (size_t i = 0; i < count; i++)
		f->next[items[i].node] = i + 1 < count ? items[i + 1].node : 0;
	f->sorted[node] = f->generation;
}

/* Children that are large enough into items[]; the others are counted, if they are worth a word. */
static size_t collect_children(struct tree_view *f, uint32_t node, struct sorted *items)
{
	const struct profile_node *nodes = f->source.nodes;
	double rest = 0;
	uint32_t hidden = 0;
	size_t count = 0;

	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next_sibling) {
		if (tree_view_is_visible(f, c)) {
			items[count++] = (struct sorted){key_of(sort_value(f, c), f->ascending), c};
		} else {
			rest += f->source.pairs ? fabs(tree_view_change(f, c, false))
						: (double)nodes[c].inclusive;
			hidden++;
		}
	}
	f->rest[node] = rest * 100 >= TINY * tree_view_whole(f) ? hidden : 0;
	return count;
}

/* Sorted children that are large enough, linked by view->next. 0: none. */
static uint32_t children_of(struct tree_view *f, uint32_t node)
{
	const struct profile_node *nodes = f->source.nodes;
	struct sorted few[FEW], *items = few;
	size_t count = 0;

	if (f->sorted[node] == f->generation)
		return f->first[node];
	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next_sibling)
		count++;
	if (count > FEW)
		items = malloc(count * sizeof(*items));
	if (!items) /* they stay in the order of the tree */
		return nodes[node].first_child;
	count = collect_children(f, node, items);
	if (count <= FEW || !sort_many(items, count))
		qsort(items, count, sizeof(*items), compare_sorted);
	link_children(f, node, items, count);
	if (items != few)
		free(items);
	return f->first[node];
}

/* ----------------------------------------------------------------- rows */

static bool add_row(struct tree_view *f, struct tree_row row)
{
	if (f->count == f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 256;
		struct tree_row *grown = realloc(f->rows, capacity * sizeof(*grown));

		if (!grown)
			return false;
		f->rows = grown;
		f->capacity = capacity;
	}
	f->rows[f->count++] = row;
	return true;
}

/* One frame that only calls the next: read like a stack, such chains stay in one column. */
static bool is_chained(const struct tree_view *f, uint32_t node)
{
	const struct profile_node *n = &f->source.nodes[node], *above = &f->source.nodes[n->parent];

	return f->first[n->parent] == node && !f->next[node] && !f->rest[n->parent] &&
	       n->kind == PROFILE_INTERMEDIATE && above->kind == n->kind && !above->exclusive &&
	       !above->blocked;
}

/* The row of a child, or of what is left out (rest > 0), below that of its parent. */
static bool add_below(struct tree_view *f, uint32_t above, uint32_t node, uint32_t rest)
{
	struct tree_row row = {.node = node, .rest = rest, .above = above};

	if (!f->source.flat) {
		const struct tree_row *parent = &f->rows[above];

		row.level = parent->level + 1;
		row.guides = parent->guides;
		if (parent->branch && !parent->last)
			row.guides |= 1u << (parent->indent - 1);
		row.branch = rest || !is_chained(f, node);
		row.last = rest || (!f->next[node] && !f->rest[f->source.nodes[node].parent]);
		row.indent = parent->indent;
		if (row.branch && row.indent < TREE_INDENT_MAX)
			row.indent++;
	}
	return add_row(f, row);
}

/* Depth-first over what is open, without recursion. */
static bool fill_rows(struct tree_view *f)
{
	uint32_t node = f->root, row = 0, child;

	f->count = 0;
	if (!f->source.flat && !add_row(f, (struct tree_row){.node = node}))
		return false;
	for (;;) {
		child = f->state[node] & TREE_OPEN ? children_of(f, node) : 0;
		if (!child && f->state[node] & TREE_OPEN && f->rest[node] &&
			!add_below(f, row, node, f->rest[node]))
			return false;
		while (!child && node != f->root) {
			uint32_t parent = f->source.nodes[node].parent;

			child = f->next[node];
			row = f->source.flat ? 0 : f->rows[row].above;
			if (!child && f->rest[parent] && !add_below(f, row, parent, f->rest[parent]))
				return false;
			node = parent;
		}
		if (!child)
			return true;
		if (!add_below(f, row, child, 0))
			return false;
		node = child;
		row = (uint32_t)f->count - 1;
	}
}

static int arrange(struct tree_view *f)
{
	return fill_rows(f) ? 0 : HYB_ENOMEM;
}

static bool is_below(const struct tree_view *f, uint32_t node, uint32_t root)
{
	while (node > root)
		node = f->source.nodes[node].parent;
	return node == root;
}

size_t tree_view_row(const struct tree_view *f, uint32_t node)
{
	for (;; node = f->source.nodes[node].parent) {
		for (size_t i = 0; i < f->count; i++)
			if (f->rows[i].node == node && !f->rows[i].rest)
				return i;
		if (!node)
			return 0;
	}
}

/* ---------------------------------------------------------------- source */

/* The unit and width of times are those of the report: by the largest. */
static void choose_unit(struct tree_view *f)
{
	const struct tree_source *s = &f->source;
	uint64_t most = s->nodes[0].inclusive;
	int digits;

	if (s->pairs && s->pairs[0].before.inclusive > most)
		most = s->pairs[0].before.inclusive;
	f->unit = most >= 1000000000 ? 1e9 : most >= 1000000 ? 1e6 : 1e3;
	digits = snprintf(NULL, 0, "%.3f", (double)most / f->unit);
	f->width = digits > 8 ? digits : 8;
}

static bool new_nodes(struct tree_view *f)
{
	size_t count = f->source.count;

	f->state = calloc(count, sizeof(*f->state));
	f->first = calloc(count, sizeof(*f->first));
	f->next = calloc(count, sizeof(*f->next));
	f->sorted = calloc(count, sizeof(*f->sorted));
	f->rest = calloc(count, sizeof(*f->rest));
	f->scratch = calloc(f->source.columns ? 2 * f->source.columns->count : 1, sizeof(*f->scratch));
	f->generation = 1;
	return f->state && f->first && f->next && f->sorted && f->rest && f->scratch;
}

int tree_view_set(
	struct tree_view *f, const struct tree_source *source, bool adopt, bool loose, double seconds)
{
	struct tree_view made = {
		.source = *source, .sort = f->sort, .ascending = f->ascending, .threshold = f->threshold};
	int r = HYB_ENOMEM;

	for (size_t i = 0; i < 26; i++)
		made.marks[i] = TREE_NONE;
	if (new_nodes(&made) && !tree_view_weigh(&made)) {
		choose_unit(&made);
		made.state[0] = TREE_OPEN;
		r = adopt && f->source.count ? tree_view_adopt(&made, f, loose, seconds) : 0;
	}
	if (!r)
		r = arrange(&made);
	if (r) {
		tree_view_release(&made);
		return r;
	}
	tree_view_release(f);
	*f = made;
	return 0;
}

/* Children have to be sorted again, or others are large enough. */
static int resort(struct tree_view *f)
{
	f->generation++;
	return arrange(f);
}

int tree_view_sort(struct tree_view *f, unsigned column, bool ascending)
{
	f->sort = column;
	f->ascending = ascending;
	if (!f->source.count)
		return 0;
	return tree_view_weigh(f) ? HYB_ENOMEM : resort(f);
}

int tree_view_threshold(struct tree_view *f, double percent)
{
	f->threshold = percent;
	return f->source.count ? resort(f) : 0;
}

/* ------------------------------------------------------- open and closed */

bool tree_view_has_children(const struct tree_view *f, uint32_t node)
{
	return f->source.nodes[node].first_child;
}

bool tree_view_is_open(const struct tree_view *f, uint32_t node)
{
	return f->state[node] & TREE_OPEN;
}

static void set_open(struct tree_view *f, uint32_t node, bool open)
{
	f->state[node] = (uint8_t)((f->state[node] & ~TREE_OPEN) | (open ? TREE_OPEN : 0));
}

int tree_view_open(struct tree_view *f, uint32_t node, bool open)
{
	if (open == tree_view_is_open(f, node) || !tree_view_has_children(f, node))
		return 0;
	set_open(f, node, open);
	return arrange(f);
}

/* Those that can be opened go into the queue; the number of all. */
static size_t queue_children(struct tree_view *f, uint32_t node, uint32_t *queue, size_t *tail)
{
	size_t count = 0;

	for (uint32_t c = children_of(f, node); c; c = f->next[c], count++)
		if (tree_view_has_children(f, c) && *tail < TREE_ROWS_MAX)
			queue[(*tail)++] = c;
	return count;
}

int tree_view_open_all(struct tree_view *f, uint32_t node, bool *ret_all)
{
	uint32_t *queue = malloc(TREE_ROWS_MAX * sizeof(*queue));
	size_t head = 0, tail = 0, rows = 0;

	if (!queue)
		return HYB_ENOMEM;
	queue[tail++] = node;
	while (head < tail && rows < TREE_ROWS_MAX) {
		set_open(f, queue[head], true);
		rows += queue_children(f, queue[head++], queue, &tail);
	}
	*ret_all = head == tail;
	free(queue);
	return arrange(f);
}

/* The node behind all that is below it. */
static size_t end_of(const struct tree_view *f, uint32_t node)
{
	const struct profile_node *nodes = f->source.nodes;

	while (node && !nodes[node].next_sibling)
		node = nodes[node].parent;
	return node ? nodes[node].next_sibling : f->source.count;
}

int tree_view_close_all(struct tree_view *f, uint32_t node)
{
	memset(f->state + node, 0, end_of(f, node) - node);
	return arrange(f);
}

int tree_view_reveal(struct tree_view *f, uint32_t node)
{
	while (f->root && !is_below(f, node, f->root))
		tree_view_zoom_back(f);
	for (uint32_t at = node; at != f->root;) {
		at = f->source.nodes[at].parent;
		set_open(f, at, true);
	}
	f->cursor = node;
	return arrange(f);
}

/* The visible child with most inclusive time, or change; 0: none. */
static uint32_t hottest(struct tree_view *f, uint32_t node, double *ret_size)
{
	uint32_t best = 0;

	*ret_size = 0;
	for (uint32_t c = children_of(f, node); c; c = f->next[c]) {
		double size = tree_view_size(f, c);

		if (!best || size > *ret_size) {
			best = c;
			*ret_size = size;
		}
	}
	return best;
}

int tree_view_hot_path(struct tree_view *f, uint32_t node)
{
	for (;;) {
		const struct profile_node *n = &f->source.nodes[node];
		double size, alone = f->source.pairs ? fabs(tree_view_change(f, node, true))
						     : (double)n->exclusive;
		uint32_t child = hottest(f, node, &size);

		if (!child || (alone > size && node != f->root))
			break;
		set_open(f, node, true);
		node = child;
	}
	f->cursor = node;
	return arrange(f);
}

/* ---------------------------------------------------------- zoom and back */

int tree_view_zoom(struct tree_view *f, uint32_t node)
{
	uint32_t *grown;

	if (node == f->root)
		return 0;
	grown = realloc(f->zooms, (f->zoom_count + 1) * sizeof(*grown));
	if (!grown)
		return HYB_ENOMEM;
	f->zooms = grown;
	f->zooms[f->zoom_count++] = f->root;
	f->root = node;
	set_open(f, node, true);
	return arrange(f);
}

bool tree_view_zoom_back(struct tree_view *f)
{
	if (!f->zoom_count)
		return false;
	f->root = f->zooms[--f->zoom_count];
	return !arrange(f);
}

void tree_view_push(struct tree_view *f)
{
	if (f->back_count && f->back[f->back_count - 1] == f->cursor)
		return;
	if (f->back_count == TREE_BACK_MAX) {
		memmove(f->back, f->back + 1, (TREE_BACK_MAX - 1) * sizeof(*f->back));
		f->back_count--;
	}
	f->back[f->back_count++] = f->cursor;
}

uint32_t tree_view_pop(struct tree_view *f)
{
	return f->back_count ? f->back[--f->back_count] : TREE_NONE;
}
