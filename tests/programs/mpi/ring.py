"""A ring of messages and a few collectives by mpi4py, of both kinds: buffers, and objects that it packs."""

import os
import sys

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


def exchange(turn, truth):
    following, last = (RANK + 1) % RANKS, (RANK - 1) % RANKS
    out, into = bytearray([RANK] * 40), bytearray(40)
    request = COMM.Isend([out, MPI.BYTE], dest=following, tag=turn)
    truth.write(f"MPI_Isend send {following} {turn} 40 0\n")
    COMM.Recv([into, MPI.BYTE], source=last, tag=turn)
    truth.write(f"MPI_Recv recv {last} {turn} 0 40\n")
    request.Wait()
    truth.write("* sent\n")
    assert into[0] == last


def solve(truth):
    for turn in range(10):
        exchange(turn, truth)
    COMM.Barrier()
    truth.write("MPI_Barrier collective -1 - 0 0\n")


def main():
    with open(f"{os.environ['TRUTH']}.{RANK}", "w", encoding="ascii") as truth:
        truth.write(f"pid {os.getpid()}\n")
        solve(truth)
    if "objects" in sys.argv:
        assert COMM.allreduce(RANK) == RANKS * (RANKS - 1) // 2
        assert COMM.bcast({"a": [1, 2]}, root=0) == {"a": [1, 2]}
        assert COMM.allgather(RANK) == list(range(RANKS))
    print("done")


main()
