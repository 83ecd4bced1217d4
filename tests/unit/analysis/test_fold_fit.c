/* The mathematics of folding, on instances of which the rates are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analysis/fold/fold_fit.h"

#define SECONDS 1e-3 /* that an instance lasts */
#define GROWTH 1000.0 /* of a metric in it */

/* Shares of the growth that are behind a place. */
static double constant(double x)
{
	return x;
}

static double two_phases(double x) /* nine tenths in the first half */
{
	return x < 0.5 ? 1.8 * x : 0.9 + 0.2 * (x - 0.5);
}

static double late_step(double x) /* nothing before 0.3 */
{
	return x < 0.3 ? 0 : (x - 0.3) / 0.7;
}

static double ramp(double x)
{
	return x * x;
}

static double burst(double x) /* half of all within a twentieth */
{
	return x < 0.6 ? x / 2 : x < 0.65 ? 0.3 + 10 * (x - 0.6) : 0.8 + (x - 0.65) * 0.2 / 0.35;
}

static double odd_step(double x) /* where no knot is */
{
	return x < 0.371 ? 2 * x : 0.742 + (x - 0.371) * 0.258 / 0.629;
}

struct truth {
	const char *name;
	double (*share)(double x);
};

static const struct truth truths[] = {{"constant", constant}, {"two phases", two_phases},
	{"late step", late_step}, {"ramp", ramp}, {"burst", burst}, {"odd step", odd_step}};
#define TRUTHS (sizeof(truths) / sizeof(*truths))

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* About normal. */
static double noise(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

/*
 * Instances in a row with one sample every `every` instances, somewhere; growth differs between them by a
 * tenth, what is behind a place by `shake`, and counts are whole numbers.
 */
static void make(struct fold_fit *fit, double (*share)(double), unsigned instances, double every,
	double shake, double growth)
{
	double next = every * uniform();

	for (unsigned i = 0; i < instances; i++) {
		double total = floor(growth * fmax(0.3, 1 + 0.1 * noise()) + 0.5);

		fold_fit_instance(fit, i, SECONDS, total);
		while (next < i + 1) {
			double x = next - i, moved = x + shake * noise() * x * (1 - x);

			fold_fit_point(
				fit, i, x, floor(total * share(fmin(fmax(moved, 0), 1)) + uniform()), total);
			next += every * (0.9 + 0.2 * uniform());
		}
	}
}

/* The mean over all that `shake` may do to it. */
static double true_share(const struct truth *t, double x, double shake)
{
	double sum = 0, weights = 0;

	for (double z = -5; z <= 5; z += 0.01) {
		double moved = x + shake * z * x * (1 - x), weight = exp(-z * z / 2);

		sum += weight * t->share(fmin(fmax(moved, 0), 1));
		weights += weight;
	}
	return sum / weights;
}

static double true_rate(const struct truth *t, unsigned row, double growth, double shake)
{
	return (true_share(t, (row + 1.0) / FOLD_ROWS, shake) -
		       true_share(t, (double)row / FOLD_ROWS, shake)) *
	       growth * FOLD_ROWS / SECONDS;
}

struct accuracy {
	double worst, mean; /* distance to the truth, shares of the mean rate */
	double within; /* share of rows whose truth is in the range of errors */
	double width; /* mean half width of that, share of the mean rate */
	double parts;
};

static struct accuracy measure(
	const struct truth *t, unsigned instances, double every, double shake, double growth, unsigned times)
{
	struct accuracy a = {0};

	for (unsigned i = 0; i < times; i++) {
		struct fold_fit *fit = fold_fit_new(FOLD_GROWTH);
		struct fold_curve c;

		assert_non_null(fit);
		make(fit, t->share, instances, every, shake, growth);
		fold_fit_make(fit, &c);
		free(fit);
		for (unsigned row = 0; row < FOLD_ROWS; row++) {
			double truth = true_rate(t, row, growth, shake), away = fabs(c.rate[row] - truth);

			away /= growth / SECONDS;
			a.worst = fmax(a.worst, away);
			a.mean += away / FOLD_ROWS / times;
			a.within += (truth >= c.low[row] && truth <= c.high[row]) / (double)FOLD_ROWS / times;
			a.width += (c.high[row] - c.low[row]) / 2 / (growth / SECONDS) / FOLD_ROWS / times;
		}
		a.parts += (double)c.parts / times;
	}
	return a;
}

/*
 * The mean rate is 1. What may be off: without noise a step that is between knots; with it, mostly the rows
 * beside a step. And the ranges of errors hold what they promise, or nearly.
 */
static void test_truth(void **state)
{
	static const struct {
		unsigned instances;
		double every, shake, growth;
		double mean; /* allowed */
	} cases[] = {
		{20000, 10, 0, GROWTH, 0.01}, /* one sample in ten instances, all the same */
		{20000, 10, 0.3, GROWTH, 0.25}, /* much shaken */
		{2000, 10, 0.1, GROWTH, 0.4}, /* two hundred samples are all */
		{20000, 1, 0.1, 3, 0.25}, /* three events an instance */
		{200000, 100, 0.1, 10, 0.25},
		{200, 0.01, 0.1, GROWTH, 0.06}, /* a hundred samples an instance */
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++)
		for (size_t t = 0; t < TRUTHS; t++) {
			struct accuracy a = measure(&truths[t], cases[c].instances, cases[c].every,
				cases[c].shake, cases[c].growth, 10);

			print_message(
				"%6u instances, a sample every %g, shake %g, growth %g, %s: off by %.3f, "
				"at worst %.3f; +-%.3f holds for %.2f; %.0f parts\n",
				cases[c].instances, cases[c].every, cases[c].shake, cases[c].growth,
				truths[t].name, a.mean, a.worst, a.width, a.within, a.parts);
			assert_true(a.mean < cases[c].mean);
			assert_true(a.within > 0.8);
		}
}

/* Time has no values: it is where the samples are. Half of the second half is blocked. */
static void test_time(void **state)
{
	struct fold_fit *fit = fold_fit_new(FOLD_TIME);
	struct fold_curve c;

	for (unsigned i = 0; i < 40000; i++) {
		double x = uniform();

		fold_fit_instance(fit, i, SECONDS, 0);
		if (i % 4 == 0 && (x < 0.5 || uniform() < 0.5))
			fold_fit_point(fit, i, x, 4 * SECONDS, 0);
	}
	fold_fit_make(fit, &c);
	assert_float_equal(c.growth, 0.75 * SECONDS, 0.02 * SECONDS);
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		assert_float_equal(c.rate[row], row < FOLD_ROWS / 2 ? 1 : 0.5, 0.1);
		assert_true(c.low[row] <= c.rate[row] && c.rate[row] <= c.high[row]);
		assert_true(c.high[row] - c.low[row] < 0.4);
	}
	/* Were there as many instances again without a sample, it ran half as much of the time. */
	fold_fit_seconds(fit, 80000 * SECONDS);
	fold_fit_make(fit, &c);
	assert_float_equal(c.rate[0], 0.5, 0.05);
	free(fit);
}

/* Memory that is taken in the middle and given back. */
static void test_level(void **state)
{
	struct fold_fit *fit = fold_fit_new(FOLD_LEVEL);
	struct fold_curve c;

	for (unsigned i = 0; i < 4000; i++) {
		double x = uniform();

		fold_fit_instance(fit, i, SECONDS, 0);
		fold_fit_point(fit, i, 0, 5e6, 0);
		fold_fit_point(fit, i, x, (x > 0.25 && x < 0.75 ? 9e6 : 5e6) + 1e5 * noise(), 0);
		fold_fit_point(fit, i, 1, 5e6, 0);
	}
	fold_fit_make(fit, &c);
	assert_true(c.parts >= 20);
	for (unsigned row = 0; row < FOLD_ROWS; row++)
		if (row != 4 && row != 5 && row != 14 && row != 15)
			assert_float_equal(c.rate[row], row > 5 && row < 14 ? 9e6 : 5e6, 2e5);
	free(fit);
}

/* Nothing, a single point, what does not grow, what lies outside. */
static void test_little(void **state)
{
	struct fold_fit *fit = fold_fit_new(FOLD_GROWTH);
	struct fold_curve c;

	fold_fit_make(fit, &c);
	assert_int_equal(c.parts, 0);
	assert_true(isnan(c.rate[0]));
	fold_fit_instance(fit, 0, SECONDS, 0);
	fold_fit_point(fit, 0, 0.5, 0, 0);
	fold_fit_point(fit, 0, 1.5, 1, 2);
	fold_fit_point(fit, 0, NAN, 1, 2);
	fold_fit_make(fit, &c);
	assert_int_equal(c.points, 0);
	fold_fit_instance(fit, 1, SECONDS, 10);
	fold_fit_point(fit, 1, 0.5, 5, 10);
	fold_fit_make(fit, &c);
	assert_int_equal(c.points, 1);
	assert_float_equal(c.rate[0], 10 / 2 / SECONDS, 1); /* of two instances */
	assert_true(isnan(c.low[0])); /* who knows */
	/* At the ends, and beyond what is possible. */
	fold_fit_point(fit, 1, 0, -3, 10);
	fold_fit_point(fit, 1, 1, 30, 10);
	fold_fit_make(fit, &c);
	for (unsigned k = 0; k < FOLD_KNOTS; k++)
		assert_true(c.at[k] >= 0 && c.at[k] <= c.at[k + 1] && c.at[k + 1] <= 1);
	free(fit);
}

static void test_limits(void **state)
{
	uint64_t durations[1001], middle, least, most;

	for (unsigned i = 0; i < 1000; i++)
		durations[i] = (uint64_t)(1e6 * exp(0.1 * noise()));
	durations[1000] = 900000000;
	fold_limits(durations, 1001, 4, &middle, &least, &most);
	assert_float_equal((double)middle, 1e6, 2e4);
	assert_float_equal((double)least, 1e6 * exp(-0.4), 6e4);
	assert_float_equal((double)most, 1e6 * exp(0.4), 1.2e5);
	for (unsigned i = 0; i < 10; i++)
		durations[i] = 500;
	fold_limits(durations, 10, 4, &middle, &least, &most);
	assert_true(least < 500 && least > 400 && most > 500 && most < 600);
	fold_limits(durations, 10, 0, &middle, &least, &most);
	assert_true(least == 0 && most == UINT64_MAX);
	fold_limits(durations, 0, 4, &middle, &least, &most);
	assert_true(least == 0 && most == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_truth), cmocka_unit_test(test_time),
		cmocka_unit_test(test_level), cmocka_unit_test(test_little), cmocka_unit_test(test_limits)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
