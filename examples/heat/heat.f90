! Heat in a plate, with probes of the Fortran module.
!
!     gfortran -O2 -g /usr/include/hybrid/hybrid.f90 heat.f90 -o heat
!     hybrid-run --report ./heat
!
! The tree shows the sweeps exactly, the check of the residual every tenth sweep below its own region, and
! below both the lines where the samples fell.
program heat
   use hybrid
   use, intrinsic :: iso_fortran_env, only: real64
   implicit none
   integer, parameter :: n = 500, sweeps = 400
   type(hybrid_region), save :: sweep
   type(hybrid_counter), save :: change
   real(real64), allocatable :: old(:, :), new(:, :)
   integer :: i

   allocate (old(n, n), new(n, n), source=0.0_real64)
   old(1, :) = 100
   new(1, :) = 100
   call hybrid_metadata('grid', '500 x 500')
   call sweep%init('sweep', kind=hybrid_loop)
   call change%init('change', 'K')
   do i = 1, sweeps
      call hybrid_enter(sweep)
      call relax(old, new)
      if (mod(i, 10) == 0) call report(old, new)
      call hybrid_leave(sweep)
      old = new
   end do
   print '(a, f8.4)', 'in the middle of the warm side:', new(2, n / 2)
contains
   subroutine relax(from, to)
      real(real64), intent(in) :: from(:, :)
      real(real64), intent(inout) :: to(:, :)
      integer :: x, y

      do y = 2, n - 1
         do x = 2, n - 1
            to(x, y) = (from(x - 1, y) + from(x + 1, y) + from(x, y - 1) + from(x, y + 1)) / 4
         end do
      end do
   end subroutine relax

   subroutine report(from, to)
      real(real64), intent(in) :: from(:, :), to(:, :)

      call hybrid_enter('residual')
      call hybrid_count(change, maxval(abs(to - from)))
      call hybrid_leave('residual')
   end subroutine report
end program heat
