// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/algorithms/shared_steps.hpp"

#include <algorithm>
#include <new>

#include "core/library.hpp"
#include "suites/node/arrays.hpp"

namespace mpigauge::schedules {

namespace {

/// The ranks of the run that are on this host, in the order of the ranks of `host`.
std::vector<int> ranks_on(MPI_Comm host, int own) {
  std::vector<int> ranks(static_cast<std::size_t>(size_of(host)));
  int rank = own;
  call(MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, host));
  return ranks;
}

bool reads_only(const std::vector<Program>& programs, const std::vector<int>& ranks) {
  for (const Program& program : programs) {
    for (const Round& round : program.rounds) {
      for (const Read& read : round.read) {
        if (std::find(ranks.begin(), ranks.end(), read.peer) == ranks.end()) return false;
      }
    }
  }
  return true;
}

}  // namespace

void in_shared_steps(const Run& run, const std::vector<Program>& programs,
                     const std::function<void(SharedSteps)>& body) {
  MPI_Comm host = split_by_host(run.comm(), run.rank());
  const std::vector<int> ranks = ranks_on(host, run.rank());
  node::agree(run, reads_only(programs, ranks),
              "ranks that share memory in this algorithm are on different hosts");
  std::size_t bytes = 0;
  unsigned steps = 0;
  for (const Program& program : programs) {
    bytes = std::max(bytes, program.shared_bytes);
    steps = std::max(steps, program.steps);
  }
  Team team = run.team();
  team.comm = host;
  team.rank = rank_in(host);
  team.ranks = size_of(host);
  node::in_shared(
      Run(run, team), sizeof(Shelf) + bytes, [](std::byte* at) { new (at) Shelf; },
      [&](const node::Parts& parts) {
        std::vector<Shelf*> shelves(static_cast<std::size_t>(run.ranks()), nullptr);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          shelves[static_cast<std::size_t>(ranks[i])] = reinterpret_cast<Shelf*>(parts[i]);
        }
        body(SharedSteps(std::move(shelves), run.rank(), steps));
      });
  call(MPI_Comm_free(&host));
}

}  // namespace mpigauge::schedules
