/* A plate whose rows are shared out to the ranks; each file does one thing with it. */
#ifndef PLATE_H
#define PLATE_H

#define SIDE 64

struct plate {
	int rank, size;
	double now[3][SIDE], next[SIDE]; /* the own row between those of the neighbours */
};

/* The neighbours' rows. exchange.c */
void plate_exchange(struct plate *p);

/* The next state of the own row; takes longer on some ranks. relax.c */
double plate_relax(struct plate *p, int step);

/* Is it over? The same answer on all ranks. converge.c */
int plate_converged(double change);

/* One rank after the other, as programs do that print. output.c */
void plate_output(const struct plate *p, int step);

#endif
