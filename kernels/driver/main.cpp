// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The plugin's entry: options, binding, MPI_Init, then one phase for each number of ranks.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/library.hpp"
#include "core/refused.hpp"
#include "driver/cases.hpp"
#include "driver/noise.hpp"
#include "driver/session.hpp"
#include "driver/singletons.hpp"
#include "platform/files.hpp"
#include "record/columns.hpp"

namespace mpigauge {

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr double listen_s = 0.1;

constexpr std::string_view program_name = "mpigauge-kernel";

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

Object launch_record(const Session& session) {
  const Options& o = session.options;
  Object clock;
  clock.add("name", session.clock.name)
      .add("hz", session.clock.hz)
      .add("cost_s", session.clock.cost_s)
      .add("step_s", session.clock.step_s);
  Object line = record("launch");
  line.add("schema", column::schema_version)
      .add("launch", o.launch)
      .add("time", platform::utc_now())
      .add("mpi_library", library_text())
      .add("mpi_standard", library_standard())
      .add("abi", MPIGAUGE_ABI)
      .add("world_ranks", session.ranks)
      .add("mode", o.classic ? "classic" : "adaptive")
      .add("precision", o.precision)
      .add("seed", o.seed)
      .add("thread_level", word(session.thread_level))
      .add("threads", o.settings.threads)
      .add("stride", o.settings.stride)
      .add("touch_send", o.settings.touch_send)
      .add("touch_recv", o.settings.touch_recv)
      .add("topo", format_sides(o.settings.topo))
      .add("clock", clock);
  return line;
}

// Where each thread of this rank will run; nothing where there is one, or too few cores.
std::string thread_cpusets(const Options& options) {
  std::string sets;
  if (options.settings.threads < 2) return sets;
  for (const auto& core : cores_of_threads(platform::allowed_cpus(), options.settings.threads,
                                           platform::launcher_local_rank().value_or(0))) {
    sets += (sets.empty() ? "" : " ") + platform::format_cpuset(core);
  }
  return sets;
}

Object rank_record(const Session& session, const Binding& binding) {
  const int cpu = platform::current_cpu();
  Object line = record("rank");
  line.add("launch", session.options.launch)
      .add("rank", session.rank)
      .add("host", platform::host_name())
      .add("pid", platform::process_id())
      .add("local_rank", platform::launcher_local_rank().value_or(-1))
      .add("wanted_cpuset", platform::format_cpuset(binding.wanted))
      .add("cpuset", platform::format_cpuset(platform::allowed_cpus()))
      .add("thread_cpusets", thread_cpusets(session.options))
      .add("cpu", cpu)
      .add("numa", platform::numa_node(cpu))
      .add("init_s", session.init_s)
      .add("startup_s", session.startup_s);
  return line;
}

void listen_to_noise(const Session& session, const char* when) {
  const Noise noise = listen(listen_s, session.clock.hz);
  Object line = record("noise");
  line.add("launch", session.options.launch)
      .add("rank", session.rank)
      .add("when", when)
      .add("cpu", platform::current_cpu())
      .add("seconds", noise.seconds)
      .add("detours", noise.detours)
      .add("lost_ratio", noise.lost_ratio)
      .add("longest_s", noise.longest_s);
  session.write_all(MPI_COMM_WORLD, line.text());
}

void look_around(Session& session, const Binding& binding) {
  MPI_Comm host = split_by_host(MPI_COMM_WORLD, session.rank);
  call(MPI_Comm_size(host, &session.local_ranks));
  call(MPI_Comm_free(&host));
  // Cores that the ranks of this host have between them: what the launcher left to this one,
  // unless we bound every rank to its own.
  std::set<int> cores(binding.before.begin(), binding.before.end());
  if (!binding.wanted.empty()) {
    cores.clear();
    for (const auto& set : session.options.bind) cores.insert(set.begin(), set.end());
  }
  int crowded = session.local_ranks > static_cast<int>(cores.size()) ? 1 : 0;
  int any = 0;
  // A launcher that binds leaves each rank one core of many, which is not crowded.
  if (binding.wanted.empty() && cores.size() < 2 && session.local_ranks > 1) crowded = 0;
  call(MPI_Allreduce(&crowded, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  session.oversubscribed = any != 0;
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

// One rank of each host looks, as a local disk is another one there.
void check_directories(const Session& session) {
  const auto& names = session.options.benchmarks;
  const bool any = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return find_benchmark(name)->card.on_files;
  });
  if (!any) return;
  std::string mine;
  if (session.rank == 0 || platform::launcher_local_rank() == 0) {
    for (const auto& directory : session.options.settings.directories) {
      const auto why = platform::why_not_writable(directory);
      if (!why.empty() && mine.empty()) {
        mine = "--dir: no file can be made in '";
        mine.append(directory).append("' on ").append(platform::host_name());
        mine.append(": ").append(why);
      }
    }
  }
  const auto first = first_text(mine, MPI_COMM_WORLD);
  if (!first.empty()) throw UsageError(first);
}

Phases phases_of(const Session& session) {
  check_grid(session);
  check_directories(session);
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

std::size_t count_jobs(const std::vector<std::vector<Job>>& tables) {
  std::size_t jobs = 0;
  for (const auto& table : tables) jobs += table.size();
  return jobs;
}

void run_phase(Session& session, const Groups& groups, const std::vector<std::vector<Job>>& tables,
               double seconds) {
  if (session.options.classic) {
    for (const auto& table : tables) {
      if (!session.interrupted) run_classic(session, groups, table);
    }
    return;
  }
  std::vector<Job> jobs;
  for (const auto& table : tables) jobs.insert(jobs.end(), table.begin(), table.end());
  run_adaptive(session, groups, jobs, seconds);
}

void measure(Session& session) {
  const Phases phases = phases_of(session);
  for (const auto& name : session.options.benchmarks) prepare_world(find_benchmark(name)->card);
  std::size_t left = 0;
  for (const auto& [ranks, tables] : phases) left += count_jobs(tables);
  for (const auto& [ranks, tables] : phases) {
    // A number of ranks gets time as it has cells among those still to come.
    const std::size_t here = count_jobs(tables);
    const double share = static_cast<double>(here) / static_cast<double>(std::max(left, here));
    const double seconds = session.seconds_left() * share;
    left -= here;
    {
      const Groups groups(ranks, session.ranks, session.rank, session.options.multi,
                          session.options.grid);
      if (groups.member()) run_phase(session, groups, tables, seconds);
    }
    // Ranks outside the groups wait here, asleep, until the others come.
    const auto stop = sleep_until_told(MPI_COMM_WORLD, session.interrupted ? 1 : 0);
    session.interrupted = stop != 0;
    if (session.interrupted) break;
  }
}

std::string_view how_it_stopped(const Session& session) {
  if (session.interrupted) return "interrupted";
  return session.timed_out ? "time" : "done";
}

}  // namespace

int run_recorded(Session& session, const Binding& binding,
                 const std::function<void(Session&)>& measure) {
  std::unique_ptr<Writer> writer;
  const bool recorded = !session.options.records.empty();
  if (session.rank == 0) {
    writer = std::make_unique<Writer>(recorded ? session.options.records : "/dev/null");
  }
  session.writer = writer.get();
  look_around(session, binding);
  if (session.writer != nullptr) session.writer->write(launch_record(session));
  session.write_all(MPI_COMM_WORLD, rank_record(session, binding).text());
  if (recorded) listen_to_noise(session, "before");
  session.start_s = platform::now_s();
  measure(session);
  const double measuring_s = platform::now_s() - session.start_s;
  if (recorded) listen_to_noise(session, "after");
  unsigned long long mine[2] = {session.wrong, session.cells}, all[2] = {0, 0};
  call(MPI_Reduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  if (session.writer == nullptr) return 0;
  Object end = record("end");
  end.add("launch", session.options.launch)
      .add("stopped", how_it_stopped(session))
      .add("seconds", platform::now_s() - session.start_s + 2 * listen_s)
      .add("measuring_s", measuring_s)
      .add("wrong_count", all[0])
      .add("cells", all[1]);
  session.writer->write(end);
  return all[0] > 0 ? exit_failed : 0;
}

namespace {

ThreadLevel start_mpi(ThreadLevel needed) {
  int provided = MPI_THREAD_SINGLE;
  call(MPI_Init_thread(nullptr, nullptr, mpi_constant(needed), &provided));
  return thread_level_of(provided);
}

void check_thread_level(const Session& session) {
  const ThreadLevel needed = needed_thread_level(session.options);
  if (session.thread_level >= needed) return;
  throw UsageError("thread level " + std::string(word(needed)) +
                   " is needed, this MPI library provides " +
                   std::string(word(session.thread_level)));
}

[[noreturn]] void give_up(const Session& session, const std::exception& error) {
  std::fprintf(stderr, "mpigauge-kernel: rank %d on %s: %s\n", session.rank,
               platform::host_name().c_str(), error.what());
  MPI_Abort(MPI_COMM_WORLD, exit_failed);
  std::exit(exit_failed);
}

int start(const std::vector<std::string>& words) {
  platform::start_clock();
  Session session;
  session.options = read_options(words);
  const Binding binding = bind_self(session.options);
  int code = 0;
  const double before_init_s = platform::now_s();
  session.thread_level = start_mpi(needed_thread_level(session.options));
  session.init_s = platform::now_s() - before_init_s;
  session.startup_s = platform::process_age_s();
  try {
    return_errors(MPI_COMM_WORLD);
    call(MPI_Comm_rank(MPI_COMM_WORLD, &session.rank));
    call(MPI_Comm_size(MPI_COMM_WORLD, &session.ranks));
    refuse_singletons(session.ranks);
    session.clock = platform::clock_facts();
    check_thread_level(session);
    code = run_recorded(session, binding, measure);
  } catch (const UsageError& error) {
    if (session.rank == 0) complain_once(program_name, error.what());
    code = exit_usage;
  } catch (const std::exception& error) {
    give_up(session, error);
  }
  MPI_Finalize();
  return code;
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
  try {
    return start(words);
  } catch (const std::exception& error) {
    complain_once(program_name, error.what());
    return exit_usage;
  }
}
