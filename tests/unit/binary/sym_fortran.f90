module things
contains
  subroutine work(x) ! LINE work-function
    integer, intent(inout) :: x
    call inside
  contains
    subroutine inside ! LINE inside-function
      x = x + 1
    end subroutine
  end subroutine
end module

program main
  use things
  integer :: n = 1
  call work(n)
  print *, n
end program
