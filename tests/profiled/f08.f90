! SPDX-License-Identifier: BSD-3-Clause
! Copyright the mpigauge authors
!
! Calls of the module mpi, and of mpi_f08 with and without buffers, in one program.
subroutine begin
  use mpi
  implicit none
  integer :: error
  call MPI_Init(error)
end subroutine

subroutine finish
  use mpi
  implicit none
  integer :: error
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end subroutine

program f08
  use mpi_f08
  implicit none
  integer :: n, rank, ranks, out, got
  logical :: is_there
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Comm) :: comm
#ifdef LARGE
  integer(MPI_COUNT_KIND) :: many
#endif
  call begin
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_name(comm, "a copy")
  do n = 1, 7
    call MPI_Barrier(comm)
  end do
  do n = 1, 20
    out = rank
    call MPI_Allreduce(out, got, 1, MPI_INTEGER, MPI_SUM, comm)
    call MPI_Irecv(got, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 3, comm, requests(1))
    call MPI_Isend(out, 1, MPI_INTEGER, mod(rank + 1, ranks), 3, comm, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end do
  if (got /= mod(rank + ranks - 1, ranks)) error stop "wrong data"
  call MPI_Isend(out, 1, MPI_INTEGER, mod(rank + 1, ranks), 4, comm, requests(1))
  call MPI_Probe(mod(rank + ranks - 1, ranks), 4, comm, MPI_STATUS_IGNORE)
  call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, comm, status)
  if (status%MPI_SOURCE /= mod(rank + ranks - 1, ranks)) error stop "wrong source"
#ifdef LARGE
  call MPI_Get_count(status, MPI_INTEGER, many)
  if (many /= 1) error stop "wrong count"
  call MPI_Type_size(MPI_INTEGER, many)
#endif
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, is_there, status)
  if (is_there) error stop "a message that nobody sent"
  call MPI_Comm_free(comm)
  call finish
end program
