// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/registry.hpp"
#include "core/sync.hpp"
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

std::vector<const Benchmark*> chosen_benchmarks(const Program& program, const Chosen& chosen,
                                                Words* unknown) {
  std::vector<const Benchmark*> selected;
  if (!chosen.included.empty()) selected = benchmarks_named(program, chosen.included, unknown);
  const auto named = benchmarks_named(program, chosen.named, unknown);
  selected.insert(selected.end(), named.begin(), named.end());
  if (!chosen.excluded.empty()) {
    for (const Benchmark* out : benchmarks_named(program, chosen.excluded, unknown)) {
      std::erase(selected, out);
    }
  }
  if (selected.empty() && unknown == nullptr) throw UsageError("no benchmark is left to be run");
  return selected;
}

std::string list_of(const Program& program) {
  Words names;
  for (const Benchmark* b : benchmarks_named(program, {}, nullptr)) {
    names.push_back("    " + std::string(b->card.name) + '\n');
  }
  std::sort(names.begin(), names.end());
  std::string text = "Benchmarks of this program:\n" + std::string(program.name) + ":\n";
  for (const auto& name : names) text += name;
  return text;
}

std::size_t align_of(const Value& value) {
  constexpr std::int64_t most_align = 4096;  // buffers begin on pages
  const auto align = static_cast<std::size_t>(integer(value, 1, most_align));
  if ((align & (align - 1)) != 0) throw UsageError("'" + value.text + "' is not a power of two");
  return align;
}

Rows::Rows(Session& session, Text text, Repeats repeats, int ranks)
    : session_(session),
      text_(std::move(text)),
      repeats_(std::move(repeats)),
      groups_(ranks > 0 ? ranks : session.ranks, session.ranks, session.rank, Multi::off, {}),
      visitor_(session, groups_),
      some_wait_(ranks > 0 && ranks < session.ranks) {}

void Rows::run(const std::vector<Job>& jobs) {
  if (groups_.member()) run_here(jobs);
  if (some_wait_) sleep_until_told(MPI_COMM_WORLD, std::uint8_t{0});
}

void Rows::run_here(const std::vector<Job>& jobs) {
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
