// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of Fortran as its compilers make them: by their names, with the place of each argument and
// the lengths of texts behind them. Says what is wrong, as features.cpp does. Two ranks.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

extern "C" {
void mpi_init_(int*);
void mpi_finalize_(int*);
void mpi_comm_rank_(const int*, int*, int*);
void mpi_comm_size_(const int*, int*, int*);
void mpi_isend_(const void*, const int*, const int*, const int*, const int*, const int*, int*,
                int*);
void mpi_recv_(void*, const int*, const int*, const int*, const int*, const int*, int*, int*);
void mpi_wait_(int*, int*, int*);
void mpi_waitany_(const int*, int*, int*, int*, int*);
void mpi_get_count_(const int*, const int*, int*, int*);
void mpi_allreduce_(const void*, void*, const int*, const int*, const int*, const int*, int*);
void mpi_op_create_(void (*)(void*, void*, int*, int*), const int*, int*, int*);
void mpi_op_free_(int*, int*);
void mpi_comm_dup_(const int*, int*, int*);
void mpi_comm_free_(int*, int*);
void mpi_comm_set_name_(const int*, const char*, int*, std::size_t);
void mpi_comm_get_name_(const int*, char*, int*, int*, std::size_t);
void mpi_comm_get_attr_(const int*, const int*, MPI_Aint*, int*, int*);
void mpi_comm_set_attr_(const int*, const int*, const MPI_Aint*, int*);
void mpi_comm_create_keyval_(void (*)(), void (*)(), int*, const MPI_Aint*, int*);
void mpi_comm_dup_fn_();
void mpi_comm_null_delete_fn_();
void mpi_comm_create_errhandler_(void (*)(int*, int*), int*, int*);
void mpi_comm_set_errhandler_(const int*, const int*, int*);
void mpi_type_vector_(const int*, const int*, const int*, const int*, int*, int*);
void mpi_type_commit_(int*, int*);
void mpi_type_size_(const int*, int*, int*);
void mpi_type_free_(int*, int*);
double mpi_wtime_();
#if defined(OPEN_MPI)
extern std::array<char, 4> mpi_fortran_in_place_;
extern std::array<char, 24> mpi_fortran_status_ignore_;
void mpi_barrier_f08_(const int*, int*);
#else
extern std::array<int, 7> mpipriv1_;
#endif
}

namespace {

#if defined(OPEN_MPI)
constexpr int world = 0, integer = 7, sum = 3, request_null = 0, comm_null = 2, type_null = 0;
const void* in_place() { return &mpi_fortran_in_place_; }
int* ignored() { return reinterpret_cast<int*>(&mpi_fortran_status_ignore_); }
void barrier_of_f08() { mpi_barrier_f08_(&world, nullptr); }
#else
constexpr int world = MPI_COMM_WORLD, integer = MPI_INTEGER, sum = MPI_SUM,
              request_null = MPI_REQUEST_NULL, comm_null = MPI_COMM_NULL,
              type_null = MPI_DATATYPE_NULL;
const void* in_place() { return &mpipriv1_[1]; }
int* ignored() { return &mpipriv1_[2]; }
void barrier_of_f08() {}
#endif
constexpr int one = 1, yes = 1, any_source = MPI_ANY_SOURCE, any_tag = MPI_ANY_TAG;

int rank, ranks, wrong, error;

void say(bool good, const char* what, int line) {
  if (good) return;
  ++wrong;
  std::printf("rank %d: line %d: %s\n", rank, line, what);
}
#define CHECK(...) say((__VA_ARGS__), #__VA_ARGS__, __LINE__)

void messages() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, tag = 9;
  std::array<int, 2> requests{};
  std::array<int, sizeof(MPI_Status) / sizeof(int)> status{};
  int got = -1, count = 0, index = 0;
  mpi_isend_(&rank, &one, &integer, &next, &tag, &world, requests.data(), &error);
  CHECK(error == 0);
  mpi_recv_(&got, &one, &integer, &any_source, &any_tag, &world, status.data(), &error);
  CHECK(error == 0 && got == last);
  CHECK(status[MPI_F_SOURCE] == last && status[MPI_F_TAG] == tag);
  mpi_get_count_(status.data(), &integer, &count, &error);
  CHECK(count == 1);
  requests[1] = requests[0];
  requests[0] = request_null;
  const int two = 2;
  mpi_waitany_(&two, requests.data(), &index, ignored(), &error);
  CHECK(error == 0 && index == 2 && requests[1] == request_null);
  mpi_isend_(&rank, &one, &integer, &next, &tag, &world, requests.data(), &error);
  mpi_recv_(&got, &one, &integer, &any_source, &any_tag, &world, ignored(), &error);
  mpi_wait_(requests.data(), ignored(), &error);
  CHECK(error == 0 && requests[0] == request_null);
}

int type_seen;
void add(void* in, void* inout, int* count, int* type) {
  type_seen = *type;
  for (int n = 0; n < *count; ++n) static_cast<int*>(inout)[n] += static_cast<int*>(in)[n];
}

void collectives() {
  int value = rank, total = 0, op = 0;
  mpi_allreduce_(in_place(), &value, &one, &integer, &sum, &world, &error);
  CHECK(error == 0 && value == ranks * (ranks - 1) / 2);
  mpi_op_create_(add, &yes, &op, &error);
  CHECK(error == 0);
  mpi_allreduce_(&one, &total, &one, &integer, &op, &world, &error);
  CHECK(total == ranks);
  CHECK(ranks == 1 || type_seen == integer);
  mpi_op_free_(&op, &error);
  CHECK(error == 0);
  barrier_of_f08();
}

int seen;
void on_error(int*, int* code) { seen = *code; }

void communicators() {
  int comm = comm_null, other = comm_null, length = 0, flag = 0, keyval = 0, handler = 0, at = 99;
  mpi_comm_dup_(&world, &comm, &error);
  CHECK(error == 0 && comm != comm_null);
  const std::string name = "by Fortran      ";
  std::string found(20, 'x');
  mpi_comm_set_name_(&comm, name.data(), &error, name.size());
  mpi_comm_get_name_(&comm, found.data(), &length, &error, found.size());
  CHECK(length == 10 && found == "by Fortran          ");
  const int tag_ub = MPI_TAG_UB;
  MPI_Aint value = 0;
  const MPI_Aint extra = 5, ours = 4711;
  mpi_comm_get_attr_(&world, &tag_ub, &value, &flag, &error);
  CHECK(flag != 0 && value >= 32767);
  mpi_comm_create_keyval_(mpi_comm_dup_fn_, mpi_comm_null_delete_fn_, &keyval, &extra, &error);
  mpi_comm_set_attr_(&comm, &keyval, &ours, &error);
  mpi_comm_dup_(&comm, &other, &error);
  mpi_comm_get_attr_(&other, &keyval, &value, &flag, &error);
  CHECK(flag != 0 && value == ours);
  mpi_comm_create_errhandler_(on_error, &handler, &error);
  mpi_comm_set_errhandler_(&other, &handler, &error);
  int request = 0;
  mpi_isend_(&rank, &one, &integer, &at, &one, &other, &request, &error);
  CHECK(seen != 0);
  mpi_comm_free_(&other, &error);
  mpi_comm_free_(&comm, &error);
  CHECK(error == 0 && comm == comm_null);
}

void types() {
  const int two = 2, three = 3;
  int type = 0, size = 0;
  mpi_type_vector_(&three, &two, &three, &integer, &type, &error);
  mpi_type_commit_(&type, &error);
  mpi_type_size_(&type, &size, &error);
  CHECK(error == 0 && size == 24);
  mpi_type_free_(&type, &error);
  CHECK(type == type_null);
}

}  // namespace

int main() {
  mpi_init_(&error);
  mpi_comm_rank_(&world, &rank, &error);
  mpi_comm_size_(&world, &ranks, &error);
  messages();
  collectives();
  communicators();
  types();
  CHECK(mpi_wtime_() > 0);
  int all = 0;
  mpi_allreduce_(&wrong, &all, &one, &integer, &sum, &world, &error);
  if (rank == 0) std::printf("ranks %d wrong %d\n", ranks, all);
  mpi_finalize_(&error);
  return all == 0 ? 0 : 1;
}
