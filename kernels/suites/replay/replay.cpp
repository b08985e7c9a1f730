// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a program did with MPI, without the program: the calls of its profile in proportion, with
// computation between them. A call of the benchmark is an iteration; how long a rank in the mean
// was in MPI stands beside the time of the whole.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/benchmark.hpp"
#include "core/computation.hpp"

namespace mpigauge {
namespace {

constexpr std::size_t most_turns = 4096;  // copies of cold buffers that are written before

// What a reduction adds up. Sizes that are not a multiple of it are of bytes.
struct Elements {
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_BOR;
  std::size_t bytes = 1;
};

Elements elements_of(std::size_t bytes) {
  if (bytes % sizeof(double) == 0) return {MPI_DOUBLE, MPI_SUM, sizeof(double)};
  if (bytes % sizeof(float) == 0) return {MPI_FLOAT, MPI_SUM, sizeof(float)};
  return {};
}

// A step as this rank takes part in it.
struct Part {
  const MixedStep* step = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;  // null: it takes none
  Elements elements;
  int count = 0;            // of bytes; of reductions, elements
  std::vector<int> counts;  // for each rank of the communicator, where calls want them
  std::vector<int> offsets;
  std::vector<int> to, from;  // ranks of messages
};

struct Memory {
  std::byte* out = nullptr;
  std::byte* in = nullptr;
};

void reduce_scatter_block(const Part& p, Memory m) {
  const int each = p.count / size_of(p.comm);
  call(MPI_Reduce_scatter_block(m.out, m.in, each, p.elements.type, p.elements.op, p.comm));
}

void call_collective(const Part& p, Memory m) {
  const auto [type, op, bytes] = p.elements;
  const auto *counts = p.counts.data(), *offsets = p.offsets.data();
  const int n = p.count, root = p.step->root;
  const MPI_Datatype byte = MPI_BYTE;
  switch (p.step->call) {
    case MixedCall::barrier: return call(MPI_Barrier(p.comm));
    case MixedCall::bcast: return call(MPI_Bcast(m.out, n, byte, root, p.comm));
    case MixedCall::reduce: return call(MPI_Reduce(m.out, m.in, n, type, op, root, p.comm));
    case MixedCall::allreduce: return call(MPI_Allreduce(m.out, m.in, n, type, op, p.comm));
    case MixedCall::reduce_scatter:
      return call(MPI_Reduce_scatter(m.out, m.in, counts, type, op, p.comm));
    case MixedCall::reduce_scatter_block: return reduce_scatter_block(p, m);
    case MixedCall::scan: return call(MPI_Scan(m.out, m.in, n, type, op, p.comm));
    case MixedCall::exscan: return call(MPI_Exscan(m.out, m.in, n, type, op, p.comm));
    case MixedCall::gather: return call(MPI_Gather(m.out, n, byte, m.in, n, byte, root, p.comm));
    case MixedCall::gatherv:
      return call(MPI_Gatherv(m.out, n, byte, m.in, counts, offsets, byte, root, p.comm));
    case MixedCall::scatter: return call(MPI_Scatter(m.out, n, byte, m.in, n, byte, root, p.comm));
    case MixedCall::scatterv:
      return call(MPI_Scatterv(m.out, counts, offsets, byte, m.in, n, byte, root, p.comm));
    case MixedCall::allgather: return call(MPI_Allgather(m.out, n, byte, m.in, n, byte, p.comm));
    case MixedCall::allgatherv:
      return call(MPI_Allgatherv(m.out, n, byte, m.in, counts, offsets, byte, p.comm));
    case MixedCall::alltoall: return call(MPI_Alltoall(m.out, n, byte, m.in, n, byte, p.comm));
    case MixedCall::alltoallv:
      return call(MPI_Alltoallv(m.out, counts, offsets, byte, m.in, counts, offsets, byte, p.comm));
    default: return;  // messages
  }
}

// Of a rank that sends and receives, which comes first does not matter to what it waits for, but
// some rank has to receive first, or all would wait for each other.
bool sends_first(const Part& p, int rank) {
  return !p.to.empty() && (p.from.empty() || rank < p.to.front());
}

void exchange(const Part& p, Memory m, int rank, std::vector<MPI_Request>& requests) {
  const Message out{m.out, p.count, MPI_BYTE}, in{m.in, p.count, MPI_BYTE};
  const int to = p.to.empty() ? MPI_PROC_NULL : p.to.front();
  const int from = p.from.empty() ? MPI_PROC_NULL : p.from.front();
  requests.clear();
  switch (p.step->call) {
    case MixedCall::sendrecv: return sendrecv(out, to, in, from, p.comm);
    case MixedCall::send:
      if (sends_first(p, rank)) send(out, to, p.comm);
      if (!p.from.empty()) recv(in, from, p.comm);
      if (!p.to.empty() && !sends_first(p, rank)) send(out, to, p.comm);
      return;
    case MixedCall::posted:
      if (!p.from.empty()) irecv(in, from, p.comm, &requests.emplace_back());
      if (!p.to.empty()) send(out, to, p.comm);
      if (!requests.empty()) wait(requests.data());
      return;
    default: break;
  }
  std::byte* place = m.in;
  for (int i = 0; i < p.step->window; ++i) {
    for (const int rank_before : p.from) {
      irecv({place, p.count, MPI_BYTE}, rank_before, p.comm, &requests.emplace_back());
      place += p.count;
    }
  }
  for (int i = 0; i < p.step->window; ++i) {
    for (const int rank_after : p.to) isend(out, rank_after, p.comm, &requests.emplace_back());
  }
  call(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

// Computes until then. Arithmetic between readings of the clock, as a program would compute.
void compute_until(platform::Ticks end) {
  constexpr std::uint64_t steps = 8;
  while (platform::ticks() < end) compute(steps);
}

/// Communicators and steps of this rank for one visit.
class Replay {
 public:
  explicit Replay(Run& run) : run_(run), mix_(run.options().profile), order_(mix_.order()) {
    for (const auto& group : mix_.groups()) comms_.push_back(comm_of(group));
    for (const auto& step : mix_.steps()) parts_.push_back(part_of(step));
    hz_ = ticks_per_second();
    gap_s_ = mix_.gaps_s().at(static_cast<std::size_t>(run.rank()));
  }
  ~Replay() {
    for (MPI_Comm& comm : comms_) {
      if (comm != MPI_COMM_NULL && comm != run_.comm()) MPI_Comm_free(&comm);
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // One iteration; adds to what this rank has spent in MPI.
  void iterate(Memory memory) {
    auto since = platform::ticks();
    for (const std::size_t number : order_) {
      const Part& part = parts_[number];
      const double gap_s = gap_s_ + late_s(*part.step);
      if (part.comm == MPI_COMM_NULL) continue;
      if (gap_s > 0) compute_until(since + static_cast<platform::Ticks>(gap_s * hz_));
      const auto from = platform::ticks();
      if (part.step->has_messages()) {
        exchange(part, memory, run_.rank(), requests_);
      } else {
        call_collective(part, memory);
      }
      since = platform::ticks();
      in_mpi_ += since - from;
    }
  }

  // What was spent in MPI since this was asked last.
  std::uint64_t take_ticks() { return std::exchange(in_mpi_, 0); }

 private:
  // All ranks take the vectors of a step in the same order, and go on where the visit before ended.
  double late_s(const MixedStep& step) {
    static std::uint64_t calls = 0;
    if (step.lateness.empty()) return 0;
    const auto& vector = step.lateness[calls++ % step.lateness.size()];
    return vector[static_cast<std::size_t>(run_.rank())];
  }

  MPI_Comm comm_of(const MixedGroup& group) const {
    std::vector<int> all(static_cast<std::size_t>(run_.ranks()));
    std::iota(all.begin(), all.end(), 0);
    if (group.size() == 1 && group.front() == all) return run_.comm();
    int colour = MPI_UNDEFINED, key = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto at = std::find(group[i].begin(), group[i].end(), run_.rank());
      if (at == group[i].end()) continue;
      colour = static_cast<int>(i);
      key = static_cast<int>(at - group[i].begin());
    }
    MPI_Comm made = MPI_COMM_NULL;
    call(MPI_Comm_split(run_.comm(), colour, key, &made));
    return made;
  }

  [[nodiscard]] Part part_of(const MixedStep& step) const {
    Part part{.step = &step, .comm = comms_.at(step.group)};
    part.count = static_cast<int>(step.bytes);
    if (step.has_messages()) return with_messages(std::move(part));
    if (part.comm == MPI_COMM_NULL) return part;
    const auto ranks = static_cast<std::size_t>(size_of(part.comm));
    switch (step.call) {
      case MixedCall::reduce:
      case MixedCall::allreduce:
      case MixedCall::scan:
      case MixedCall::exscan:
      case MixedCall::reduce_scatter_block:
      case MixedCall::reduce_scatter:
        part.elements = elements_of(step.bytes);
        part.count = static_cast<int>(step.bytes / part.elements.bytes);
        break;
      default: break;
    }
    // Of these the ranks share the elements, as evenly as can be; of others each has all of them.
    const bool shared = step.call == MixedCall::reduce_scatter;
    const int each = shared ? part.count / static_cast<int>(ranks) : part.count;
    part.counts.assign(ranks, each);
    for (std::size_t i = 0; i < ranks; ++i) {
      if (shared && static_cast<int>(i) < part.count % static_cast<int>(ranks)) ++part.counts[i];
      part.offsets.push_back(static_cast<int>(i) * each);
    }
    return part;
  }

  // Messages go between ranks of all; who has none in a step leaves it out.
  [[nodiscard]] Part with_messages(Part part) const {
    part.comm = run_.comm();
    for (const auto& message : part.step->messages) {
      if (message.from == run_.rank()) part.to.push_back(message.to);
      if (message.to == run_.rank()) part.from.push_back(message.from);
    }
    if (part.to.empty() && part.from.empty()) part.comm = MPI_COMM_NULL;
    return part;
  }

  Run& run_;
  const Mix& mix_;
  std::vector<std::size_t> order_;
  std::vector<MPI_Comm> comms_;
  std::vector<Part> parts_;
  std::vector<MPI_Request> requests_;
  double hz_ = 0, gap_s_ = 0;
  std::uint64_t in_mpi_ = 0;
};

// What is sent and what is received are parts of one buffer. What is sent are ones: others left
// anything there, and there are numbers that processors are slow with.
void play(Run& run) {
  const std::size_t sent = run.options().profile.most_sent();
  const Block buffer = run.recv_block();
  Replay replay(run);
  const auto memory = [&](Turn t) {
    auto* base = static_cast<std::byte*>(buffer[t].data);
    return Memory{base, base + sent};
  };
  for (const Turn turn : run.turns(most_turns)) {
    auto* numbers = reinterpret_cast<double*>(memory(turn).out);
    std::fill_n(numbers, sent / sizeof(double), 1.0);
  }
  std::vector<std::uint64_t> spent;
  run.measure([&](Turn t) { replay.iterate(memory(t)); },
              [&] { spent.push_back(replay.take_ticks()); });
  run.take_own(std::move(spent));
  // Which data arrive is checked by the benchmarks of the same calls.
  run.expect(0);
}

const Add added(
    Card{
        .suite = "REPLAY",
        .name = "Replay",
        .about = "What a program does with MPI, without it: the calls of its profile in "
                 "proportion, with computation between them (--replay).",
        .place = 10,
        .unit = Unit::none,
        .columns = Columns::parallel,
        .send = nothing,
        .recv =
            [](const Shape& s) {
              const Mix& mix = s.options->profile;
              return static_cast<double>(mix.most_sent() + mix.most_received());
            },
        .options = {SuiteOption::profile},
        .seldom = true,
        .excuse = [](const Shape& s) { return s.options->profile.excuse(s.ranks); },
    },
    play);

}  // namespace
}  // namespace mpigauge
