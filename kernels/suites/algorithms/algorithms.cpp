// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Collectives written with messages, a benchmark for each algorithm: what a library could reach.
#include <algorithm>
#include <map>
#include <memory>

#include "core/library.hpp"
#include "suites/algorithms/performer.hpp"

namespace mpigauge {
namespace {

using schedules::Algorithm;
using schedules::Call;
using schedules::Performer;
using schedules::Program;

constexpr std::size_t most_roots = std::size_t{1} << 16;
constexpr std::size_t most_kept = 64;

/// Programs by their roots, as long as the shape stays the same.
using Programs = std::vector<Program>;

// NOLINTNEXTLINE(modernize-use-string-view): a card has functions of this type
std::string excuse_of_combined(const Shape& shape) {
  const auto most = static_cast<std::size_t>(INT_MAX);
  if (shape.bytes <= most / static_cast<std::size_t>(shape.ranks)) return "";
  return "a message would have the data of several ranks, more than 2^31 - 1 bytes";
}

bool has_copies(const Algorithm& algorithm) {
  return std::any_of(algorithm.phases.begin(), algorithm.phases.end(),
                     [](const auto* phase) { return phase->kind == schedules::Kind::copy; });
}

Card card_of(const Algorithm& algorithm, int place) {
  const schedules::Operation& operation = *algorithm.operation;
  const std::string_view name = operation.name;
  const bool from_all = name == "Allgather" || name == "Gather" || name == "Alltoall";
  const bool to_all = name == "Scatter" || name == "Reduce_scatter" || name == "Alltoall";
  Card card{
      .suite = "ALG",
      .name = algorithm.name,
      .about = algorithm.about,
      .place = place,
      .unit = operation.reduces ? Unit::reduction : Unit::transfer,
      .send = to_all ? message_per_rank : message,
      .recv = from_all ? message_per_rank : message,
      .root_sends = name == "Bcast",
      .excuse = algorithm.combines ? excuse_of_combined : nullptr,
  };
  if (!operation.moves_data) {
    card.unit = Unit::none;
    card.send = card.recv = nothing;
  }
  if (operation.has_root) card.options.add(SuiteOption::root);
  if (algorithm.is_on_nodes) card.options.add(SuiteOption::group_ranks);
  card = blocking_card(card, true);
  if (has_copies(algorithm)) {
    card.may_refuse = true;
    std::copy(node::calls_of_shared.begin(), node::calls_of_shared.end(), card.needs.begin());
  }
  return card;
}

/// The ranks that algorithms with leaders take for a node; the same on all ranks.
int node_ranks(const Run& run) {
  if (run.options().group_ranks > 0) return run.options().group_ranks;
  MPI_Comm host = split_by_host(run.comm(), run.rank());
  int ranks = size_of(host);
  call(MPI_Comm_free(&host));
  call(MPI_Bcast(&ranks, 1, MPI_INT, 0, run.comm()));
  return ranks;
}

std::size_t wrong_parts(const Run& run, const Block& in, const schedules::Operation& operation) {
  const std::string_view name = operation.name;
  const bool is_root = run.rank() == run.root();
  const auto own = static_cast<std::size_t>(run.rank());
  if (name == "Barrier") return 0;
  if (name == "Bcast") return is_root ? 0 : run.wrong(in.bytes(), run.root(), 0);
  if (name == "Scatter") return run.wrong(in.bytes(), run.root(), own * run.bytes());
  if (name == "Reduce_scatter") return run.wrong_reduction(in.bytes(), own * run.elements());
  if (operation.has_root && !is_root) return 0;
  if (operation.reduces) return run.wrong_reduction(in.bytes(), 0);
  const bool is_part = name == "Alltoall";
  return wrong_from_all(run, in, [&](int) { return is_part ? own * run.bytes() : 0; });
}

/// The benchmark of an algorithm.
class Measured {
 public:
  Measured(const Algorithm& algorithm, int place)
      : algorithm_(algorithm),
        card_(card_of(algorithm, place)),
        added_{card_, [this](Run& run) { measure(run); }} {}
  ~Measured() = default;
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  void measure(Run& run) {
    const Prepared prepared(run, card_, {});
    const Programs& programs = programs_for(run, prepared.in().type().bytes);
    Performer performer(programs);
    const auto timed = [&] {
      run.measure(
          [arranged = prepared.arranged(), &performer](Turn t) { performer.perform(arranged[t]); });
    };
    if (has_copies(algorithm_)) {
      schedules::in_shared_steps(run, programs, [&](schedules::SharedSteps shared) {
        performer.share(std::move(shared));
        timed();
      });
    } else {
      timed();
    }
    run.expect(run.checking() ? wrong_parts(run, prepared.in(), *algorithm_.operation) : 0);
  }

  /// Resolves schedules before anything is timed, and keeps them for the next visit.
  const Programs& programs_for(const Run& run, std::size_t element_bytes) {
    Call call{.rank = run.rank(),
              .ranks = run.ranks(),
              .node_ranks = algorithm_.is_on_nodes ? node_ranks(run) : 1,
              .bytes = card_.unit == Unit::none ? 0 : run.bytes(),
              .element_bytes = element_bytes};
    if (kept_.size() > most_kept) kept_.clear();
    Programs& programs = kept_[call];
    programs.resize(static_cast<std::size_t>(run.ranks()));
    for (const Turn turn : run.turns(most_roots)) {
      call.root = turn.root;
      Program& program = programs[static_cast<std::size_t>(turn.root)];
      if (program.is_made) continue;
      program = schedules::program_of(algorithm_, call);
    }
    return programs;
  }

  const Algorithm& algorithm_;
  Card card_;
  std::map<Call, Programs> kept_;
  Add added_;
};

/// All of them.
class AllMeasured {
 public:
  AllMeasured() {
    int place = 0;
    for (const Algorithm& each : schedules::algorithms()) {
      all_.push_back(std::make_unique<Measured>(each, place += 10));
    }
  }

 private:
  std::vector<std::unique_ptr<Measured>> all_;
};

const AllMeasured all_measured;

}  // namespace
}  // namespace mpigauge
