// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of MPI as a program in Fortran makes them: by the names that its compiler gives them, with
// the place of each argument. tests/profiled/pattern.py knows what should come out of each section.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#define SECTION extern "C" __attribute__((noinline)) void

using Fortran = const MPI_Fint;

extern "C" {
void mpi_init_(MPI_Fint*);
void mpi_finalize_(MPI_Fint*);
void mpi_comm_rank_(Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_comm_size_(Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_send_(const void*, Fortran*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*);
void mpi_irecv_(void*, Fortran*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_recv_(void*, Fortran*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_wait_(MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_recv_init_(void*, Fortran*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_send_init_(const void*, Fortran*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*,
                    MPI_Fint*);
void mpi_startall_(Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_waitall_(Fortran*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_request_free_(MPI_Fint*, MPI_Fint*);
void mpi_allreduce_(const void*, void*, Fortran*, Fortran*, Fortran*, Fortran*, MPI_Fint*);
void mpi_alltoallw_(const void*, Fortran*, Fortran*, Fortran*, void*, Fortran*, Fortran*, Fortran*,
                    Fortran*, MPI_Fint*);
void mpi_comm_dup_(Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_comm_set_name_(Fortran*, const char*, MPI_Fint*, std::size_t);
void mpi_comm_free_(MPI_Fint*, MPI_Fint*);
void mpi_barrier_(Fortran*, MPI_Fint*);
void mpi_comm_create_keyval_(void (*)(), void (*)(), MPI_Fint*, const MPI_Aint*, MPI_Fint*);
void mpi_comm_set_attr_(Fortran*, Fortran*, const MPI_Aint*, MPI_Fint*);
void mpi_comm_get_attr_(Fortran*, Fortran*, MPI_Aint*, MPI_Fint*, MPI_Fint*);
void mpi_comm_free_keyval_(MPI_Fint*, MPI_Fint*);
void mpi_comm_null_copy_fn_();
void mpi_comm_null_delete_fn_();
void mpi_op_create_(void (*)(const int*, int*, Fortran*, Fortran*), Fortran*, MPI_Fint*, MPI_Fint*);
void mpi_op_free_(MPI_Fint*, MPI_Fint*);
void mpi_pcontrol_(Fortran*);
#if defined(OPEN_MPI)
void mpi_barrier_f08_(Fortran*, MPI_Fint*);
extern MPI_Fint mpi_fortran_status_ignore_[];
extern MPI_Fint mpi_fortran_in_place_[];
#endif
}

namespace {

constexpr std::size_t status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);
MPI_Fint error, rank, ranks, world, bytes, doubles, integers, sum;
MPI_Fint status[2 * status_size];
std::vector<char> out(1 << 16), in(1 << 16);

// What mpif.h calls MPI_STATUS_IGNORE and MPI_IN_PLACE, and a call of mpi_f08 without an error
// code.
#if defined(OPEN_MPI)
MPI_Fint* status_ignored() { return mpi_fortran_status_ignore_; }
const void* in_place() { return mpi_fortran_in_place_; }
void barrier_f08(Fortran* comm) { mpi_barrier_f08_(comm, nullptr); }
#else
MPI_Fint* status_ignored() { return status; }
const void* in_place() { return out.data(); }
void barrier_f08(Fortran* comm) { mpi_barrier_(comm, &error); }
#endif

MPI_Fint right() { return (rank + 1) % ranks; }
MPI_Fint left() { return (rank + ranks - 1) % ranks; }

}  // namespace

// To the right: 3 of 100 bytes; the first receive has more room, and the second asks by its status.
SECTION fortran_messages() {
  const MPI_Fint to = right(), from = left(), tag = 1, sent = 100, room = 200;
  MPI_Fint request = 0;
  for (int n = 0; n < 3; ++n) {
    mpi_irecv_(in.data(), &room, &bytes, &from, &tag, &world, &request, &error);
    mpi_send_(out.data(), &sent, &bytes, &to, &tag, &world, &error);
    mpi_wait_(&request, status, &error);
  }
  const MPI_Fint eight = 8, any = MPI_ANY_SOURCE;
  mpi_send_(out.data(), &eight, &doubles, &to, &tag, &world, &error);
  mpi_recv_(in.data(), &room, &doubles, &any, &tag, &world, status_ignored(), &error);
}

// A persistent pair that is started twice.
SECTION fortran_persistent() {
  const MPI_Fint to = right(), from = left(), tag = 2, count = 1000, two = 2;
  MPI_Fint pair[2] = {0, 0};
  mpi_recv_init_(in.data(), &count, &bytes, &from, &tag, &world, &pair[0], &error);
  mpi_send_init_(out.data(), &count, &bytes, &to, &tag, &world, &pair[1], &error);
  for (int n = 0; n < 2; ++n) {
    mpi_startall_(&two, pair, &error);
    mpi_waitall_(&two, pair, status, &error);
  }
  mpi_request_free_(&pair[0], &error);
  mpi_request_free_(&pair[1], &error);
}

SECTION fortran_collectives() {
  const MPI_Fint count = 12;
  mpi_allreduce_(in_place(), in.data(), &count, &doubles, &sum, &world, &error);
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<MPI_Fint> counts(size, 3), places(size), types(size, doubles);
  for (std::size_t n = 0; n < size; ++n) places[n] = static_cast<MPI_Fint>(24 * n);
  mpi_alltoallw_(out.data(), counts.data(), places.data(), types.data(), in.data(), counts.data(),
                 places.data(), types.data(), &world, &error);
}

// A dup with a name, 5 barriers on it.
SECTION fortran_communicators() {
  MPI_Fint made = 0;
  mpi_comm_dup_(&world, &made, &error);
  mpi_comm_set_name_(&made, "a grid", &error, 6);
  for (int n = 0; n < 3; ++n) mpi_barrier_(&made, &error);
  for (int n = 0; n < 2; ++n) barrier_f08(&made);
  mpi_comm_free_(&made, &error);
}

// An attribute that is set once and read twice.
SECTION fortran_attributes() {
  const MPI_Aint extra = 0, value = 42;
  MPI_Aint got = 0;
  MPI_Fint key = 0, is_there = 0;
  mpi_comm_create_keyval_(mpi_comm_null_copy_fn_, mpi_comm_null_delete_fn_, &key, &extra, &error);
  mpi_comm_set_attr_(&world, &key, &value, &error);
  for (int n = 0; n < 2; ++n) mpi_comm_get_attr_(&world, &key, &got, &is_there, &error);
  mpi_comm_free_keyval_(&key, &error);
  if (is_there == 0 || got != value) std::abort();
}

// An operation of the program's own: the sum of all ranks plus one.
SECTION fortran_operations() {
  const MPI_Fint commutes = 1, one = 1;
  MPI_Fint own = 0;
  const auto add = [](const int* given, int* sums, Fortran* count, Fortran*) {
    for (int n = 0; n < *count; ++n) sums[n] += given[n];
  };
  const int mine = rank + 1;
  int all = 0;
  mpi_op_create_(add, &commutes, &own, &error);
  mpi_allreduce_(&mine, &all, &one, &integers, &own, &world, &error);
  mpi_op_free_(&own, &error);
  if (all != ranks * (ranks + 1) / 2) std::abort();
}

// One barrier with the profile off, and one after it.
SECTION fortran_control() {
  const MPI_Fint off = 0, on = 1;
  mpi_pcontrol_(&off);
  mpi_barrier_(&world, &error);
  mpi_pcontrol_(&on);
  mpi_barrier_(&world, &error);
}

int main() {
  mpi_init_(&error);
  world = MPI_Comm_c2f(MPI_COMM_WORLD);
  bytes = MPI_Type_c2f(MPI_BYTE);
  doubles = MPI_Type_c2f(MPI_DOUBLE);
  integers = MPI_Type_c2f(MPI_INT);
  sum = MPI_Op_c2f(MPI_SUM);
  mpi_comm_rank_(&world, &rank, &error);
  mpi_comm_size_(&world, &ranks, &error);
  fortran_messages();
  fortran_persistent();
  fortran_collectives();
  fortran_communicators();
  fortran_attributes();
  fortran_operations();
  fortran_control();
  mpi_finalize_(&error);
  return 0;
}
