// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Ranks compute, come late as they are told, and meet. Who is late by how much is drawn from
// numbers alone, so each rank knows it of all, and rank 0 prints how long each has to wait.
//
// usage: late WHO CALLS MICROSECONDS [WHAT]
//   WHO   one (the last rank), turns (each in its turn), exponential (each by itself), root, nobody
//   WHAT  allreduce bcast alltoall barrier reduce; recv sendrecv irecv waitany probe persistent
//         iallreduce ibcast: what they meet in
//
// prints: two lines for each rank: planted RANK SECONDS, and happened RANK SECONDS for each call,
// by when the ranks of one host really came: whoever is kept from a core is later than planned, and
// waited for longer. What a rank does between coming and waiting, as in MPI_Iallreduce, it does not
// wait.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 0;
constexpr int tag = 7;

void compute(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
  }
}

// --- who is late --------------------------------------------------------------------------------

// From 0 to 1, the same for the same numbers.
double drawn(int call, int of) {
  std::uint64_t word = (static_cast<std::uint64_t>(call) << 20U) + static_cast<std::uint64_t>(of);
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((word ^ (word >> 31U)) >> 11U) * 0x1p-53;
}

double lateness(const std::string& who, double late, int call, int of) {
  if (who == "exponential") return -late * std::log1p(-drawn(call, of));
  const bool is_late = (who == "one" && of == ranks - 1) || (who == "root" && of == 0) ||
                       (who == "turns" && call % ranks == of);
  return is_late ? late : 0;
}

// --- in what they meet --------------------------------------------------------------------------

int next() { return (rank + 1) % ranks; }
int before() { return (rank + ranks - 1) % ranks; }
bool receives() { return rank % 2 == 0 && rank + 1 < ranks; }
bool sends() { return rank % 2 == 1; }

// On the clock that all ranks of a host share.
double now() {
  timespec read{};
  clock_gettime(CLOCK_MONOTONIC, &read);
  return static_cast<double>(read.tv_sec) + 1e-9 * static_cast<double>(read.tv_nsec);
}

// When this rank came, and when it began to wait.
double came = 0, begun = 0;
double mine = 0, sum = 0;
std::vector<double> all_out, all_in;
MPI_Request persistent[2];

void send_to_one_before() {
  if (sends()) MPI_Send(&mine, 1, MPI_DOUBLE, rank - 1, tag, MPI_COMM_WORLD);
}

void recv() {
  send_to_one_before();
  if (!receives()) return;
  MPI_Recv(&sum, 1, MPI_DOUBLE, rank + 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void probe() {
  send_to_one_before();
  if (!receives()) return;
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&sum, 1, MPI_DOUBLE, rank + 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void begin_exchange(MPI_Request* requests) {
  MPI_Irecv(&sum, 1, MPI_DOUBLE, next(), tag, MPI_COMM_WORLD, &requests[0]);
  came = now();  // others wait until it sends, and MPI_Irecv takes a while after a long break
  MPI_Isend(&mine, 1, MPI_DOUBLE, before(), tag, MPI_COMM_WORLD, &requests[1]);
}

void irecv() {
  MPI_Request requests[2];
  begin_exchange(requests);
  begun = now();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void waitany() {
  MPI_Request requests[2];
  begin_exchange(requests);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  int which = 0;
  begun = now();
  MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
}

void start_and_wait() {
  MPI_Startall(2, persistent);
  begun = now();
  MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
}

void sendrecv() {
  MPI_Sendrecv(&mine, 1, MPI_DOUBLE, before(), tag, &sum, 1, MPI_DOUBLE, next(), tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void wait(MPI_Request request) {
  begun = now();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void iallreduce() {
  MPI_Request request;
  MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  wait(request);
}

void ibcast() {
  MPI_Request request;
  MPI_Ibcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  wait(request);
}

// Who waits for whom.
enum class Waits { all, for_root, at_root, for_next, if_receives };

struct Meeting {
  std::function<void()> meet;
  Waits waits;
};

const std::map<std::string, Meeting> meetings = {
    {"allreduce",
     {[] { MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }, Waits::all}},
    {"alltoall",
     {[] {
        MPI_Alltoall(all_out.data(), 1, MPI_DOUBLE, all_in.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
      },
      Waits::all}},
    {"barrier", {[] { MPI_Barrier(MPI_COMM_WORLD); }, Waits::all}},
    {"bcast", {[] { MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }, Waits::for_root}},
    {"reduce",
     {[] { MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }, Waits::at_root}},
    {"recv", {recv, Waits::if_receives}},
    {"probe", {probe, Waits::if_receives}},
    {"sendrecv", {sendrecv, Waits::for_next}},
    {"irecv", {irecv, Waits::for_next}},
    {"waitany", {waitany, Waits::for_next}},
    {"persistent", {start_and_wait, Waits::for_next}},
    {"iallreduce", {iallreduce, Waits::all}},
    {"ibcast", {ibcast, Waits::for_root}},
};

// How long one that begins to wait at this time waits in a call to which all come so late.
double waiting(Waits waits, const std::vector<double>& late, int of, double from) {
  const auto at = [&late](int each) { return late[static_cast<std::size_t>(each % ranks)]; };
  const double last = *std::max_element(late.begin(), late.end());
  double until = at(of);
  switch (waits) {
    case Waits::all: until = last; break;
    case Waits::for_root: until = at(0); break;
    case Waits::at_root: until = of == 0 ? last : at(of); break;
    case Waits::for_next: until = at(of + 1); break;
    case Waits::if_receives: until = of % 2 == 0 && of + 1 < ranks ? at(of + 1) : at(of); break;
  }
  return std::max(until - from, 0.0);
}

// The calls of rank 0, then those of rank 1, and so on.
using Times = std::vector<double>;

// How long a rank waits in each call, from when all ranks come to it, and when they begin to wait.
Times waited(Waits waits, const Times& come, const Times& begin, std::size_t calls, int of) {
  Times found(calls), each(static_cast<std::size_t>(ranks));
  for (std::size_t n = 0; n < calls; ++n) {
    for (std::size_t at = 0; at < each.size(); ++at) each[at] = come[at * calls + n];
    found[n] = waiting(waits, each, of, begin[static_cast<std::size_t>(of) * calls + n]);
  }
  return found;
}

void print_waits(Waits waits, const Times& planned, const Times& come, const Times& begin,
                 std::size_t calls) {
  for (int of = 0; of < ranks; ++of) {
    const Times planted = waited(waits, planned, planned, calls, of);
    std::printf("planted %d %.9f\n", of, std::accumulate(planted.begin(), planted.end(), 0.0));
    std::printf("happened %d", of);
    for (const double seconds : waited(waits, come, begin, calls, of)) {
      std::printf(" %.9f", seconds);
    }
    std::printf("\n");
  }
}

Times gathered(const Times& own) {
  const int count = static_cast<int>(own.size());
  Times all(rank == 0 ? own.size() * static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(own.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

// The call that counts is told from that which brings all together again by a frame more.
int met = 0;
[[gnu::noinline]] void meet(const Meeting& meeting) {
  meeting.meet();
  ++met;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string who = argv[1], what = argc > 4 ? argv[4] : "allreduce";
  const int calls = std::atoi(argv[2]);
  const double late = std::atof(argv[3]) * 1e-6;
  const auto count = static_cast<std::size_t>(ranks);
  const Meeting& meeting = meetings.at(what);
  mine = rank;
  all_out.resize(count);
  all_in.resize(count);
  MPI_Recv_init(&sum, 1, MPI_DOUBLE, next(), tag, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(&mine, 1, MPI_DOUBLE, before(), tag, MPI_COMM_WORLD, &persistent[1]);
  Times planned, come, begin;
  for (int of = 0; of < ranks; ++of) {
    for (int n = 0; n < calls; ++n) planned.push_back(lateness(who, late, n, of));
  }
  for (int n = 0; n < calls; ++n) {
    MPI_Barrier(MPI_COMM_WORLD);
    compute(20e-6 + lateness(who, late, n, rank));
    came = begun = now();
    meet(meeting);
    come.push_back(came);
    begin.push_back(begun);
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  const Times all_come = gathered(come), all_begin = gathered(begin);
  if (rank == 0) print_waits(meeting.waits, planned, all_come, all_begin, come.size());
  MPI_Finalize();
  return 0;
}
