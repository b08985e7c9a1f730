! SPDX-License-Identifier: BSD-3-Clause
! Copyright the mpigauge authors
!
! Heat along a ring of ranks: 40 steps, in which neighbours swap the ends of their lines by the module
! mpi_f08, and every tenth asks for the sum.
program heat
  use mpi_f08
  use mpigauge
  implicit none
  integer, parameter :: cells = 1000, steps = 40
  double precision :: line(0:cells + 1), next(0:cells + 1), own, all
  integer :: rank, ranks, left, right, step

  call mpigauge_begin("whole")
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  line = rank
  do step = 1, steps
    call mpigauge_begin("swap")
    call swap_ends()
    call mpigauge_end()
    next(1:cells) = (line(0:cells - 1) + line(1:cells) + line(2:cells + 1)) / 3
    line(1:cells) = next(1:cells)
    if (mod(step, 10) == 0) then
      own = sum(line(1:cells))
      call MPI_Allreduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      if (rank == 0) print "(i3, es24.16)", step, all
    end if
  end do
  call mpigauge_end()
  call MPI_Finalize()

contains

  subroutine swap_ends()
    call MPI_Sendrecv(line(1), 1, MPI_DOUBLE_PRECISION, left, 0, line(cells + 1), 1, &
      MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(line(cells), 1, MPI_DOUBLE_PRECISION, right, 0, line(0), 1, &
      MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine swap_ends
end program heat
