/*
 * All ways to make communicators, windows and files; 4 ranks. Each gets a name that tells it from all
 * others, and is used once: its line of truth is "NAME RANK SIZE".
 */
#include "truth.h"

static void use(MPI_Comm comm, const char *format, int number)
{
	char name[MPI_MAX_OBJECT_NAME];
	int me, members, inter;

	snprintf(name, sizeof(name), format, number);
	MPI_Comm_set_name(comm, name);
	MPI_Barrier(comm);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &members);
	MPI_Comm_test_inter(comm, &inter);
	truth("%s %d %d", name, me, members);
}

static void use_and_free(MPI_Comm comm, const char *format, int number)
{
	use(comm, format, number);
	MPI_Comm_free(&comm);
}

static void plain(void)
{
	MPI_Comm comm, half, other;
	MPI_Request request;

	use(MPI_COMM_WORLD, "world", 0);
	use(MPI_COMM_SELF, "self %d", rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	use_and_free(comm, "dup", 0);
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
	use_and_free(comm, "dup with info", 0);
	MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	use_and_free(comm, "idup", 0);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	use(half, "half %d", rank % 2);
	/* Some make more of their halves than others. */
	for (int i = 0; i <= rank % 2; i++) {
		MPI_Comm_dup(half, &comm);
		use_and_free(comm, rank % 2 ? "odd dup %d" : "even dup %d", i);
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	use_and_free(other, "dup after halves", 0);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	use_and_free(comm, "host", 0);
	/* The same handle values again and again. */
	for (int i = 0; i < 20; i++) {
		MPI_Comm_dup(half, &comm);
		use_and_free(comm, rank % 2 ? "odd again %d" : "even again %d", i);
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank == 2 ? MPI_UNDEFINED : 1, 0, &comm);
	if (comm != MPI_COMM_NULL)
		use_and_free(comm, "without 2", 0);
	MPI_Comm_free(&half);
}

static void groups(void)
{
	MPI_Group world, group;
	MPI_Comm comm;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 3, (int[]){3, 1, 0}, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	if (comm != MPI_COMM_NULL)
		use_and_free(comm, "created", 0);
	MPI_Group_free(&group);
	/* Two that overlap in rank 1, at once. */
	for (int i = 0; i < 2; i++) {
		if (rank != i && rank != i + 1)
			continue;
		MPI_Group_incl(world, 2, (int[]){i, i + 1}, &group);
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 10 + i, &comm);
		use_and_free(comm, "group %d", i);
		MPI_Group_free(&group);
	}
	MPI_Group_free(&world);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	use_and_free(comm, "dup after groups", 0);
}

static void topologies(void)
{
	MPI_Comm grid, line, comm;
	int next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1;

	MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 0}, 0, &grid);
	use(grid, "grid", 0);
	MPI_Cart_sub(grid, (int[]){0, 1}, &line);
	use_and_free(line, "line %d", rank / 2);
	MPI_Comm_free(&grid);
	MPI_Graph_create(MPI_COMM_WORLD, 4, (int[]){1, 2, 3, 4}, (int[]){1, 2, 3, 0}, 0, &comm);
	use_and_free(comm, "graph", 0);
	MPI_Dist_graph_create_adjacent(
		MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	use_and_free(comm, "adjacent", 0);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	use_and_free(comm, "dist graph", 0);
}

static void between_groups(void)
{
	MPI_Comm half, between, comm;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &between);
	use(between, "between", 0);
	MPI_Comm_dup(between, &comm);
	use_and_free(comm, "between dup", 0);
	MPI_Intercomm_merge(between, rank % 2, &comm);
	use_and_free(comm, "merged", 0);
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
}

static void use_window(MPI_Win window, const char *name)
{
	MPI_Win_set_name(window, name);
	MPI_Win_fence(0, window);
	MPI_Win_fence(0, window);
	truth("%s %d %d", name, rank, size);
	MPI_Win_free(&window);
}

static void windows(void)
{
	static int memory[16];
	void *base;
	MPI_Win window;

	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	use_window(window, "window");
	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	use_window(window, "second window");
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	use_window(window, "allocated");
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	use_window(window, "shared");
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	use_window(window, "dynamic");
}

static void files(void)
{
	const char *name = getenv("FILE_NAME");
	MPI_File file;

	for (int i = 0; i < 2; i++) { /* one path, two files */
		MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
		MPI_File_write_at_all(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
		truth("%s %d %d", name, rank, size);
		MPI_File_close(&file);
	}
}

#if MPI_VERSION >= 4
static void sessions(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	for (int i = 0; i < 2; i++) {
		MPI_Comm_create_from_group(group, i ? "b" : "a", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
		use_and_free(comm, "of a session %d", i);
	}
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"plain", plain},
		{"groups", groups},
		{"topologies", topologies},
		{"between", between_groups},
		{"windows", windows},
		{"files", files},
#if MPI_VERSION >= 4
		{"sessions", sessions},
#endif
		{NULL, NULL}
	};
	int status;

	MPI_Init(&argc, &argv);
	truth_begin();
	expect(size == 4, "4 ranks");
	status = play(scenarios, argc > 1 ? argv[1] : "");
	MPI_Finalize();
	return status;
}
