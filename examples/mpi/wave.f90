! A wave on a string, its points shared out: wave. Each rank sends its ends to its neighbours without waiting, computes
! what needs no neighbour, and waits then.
module string
  use mpi_f08
  implicit none
  integer, parameter :: points = 200000, steps = 400
  integer :: rank, ranks
contains
  subroutine advance(old, now, new, first, last)
    real(8), intent(in) :: old(0:), now(0:)
    real(8), intent(inout) :: new(0:)
    integer, intent(in) :: first, last
    integer :: i

    do i = first, last
      new(i) = 2 * now(i) - old(i) + 0.25d0 * (now(i - 1) - 2 * now(i) + now(i + 1))
    end do
  end subroutine

  subroutine step(old, now, new, count)
    real(8), intent(inout) :: old(0:), now(0:), new(0:)
    integer, intent(in) :: count
    type(MPI_Request) :: requests(4)
    integer :: left, right

    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    call MPI_Irecv(now(0:0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(now(count + 1:count + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(now(1:1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(now(count:count), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4))
    call advance(old, now, new, 2, count - 1)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call advance(old, now, new, 1, 1)
    call advance(old, now, new, count, count)
  end subroutine
end module

program wave
  use string
  implicit none
  real(8), allocatable :: u(:, :)
  real(8) :: sum
  integer :: i, count

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  count = points / ranks
  allocate (u(0:count + 1, 0:2))
  u = 0
  if (rank == 0) u(1, 0:1) = 1
  do i = 1, steps
    call step(u(:, mod(i - 1, 3)), u(:, mod(i, 3)), u(:, mod(i + 1, 3)), count)
  end do
  call MPI_Reduce(u(2, 0), sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f10.6)', 'sum ', sum
  call MPI_Finalize()
end program
