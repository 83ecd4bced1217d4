/* Metrics: definitions, values in the tree, open regions, and what is damaged of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hyb_writer.h"
#include "hybrid/reader.h"
#include "reader_help.h"

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})

/* Four metrics, a root (index 0), region a (1), region b in it (2), a leaf in b (3). */
struct tree {
	struct writer *w;
	uint32_t root, a, b, leaf;
};

static void define(struct writer *w)
{
	writer_metric(w, "io::read_chars", "B", "bytes read", HYB_METRIC_COUNT, 0, 0);
	writer_metric(w, "memory::resident", "B", "memory", HYB_METRIC_LEVEL, HYB_METRIC_PROCESS, 0);
	writer_metric(w, "PAPI_TOT_INS", "", "", HYB_METRIC_COUNT, HYB_METRIC_ESTIMATED, 1000);
	writer_metric(w, "perf::PAGE-FAULTS", "", "page faults", HYB_METRIC_COUNT, 0, 7);
}

static void grow_tree(struct tree *t)
{
	uint64_t a = writer_region(t->w, "a", "", 0, HYB_REGION_USER);
	uint64_t b = writer_region(t->w, "b", "", 0, HYB_REGION_USER);

	t->root = writer_location(t->w, 1, 1, 1000);
	t->a = writer_node(t->w, 1, t->root, HYB_NODE_REGION, a);
	t->b = writer_node(t->w, 1, t->a, HYB_NODE_REGION, b);
	t->leaf = writer_node(t->w, 1, t->b, HYB_NODE_LEAF, 0x10);
}

static struct tree make(void)
{
	struct tree t = {.w = writer_new()};

	define(t.w);
	grow_tree(&t);
	return t;
}

static void set(struct tree *t, uint32_t node, const int64_t *values)
{
	memcpy(writer_values_at(t->w, node), values, 4 * sizeof(*values));
}

static void set_entered(struct tree *t, uint32_t level, const int64_t *values)
{
	memcpy(writer_entered_at(t->w, 1, level), values, 4 * sizeof(*values));
}

static void set_last(struct tree *t, uint64_t tick, const int64_t *values)
{
	writer_location_at(t->w, 1)->last = tick;
	memcpy(writer_metrics_at(t->w, 1)->last, values, 4 * sizeof(*values));
}

static void check(const struct hyb_location_info *l, uint32_t node, const int64_t *values)
{
	assert_non_null(l->nodes[node].values);
	assert_non_null(l->nodes[node].overflows);
	for (size_t i = 0; i < l->process->metric_count; i++)
		assert_int_equal(l->nodes[node].values[i], values[i]);
}

static const struct hyb_location_info *only_location(struct hyb_experiment *e)
{
	assert_int_equal(hyb_process_at(e, 0)->location_count, 1);
	return &hyb_process_at(e, 0)->locations[0];
}

static void check_damage(struct hyb_experiment *e, size_t count, const char *first)
{
	help_read_all(e, true);
	assert_int_equal(hyb_damage_count(e), count);
	if (count && !strstr(hyb_damage_text(e, 0), first))
		fail_msg("%s", hyb_damage_text(e, 0));
	if (count)
		assert_non_null(strstr(hyb_damage_text(e, 0), ": offset 0x"));
}

/* -------------------------------------------------------------- sound files */

static void test_definitions(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e = help_open(t.w);
	const struct hyb_process *p = hyb_process_at(e, 0);

	assert_int_equal(p->metric_count, 4);
	assert_string_equal(p->metrics[0].name, "io::read_chars");
	assert_string_equal(p->metrics[0].unit, "B");
	assert_string_equal(p->metrics[0].description, "bytes read");
	assert_false(p->metrics[0].level || p->metrics[0].estimated || p->metrics[0].process_wide);
	assert_int_equal(p->metrics[0].period, 0);
	assert_true(p->metrics[1].level && p->metrics[1].process_wide && !p->metrics[1].estimated);
	assert_true(p->metrics[2].estimated && !p->metrics[2].level);
	assert_string_equal(p->metrics[2].unit, "");
	assert_string_equal(p->metrics[2].description, "");
	assert_int_equal(p->metrics[2].period, 1000);
	assert_string_equal(p->metrics[3].name, "perf::PAGE-FAULTS");
	check_damage(e, 0, "");
	help_close(e, t.w);
}

static void test_values(void **state)
{
	struct tree t = make();
	const struct hyb_location_info *l;
	struct hyb_experiment *e;

	set(&t, t.root, VALUES(100, -5, INT64_MAX, 4));
	set(&t, t.a, VALUES(90, 5, 1, 3));
	set(&t, t.b, VALUES(80, -50, 0, 2));
	set(&t, t.leaf, VALUES(1, 1, 1, 1)); /* no probe: nothing that it could have */
	writer_overflows_at(t.w, t.leaf)[0] = 11;
	writer_overflows_at(t.w, t.leaf)[1] = 13;
	writer_overflows_at(t.w, t.b)[1] = 17;
	writer_location_end(t.w, 1, 2000);
	e = help_open(t.w);
	l = only_location(e);
	assert_int_equal(l->node_count, 4);
	check(l, 0, VALUES(100, -5, INT64_MAX, 4));
	check(l, 1, VALUES(90, 5, 1, 3));
	check(l, 2, VALUES(80, -50, 0, 2));
	check(l, 3, VALUES(0, 0, 0, 0));
	assert_memory_equal(l->nodes[3].overflows, ((uint64_t[]){0, 0, 11, 13}), 32);
	assert_memory_equal(l->nodes[2].overflows, ((uint64_t[]){0, 0, 0, 17}), 32);
	assert_memory_equal(l->nodes[1].overflows, ((uint64_t[]){0, 0, 0, 0}), 32);
	check_damage(e, 0, "");
	help_close(e, t.w);
}

/* As many as there can be, in nodes of several chunks. */
static void test_most(void **state)
{
	struct writer *w = writer_new();
	const struct hyb_location_info *l;
	struct hyb_experiment *e;
	uint64_t region;
	uint32_t node;

	for (unsigned i = 0; i < HYB_METRICS_MAX; i++)
		assert_int_equal(writer_metric(w, "m", "", "", HYB_METRIC_COUNT, 0, i + 1), i);
	region = writer_region(w, "deeper", "", 0, HYB_REGION_USER);
	node = writer_location(w, 1, 1, 1000);
	for (int64_t n = 1; n < 200; n++) {
		node = writer_node(w, 1, node, HYB_NODE_REGION, region);
		for (int64_t i = 0; i < HYB_METRICS_MAX; i++) {
			writer_values_at(w, node)[i] = n * 100 + i;
			writer_overflows_at(w, node)[i] = (uint64_t)(n * 1000 + i);
		}
	}
	e = help_open(w);
	l = only_location(e);
	assert_int_equal(l->node_count, 200);
	for (int64_t n = 1; n < 200; n++) {
		assert_int_equal(l->nodes[n].parent, n - 1);
		for (int64_t i = 0; i < HYB_METRICS_MAX; i++) {
			assert_int_equal(l->nodes[n].values[i], n * 100 + i);
			assert_int_equal(l->nodes[n].overflows[i], n * 1000 + i);
		}
	}
	check_damage(e, 0, "");
	help_close(e, w);
}

static void test_open(void **state)
{
	struct tree t = make();
	const struct hyb_location_info *l;
	struct hyb_experiment *e;

	set(&t, t.a, VALUES(1000, 10, 0, 0)); /* instances before */
	writer_open(t.w, 1, t.a, 1500);
	set_entered(&t, 0, VALUES(0, 500, 0, 0));
	set_entered(&t, 1, VALUES(20, 700, 30, 1));
	set_last(&t, 1600, VALUES(50, 600, 31, 1));
	e = help_open(t.w);
	l = only_location(e);
	check(l, 1, VALUES(1030, -90, 1, 0));
	/* What a has counted before is more than the root's last reading: the root has at least that. */
	check(l, 0, VALUES(1030, 100, 31, 1));
	check(l, 2, VALUES(0, 0, 0, 0));
	assert_int_equal(l->open, 1);
	check_damage(e, 0, "");
	help_close(e, t.w);
}

/* The region was entered behind the last sample: what it read then is the latest. */
static void test_open_late(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	writer_open(t.w, 1, t.a, 1500);
	writer_open(t.w, 1, t.b, 1700);
	set_entered(&t, 1, VALUES(20, 700, 30, 1));
	set_entered(&t, 2, VALUES(60, 400, 33, 5));
	set_last(&t, 1600, VALUES(50, 600, 31, 1));
	e = help_open(t.w);
	check(only_location(e), 0, VALUES(60, 400, 33, 5));
	check(only_location(e), 1, VALUES(40, -300, 3, 4));
	check(only_location(e), 2, VALUES(0, 0, 0, 0));
	check_damage(e, 0, "");
	help_close(e, t.w);
}

/* Killed without a sample: the root grew at least as much as what was left in it. */
static void test_open_killed(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	set(&t, t.a, VALUES(70, 3, 9, 2));
	set(&t, t.b, VALUES(60, 2, 12, 1));
	e = help_open(t.w);
	check(only_location(e), 0, VALUES(70, 0, 9, 2));
	check(only_location(e), 1, VALUES(70, 3, 9, 2));
	check_damage(e, 0, "");
	help_close(e, t.w);
}

static void test_open_deep(void **state)
{
	struct tree t = make();
	uint32_t node = t.b, depth = HYB_STACK_FIRST + 20;
	uint64_t key = writer_node_at(t.w, t.b)->key;
	const struct hyb_location_info *l;
	struct hyb_experiment *e;

	for (uint32_t level = 1; level < depth; level++) {
		node = writer_node(t.w, 1, node, HYB_NODE_REGION, key);
		writer_open(t.w, 1, node, 1000 + level);
		set_entered(&t, level, VALUES(level, -(int64_t)level, 0, 0));
	}
	set_last(&t, 5000, VALUES(1000, 0, 0, 0));
	e = help_open(t.w);
	l = only_location(e);
	assert_int_equal(l->open, depth - 1);
	for (uint32_t level = 1; level < depth; level++)
		check(l, 3 + level, VALUES(1000 - level, level, 0, 0));
	check_damage(e, 0, "");
	help_close(e, t.w);
}

static void test_several(void **state)
{
	struct tree t = {.w = writer_new()};
	struct hyb_experiment *e;
	const struct hyb_process *p;

	writer_process(t.w);
	define(t.w);
	grow_tree(&t);
	set(&t, t.a, VALUES(1, 2, 3, 4));
	writer_process(t.w);
	writer_header(t.w)->trace_events = 1;
	writer_metric(t.w, "one", "", "", HYB_METRIC_COUNT, 0, 5);
	writer_metric(t.w, "two", "", "", HYB_METRIC_COUNT, 0, 0);
	help_add_metrics(t.w, 1, true);
	writer_process(t.w);
	grow_tree(&t);
	writer_sample(t.w, 1, 1100, t.leaf, 3, 0, 1);
	e = help_open(t.w);
	p = hyb_process_at(e, 0);
	assert_int_equal(p->metric_count, 4);
	check(&p->locations[0], 1, VALUES(1, 2, 3, 4));
	p = hyb_process_at(e, 1);
	assert_int_equal(p->metric_count, 2);
	assert_string_equal(p->metrics[1].name, "two");
	check(&p->locations[0], 1, VALUES(5 + 993, 7));
	assert_int_equal(p->locations[0].nodes[2].overflows[0], 3);
	p = hyb_process_at(e, 2);
	assert_int_equal(p->metric_count, 0);
	assert_null(p->locations[0].nodes[1].values);
	assert_null(p->locations[0].nodes[1].overflows);
	check_damage(e, 0, "");
	help_close(e, t.w);
}

/* ------------------------------------------------------------- damaged files */

static struct hyb_def_metric *metric_at(struct writer *w, uint32_t index)
{
	size_t length;
	uint8_t *data = writer_data(w, &length);

	for (size_t at = 0; at + sizeof(struct hyb_def_metric) < length; at += 8) {
		struct hyb_def_metric *def = (struct hyb_def_metric *)(data + at);

		if (def->def.magic == HYB_DEF_MAGIC && def->def.type == HYB_DEF_METRIC && def->index == index)
			return def;
	}
	abort();
}

static struct hyb_chunk *chunk_of(struct writer *w, unsigned kind)
{
	size_t length;
	uint8_t *data = writer_data(w, &length);

	for (size_t at = HYB_PAGE; at < length; at += HYB_PAGE) {
		struct hyb_chunk *chunk = (struct hyb_chunk *)(data + at);

		if (chunk->magic == HYB_CHUNK_MAGIC && chunk->kind == kind)
			return chunk;
	}
	abort();
}

/* The tree is there, values are not. */
static void check_bare(struct hyb_experiment *e)
{
	const struct hyb_location_info *l = only_location(e);

	assert_int_equal(l->node_count, 4);
	assert_int_equal(l->nodes[2].parent, 1);
	assert_string_equal(l->nodes[2].region->name, "b");
	for (size_t i = 0; i < 4; i++) {
		assert_null(l->nodes[i].values);
		assert_null(l->nodes[i].overflows);
	}
}

static void test_bad_definitions(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	metric_at(t.w, 3)->index = HYB_METRICS_MAX;
	e = help_open(t.w);
	assert_int_equal(hyb_process_at(e, 0)->metric_count, 3);
	check_damage(e, 2, "a metric has the index 16, which is too large");
	check_bare(e); /* as its METRICS chunk says */
	hyb_experiment_close(e);

	metric_at(t.w, HYB_METRICS_MAX)->index = 1;
	e = help_open(t.w);
	assert_string_equal(hyb_process_at(e, 0)->metrics[1].name, "memory::resident");
	check_damage(e, 2, "metric 1 is defined twice");
	hyb_experiment_close(e);

	metric_at(t.w, 1)->mode = 3;
	e = help_open(t.w);
	check_damage(e, 2, "a definition of type 14 is damaged");
	hyb_experiment_close(e);
	metric_at(t.w, 1)->mode = HYB_METRIC_LEVEL;
	metric_at(t.w, 0)->text_len += 8;
	e = help_open(t.w);
	assert_string_equal(hyb_process_at(e, 0)->metrics[0].name, "(unknown metric)");
	help_close(e, t.w);
}

/* One in the middle is lost: the others keep their places. */
static void test_lost_definition(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	set(&t, t.a, VALUES(1, 2, 3, 4));
	metric_at(t.w, 1)->mode = 0;
	e = help_open(t.w);
	assert_int_equal(hyb_process_at(e, 0)->metric_count, 4);
	assert_string_equal(hyb_process_at(e, 0)->metrics[1].name, "(unknown metric)");
	check(only_location(e), 1, VALUES(1, 2, 3, 4));
	check_damage(e, 2, "a definition of type 14 is damaged");
	assert_non_null(strstr(hyb_damage_text(e, 1), "metric 1 is not defined"));
	help_close(e, t.w);
}

static void test_bad_cells(void **state)
{
	struct tree t = make();
	struct hyb_wide *wide = (struct hyb_wide *)(chunk_of(t.w, HYB_CHUNK_WIDE_NODES) + 1);
	struct hyb_experiment *e;

	assert_int_equal(wide->cells, 2);
	wide->cells = 0;
	e = help_open(t.w);
	assert_int_equal(only_location(e)->node_count, 1);
	check_damage(e, 2, "nodes of 0 cells do not go with 4 metrics, of which 2 take samples");
	hyb_experiment_close(e);
	wide->cells = UINT32_MAX;
	e = help_open(t.w);
	assert_int_equal(only_location(e)->node_count, 1);
	hyb_experiment_close(e);
	wide->cells = 1;
	e = help_open(t.w);
	assert_int_equal(only_location(e)->node_count, 4); /* values here are all 0, and so no nodes */
	check_damage(e, 1, "nodes of 1 cells do not go with 4 metrics");
	check_bare(e);
	help_close(e, t.w);
}

static void test_other_width(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	writer_metrics_at(t.w, 1)->width = 3;
	e = help_open(t.w);
	check_damage(e, 1, "thread 1 has values of 3 metrics, its process has 4");
	check_bare(e);
	help_close(e, t.w);
}

/* All definitions are lost, or there were none. */
static void test_no_metrics(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	for (uint32_t i = 0; i < 4; i++)
		metric_at(t.w, i)->def.type = HYB_DEF_PAD;
	e = help_open(t.w);
	check_damage(e, 2, "thread 1 has values of metrics, its process has none");
	assert_non_null(strstr(hyb_damage_text(e, 1), "nodes of 2 cells do not go with 0 metrics"));
	check_bare(e);
	help_close(e, t.w);
}

static void test_both_kinds(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;
	uint64_t at = writer_chunk(t.w, HYB_CHUNK_NODES, HYB_PAGE, 1, 1);
	uint32_t id = (uint32_t)((at + HYB_NODES_START) / HYB_NODE_SIZE);

	set(&t, t.a, VALUES(1, 2, 3, 4));
	writer_node_at(t.w, id)->kind = HYB_NODE_LEAF;
	writer_node_at(t.w, id)->parent = t.a;
	((struct hyb_chunk *)writer_node_at(t.w, id) - 2)->used = HYB_NODES_START + HYB_NODE_SIZE;
	e = help_open(t.w);
	check_damage(e, 1, "nodes with and without values in thread 1: these are left out");
	assert_int_equal(only_location(e)->node_count, 4);
	check(only_location(e), 1, VALUES(1, 2, 3, 4));
	hyb_experiment_close(e);

	/* Without metrics it is the others that are left out. */
	for (uint32_t i = 0; i < 4; i++)
		metric_at(t.w, i)->def.type = HYB_DEF_PAD;
	e = help_open(t.w);
	assert_int_equal(only_location(e)->node_count, 2);
	help_close(e, t.w);
}

/* Nodes without values in a process with metrics, and no others. */
static void test_narrow(void **state)
{
	struct tree t = {.w = writer_new()};
	struct hyb_experiment *e;

	grow_tree(&t);
	define(t.w);
	e = help_open(t.w);
	check_damage(e, 1, "nodes of 1 cells do not go with 4 metrics");
	check_bare(e);
	help_close(e, t.w);
}

static void test_lost_levels(void **state)
{
	struct tree t = make();
	struct hyb_chunk *chunk = chunk_of(t.w, HYB_CHUNK_METRICS);
	struct hyb_experiment *e;

	set(&t, t.a, VALUES(1, 2, 3, 4));
	writer_open(t.w, 1, t.a, 1500);
	chunk->serial = 7;
	e = help_open(t.w);
	check_damage(e, 1, "thread 1 has no values for 2 of 2 open regions");
	assert_null(only_location(e)->nodes[0].values);
	assert_null(only_location(e)->nodes[1].values);
	check(only_location(e), 2, VALUES(0, 0, 0, 0));
	hyb_experiment_close(e);

	chunk->serial = 0;
	writer_chunk(t.w, HYB_CHUNK_METRICS, HYB_PAGE, 1, 0);
	e = help_open(t.w);
	check_damage(e, 1, "the values of metrics of thread 1 are there twice");
	check(only_location(e), 1, VALUES(1, 2, 3, 4));
	help_close(e, t.w);
}

/* No id leads into the middle of a node. */
static void test_bad_id(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e;

	writer_node_at(t.w, t.leaf)->parent = t.b + 1;
	e = help_open(t.w);
	check_damage(e, 1, "a node without its parent: it hangs below the thread");
	assert_int_equal(only_location(e)->nodes[3].parent, 0);
	help_close(e, t.w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_open_late),
		cmocka_unit_test(test_open_killed),
		cmocka_unit_test(test_open_deep),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_bad_definitions),
		cmocka_unit_test(test_lost_definition),
		cmocka_unit_test(test_bad_cells),
		cmocka_unit_test(test_other_width),
		cmocka_unit_test(test_no_metrics),
		cmocka_unit_test(test_both_kinds),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_lost_levels),
		cmocka_unit_test(test_bad_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
