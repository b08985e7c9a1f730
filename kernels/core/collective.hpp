// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Collectives have one shape: buffers of the card's sizes, one call, one check. A description of
// these is a benchmark.
#pragma once

#include <numeric>
#include <vector>

#include "core/benchmark.hpp"

namespace mpigauge {

/// Arguments of a collective call, ready to be passed on.
struct Args {
  void* send = nullptr;
  void* recv = nullptr;
  int count = 0;  ///< elements of a message
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const int* counts = nullptr;  ///< per rank, all equal to count
  const int* places = nullptr;  ///< per rank, one message behind the other
  MPI_Count large_count = 0;
};

/// A collective: `call(Args)` gives MPI's return code, `check(Run, Block)` the number of wrong
/// elements in the receive buffer after a call with root 0.
template <class Call, class Check>
struct Collective {
  Card card;
  Call call;
  Check check;
};

template <class Call, class Check>
Collective(Card, Call, Check) -> Collective<Call, Check>;

/// Facts that all blocking collectives share.
constexpr Card collective_card(Card card) {
  card.meet = Meet::each;
  card.columns = Columns::collective;
  return card;
}

template <class Call, class Check>
void run_collective(Run& run, const Collective<Call, Check>& c) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int count = static_cast<int>(run.count());
  // Memory that grows with the ranks, so only where the call itself asks for it.
  std::vector<int> counts(c.card.counts_per_rank ? static_cast<std::size_t>(run.ranks()) : 0,
                          count);
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Args args{.count = count,
            .type = run.type(),
            .op = c.card.unit == Unit::reduction ? run.op() : MPI_Op(MPI_OP_NULL),
            .rank = run.rank(),
            .comm = run.comm(),
            .counts = counts.data(),
            .places = places.data(),
            .large_count = static_cast<MPI_Count>(run.count())};
  run.measure([=, operation = c.call](Turn t) mutable {
    args.send = out[t].data;
    args.recv = in[t].data;
    args.root = t.root;
    call(operation(args));
  });
  run.expect(run.checking() ? c.check(run, in) : 0);
}

/// Adds the collective to the registry.
struct AddCollective {
  template <class Call, class Check>
  explicit AddCollective(Collective<Call, Check> c) {
    c.card = collective_card(c.card);
    const Add added{c.card, [c](Run& run) { run_collective(run, c); }};
  }
};

/// Check for calls that bring message `from` of every rank: the part of rank r starts at r
/// messages. `first(r)` is where it was in the send buffer of r.
template <class First>
std::size_t wrong_from_all(const Run& run, const Block& in, First first) {
  std::size_t wrong = 0;
  for (int r = 0; r < run.ranks(); ++r) {
    const std::size_t at = static_cast<std::size_t>(r) * run.bytes();
    wrong += run.wrong(in.bytes(at, run.bytes()), r, first(r));
  }
  return wrong;
}

}  // namespace mpigauge
