! hybrid.f90: mark what matters in a Fortran program.
!
! The Fortran face of hybrid.h, in one file and without any C: compile it with
! the program. A program that uses it needs no library, not when it is linked,
! not when it runs. Started by hybrid-run its probes are measured; started
! without, each call costs a few nanoseconds. (glibc before 2.34: add -ldl.)
!
!     use hybrid
!     type(hybrid_region), save :: solve
!
!     call solve%init('solve', __FILE__, __LINE__)  ! once; file and line may be left out
!     call hybrid_enter(solve)
!     ...
!     call hybrid_leave(solve)
!
!     call hybrid_enter('step')                     ! by name: a look-up more
!     call hybrid_leave('step')
!
! The rules are those of hybrid.h. Trailing blanks of names and texts do not count.
! A region or counter on which init was not called is not measured.
module hybrid
   use, intrinsic :: iso_c_binding
   use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
   implicit none
   private

   public :: hybrid_region, hybrid_counter
   public :: hybrid_enter, hybrid_leave, hybrid_count, hybrid_parameter, hybrid_marker
   public :: hybrid_pause, hybrid_resume, hybrid_metadata, hybrid_thread_name, hybrid_measured

   ! What a region is.
   integer, parameter, public :: hybrid_user = 1, hybrid_function = 2, hybrid_loop = 3

   ! struct hybrid_region
   type, bind(c) :: c_region
      type(c_ptr) :: name = c_null_ptr, file = c_null_ptr
      integer(c_int32_t) :: line = 0, kind = hybrid_user
      integer(c_int64_t) :: id = 0
   end type c_region

   ! struct hybrid_counter
   type, bind(c) :: c_counter
      type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr
      integer(c_int64_t) :: id = 0
   end type c_counter

   ! A region at a place in the source. Declare it with `save`: the runtime remembers it.
   type :: hybrid_region
      private
      type(c_region) :: c
   contains
      procedure :: init => region_init
   end type hybrid_region

   ! A value over time. Declare it with `save`.
   type :: hybrid_counter
      private
      type(c_counter) :: c
   contains
      procedure :: init => counter_init
   end type hybrid_counter

   ! struct hybrid_api
   type, bind(c) :: c_api
      integer(c_int32_t) :: version, size
      type(c_funptr) :: enter, leave, enter_name, leave_name, count, count_real
      type(c_funptr) :: parameter, parameter_int, marker, pause, resume, metadata, thread_name
   end type c_api

   ! Enters and leaves a region.
   interface hybrid_enter
      module procedure enter_region, enter_by_name
   end interface hybrid_enter
   interface hybrid_leave
      module procedure leave_region, leave_by_name
   end interface hybrid_leave

   ! Records the value that a counter has now on this thread: a total, no increment. See hybrid_count() in hybrid.h.
   interface hybrid_count
      module procedure count_int32, count_int64, count_real32, count_real64
   end interface hybrid_count

   ! Splits the innermost open region by the value of a parameter.
   interface hybrid_parameter
      module procedure parameter_text, parameter_int32, parameter_int64
   end interface hybrid_parameter

   abstract interface
      subroutine region_call(region) bind(c)
         import :: c_region
         type(c_region), intent(inout) :: region
      end subroutine region_call
      subroutine name_call(name, length) bind(c)
         import :: c_char, c_size_t
         character(kind=c_char), intent(in) :: name(*)
         integer(c_size_t), value :: length
      end subroutine name_call
      subroutine count_call(counter, value) bind(c)
         import :: c_counter, c_int64_t
         type(c_counter), intent(inout) :: counter
         integer(c_int64_t), value :: value
      end subroutine count_call
      subroutine count_real_call(counter, value) bind(c)
         import :: c_counter, c_double
         type(c_counter), intent(inout) :: counter
         real(c_double), value :: value
      end subroutine count_real_call
      subroutine pair_call(key, value) bind(c)
         import :: c_char
         character(kind=c_char), intent(in) :: key(*), value(*)
      end subroutine pair_call
      subroutine pair_int_call(key, value) bind(c)
         import :: c_char, c_int64_t
         character(kind=c_char), intent(in) :: key(*)
         integer(c_int64_t), value :: value
      end subroutine pair_int_call
      subroutine text_call(text) bind(c)
         import :: c_char
         character(kind=c_char), intent(in) :: text(*)
      end subroutine text_call
      subroutine plain_call() bind(c)
      end subroutine plain_call
   end interface

   interface
      function c_dlsym(handle, name) bind(c, name='dlsym') result(address)
         import :: c_ptr, c_char
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         type(c_ptr) :: address
      end function c_dlsym
   end interface

   ! The runtime's entry points, null where it is not.
   ! `looked` is set last, so that a second thread looks itself rather than find half.
   logical, volatile :: looked = .false.
   type(c_api), pointer :: api => null()
   procedure(region_call), pointer :: enter_ => null(), leave_ => null()
   procedure(name_call), pointer :: enter_name_ => null(), leave_name_ => null()
   procedure(count_call), pointer :: count_ => null()
   procedure(count_real_call), pointer :: count_real_ => null()
   procedure(pair_call), pointer :: parameter_ => null(), metadata_ => null()
   procedure(pair_int_call), pointer :: parameter_int_ => null()
   procedure(text_call), pointer :: marker_ => null(), thread_name_ => null()
   procedure(plain_call), pointer :: pause_ => null(), resume_ => null()

contains

   subroutine look()
      type(c_ptr) :: found

      found = c_dlsym(c_null_ptr, 'hybrid_api_1' // c_null_char)
      if (c_associated(found)) then
         call c_f_pointer(found, api)
         call c_f_procpointer(api%enter, enter_)
         call c_f_procpointer(api%leave, leave_)
         call c_f_procpointer(api%enter_name, enter_name_)
         call c_f_procpointer(api%leave_name, leave_name_)
         call c_f_procpointer(api%count, count_)
         call c_f_procpointer(api%count_real, count_real_)
         call c_f_procpointer(api%parameter, parameter_)
         call c_f_procpointer(api%parameter_int, parameter_int_)
         call c_f_procpointer(api%marker, marker_)
         call c_f_procpointer(api%pause, pause_)
         call c_f_procpointer(api%resume, resume_)
         call c_f_procpointer(api%metadata, metadata_)
         call c_f_procpointer(api%thread_name, thread_name_)
      end if
      looked = .true.
   end subroutine look

   ! Whether this run is measured.
   logical function hybrid_measured()
      if (.not. looked) call look()
      hybrid_measured = associated(api)
   end function hybrid_measured

   ! A copy with a final NUL that stays for good: regions are static, and the runtime may read it again.
   function kept(text) result(address)
      character(len=*), intent(in) :: text
      type(c_ptr) :: address
      character(kind=c_char), pointer :: copy(:)
      integer :: i, length

      length = len_trim(text)
      allocate (copy(length + 1))
      do i = 1, length
         copy(i) = text(i:i)
      end do
      copy(length + 1) = c_null_char
      address = c_loc(copy(1))
   end function kept

   ! Only the first call has an effect, so it may stand where the region is entered.
   subroutine region_init(self, name, file, line, kind)
      class(hybrid_region), intent(inout) :: self
      character(len=*), intent(in) :: name
      character(len=*), intent(in), optional :: file
      integer, intent(in), optional :: line, kind

      if (c_associated(self%c%name)) return
      if (.not. hybrid_measured()) return
      if (present(line)) self%c%line = int(line, c_int32_t)
      if (present(kind)) self%c%kind = int(kind, c_int32_t)
      if (present(file)) then
         self%c%file = kept(file)
      else
         self%c%file = kept('')
      end if
      self%c%name = kept(name)
   end subroutine region_init

   subroutine counter_init(self, name, unit)
      class(hybrid_counter), intent(inout) :: self
      character(len=*), intent(in) :: name
      character(len=*), intent(in), optional :: unit

      if (c_associated(self%c%name)) return
      if (.not. hybrid_measured()) return
      if (present(unit)) then
         self%c%unit = kept(unit)
      else
         self%c%unit = kept('')
      end if
      self%c%name = kept(name)
   end subroutine counter_init

   ! The call of the runtime stands last: optimised it becomes a jump, and the probe belongs to the caller.
   ! A region has a name only after init has found the runtime.
   subroutine enter_region(region)
      type(hybrid_region), intent(inout) :: region

      if (c_associated(region%c%name)) call enter_(region%c)
   end subroutine enter_region

   subroutine leave_region(region)
      type(hybrid_region), intent(inout) :: region

      if (c_associated(region%c%name)) call leave_(region%c)
   end subroutine leave_region

   subroutine enter_by_name(name)
      character(len=*), intent(in) :: name

      if (.not. looked) call look()
      if (associated(enter_name_)) call enter_name_(name, len_trim(name, c_size_t))
   end subroutine enter_by_name

   subroutine leave_by_name(name)
      character(len=*), intent(in) :: name

      if (associated(leave_name_)) call leave_name_(name, len_trim(name, c_size_t))
   end subroutine leave_by_name

   subroutine count_int64(counter, value)
      type(hybrid_counter), intent(inout) :: counter
      integer(int64), intent(in) :: value

      if (c_associated(counter%c%name)) call count_(counter%c, value)
   end subroutine count_int64

   subroutine count_int32(counter, value)
      type(hybrid_counter), intent(inout) :: counter
      integer(int32), intent(in) :: value

      if (c_associated(counter%c%name)) call count_(counter%c, int(value, c_int64_t))
   end subroutine count_int32

   subroutine count_real64(counter, value)
      type(hybrid_counter), intent(inout) :: counter
      real(real64), intent(in) :: value

      if (c_associated(counter%c%name)) call count_real_(counter%c, value)
   end subroutine count_real64

   subroutine count_real32(counter, value)
      type(hybrid_counter), intent(inout) :: counter
      real(real32), intent(in) :: value

      if (c_associated(counter%c%name)) call count_real_(counter%c, real(value, c_double))
   end subroutine count_real32

   subroutine parameter_text(key, value)
      character(len=*), intent(in) :: key, value

      if (hybrid_measured()) call parameter_(trim(key) // c_null_char, trim(value) // c_null_char)
   end subroutine parameter_text

   subroutine parameter_int64(key, value)
      character(len=*), intent(in) :: key
      integer(int64), intent(in) :: value

      if (hybrid_measured()) call parameter_int_(trim(key) // c_null_char, value)
   end subroutine parameter_int64

   subroutine parameter_int32(key, value)
      character(len=*), intent(in) :: key
      integer(int32), intent(in) :: value

      if (hybrid_measured()) call parameter_int_(trim(key) // c_null_char, int(value, c_int64_t))
   end subroutine parameter_int32

   ! A moment with a text, in the trace.
   subroutine hybrid_marker(text)
      character(len=*), intent(in) :: text

      if (hybrid_measured()) call marker_(trim(text) // c_null_char)
   end subroutine hybrid_marker

   ! Stops and restarts measuring of the process.
   subroutine hybrid_pause()
      if (hybrid_measured()) call pause_()
   end subroutine hybrid_pause

   subroutine hybrid_resume()
      if (hybrid_measured()) call resume_()
   end subroutine hybrid_resume

   ! A fact about the run, kept in the experiment.
   subroutine hybrid_metadata(key, value)
      character(len=*), intent(in) :: key, value

      if (hybrid_measured()) call metadata_(trim(key) // c_null_char, trim(value) // c_null_char)
   end subroutine hybrid_metadata

   ! Names the calling thread (63 bytes are kept).
   subroutine hybrid_thread_name(name)
      character(len=*), intent(in) :: name

      if (hybrid_measured()) call thread_name_(trim(name) // c_null_char)
   end subroutine hybrid_thread_name
end module hybrid
