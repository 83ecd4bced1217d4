/*
 * Requests whose traffic is known: requests SCENARIO, 2 ranks. Rank 0 sends, rank 1 receives.
 */
#include "truth.h"

#define COUNT 6

static int data[COUNT][8];
static MPI_Request requests[COUNT];

/* Message i has i + 1 numbers and tag i. */
static int bytes_of(int i)
{
	return (i + 1) * (int)sizeof(int);
}

static void start_all(void)
{
	for (int i = 0; i < COUNT; i++) {
		data[i][0] = 1000 + i;
		if (rank == 0) {
			MPI_Isend(data[i], i + 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
			truth("MPI_Isend send 1 %d %d 0", i, bytes_of(i));
		} else {
			data[i][0] = 0;
			MPI_Irecv(data[i], 8, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, i, MPI_COMM_WORLD,
				&requests[i]);
			truth("MPI_Irecv posted");
		}
	}
}

static void completed(const char *function, int i)
{
	if (rank == 0) {
		truth("* sent");
		return;
	}
	expect(data[i][0] == 1000 + i, function);
	truth("%s recv 0 %d 0 %d", function, i, bytes_of(i));
}

static void wait_each(void)
{
	start_all();
	for (int i = COUNT - 1; i >= 0; i--) {
		MPI_Wait(&requests[i], i % 2 ? MPI_STATUS_IGNORE : &(MPI_Status){0});
		completed("MPI_Wait", i);
	}
}

static void wait_all(void)
{
	MPI_Status statuses[COUNT];

	for (int turn = 0; turn < 2; turn++) {
		start_all();
		MPI_Waitall(COUNT, requests, turn ? statuses : MPI_STATUSES_IGNORE);
		for (int i = 0; i < COUNT; i++)
			completed("MPI_Waitall", i);
	}
}

static void wait_some(void)
{
	int count, indices[COUNT];
	MPI_Status statuses[COUNT];

	for (int turn = 0; turn < 2; turn++) {
		start_all();
		for (int left = COUNT; left; left -= count) {
			MPI_Waitsome(COUNT, requests, &count, indices, turn ? statuses : MPI_STATUSES_IGNORE);
			for (int k = 0; k < count; k++)
				completed("MPI_Waitsome", indices[k]);
		}
	}
}

static void wait_any(void)
{
	int index;

	start_all();
	for (int left = COUNT; left; left--) {
		MPI_Waitany(COUNT, requests, &index, left % 2 ? MPI_STATUS_IGNORE : &(MPI_Status){0});
		completed("MPI_Waitany", index);
	}
}

static void test_each(void)
{
	int flag;

	if (rank == 0)
		sleep_ms(20);
	start_all();
	for (int i = 0; i < COUNT; i++) {
		MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
		while (!flag) {
			truth("MPI_Test tested");
			sleep_ms(1);
			MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
		}
		completed("MPI_Test", i);
	}
}

static void test_many(void)
{
	int flag = 0, count, index, indices[COUNT];

	start_all();
	while (!flag)
		MPI_Testall(COUNT, requests, &flag, MPI_STATUSES_IGNORE);
	for (int i = 0; i < COUNT; i++)
		completed("MPI_Testall", i);
	start_all();
	for (int left = COUNT; left; left -= count) {
		MPI_Testsome(COUNT, requests, &count, indices, MPI_STATUSES_IGNORE);
		for (int k = 0; k < count; k++)
			completed("MPI_Testsome", indices[k]);
	}
	start_all();
	for (int left = COUNT; left; left -= flag) {
		MPI_Testany(COUNT, requests, &index, &flag, MPI_STATUS_IGNORE);
		if (flag)
			completed("MPI_Testany", index);
	}
}

/* Two are looked at until they are complete: one is freed then. */
static void get_status(void)
{
	MPI_Status status;
	int flag;

	start_all();
	for (int i = 0; i < 2; i++) {
		for (flag = 0; !flag;)
			MPI_Request_get_status(requests[i], &flag, i ? MPI_STATUS_IGNORE : &status);
		completed("MPI_Request_get_status", i);
	}
	MPI_Request_free(&requests[0]);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	for (int i = 2; i < COUNT; i++) {
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		completed("MPI_Wait", i);
	}
}

/* Of all, one is cancelled; one of those sent is freed before it is complete. */
static void cancel(void)
{
	MPI_Request request;
	MPI_Status status;
	int flag;

	if (rank == 1) {
		MPI_Irecv(data[0], 8, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
		truth("MPI_Irecv posted");
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &flag);
		expect(flag, "a receive that nobody sends to can be cancelled");
		truth("* cancelled");
		MPI_Recv(data[0], 8, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 1 0 4");
	} else {
		MPI_Issend(data[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
		truth("MPI_Issend send 1 1 4 0");
		MPI_Request_free(&request);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	truth("MPI_Barrier collective -1 - 0 0");
}

static void persistent(void)
{
	for (int i = 0; i < COUNT; i++) {
		if (rank == 0)
			MPI_Send_init(data[i], i + 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Recv_init(data[i], 8, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
	}
	for (int turn = 0; turn < 3; turn++) {
		const char *function = turn ? "MPI_Startall" : "MPI_Start";

		for (int i = 0; i < COUNT; i++) {
			data[i][0] = rank ? 0 : 1000 + i;
			if (!turn)
				MPI_Start(&requests[i]);
			if (rank == 0)
				truth("%s send 1 %d %d 0", function, i, bytes_of(i));
			else
				truth("%s posted", function);
		}
		if (turn)
			MPI_Startall(COUNT, requests);
		MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < COUNT; i++)
			completed("MPI_Waitall", i);
		/* Not active: nothing happens. */
		MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < COUNT; i++)
		MPI_Request_free(&requests[i]);
}

#if MPI_VERSION >= 4
/* A message of 4 parts of 8 numbers, twice. */
static void partitioned(void)
{
	int parts[4][8] = {0}, arrived;
	MPI_Request request;

	if (rank == 0)
		MPI_Psend_init(parts, 4, 8, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	else
		MPI_Precv_init(parts, 4, 8, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int turn = 0; turn < 2; turn++) {
		MPI_Start(&request);
		if (rank == 0) {
			truth("MPI_Start send 1 7 128 0");
			for (int i = 0; i < 4; i++)
				MPI_Pready(i, request);
		} else {
			truth("MPI_Start posted");
			for (arrived = 0; !arrived;)
				MPI_Parrived(request, 2, &arrived);
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		truth(rank ? "MPI_Wait recv 0 7 0 128" : "* sent");
	}
	MPI_Request_free(&request);
}
#endif

/* More requests at once than any first table holds, completed in another order. */
static void many(void)
{
	enum { MANY = 5000 };
	static MPI_Request all[MANY];
	static int numbers[MANY];

	for (int i = 0; i < MANY; i++) {
		int k = i * 7 % MANY; /* each once */

		if (rank == 0) {
			MPI_Isend(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &all[k]);
			truth("MPI_Isend send 1 %d 4 0", i);
			truth("* sent");
		} else {
			MPI_Irecv(&numbers[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &all[k]);
			truth("MPI_Irecv posted");
			truth("MPI_Waitall recv 0 %d 0 4", i);
		}
	}
	MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"wait", wait_each},
		{"waitall", wait_all},
		{"waitsome", wait_some},
		{"waitany", wait_any},
		{"test", test_each},
		{"testmany", test_many},
		{"getstatus", get_status},
		{"cancel", cancel},
		{"persistent", persistent},
#if MPI_VERSION >= 4
		{"partitioned", partitioned},
#endif
		{"many", many},
		{NULL, NULL}
	};
	int status;

	MPI_Init(&argc, &argv);
	truth_begin();
	status = play(scenarios, argc > 1 ? argv[1] : "");
	MPI_Finalize();
	return status;
}
