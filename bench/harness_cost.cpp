// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What Run::measure() costs over a loop written by hand around the same MPI calls, which an MPI
// without content answers (fake_mpi.cpp). Prints a line per round: loop, body, nanoseconds per call
// in our loop, nanoseconds in the loop by hand. harness_cost.py builds, runs and judges it.
//
// usage: harness_cost ROUNDS

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr std::uint32_t calls_per_round = 20000;
constexpr Card card{.suite = "bench",
                    .name = "cost",
                    .about = "Nothing but the loop.",
                    .ranks = Ranks::pair,
                    .time = Time::half_round_trip};

// Something that the compiler must do at each turn.
inline void turn_over() { asm volatile("" ::: "memory"); }

// How a sample is cut, and what it is called in the output.
struct Cut {
  std::string_view name;
  Task task;
};
constexpr Cut cuts[] = {
    {"classic", {Work::classic_loop, 0, 1, calls_per_round}},
    {"chain, 100 calls a sample", {Work::chain, 0, calls_per_round / 100, 100}},
    {"chain, 1 call a sample", {Work::chain, 0, calls_per_round, 1}},
};

// A loop as one writes it into a program for one measurement.
template <class Body>
Outcome by_hand(const Task& task, Body&& body) {
  Outcome found;
  if (task.work == Work::classic_loop) {
    const double start = MPI_Wtime();
    for (std::uint32_t i = 0; i < calls_per_round; ++i) body();
    found.seconds = MPI_Wtime() - start;
    return found;
  }
  found.ticks.resize(task.samples);
  auto last = platform::ticks();
  for (auto& sample : found.ticks) {
    for (std::uint32_t i = 0; i < task.calls; ++i) body();
    const auto now = platform::ticks();
    sample = now - last;
    last = now;
  }
  return found;
}

// Nanoseconds per call, from what the loop itself says that it took.
double per_call(const Outcome& found, double hz) {
  const auto ticks = std::accumulate(found.ticks.begin(), found.ticks.end(), std::uint64_t{0});
  const double seconds = found.ticks.empty() ? found.seconds : static_cast<double>(ticks) / hz;
  return seconds * 1e9 / calls_per_round;
}

class Bench {
 public:
  Bench() : team_{.comm = MPI_COMM_WORLD, .rank = 0, .ranks = 2, .buffers = &buffers_} {
    row_.card = &card;
    row_.shape = {.bytes = 8, .ranks = 2};
    row_.type = find_type("byte");
  }

  void round(const Cut& cut, bool ours_first) {
    Run run(row_, team_, cut.task);
    const Block out = run.send_block();
    const Block in = run.recv_block();
    const int peer = run.peer();
    const MPI_Comm comm = run.comm();
    void* const sent = out[{}].data;
    void* const got = in[{}].data;
    compare(cut, "nothing", ours_first, run, [](Turn) { turn_over(); }, [] { turn_over(); });
    compare(
        cut, "send", ours_first, run, [=](Turn t) { send(out[t], peer, comm); },
        [&] { MPI_Send(sent, 8, MPI_BYTE, peer, message_tag, comm); });
    compare(
        cut, "send and recv", ours_first, run,
        [=](Turn t) {
          send(out[t], peer, comm);
          recv(in[t], peer, comm);
        },
        [&] {
          MPI_Send(sent, 8, MPI_BYTE, peer, message_tag, comm);
          MPI_Recv(got, 8, MPI_BYTE, peer, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
        });
  }

 private:
  template <class Ours, class Theirs>
  void compare(const Cut& cut, std::string_view body, bool ours_first, Run& run, Ours ours,
               Theirs theirs) {
    double times[2];
    for (const bool is_ours : {ours_first, !ours_first}) {
      if (is_ours) run.measure(ours);
      times[is_ours ? 0 : 1] =
          per_call(is_ours ? run.take_outcome() : by_hand(cut.task, theirs), hz_);
    }
    std::printf("%.*s\t%.*s\t%.4f\t%.4f\n", static_cast<int>(cut.name.size()), cut.name.data(),
                static_cast<int>(body.size()), body.data(), times[0], times[1]);
  }

  Buffers buffers_{mapped_arena};
  Team team_;
  Case row_;
  double hz_ = platform::clock_facts().hz;
};

}  // namespace
}  // namespace mpigauge

int main(int argc, char** argv) {
  using namespace mpigauge;
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (rounds < 1) {
    std::fputs("usage: harness_cost ROUNDS\n", stderr);
    return 2;
  }
  platform::start_clock();
  Bench bench;
  for (int i = 0; i < rounds; ++i) {
    for (const Cut& cut : cuts) bench.round(cut, i % 2 == 0);
  }
  return 0;
}
