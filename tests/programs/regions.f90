! The Fortran module: 10 steps of 5 inner rounds, everything else once.
program regions
   use hybrid
   use, intrinsic :: iso_fortran_env, only: int64, real64
   implicit none
   type(hybrid_region), save :: step
   type(hybrid_counter), save :: residual
   type(hybrid_region), save :: forgotten
   integer :: i, j
   real(real64) :: total

   call hybrid_thread_name('fortran main')
   call hybrid_metadata('solver ', 'jacobi  ')
   call residual%init('residual', 'm/s')
   total = 0
   do i = 1, 10
      call step%init('step', __FILE__, __LINE__, hybrid_loop)
      call hybrid_enter(step)
      call hybrid_parameter('parity', mod(i, 2))
      do j = 1, 5
         call hybrid_enter('round  ')
         total = total + work(i * j)
         call hybrid_leave('round')
      end do
      call hybrid_count(residual, 1 / real(i, real64))
      call hybrid_leave(step)
   end do
   call hybrid_enter(forgotten)
   call hybrid_leave(forgotten)
   call hybrid_count(residual, 7_int64)
   call hybrid_marker('half')
   call hybrid_pause()
   total = total + work(1)
   call hybrid_resume()
   call hybrid_enter('typed')
   call hybrid_parameter('name', 'value')
   call hybrid_leave('typed')
   if (total > 0) print '(a)', 'PASS'
contains
   function work(n) result(x)
      integer, intent(in) :: n
      real(real64) :: x
      integer :: k

      x = n
      do k = 1, 400000
         x = x + 1 / (x + k)
      end do
   end function work
end program regions
