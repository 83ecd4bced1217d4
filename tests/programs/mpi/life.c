/*
 * How programs of MPI begin, go wrong and end: life SCENARIO. What they print and return must not change
 * when they are measured.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <hybrid/hybrid.h>

#include "truth.h"

#define BARRIERS 10

static void barriers(void)
{
	for (int i = 0; i < BARRIERS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void finalize(void)
{
	barriers();
	MPI_Finalize();
}

/* The process ends without MPI_Finalize: _exit runs no handlers at all. */
static void leave_early(void)
{
	barriers();
	fflush(NULL);
	_exit(0);
}

static void killed(void)
{
	barriers();
	if (rank == 1)
		raise(SIGKILL);
	for (;;)
		sleep_ms(1000);
}

static void *kill_soon(void *data)
{
	sleep_ms(300);
	raise(SIGKILL);
	return NULL;
}

/* Killed while it sleeps, its last call of MPI long over. */
static void asleep(void)
{
	char byte = 0;
	pthread_t id;

	if (rank == 0)
		MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	if (rank == 1) {
		pthread_create(&id, NULL, kill_soon, NULL);
		MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (;;)
		sleep_ms(1000);
}

static void crash(void)
{
	barriers();
	if (rank == 1)
		raise(SIGSEGV);
	for (;;)
		sleep_ms(1000);
}

static void give_up(void)
{
	barriers();
	if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 37);
	for (;;)
		sleep_ms(1000);
}

/* Each code that MPI returns goes into truth, and what it says of it onto stdout. */
static void check(const char *function, int code)
{
	char text[MPI_MAX_ERROR_STRING];
	int length, class;

	MPI_Error_class(code, &class);
	MPI_Error_string(class, text, &length);
	truth("%s %d", function, code);
	printf("%s: %s\n", function, text);
}

static void null_pointers(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int number;

	check("MPI_Wait", MPI_Wait(NULL, MPI_STATUS_IGNORE));
	check("MPI_Waitall", MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
	check("MPI_Waitany", MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE));
	check("MPI_Waitsome", MPI_Waitsome(1, &request, NULL, &number, MPI_STATUSES_IGNORE));
	check("MPI_Request_free", MPI_Request_free(NULL));
	check("MPI_Cancel", MPI_Cancel(NULL));
#ifndef OPEN_MPI /* which crashes */
	check("MPI_Comm_free", MPI_Comm_free(NULL));
	check("MPI_Mrecv", MPI_Mrecv(&number, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
#endif
}

static void errors(void)
{
	int number = 0, five[5];
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	MPI_Comm comm;
	MPI_File file;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	check("MPI_Send", MPI_Send(&number, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD));
	check("MPI_Send", MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
	check("MPI_Recv", MPI_Recv(&number, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &status));
	check("MPI_Isend", MPI_Isend(&number, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request));
	check("MPI_Bcast", MPI_Bcast(&number, 1, MPI_INT, size, MPI_COMM_WORLD));
	check("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_NULL, &comm));
	check("MPI_File_open",
		MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	/* A message that does not fit. */
	MPI_Irecv(&number, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
	MPI_Send(five, 5, MPI_INT, rank, 3, MPI_COMM_WORLD);
	check("MPI_Wait", MPI_Wait(&request, &status));
	null_pointers();
	MPI_Finalize();
}

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(back, 1);
}

/* Jumps out of MPI; what comes after is as before. */
static void jumps(void)
{
	MPI_Errhandler handler;
	volatile int turn;

	MPI_Comm_create_errhandler(jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (turn = 0; turn < 5; turn++)
		if (!setjmp(back))
			MPI_Send(NULL, 1, MPI_INT, size + 9, 0, MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	barriers();
	MPI_Finalize();
}

static void wait_for_nothing(void)
{
	for (int i = 0; i < BARRIERS; i++) {
		MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
}

/* Jumps out of MPI within a region, and goes on in another one, deeper on the stack. */
static void astray(void)
{
	MPI_Errhandler handler;
	MPI_Comm comm;
	int number = rank;

	MPI_Comm_create_errhandler(jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	wait_for_nothing();
	if (!setjmp(back))
		MPI_Bcast(NULL, 1, MPI_INT, size + 9, MPI_COMM_WORLD);
	wait_for_nothing();
	HYBRID_ENTER("before");
	if (!setjmp(back))
		MPI_Bcast(NULL, 1, MPI_INT, size + 9, MPI_COMM_WORLD);
	HYBRID_LEAVE("before");
	HYBRID_ENTER("after");
	wait_for_nothing();
	HYBRID_LEAVE("after");
	/* One of them, and all go on with a communicator that they make together. */
	if (!rank && !setjmp(back))
		MPI_Comm_dup(MPI_COMM_NULL, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
	MPI_Finalize();
}

static void *pause_for_a_while(void *data)
{
	sleep_ms(100);
	hybrid_pause();
	sleep_ms(400);
	hybrid_resume();
	return data;
}

/* A receive ends while another thread has paused. */
static void paused(void)
{
	pthread_t other;
	int number = 0;

	if (rank) {
		sleep_ms(300);
		MPI_Send(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	} else {
		pthread_create(&other, NULL, pause_for_a_while, NULL);
		MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		pthread_join(other, NULL);
	}
	wait_for_nothing();
	MPI_Finalize();
}

/* Only what is between a pause and the end of it is not measured. */
static void control(void)
{
	barriers();
	MPI_Pcontrol(0);
	for (int i = 0; i < 7; i++)
		MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Pcontrol(1);
	barriers();
	MPI_Pcontrol(2, "anything", 3.0);
	MPI_Finalize();
}

/* A call that MPI makes while it serves another: a reduction of our own asks MPI. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
	int bytes, version, subversion;

	MPI_Type_size(*type, &bytes);
	MPI_Get_version(&version, &subversion);
	for (int i = 0; i < *count; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void inside(void)
{
	MPI_Op op;
	int sum = 0;

	MPI_Op_create(add, 1, &op);
	for (int i = 0; i < BARRIERS; i++)
		MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	expect(sum == size, "the sum");
	MPI_Op_free(&op);
	MPI_Finalize();
}

static MPI_Comm comms[8];

static void *converse(void *data)
{
	int me = (int)(long)data, number = rank;

	for (int i = 0; i < 100 + me; i++) {
		if (rank == 0) {
			MPI_Send(&number, 1, MPI_INT, 1, me, comms[me]);
			MPI_Recv(&number, 1, MPI_INT, 1, me, comms[me], MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&number, 1, MPI_INT, 0, me, comms[me], MPI_STATUS_IGNORE);
			MPI_Send(&number, 1, MPI_INT, 0, me, comms[me]);
		}
		truth("MPI_Send send %d %d 4 0", 1 - rank, me);
		truth("MPI_Recv recv %d %d 0 4", 1 - rank, me);
	}
	return NULL;
}

/* 4 threads of each of 2 ranks, each pair on a communicator of its own. */
static void threads(void)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (long i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, converse, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 4; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
}

/* What calls last, measured here: ns from 0 in the order of the calls. */
static void times(void)
{
	for (int i = 0; i < 5; i++) {
		double start;

		if (rank == 0)
			sleep_ms(20 * (i + 1));
		start = now_ns();
		MPI_Barrier(MPI_COMM_WORLD);
		truth("%.0f %.0f", start, now_ns());
	}
	MPI_Finalize();
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {{"finalize", finalize}, {"early", leave_early},
		{"killed", killed}, {"asleep", asleep}, {"crash", crash}, {"abort", give_up},
		{"errors", errors}, {"jumps", jumps}, {"astray", astray}, {"paused", paused},
		{"control", control}, {"inside", inside}, {"threads", threads}, {"times", times},
		{NULL, NULL}};
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "threads")) {
		int level;

		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
		if (level < MPI_THREAD_MULTIPLE) {
			puts("no threads");
			MPI_Finalize();
			return 0;
		}
	} else {
		MPI_Init(&argc, &argv);
	}
	truth_begin();
	return play(scenarios, what);
}
