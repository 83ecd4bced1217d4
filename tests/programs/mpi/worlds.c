/*
 * worlds MODE: starts more of itself, and sends between the worlds, over the communicator that spawning makes
 * and over what is made of it. MODE: "world" (all ranks start two together), "self" (each rank starts two of
 * its own, at the same time), "multiple" (MPI_Comm_spawn_multiple). Message i has i + 1 numbers.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 5

static void fail(const char *what)
{
	fprintf(stderr, "worlds: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void send_all(MPI_Comm comm, int to)
{
	int numbers[MESSAGES];

	for (int i = 0; i < MESSAGES; i++) {
		numbers[i] = i;
		MPI_Send(numbers, i + 1, MPI_INT, to, 1, comm);
	}
}

static void receive_all(MPI_Comm comm, int from)
{
	int numbers[MESSAGES];

	for (int i = 0; i < MESSAGES; i++) {
		MPI_Recv(numbers, MESSAGES, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
		if (numbers[i] != i)
			fail("another message");
	}
}

/* Each of the first group sends to each of the second, and is answered. */
static void talk(MPI_Comm inter, int is_child)
{
	int others;

	MPI_Comm_remote_size(inter, &others);
	for (int i = 0; i < others; i++)
		is_child ? receive_all(inter, i) : send_all(inter, i);
	for (int i = 0; i < others; i++)
		is_child ? send_all(inter, i) : receive_all(inter, i);
}

static void go_round(MPI_Comm comm)
{
	int rank, size, sum = 0;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 2, &sum, 1, MPI_INT, (rank + size - 1) % size, 2,
		comm, MPI_STATUS_IGNORE);
	if (sum != (rank + size - 1) % size)
		fail("another neighbour");
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (sum != size * (size - 1) / 2)
		fail("another sum");
	MPI_Barrier(comm);
}

/* Two groups that know each other by `all` alone: those of the worlds, and two with a part of each. */
static void meet_again(MPI_Comm all, MPI_Comm own, int is_child)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter, part;
	int rank, size;

	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(own, &size);
	if (!rank)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, all);
	if (is_child)
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &inter);
	else
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &inter);
	talk(inter, is_child);
	MPI_Comm_disconnect(&inter);
	MPI_Intercomm_create(own, 0, all, is_child ? 0 : size, 9, &inter);
	talk(inter, is_child);
	MPI_Comm_free(&inter);
	MPI_Comm_split(all, rank % 2, 0, &part);
	MPI_Intercomm_create(part, 0, all, rank % 2 ? 0 : 1, 10, &inter);
	talk(inter, rank % 2);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&part);
}

/* On what is made of the communicator of both worlds. */
static void mix_worlds(MPI_Comm inter, MPI_Comm own, int is_child)
{
	MPI_Comm all, part, dup;
	MPI_Group group, some;
	int rank, size, range[1][3];

	MPI_Comm_dup(inter, &dup);
	talk(dup, is_child);
	MPI_Intercomm_merge(dup, is_child, &all);
	MPI_Comm_free(&dup);
	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &size);
	go_round(all);
	meet_again(all, own, is_child);
	MPI_Comm_split(all, rank % 2, -rank, &part);
	go_round(part);
	MPI_Comm_free(&part);
	MPI_Comm_group(all, &group);
	range[0][0] = 1;
	range[0][1] = size - 1;
	range[0][2] = 1;
	MPI_Group_range_incl(group, 1, range, &some);
	if (rank) {
		MPI_Comm_create_group(all, some, 7, &part);
		go_round(part);
		MPI_Comm_free(&part);
	}
	MPI_Group_free(&some);
	MPI_Group_free(&group);
	MPI_Comm_free(&all);
}

static MPI_Comm start(char *program, char *mode)
{
	char *commands[] = {program, program}, *argv[] = {mode, NULL}, **argvs[] = {argv, argv};
	MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
	MPI_Comm children;

	if (!strcmp(mode, "multiple"))
		MPI_Comm_spawn_multiple(2, commands, argvs, (int[]){1, 1}, infos, 0, MPI_COMM_WORLD,
			&children, MPI_ERRCODES_IGNORE);
	else
		MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, 0,
			strcmp(mode, "self") ? MPI_COMM_WORLD : MPI_COMM_SELF, &children,
			MPI_ERRCODES_IGNORE);
	return children;
}

int main(int argc, char **argv)
{
	MPI_Comm inter, parent, own;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	inter = parent == MPI_COMM_NULL ? start(argv[0], argv[1]) : parent;
	own = parent == MPI_COMM_NULL && !strcmp(argv[1], "self") ? MPI_COMM_SELF : MPI_COMM_WORLD;
	talk(inter, parent != MPI_COMM_NULL);
	mix_worlds(inter, own, parent != MPI_COMM_NULL);
	MPI_Comm_disconnect(&inter);
	if (parent == MPI_COMM_NULL && !rank)
		puts("done");
	MPI_Finalize();
	return 0;
}
