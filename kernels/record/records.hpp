// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from schema/records.toml: change that file, not this one.
// clang-format off
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "record/json.hpp"

namespace mpigauge::records {

template <class Part>
std::vector<Object> objects_of(const std::vector<Part>& parts) {
  std::vector<Object> objects;
  for (const Part& part : parts) objects.push_back(object_of(part));
  return objects;
}

/// The clock of rank 0.
struct Clock {
  /// What is read: tsc, cntvct, a clock of the system.
  std::string name = "unknown";
  /// Its rate.
  double hz = std::numeric_limits<double>::quiet_NaN();
  /// What reading it takes.
  double cost_s = std::numeric_limits<double>::quiet_NaN();
  /// Its step.
  double step_s = std::numeric_limits<double>::quiet_NaN();
};
inline Object object_of(const Clock& r) {
  return Object()
      .add("name", r.name)
      .add("hz", r.hz)
      .add("cost_s", r.cost_s)
      .add("step_s", r.step_s);
}

/// One start of the MPI job.
struct Launch {
  /// Its number, from 0.
  int launch{};
  /// Version of the columns of cells.
  int schema{};
  /// Ranks of the job.
  int world_ranks{};
  /// When it began, in UTC.
  std::string time;
  /// The MPI library's own description.
  std::string mpi_library;
  /// Version of the standard that it follows.
  std::string mpi_standard;
  /// The ABI for which the kernels were compiled: mpich, ompi, std.
  std::string abi;
  /// adaptive or classic.
  std::string mode;
  /// The relative error that was wanted.
  double precision = std::numeric_limits<double>::quiet_NaN();
  /// Of all random orders.
  std::uint64_t seed{};
  /// The thread level that the MPI library provided: single, funneled, serialized, multiple.
  std::string thread_level;
  /// The one for which it was asked, where --thread-level names one; empty: the lowest that the
  /// benchmarks needed.
  std::string thread_level_asked;
  /// The first of --threads.
  int threads = 1;
  /// As --stride.
  int stride{};
  /// As --touch-send.
  bool touch_send = true;
  /// As --touch-recv.
  bool touch_recv = true;
  /// As --topo.
  std::string topo;
  /// Whether all ranks read the same clock.
  bool one_clock{};
  /// What times were read from.
  Clock clock;
  /// Version of CUDA that the driver supports; empty: no buffer is on a GPU.
  std::string cuda_driver;
  /// Support of GPUs that the MPI library claims, untested: mpi_memory_alloc_kinds,
  /// MPIX_Query_cuda_support.
  std::string gpu_claims;
};
inline Object object_of(const Launch& r) {
  return record("launch")
      .add("launch", r.launch)
      .add("schema", r.schema)
      .add("world_ranks", r.world_ranks)
      .add("time", r.time)
      .add("mpi_library", r.mpi_library)
      .add("mpi_standard", r.mpi_standard)
      .add("abi", r.abi)
      .add("mode", r.mode)
      .add("precision", r.precision)
      .add("seed", r.seed)
      .add("thread_level", r.thread_level)
      .add("thread_level_asked", r.thread_level_asked)
      .add("threads", r.threads)
      .add("stride", r.stride)
      .add("touch_send", r.touch_send)
      .add("touch_recv", r.touch_recv)
      .add("topo", r.topo)
      .add("one_clock", r.one_clock)
      .add("clock", object_of(r.clock))
      .add("cuda_driver", r.cuda_driver)
      .add("gpu_claims", r.gpu_claims);
}

/// The GPU of a rank.
struct Gpu {
  /// Its number for the driver; -1: the rank uses none.
  int index = -1;
  /// Its PCI address: 0000:19:00.0.
  std::string bus;
  /// Its identity, whatever number it has.
  std::string uuid;
  /// Its model.
  std::string name;
  /// The NUMA node to which it is attached; -1: unknown.
  int numa = -1;
  /// Its PCIe link as it was then: 32.0 GT/s x16; empty: unknown.
  std::string link;
  /// The fastest link that it and its slot support.
  std::string link_max;
  /// True if it is a part of a GPU (MIG).
  bool mig{};
  /// True if processes share it through MPS; otherwise they use it in turn.
  bool mps{};
  /// Ranks of the job that use it.
  int ranks_on_it = 1;
};
inline Object object_of(const Gpu& r) {
  return Object()
      .add("index", r.index)
      .add("bus", r.bus)
      .add("uuid", r.uuid)
      .add("name", r.name)
      .add("numa", r.numa)
      .add("link", r.link)
      .add("link_max", r.link_max)
      .add("mig", r.mig)
      .add("mps", r.mps)
      .add("ranks_on_it", r.ranks_on_it);
}

/// Where one rank ran: the cores that were asked for, and those that it got.
struct Rank {
  /// Number of the launch.
  int launch{};
  /// Its number in the job.
  int rank{};
  /// Name of its host.
  std::string host;
  /// Its process.
  int pid{};
  /// Its number on its host, as the launcher sets it; -1: unknown.
  int local_rank{};
  /// Cores that were asked for; empty: any.
  std::string wanted_cpuset;
  /// Cores that it may use.
  std::string cpuset;
  /// The one on which it ran then.
  int cpu{};
  /// NUMA node of that.
  int numa{};
  /// What starting MPI took, as this rank saw it.
  double init_s = std::numeric_limits<double>::quiet_NaN();
  /// From the start of the process until then; the system counts in steps of 10 ms.
  double startup_s = std::numeric_limits<double>::quiet_NaN();
  /// The GPU on which its buffers are.
  Gpu gpu;
  /// The core of each of its threads that call MPI, with blanks between; empty: there is one, or
  /// too few cores.
  std::string thread_cpusets;
};
inline Object object_of(const Rank& r) {
  return record("rank")
      .add("launch", r.launch)
      .add("rank", r.rank)
      .add("host", r.host)
      .add("pid", r.pid)
      .add("local_rank", r.local_rank)
      .add("wanted_cpuset", r.wanted_cpuset)
      .add("cpuset", r.cpuset)
      .add("cpu", r.cpu)
      .add("numa", r.numa)
      .add("init_s", r.init_s)
      .add("startup_s", r.startup_s)
      .add("gpu", object_of(r.gpu))
      .add("thread_cpusets", r.thread_cpusets);
}

/// Clocks and limits of a GPU, as NVML reports them.
struct GpuState {
  /// Number of the launch.
  int launch{};
  /// The first rank of those that use the GPU.
  int rank{};
  /// before or after the measurement.
  std::string when;
  /// PCI address of the GPU.
  std::string bus;
  /// Clock of its processors.
  double clock_hz = std::numeric_limits<double>::quiet_NaN();
  /// The highest clock that it supports.
  double clock_max_hz = std::numeric_limits<double>::quiet_NaN();
  /// Why the clock is held down, words with commas between: power, thermal, hardware; empty: it is
  /// not.
  std::string throttle;
  /// Power that it draws.
  double power_w = std::numeric_limits<double>::quiet_NaN();
  /// Its temperature.
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
  /// Processes on it beside the ranks of the job.
  std::uint64_t others{};
};
inline Object object_of(const GpuState& r) {
  return record("gpu_state")
      .add("launch", r.launch)
      .add("rank", r.rank)
      .add("when", r.when)
      .add("bus", r.bus)
      .add("clock_hz", r.clock_hz)
      .add("clock_max_hz", r.clock_max_hz)
      .add("throttle", r.throttle)
      .add("power_w", r.power_w)
      .add("temperature_c", r.temperature_c)
      .add("others", r.others);
}

/// How much of a core others took while it did nothing but read the clock.
struct Noise {
  /// Number of the launch.
  int launch{};
  /// Who read the clock.
  int rank{};
  /// before or after what was measured; measured: by NODE:Noise, between the other benchmarks.
  std::string when;
  /// On which core.
  int cpu{};
  /// For how long.
  double seconds{};
  /// How often others took the core for more than a microsecond.
  std::uint64_t detours{};
  /// Share of the time that they took.
  double lost_ratio{};
  /// The longest detour.
  double longest_s{};
  /// Given to others by the hypervisor meanwhile, as the system counts it.
  double stolen_s{};
  /// In which the rank could have run, but another process had the core.
  double waited_s{};
  /// How often it was taken off the core.
  std::uint64_t switched_out{};
  /// When the first 4096 detours began, from the first reading of the clock.
  std::vector<std::uint64_t> start_ns;
  /// How long they were.
  std::vector<std::uint64_t> length_ns;
};
inline Object object_of(const Noise& r) {
  return record("noise")
      .add("launch", r.launch)
      .add("rank", r.rank)
      .add("when", r.when)
      .add("cpu", r.cpu)
      .add("seconds", r.seconds)
      .add("detours", r.detours)
      .add("lost_ratio", r.lost_ratio)
      .add("longest_s", r.longest_s)
      .add("stolen_s", r.stolen_s)
      .add("waited_s", r.waited_s)
      .add("switched_out", r.switched_out)
      .add("start_ns", r.start_ns)
      .add("length_ns", r.length_ns);
}

/// What noise there was before a launch, of a core in the mean over all ranks, and what the
/// sampling made of it.
struct Sampled {
  /// Number of the launch.
  int launch{};
  /// Of how many cores.
  int cores{};
  /// Detours of a core in a second.
  double detours_per_s{};
  /// Share of the time that they took.
  double lost_ratio{};
  /// Half of them are longer; NaN: there were none.
  double detour_s{};
  /// The longest sample on all cores of which 95 % meet none; NaN: any.
  double calm_s{};
  /// How long calls that follow each other are joined to a sample.
  double batch_s{};
};
inline Object object_of(const Sampled& r) {
  return record("sampling")
      .add("launch", r.launch)
      .add("cores", r.cores)
      .add("detours_per_s", r.detours_per_s)
      .add("lost_ratio", r.lost_ratio)
      .add("detour_s", r.detour_s)
      .add("calm_s", r.calm_s)
      .add("batch_s", r.batch_s);
}

/// One visit to a cell.
struct Chunk {
  /// In which round.
  std::uint64_t round{};
  /// What disturbed it.
  std::uint64_t taint{};
  /// How many samples.
  std::uint64_t n{};
};
inline Object object_of(const Chunk& r) {
  return Object()
      .add("round", r.round)
      .add("taint", r.taint)
      .add("n", r.n);
}

/// All samples of a cell in ticks of the clock: inside the record, or in a file of the run.
struct Raw {
  /// Ticks in a second.
  double hz{};
  /// The visits, in their order.
  std::vector<Chunk> chunks;
  /// Base64 of little-endian u32: all maxima over ranks, all minima, all means.
  std::string ticks;
  /// What ticks hold.
  std::string scheme = "max,min,avg";
};
inline Object object_of(const Raw& r) {
  return Object()
      .add("hz", r.hz)
      .add("chunks", objects_of(r.chunks))
      .add("ticks", r.ticks)
      .add("scheme", r.scheme);
}

/// Cells of the pairs of ranks that measured side by side in one round, at one size: columns that
/// they share have one value, all others an array with a value for each pair.
struct PairBlock {
  /// Number of the launch.
  int launch{};
  /// Number of the round in the launch, from 0.
  std::uint64_t round{};
  /// Key columns of the cells, except `group`, which is the number of the pair in the block, and
  /// `members`, its ranks.
  Object key;
  /// Ranks of the job: both of pair 0, both of pair 1, and so on.
  std::vector<std::uint64_t> pairs;
  /// The schedule from which the pairs follow, if they are not listed: all.
  std::string pairing;
  /// Ranks of the job, if pairs follow from a schedule.
  int world_ranks{};
  /// Columns with the same value in all cells.
  Object shared;
  /// Columns in which cells differ. A list has a value for each pair; a string is base64 of little-
  /// endian f32, likewise; an object has values by number of the pair, and all other pairs have
  /// that of `shared`.
  Object columns;
};
inline Object object_of(const PairBlock& r) {
  return record("pairs")
      .add("launch", r.launch)
      .add("round", r.round)
      .add("key", r.key)
      .add("pairs", r.pairs)
      .add("pairing", r.pairing)
      .add("world_ranks", r.world_ranks)
      .add("shared", r.shared)
      .add("columns", r.columns);
}

/// Times of the pairs of ranks that met in one round of a benchmark that pairs hosts anew each
/// round (FABRIC).
struct Matching {
  /// Number of the launch.
  int launch{};
  /// Number of the round in the launch, from 0, which is the warm-up.
  std::uint64_t round{};
  /// Which cell.
  Object key;
  /// Ranks of the group: both of pair 0, both of pair 1, and so on. Of bursts (Permutations8), a
  /// rank is in several pairs.
  std::vector<std::uint64_t> pairs;
  /// Time of each of them on the slower rank: the median of the calls of the visit, of bursts the
  /// mean.
  std::vector<std::uint64_t> time_ns;
};
inline Object object_of(const Matching& r) {
  return record("matching")
      .add("launch", r.launch)
      .add("round", r.round)
      .add("key", r.key)
      .add("pairs", r.pairs)
      .add("time_ns", r.time_ns);
}

/// What is known of a cell while it is still measured.
struct Progress {
  /// Number of the launch.
  int launch{};
  /// Which cell.
  Object key;
  /// As in cells.
  double time_p50_s{};
  /// As in cells.
  double ci_low_s{};
  /// As in cells.
  double ci_high_s{};
  /// As in cells.
  double time_scale{};
  /// As in cells.
  double moved_bytes{};
  /// As in cells.
  double messages{};
  /// Until now.
  std::uint64_t samples{};
  /// Until now.
  std::uint64_t rounds{};
};
inline Object object_of(const Progress& r) {
  return record("progress")
      .add("launch", r.launch)
      .add("key", r.key)
      .add("time_p50_s", r.time_p50_s)
      .add("ci_low_s", r.ci_low_s)
      .add("ci_high_s", r.ci_high_s)
      .add("time_scale", r.time_scale)
      .add("moved_bytes", r.moved_bytes)
      .add("messages", r.messages)
      .add("samples", r.samples)
      .add("rounds", r.rounds);
}

/// A cell that was not measured, and why.
struct Skip {
  /// Number of the launch.
  int launch{};
  /// Which cell: its columns, among the other keys.
  Object key;
  /// Why not.
  std::string reason;
};
inline Object object_of(const Skip& r) {
  return record("skip")
      .add("launch", r.launch)
      .merge(r.key)
      .add("reason", r.reason);
}

/// A number that is not a time of a call: a program's figure of merit, the memory of a rank.
struct Figure {
  /// Number of the launch.
  int launch{};
  /// What was run; job: the job of MPI itself.
  std::string benchmark;
  /// What the number is: DGEMM, peak RSS.
  std::string name;
  /// The number.
  double value{};
  /// Of the number.
  std::string unit;
  /// higher or lower; empty: neither.
  std::string better;
  /// Of the job; 0: not known.
  int ranks{};
};
inline Object object_of(const Figure& r) {
  return record("figure")
      .add("launch", r.launch)
      .add("benchmark", r.benchmark)
      .add("name", r.name)
      .add("value", r.value)
      .add("unit", r.unit)
      .add("better", r.better)
      .add("ranks", r.ranks);
}

/// The end of a launch.
struct End {
  /// Number of the launch.
  int launch{};
  /// done, time or interrupted.
  std::string stopped;
  /// What it took, from its first measurement.
  double seconds{};
  /// Of that, in benchmarks.
  double measuring_s{};
  /// Elements that arrived wrong.
  std::uint64_t wrong_count{};
  /// Cells that were measured.
  std::uint64_t cells{};
  /// Records of this launch before this one, without progress; -1: unknown, as in old runs.
  std::uint64_t records{};
};
inline Object object_of(const End& r) {
  return record("end")
      .add("launch", r.launch)
      .add("stopped", r.stopped)
      .add("seconds", r.seconds)
      .add("measuring_s", r.measuring_s)
      .add("wrong_count", r.wrong_count)
      .add("cells", r.cells)
      .add("records", r.records);
}

}  // namespace mpigauge::records
