#include "analysis/fold/fold_fit.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 32u /* of instances */
#define GROUPS_LEAST 8u /* with fewer no error is known */
#define FOLDS 8u /* of cross-validation */
#define REPEATS 200u /* of the bootstrap */
#define POINTS_PART 4u /* a part needs as many points, on average */
#define STIFF 1e-6 /* pull towards straight lines where there are no points */
#define NOISE 1e-9 /* errors that do not matter: squares of shares */
#define WITHIN 1.96 /* standard errors of a 95 % range */
#define LEAST_DEVIATION 0.01 /* of durations: what differs by less is the same */
#define MAD_TO_DEVIATION 1.4826

/* Numbers of parts that divide each other: knots of one are knots of the next. */
static const unsigned levels[] = {5, 10, 20, 40, 80, FOLD_KNOTS};
#define LEVELS (sizeof(levels) / sizeof(*levels))

/* What is fitted. */
struct shape {
	unsigned parts; /* between knots */
	bool round; /* cubics between them, else straight lines */
};

/* Of some instances: the normal equations of their fit at the finest knots. */
struct sums {
	double diagonal[FOLD_KNOTS + 1], beside[FOLD_KNOTS]; /* TIME: not used */
	double right[FOLD_KNOTS + 1]; /* TIME: seconds by part */
	double square, weight;
	double growth, seconds, instances, points;
};

struct fold_fit {
	enum fold_kind kind;
	double seconds; /* of all instances; 0: those of the groups */
	uint64_t points, random;
	float x[FOLD_POINTS], y[FOLD_POINTS];
	struct sums groups[GROUPS];
};

/* The system at coarser knots, and what solves it. */
struct system {
	unsigned parts;
	double diagonal[FOLD_KNOTS + 1], beside[FOLD_KNOTS], right[FOLD_KNOTS + 1];
};

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
	v = (v ^ v >> 27) * 0x94d049bb133111ebu;
	return v ^ v >> 31;
}

static uint64_t next_random(uint64_t *state)
{
	return mix(*state += 0x9e3779b97f4a7c15u);
}

/* ------------------------------------------------------------------ gathering */

struct fold_fit *fold_fit_new(enum fold_kind kind)
{
	struct fold_fit *fit = calloc(1, sizeof(*fit));

	if (fit)
		fit->kind = kind;
	return fit;
}

static struct sums *group_of(struct fold_fit *fit, uint64_t number)
{
	return &fit->groups[mix(number + 1) % GROUPS];
}

/* Each of all points is kept with the same chance. */
static void keep_point(struct fold_fit *fit, double x, double y)
{
	uint64_t at = fit->points++;

	if (at >= FOLD_POINTS)
		at = next_random(&fit->random) % fit->points;
	if (at < FOLD_POINTS) {
		fit->x[at] = (float)x;
		fit->y[at] = (float)y;
	}
}

void fold_fit_point(struct fold_fit *fit, uint64_t number, double x, double amount, double growth)
{
	struct sums *s = group_of(fit, number);
	double weight = fit->kind == FOLD_GROWTH ? growth : 1, y = amount / weight, left, right;
	unsigned part;

	if (!(x >= 0 && x <= 1) || !(weight > 0))
		return;
	keep_point(fit, x, y);
	s->points++;
	part = x < 1 ? (unsigned)(x * FOLD_KNOTS) : FOLD_KNOTS - 1;
	if (fit->kind == FOLD_TIME) {
		s->right[part] += amount;
		return;
	}
	right = x * FOLD_KNOTS - part;
	left = 1 - right;
	s->diagonal[part] += weight * left * left;
	s->diagonal[part + 1] += weight * right * right;
	s->beside[part] += weight * left * right;
	s->right[part] += weight * left * y;
	s->right[part + 1] += weight * right * y;
	s->square += weight * y * y;
	s->weight += weight;
}

void fold_fit_instance(struct fold_fit *fit, uint64_t number, double seconds, double growth)
{
	struct sums *s = group_of(fit, number);

	s->instances++;
	s->seconds += seconds;
	s->growth += growth;
}

void fold_fit_seconds(struct fold_fit *fit, double seconds)
{
	fit->seconds = seconds;
}

/* All their members are doubles. */
static void add_sums(struct sums *to, const struct sums *from, double times)
{
	double *t = (double *)to;
	const double *f = (const double *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(double); i++)
		t[i] += times * f[i];
}

/* ---------------------------------------------------------------------- fits */

/* The same equations where only every n-th knot is free and the others lie between. */
static void make_system(const struct sums *s, unsigned parts, struct system *ret)
{
	unsigned step = FOLD_KNOTS / parts;

	memset(ret, 0, sizeof(*ret));
	ret->parts = parts;
	for (unsigned k = 0; k <= FOLD_KNOTS; k++) {
		unsigned j = k < FOLD_KNOTS ? k / step : parts - 1;
		double r = (double)(k - j * step) / step, l = 1 - r, r2 = r + 1.0 / step, l2 = 1 - r2;

		ret->diagonal[j] += s->diagonal[k] * l * l;
		ret->diagonal[j + 1] += s->diagonal[k] * r * r;
		ret->beside[j] += s->diagonal[k] * l * r;
		ret->right[j] += s->right[k] * l;
		ret->right[j + 1] += s->right[k] * r;
		if (k == FOLD_KNOTS)
			break;
		ret->diagonal[j] += 2 * s->beside[k] * l * l2;
		ret->diagonal[j + 1] += 2 * s->beside[k] * r * r2;
		ret->beside[j] += s->beside[k] * (l * r2 + r * l2);
	}
}

/* Where there are no points the straight line between the knots around them is the least. */
static void stiffen(struct system *y)
{
	double sum = 0, pull;

	for (unsigned j = 0; j <= y->parts; j++)
		sum += y->diagonal[j];
	pull = STIFF * sum / y->parts;
	for (unsigned j = 0; j < y->parts; j++) {
		y->diagonal[j] += pull;
		y->diagonal[j + 1] += pull;
		y->beside[j] -= pull;
	}
}

/* The knots first to last, those beside them given: Thomas' algorithm, which destroys the system. */
static void solve(struct system *y, unsigned first, unsigned last, double *knots)
{
	if (first)
		y->right[first] -= y->beside[first - 1] * knots[first - 1];
	if (last < y->parts)
		y->right[last] -= y->beside[last] * knots[last + 1];
	for (unsigned j = first + 1; j <= last; j++) {
		double factor = y->beside[j - 1] / y->diagonal[j - 1];

		y->diagonal[j] -= factor * y->beside[j - 1];
		y->right[j] -= factor * y->right[j - 1];
	}
	for (unsigned j = last + 1; j-- > first;) {
		double behind = j < last ? y->beside[j] * knots[j + 1] : 0;

		knots[j] = (y->right[j] - behind) / y->diagonal[j];
	}
}

/* Isotonic regression: neighbours in the wrong order become their mean. */
static void make_monotone(double *knots, const double *weights, unsigned parts)
{
	double value[FOLD_KNOTS + 1], weight[FOLD_KNOTS + 1];
	unsigned length[FOLD_KNOTS + 1], pools = 0, at = 1;

	for (unsigned j = 1; j < parts; j++) {
		value[pools] = knots[j];
		weight[pools] = weights[j];
		length[pools++] = 1;
		while (pools > 1 && value[pools - 2] > value[pools - 1]) {
			double sum = weight[pools - 2] + weight[pools - 1];

			value[pools - 2] = (value[pools - 2] * weight[pools - 2] +
						   value[pools - 1] * weight[pools - 1]) /
					   sum;
			weight[pools - 2] = sum;
			length[pools - 2] += length[pools - 1];
			pools--;
		}
	}
	for (unsigned p = 0; p < pools; p++)
		while (length[p]--)
			knots[at++] = fmin(fmax(value[p], 0), 1);
}

/* False: there is nothing to fit. */
static bool fit_time(const struct sums *s, unsigned parts, double *knots)
{
	unsigned step = FOLD_KNOTS / parts;
	double sum = 0, all = 0;

	for (unsigned k = 0; k < FOLD_KNOTS; k++)
		all += s->right[k];
	for (unsigned j = 0; j < parts; j++) {
		knots[j] = sum / all;
		for (unsigned k = j * step; k < (j + 1) * step; k++)
			sum += s->right[k];
	}
	knots[parts] = 1;
	return all > 0;
}

static bool fit_knots(enum fold_kind kind, const struct sums *s, unsigned parts, double *knots)
{
	struct system y;
	double weights[FOLD_KNOTS + 1];

	if (kind == FOLD_TIME)
		return fit_time(s, parts, knots);
	if (!(s->weight > 0))
		return false;
	make_system(s, parts, &y);
	stiffen(&y);
	memcpy(weights, y.diagonal, sizeof(weights));
	knots[0] = 0;
	knots[parts] = 1;
	if (kind == FOLD_LEVEL) {
		solve(&y, 0, parts, knots);
	} else {
		solve(&y, 1, parts - 1, knots);
		make_monotone(knots, weights, parts);
	}
	return true;
}

/* The slope at an end, as if it went on changing as it does there. */
static double end_slope(double slope, double next, bool monotone)
{
	double most = 3 * fabs(slope), v = fmax(fmin(1.5 * slope - 0.5 * next, most), -most);

	return monotone ? fmax(v, 0) : v;
}

/* Slopes in the knots that keep a cubic between them monotone (Fritsch and Butland; knots are 1 apart). */
static void find_slopes(const double *knots, unsigned parts, bool monotone, double *slopes)
{
	for (unsigned j = 1; j < parts; j++) {
		double before = knots[j] - knots[j - 1], behind = knots[j + 1] - knots[j];

		slopes[j] = before * behind > 0 ? 2 * before * behind / (before + behind) : 0;
	}
	slopes[0] = end_slope(knots[1] - knots[0], slopes[1], monotone);
	slopes[parts] = end_slope(knots[parts] - knots[parts - 1], slopes[parts - 1], monotone);
}

/* The curve at the finest knots. False: there is nothing to fit. */
static bool fit_curve(enum fold_kind kind, const struct sums *s, struct shape shape, double *ret_at)
{
	unsigned parts = shape.parts, step = FOLD_KNOTS / parts;
	double knots[FOLD_KNOTS + 1], slopes[FOLD_KNOTS + 1];

	if (!fit_knots(kind, s, parts, knots))
		return false;
	find_slopes(knots, parts, kind != FOLD_LEVEL, slopes);
	for (unsigned k = 0; k <= FOLD_KNOTS; k++) {
		unsigned j = k < FOLD_KNOTS ? k / step : parts - 1;
		double t = (double)(k - j * step) / step, u = 1 - t;

		if (!shape.round) {
			ret_at[k] = knots[j] * u + knots[j + 1] * t;
			continue;
		}
		ret_at[k] = knots[j] * (1 + 2 * t) * u * u + slopes[j] * t * u * u +
			    knots[j + 1] * t * t * (3 - 2 * t) - slopes[j + 1] * t * t * u;
	}
	return true;
}

/* ---------------------------------------------------------- number of knots */

/* Sum of the squares of what the points lie beside the fit. */
static double error_of(const struct sums *s, const double *at)
{
	double sum = s->square;

	for (unsigned k = 0; k <= FOLD_KNOTS; k++)
		sum += at[k] * (s->diagonal[k] * at[k] - 2 * s->right[k]);
	for (unsigned k = 0; k < FOLD_KNOTS; k++)
		sum += 2 * s->beside[k] * at[k] * at[k + 1];
	return sum;
}

static double sum_of(const double errors[FOLDS])
{
	double sum = 0;

	for (unsigned f = 0; f < FOLDS; f++)
		sum += errors[f];
	return sum;
}

/* The coarsest level that is not significantly worse than the best. */
static unsigned coarsest(const double errors[LEVELS][FOLDS], unsigned count, double tolerance)
{
	double least = INFINITY;
	unsigned best = 0;

	for (unsigned l = 0; l < count; l++) {
		double sum = sum_of(errors[l]);

		if (sum < least) {
			least = sum;
			best = l;
		}
	}
	for (unsigned l = 0; l < best; l++) {
		double sum = 0, squares = 0, deviation;

		for (unsigned f = 0; f < FOLDS; f++) {
			double worse = errors[l][f] - errors[best][f];

			sum += worse;
			squares += worse * worse;
		}
		deviation = sqrt(fmax(squares - sum * sum / FOLDS, 0) * FOLDS / (FOLDS - 1));
		if (sum <= deviation + tolerance)
			return l;
	}
	return best;
}

/* How well instances are predicted by the others, for each shape. */
static void find_errors(const struct fold_fit *fit, const struct sums *all, unsigned count,
	double straight[LEVELS][FOLDS], double round[LEVELS][FOLDS])
{
	double at[FOLD_KNOTS + 1];

	for (unsigned f = 0; f < FOLDS; f++) {
		struct sums part = {0}, rest = *all;

		for (unsigned g = f; g < GROUPS; g += FOLDS)
			add_sums(&part, &fit->groups[g], 1);
		add_sums(&rest, &part, -1);
		for (unsigned l = 0; l < count; l++) {
			straight[l][f] = round[l][f] = 0;
			if (!(part.points > 0 && rest.points > 0))
				continue;
			fit_curve(fit->kind, &rest, (struct shape){levels[l], false}, at);
			straight[l][f] = error_of(&part, at);
			fit_curve(fit->kind, &rest, (struct shape){levels[l], true}, at);
			round[l][f] = error_of(&part, at);
		}
	}
}

static unsigned choose_by_points(
	const struct fold_fit *fit, const struct sums *all, unsigned count, bool *ret_round)
{
	double straight[LEVELS][FOLDS], round[LEVELS][FOLDS], scale = all->weight;
	unsigned level, other;

	find_errors(fit, all, count, straight, round);
	if (fit->kind == FOLD_LEVEL)
		scale = all->square;
	level = coarsest(straight, count, NOISE * scale);
	other = coarsest(round, count, NOISE * scale);
	*ret_round = sum_of(round[other]) < sum_of(straight[level]);
	return *ret_round ? other : level;
}

/* For a density there is a closed form (Rudemo): least squares, leaving out one sample after the other. */
static unsigned choose_by_density(const struct sums *all, unsigned count)
{
	double risk[LEVELS], n = all->points, knots[FOLD_KNOTS + 1];
	unsigned best = 0;

	for (unsigned l = 0; l < count; l++) {
		double squares = 0;

		fit_time(all, levels[l], knots);
		for (unsigned j = 0; j < levels[l]; j++)
			squares += (knots[j + 1] - knots[j]) * (knots[j + 1] - knots[j]);
		risk[l] = levels[l] * (2 - (n + 1) * squares) / (n - 1);
		if (risk[l] < risk[best])
			best = l;
	}
	for (unsigned l = 0; l < best; l++)
		if (risk[l] <= risk[best] + sqrt(2.0 * levels[best]) / n)
			return l;
	return best;
}

static unsigned groups_with_points(const struct fold_fit *fit)
{
	unsigned n = 0;

	for (unsigned g = 0; g < GROUPS; g++)
		n += fit->groups[g].points > 0;
	return n;
}

/* Index of the level, and how many may be used at all. */
static unsigned choose(
	const struct fold_fit *fit, const struct sums *all, unsigned *ret_count, bool *ret_round)
{
	unsigned count = 1;

	while (count < LEVELS && all->points >= POINTS_PART * levels[count])
		count++;
	*ret_count = count;
	*ret_round = false;
	if (groups_with_points(fit) < GROUPS_LEAST)
		return count - 1;
	return fit->kind == FOLD_TIME ? choose_by_density(all, count)
				      : choose_by_points(fit, all, count, ret_round);
}

/* ------------------------------------------------------------------ results */

/* `growth` by the mean instance, `seconds` that it lasts. */
static void find_rates(
	enum fold_kind kind, const double *at, double growth, double seconds, double ret[FOLD_ROWS])
{
	unsigned step = FOLD_KNOTS / FOLD_ROWS;

	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		const double *from = &at[row * step];
		double sum = (from[0] + from[step]) / 2;

		for (unsigned k = 1; k < step; k++)
			sum += from[k];
		ret[row] = kind == FOLD_LEVEL ? sum / step
			   : seconds > 0      ? (from[step] - from[0]) * growth * FOLD_ROWS / seconds
					      : 0;
	}
}

/* What the mean instance has. */
static void find_mean(
	const struct fold_fit *fit, const struct sums *s, double *ret_growth, double *ret_seconds)
{
	double growth = s->growth, seconds = s->seconds;

	if (fit->kind == FOLD_TIME) {
		growth = 0;
		for (unsigned k = 0; k < FOLD_KNOTS; k++)
			growth += s->right[k];
		if (fit->seconds > 0 && s->seconds > 0)
			growth *= s->seconds / fit->seconds; /* as if instances without samples were here */
	}
	*ret_growth = s->instances > 0 ? growth / s->instances : 0;
	*ret_seconds = s->instances > 0 ? seconds / s->instances : 0;
}

/* False: there is nothing to fit. */
static bool fit_rates(const struct fold_fit *fit, const struct sums *s, struct shape shape, double *ret_at,
	double ret_rates[FOLD_ROWS])
{
	double growth, seconds;

	if (!fit_curve(fit->kind, s, shape, ret_at))
		return false;
	find_mean(fit, s, &growth, &seconds);
	find_rates(fit->kind, ret_at, growth, seconds, ret_rates);
	return true;
}

static void bootstrap(const struct fold_fit *fit, struct shape shape, struct fold_curve *ret)
{
	double sum[FOLD_ROWS] = {0}, squares[FOLD_ROWS] = {0}, at[FOLD_KNOTS + 1], rates[FOLD_ROWS];
	uint64_t random = 1;
	unsigned done = 0;

	for (unsigned i = 0; i < REPEATS; i++) {
		struct sums s = {0};

		for (unsigned g = 0; g < GROUPS; g++)
			add_sums(&s, &fit->groups[next_random(&random) % GROUPS], 1);
		if (!fit_rates(fit, &s, shape, at, rates))
			continue;
		done++;
		for (unsigned row = 0; row < FOLD_ROWS; row++) {
			sum[row] += rates[row];
			squares[row] += rates[row] * rates[row];
		}
	}
	for (unsigned row = 0; done > 1 && row < FOLD_ROWS; row++) {
		double mean = sum[row] / done;
		double error = WITHIN * sqrt(fmax(squares[row] - done * mean * mean, 0) / (done - 1));

		ret->low[row] = fmin(mean - error, ret->rate[row]);
		ret->high[row] = fmax(mean + error, ret->rate[row]);
		if (fit->kind != FOLD_LEVEL)
			ret->low[row] = fmax(ret->low[row], 0);
	}
}

void fold_fit_make(const struct fold_fit *fit, struct fold_curve *ret)
{
	struct sums all = {0};
	struct shape shape;
	unsigned level, count;
	double seconds;

	*ret = (struct fold_curve){.points = fit->points};
	memcpy(ret->x, fit->x, sizeof(ret->x));
	memcpy(ret->y, fit->y, sizeof(ret->y));
	for (unsigned row = 0; row < FOLD_ROWS; row++)
		ret->rate[row] = ret->low[row] = ret->high[row] = NAN;
	for (unsigned g = 0; g < GROUPS; g++)
		add_sums(&all, &fit->groups[g], 1);
	find_mean(fit, &all, &ret->growth, &seconds);
	shape.parts = levels[level = choose(fit, &all, &count, &shape.round)];
	if (!fit_rates(fit, &all, shape, ret->at, ret->rate))
		return;
	ret->parts = shape.parts;
	shape.parts = levels[level + (level + 1 < count)];
	if (groups_with_points(fit) >= GROUPS_LEAST)
		bootstrap(fit, shape, ret);
}

/* ----------------------------------------------------------------- durations */

static double scale_of(uint64_t duration)
{
	return log1p((double)duration);
}

void fold_limits(uint64_t *durations, uint64_t count, double spread, uint64_t *ret_middle,
	uint64_t *ret_least, uint64_t *ret_most)
{
	double middle, deviation, least, most;

	*ret_middle = *ret_least = 0;
	*ret_most = UINT64_MAX;
	if (!count)
		return;
	qsort(durations, count, sizeof(*durations), compare_u64);
	*ret_middle = durations[count / 2];
	if (!(spread > 0))
		return;
	middle = scale_of(*ret_middle);
	for (uint64_t i = 0; i < count; i++) {
		double v = fabs(scale_of(durations[i]) - middle);

		memcpy(&durations[i], &v,
			sizeof(v)); /* bits of numbers that are not negative have their order */
	}
	qsort(durations, count, sizeof(*durations), compare_u64);
	memcpy(&deviation, &durations[count / 2], sizeof(deviation));
	deviation = spread * fmax(MAD_TO_DEVIATION * deviation, LEAST_DEVIATION);
	least = expm1(middle - deviation);
	most = expm1(middle + deviation);
	*ret_least = least > 0 ? (uint64_t)least : 0;
	*ret_most = most < 1e19 ? (uint64_t)ceil(most) : UINT64_MAX;
}
