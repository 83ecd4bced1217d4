/* Starts two more of itself, sends each a number, and gets it back: spawn. Lines of truth as truth.h has
 * them. */
#include "truth.h"

int main(int argc, char **argv)
{
	MPI_Comm parent, children;
	int number;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
			MPI_ERRCODES_IGNORE);
		for (int i = 0; i < 2; i++) {
			number = 40 + i;
			MPI_Send(&number, 1, MPI_INT, i, 1, children);
			MPI_Recv(&number, 1, MPI_INT, i, 2, children, MPI_STATUS_IGNORE);
			expect(number == 41 + i, "what children answer");
		}
		MPI_Comm_disconnect(&children);
		puts("done");
	} else {
		MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
		number++;
		MPI_Send(&number, 1, MPI_INT, 0, 2, parent);
		MPI_Comm_disconnect(&parent);
	}
	MPI_Finalize();
	return 0;
}
