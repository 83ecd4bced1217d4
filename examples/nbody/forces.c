/* Where the time goes: each body against each. */
#include "bodies.h"

#include <math.h>

#define SOFTENING 1e-4 /* keeps close encounters finite */

static inline double distance2(const struct body *a, const struct body *b, double d[3])
{
	double sum = SOFTENING;

	for (int k = 0; k < 3; k++) {
		d[k] = b->x[k] - a->x[k];
		sum += d[k] * d[k];
	}
	return sum;
}

static inline void pull(struct body *a, const struct body *b)
{
	double d[3], r2 = distance2(a, b, d);
	double strength = b->mass / (r2 * sqrt(r2));

	for (int k = 0; k < 3; k++)
		a->a[k] += d[k] * strength;
}

void forces(struct body *bodies, int count, int first, int last)
{
	for (int i = first; i < last; i++) {
		bodies[i].a[0] = bodies[i].a[1] = bodies[i].a[2] = 0;
		for (int j = 0; j < count; j++)
			pull(&bodies[i], &bodies[j]);
	}
}

double energy(const struct body *bodies, int first, int last)
{
	double sum = 0, d[3];

	for (int i = first; i < last; i++) {
		const struct body *a = &bodies[i];

		sum += a->mass * (a->v[0] * a->v[0] + a->v[1] * a->v[1] + a->v[2] * a->v[2]) / 2;
		for (int j = 0; j < i; j++)
			sum -= a->mass * bodies[j].mass / sqrt(distance2(a, &bodies[j], d));
	}
	return sum;
}
