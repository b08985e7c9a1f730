// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "core/registry.hpp"
#include "driver/singletons.hpp"
#include "platform/platform.hpp"

namespace mpigauge::imb {

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

void start_mpi(Session& session) {
  const ThreadLevel needed = session.options.thread_level.value_or(ThreadLevel::single);
  int provided = MPI_THREAD_SINGLE;
  call(MPI_Init_thread(nullptr, nullptr, mpi_constant(needed), &provided));
  session.thread_level = thread_level_of(provided);
}

void check_thread_level(const Session& session) {
  const ThreadLevel needed = session.options.thread_level.value_or(ThreadLevel::single);
  if (session.thread_level >= needed) return;
  throw UsageError("-thread_level: " + std::string(word(needed)) +
                   " is wanted, this MPI library provides " +
                   std::string(word(session.thread_level)));
}

void look_around(Session& session) {
  return_errors(MPI_COMM_WORLD);
  call(MPI_Comm_rank(MPI_COMM_WORLD, &session.rank));
  call(MPI_Comm_size(MPI_COMM_WORLD, &session.ranks));
  refuse_singletons(session.ranks);
  session.local_ranks = session.ranks;
  session.clock = platform::clock_facts();
  session.start_s = platform::now_s();
}

std::vector<std::string_view> names_in(std::string_view suite) {
  std::vector<std::string_view> names;
  for (const auto& b : benchmarks()) {
    if (b.card.suite == suite) names.push_back(b.card.name);
  }
  return names;
}

}  // namespace

int launch(const Program& program, const Options& options,
           const std::function<void(Session&)>& tables) {
  const std::string name(program.name);
  platform::start_clock();
  Session session;
  session.options = options;
  start_mpi(session);
  int code = 0;
  try {
    look_around(session);
    check_thread_level(session);
    tables(session);
    // Wrong data are known on rank 0, and end the job with a status there.
    code = session.wrong > 0 ? exit_failed : 0;
  } catch (const UsageError& error) {
    if (session.rank == 0) complain_once(name, error.what());
    code = exit_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: rank %d on %s: %s\n", name.c_str(), session.rank,
                 platform::host_name().c_str(), error.what());
    MPI_Abort(MPI_COMM_WORLD, exit_failed);
  }
  MPI_Finalize();
  return code;
}

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

std::optional<Refusal> Rows::allocate(const Job& job) {
  const auto memory = static_cast<double>(session_.memory_per_rank(groups_.active()));
  if (auto why = refusal_of(job.row, memory)) return why;
  if (visitor_.allocate(job)) return std::nullopt;
  return Refusal{Limit::memory, 0, "not enough memory: MPI_Alloc_mem refused"};
}

ClassicRow Rows::measure(const Job& job, std::int64_t warm, std::int64_t calls) {
  const std::uint64_t wrong = visitor_.check(job);
  if (warm > 0) visitor_.visit(job, warm);
  ClassicRow row = visitor_.gather(visitor_.visit(job, calls), calls);
  visitor_.release();
  row.wrong = wrong;
  session_.wrong += wrong;
  return row;
}

void say_from_rank_0(const Session& session, const std::string& text) {
  if (session.rank == 0) say(text);
}

}  // namespace mpigauge::imb
