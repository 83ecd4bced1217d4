/*
 * nbody [STEPS]: two threads move a cloud of bodies. A program to be measured:
 * a hot function in another file, a thread that waits for the other (energy()
 * gives the second half more work), and snapshots that wait for the disk.
 *
 *     cc -O2 -g -pthread -Iinclude examples/nbody/nbody.c examples/nbody/forces.c -o nbody -lm
 *     hybrid-run ./nbody
 */
#include "bodies.h"

#include <hybrid/hybrid.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BODIES 3000
#define THREADS 2
#define STEP 1e-4
#define ENERGY_EVERY 5 /* steps */
#define SNAPSHOT_EVERY 2

struct simulation {
	struct body bodies[BODIES];
	int steps;
	double energy[THREADS];
	pthread_barrier_t barrier;
	FILE *snapshot;
};

struct worker {
	struct simulation *simulation;
	int number;
	pthread_t thread;
};

static double random_place(unsigned *seed)
{
	return rand_r(seed) / (double)RAND_MAX - 0.5;
}

static void place(struct simulation *s)
{
	unsigned seed = 1;

	for (int i = 0; i < BODIES; i++) {
		for (int k = 0; k < 3; k++)
			s->bodies[i].x[k] = random_place(&seed);
		s->bodies[i].mass = 1.0 / BODIES;
	}
}

static void move(struct body *bodies, int first, int last)
{
	for (int i = first; i < last; i++)
		for (int k = 0; k < 3; k++) {
			bodies[i].v[k] += bodies[i].a[k] * STEP;
			bodies[i].x[k] += bodies[i].v[k] * STEP;
		}
}

/* Not waiting costs nothing; what is waited here is the other thread's work. */
static void wait_for_all(struct simulation *s)
{
	HYBRID_ENTER("wait for all");
	pthread_barrier_wait(&s->barrier);
	HYBRID_LEAVE("wait for all");
}

static void write_snapshot(struct simulation *s)
{
	HYBRID_ENTER("snapshot");
	rewind(s->snapshot);
	for (int i = 0; i < BODIES; i++)
		fprintf(s->snapshot, "%.17g %.17g %.17g\n", s->bodies[i].x[0], s->bodies[i].x[1],
			s->bodies[i].x[2]);
	fflush(s->snapshot);
	fdatasync(fileno(s->snapshot));
	HYBRID_LEAVE("snapshot");
}

static void step(struct worker *worker, int number)
{
	struct simulation *s = worker->simulation;
	int first = BODIES / THREADS * worker->number, last = first + BODIES / THREADS;

	forces(s->bodies, BODIES, first, last);
	wait_for_all(s);
	move(s->bodies, first, last);
	wait_for_all(s);
	if (number % ENERGY_EVERY == 0)
		s->energy[worker->number] = energy(s->bodies, first, last);
	if (number % SNAPSHOT_EVERY == 0 && worker->number == 0)
		write_snapshot(s);
	wait_for_all(s);
}

static void *work(void *data)
{
	struct worker *worker = data;

	hybrid_thread_name(worker->number ? "second half" : "first half");
	HYBRID_ENTER("simulate");
	for (int i = 0; i < worker->simulation->steps; i++)
		step(worker, i);
	HYBRID_LEAVE("simulate");
	return NULL;
}

int main(int argc, char **argv)
{
	static struct simulation simulation;
	struct worker workers[THREADS];

	simulation.steps = argc > 1 ? atoi(argv[1]) : 100;
	simulation.snapshot = tmpfile();
	if (!simulation.snapshot) {
		perror("nbody: no temporary file");
		return 1;
	}
	place(&simulation);
	pthread_barrier_init(&simulation.barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){&simulation, i, 0};
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	printf("energy %.6f after %d steps\n", simulation.energy[0] + simulation.energy[1], simulation.steps);
	return 0;
}
