/*
 * One-sided operations and files whose traffic is known: onesided SCENARIO, 2 ranks or more. Lines of truth
 * have the target in the place of the peer and no tag; bytes sent are those that go to it.
 */
#include "truth.h"

static int numbers[64], results[64];
static MPI_Win window;

static void make(void)
{
	static int memory[64];

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_set_name(window, "counters");
}

static void epoch(const char *function, int target)
{
	truth("%s epoch %d", function, target);
}

static void fence(void)
{
	int next = (rank + 1) % size;

	make();
	MPI_Win_fence(0, window);
	epoch("MPI_Win_fence", -1);
	MPI_Put(numbers, 5, MPI_INT, next, 0, 5, MPI_INT, window);
	truth("MPI_Put put %d - 20 0", next);
	MPI_Put(numbers, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, window);
	MPI_Win_fence(0, window);
	epoch("MPI_Win_fence", -1);
	MPI_Get(results, 3, MPI_INT, next, 0, 3, MPI_INT, window);
	truth("MPI_Get get %d - 0 12", next);
	MPI_Win_fence(0, window);
	epoch("MPI_Win_fence", -1);
	MPI_Win_free(&window);
}

static void locks(void)
{
	int one = 1, old = 0, expected = 7;

	make();
	MPI_Barrier(MPI_COMM_WORLD);
	truth("MPI_Barrier collective -1 - 0 0");
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
	epoch("MPI_Win_lock", 0);
	MPI_Accumulate(numbers, 4, MPI_INT, 0, 8, 4, MPI_INT, MPI_SUM, window);
	truth("MPI_Accumulate update 0 - 16 0");
	MPI_Get_accumulate(numbers, 2, MPI_INT, results, 2, MPI_INT, 0, 8, 2, MPI_INT, MPI_SUM, window);
	truth("MPI_Get_accumulate update 0 - 8 8");
	MPI_Get_accumulate(NULL, 0, MPI_INT, results, 2, MPI_INT, 0, 8, 2, MPI_INT, MPI_NO_OP, window);
	truth("MPI_Get_accumulate update 0 - 0 8");
	MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, window);
	truth("MPI_Fetch_and_op update 0 - 4 4");
	MPI_Win_flush(0, window);
	epoch("MPI_Win_flush", 0);
	MPI_Compare_and_swap(&one, &expected, &old, MPI_INT, 0, 1, window);
	truth("MPI_Compare_and_swap update 0 - 4 4");
	MPI_Win_unlock(0, window);
	epoch("MPI_Win_unlock", 0);
	MPI_Win_lock_all(0, window);
	epoch("MPI_Win_lock_all", -1);
	MPI_Win_flush_all(window);
	epoch("MPI_Win_flush_all", -1);
	MPI_Win_unlock_all(window);
	epoch("MPI_Win_unlock_all", -1);
	MPI_Win_free(&window);
}

/* Start, complete, post, wait: rank 0 writes to all others. */
static void groups(void)
{
	MPI_Group world, peers;
	int first = 0, rest[64];

	make();
	for (int i = 1; i < size; i++)
		rest[i - 1] = i;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	if (rank == 0) {
		MPI_Group_incl(world, size - 1, rest, &peers);
		MPI_Win_start(peers, 0, window);
		epoch("MPI_Win_start", -1);
		for (int i = 1; i < size; i++) {
			MPI_Put(numbers, i, MPI_INT, i, 0, i, MPI_INT, window);
			truth("MPI_Put put %d - %d 0", i, 4 * i);
		}
		MPI_Win_complete(window);
		epoch("MPI_Win_complete", -1);
	} else {
		MPI_Group_incl(world, 1, &first, &peers);
		MPI_Win_post(peers, 0, window);
		epoch("MPI_Win_post", -1);
		MPI_Win_wait(window);
		epoch("MPI_Win_wait", -1);
	}
	MPI_Group_free(&peers);
	MPI_Group_free(&world);
	MPI_Win_free(&window);
}

/* Operations with requests. */
static void requests(void)
{
	MPI_Request all[3];
	int *memory, next = (rank + 1) % size;

	MPI_Win_allocate(256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	MPI_Win_lock_all(0, window);
	epoch("MPI_Win_lock_all", -1);
	MPI_Rput(numbers, 4, MPI_INT, next, 0, 4, MPI_INT, window, &all[0]);
	truth("MPI_Rput put %d - 16 0", next);
	MPI_Rget(results, 6, MPI_INT, next, 16, 6, MPI_INT, window, &all[1]);
	truth("MPI_Rget get %d - 0 24", next);
	MPI_Raccumulate(numbers, 1, MPI_INT, next, 32, 1, MPI_INT, MPI_MAX, window, &all[2]);
	truth("MPI_Raccumulate update %d - 4 0", next);
	MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 3; i++)
		truth("* done");
	MPI_Win_unlock_all(window);
	epoch("MPI_Win_unlock_all", -1);
	MPI_Win_free(&window);
}

/* Lines of truth of files: function, operation, offset in bytes, bytes. */
static void files(void)
{
	const char *name = getenv("FILE_NAME");
	MPI_File file;
	MPI_Request request;
	MPI_Status status;
	MPI_Datatype pairs;
	int other[64] = {0};

	for (int i = 0; i < 64; i++)
		numbers[i] = rank * 100 + i;
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write_at(file, rank * 256, numbers, 64, MPI_INT, &status);
	truth("MPI_File_write_at write %d 256", rank * 256);
	MPI_File_write_at_all(file, rank * 256, numbers, 32, MPI_INT, MPI_STATUS_IGNORE);
	truth("MPI_File_write_at_all write %d 128", rank * 256);
	MPI_File_read_at(file, rank * 256, other, 16, MPI_INT, &status);
	truth("MPI_File_read_at read %d 64", rank * 256);
	expect(other[15] == numbers[15], "what was written");
	MPI_File_seek(file, rank * 256 + 64, MPI_SEEK_SET);
	MPI_File_read(file, other, 4, MPI_INT, MPI_STATUS_IGNORE);
	truth("MPI_File_read read %d 16", rank * 256 + 64);
	MPI_File_iwrite_at(file, rank * 256, numbers, 8, MPI_INT, &request);
	truth("MPI_File_iwrite_at write %d 32", rank * 256);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	truth("* done");
	MPI_Type_vector(4, 1, 2, MPI_INT, &pairs);
	MPI_Type_commit(&pairs);
	MPI_File_write_at(file, rank * 256, numbers, 2, pairs, &status);
	truth("MPI_File_write_at write %d 32", rank * 256);
	MPI_Type_free(&pairs);
	MPI_File_set_view(file, 4096 + rank * 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
	MPI_File_write_all(file, numbers, 4, MPI_INT, &status);
	truth("MPI_File_write_all write %d 16", 4096 + rank * 16);
	/* Two at the end of the file read less than they ask for. */
	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	truth("MPI_Barrier collective -1 - 0 0");
	MPI_File_set_size(file, 8192);
	MPI_File_read_at(file, 8192 - 10, other, 64, MPI_BYTE, &status);
	truth("MPI_File_read_at read 8182 10");
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {{"fence", fence}, {"locks", locks}, {"groups", groups},
		{"requests", requests}, {"files", files}, {NULL, NULL}};
	int status;

	MPI_Init(&argc, &argv);
	truth_begin();
	status = play(scenarios, argc > 1 ? argv[1] : "");
	MPI_Finalize();
	return status;
}
