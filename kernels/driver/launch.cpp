// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/launch.hpp"

#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <set>

#include "core/library.hpp"
#include "core/noise.hpp"
#include "core/refused.hpp"
#include "core/threads.hpp"
#include "driver/cases.hpp"
#include "driver/gpus.hpp"
#include "driver/singletons.hpp"
#include "platform/memory.hpp"
#include "record/columns.hpp"
#include "record/records.hpp"

namespace mpigauge {

namespace {

// Before and after, in launches that sample noise: a dozen detours of a tick of 250 Hz each.
constexpr double probe_s = 0.05;

records::Launch launch_record(const Session& session) {
  const Options& o = session.options;
  const platform::ClockFacts& clock = session.clock;
  return {
      .launch = o.launch,
      .schema = column::schema_version,
      .world_ranks = session.ranks,
      .time = platform::utc_now(),
      .mpi_library = library_text(),
      .mpi_standard = library_standard(),
      .abi = MPIGAUGE_ABI,
      .mode = o.classic ? "classic" : "adaptive",
      .precision = o.precision,
      .seed = o.seed,
      .thread_level = std::string(word(session.thread_level)),
      .thread_level_asked = option_text(session.asked_level),
      .threads = o.suite.threads,
      .stride = o.suite.stride,
      .touch_send = o.suite.touch_send,
      .touch_recv = o.suite.touch_recv,
      .topo = format_sides(o.suite.topo),
      .one_clock = session.one_clock,
      .clock = {.name = clock.name, .hz = clock.hz, .cost_s = clock.cost_s, .step_s = clock.step_s},
      .cuda_driver = cuda_version(),
      .gpu_claims = gpu_claims()};
}

// Where each thread of this rank that calls MPI will run; nothing where there is one, or too few
// cores.
std::string thread_cpusets(const Options& options) {
  std::string sets;
  if (!uses_threads(options)) return sets;
  for (const auto& core : cores_of_threads(platform::allowed_cpus(), options.suite.threads,
                                           platform::launcher_local_rank().value_or(0))) {
    sets += (sets.empty() ? "" : " ") + platform::format_cpuset(core);
  }
  return sets;
}

records::Rank rank_record(const Session& session, const Binding& binding) {
  const int cpu = platform::current_cpu();
  return {.launch = session.options.launch,
          .rank = session.rank,
          .host = platform::host_name(),
          .pid = platform::process_id(),
          .local_rank = platform::launcher_local_rank().value_or(-1),
          .wanted_cpuset = platform::format_cpuset(binding.wanted),
          .cpuset = platform::format_cpuset(platform::allowed_cpus()),
          .cpu = cpu,
          .numa = platform::numa_node(cpu),
          .init_s = session.init_s,
          .startup_s = session.startup_s,
          .gpu = gpu_record(session),
          .thread_cpusets = thread_cpusets(session.options)};
}

std::uint64_t nanoseconds(platform::Ticks ticks, double hz) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) / hz * 1e9));
}

records::Noise noise_record(const Session& session, const char* when, const NoiseProbe& noise) {
  std::vector<std::uint64_t> starts, lengths;
  for (const Detour& detour : noise.detours()) {
    starts.push_back(nanoseconds(detour.start, noise.hz()));
    lengths.push_back(nanoseconds(detour.length, noise.hz()));
  }
  return {.launch = session.options.launch,
          .rank = session.rank,
          .when = when,
          .cpu = platform::current_cpu(),
          .seconds = noise.seconds(),
          .detours = static_cast<std::uint64_t>(noise.count()),
          .lost_ratio = noise.lost_ratio(),
          .longest_s = noise.longest_s(),
          .stolen_s = noise.taken().stolen_s,
          .waited_s = noise.taken().waited_s,
          .switched_out = static_cast<std::uint64_t>(noise.taken().switches),
          .start_ns = starts,
          .length_ns = lengths};
}

NoiseProbe probe_noise(const Session& session, const char* when) {
  NoiseProbe noise(session.clock.hz);
  const auto before = platform::taken_so_far();
  noise.run_for(probe_s);
  noise.was_taken(before, platform::taken_so_far());
  session.write_all(MPI_COMM_WORLD, object_of(noise_record(session, when, noise)).text());
  return noise;
}

// Of a core in the mean over all ranks.
Detours of_all_ranks(Detours detours) {
  const auto numbers = detours.numbers();
  call(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                     MPI_SUM, MPI_COMM_WORLD));
  return detours;
}

// What the sampling makes of it, for cells of all ranks.
void write_sampling(const Session& session) {
  if (session.writer == nullptr || session.options.classic) return;
  const Rules rules = session.rules(0, session.ranks);
  const Detours& known = rules.detours;
  session.writer->write(
      object_of(records::Sampled{.launch = session.options.launch,
                                 .cores = rules.cores,
                                 .detours_per_s = known.per_second() * (1 - known.lost_ratio()),
                                 .lost_ratio = known.lost_ratio(),
                                 .detour_s = known.length_s(0.5),
                                 .calm_s = longest_calm_s(rules),
                                 .batch_s = shortest_sample(rules) / rules.hz}));
}

// What NODE:Noise found, on the ranks that ran it.
void write_noise_of_benchmarks(const Session& session) {
  int mine = noise_of_benchmarks().seconds() > 0 ? 1 : 0, any = 0;
  call(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (any == 0) return;
  std::string text;
  if (mine == 1) text = object_of(noise_record(session, "measured", noise_of_benchmarks())).text();
  session.write_all(MPI_COMM_WORLD, text);
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

// Ranks that share cores would keep each other from the moment at which a window opens.
void choose_sync(Session& session) {
  Options& o = session.options;
  session.one_clock = share_a_clock(MPI_COMM_WORLD, session.clock);
  const bool by_clock = session.one_clock && !session.oversubscribed && !o.classic;
  o.automatic_sync = by_clock ? SyncMethod::clock : SyncMethod::barrier;
}

std::string_view how_it_stopped(const Session& session) {
  if (session.interrupted) return "interrupted";
  return session.timed_out ? "time" : "done";
}

// On rank 0; that it cannot be written is known to all.
std::unique_ptr<Writer> open_records(const Session& session) {
  const auto& file = session.options.records;
  std::unique_ptr<Writer> writer;
  std::string why;
  try {
    if (session.rank == 0) writer = std::make_unique<Writer>(file.empty() ? "/dev/null" : file);
  } catch (const std::exception& error) {
    why = error.what();
  }
  why = first_text(why, MPI_COMM_WORLD);
  if (!why.empty()) throw UsageError("records: " + why);
  return writer;
}

// Figures, not times: what the largest rank takes, and the least that any control group has left.
void write_memory_use(const Session& session) {
  const auto mine = platform::memory_use();
  const double most[3]{mine.peak_bytes, mine.shared_bytes, -mine.left_bytes};
  double all[3]{};
  call(MPI_Reduce(most, all, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
  if (session.writer == nullptr) return;
  const auto write = [&](const char* name, double bytes, const char* better) {
    if (!std::isfinite(bytes)) return;
    session.writer->write(object_of(records::Figure{.launch = session.options.launch,
                                                    .benchmark = "job",
                                                    .name = name,
                                                    .value = bytes,
                                                    .unit = "B",
                                                    .better = better,
                                                    .ranks = session.ranks}));
  };
  write("peak RSS", all[0], "lower");
  write("shared memory", all[1], "lower");
  write("memory left", -all[2], "higher");
}

// Measures between the records that a launch begins and ends with.
int run_recorded(Session& session, const Binding& binding, const Measure& measure) {
  const bool recorded = !session.options.records.empty();
  const auto& earlier = session.options.detours;
  const bool probes = recorded && !earlier;
  const auto writer = open_records(session);
  session.writer = writer.get();
  look_around(session, binding);
  count_ranks_on_gpus(session);
  choose_sync(session);
  if (session.writer != nullptr) session.writer->write(object_of(launch_record(session)));
  session.write_all(MPI_COMM_WORLD, object_of(rank_record(session, binding)).text());
  if (recorded) write_gpu_states(session, "before");
  if (earlier) session.detours = *earlier;
  if (probes) {
    session.detours = of_all_ranks(probe_noise(session, "before").by_length());
    write_sampling(session);
  }
  session.start_s = platform::now_s();
  measure(session);
  const double measuring_s = platform::now_s() - session.start_s;
  if (recorded) write_gpu_states(session, "after");
  if (probes) probe_noise(session, "after");
  if (recorded) write_noise_of_benchmarks(session);
  write_memory_use(session);
  unsigned long long mine[2] = {session.wrong, session.cells}, all[2] = {0, 0};
  call(MPI_Reduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  if (session.writer == nullptr) return 0;
  session.writer->write(object_of(
      records::End{.launch = session.options.launch,
                   .stopped = std::string(how_it_stopped(session)),
                   .seconds = platform::now_s() - session.start_s + (probes ? 2 * probe_s : 0),
                   .measuring_s = measuring_s,
                   .wrong_count = all[0],
                   .cells = all[1],
                   .records = session.writer->records()}));
  return all[0] > 0 ? exit_failed : 0;
}

ThreadLevel start_mpi(ThreadLevel needed) {
  int provided = MPI_THREAD_SINGLE;
  call(MPI_Init_thread(nullptr, nullptr, mpi_constant(needed), &provided));
  return thread_level_of(provided);
}

// Benchmarks have to get what they need. Of a level that was asked for beside that, rows say what
// the library provides.
void take_thread_level(std::string_view program, Session& session) {
  const std::string provided(word(session.thread_level));
  const ThreadLevel needed = needed_thread_level(session.options);
  if (session.thread_level < needed) {
    throw UsageError("thread level " + std::string(word(needed)) +
                     " is needed, this MPI library provides " + provided);
  }
  session.asked_level = session.options.suite.thread_level;
  if (!session.asked_level) return;
  session.options.suite.thread_level = session.thread_level;
  if (session.thread_level < *session.asked_level && session.rank == 0) {
    complain_once(program, "thread level " + std::string(word(*session.asked_level)) +
                               " was asked for, this MPI library provides " + provided);
  }
}

[[noreturn]] void give_up(std::string_view program, const Session& session,
                          const std::exception& error) {
  std::fprintf(stderr, "%s: rank %d on %s: %s\n", std::string(program).c_str(), session.rank,
               platform::host_name().c_str(), error.what());
  MPI_Abort(MPI_COMM_WORLD, exit_failed);
  std::exit(exit_failed);
}

}  // namespace

int run_launch(std::string_view program, const Options& options, const Binding& binding,
               const Measure& measure) {
  platform::start_clock();
  Session session;
  session.options = options;
  int code = 0;
  select_gpu(session.options);
  const double before_init_s = platform::now_s();
  session.thread_level = start_mpi(wanted_thread_level(session.options));
  session.init_s = platform::now_s() - before_init_s;
  session.startup_s = platform::process_age_s();
  try {
    return_errors(MPI_COMM_WORLD);
    call(MPI_Comm_rank(MPI_COMM_WORLD, &session.rank));
    call(MPI_Comm_size(MPI_COMM_WORLD, &session.ranks));
    refuse_singletons(session.ranks);
    session.clock = platform::clock_facts();
    take_thread_level(program, session);
    code = run_recorded(session, binding, measure);
  } catch (const UsageError& error) {
    if (session.rank == 0) complain_once(program, error.what());
    code = exit_usage;
  } catch (const std::exception& error) {
    give_up(program, session, error);
  }
  MPI_Finalize();
  return code;
}

}  // namespace mpigauge
