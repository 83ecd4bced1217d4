! A ring of messages and a few collectives by mpif.h.
module ring
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, failure
contains
  subroutine solve(turns)
    integer :: status(MPI_STATUS_SIZE)
    integer :: request
    include 'ring.inc'
