"""Counts primes, numbers shared out; then the ranks tell each other what they found: primes.py [LIMIT]."""

import sys

from mpi4py import MPI


def is_prime(number):
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return number > 1


def count(limit, rank, ranks):
    """Not fair: the last rank has the largest numbers."""
    share = limit // ranks
    return sum(is_prime(number) for number in range(rank * share, (rank + 1) * share))


def main():
    comm = MPI.COMM_WORLD
    found = count(int(sys.argv[1]) if len(sys.argv) > 1 else 60000, comm.Get_rank(), comm.Get_size())
    everybody = comm.gather(found, root=0)
    if comm.Get_rank() == 0:
        print("primes", sum(everybody), everybody)


if __name__ == "__main__":
    main()
