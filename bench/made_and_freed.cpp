// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Makes things of MPI and frees them, again and again. Rank 0 prints a line for each kind: its
// name, kilobytes by which the process has grown, nanoseconds of one at the beginning, and at the
// end.
//
// usage: made_and_freed TIMES
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#ifdef MPIGAUGE_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

int rank = 0;

void request() {
  std::array<int, 2> data{};
  std::array<MPI_Request, 2> requests;
  MPI_Irecv(&data[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(&data[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

void type() {
  MPI_Datatype made;
  MPI_Type_vector(3, 1, 2, MPI_INT, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&made);
}

void communicator() {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  MPI_Comm_free(&made);
}

void group() {
  MPI_Group all, none;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &rank, &none);
  MPI_Group_free(&none);
  MPI_Group_free(&all);
}

void add(void*, void*, int*, MPI_Datatype*) {}

void operation() {
  MPI_Op made;
  MPI_Op_create(add, 1, &made);
  MPI_Op_free(&made);
}

// Each with a state of its own.
void attribute() {
  static long state = 0;
  int keyval = 0;
  ++state;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval,
                         reinterpret_cast<void*>(state));
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &state);
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
  MPI_Comm_free_keyval(&keyval);
}

long resident_kb() {
  long pages = 0, all = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * 4;
}

// The fastest of some blocks: others may want the processor, too.
double ns_of_one(void (*turn)(), long times) {
  using Clock = std::chrono::steady_clock;
  constexpr long blocks = 20;
  const long size = times / blocks > 0 ? times / blocks : 1;
  double least = 1e99;
  for (long block = 0; block < blocks; ++block) {
    const auto start = Clock::now();
    for (long n = 0; n < size; ++n) turn();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    const double of_one = took.count() / static_cast<double>(size);
    if (of_one < least) least = of_one;
  }
  return least;
}

void measure(const char* name, void (*turn)(), long times) {
  const long part = times / 10;
  ns_of_one(turn, part);  // what the first ones need is needed by others later
  const long before = resident_kb();
  const double first = ns_of_one(turn, part);
  ns_of_one(turn, times - 2 * part);
  const double last = ns_of_one(turn, part);
  if (rank == 0) {
    std::printf("%s\t%ld\t%.1f\t%.1f\n", name, resident_kb() - before, first, last);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long times = argc > 1 ? std::atol(argv[1]) : 1000;
  measure("requests", request, times);
  measure("types", type, times);
  measure("communicators", communicator, times);
  measure("groups", group, times);
  measure("operations", operation, times);
  measure("attributes", attribute, times);
  MPI_Finalize();
  return 0;
}
