! A ring of messages and a few collectives by use mpi.
module ring
  use mpi
  implicit none

  integer :: rank, ranks, failure
contains
  subroutine solve(turns)
    integer :: status(MPI_STATUS_SIZE)
    integer :: request
    include 'ring.inc'
