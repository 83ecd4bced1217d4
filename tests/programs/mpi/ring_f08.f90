! A ring of messages and a few collectives by use mpi_f08.
module ring
  use mpi_f08
  implicit none

  integer :: rank, ranks, failure
contains
  subroutine solve(turns)
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    include 'ring.inc'
