/*
 * alike COUNT SIZES TURNS: in each of two ranks 4 threads; those of rank 0 send COUNT messages each to rank
 * 1, all with one envelope, of SIZES different sizes; those of rank 1 receive as many. TURNS: one thread at a
 * time. Message: thread of the sender, number in it. Truth: the thread's id, then "THREAD NUMBER" of each
 * message that it received, in a file of its own, $TRUTH.RANK.THREAD.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4

static int count, sizes, turns, rank;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *argument)
{
	int thread = (int)(long)argument, data[64] = {thread};
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.%d.%d", getenv("TRUTH"), rank, thread);
	out = fopen(name, "w");
	if (!out)
		abort();
	fprintf(out, "%d\n", (int)syscall(SYS_gettid));
	for (int i = 0; i < count; i++) {
		if (turns)
			pthread_mutex_lock(&turn);
		data[1] = i;
		if (rank)
			MPI_Recv(data, 64, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(data, 2 + (thread + i) % sizes, MPI_INT, 1, 5, MPI_COMM_WORLD);
		if (turns)
			pthread_mutex_unlock(&turn);
		if (rank)
			fprintf(out, "%d %d\n", data[0], data[1]);
	}
	fclose(out);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 3);
	count = atoi(argv[1]);
	sizes = atoi(argv[2]);
	turns = atoi(argv[3]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	return 0;
}
