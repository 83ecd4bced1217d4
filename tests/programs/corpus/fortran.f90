! Fortran code in the middle of the path.
subroutine case_fortran() bind(c)
   use, intrinsic :: iso_c_binding
   implicit none
   interface
      function corpus_work(x) bind(c) result(y)
         import :: c_int64_t
         integer(c_int64_t), value :: x
         integer(c_int64_t) :: y
      end function corpus_work
   end interface
   integer(c_int64_t) :: i, total
   real :: grid(64, 64)

   total = 0
   do i = 1, 50
      call random_number(grid)
      grid = matmul(grid, grid)
      total = total + corpus_work(i) + int(sum(grid), c_int64_t)
   end do
   if (total == 0) print *, total
end subroutine case_fortran
