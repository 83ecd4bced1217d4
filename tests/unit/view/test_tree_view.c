/* Rows of trees: order, what is open, left out, hidden, searched for, and what survives another tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/model/tree_hide.h"

/* A tree by hand: nodes are made in depth-first order. */
struct made {
	struct profile_node nodes[32];
	uint64_t child_calls[32];
	size_t count;
	struct tree_source source;
};

static uint32_t add(struct made *m, uint32_t parent, uint8_t kind, const char *name, uint64_t exclusive)
{
	uint32_t i = (uint32_t)m->count++, *link = &m->nodes[parent].first_child;

	m->nodes[i] = (struct profile_node){.parent = parent,
		.kind = kind,
		.name = name,
		.file = kind == PROFILE_PROBE || !i ? "" : "/src/a.c",
		.module = kind == PROFILE_PROBE || !i ? "" : "/opt/prog",
		.exclusive = exclusive,
		.samples = exclusive / 10};
	while (i && *link)
		link = &m->nodes[*link].next_sibling;
	if (i)
		*link = i;
	return i;
}

static void finish(struct made *m)
{
	for (size_t i = 0; i < m->count; i++)
		m->nodes[i].inclusive += m->nodes[i].exclusive + m->nodes[i].blocked;
	for (size_t i = m->count; i-- > 1;) {
		const struct profile_node *n = &m->nodes[i];

		m->nodes[n->parent].inclusive += n->inclusive;
		m->child_calls[n->parent] += n->kind == PROFILE_PROBE ? n->calls : m->child_calls[i];
	}
	m->source = (struct tree_source){.nodes = m->nodes,
		.count = m->count,
		.child_calls = m->child_calls,
		.whole = m->nodes[0].inclusive,
		.calls = true,
		.samples = true};
}

/*
 * total 1000
 *   solve (probe, 4 calls) 900
 *     [loop] 700
 *       [kernel] 600: add 400, mul 200
 *       send (probe, 6 calls) 100
 *     add 200
 *   [init] 100: read 97, log 3
 */
enum { TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, SEND, ADD_ALONE, INIT, READ, LOG };

static struct made *make(void)
{
	struct made *m = calloc(1, sizeof(*m));
	uint32_t total, solve, loop, kernel, init, send;

	assert_non_null(m);
	total = add(m, 0, PROFILE_ROOT, "[total]", 0);
	solve = add(m, total, PROFILE_PROBE, "solve", 0);
	loop = add(m, solve, PROFILE_INTERMEDIATE, "loop", 0);
	kernel = add(m, loop, PROFILE_INTERMEDIATE, "kernel", 0);
	add(m, kernel, PROFILE_LEAF, "add", 400);
	add(m, kernel, PROFILE_LEAF, "mul", 200);
	send = add(m, loop, PROFILE_PROBE, "send", 100);
	add(m, solve, PROFILE_LEAF, "add", 200);
	init = add(m, total, PROFILE_INTERMEDIATE, "init", 0);
	add(m, init, PROFILE_LEAF, "read", 97);
	add(m, init, PROFILE_LEAF, "log", 3);
	m->nodes[solve].calls = 4;
	m->nodes[send].calls = 6;
	finish(m);
	return m;
}

static struct tree_view plant(const struct made *m)
{
	struct tree_view f = {0};

	assert_int_equal(tree_view_set(&f, &m->source, false, false, 0), 0);
	return f;
}

/* Nodes of the rows; a rest is its parent, negative. */
static void assert_rows(const struct tree_view *f, size_t count, const int *nodes)
{
	assert_int_equal(f->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(f->rows[i].rest ? -(int)f->rows[i].node : (int)f->rows[i].node, nodes[i]);
}

#define ASSERT_ROWS(view_, ...) \
	assert_rows(view_, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

static void test_open(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);
	bool all;

	ASSERT_ROWS(&f, TOTAL, SOLVE, INIT);
	assert_int_equal(tree_view_open(&f, INIT, true), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, INIT, READ, LOG);
	assert_int_equal(tree_view_open_all(&f, SOLVE, &all), 0);
	assert_true(all);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, SEND, ADD_ALONE, INIT, READ, LOG);
	/* kernel is not the only child of loop: a step to the right; guides lead past it */
	assert_int_equal(f.rows[KERNEL].indent, 3);
	assert_int_equal(f.rows[KERNEL].guides, 3);
	assert_true(f.rows[KERNEL].branch && !f.rows[KERNEL].last && f.rows[SEND].last);
	assert_int_equal(f.rows[LOG].guides, 0);
	assert_int_equal(tree_view_row(&f, SEND), 6);
	assert_int_equal(tree_view_open(&f, SOLVE, false), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, INIT, READ, LOG);
	assert_int_equal(tree_view_row(&f, SEND), 1); /* what it is in */
	assert_int_equal(tree_view_open(&f, SOLVE, true), 0);
	assert_int_equal(f.count, 11); /* what was open below is still */
	assert_int_equal(tree_view_close_all(&f, SOLVE), 0);
	assert_int_equal(tree_view_open(&f, SOLVE, true), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, ADD_ALONE, INIT, READ, LOG);
	tree_view_release(&f);
	free(m);
}

static void test_chain(void **state)
{
	struct made m = {0};
	struct tree_view f;
	bool all;
	uint32_t at = add(&m, 0, PROFILE_ROOT, "[total]", 0);

	at = add(&m, at, PROFILE_INTERMEDIATE, "a", 0);
	at = add(&m, at, PROFILE_INTERMEDIATE, "b", 0);
	at = add(&m, at, PROFILE_INTERMEDIATE, "c", 0);
	add(&m, at, PROFILE_LEAF, "d", 10);
	finish(&m);
	f = plant(&m);
	tree_view_open_all(&f, 0, &all);
	assert_int_equal(f.rows[1].indent, 1);
	assert_int_equal(f.rows[3].indent, 1); /* read like a stack */
	assert_false(f.rows[3].branch);
	assert_int_equal(f.rows[3].level, 3);
	assert_int_equal(f.rows[4].indent, 2);
	tree_view_release(&f);
}

static void test_sort(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);
	bool all;

	tree_view_open_all(&f, 0, &all);
	assert_int_equal(tree_view_sort(&f, FIELD_INCLUSIVE, true), 0);
	ASSERT_ROWS(&f, TOTAL, INIT, LOG, READ, SOLVE, ADD_ALONE, LOOP, SEND, KERNEL, MUL, ADD);
	/* by what none of the others has: these stay as they were */
	assert_int_equal(tree_view_sort(&f, FIELD_CALLS, false), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, SEND, KERNEL, ADD, MUL, ADD_ALONE, INIT, READ, LOG);
	assert_int_equal(tree_view_sort(&f, FIELD_EXCLUSIVE, false), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, ADD_ALONE, LOOP, SEND, KERNEL, ADD, MUL, INIT, READ, LOG);
	tree_view_release(&f);
	free(m);
}

/* As in the report: what only waited stands behind what was busy, however long it took. */
static void test_order_of_idle(void **state)
{
	struct made *m = calloc(1, sizeof(*m));
	struct tree_view f;

	assert_non_null(m);
	add(m, 0, PROFILE_ROOT, "[total]", 0);
	add(m, 0, PROFILE_LEAF, "busy", 100);
	add(m, 0, PROFILE_LEAF, "waits long", 0);
	add(m, 0, PROFILE_LEAF, "waits", 0);
	m->nodes[2].blocked = m->nodes[2].idle = m->nodes[2].idle_alone = 900;
	m->nodes[3].blocked = m->nodes[3].idle = m->nodes[3].idle_alone = 500;
	m->nodes[0].idle = 1400;
	finish(m);
	m->source.whole = 100;
	f = plant(m);
	assert_int_equal(tree_view_sort(&f, FIELD_INCLUSIVE, false), 0);
	ASSERT_ROWS(&f, 0, 1, 2, 3);
	tree_view_release(&f);
	free(m);
}

static void assert_cell(const struct tree_view *f, uint32_t node, unsigned column, const char *expected)
{
	char text[FIGURE_SIZE];

	assert_string_equal(tree_view_cell(f, node, column, text), expected);
}

static void test_columns(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);
	unsigned columns[16];

	assert_cell(&f, SOLVE, FIELD_INCLUSIVE, "0.900");
	assert_cell(&f, SOLVE, FIELD_PERCENT, "90.0");
	assert_cell(&f, ADD, FIELD_PERCENT_ALONE, "40.0");
	assert_cell(&f, KERNEL, FIELD_EXCLUSIVE, "");
	assert_cell(&f, SOLVE, FIELD_CALLS, "4");
	assert_cell(&f, SOLVE, FIELD_CHILD_CALLS, "6");
	assert_cell(&f, TOTAL, FIELD_CHILD_CALLS, "4"); /* the nearest ones below */
	assert_cell(&f, ADD, FIELD_SAMPLES, "40");
	assert_true(isnan(tree_view_value(&f, ADD, FIELD_RATE)));
	assert_true(isnan(tree_view_value(&f, ADD, TREE_METRICS)));
	/* incl 9, incl% 7, excl% 7, excl 9, calls 8, samples 8, and 34 for the name */
	assert_int_equal(tree_view_layout(&f, 2 + 9 + 7 + 7 + 9 + 8 + 34, columns, 16), 5);
	assert_int_equal(columns[4], FIELD_CALLS);
	assert_int_equal(tree_view_sort(&f, FIELD_SAMPLES, false), 0);
	assert_int_equal(tree_view_layout(&f, 2 + 9 + 7 + 7 + 9 + 8 + 34, columns, 16), 5);
	assert_int_equal(columns[4], FIELD_SAMPLES);
	assert_int_equal(tree_view_layout(&f, 10, columns, 16), 1); /* that of the order always */
	tree_view_release(&f);
	free(m);
}

static void test_threshold(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);
	char text[FIGURE_SIZE];
	bool all;

	tree_view_open_all(&f, 0, &all);
	/* 3 of 1000 are too little even for a word, 103 are not */
	assert_int_equal(tree_view_threshold(&f, 1), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, SEND, ADD_ALONE, INIT, READ);
	assert_int_equal(tree_view_threshold(&f, 10.1), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, -LOOP, ADD_ALONE, TOTAL);
	assert_string_equal(tree_view_rest_cell(&f, LOOP, FIELD_INCLUSIVE, text), "0.100");
	assert_string_equal(tree_view_rest_cell(&f, LOOP, FIELD_PERCENT, text), "10.0");
	assert_int_equal(f.rows[6].rest, 1);
	assert_int_equal(f.rows[8].rest, 1);
	assert_true(f.rows[8].last && !f.rows[1].last);
	tree_view_release(&f);
	free(m);
}

static void test_hot_path_and_zoom(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);

	assert_int_equal(tree_view_hot_path(&f, TOTAL), 0);
	assert_int_equal(f.cursor, ADD);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, SEND, ADD_ALONE, INIT);
	tree_view_push(&f);
	assert_int_equal(tree_view_zoom(&f, LOOP), 0);
	ASSERT_ROWS(&f, LOOP, KERNEL, ADD, MUL, SEND);
	assert_int_equal(tree_view_zoom(&f, KERNEL), 0);
	ASSERT_ROWS(&f, KERNEL, ADD, MUL);
	assert_int_equal(tree_view_reveal(&f, SEND), 0); /* leaves one of them */
	ASSERT_ROWS(&f, LOOP, KERNEL, ADD, MUL, SEND);
	assert_true(tree_view_zoom_back(&f));
	assert_int_equal(f.count, 9);
	assert_false(tree_view_zoom_back(&f));
	assert_int_equal(tree_view_pop(&f), ADD);
	assert_int_equal(tree_view_pop(&f), TREE_NONE);
	tree_view_release(&f);
	free(m);
}

static void test_search(void **state)
{
	struct made *m = make();
	struct tree_view f = plant(m);
	regex_t add_expression, none;

	assert_int_equal(regcomp(&add_expression, "^a", REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(regcomp(&none, "nothing", REG_EXTENDED | REG_NOSUB), 0);
	/* inside of what is closed, too */
	assert_int_equal(tree_view_find(&f, &add_expression, 1, true), ADD);
	assert_int_equal(tree_view_reveal(&f, ADD), 0);
	ASSERT_ROWS(&f, TOTAL, SOLVE, LOOP, KERNEL, ADD, MUL, SEND, ADD_ALONE, INIT);
	assert_int_equal(f.cursor, ADD);
	assert_int_equal(tree_view_find(&f, &add_expression, 1, true), ADD);
	assert_int_equal(tree_view_find(&f, &add_expression, 1, false), ADD_ALONE);
	assert_int_equal(tree_view_find(&f, &add_expression, -1, false), ADD_ALONE); /* from the end */
	f.cursor = ADD_ALONE;
	assert_int_equal(tree_view_find(&f, &add_expression, 1, false), ADD);
	assert_int_equal(tree_view_find(&f, &add_expression, -1, false), ADD);
	assert_int_equal(tree_view_find(&f, &none, 1, true), TREE_NONE);
	assert_int_equal(tree_view_find(&f, &none, -1, true), TREE_NONE);
	/* in the order of rows, and not what is left out */
	assert_int_equal(tree_view_sort(&f, FIELD_INCLUSIVE, true), 0);
	f.cursor = TOTAL;
	assert_int_equal(tree_view_find(&f, &add_expression, 1, false), ADD_ALONE);
	assert_int_equal(tree_view_threshold(&f, 30), 0);
	assert_int_equal(tree_view_find(&f, &add_expression, 1, false), ADD);
	regfree(&add_expression);
	regfree(&none);
	tree_view_release(&f);
	free(m);
}

/* The same program later: other numbers, so another order; a node is gone, one is new. */
static struct made *make_later(void)
{
	struct made *m = calloc(1, sizeof(*m));
	uint32_t total, solve, loop, kernel;

	assert_non_null(m);
	total = add(m, 0, PROFILE_ROOT, "[total]", 0);
	add(m, total, PROFILE_LEAF, "idle", 3000);
	solve = add(m, total, PROFILE_PROBE, "solve", 0);
	add(m, solve, PROFILE_LEAF, "add", 900);
	loop = add(m, solve, PROFILE_INTERMEDIATE, "loop", 0);
	kernel = add(m, loop, PROFILE_INTERMEDIATE, "kernel", 0);
	add(m, kernel, PROFILE_LEAF, "mul", 500);
	finish(m);
	return m;
}

static void test_adopt(void **state)
{
	struct made *m = make(), *later = make_later();
	struct tree_view f = plant(m);
	enum { L_TOTAL, L_IDLE, L_SOLVE, L_ADD, L_LOOP, L_KERNEL, L_MUL };

	assert_int_equal(tree_view_reveal(&f, MUL), 0);
	tree_view_push(&f);
	f.marks[0] = ADD_ALONE;
	f.marks[1] = SEND;
	assert_int_equal(tree_view_set(&f, &later->source, true, false, 2), 0);
	ASSERT_ROWS(&f, L_TOTAL, L_IDLE, L_SOLVE, L_ADD, L_LOOP, L_KERNEL, L_MUL);
	assert_int_equal(f.cursor, L_MUL);
	assert_int_equal(f.marks[0], L_ADD);
	assert_int_equal(f.marks[1], TREE_NONE);
	/* (500 - 200) ns in 2 s; all of what is new */
	assert_true(fabs(tree_view_value(&f, L_MUL, FIELD_RATE) - 150) < 1e-9);
	assert_true(fabs(tree_view_value(&f, L_IDLE, FIELD_RATE) - 1500) < 1e-9);
	/* what is not there any more: the nearest above it; what is zoomed into stays */
	assert_int_equal(tree_view_set(&f, &m->source, true, false, 0), 0);
	f.cursor = SEND;
	assert_int_equal(tree_view_zoom(&f, LOOP), 0);
	assert_int_equal(tree_view_set(&f, &later->source, true, false, 0), 0);
	assert_int_equal(f.cursor, L_LOOP);
	ASSERT_ROWS(&f, L_LOOP, L_KERNEL, L_MUL);
	assert_true(isnan(tree_view_value(&f, L_MUL, FIELD_RATE)));
	tree_view_release(&f);
	free(m);
	free(later);
}

/* A routine becomes several call sites: what was open is open in all of them. */
static void test_adopt_loosely(void **state)
{
	struct made *m = make(), sites = {0};
	struct tree_view f = plant(m);
	uint32_t total, solve, first, second;

	total = add(&sites, 0, PROFILE_ROOT, "[total]", 0);
	solve = add(&sites, total, PROFILE_PROBE, "solve", 0);
	first = add(&sites, solve, PROFILE_INTERMEDIATE, "loop", 0);
	sites.nodes[first].line = 11;
	add(&sites, first, PROFILE_LEAF, "add", 600);
	second = add(&sites, solve, PROFILE_INTERMEDIATE, "loop", 0);
	sites.nodes[second].line = 12;
	add(&sites, second, PROFILE_LEAF, "add", 100);
	finish(&sites);
	assert_int_equal(tree_view_open(&f, SOLVE, true), 0);
	assert_int_equal(tree_view_open(&f, LOOP, true), 0);
	f.cursor = LOOP;
	assert_int_equal(tree_view_set(&f, &sites.source, true, true, 0), 0);
	assert_int_equal(f.count, 6);
	assert_int_equal(f.cursor, first); /* the larger one */
	assert_int_equal(tree_view_set(&f, &m->source, true, true, 0), 0);
	assert_int_equal(f.cursor, LOOP);
	assert_true(tree_view_is_open(&f, LOOP));
	tree_view_release(&f);
	free(m);
}

static const struct profile_node *seek(const struct hidden_tree *t, uint32_t parent, const char *name)
{
	for (uint32_t c = t->tree.nodes[parent].first_child; c; c = t->tree.nodes[c].next_sibling)
		if (!strcmp(t->tree.nodes[c].name, name))
			return &t->tree.nodes[c];
	fail_msg("no %s", name);
	return NULL;
}

static void assert_sums(const struct profile_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		uint64_t sum = t->nodes[i].exclusive + t->nodes[i].blocked;

		for (uint32_t c = t->nodes[i].first_child; c; c = t->nodes[c].next_sibling) {
			assert_int_equal(t->nodes[c].parent, i);
			assert_true(c > i);
			sum += t->nodes[c].inclusive;
		}
		assert_int_equal(t->nodes[i].inclusive, sum);
	}
}

static void test_hide(void **state)
{
	struct made *m = make();
	struct profile_value values[11] = {0};
	struct profile_view view = {.nodes = m->nodes, .values = values, .count = m->count, .metrics = 1};
	struct hide_list list = {0};
	struct hidden_tree t;
	const struct profile_node *solve, *sum;
	char text[100];

	values[MUL].exclusive = 7;
	values[SEND].exclusive = 5;
	assert_int_equal(hide_add(&list, HIDE_FUNCTION, "kernel", "/src/a.c"), 0);
	assert_int_equal(hide_add(&list, HIDE_FUNCTION, "loop", "/src/a.c"), 0);
	assert_int_equal(hide_add(&list, HIDE_FUNCTION, "mul", "/src/a.c"), 0);
	assert_int_equal(hide_make(&view, NULL, NULL, &list, &t), 0);
	assert_sums(&t.tree);
	assert_int_equal(t.tree.nodes[0].inclusive, 1000);
	solve = seek(&t, 0, "solve");
	assert_int_equal(solve->inclusive, 900);
	assert_int_equal(solve->exclusive, 200); /* mul's */
	assert_int_equal(solve->samples, 20);
	assert_int_equal(solve->calls, 4);
	/* add moved up, and is one with the one that was there */
	sum = seek(&t, (uint32_t)(solve - t.tree.nodes), "add");
	assert_int_equal(sum->inclusive, 600);
	assert_int_equal(t.origin[sum - t.tree.nodes], TREE_NONE);
	assert_int_equal(t.origin[solve - t.tree.nodes], SOLVE);
	assert_int_equal(t.tree.values[solve - t.tree.nodes].exclusive, 7);
	assert_int_equal(t.tree.values[solve - t.tree.nodes].inclusive, 12);
	assert_int_equal(t.tree.values[0].inclusive, 12);
	hide_text(&list, text, sizeof(text));
	assert_string_equal(text, "function kernel, function loop, function mul");
	hidden_tree_release(&t);
	/* all code: only probes and the root are left */
	assert_int_equal(hide_add(&list, HIDE_MODULE, "/opt/prog", ""), 0);
	assert_int_equal(hide_make(&view, NULL, NULL, &list, &t), 0);
	assert_int_equal(t.tree.count, 3);
	assert_sums(&t.tree);
	assert_int_equal(t.tree.nodes[0].exclusive, 100);
	hidden_tree_release(&t);
	hide_release(&list);
	free(m);
}

static void test_hide_in_difference(void **state)
{
	struct made *m = make();
	struct profile_diff_pair pairs[11] = {0};
	struct profile_view view = {.nodes = m->nodes, .count = m->count};
	struct hide_list list = {0};
	struct hidden_tree t;

	pairs[LOG].before = (struct profile_values){.present = true, .exclusive = 50, .inclusive = 50};
	pairs[LOG].after = (struct profile_values){.present = true, .exclusive = 3, .inclusive = 3};
	pairs[INIT].before = (struct profile_values){.inclusive = 50};
	pairs[INIT].after = (struct profile_values){.present = true, .inclusive = 100};
	assert_int_equal(hide_add(&list, HIDE_FUNCTION, "log", "/src/a.c"), 0);
	assert_int_equal(hide_make(&view, pairs, NULL, &list, &t), 0);
	for (size_t i = 0; i < t.tree.count; i++)
		if (!strcmp(t.tree.nodes[i].name, "init")) {
			assert_int_equal(t.pairs[i].before.exclusive, 50);
			assert_int_equal(t.pairs[i].after.exclusive, 3);
			assert_int_equal(t.pairs[i].change, 47);
			assert_false(t.pairs[i].before.present); /* init itself is new */
		}
	assert_int_equal(t.pairs[0].change, 47);
	hidden_tree_release(&t);
	hide_release(&list);
	free(m);
}

/* A million nodes: the first has half of them as children, which are more than are compared in pairs. */
#define MILLION 1000000u

static void test_million(void **state)
{
	struct profile_node *nodes = calloc(MILLION, sizeof(*nodes));
	uint64_t *child_calls = calloc(MILLION, sizeof(*child_calls));
	struct tree_source source = {.nodes = nodes, .count = MILLION, .child_calls = child_calls};
	struct tree_view f = {0};
	uint64_t random = 1;
	regex_t last;
	bool all;

	assert_true(nodes && child_calls);
	for (uint32_t i = 0; i < MILLION; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		nodes[i] = (struct profile_node){.kind = i ? PROFILE_LEAF : PROFILE_ROOT,
			.name = i + 1 == MILLION ? "last" : "node",
			.file = "",
			.module = "",
			.line = i,
			.inclusive = 1000 + random % 1000000,
			.parent = i <= 1             ? 0
				  : i <= MILLION / 2 ? 1
						     : i - 1};
	}
	nodes[0].first_child = 1;
	for (uint32_t i = 2; i < MILLION; i++) {
		if (nodes[i].parent == i - 1 || i == 2)
			nodes[i - 1].first_child = i;
		else
			nodes[i - 1].next_sibling = i;
	}
	source.whole = nodes[0].inclusive = 2000000000;
	assert_int_equal(tree_view_set(&f, &source, false, false, 0), 0);
	assert_int_equal(tree_view_open(&f, 1, true), 0);
	assert_int_equal(f.count, MILLION / 2 + 1);
	for (size_t i = 3; i < f.count; i++)
		assert_true(nodes[f.rows[i - 1].node].inclusive >= nodes[f.rows[i].node].inclusive);
	assert_int_equal(tree_view_sort(&f, FIELD_INCLUSIVE, true), 0);
	for (size_t i = 3; i < f.count; i++)
		assert_true(nodes[f.rows[i - 1].node].inclusive <= nodes[f.rows[i].node].inclusive);
	/* the end of a way of half a million */
	assert_int_equal(regcomp(&last, "last", REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(tree_view_find(&f, &last, 1, true), MILLION - 1);
	assert_int_equal(tree_view_reveal(&f, MILLION - 1), 0);
	assert_int_equal(tree_view_row(&f, MILLION - 1) > 0, true);
	assert_int_equal(f.rows[tree_view_row(&f, MILLION - 1)].indent, TREE_INDENT_MAX);
	assert_int_equal(tree_view_set(&f, &source, true, false, 0), 0);
	assert_int_equal(f.cursor, MILLION - 1);
	assert_int_equal(tree_view_close_all(&f, 0), 0);
	assert_int_equal(tree_view_open_all(&f, 0, &all), 0);
	assert_false(all);
	regfree(&last);
	tree_view_release(&f);
	free(nodes);
	free(child_calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_order_of_idle),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_hot_path_and_zoom),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_adopt),
		cmocka_unit_test(test_adopt_loosely),
		cmocka_unit_test(test_hide),
		cmocka_unit_test(test_hide_in_difference),
		cmocka_unit_test(test_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
