// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Reading and writing: all that IMB-IO has, made from the description in access.hpp.

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "core/benchmark.hpp"
#include "core/overlap.hpp"
#include "core/refused.hpp"
#include "suites/io/checks.hpp"
#include "suites/io/file.hpp"

namespace mpigauge {
namespace {

using namespace io;

constexpr std::size_t turns_checked = 3;  // the measured one and two more

/// A visit to one benchmark on files.
class Transfer {
 public:
  Transfer(Run& run, const Access& access)
      : run_(run),
        file_(run, access),
        writes_(access.direction == Direction::write),
        buffer_(writes_ ? run.send_block() : run.recv_block()),
        data_(buffer_.part(0, file_.share().bytes)) {}

  void blocking();
  void overlapped();
  File& file() { return file_; }

 private:
  void access(Turn t) { file_.at_once(data_[t].data); }
  void close() {
    if (writes_) file_.settle();
  }
  template <class Once>
  void check(Once once);
  template <class Once>
  std::size_t wrong_in_turns(Once once);

  Run& run_;
  File file_;
  bool writes_;
  Block buffer_;
  Block data_;
};

// After the call that measure() made: some more, since the first says nothing about where in the
// file the others go.
template <class Once>
void Transfer::check(Once once) {
  file_.trouble().agree(run_.comm());
  run_.expect(run_.checking() ? wrong_in_turns(once) : 0);
}

template <class Once>
std::size_t Transfer::wrong_in_turns(Once once) {
  if (writes_) {
    for (std::size_t turn = 1; turn < turns_checked; ++turn) once(Turn{});
    file_.settle();
    return wrong_in_file(run_, file_, turns_checked);
  }
  std::size_t wrong = wrong_from_file(run_, file_, 0, data_.bytes());
  for (std::size_t turn = 1; turn < turns_checked; ++turn) {
    std::fill(data_.bytes().begin(), data_.bytes().end(), poison);
    call(MPI_Barrier(run_.comm()));  // a shared pointer is moved by one turn at a time
    once(Turn{});
    wrong += wrong_from_file(run_, file_, turn, data_.bytes());
  }
  return wrong;
}

void Transfer::blocking() {
  const auto once = [this](Turn t) { access(t); };
  file_.rewind();
  run_.measure_completed(once, [this] { close(); });
  check(once);
}

// The three loops of core/overlap.hpp, each from the beginning of the file. What is only started
// within a collective call has no request, so nothing to test.
void Transfer::overlapped() {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto start = [&](Turn t) { file_.start(data_[t].data, &request); };
  const auto complete = [&](Turn t) { file_.complete(data_[t].data, &request); };
  if (!run_.checking()) {
    file_.rewind();
    run_.measure(Part::pure, [this](Turn t) { access(t); }, [this] { close(); });
  }
  const Computation work = agree_on_computation(run_);
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sums;
  const auto once = [&](Turn t) {
    start(t);
    const auto begin = platform::ticks();
    compute(work.steps);
    sum += platform::ticks() - begin;
    complete(t);
  };
  file_.rewind();
  run_.measure(once, [&] {
    close();
    sums.push_back(std::exchange(sum, 0));
  });
  check(once);
  note_computation(run_, work, std::move(sums));
  const Work how = run_.task().work;
  const bool sampled = how == Work::chain || how == Work::apart;
  if (!sampled || file_.access().who == Who::collective) return;
  const auto test = [&] {
    int done = 0;
    file_.trouble().note(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  };
  file_.rewind();
  run_.measure(
      Part::progress,
      [&](Turn t) {
        start(t);
        compute_and_test(work, test);
        complete(t);
      },
      [this] { close(); });
}

void transfer(Run& run, const Access& access) {
  Transfer visit(run, access);
  try {
    visit.file().open();
    if (access.blocking) visit.blocking();
    else visit.overlapped();
  } catch (const Refused&) {
    visit.file().discard();
    throw;
  }
  visit.file().finish();
}

// Texts that cards refer to for as long as the program runs.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

Columns columns_of(const Access& access) {
  if (!access.blocking) return Columns::overlap;
  return access.who == Who::single ? Columns::single : Columns::parallel;
}

SuiteOptionSet options_of(const Access& access) {
  SuiteOptionSet options{SuiteOption::dir, SuiteOption::io_cache};
  if (!access.blocking) options.add(SuiteOption::test_every);
  return options;
}

Card card_of(const Access& access, int place) {
  const bool writes = access.direction == Direction::write;
  return {.suite = "IO",
          .name = kept(name_of(access)),
          .about = kept(sense_of(access)),
          .place = place,
          .ranks = access.who == Who::single ? Ranks::one : Ranks::any,
          .columns = columns_of(access),
          .modes = writes && access.blocking ? Modes::end_then_each : Modes::end_only,
          .send = writes ? largest_share : nothing,
          .recv = writes ? nothing : largest_share,
          .moved = access.blocking ? message : nothing,
          .options = options_of(access),
          .of_shorter = true,
          .may_refuse = true};
}

/// Adds them all.
struct AddAll {
  AddAll() {
    int place = 0;
    for (const auto& access : all_accesses()) {
      const Add added{card_of(access, place += 10), [access](Run& run) { transfer(run, access); }};
    }
  }
};
const AddAll added;

}  // namespace
}  // namespace mpigauge
