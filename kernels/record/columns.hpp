// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from schema/columns.toml: change that file, not this one.
#pragma once

#include <array>
#include <limits>
#include <string_view>

namespace mpigauge::column {

inline constexpr int schema_version = 2;

// Number of the launch (one start of the MPI job), from 0.
inline constexpr std::string_view launch = "launch";
// Suite of the benchmark, as IMB names it (MPI1).
inline constexpr std::string_view suite = "suite";
// Registered name of the benchmark.
inline constexpr std::string_view benchmark = "benchmark";
// Ranks that take part in one group.
inline constexpr std::string_view ranks = "ranks";
// Groups that run at the same time (IMB -multi); 1 without.
inline constexpr std::string_view groups = "groups";
// Which of these groups the row is about; -1: all of them together.
inline constexpr std::string_view group = "group";
// Ranks of the job that make the group, as 0,3, where pairs were named (map); else empty.
inline constexpr std::string_view members = "members";
// Message size as IMB counts it: per message, or per rank in collectives. -1: the benchmark has no
// message. [B]
inline constexpr std::string_view message_bytes = "message_bytes";
// MPI data type of the message.
inline constexpr std::string_view datatype = "datatype";
// Reduction operation; empty where nothing is reduced.
inline constexpr std::string_view op = "op";
// hot: the same buffers at every call; cold: buffers rotate through more memory than the caches
// hold.
inline constexpr std::string_view cache = "cache";
// static: the send buffer is written once, as IMB does; fresh: before each call, by the rank that
// sends it.
inline constexpr std::string_view data = "data";
// How ranks start a timed call together: none, barrier, dissemination, clock (at the opening of a
// window of the common clock, from which the time counts).
inline constexpr std::string_view sync = "sync";
// The root moves by one rank at each call.
inline constexpr std::string_view root_shift = "root_shift";
// Messages sent before a wait (Uniband, Biband); 1 elsewhere.
inline constexpr std::string_view inflight = "inflight";
// When operations are completed: each: after each one (IMB's NON-AGGREGATE); end: all of a sample
// together (AGGREGATE); empty: the operation is complete when it returns.
inline constexpr std::string_view completion = "completion";
// Threads of each rank that run the benchmark at the same time, or that a library (BLAS) was set to
// use; 1 elsewhere.
inline constexpr std::string_view threads = "threads";
// Where a benchmark on files has them; empty for others.
inline constexpr std::string_view directory = "directory";
// How the elements of a message lie in memory, as IMB's -contig_type: base: one behind the other;
// base_vec: as one element of a vector type; resize: with as much room behind each; resize_vec:
// both.
inline constexpr std::string_view layout = "layout";
// Options that only some benchmarks use and that are not as usual: name=value, with blanks between.
inline constexpr std::string_view settings = "settings";
// What a sweep varies, as it was set here: name=value, with blanks between; empty: nothing is
// varied, or the default.
inline constexpr std::string_view arm = "arm";
// adaptive: mpigauge's sampling; classic: the schedule and arithmetic of IMB.
inline constexpr std::string_view mode = "mode";
// The memory of the buffers: host: ordinary; pinned: host memory that the driver of the GPU has
// locked; device: of a GPU; managed: its pages move between host and GPU. A>B: the two sides
// differ, rank 0 (or the sender) has A and rank 1 (or the receiver) B.
inline constexpr std::string_view memory = "memory";
// measured, imported, simulated or predicted.
inline constexpr std::string_view origin = "origin";
// The thread level at which MPI was initialised, where one was asked for (--thread-level), as the
// library provided it: single, funneled, serialized, multiple; empty: the lowest that the benchmark
// needs.
inline constexpr std::string_view thread_level = "thread_level";
// When ranks come to the call (--arrival): late:1:50us: rank 1 that much after the others;
// uniform:100us: by chance within that time; sorted:100us: one after the other within it;
// profile:RUN: as in a profile; empty: together. Where they do not, time_p50_s counts from the last
// to come.
inline constexpr std::string_view arrival = "arrival";
// shared: ranks of the row share a GPU, and their buffers are on it (--gpu names it more than
// once); empty: each rank has a GPU of its own, or the buffers are on none.
inline constexpr std::string_view sharing = "sharing";
// Calls between two clock reads (one sample). In classic mode: the repetitions of the row.
inline constexpr std::string_view calls = "calls";
// Timed samples that the statistics rest on.
inline constexpr std::string_view samples = "samples";
// Chunks (runs of samples at one visit) that the samples came in.
inline constexpr std::string_view chunks = "chunks";
// Visits to this cell, the discarded first one left out.
inline constexpr std::string_view rounds = "rounds";
// How many different sets of buffers were used.
inline constexpr std::string_view epochs = "epochs";
// Why sampling ended: precise, budget, time, interrupted; classic: schedule.
inline constexpr std::string_view stop = "stop";
// Share of chunks in which a rank was switched out, moved to another core, or lost time to the
// hypervisor. [1]
inline constexpr std::string_view tainted_ratio = "tainted_ratio";
// What is suspicious: tainted, drift, bimodal, unconverged, cold-sensitive, sync, clock, detours,
// oversubscribed, aggressors; shared-gpu where sharing is not empty.
inline constexpr std::string_view flags = "flags";
// Elements that arrived different from what was sent, in the untimed checked call.
inline constexpr std::string_view wrong_count = "wrong_count";
// How the benchmark did its work, where it chose the way by a short trial on this machine: avx2 4
// strips …; or the library that did it, as that names itself: OpenBLAS 0.3.34, core SkylakeX,
// pthreads, 2 threads; empty for others.
inline constexpr std::string_view variant = "variant";
// Cores that the first rank of the group kept busy while a library that it called (BLAS) was at
// work: the CPU time of its process by the time on the clock. Empty for others. [1]
inline constexpr std::string_view busy_cores = "busy_cores";
// Threads of that rank that shared the work: the CPU time of all of them by that of the busiest,
// whether they had cores of their own or not. Empty for others. [1]
inline constexpr std::string_view busy_threads = "busy_threads";
// What the aggressors sent meanwhile, all of them together (FABRIC). Empty for others. [B/s]
inline constexpr std::string_view beside_bytes_per_s = "beside_bytes_per_s";
// exact: every element was compared; none: the benchmark moves no data.
inline constexpr std::string_view check = "check";
// Time of one call: median over the medians of chunks, of the slowest rank of each sample. Not
// halved. [s]
inline constexpr std::string_view time_p50_s = "time_p50_s";
// Lower end of the 95 % interval of time_p50_s from order statistics of chunk medians. [s]
inline constexpr std::string_view ci_low_s = "ci_low_s";
// Upper end of that interval. [s]
inline constexpr std::string_view ci_high_s = "ci_high_s";
// Over ranks: fastest rank of a sample, median over samples. Classic: smallest rank mean. [s]
inline constexpr std::string_view time_min_s = "time_min_s";
// Over ranks: mean of the ranks of a sample, median over samples. Classic: mean of rank means. [s]
inline constexpr std::string_view time_avg_s = "time_avg_s";
// Over ranks: slowest rank of a sample, median over samples. Classic: largest rank mean. [s]
inline constexpr std::string_view time_max_s = "time_max_s";
// Mean over all samples of the slowest rank, disturbed ones included: what IMB prints. [s]
inline constexpr std::string_view time_mean_s = "time_mean_s";
// Smallest sample. [s]
inline constexpr std::string_view time_best_s = "time_best_s";
// 1st percentile of samples. [s]
inline constexpr std::string_view time_p01_s = "time_p01_s";
// 99th percentile of samples. [s]
inline constexpr std::string_view time_p99_s = "time_p99_s";
// Largest sample. [s]
inline constexpr std::string_view time_worst_s = "time_worst_s";
// First call after another cell had its turn, median over visits: caches hold other data. [s]
inline constexpr std::string_view time_first_s = "time_first_s";
// What the common start may be wrong by (sync = clock): of the common clock, or of noticing it; 0
// elsewhere. [s]
inline constexpr std::string_view sync_error_s = "sync_error_s";
// Communication alone, without the computation; median over samples of the slowest rank. Empty
// where there is none. [s]
inline constexpr std::string_view time_pure_s = "time_pure_s";
// The computation alone, as it really took; median over samples of the slowest rank. [s]
inline constexpr std::string_view time_cpu_s = "time_cpu_s";
// Communication and computation together, where the computation calls MPI_Test now and then. [s]
inline constexpr std::string_view time_progress_s = "time_progress_s";
// Writing the send buffer before the call where data are fresh, median over samples of the slowest
// rank; no part of time_p50_s. Empty where they are static. [s]
inline constexpr std::string_view time_write_s = "time_write_s";
// Of a rank in the mean, from its own arrival to the end of its call, where ranks come apart
// (arrival), and of a program that is replayed all that it spends in MPI; median over samples.
// Empty elsewhere. [s]
inline constexpr std::string_view time_own_s = "time_own_s";
// The same as time_own_s in the mean over all samples, as a profile counts all calls. Empty where
// that is. [s]
inline constexpr std::string_view time_own_mean_s = "time_own_mean_s";
// How much later the last rank comes than the first, where they come apart; median over samples.
// [s]
inline constexpr std::string_view time_skew_s = "time_skew_s";
// Share of overlap: (time_pure_s + time_cpu_s - time_p50_s) / max(time_pure_s, time_cpu_s), between
// 0 and 1, of each visit; median over visits. In MPI-IO of the smaller of the two, as IMB has it.
// The library makes progress on its own. [1]
inline constexpr std::string_view overlap_ratio = "overlap_ratio";
// Lower end of the 95 % interval of overlap_ratio, from order statistics over visits. [1]
inline constexpr std::string_view overlap_low_ratio = "overlap_low_ratio";
// Upper end of it. [1]
inline constexpr std::string_view overlap_high_ratio = "overlap_high_ratio";
// Share of overlap with time_progress_s in place of time_p50_s. [1]
inline constexpr std::string_view overlap_progress_ratio = "overlap_progress_ratio";
// What one call's time is multiplied by to give the printed time: 0.5 for a half round trip. [1]
inline constexpr std::string_view time_scale = "time_scale";
// Bytes that count for bandwidth in one printed time (factor 2 in Sendrecv, 4 in Exchange); 0: no
// bandwidth. [B]
inline constexpr std::string_view moved_bytes = "moved_bytes";
// Messages that count for the message rate in one printed time; 0: no rate. [1]
inline constexpr std::string_view messages = "messages";

// All of them, in the order in which a record has them.
// clang-format off
inline constexpr std::array<std::string_view, 68> all{
    launch,
    suite,
    benchmark,
    ranks,
    groups,
    group,
    members,
    message_bytes,
    datatype,
    op,
    cache,
    data,
    sync,
    root_shift,
    inflight,
    completion,
    threads,
    directory,
    layout,
    settings,
    arm,
    mode,
    memory,
    origin,
    thread_level,
    arrival,
    sharing,
    calls,
    samples,
    chunks,
    rounds,
    epochs,
    stop,
    tainted_ratio,
    flags,
    wrong_count,
    variant,
    busy_cores,
    busy_threads,
    beside_bytes_per_s,
    check,
    time_p50_s,
    ci_low_s,
    ci_high_s,
    time_min_s,
    time_avg_s,
    time_max_s,
    time_mean_s,
    time_best_s,
    time_p01_s,
    time_p99_s,
    time_worst_s,
    time_first_s,
    sync_error_s,
    time_pure_s,
    time_cpu_s,
    time_progress_s,
    time_write_s,
    time_own_s,
    time_own_mean_s,
    time_skew_s,
    overlap_ratio,
    overlap_low_ratio,
    overlap_high_ratio,
    overlap_progress_ratio,
    time_scale,
    moved_bytes,
    messages,
};
// clang-format on

/// What was timed of a cell, each by the name of its column; NaN where it is not known.
struct Times {
  double time_p50_s = std::numeric_limits<double>::quiet_NaN();
  double ci_low_s = std::numeric_limits<double>::quiet_NaN();
  double ci_high_s = std::numeric_limits<double>::quiet_NaN();
  double time_min_s = std::numeric_limits<double>::quiet_NaN();
  double time_avg_s = std::numeric_limits<double>::quiet_NaN();
  double time_max_s = std::numeric_limits<double>::quiet_NaN();
  double time_mean_s = std::numeric_limits<double>::quiet_NaN();
  double time_best_s = std::numeric_limits<double>::quiet_NaN();
  double time_p01_s = std::numeric_limits<double>::quiet_NaN();
  double time_p99_s = std::numeric_limits<double>::quiet_NaN();
  double time_worst_s = std::numeric_limits<double>::quiet_NaN();
  double time_first_s = std::numeric_limits<double>::quiet_NaN();
  double sync_error_s = std::numeric_limits<double>::quiet_NaN();
  double time_pure_s = std::numeric_limits<double>::quiet_NaN();
  double time_cpu_s = std::numeric_limits<double>::quiet_NaN();
  double time_progress_s = std::numeric_limits<double>::quiet_NaN();
  double time_write_s = std::numeric_limits<double>::quiet_NaN();
  double time_own_s = std::numeric_limits<double>::quiet_NaN();
  double time_own_mean_s = std::numeric_limits<double>::quiet_NaN();
  double time_skew_s = std::numeric_limits<double>::quiet_NaN();
  double overlap_ratio = std::numeric_limits<double>::quiet_NaN();
  double overlap_low_ratio = std::numeric_limits<double>::quiet_NaN();
  double overlap_high_ratio = std::numeric_limits<double>::quiet_NaN();
  double overlap_progress_ratio = std::numeric_limits<double>::quiet_NaN();
};

/// Adds all of them to a record, in their order.
template <class Record>
void add_times(Record& record, const Times& times) {
  record.add(time_p50_s, times.time_p50_s);
  record.add(ci_low_s, times.ci_low_s);
  record.add(ci_high_s, times.ci_high_s);
  record.add(time_min_s, times.time_min_s);
  record.add(time_avg_s, times.time_avg_s);
  record.add(time_max_s, times.time_max_s);
  record.add(time_mean_s, times.time_mean_s);
  record.add(time_best_s, times.time_best_s);
  record.add(time_p01_s, times.time_p01_s);
  record.add(time_p99_s, times.time_p99_s);
  record.add(time_worst_s, times.time_worst_s);
  record.add(time_first_s, times.time_first_s);
  record.add(sync_error_s, times.sync_error_s);
  record.add(time_pure_s, times.time_pure_s);
  record.add(time_cpu_s, times.time_cpu_s);
  record.add(time_progress_s, times.time_progress_s);
  record.add(time_write_s, times.time_write_s);
  record.add(time_own_s, times.time_own_s);
  record.add(time_own_mean_s, times.time_own_mean_s);
  record.add(time_skew_s, times.time_skew_s);
  record.add(overlap_ratio, times.overlap_ratio);
  record.add(overlap_low_ratio, times.overlap_low_ratio);
  record.add(overlap_high_ratio, times.overlap_high_ratio);
  record.add(overlap_progress_ratio, times.overlap_progress_ratio);
}

/// A column, and which quantile of all samples it is.
struct Quantile {
  double Times::* column;
  double share;
};
inline constexpr std::array<Quantile, 4> quantiles{{
    {&Times::time_best_s, 0},
    {&Times::time_p01_s, 0.01},
    {&Times::time_p99_s, 0.99},
    {&Times::time_worst_s, 1},
}};

}  // namespace mpigauge::column
