// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The programs of all ranks together, without MPI: a message goes over when both sides are there,
// as with the most cautious library.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <string>

#include "suites/algorithms/program.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using schedules::Algorithm;
using schedules::Call;
using schedules::Place;
using schedules::Program;
using schedules::Round;

namespace {

using Element = std::uint64_t;
constexpr Element poison = ~Element{0};

void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// A rank that performs its program.
struct Simulated {
  Program program;
  std::array<std::vector<std::byte>, schedules::space_count> memory;
  std::size_t round = 0;
  bool posted = false;
  std::vector<bool> sent, received;
  std::vector<std::byte> shelf;
  std::uint64_t written = 0;

  std::byte* at(const Place& place) {
    return memory[static_cast<std::size_t>(place.space)].data() + place.at;
  }
  void copy(const std::vector<schedules::Copy>& copies) {
    for (const auto& each : copies) move_bytes(at(each.to), at(each.from), each.bytes);
  }
  [[nodiscard]] bool done() const { return round == program.rounds.size(); }
  [[nodiscard]] const Round& now() const { return program.rounds[round]; }
};

void add(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(Element)) {
    Element a = 0, b = 0;
    std::memcpy(&a, from + i, sizeof a);
    std::memcpy(&b, to + i, sizeof b);
    a += b;
    std::memcpy(to + i, &a, sizeof a);
  }
}

/// All ranks of a collective.
class Job {
 public:
  Job(const Algorithm& algorithm, Call call) : operation_(*algorithm.operation), call_(call) {
    const auto ranks = static_cast<std::size_t>(call.ranks);
    const std::size_t all = call.bytes * ranks;
    for (call_.rank = 0; call_.rank < call.ranks; ++call_.rank) {
      Simulated& rank = ranks_.emplace_back();
      rank.program = schedules::program_of(algorithm, call_);
      const std::array bytes{all, all, rank.program.vector_bytes, rank.program.stage_bytes};
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        rank.memory[i].resize(bytes[i], std::byte{0xff});
      }
      rank.shelf.resize(rank.program.shared_bytes);
      for (std::size_t i = 0; i < all / sizeof(Element); ++i) {
        const Element value = value_of(static_cast<std::size_t>(call_.rank), i);
        std::memcpy(rank.memory[0].data() + i * sizeof value, &value, sizeof value);
      }
    }
  }

  /// Whether all ranks come to their ends.
  bool run() {
    for (Simulated& rank : ranks_) rank.copy(rank.program.before);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (Simulated& rank : ranks_) goes_on = advance(rank) || goes_on;
    }
    for (Simulated& rank : ranks_) rank.copy(rank.program.after);
    return std::ranges::all_of(ranks_, [](const Simulated& rank) { return rank.done(); });
  }

  [[nodiscard]] std::size_t wrong() const {
    std::size_t wrong = 0;
    const std::size_t each = call_.bytes / sizeof(Element), ranks = ranks_.size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < each * ranks; ++i) {
        Element got = 0;
        std::memcpy(&got, ranks_[rank].memory[1].data() + i * sizeof got, sizeof got);
        if (got != expected(rank, i, each)) ++wrong;
      }
    }
    return wrong;
  }

 private:
  [[nodiscard]] Element value_of(std::size_t rank, std::size_t i) const {
    return operation_.reduces ? (Element{1} << (4 * rank)) + (i << 40) : rank * 1'000'000 + i;
  }
  [[nodiscard]] Element reduced(std::size_t i) const {
    Element sum = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) sum += value_of(rank, i);
    return sum;
  }
  [[nodiscard]] Element expected(std::size_t rank, std::size_t i, std::size_t each) const {
    const std::string_view name = operation_.name;
    const auto root = static_cast<std::size_t>(call_.root);
    const bool is_one = name != "Allgather" && name != "Gather" && name != "Alltoall";
    if (is_one && i >= each) return poison;
    if (name == "Bcast") return rank == root ? poison_or_got(rank, i) : value_of(root, i);
    if (name == "Scatter") return value_of(root, rank * each + i);
    if (name == "Allreduce") return reduced(i);
    if (name == "Reduce_scatter") return reduced(rank * each + i);
    if (operation_.has_root && rank != root) return poison;
    if (name == "Reduce") return reduced(i);
    if (name == "Alltoall") return value_of(i / each, rank * each + i % each);
    return value_of(i / each, i % each);
  }
  // What its root receives is nobody's business.
  [[nodiscard]] Element poison_or_got(std::size_t rank, std::size_t i) const {
    Element got = 0;
    std::memcpy(&got, ranks_[rank].memory[1].data() + i * sizeof got, sizeof got);
    return got;
  }

  bool advance(Simulated& rank) {
    if (rank.done()) return false;
    bool moved = false;
    if (!rank.posted) {
      rank.copy(rank.now().packed);
      rank.posted = moved = true;
      rank.sent.assign(rank.now().sent.size(), false);
      rank.received.assign(rank.now().received.size(), false);
      for (const auto& each : rank.now().published) {
        move_bytes(rank.shelf.data(), rank.at(each.from), each.bytes);
        rank.written = each.step + 1;
      }
    }
    moved = match(rank) || moved;
    if (!all(rank.sent) || !all(rank.received) || !can_read(rank)) return moved;
    rank.copy(rank.now().unpacked);
    for (const auto& each : rank.now().reduced) {
      add(rank.at(each.from), rank.at(each.to), bytes(each.count));
    }
    for (const auto& each : rank.now().read) take(rank, each);
    ++rank.round;
    rank.posted = false;
    return true;
  }

  /// Lets messages go over to this rank from those that have posted them.
  bool match(Simulated& rank) {
    bool moved = false;
    const int own = static_cast<int>(&rank - ranks_.data());
    for (std::size_t i = 0; i < rank.received.size(); ++i) {
      const auto& in = rank.now().received[i];
      Simulated& peer = ranks_[static_cast<std::size_t>(in.peer)];
      if (rank.received[i] || peer.done() || !peer.posted) continue;
      for (std::size_t j = 0; j < peer.sent.size() && !rank.received[i]; ++j) {
        const auto& out = peer.now().sent[j];
        if (out.peer != own || peer.sent[j]) continue;
        CHECK_EQ(out.count, in.count);
        move_bytes(rank.at(in.place), peer.at(out.place), bytes(in.count));
        rank.received[i] = peer.sent[j] = moved = true;
      }
    }
    return moved;
  }

  [[nodiscard]] bool can_read(const Simulated& rank) const {
    return std::ranges::all_of(rank.now().read, [this](const schedules::Read& each) {
      return ranks_[static_cast<std::size_t>(each.peer)].written >= each.step + 1;
    });
  }

  void take(Simulated& rank, const schedules::Read& read) {
    const std::byte* from = ranks_[static_cast<std::size_t>(read.peer)].shelf.data();
    if (read.reduces) return add(from, rank.at(read.to), read.bytes);
    move_bytes(rank.at(read.to), from, read.bytes);
  }

  static bool all(const std::vector<bool>& flags) {
    return std::ranges::all_of(flags, [](bool each) { return each; });
  }
  static std::size_t bytes(int count) { return static_cast<std::size_t>(count) * sizeof(Element); }

  const schedules::Operation& operation_;
  Call call_;
  std::vector<Simulated> ranks_;
};

void try_all(const Call& call) {
  for (const Algorithm& algorithm : schedules::algorithms()) {
    if (call.root > 0 && !algorithm.operation->has_root) continue;
    Call own = call;
    if (!algorithm.operation->moves_data) own.bytes = 0;
    const std::string shape = std::string(algorithm.name) + " on " + std::to_string(call.ranks) +
                              ", root " + std::to_string(call.root) + ", groups of " +
                              std::to_string(call.node_ranks) + ", bytes " +
                              std::to_string(call.bytes);
    Job job(algorithm, own);
    CHECK_EQ(job.run() ? shape : "never ends", shape);
    if (algorithm.operation->moves_data) {
      CHECK_EQ(shape + std::to_string(job.wrong()), shape + "0");
    }
  }
}

}  // namespace

TEST(programs_of_all_ranks_do_what_the_collective_does) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (int root = 0; root < ranks; ++root) {
      for (const int node_ranks : {1, 3, 4, ranks}) {
        for (const std::size_t elements : std::array<std::size_t, 5>{0, 1, 5, 9, 40}) {
          try_all({.ranks = ranks,
                   .root = root,
                   .node_ranks = node_ranks,
                   .bytes = elements * sizeof(Element),
                   .element_bytes = sizeof(Element)});
        }
      }
    }
  }
}

TEST(segments_meet_at_their_borders) {
  for (const int ranks : {2, 3}) {
    const std::size_t border = static_cast<std::size_t>(ranks) * schedules::segment_bytes;
    for (const std::size_t bytes : {border - sizeof(Element), border, border + sizeof(Element)}) {
      try_all({.ranks = ranks, .node_ranks = 2, .bytes = bytes, .element_bytes = sizeof(Element)});
    }
  }
}

TEST(what_only_sends_needs_no_memory) {
  for (const Algorithm& algorithm : schedules::algorithms()) {
    if (algorithm.name != "Gather/linear") continue;
    const Program leaf = schedules::program_of(
        algorithm, {.rank = 1, .ranks = 4, .bytes = 64, .element_bytes = sizeof(Element)});
    CHECK_EQ(leaf.vector_bytes + leaf.stage_bytes + leaf.before.size() + leaf.after.size(), 0U);
    CHECK_EQ(leaf.rounds.size(), 1U);
  }
}
