/*
 * Point-to-point messages whose traffic is known: messages SCENARIO, 2 ranks or more. Receivers know what
 * they got from what it says itself: each message begins with its sender's rank, tag and bytes.
 */
#include "truth.h"

#define BYTES_MAX 4096

struct letter {
	int from, tag, bytes;
	char rest[BYTES_MAX];
};

static struct letter out, in;

static void *write_letter(int tag, int bytes)
{
	out.from = rank;
	out.tag = tag;
	out.bytes = bytes;
	return &out;
}

static void got(const char *function, const struct letter *letter)
{
	truth("%s recv %d %d 0 %d", function, letter->from, letter->tag, letter->bytes);
}

/* Sends and receives of all modes; rank 0 to 1, and the others to 0. */
static void blocking(void)
{
	static char buffer[100000];

	if (rank == 0) {
		for (int i = 0; i < 5; i++) {
			MPI_Send(write_letter(i, 100 + i), 100 + i, MPI_BYTE, 1, i, MPI_COMM_WORLD);
			truth("MPI_Send send 1 %d %d 0", i, 100 + i);
		}
		MPI_Ssend(write_letter(10, 12), 12, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
		truth("MPI_Ssend send 1 10 12 0");
		MPI_Buffer_attach(buffer, sizeof(buffer));
		MPI_Bsend(write_letter(11, 2000), 2000, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
		truth("MPI_Bsend send 1 11 2000 0");
		MPI_Buffer_detach(&(void *){NULL}, &(int){0});
		MPI_Recv(&in, sizeof(in), MPI_BYTE, 1, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got("MPI_Recv", &in);
		MPI_Rsend(write_letter(12, 64), 64, MPI_BYTE, 1, 12, MPI_COMM_WORLD);
		truth("MPI_Rsend send 1 12 64 0");
	} else if (rank == 1) {
		MPI_Request ready;
		MPI_Status status;

		for (int i = 0; i < 5; i++) {
			MPI_Recv(&in, sizeof(in), MPI_BYTE, 0, i, MPI_COMM_WORLD,
				i % 2 ? &status : MPI_STATUS_IGNORE);
			got("MPI_Recv", &in);
		}
		for (int tag = 10; tag < 12; tag++) {
			MPI_Recv(&in, sizeof(in), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
			got("MPI_Recv", &in);
		}
		MPI_Irecv(&in, sizeof(in), MPI_BYTE, 0, 12, MPI_COMM_WORLD, &ready);
		truth("MPI_Irecv posted");
		MPI_Send(write_letter(13, 12), 12, MPI_BYTE, 0, 13, MPI_COMM_WORLD);
		truth("MPI_Send send 0 13 12 0");
		MPI_Wait(&ready, MPI_STATUS_IGNORE);
		got("MPI_Wait", &in);
	}
}

/* Each rank sends to all; each receives with wild cards. */
static void wildcards(void)
{
	MPI_Request requests[64];
	static struct letter letters[64];

	for (int to = 0; to < size; to++) {
		letters[to] = (struct letter){.from = rank, .tag = 100 + rank, .bytes = 20 + rank * 4};
		MPI_Isend(
			&letters[to], 20 + rank * 4, MPI_BYTE, to, 100 + rank, MPI_COMM_WORLD, &requests[to]);
		truth("MPI_Isend send %d %d %d 0", to, 100 + rank, 20 + rank * 4);
		truth("* sent");
	}
	for (int i = 0; i < size; i++) {
		MPI_Status status;

		/* The status is asked for in one of two. */
		MPI_Recv(&in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			i % 2 ? &status : MPI_STATUS_IGNORE);
		got("MPI_Recv", &in);
	}
	MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
}

static void probes(void)
{
	if (rank == 0) {
		for (int tag = 1; tag <= 4; tag++) {
			MPI_Send(write_letter(tag, 16 * tag), 16 * tag, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
			truth("MPI_Send send 1 %d %d 0", tag, 16 * tag);
		}
	} else if (rank == 1) {
		MPI_Message message;
		MPI_Request request;
		MPI_Status status;
		int flag = 0;

		MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
		MPI_Recv(&in, sizeof(in), MPI_BYTE, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got("MPI_Recv", &in);
		while (!flag)
			MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MPI_Recv(&in, sizeof(in), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got("MPI_Recv", &in);
		MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		truth("MPI_Mprobe posted");
		MPI_Mrecv(&in, sizeof(in), MPI_BYTE, &message, MPI_STATUS_IGNORE);
		got("MPI_Mrecv", &in);
		for (flag = 0; !flag;)
			MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
		truth("MPI_Improbe posted");
		MPI_Imrecv(&in, sizeof(in), MPI_BYTE, &message, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		got("MPI_Wait", &in);
	}
}

/* Nothing of this is a message. */
static void nothing(void)
{
	MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int flag, index, count, indices[3];

	MPI_Send(&out, 100, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	MPI_Recv(&in, 100, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&out, 10, MPI_BYTE, MPI_PROC_NULL, 1, &in, 10, MPI_BYTE, MPI_PROC_NULL, 1,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Isend(&out, 10, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&in, 10, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
	expect(index == MPI_UNDEFINED, "index of no request");
	MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
	expect(count == MPI_UNDEFINED, "count of no request");
	MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	expect(flag, "null requests are complete");
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
}

/* Types of holes and of several parts, and none at all. */
static void types(void)
{
	MPI_Datatype vector, mixed;
	int numbers[64] = {rank};
	MPI_Aint places[2] = {0, 32};

	MPI_Type_vector(5, 2, 4, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	MPI_Type_create_struct(2, (int[]){3, 2}, places, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &mixed);
	MPI_Type_commit(&mixed);
	if (rank == 0) {
		MPI_Send(numbers, 2, vector, 1, 1, MPI_COMM_WORLD);
		truth("MPI_Send send 1 1 80 0");
		MPI_Send(numbers, 1, mixed, 1, 2, MPI_COMM_WORLD);
		truth("MPI_Send send 1 2 19 0");
		MPI_Send(numbers, 0, vector, 1, 3, MPI_COMM_WORLD);
		truth("MPI_Send send 1 3 0 0");
		MPI_Send(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
		truth("MPI_Send send 1 4 0 0");
	} else if (rank == 1) {
		MPI_Recv(numbers, 20, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 1 0 80");
		MPI_Recv(numbers, 2, mixed, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 2 0 19");
		MPI_Recv(numbers, 2, vector, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 3 0 0");
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 4 0 0");
	}
	MPI_Type_free(&vector);
	MPI_Type_free(&mixed);
}

/* Around a ring, both ways to exchange. */
static void exchange(void)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size, one[3] = {rank}, two[3];

	for (int i = 0; i < 4; i++) {
		MPI_Sendrecv(one, 3, MPI_INT, next, i, two, 3, MPI_INT, last, i, MPI_COMM_WORLD,
			i % 2 ? MPI_STATUS_IGNORE : &(MPI_Status){0});
		expect(two[0] == last, "number of the neighbour");
		truth("MPI_Sendrecv send %d %d 12 0", next, i);
		truth("MPI_Sendrecv recv %d %d 0 12", last, i);
	}
	MPI_Sendrecv_replace(one, 2, MPI_INT, next, 9, last, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect(one[0] == last, "number of the neighbour");
	truth("MPI_Sendrecv_replace send %d 9 8 0", next);
	truth("MPI_Sendrecv_replace recv %d 9 0 8", last);
	/* A line: the first and the last have but one neighbour. */
	next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	last = rank ? rank - 1 : MPI_PROC_NULL;
	MPI_Sendrecv(one, 1, MPI_INT, next, 20, two, 1, MPI_INT, last, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (next != MPI_PROC_NULL)
		truth("MPI_Sendrecv send %d 20 4 0", next);
	if (last != MPI_PROC_NULL)
		truth("MPI_Sendrecv recv %d 20 0 4", last);
}

/* Ranks of a communicator are not those of the world: in reversed order, and the odd ones only. */
static void ranks(void)
{
	MPI_Comm reversed, odd;
	int number = rank;

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : MPI_UNDEFINED, rank, &odd);
	if (rank == 0) {
		MPI_Send(&number, 1, MPI_INT, 0, 5, reversed);
		truth("MPI_Send send %d 5 4 0", size - 1);
	}
	if (rank == size - 1) {
		MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 5, reversed, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv 0 5 0 4");
	}
	if (odd != MPI_COMM_NULL) {
		int members, me;

		MPI_Comm_size(odd, &members);
		MPI_Comm_rank(odd, &me);
		MPI_Sendrecv_replace(&number, 1, MPI_INT, (me + 1) % members, 6, (me + members - 1) % members,
			6, odd, MPI_STATUS_IGNORE);
		truth("MPI_Sendrecv_replace send %d 6 4 0", (me + 1) % members * 2 + 1);
		truth("MPI_Sendrecv_replace recv %d 6 0 4", (me + members - 1) % members * 2 + 1);
		MPI_Comm_free(&odd);
	}
	MPI_Comm_free(&reversed);
}

/* Even and odd ranks as two groups: the peer is a rank of the other one. */
static void inter(void)
{
	MPI_Comm half, between;
	int me, others, number = rank;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 77, &between);
	MPI_Comm_rank(between, &me);
	MPI_Comm_remote_size(between, &others);
	if (rank % 2 == 0 && me < others) {
		MPI_Send(&number, 1, MPI_INT, me, 3, between);
		truth("MPI_Send send %d 3 4 0", rank + 1);
	} else if (rank % 2) {
		MPI_Recv(&number, 1, MPI_INT, me % 2 ? MPI_ANY_SOURCE : me, 3, between, MPI_STATUS_IGNORE);
		truth("MPI_Recv recv %d 3 0 4", rank - 1);
	}
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {{"blocking", blocking}, {"wildcards", wildcards},
		{"probes", probes}, {"nothing", nothing}, {"types", types}, {"exchange", exchange},
		{"ranks", ranks}, {"inter", inter}, {NULL, NULL}};
	int status;

	MPI_Init(&argc, &argv);
	truth_begin();
	status = play(scenarios, argc > 1 ? argv[1] : "");
	MPI_Finalize();
	return status;
}
