// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of MPI of every class, as often and as large as tests/e2e/test_profiler.py knows. Each
// function is one section, and is called once by each rank unless it says otherwise.
#if defined(MPIGAUGE_STANDARD_ABI)
#include <mpi_abi.h>
#else
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include <alloca.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#define SECTION extern "C" __attribute__((noinline)) void

namespace {

int rank, ranks;
int right() { return (rank + 1) % ranks; }
int left() { return (rank + ranks - 1) % ranks; }
const MPI_Comm world = MPI_COMM_WORLD;
std::vector<char> out(1 << 20), in(1 << 20);

}  // namespace

// To the right: 3 of 100 bytes, 2 of 8 doubles; from the left likewise. The first receive has more
// room.
SECTION messages() {
  MPI_Request request;
  for (int n = 0; n < 3; ++n) {
    MPI_Irecv(in.data(), 200, MPI_BYTE, left(), 1, world, &request);
    MPI_Send(out.data(), 100, MPI_BYTE, right(), 1, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int n = 0; n < 2; ++n) {
    MPI_Isend(out.data(), 8, MPI_DOUBLE, right(), 2, world, &request);
    MPI_Recv(in.data(), 500, MPI_DOUBLE, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  }
}

// Of sizes that share a bin, neither growing nor shrinking; the last one comes again.
SECTION sizes() {
  for (const int size : {100, 127, 64, 90, 90}) {
    MPI_Sendrecv(out.data(), size, MPI_BYTE, right(), 14, in.data(), size, MPI_BYTE, left(), 14,
                 world, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, in.data(), size, MPI_BYTE, MPI_BOR, world);
  }
}

// To nobody, of nothing, and both ways at once.
SECTION edges() {
  MPI_Send(out.data(), 1000, MPI_INT, MPI_PROC_NULL, 3, world);
  MPI_Recv(in.data(), 1000, MPI_INT, MPI_PROC_NULL, 3, world, MPI_STATUS_IGNORE);
  for (int n = 0; n < 4; ++n) {
    MPI_Sendrecv(out.data(), 0, MPI_INT, right(), 4, in.data(), 10, MPI_INT, left(), 4, world,
                 MPI_STATUS_IGNORE);
  }
  MPI_Status status;
  MPI_Sendrecv_replace(out.data(), 3, MPI_INT, right(), 5, left(), 5, world, &status);
}

// Types of the program: a column of 4 integers, made anew each time, with a size of its own.
SECTION derived_types() {
  for (int n = 1; n <= 3; ++n) {
    MPI_Datatype column;
    MPI_Type_vector(4 * n, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(out.data(), 2, column, right(), 6, in.data(), 2, column, left(), 6, world,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
  }
}

// 5 probes that find nothing, one that finds 24 bytes, which are received as matched.
SECTION probes() {
  int found = 1;
  for (int n = 0; n < 5; ++n) MPI_Iprobe(right(), 77, world, &found, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_Isend(out.data(), 24, MPI_CHAR, right(), 7, world, &request);
  MPI_Message message;
  MPI_Mprobe(left(), 7, world, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in.data(), 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// 6 requests at once; some are asked for first.
SECTION requests() {
  std::vector<MPI_Request> all;
  for (int n = 0; n < 3; ++n) {
    all.resize(all.size() + 2);
    MPI_Irecv(in.data() + (64 * n), 64, MPI_BYTE, left(), 8, world, &all[all.size() - 2]);
    MPI_Isend(out.data(), 64, MPI_BYTE, right(), 8, world, &all[all.size() - 1]);
  }
  int done = 0;
  MPI_Testall(6, all.data(), &done, MPI_STATUSES_IGNORE);
  MPI_Waitall(6, all.data(), MPI_STATUSES_IGNORE);
}

// A persistent pair, started 5 times one by one and 2 times together.
SECTION persistent() {
  MPI_Request pair[2];
  MPI_Recv_init(in.data(), 1000, MPI_BYTE, left(), 9, world, &pair[0]);
  MPI_Send_init(out.data(), 1000, MPI_BYTE, right(), 9, world, &pair[1]);
  for (int n = 0; n < 5; ++n) {
    MPI_Start(&pair[0]);
    MPI_Start(&pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  }
  for (int n = 0; n < 2; ++n) {
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);
}

SECTION collectives() {
  const auto size = static_cast<std::size_t>(ranks);
  auto* const a = reinterpret_cast<double*>(out.data());
  auto* const b = reinterpret_cast<double*>(in.data());
  MPI_Barrier(world);
  MPI_Bcast(a, 10, MPI_DOUBLE, ranks - 1, world);
  MPI_Reduce(a, b, 11, MPI_DOUBLE, MPI_MAX, 0, world);
  MPI_Allreduce(a, b, 12, MPI_DOUBLE, MPI_SUM, world);
  MPI_Allreduce(MPI_IN_PLACE, b, 13, MPI_DOUBLE, MPI_SUM, world);
  MPI_Scan(a, b, 14, MPI_DOUBLE, MPI_SUM, world);
  MPI_Allgather(a, 15, MPI_DOUBLE, b, 15, MPI_DOUBLE, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 16, MPI_DOUBLE, world);
  MPI_Alltoall(a, 17, MPI_DOUBLE, b, 17, MPI_DOUBLE, world);
  MPI_Gather(a, 18, MPI_DOUBLE, b, 18, MPI_DOUBLE, 0, world);
  MPI_Scatter(a, 19, MPI_DOUBLE, b, 19, MPI_DOUBLE, 0, world);
  std::vector<int> counts(size), places(size);
  for (int n = 0; n < ranks; ++n) counts[n] = n + 1;
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  MPI_Gatherv(a, rank + 1, MPI_DOUBLE, b, counts.data(), places.data(), MPI_DOUBLE, 0, world);
  MPI_Scatterv(a, counts.data(), places.data(), MPI_DOUBLE, b, rank + 1, MPI_DOUBLE, 0, world);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts.data(), places.data(), MPI_DOUBLE,
                 world);
  MPI_Reduce_scatter(a, b, counts.data(), MPI_DOUBLE, MPI_SUM, world);
  MPI_Reduce_scatter_block(a, b, 20, MPI_DOUBLE, MPI_SUM, world);
  std::vector<int> mine(size, rank + 1), mine_at(size);
  std::exclusive_scan(mine.begin(), mine.end(), mine_at.begin(), 0);
  MPI_Alltoallv(a, counts.data(), places.data(), MPI_DOUBLE, b, mine.data(), mine_at.data(),
                MPI_DOUBLE, world);
  std::vector<MPI_Datatype> types(size, MPI_DOUBLE);
  for (std::size_t n = 0; n < size; ++n) {
    places[n] *= 8;
    mine_at[n] *= 8;
  }
  MPI_Alltoallw(a, counts.data(), places.data(), types.data(), b, mine.data(), mine_at.data(),
                types.data(), world);
  MPI_Request request;
  MPI_Ibarrier(world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(a, b, 21, MPI_DOUBLE, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// A dup that comes and goes 10 times, a split into single ranks, one in reverse order.
SECTION communicators() {
  MPI_Comm made;
  for (int n = 0; n < 10; ++n) {
    MPI_Comm_dup(world, &made);
    MPI_Allreduce(MPI_IN_PLACE, in.data(), 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_split(world, rank, 0, &made);
  MPI_Allreduce(MPI_IN_PLACE, in.data(), 2, MPI_INT, MPI_SUM, made);
  MPI_Comm_free(&made);
  MPI_Comm_split(world, 0, ranks - rank, &made);
  MPI_Comm_set_name(made, "turned round");
  int own = 0;
  MPI_Comm_rank(made, &own);
  MPI_Sendrecv(out.data(), 7, MPI_BYTE, (own + 1) % ranks, 0, in.data(), 7, MPI_BYTE,
               (own + ranks - 1) % ranks, 0, made, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}

// Between the ranks with even and those with odd numbers; of several ranks only.
SECTION between_groups() {
  if (ranks < 2) return;
  MPI_Comm half, between;
  MPI_Comm_split(world, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, world, 1 - (rank % 2), 10, &between);
  const int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(out.data(), 30, MPI_BYTE, root, between);
  MPI_Gather(out.data(), 31, MPI_BYTE, in.data(), 31, MPI_BYTE, root, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

SECTION neighbours() {
  const int periodic = 1;
  MPI_Comm circle;
  MPI_Cart_create(world, 1, &ranks, &periodic, 0, &circle);
  const int counts[2] = {2, 3}, places[2] = {0, 8}, back[2] = {3, 2};
  MPI_Neighbor_allgather(out.data(), 4, MPI_INT, in.data(), 4, MPI_INT, circle);
  MPI_Neighbor_alltoall(out.data(), 5, MPI_INT, in.data(), 5, MPI_INT, circle);
  MPI_Neighbor_alltoallv(out.data(), counts, places, MPI_INT, in.data(), back, places, MPI_INT,
                         circle);
  MPI_Comm_free(&circle);
}

// To the right: 3 puts of 40 bytes, a get of 16, an accumulate of 8, a fetch of 4.
SECTION one_sided() {
  void* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(1024, 1, MPI_INFO_NULL, world, &memory, &window);
  MPI_Win_fence(0, window);
  for (int n = 0; n < 3; ++n)
    MPI_Put(out.data(), 40, MPI_BYTE, right(), 64 * n, 10, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Get(in.data(), 16, MPI_BYTE, right(), 0, 16, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window);
  MPI_Accumulate(out.data(), 1, MPI_DOUBLE, right(), 512, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Fetch_and_op(out.data(), in.data(), MPI_INT, right(), 600, MPI_SUM, window);
  MPI_Win_unlock(right(), window);
  MPI_Win_free(&window);
}

// 4 writes of 100 bytes, 2 reads of 50.
SECTION files(const char* name) {
  MPI_File file;
  if (MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != 0) {
    std::abort();
  }
  for (int n = 0; n < 4; ++n) {
    MPI_File_write_at(file, 1000 * rank, out.data(), 100, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_sync(file);
  for (int n = 0; n < 2; ++n) {
    MPI_File_read_at_all(file, 1000 * rank, in.data(), 50, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

// 8 levels deep and back: one barrier on each, from one line. The innermost has other callers above
// it.
SECTION recursion(int depth) {
  volatile char room[40];
  room[depth] = 1;
  if (depth > 0) recursion(depth - 1);
  MPI_Barrier(MPI_COMM_SELF);
  asm volatile("" : : "r"(room) : "memory");
}

// Frames of random size: 500 barriers from one place.
SECTION in_variable_frame(int n) {
  const std::size_t bytes = 16 + (static_cast<std::size_t>(std::rand()) % 4096);
  auto* const room = static_cast<volatile char*>(alloca(bytes));
  room[bytes / 2] = static_cast<char>(n);
  MPI_Barrier(MPI_COMM_SELF);
  asm volatile("" : : "r"(room) : "memory");
}
SECTION variable_frames() {
  for (int n = 0; n < 500; ++n) in_variable_frame(n);
}

// Through a pointer: one place, two calls of MPI.
SECTION by_pointer() {
  int (*const both[])(MPI_Comm, int*) = {MPI_Comm_rank, MPI_Comm_size};
  int value = 0;
  for (int n = 0; n < 20; ++n) both[n % 2](MPI_COMM_SELF, &value);
}

// A call that fails, and whose communicator says so.
SECTION failures() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int n = 0; n < 3; ++n) MPI_Send(out.data(), 1, MPI_BYTE, 5, 0, MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  messages();
  sizes();
  edges();
  derived_types();
  probes();
  requests();
  persistent();
  collectives();
  communicators();
  between_groups();
  neighbours();
  one_sided();
  if (argc > 1) files(argv[1]);
  recursion(7);
  variable_frames();
  by_pointer();
  failures();
  MPI_Finalize();
  std::printf("rank %d is done\n", rank);
  return 0;
}
