// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/rows.hpp"

#include <utility>

#include "core/registry.hpp"
#include "imb/ours.hpp"
#include "imb/tables.hpp"

namespace mpigauge::imb {

namespace {

std::vector<std::string_view> names_in(std::string_view suite) {
  std::vector<std::string_view> names;
  for (const auto& b : benchmarks()) {
    if (b.card.suite == suite) names.push_back(b.card.name);
  }
  return names;
}

// Writes a line for each row, from rank 0.
class Lines : public RowSink {
 public:
  Lines(const Session& session, const Rows::Text& text) : session_(session), text_(text) {}
  void row(const Job& job, const ClassicRow& mine,
           const std::vector<ClassicRow>& /*all*/) override {
    if (session_.rank == 0) say(text_(job, mine));
  }
  void refused(const Job& job, const Refusal& why) override {
    if (session_.rank == 0) say(note(job.row, why));
  }

 private:
  const Session& session_;
  const Rows::Text& text_;
};

}  // namespace

std::vector<const Benchmark*> benchmarks_named(const Program& program, const Words& names,
                                               Words* unknown) {
  std::vector<const Benchmark*> found;
  for (const auto& words : names) {
    for (const auto& name : split(words, ',')) {
      const Benchmark* benchmark = find_benchmark(program.suite, name);
      if (benchmark != nullptr) {
        found.push_back(benchmark);
      } else if (unknown != nullptr) {
        unknown->push_back(name);
      } else {
        throw UsageError("no benchmark of " + std::string(program.name) + " is called '" + name +
                         "'" + did_you_mean(name, names_in(program.suite)));
      }
    }
  }
  if (!names.empty()) return found;
  for (const auto& b : benchmarks()) {
    if (b.card.suite == program.suite && b.card.by_default) found.push_back(&b);
  }
  return found;
}

Rows::Rows(Session& session, Text text, Repeats repeats)
    : session_(session),
      text_(std::move(text)),
      repeats_(std::move(repeats)),
      groups_(session.ranks, session.ranks, session.rank, Multi::off, {}),
      visitor_(session, groups_) {}

void Rows::run(const std::vector<Job>& jobs) {
  Lines lines(session_, text_);
  RecordSink records(session_, groups_);
  BothSinks both(lines, records);
  const auto memory = static_cast<double>(session_.memory_per_rank(groups_.active()));
  if (!session_.options.classic) return sample(session_, groups_, jobs, memory, {lines, both});
  for (const Job& job : jobs) measure(job, memory, both);
}

void Rows::measure(const Job& job, double memory, RowSink& sink) {
  const Repeat repeat = repeats_(job);
  platform::sleep_s(repeat.pause_s);
  if (const auto why = refusal_of(job.row, memory)) return sink.refused(job, *why);
  if (!visitor_.allocate(job)) {
    return sink.refused(job, {Limit::memory, 0, "not enough memory: MPI_Alloc_mem refused"});
  }
  const std::uint64_t wrong = visitor_.check(job);
  if (repeat.warm_up > 0) visitor_.visit(job, repeat.warm_up);
  ClassicRow row = visitor_.gather(visitor_.visit(job, repeat.calls), repeat.calls);
  visitor_.release();
  row.wrong = wrong;
  sink.row(job, row, {});
}

void say_from_rank_0(const Session& session, const std::string& text) {
  if (session.rank == 0) say(text);
}

}  // namespace mpigauge::imb
