// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Programs that are bound by one thing each, for about as long as they are told: bounds KIND
// SECONDS. Rank 0 decides after each step whether there is another one.
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
volatile double sum = 0;

void compute(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    for (int n = 0; n < 1000; n++) sum = sum + n;
}

void small_sums(int times) {
  double own = rank;
  double all = 0;
  for (int n = 0; n < times; n++) MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void exchange(int bytes) {
  static std::vector<char> out(static_cast<std::size_t>(bytes));
  static std::vector<char> in(static_cast<std::size_t>(bytes));
  MPI_Sendrecv(out.data(), bytes, MPI_CHAR, (rank + 1) % ranks, 0, in.data(), bytes, MPI_CHAR,
               (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Each rank computes when the one before it is done.
void by_turns(double seconds) {
  int token = 0;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  compute(seconds);
  if (rank < ranks - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

void write_file(int bytes) {
  static std::vector<char> text(static_cast<std::size_t>(bytes), 'x');
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, "bounds.out",
                MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, static_cast<MPI_Offset>(rank) * bytes, text.data(), bytes, MPI_CHAR,
                    MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_close(&file);
}

const std::map<std::string, std::function<void()>> kinds = {
    {"compute", [] { compute(0.01); }},
    {"latency", [] { small_sums(1000); }},
    {"bandwidth",
     [] {
       for (int n = 0; n < 10; n++) exchange(4 << 20);
     }},
    {"imbalanced",
     [] {
       if (rank == 0) compute(0.01);
     }},
    {"serialised", [] { by_turns(0.01); }},
    {"file", [] { write_file(4 << 20); }},
};

}  // namespace

int main(int count, char** words) {
  if (count < 3 || kinds.count(words[1]) == 0) return 2;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double end = MPI_Wtime() + std::atof(words[2]);
  for (int goes_on = 1; goes_on != 0;) {
    kinds.at(words[1])();
    goes_on = MPI_Wtime() < end ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    small_sums(1);
  }
  MPI_Finalize();
  return 0;
}
