// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How much of a communication is hidden behind a computation: three loops at each visit, one after
// the other, so that what disturbs the machine for a while is in all of them.
//   pure      the communication alone
//   itself    start, a computation as long as the slowest rank's pure time, completion
//   progress  the same, but the computation calls MPI_Test now and then
// The computation is timed in the second loop each time, and compared with what was asked of it.
// docs/explain/overlap.md has the formula and how this differs from IMB.
#pragma once

#include <utility>
#include <vector>

#include "core/computation.hpp"
#include "core/run.hpp"

namespace mpigauge {

/// A computation that all ranks have agreed on.
struct Computation {
  std::uint64_t steps = 0;
  std::uint64_t steps_between_tests = 0;
  double ticks = 0.0;  ///< how long it should last
};

/// As long as the pure part of the slowest rank took per call; all ranks together.
Computation agree_on_computation(const Run& run);

/// Hands the times of the computation over: a sum for each sample. Calibrates anew for the next
/// visit, and says that time was stolen, where they are not what was asked.
void note_computation(Run& run, const Computation& asked, std::vector<std::uint64_t> sums);

/// The computation in pieces, with a test after each until one says that all is done.
template <class Test>
void compute_and_test(const Computation& work, Test test) {
  bool done = false;
  for (std::uint64_t left = work.steps; left > 0;) {
    const std::uint64_t piece = done ? left : std::min(left, work.steps_between_tests);
    compute(piece);
    left -= piece;
    if (!done) done = test();
  }
}

/// Times the three loops. `start(Turn)` gives a handle, `finish(handle)` completes what it stands
/// for, `test(handle)` makes progress and says whether it is complete. IMB has no progress, so its
/// schedule leaves that loop out.
template <class Pure, class Start, class Test, class Finish>
void measure_overlap(Run& run, Pure pure, Start start, Test test, Finish finish) {
  if (!run.checking()) run.measure(Part::pure, pure);
  const Computation work = agree_on_computation(run);
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sums;
  sums.reserve(run.task().samples + 1);
  run.measure(
      [=, &sum](Turn t) mutable {
        auto handle = start(t);
        const auto begin = platform::ticks();
        compute(work.steps);
        sum += platform::ticks() - begin;
        finish(handle);
      },
      [&] { sums.push_back(std::exchange(sum, 0)); });
  note_computation(run, work, std::move(sums));
  const Work how = run.task().work;
  if (how != Work::chain && how != Work::apart) return;
  run.measure(Part::progress, [=](Turn t) mutable {
    auto handle = start(t);
    compute_and_test(work, [&] { return test(handle); });
    finish(handle);
  });
}

/// Starts an operation and waits for the request that `start(Turn)` points to.
template <class Start>
class StartAndWait {
 public:
  explicit StartAndWait(Start start) : start_(start) {}
  void operator()(Turn t) { wait(start_(t)); }

 private:
  Start start_;
};

/// The same for what a request stands for: `start(Turn)` gives a pointer to it.
template <class Start>
void measure_overlap(Run& run, Start start) {
  const auto test = [](MPI_Request* request) {
    int done = 0;
    call(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  };
  const auto finish = [](MPI_Request* request) { wait(request); };
  measure_overlap(run, StartAndWait(start), start, test, finish);
}

}  // namespace mpigauge
