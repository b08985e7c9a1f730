! SPDX-License-Identifier: BSD-3-Clause
! Copyright the mpigauge authors
!
! Regions: parts of a program with a name, by which `mpigauge profile` tells calls of MPI apart.
!
!   use mpigauge
!   call mpigauge_begin("solve")
!   call mpigauge_end()
!
! Without the profiler both do nothing. Compile this file with the program, and before what uses it.
! Where the C library is older than 2.34, link with -ldl.
module mpigauge
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_null_char, &
    c_null_ptr, c_ptr
  implicit none
  private
  public :: mpigauge_begin, mpigauge_end

  abstract interface
    subroutine begins(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine begins
    subroutine ends() bind(c)
    end subroutine ends
  end interface

  interface
    function look_up(file, name) bind(c, name="dlsym") result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function look_up
  end interface

  procedure(begins), pointer, save :: profilers_begin => null()
  procedure(ends), pointer, save :: profilers_end => null()
  logical, save :: has_looked = .false.

contains

  subroutine mpigauge_begin(name)
    character(len=*), intent(in) :: name
    if (.not. has_looked) call look
    if (associated(profilers_begin)) call profilers_begin(trim(name) // c_null_char)
  end subroutine mpigauge_begin

  subroutine mpigauge_end()
    if (.not. has_looked) call look
    if (associated(profilers_end)) call profilers_end()
  end subroutine mpigauge_end

  subroutine look
    type(c_funptr) :: found
    found = look_up(c_null_ptr, "mpigauge_begin" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, profilers_begin)
    found = look_up(c_null_ptr, "mpigauge_end" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, profilers_end)
    has_looked = .true.
  end subroutine look
end module mpigauge
