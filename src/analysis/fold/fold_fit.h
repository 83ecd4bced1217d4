/*
 * The mathematics of folding: what many instances of a region have in common. Points of all of them lie on
 * one instance from 0 to 1; a curve is fitted to how much a metric had grown there, and its slope is the
 * rate.
 *
 *  - The curve goes through knots at equal distances and is a least-squares fit to the points, each weighing
 *    as much as its instance's growth (so all instances together count as one). What only grows starts at 0,
 *    ends at 1 and is made monotone by pooling; between knots stands a monotone cubic.
 *  - Time is known by where samples on a clock are: its curve is the share of them in front of a place.
 *  - How many knots there are is chosen by cross-validation, the fewest that predict points of other
 *    instances as well as the best number does.
 *  - Errors are bootstrapped over groups of instances, with twice the knots: so they cover what the
 *    chosen number smoothes away as well.
 *
 * Sums of groups are all that is kept of the points: memory does not depend on their number. The same input
 * gives the same output. Nothing here allocates but fold_fit_new().
 */
#ifndef HYB_FOLD_FIT_H
#define HYB_FOLD_FIT_H

#include <stdbool.h>
#include <stdint.h>

#define FOLD_ROWS 20u /* equal parts of an instance that results are given for */
#define FOLD_KNOTS 160u /* finest parts */
#define FOLD_POINTS 1500u /* that are kept for a plot */

enum fold_kind {
	FOLD_GROWTH = 1, /* a count: how much of its growth is behind a place */
	FOLD_LEVEL = 2, /* goes up and down: its value at a place; no rate */
	FOLD_TIME = 3, /* what samples stand for */
};

struct fold_curve {
	unsigned parts; /* between knots that were chosen; 0: there are no points */
	uint64_t points;
	double growth; /* of the mean instance; TIME: seconds */
	double at[FOLD_KNOTS + 1]; /* GROWTH and TIME: share of it; LEVEL: value */
	/* Per second of the mean instance (LEVEL: the value itself), and its 95 % range; NAN: not known. */
	double rate[FOLD_ROWS], low[FOLD_ROWS], high[FOLD_ROWS];
	float x[FOLD_POINTS], y[FOLD_POINTS]; /* any of the points, as many as there are or fit in here */
};

struct fold_fit;

/* To be freed by free(); NULL: memory is out. */
struct fold_fit *fold_fit_new(enum fold_kind kind);

/*
 * A point of instance `number` at `x`, 0 to 1. GROWTH: it had grown by `amount` there, and by `growth` in
 * all; LEVEL: its value was `amount`; TIME: `amount` seconds.
 */
void fold_fit_point(struct fold_fit *fit, uint64_t number, double x, double amount, double growth);

/* Instance `number`, with points or without: how long it was and by how much the metric grew. */
void fold_fit_instance(struct fold_fit *fit, uint64_t number, double seconds, double growth);

/* Seconds of all instances, if there were more than were added. */
void fold_fit_seconds(struct fold_fit *fit, double seconds);

void fold_fit_make(const struct fold_fit *fit, struct fold_curve *ret);

/*
 * The middle one of `count` durations (which are destroyed); and the least and the most that is not further
 * from it than `spread` robust standard deviations, on a logarithmic scale. spread 0: all are in between.
 */
void fold_limits(uint64_t *durations, uint64_t count, double spread, uint64_t *ret_middle,
	uint64_t *ret_least, uint64_t *ret_most);

#endif
