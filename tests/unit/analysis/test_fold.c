/* Folding traces of which is known what happens inside of an instance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/fold/fold.h"
#include "reader_help.h"

#define INSTANCES 6000u
#define EVERY 4u /* a sample in every so manyeth */
#define LONG 8000u /* ns of an instance */
#define APART 10000u /* ns from one to the next */
#define SECOND 1e-9

/* Nodes as the reader numbers them, and what they are called. */
enum { ROOT, A, HERE, B, THERE, AGAIN };
static const uint32_t places[] = {ROOT, A, HERE, B, THERE, A};

struct made {
	struct writer *w;
	uint32_t root, a, here, b, there, again;
	bool traced;
	int64_t base[3];
};

/* The first half of an instance has 90 of 100 events; memory is taken for the third quarter. */
static void values_at(const struct made *t, double x, int64_t values[3])
{
	values[0] = t->base[0] + (int64_t)(x < 0.5 ? 180 * x + 0.5 : 90 + 20 * (x - 0.5) + 0.5);
	values[1] = x >= 0.5 && x < 0.75 ? 5000 : 1000;
	values[2] = t->base[2] + (int64_t)(x * LONG / 2);
}

static struct made begin(bool traced)
{
	struct made t = {.w = writer_new(), .traced = traced};
	uint64_t a = writer_region(t.w, "a", "a.c", 1, HYB_REGION_USER);
	uint64_t b = writer_region(t.w, "b", "a.c", 2, HYB_REGION_USER);

	writer_header(t.w)->trace_events = traced;
	writer_metric(t.w, "events", "", "", HYB_METRIC_COUNT, 0, 0);
	writer_metric(t.w, "memory", "B", "", HYB_METRIC_LEVEL, 0, 0);
	writer_metric(t.w, "cpu", "ns", "", HYB_METRIC_COUNT, 0, 0);
	t.root = writer_location(t.w, 1, 1, 1000);
	writer_location_at(t.w, 1)->source = HYB_SOURCE_TASK_CLOCK;
	writer_location_at(t.w, 1)->period = LONG * EVERY;
	t.a = writer_node(t.w, 1, t.root, HYB_NODE_REGION, a);
	t.here = writer_node(t.w, 1, t.a, HYB_NODE_LEAF, 0x10);
	t.b = writer_node(t.w, 1, t.a, HYB_NODE_REGION, b);
	t.there = writer_node(t.w, 1, t.b, HYB_NODE_LEAF, 0x20);
	t.again = writer_node(t.w, 1, t.b, HYB_NODE_REGION, a);
	return t;
}

static void read_at(struct made *t, double x)
{
	int64_t values[3];

	values_at(t, x, values);
	writer_read(t->w, 1, values);
}

static void sample(struct made *t, uint64_t start, uint64_t length, double x)
{
	uint64_t since = (uint64_t)(x * (double)length);
	int64_t before[3], values[3];

	values_at(t, 0, before);
	values_at(t, x, values);
	for (int m = 0; m < 3; m++)
		values[m] -= before[m];
	writer_cause(t->w, 1, -1, values);
	read_at(t, x);
	writer_sample(t->w, 1, start + since, x < 0.5 || !t->traced ? t->here : t->there,
		t->traced ? WRITER_NOT_FIRST : since, 0, 1);
}

/* Region b is the second half of a; with `x` below 0 nobody samples. */
static void instance(struct made *t, uint64_t start, uint64_t length, double x)
{
	uint64_t middle = start + length / 2;

	read_at(t, 0);
	if (t->traced)
		writer_enter(t->w, 1, start, t->a);
	if (x >= 0 && x < 0.5)
		sample(t, start, length, x);
	read_at(t, 0.5);
	if (t->traced)
		writer_enter(t->w, 1, middle, t->b);
	if (x >= 0.5)
		sample(t, start, length, x);
	read_at(t, 1);
	if (t->traced) {
		writer_leave(t->w, 1, start + length);
		writer_leave(t->w, 1, start + length);
	} else if (x >= 0) {
		writer_complete(t->w, 1, start + length, t->a);
	}
	t->base[0] += 100;
	t->base[2] += LONG / 2;
}

/* Every hundredth instance is twenty times as long. Samples walk through all places. */
static struct made make(bool traced)
{
	struct made t = begin(traced);
	uint64_t start = 10000;
	struct hyb_node *node;

	for (unsigned i = 0; i < INSTANCES; i++) {
		uint64_t length = i % 100 == 99 ? 20 * LONG : LONG;
		double x = fmod(i / EVERY * 0.6180339887, 1);

		instance(&t, start, length, i % EVERY ? -1 : x);
		start += length + APART;
	}
	node = writer_node_at(t.w, t.a);
	node->count = INSTANCES;
	node->inclusive = INSTANCES * (LONG + LONG * 19 / 100);
	writer_values_at(t.w, t.a)[2] = INSTANCES * (LONG / 2);
	writer_location_end(t.w, 1, start);
	return t;
}

static const uint32_t *same_places(void *data, const struct hyb_location_info *location)
{
	return location->node_count == 6 ? places : NULL;
}

static struct fold_request request(void)
{
	return (struct fold_request){
		.spread = 5, .places = same_places, .place_count = AGAIN + 1, .region = A};
}

static struct fold fold_of(struct hyb_experiment *e, const struct fold_request *r)
{
	struct hyb_error err;
	struct fold fold;

	assert_int_equal(fold_make(&e, 1, r, &fold, &err), 0);
	return fold;
}

static const struct fold_curve *curve_of(const struct fold *fold, const char *name)
{
	for (size_t i = 0; i < fold->metric_count; i++)
		if (!strcmp(fold->metrics[i].metric ? fold->metrics[i].metric->name : "", name))
			return &fold->metrics[i].curve;
	return NULL;
}

/* What is true of `events` and `memory`, by an instance of that many ns. */
static void check_curves(const struct fold *fold, double length)
{
	const struct fold_curve *events = curve_of(fold, "events"), *memory = curve_of(fold, "memory");

	assert_float_equal(events->growth, 100, 1e-9);
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		double rate = (row < 10 ? 180 : 20) / (length * SECOND);

		assert_float_equal(events->rate[row], rate, 0.03 * 100 / (length * SECOND));
		assert_true(events->low[row] <= events->rate[row] && events->rate[row] <= events->high[row]);
		if (row != 9 && row != 10 && row != 14 && row != 15)
			assert_float_equal(memory->rate[row], row < 10 || row > 15 ? 1000 : 5000, 200);
	}
}

static void test_traced(void **state)
{
	struct made t = make(true);
	struct hyb_experiment *e = help_open(t.w);
	struct fold_request r = request();
	struct fold fold = fold_of(e, &r);
	const struct fold_curve *cpu = curve_of(&fold, "");

	assert_int_equal(fold.kept.count, INSTANCES - INSTANCES / 100);
	assert_int_equal(fold.kept.sum, fold.kept.count * LONG);
	assert_int_equal(fold.kept.least, LONG);
	assert_int_equal(fold.aside.count, INSTANCES / 100);
	assert_int_equal(fold.aside.most, 20 * LONG);
	assert_int_equal(fold.samples, INSTANCES / EVERY); /* none is in a long one */
	assert_int_equal(fold.sampled, fold.samples);
	assert_true(fold.traced && !fold.untraced && !fold.incomplete && !fold.nested);
	check_curves(&fold, LONG);
	for (unsigned row = 0; row < FOLD_ROWS; row++)
		assert_float_equal(cpu->rate[row], 1, 0.1);
	assert_int_equal(fold.place_count, 2);
	for (size_t p = 0; p < 2; p++)
		for (unsigned row = 0; row < FOLD_ROWS; row++)
			assert_float_equal(fold.places[p].rows[row] / fold.rows[row],
				(fold.places[p].place == HERE) == (row < FOLD_ROWS / 2), 1e-9);
	fold_release(&fold);
	r.spread = 0;
	fold = fold_of(e, &r);
	assert_int_equal(fold.kept.count, INSTANCES);
	assert_int_equal(fold.aside.count, 0);
	fold_release(&fold);
	help_close(e, t.w);
}

static void test_untraced(void **state)
{
	struct made t = make(false);
	struct hyb_experiment *e = help_open(t.w);
	struct fold_request r = request();
	struct fold fold = fold_of(e, &r);

	assert_int_equal(fold.kept.count, INSTANCES / EVERY);
	assert_int_equal(fold.samples, INSTANCES / EVERY);
	assert_true(!fold.traced && fold.untraced && !fold.incomplete && !fold.nested);
	check_curves(&fold, LONG);
	/* Long instances, never sampled, are among those it may have run in. */
	assert_float_equal(curve_of(&fold, "")->rate[3], 1 / 1.19, 0.1);
	fold_release(&fold);
	help_close(e, t.w);
}

/* By the metric that grows half as fast all instances are alike. */
static void test_along(void **state)
{
	for (int traced = 0; traced < 2; traced++) {
		struct made t = make(traced);
		struct hyb_experiment *e = help_open(t.w);
		struct fold_request r = request();
		struct fold fold;

		r.along = "cpu";
		fold = fold_of(e, &r);
		assert_int_equal(fold.aside.count, 0);
		assert_int_equal(fold.kept.sum, fold.kept.count * (LONG / 2));
		assert_null(curve_of(&fold, ""));
		check_curves(&fold, LONG / 2);
		fold_release(&fold);
		r.along = "time of day";
		fold = fold_of(e, &r);
		assert_int_equal(fold.kept.count, 0);
		fold_release(&fold);
		help_close(e, t.w);
	}
}

/* a > b > a: the outer one counts; the first has no end, of the last the start is behind a gap. */
static void test_nested(void **state)
{
	struct made t = begin(true);
	struct fold_request r = request();
	struct hyb_experiment *e;
	struct fold fold;

	writer_enter(t.w, 1, 1500, t.a);
	writer_trace_break(t.w, 1, true, 2);
	for (uint64_t start = 2000; start < 5000; start += 1000) {
		writer_enter(t.w, 1, start, t.a);
		writer_enter(t.w, 1, start + 100, t.b);
		writer_enter(t.w, 1, start + 200, t.again);
		writer_leave(t.w, 1, start + 300);
		writer_sample(t.w, 1, start + 400, t.there, WRITER_NOT_FIRST, 0, 3);
		writer_leave(t.w, 1, start + 500);
		writer_leave(t.w, 1, start + 800);
	}
	writer_enter(t.w, 1, 6000, t.a);
	writer_location_end(t.w, 1, 7000);
	e = help_open(t.w);
	fold = fold_of(e, &r);
	assert_int_equal(fold.kept.count, 3);
	assert_int_equal(fold.kept.sum, 3 * 800);
	assert_int_equal(fold.incomplete, 2);
	assert_int_equal(fold.samples, 9);
	assert_true(fold.rows[10] > 0); /* 400 of 800 */
	assert_true(isnan(curve_of(&fold, "")->low[0])); /* of three */
	fold_release(&fold);
	r.region = THERE; /* no probe */
	fold = fold_of(e, &r);
	assert_int_equal(fold.kept.count, 0);
	assert_int_equal(fold.metric_count, 0);
	fold_release(&fold);
	help_close(e, t.w);
}

/* Without regions in the trace, what is in those below is not known by its place. */
static void test_left_out(void **state)
{
	struct made t = begin(false);
	struct fold_request r = request();
	struct hyb_experiment *e;
	struct fold fold;

	sample(&t, 2000, 1000, 0.1);
	writer_sample(t.w, 1, 2200, t.there, 100, 0, 2);
	writer_complete(t.w, 1, 2300, t.b);
	read_at(&t, 0.75);
	writer_sample(t.w, 1, 2750, t.here, WRITER_NOT_FIRST, 0, 1);
	read_at(&t, 1);
	writer_complete(t.w, 1, 3000, t.a);
	sample(&t, 4000, 1000, 0.5); /* still running at the end */
	writer_location_end(t.w, 1, 7000);
	e = help_open(t.w);
	fold = fold_of(e, &r);
	assert_int_equal(fold.kept.count, 1);
	assert_int_equal(fold.kept.sum, 1000);
	assert_int_equal(fold.samples, 2);
	assert_int_equal(fold.nested, 2);
	assert_int_equal(fold.incomplete, 1);
	assert_int_equal(curve_of(&fold, "events")->points, 2);
	assert_float_equal(curve_of(&fold, "events")->growth, 100, 1e-9);
	fold_release(&fold);
	help_close(e, t.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_traced), cmocka_unit_test(test_untraced),
		cmocka_unit_test(test_along), cmocka_unit_test(test_nested), cmocka_unit_test(test_left_out)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
