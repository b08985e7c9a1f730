// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The plugin's entry: options, binding, then in a job of MPI one phase for each number of ranks.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>

#include "blas/library.hpp"
#include "driver/cases.hpp"
#include "driver/directories.hpp"
#include "driver/launch.hpp"
#include "driver/names.hpp"
#include "driver/round_budget.hpp"
#include "driver/singletons.hpp"
#include "gpu/nccl.hpp"

namespace mpigauge {

namespace {

constexpr std::string_view program_name = "mpigauge-kernel";
// Of a case of a round of pairs: less hardly shows which of them are odd.
constexpr double least_s_of_cell = 0.025;

// Before MPI_Init, so that the library sees the cores that it will run on.
Binding bind_self(const Options& options) {
  Binding binding{platform::allowed_cpus(), {}};
  if (options.bind.empty()) return binding;
  const auto local = static_cast<std::size_t>(platform::launcher_local_rank().value_or(0));
  if (local >= options.bind.size()) {
    throw UsageError("--bind names cores for " + std::to_string(options.bind.size()) +
                     " ranks of a host, this is number " + std::to_string(local + 1));
  }
  binding.wanted = options.bind[local];
  if (!platform::bind(binding.wanted)) {
    throw UsageError("cannot bind local rank " + std::to_string(local) + " on " +
                     platform::host_name() + " to core " + platform::format_cpuset(binding.wanted) +
                     ": allowed are " + platform::format_cpuset(binding.before));
  }
  return binding;
}

// The jobs of the whole launch, by number of ranks and, in it, in the order of the command line.
using Phases = std::map<int, std::vector<std::vector<Job>>>;

void check_grid(const Session& session) {
  const Grid grid = session.options.grid;
  if (static_cast<long>(grid.rows) * grid.columns > session.ranks) {
    throw UsageError("--map: " + std::to_string(grid.rows) + 'x' + std::to_string(grid.columns) +
                     " has more places than the job has ranks, " + std::to_string(session.ranks));
  }
}

bool any_on_files(const Options& options) {
  return std::any_of(options.benchmarks.begin(), options.benchmarks.end(),
                     [](const auto& name) { return is_on_files(find_benchmark(name)->card); });
}

Phases phases_of(const Session& session) {
  check_grid(session);
  Phases phases;
  for (const auto& name : session.options.benchmarks) {
    const Benchmark& benchmark = *find_benchmark(name);
    for (const int ranks : ranks_of(benchmark.card, session.options, session.ranks)) {
      if (ranks > session.ranks) {
        throw UsageError("--ranks: " + std::to_string(ranks) + " ranks are wanted, the job has " +
                         std::to_string(session.ranks));
      }
      phases[ranks].push_back(jobs_of(benchmark, ranks, session.options));
    }
  }
  return phases;
}

Rounds rounds_of_world(const Pairing& pairing, int ranks) {
  try {
    return {pairing, ranks};
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--pairs: ") + error.what());
  }
}

std::size_t count_jobs(const std::vector<std::vector<Job>>& tables) {
  std::size_t jobs = 0;
  for (const auto& table : tables) jobs += table.size();
  return jobs;
}

// The jobs of all tables, in each of the settings that are compared.
std::vector<Job> jobs_of_phase(const Session& session,
                               const std::vector<std::vector<Job>>& tables) {
  std::vector<Job> jobs;
  const std::size_t arms = session.options.arms.size();
  std::uint32_t cases = 0;
  for (const auto& table : tables) {
    for (std::size_t arm = 0; arm < std::max<std::size_t>(arms, 1); ++arm) {
      std::uint32_t number = cases;
      for (Job job : table) {
        job.arm = arm;
        job.arms_of = arms > 1 ? ++number : 0;
        jobs.push_back(job);
      }
    }
    cases += static_cast<std::uint32_t>(table.size());
  }
  return jobs;
}

void run_phase(Session& session, const Groups& groups, const std::vector<std::vector<Job>>& tables,
               double seconds) {
  if (!session.options.classic) {
    return run_adaptive(session, groups, jobs_of_phase(session, tables), seconds);
  }
  for (const auto& table : tables) {
    if (!session.interrupted) run_classic(session, groups, table);
  }
}

// Of a number of ranks for which no time is left, without its communicators and buffers.
void leave_phase_out(Session& session, int ranks, const std::vector<std::vector<Job>>& tables) {
  session.timed_out = true;
  const Whose all{.groups = count_groups(ranks, session.ranks, session.options.multi)};
  for (const Job& job : jobs_of_phase(session, tables)) {
    session.write_skip(key_of(job, session.options, all), no_time);
  }
}

void measure_phases(Session& session) {
  const Phases phases = phases_of(session);
  std::size_t left = 0;
  for (const auto& [ranks, tables] : phases) left += count_jobs(tables);
  bool over = false;
  for (const auto& [ranks, tables] : phases) {
    // A number of ranks gets time as it has cells among those still to come.
    const std::size_t here = count_jobs(tables);
    const double share = static_cast<double>(here) / static_cast<double>(std::max(left, here));
    const double seconds = session.seconds_left() * share;
    left -= here;
    if (over) {
      leave_phase_out(session, ranks, tables);
      continue;
    }
    {
      const Groups groups(ranks, session.ranks, session.rank, session.options.multi,
                          session.options.grid);
      if (groups.member()) run_phase(session, groups, tables, seconds);
    }
    // Ranks outside the groups wait here, asleep, until the others come.
    const int stop = (session.interrupted ? 1 : 0) + (session.is_out_of_time() ? 2 : 0);
    const auto told = sleep_until_told(MPI_COMM_WORLD, static_cast<std::uint8_t>(stop));
    session.interrupted = (told & 1U) != 0;
    over = (told & 2U) != 0 && !session.options.classic;
    if (session.interrupted) break;
  }
}

// A communicator of all ranks, in which the two of a pair find each other.
class Together {
 public:
  Together(const Options& options, const Rounds& rounds) {
    call(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
    return_errors(comm_);
    const auto& names = options.benchmarks;
    addressed_ = std::all_of(names.begin(), names.end(),
                             [](const auto& name) { return find_benchmark(name)->card.addressed; });
    // Only where next to all ranks are in a pair: others sleep while the pairs measure.
    stays_ = rounds.kind() == Pairing::Kind::all && !options.classic && options.arms.empty();
  }
  ~Together() { MPI_Comm_free(&comm_); }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  /// The groups of a round. Rank 0 leads those that stay together, so it has to be in a pair.
  [[nodiscard]] std::unique_ptr<Groups> groups(const Rounds& rounds, std::uint64_t round,
                                               int rank) const {
    if (stays_ && rounds.leader(round) == 0) {
      return std::make_unique<Groups>(rounds, round, rank, comm_, addressed_);
    }
    return std::make_unique<Groups>(rounds, round, rank, comm_);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool addressed_ = false, stays_ = false;
};

// Pairs that measure side by side. Rank 0 of the world may rest meanwhile, so the first of them
// keeps what it has to say until the round is over.
void measure_round(Session& session, const Groups& groups, int leader,
                   const std::vector<std::vector<Job>>& tables, double seconds) {
  std::string lines;
  Writer kept(lines);
  if (session.rank == leader && leader != 0) session.writer = &kept;
  if (groups.active() != MPI_COMM_NULL) run_phase(session, groups, tables, seconds);
  const int stop = (session.interrupted ? 1 : 0) + (session.timed_out ? 2 : 0);
  const auto told = sleep_until_told(MPI_COMM_WORLD, static_cast<std::uint8_t>(stop), leader);
  session.interrupted = (told & 1U) != 0;
  session.timed_out = (told & 2U) != 0;
  if (leader == 0) return;
  if (session.rank == leader) session.writer = nullptr;
  session.hand_over(leader, lines);
}

// Of pairs that were not measured: how many rounds of them there are, for each case.
void write_rounds_left(const Session& session, const std::vector<std::vector<Job>>& tables,
                       const Rounds& of, std::uint64_t done) {
  const auto all = of.count();
  if (session.writer == nullptr || done == all) return;
  const std::string rounds =
      std::to_string(all - done) + " of " + std::to_string(all) + " rounds of pairs";
  std::string reason =
      (session.interrupted ? "interrupted before " : "no time was left for ") + rounds;
  if (of.kind() == Pairing::Kind::all) {
    reason += "; every rank was in the others, so slow ranks and hosts show nevertheless";
  }
  for (const auto& table : tables) {
    for (const Job& job : table) {
      session.write_skip(key_of(job, session.options, {}), reason);
    }
  }
}

// Seconds of a round that rank 0 allows; negative: no time is left.
double agree_on_seconds(const Session& session, const RoundBudget& budget) {
  double seconds = -1;
  if (!session.interrupted) {
    seconds = budget.next(platform::now_s() - session.start_s).value_or(-1);
  }
  call(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  return seconds;
}

void measure_pairs(Session& session, const Pairing& pairing) {
  const Options& options = session.options;
  const Rounds rounds = rounds_of_world(pairing, session.ranks);
  std::vector<std::vector<Job>> tables;
  for (const auto& name : options.benchmarks) {
    tables.push_back(jobs_of(*find_benchmark(name), 2, options));
  }
  const Together together(options, rounds);
  const double least_s = least_s_of_cell * static_cast<double>(count_jobs(tables));
  RoundBudget budget(rounds.count(), options.seconds, least_s);
  for (;;) {
    const double began_s = platform::now_s();
    const double seconds = agree_on_seconds(session, budget);
    if (seconds < 0) break;
    const auto round = rounds.number(budget.done());
    const auto groups = together.groups(rounds, round, session.rank);
    measure_round(session, *groups, rounds.leader(round), tables, seconds);
    budget.end_round(platform::now_s() - began_s);
  }
  if (budget.done() < rounds.count()) session.timed_out = !session.interrupted;
  write_rounds_left(session, tables, rounds, budget.done());
}

void measure(Session& session) {
  const Options& options = session.options;
  if (any_on_files(options)) check_directories(session, "--dir");
  for (const auto& name : options.benchmarks) prepare_world(find_benchmark(name)->card);
  if (options.pairs) measure_pairs(session, *options.pairs);
  else measure_phases(session);
}

}  // namespace

}  // namespace mpigauge

extern "C" int mpigauge_kernel(int argc, char** argv) {
  using namespace mpigauge;
  const std::vector<std::string> words(argv, argv + argc);
  if (argc == 1 && words[0] == "--help") {
    std::fputs(options_help().c_str(), stdout);
    return 0;
  }
  if (argc == 2 && words[0] == blas::try_word) return blas::look_at(words[1]);
  if (argc == 2 && words[0] == gpu::try_nccl_word) return gpu::try_nccl(words[1]);
  try {
    const Options options = read_options(words);
    return run_launch(program_name, options, bind_self(options), measure);
  } catch (const std::exception& error) {
    complain_once(program_name, error.what());
    return exit_usage;
  }
}
