/* A cloud of bodies that attract each other. */
#ifndef BODIES_H
#define BODIES_H

struct body {
	double x[3]; /* place */
	double v[3]; /* speed */
	double a[3]; /* acceleration, by forces() */
	double mass;
};

/* Accelerations of the bodies first ... last - 1 by all `count` bodies. */
void forces(struct body *bodies, int count, int first, int last);

/* Energy of the bodies first ... last - 1: of their motion, and of all pairs with a body in front. */
double energy(const struct body *bodies, int first, int last);

#endif
