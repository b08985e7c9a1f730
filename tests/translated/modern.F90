! SPDX-License-Identifier: BSD-3-Clause
! Copyright the mpigauge authors
!
! A program of mpi_f08 as its compiler makes it: buffers that are whole arrays and sections of them,
! constants, comparisons, functions that MPI calls. Says what is wrong, as features.cpp does. Two
! ranks. LARGE: the module has large counts.
module checks
  use mpi_f08
  implicit none
  integer :: rank, ranks, other, wrong = 0, seen = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    wrong = wrong + 1
    print '(a,i0,2a)', 'rank ', rank, ': ', what
  end subroutine check

  subroutine add(in, inout, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: one(:), two(:)
    call c_f_pointer(in, one, [length])
    call c_f_pointer(inout, two, [length])
    call check(datatype == MPI_INTEGER, 'type of an operation')
    two = two + one
  end subroutine add

  subroutine on_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    call check(comm /= MPI_COMM_NULL, 'communicator of an error')
    call MPI_Error_class(code, seen)
  end subroutine on_error
end module checks

program modern
  use checks
  implicit none
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  other = ranks - 1 - rank
  call whole_arrays
  call sections
  call collectives
  call communicators
  call memory
  if (MPI_SUBARRAYS_SUPPORTED) then
    call sections_that_outlive_a_call
    call sections_that_cannot
    call windows
    call a_file
  end if
#ifdef LARGE
  call large_counts
#endif
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'ranks ', ranks, ' wrong ', wrong
  call MPI_Finalize()
  if (wrong /= 0) error stop

contains

  subroutine whole_arrays
    integer :: sent(4), got(4), found, ierror, which
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status, statuses(2)
    logical :: flag
    sent = [1, 2, 3, 4] + 10 * rank
    call MPI_Isend(sent, 4, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(1), ierror)
    call check(ierror == MPI_SUCCESS .and. requests(1) /= MPI_REQUEST_NULL, 'a request')
    call MPI_Recv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    call check(all(got == [1, 2, 3, 4] + 10 * other), 'what came')
    call check(status%MPI_SOURCE == other .and. status%MPI_TAG == 7, 'its status')
    call MPI_Get_count(status, MPI_INTEGER, found)
    call check(found == 4, 'its count')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(requests(1) == MPI_REQUEST_NULL, 'a request that is done')
    got = 0
    call MPI_Irecv(got, 4, MPI_INTEGER, other, 8, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(sent, 4, MPI_INTEGER, other, 8, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call check(statuses(1)%MPI_TAG == 8, 'the first of two statuses')
    call MPI_Irecv(got, 4, MPI_INTEGER, other, 9, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(sent, 4, MPI_INTEGER, other, 9, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    requests(2) = MPI_REQUEST_NULL
    call MPI_Irecv(got, 4, MPI_INTEGER, MPI_PROC_NULL, 9, MPI_COMM_WORLD, requests(2))
    call MPI_Waitany(2, requests, which, status)
    call check(which == 2, 'which of two')
    call MPI_Iprobe(other, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    call check(.not. flag, 'a message that is not there')
  end subroutine whole_arrays

  subroutine sections
    type pair
      integer :: one
      double precision :: two
    end type pair
    integer :: table(6, 5), got(6, 5), i, j
    type(pair) :: pairs(4)
    do j = 1, 5
      table(:, j) = [(i + 10 * j + 100 * rank, i = 1, 6)]
    end do
    got = -1
    call MPI_Sendrecv(table(1:6:2, 2:4), 9, MPI_INTEGER, other, 1, got(2:6:2, 5:1:-2), 9, &
                      MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do j = 1, 3
      call check(all(got(2:6:2, 7 - 2 * j) == [(i + 10 * (j + 1) + 100 * other, i = 1, 6, 2)]), &
                 'a column of a section')
    end do
    call check(count(got == -1) == 21, 'what is between')
    pairs(:)%one = [1, 2, 3, 4] + rank
    pairs(:)%two = 0.5d0
    if (rank == 0) call MPI_Send(pairs(:)%one, 4, MPI_INTEGER, other, 2, MPI_COMM_WORLD)
    if (rank == 1) call MPI_Recv(pairs(:)%one, 4, MPI_INTEGER, other, 2, MPI_COMM_WORLD, &
                                 MPI_STATUS_IGNORE)
    call check(all(pairs(:)%one == [1, 2, 3, 4]), 'components')
    call check(all(abs(pairs(:)%two - 0.5d0) < 1d-9), 'other components')
  end subroutine sections

  subroutine collectives
    integer :: table(4, 3), total(2, 3), everything(12), part(8)
    type(MPI_Op) :: op
    table = rank + 1
    table(2, :) = 77
    call MPI_Allreduce(MPI_IN_PLACE, table(1:3:2, :), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(table(1:3:2, :) == 3) .and. all(table(2, :) == 77), 'a sum in its place')
    call MPI_Op_create(add, .true., op)
    call check(op /= MPI_OP_NULL, 'an operation')
    call MPI_Reduce(table(1:2, :), total, 6, MPI_INTEGER, op, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(total(1, :) == 6) .and. all(total(2, :) == 154), 'our own sum')
    call MPI_Op_free(op)
    part = -1
    part(1:8:2) = [1, 2, 3, 4] + 4 * rank
    call MPI_Allgather(part(1:8:2), 4, MPI_INTEGER, everything(1:8), 4, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    call check(all(everything(1:8) == [1, 2, 3, 4, 5, 6, 7, 8]), 'all that is gathered')
    if (rank == 0) everything(3:12:3) = [9, 8, 7, 6]
    call MPI_Bcast(everything(3:12:3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(everything(3:12:3) == [9, 8, 7, 6]), 'a broadcast')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine collectives

  subroutine communicators
    type(MPI_Comm) :: comm, grid
    type(MPI_Errhandler) :: handler
    type(MPI_Group) :: group
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length, keyval, order
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, 'the largest tag')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, &
                                0_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_attr(comm, keyval, 4711_MPI_ADDRESS_KIND)
    call MPI_Comm_set_name(comm, 'by a module   ')
    call MPI_Comm_get_name(comm, name, length)
    call check(length == 11 .and. name == 'by a module', 'a name')
    call MPI_Comm_dup(comm, grid)
    call MPI_Comm_get_attr(grid, keyval, value, flag)
    call check(flag .and. value == 4711, 'an attribute')
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_set_errhandler(grid, handler)
    call MPI_Send(rank, 1, MPI_INTEGER, 99, 1, grid)
    call check(seen == MPI_ERR_RANK, 'an error')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(grid)
    call check(grid == MPI_COMM_NULL, 'a communicator that is freed')
    call MPI_Comm_group(comm, group)
    call MPI_Comm_compare(comm, MPI_COMM_WORLD, order)
    call check(order == MPI_CONGRUENT .and. group /= MPI_GROUP_NULL, 'what two are alike')
    call MPI_Group_free(group)
    call MPI_Dist_graph_create_adjacent(comm, 1, [other], MPI_UNWEIGHTED, 1, [other], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., grid)
    call MPI_Topo_test(grid, order)
    call check(order == MPI_DIST_GRAPH, 'a topology')
    call MPI_Comm_free(grid)
    call MPI_Comm_free(comm)
    call MPI_Comm_free_keyval(keyval)
  end subroutine communicators

  subroutine memory
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_loc, c_associated
    type(c_ptr) :: address, back
    integer, pointer :: numbers(:)
    character, target :: room(100000)
    integer(kind=MPI_ADDRESS_KIND) :: first, second
    integer :: values(2), size, length
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
    call c_f_pointer(address, numbers, [100])
    numbers = 5
    call check(sum(numbers) == 500, 'memory')
    call MPI_Free_mem(numbers)
    call MPI_Get_address(values(1), first)
    call MPI_Get_address(values(2), second)
    call check(MPI_Aint_diff(second, first) == 4, 'a distance')
    call MPI_Buffer_attach(room, 100000)
    back = address
    call MPI_Buffer_detach(back, size)
    call check(size == 100000, 'the size of a buffer')
    if (MPI_SUBARRAYS_SUPPORTED) call check(c_associated(back, c_loc(room)), 'a buffer')
    call MPI_Sizeof(first, length)
    call check(length == 8, 'a size')
    call check(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0, 'the time')
    call MPI_F_sync_reg(values)
  end subroutine memory

  subroutine sections_that_outlive_a_call
    integer :: table(6, 5), got(6, 5), i, j
    integer(kind=8) :: long(3)
    type(MPI_Request) :: requests(2)
    do j = 1, 5
      table(:, j) = [(i + 10 * j + 100 * rank, i = 1, 6)]
    end do
    got = -1
    ! seven of nine elements: two columns, and one of the third
    call MPI_Irecv(got(1:5:2, 1:5:2), 7, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(table(2:4, 1:3), 7, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(got(1:5:2, 1) == [(i + 10 + 100 * other, i = 2, 4)]), 'a first column')
    call check(all(got(1:5:2, 3) == [(i + 20 + 100 * other, i = 2, 4)]), 'a second column')
    call check(got(1, 5) == 32 + 100 * other, 'one of a third')
    call check(count(got == -1) == 23, 'what is between them')
    ! elements that hold two items each, of which the last is left out
    long = 0
    call MPI_Irecv(long(3:1:-2), 3, MPI_INTEGER, other, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(table(1:6:2, 1), 3, MPI_INTEGER, other, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(long(2) == 0 .and. long(1) == 15 + 100 * other, 'half an element')
    call check(iand(long(3), 65535_8) == 11 + 100 * other, 'a whole element')
    if (rank == 0) got(2:6:2, 2) = [1, 2, 3]
    call MPI_Ibcast(got(2:6:2, 2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(got(2:6:2, 2) == [1, 2, 3]), 'a broadcast that is waited for')
  end subroutine sections_that_outlive_a_call

  subroutine sections_that_cannot
    integer :: numbers(6), sums(3), ierror, class
    type(MPI_Request) :: request
    numbers = 1
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Iallreduce(numbers(1:6:2), sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, &
                        ierror)
    call MPI_Error_class(ierror, class)
    call check(class == MPI_ERR_BUFFER, 'a sum of a section that outlives its call')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine sections_that_cannot

  subroutine windows
    integer :: memory(10), values(4)
    type(MPI_Win) :: window
    integer(kind=MPI_ADDRESS_KIND) :: size
    logical :: flag
    memory = 0
    values = [1, 2, 3, 4] + 10 * rank
    call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, size, flag)
    call check(flag .and. size == 40, 'the size of a window')
    call MPI_Win_fence(0, window)
    call MPI_Put(values(4:1:-1), 4, MPI_INTEGER, other, 2_MPI_ADDRESS_KIND, 4, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call check(all(memory(3:6) == [4, 3, 2, 1] + 10 * other), 'what was put')
    call MPI_Get(values(1:4:2), 2, MPI_INTEGER, other, 2_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call check(all(values == [4, 2, 3, 4] + 10 * rank), 'what was got')
    call MPI_Win_free(window)
    call check(window == MPI_WIN_NULL, 'a window that is freed')
  end subroutine windows

  subroutine a_file
    integer :: numbers(8), got(8), length
    character(len=1000) :: path
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    call get_command_argument(1, path, length)
    numbers = [1, 2, 3, 4, 5, 6, 7, 8] + 10 * rank
    got = 0
    call MPI_File_open(MPI_COMM_WORLD, path(:length) // '/numbers', &
                       ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    call MPI_File_write_at(file, int(16 * rank, MPI_OFFSET_KIND), numbers(1:8:2), 4, MPI_INTEGER, &
                           status)
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_sync(file)
    call MPI_File_iread_at(file, int(16 * other, MPI_OFFSET_KIND), got(8:2:-2), 4, MPI_INTEGER, &
                           request)
    call MPI_Wait(request, status)
    call check(all(got(8:2:-2) == [1, 3, 5, 7] + 10 * other), 'what was read')
    call check(all(got(1:7:2) == 0), 'what was not')
    call MPI_File_close(file)
  end subroutine a_file

#ifdef LARGE
  subroutine large_counts
    integer :: sent(4), got(4)
    integer(kind=MPI_COUNT_KIND) :: four, found
    type(MPI_Status) :: status
    type(MPI_Datatype) :: datatype
    four = 4
    sent = [1, 2, 3, 4] + 10 * rank
    call MPI_Sendrecv(sent, four, MPI_INTEGER, other, 5, got, four, MPI_INTEGER, other, 5, &
                      MPI_COMM_WORLD, status)
    call check(all(got == [1, 2, 3, 4] + 10 * other), 'what came by large counts')
    call MPI_Get_count(status, MPI_INTEGER, found)
    call check(found == 4, 'a large count')
    call MPI_Type_contiguous(four, MPI_INTEGER, datatype)
    call MPI_Type_size(datatype, found)
    call check(found == 16, 'a large size')
    call MPI_Type_free(datatype)
    call check(datatype == MPI_DATATYPE_NULL, 'a type that is freed')
  end subroutine large_counts
#endif

end program modern
