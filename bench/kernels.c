/*
 * Four kernels that communicate as those of the NAS benchmarks do, for two ranks: kernels CG|MG|LU|IS
 * [REPEAT]. Prints the seconds of the slower rank, without MPI_Init, and a number that depends on all
 * results.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static double *numbers(size_t count)
{
	double *result = calloc(count, sizeof(*result));

	if (!result)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return result;
}

static double sum_all(double value)
{
	double sum;

	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

/* ---------------------------------------------------------------- CG: a sparse matrix, rows shared out */

#define CG_ROWS 14000
#define CG_ENTRIES 60 /* a row */

static int cg_columns[CG_ROWS][CG_ENTRIES];
static double cg_values[CG_ROWS][CG_ENTRIES];

static void cg_multiply(const double *whole, double *part, int rows)
{
	for (int i = 0; i < rows; i++) {
		double sum = 4 * CG_ENTRIES * whole[rank * rows + i];

		for (int k = 0; k < CG_ENTRIES; k++)
			sum += cg_values[i][k] * whole[cg_columns[i][k]];
		part[i] = sum;
	}
}

/* Each rank's part of a vector to the other, as CG's transposed exchange. */
static void cg_exchange(double *whole, int rows)
{
	MPI_Request request;
	int other = 1 - rank;

	MPI_Irecv(whole + other * rows, rows, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &request);
	MPI_Send(whole + rank * rows, rows, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double cg_dot(const double *a, const double *b, int rows)
{
	double sum = 0;

	for (int i = 0; i < rows; i++)
		sum += a[i] * b[i];
	return sum_all(sum);
}

static double cg(int repeat)
{
	int rows = CG_ROWS / 2;
	double *p = numbers(CG_ROWS), *q = numbers(CG_ROWS), *r = numbers(CG_ROWS), *x = numbers(CG_ROWS),
	       rho = 0;

	for (int i = 0; i < rows; i++)
		for (int k = 0; k < CG_ENTRIES; k++) {
			cg_columns[i][k] = rand() % CG_ROWS;
			cg_values[i][k] = (rand() % 100) / 100.0;
		}
	for (int turn = 0; turn < repeat; turn++) {
		for (int i = 0; i < rows; i++) {
			x[i] = 0;
			r[i] = p[rank * rows + i] = 1;
		}
		rho = cg_dot(r, r, rows);
		for (int step = 0; step < 25; step++) {
			double alpha, old = rho, *own = p + rank * rows;

			cg_exchange(p, rows);
			cg_multiply(p, q, rows);
			alpha = rho / cg_dot(own, q, rows);
			for (int i = 0; i < rows; i++) {
				x[i] += alpha * own[i];
				r[i] -= alpha * q[i];
			}
			rho = cg_dot(r, r, rows);
			for (int i = 0; i < rows; i++)
				own[i] = r[i] + rho / old * own[i];
		}
	}
	rho = sqrt(rho) + cg_dot(x, x, rows);
	free(p);
	free(q);
	free(r);
	free(x);
	return rho;
}

/* --------------------------------------------- MG: grids of 64 x 64 x 64 and coarser, planes shared out */

#define MG_LEVELS 5 /* sides of 64, 32, 16, 8, 4 */
#define AT(side, z, y, x) \
	(((size_t)(z) * (size_t)((side) + 2) + (size_t)(y)) * (size_t)((side) + 2) + (size_t)(x))

static double *mg_u[MG_LEVELS], *mg_r[MG_LEVELS];

/* The planes at both ends, which the other rank has; on a ring. */
static void mg_exchange(double *u, int side)
{
	int planes = side / 2, plane = (side + 2) * (side + 2), other = 1 - rank;
	MPI_Request requests[2];

	MPI_Irecv(u, plane, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(u + AT(side, planes + 1, 0, 0), plane, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Send(u + AT(side, planes, 0, 0), plane, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
	MPI_Send(u + AT(side, 1, 0, 0), plane, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void mg_smooth(double *u, double *r, int side)
{
	mg_exchange(u, side);
	for (int z = 1; z <= side / 2; z++)
		for (int y = 1; y <= side; y++)
			for (int x = 1; x <= side; x++) {
				double *p = &u[AT(side, z, y, x)];
				size_t row = (size_t)side + 2;

				r[AT(side, z, y, x)] = 1 + p[1] + p[-1] + p[row] + *(p - row) + p[row * row] +
						       *(p - row * row) - 6 * *p;
			}
	for (int z = 1; z <= side / 2; z++)
		for (int y = 1; y <= side; y++)
			for (int x = 1; x <= side; x++)
				u[AT(side, z, y, x)] += 0.1 * r[AT(side, z, y, x)];
}

static double mg_norm(const double *r, int side)
{
	double sum = 0;

	for (int z = 1; z <= side / 2; z++)
		for (int y = 1; y <= side; y++)
			for (int x = 1; x <= side; x++)
				sum += r[AT(side, z, y, x)] * r[AT(side, z, y, x)];
	return sqrt(sum_all(sum));
}

static double mg(int repeat)
{
	double norm = 0;

	for (int level = 0; level < MG_LEVELS; level++) {
		size_t count = AT(64 >> level, (64 >> level) / 2 + 2, 0, 0);

		mg_u[level] = numbers(count);
		mg_r[level] = numbers(count);
	}
	for (int turn = 0; turn < repeat; turn++) {
		for (int level = 0; level < MG_LEVELS; level++)
			mg_smooth(mg_u[level], mg_r[level], 64 >> level);
		for (int level = MG_LEVELS - 1; level >= 0; level--)
			mg_smooth(mg_u[level], mg_r[level], 64 >> level);
		norm = mg_norm(mg_r[0], 64);
	}
	for (int level = 0; level < MG_LEVELS; level++) {
		free(mg_u[level]);
		free(mg_r[level]);
	}
	return norm;
}

/* ------------------------------- LU: waves through planes of 66 x 66 points of 5 numbers, columns shared out
 */

#define LU_SIDE 66
#define LU_HALF (LU_SIDE / 2)

static double lu[LU_SIDE][LU_HALF + 2][LU_SIDE][5];

static void lu_plane(int z, int from, int to, int step)
{
	for (int x = from; x != to; x += step)
		for (int y = 1; y < LU_SIDE - 1; y++)
			for (int k = 0; k < 5; k++) {
				double near =
					lu[z][x - step][y][k] + lu[z][x][y - step][k] + lu[z - step][x][y][k];

				lu[z][x][y][k] =
					0.6 * lu[z][x][y][k] + near / (8 + fabs(near)) + 0.01 * (k + 1);
			}
}

/* A column of the plane comes from the neighbour before it is worked on, and its last one goes on. */
static void lu_sweep(int forward)
{
	int first = rank == (forward ? 0 : 1), other = 1 - rank, step = forward ? 1 : -1;
	int in = forward ? 0 : LU_HALF + 1, out = forward ? LU_HALF : 1;

	for (int i = 1; i < LU_SIDE - 1; i++) {
		int z = forward ? i : LU_SIDE - 1 - i;

		if (!first)
			MPI_Recv(lu[z][in], LU_SIDE * 5, MPI_DOUBLE, other, z, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		lu_plane(z, forward ? 1 : LU_HALF, forward ? LU_HALF + 1 : 0, step);
		if (first)
			MPI_Send(lu[z][out], LU_SIDE * 5, MPI_DOUBLE, other, z, MPI_COMM_WORLD);
	}
}

static double lu_all(int repeat)
{
	double sum = 0;

	for (int turn = 0; turn < repeat; turn++) {
		lu_sweep(1);
		lu_sweep(0);
	}
	for (int k = 0; k < 5; k++)
		sum += lu[LU_SIDE / 2][LU_HALF / 2][LU_SIDE / 2][k];
	return sum_all(sum);
}

/* ------------------------------------------------------ IS: keys to the rank that has their half of the
 * range */

#define IS_KEYS 1000000
#define IS_RANGE (1 << 16)

static int is_keys[IS_KEYS], is_sorted[IS_KEYS], is_got[2 * IS_KEYS], is_counts[IS_RANGE];

static double is(int repeat)
{
	int counts[2], places[2], got[2], from[2];
	double check = 0;

	for (int i = 0; i < IS_KEYS; i++)
		is_keys[i] = rand() % IS_RANGE;
	for (int turn = 0; turn < repeat; turn++) {
		is_keys[turn % IS_KEYS] = turn % IS_RANGE;
		memset(counts, 0, sizeof(counts));
		for (int i = 0; i < IS_KEYS; i++)
			counts[is_keys[i] >= IS_RANGE / 2]++;
		MPI_Allreduce(counts, got, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Alltoall(counts, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
		places[0] = from[0] = 0;
		places[1] = counts[0];
		from[1] = got[0];
		for (int i = 0, next[2] = {places[0], places[1]}; i < IS_KEYS; i++)
			is_sorted[next[is_keys[i] >= IS_RANGE / 2]++] = is_keys[i];
		MPI_Alltoallv(is_sorted, counts, places, MPI_INT, is_got, got, from, MPI_INT, MPI_COMM_WORLD);
		memset(is_counts, 0, sizeof(is_counts));
		for (int i = 0; i < got[0] + got[1]; i++)
			is_counts[is_got[i]]++;
		check += is_counts[rank * (IS_RANGE / 2) + turn % (IS_RANGE / 2)];
	}
	return sum_all(check);
}

/* ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	double (*run)(int repeat);
	int repeat; /* for some two seconds */
} kernels[] = {{"CG", cg, 60}, {"MG", mg, 500}, {"LU", lu_all, 200}, {"IS", is, 120}};

int main(int argc, char **argv)
{
	size_t k = 0, count = sizeof(kernels) / sizeof(*kernels);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while (k < count && (argc < 2 || strcmp(argv[1], kernels[k].name) != 0))
		k++;
	if (k == count || size != 2) {
		fprintf(stderr, "usage: mpiexec -n 2 kernels CG|MG|LU|IS [REPEAT]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	srand(1 + (unsigned)rank);
	MPI_Barrier(MPI_COMM_WORLD);
	{
		double start = MPI_Wtime(),
		       result = kernels[k].run(argc > 2 ? atoi(argv[2]) : kernels[k].repeat);
		double time = MPI_Wtime() - start, slower;

		MPI_Reduce(&time, &slower, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("seconds %.6f\nresult %.9g\n", slower, result);
	}
	MPI_Finalize();
	return 0;
}
