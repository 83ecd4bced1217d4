#include "profile/balance.h"

#include <stdlib.h>

#include "profile/slice.h"

/* What is shared out, and what it is shared out by: a row of struct share. */
struct value {
	uint64_t amount, weight;
};

/* For one source of samples. */
struct work {
	const struct balance *balance;
	struct tree *tree;
	struct share *share;
	struct value *from; /* the source's, by node of the tree */
	uint64_t *kept; /* by node of the tree: what it gets of its own samples */
	uint64_t *claimed; /* by probe of the tree: what its samples stand for */
	uint64_t *passed; /* by node of `all` (weights), then by probe of the tree (ns) */
	uint64_t *whole; /* by node of `all`: its weight */
	uint64_t *found; /* by node of `all`: what the tree without locations gives it */
	uint64_t *excess; /* by node of `all`: of that, what is handed on */
	uint32_t *first, *next; /* by probe of `all`: its nodes with an excess, in order; 0: the end */
	uint32_t *path; /* room for one */
};

static void find_probes(const struct tree *tree, uint32_t *probe)
{
	for (uint32_t i = 1; i < tree->count; i++)
		probe[i] = tree->nodes[i].kind == PROFILE_PROBE ? i : probe[tree->nodes[i].parent];
}

int balance_init(struct balance *b, const struct tree *tree)
{
	*b = (struct balance){.count = tree->count};
	b->like = calloc(tree->count, sizeof(*b->like));
	b->probe = calloc(tree->count, sizeof(*b->probe));
	if (!b->like || !b->probe || tree_init(&b->all, ""))
		return HYB_ENOMEM;
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct profile_node *n = &tree->nodes[i];
		struct profile_node program = {.kind = PROFILE_PROBE, .name = n->program};

		b->like[i] = tree_child(&b->all, b->like[n->parent], n->parent ? n : &program);
		if (!b->like[i])
			return HYB_ENOMEM;
	}
	b->all_probe = calloc(b->all.count, sizeof(*b->all_probe));
	if (!b->all_probe)
		return HYB_ENOMEM;
	find_probes(tree, b->probe);
	find_probes(&b->all, b->all_probe);
	return 0;
}

/* The shares in the tree without locations. */
static int share_all(struct work *w)
{
	const struct balance *b = w->balance;
	struct share all = {0};
	int r = 0;

	for (size_t i = 0; !r && i < b->count; i++) {
		const struct value *v = &w->from[i];
		uint64_t *whole = &w->whole[b->like[i]];

		if (v->amount)
			r = share_add_time(&all, NULL, 0, b->like[i], v->amount);
		if (!r && v->weight)
			r = share_add_samples(&all, NULL, 0, b->like[i], v->weight, 1);
		if (__builtin_add_overflow(*whole, v->weight, whole))
			*whole = UINT64_MAX;
	}
	if (!r)
		r = share_out(&all, b->all_probe, b->all.count, false, w->found);
	for (size_t i = 0; !r && i < b->count; i++) {
		uint32_t like = b->like[i];
		uint64_t room = w->whole[like] - w->passed[like];
		uint64_t weight = w->from[i].weight < room ? w->from[i].weight : room;

		if (!weight)
			continue;
		w->kept[i] = slice(w->passed[like], weight, w->whole[like], w->found[like]);
		w->passed[like] += weight;
		w->claimed[b->probe[i]] += w->kept[i];
	}
	share_release(&all);
	return r;
}

/* No location keeps more than it ran. */
static void cut(struct work *w)
{
	const struct balance *b = w->balance;

	for (size_t i = 0; i < b->count; i++)
		w->passed[i] = 0;
	for (size_t i = 0; i < b->count; i++) {
		uint32_t p = b->probe[i];
		uint64_t all = w->kept[i], ran = w->from[p].amount;

		if (!all || w->claimed[p] <= ran)
			continue;
		w->kept[i] = slice(w->passed[p], all, w->claimed[p], ran);
		w->passed[p] += all;
		w->excess[b->like[i]] += all - w->kept[i];
	}
	for (uint32_t n = (uint32_t)b->all.count; n-- > 1;) {
		if (!w->excess[n])
			continue;
		w->next[n] = w->first[b->all_probe[n]];
		w->first[b->all_probe[n]] = n;
	}
}

/* The node below `probe` on the same path as that from the probe of `node` in `all` down to `node`; made if
 * it is not there. 0 when memory is out. */
static uint32_t find_node(struct work *w, uint32_t probe, uint32_t node)
{
	const struct tree *all = &w->balance->all;
	size_t depth = 0;

	for (; node != w->balance->like[probe]; node = all->nodes[node].parent)
		w->path[depth++] = node;
	while (probe && depth)
		probe = tree_child(w->tree, probe, &all->nodes[w->path[--depth]]);
	return probe;
}

/* Gives a probe the time that its samples do not stand for, from the nodes with an excess. What they do not
 * have stays at the probe itself. */
static int fill(struct work *w, uint32_t probe, uint64_t lack)
{
	uint32_t *first = &w->first[w->balance->like[probe]];

	while (lack && *first) {
		uint64_t part = lack < w->excess[*first] ? lack : w->excess[*first];
		uint32_t to = find_node(w, probe, *first);

		if (!to || share_add_time(w->share, NULL, SHARE_IN_PLACE, to, part))
			return HYB_ENOMEM;
		lack -= part;
		w->excess[*first] -= part;
		if (!w->excess[*first])
			*first = w->next[*first];
	}
	return lack ? share_add_time(w->share, NULL, SHARE_IN_PLACE, probe, lack) : 0;
}

static int balance_source(struct work *w)
{
	int r = share_all(w);

	if (!r)
		cut(w);
	for (uint32_t i = 0; !r && i < w->balance->count; i++) {
		if (w->from[i].amount > w->claimed[i])
			r = fill(w, i, w->from[i].amount - w->claimed[i]);
		if (!r && w->kept[i])
			r = share_add_time(w->share, NULL, SHARE_IN_PLACE, i, w->kept[i]);
	}
	return r;
}

/* Whether a share has anything of a source; what goes down is left as it is. */
static bool is_shared(const struct share *share, unsigned source)
{
	const struct share_row *rows = share->rows.rows;
	bool any = false;

	for (size_t i = 0; i < share->rows.count; i++) {
		if (rows[i].source == source && rows[i].amount > INT64_MAX)
			return false;
		any |= rows[i].source == source;
	}
	return any;
}

static void take(struct share *share, unsigned source, struct value *from)
{
	struct share_row *rows = share->rows.rows;

	for (size_t i = 0; i < share->rows.count; i++) {
		if (rows[i].source != source)
			continue;
		from[rows[i].node] = (struct value){rows[i].amount, rows[i].weight};
		rows[i].amount = rows[i].weight = 0;
	}
}

int balance_share(const struct balance *b, struct tree *tree, struct share *share, unsigned source)
{
	struct work w = {.balance = b, .tree = tree, .share = share};
	uint64_t *sums;
	uint32_t *lists;
	int r = HYB_ENOMEM;

	if (!is_shared(share, source))
		return 0;
	w.from = calloc(b->count, sizeof(*w.from));
	w.kept = sums = calloc(3 * b->count + 3 * b->all.count, sizeof(*sums));
	lists = calloc(3 * b->all.count, sizeof(*lists));
	if (w.from && sums && lists) {
		w.claimed = sums + b->count;
		w.passed = w.claimed + b->count; /* `all` has no more nodes than the tree */
		w.whole = w.passed + b->count;
		w.found = w.whole + b->all.count;
		w.excess = w.found + b->all.count;
		w.first = lists;
		w.next = lists + b->all.count;
		w.path = w.next + b->all.count;
		take(share, source, w.from);
		r = balance_source(&w);
	}
	free(lists);
	free(sums);
	free(w.from);
	return r;
}

void balance_release(struct balance *b)
{
	tree_release(&b->all);
	free(b->all_probe);
	free(b->like);
	free(b->probe);
	*b = (struct balance){0};
}
