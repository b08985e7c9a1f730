// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

double pairs(const Shape& s) {
  const int at_once = s.ranks / 2;
  return static_cast<double>(s.inflight) * at_once;
}

constexpr Card uniband_card{
    .suite = "MPI1",
    .name = "Uniband",
    .about = "The lower half of the ranks sends many messages at once to the upper half.",
    .place = 200,
    .ranks = Ranks::pairs,
    .columns = Columns::band,
    .moved = [](const Shape& s) { return pairs(s) * message(s); },
    .messages = pairs,
    .windowed = true,
    .large_counts = true,
    .by_default = false,
};

constexpr Card biband_card{
    .suite = "MPI1",
    .name = "Biband",
    .about = "Pairs of ranks send many messages at once in both directions.",
    .place = 210,
    .ranks = Ranks::pairs,
    .columns = Columns::band,
    .moved = [](const Shape& s) { return 2 * pairs(s) * message(s); },
    .messages = [](const Shape& s) { return 2 * pairs(s); },
    .windowed = true,
    .large_counts = true,
    .by_default = false,
};

struct Pair {
  bool lower;
  int peer;
};

Pair pair_of(const Run& run) {
  const int half = run.ranks() / 2;
  const bool lower = run.rank() < half;
  return {lower, lower ? run.rank() + half : run.rank() - half};
}

// One byte from the upper rank tells the lower one that all has arrived.
void acknowledge(const Pair& pair, MPI_Comm comm) {
  unsigned char byte = 1;
  const Message ack{&byte, 1, MPI_BYTE};
  if (pair.lower) recv(ack, pair.peer, comm);
  else send(ack, pair.peer, comm);
}

void uniband(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const Pair pair = pair_of(run);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(run.inflight()), MPI_REQUEST_NULL);
  run.measure([&](Turn t) {
    for (auto& request : requests) {
      if (pair.lower) isend(out[t], pair.peer, run.comm(), &request);
      else irecv(in[t], pair.peer, run.comm(), &request);
    }
    wait_all(run.inflight(), requests.data());
    acknowledge(pair, run.comm());
  });
  run.expect(pair.lower ? 0 : run.wrong(in.bytes(), pair.peer, 0));
}

void biband(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const Pair pair = pair_of(run);
  const auto inflight = static_cast<std::size_t>(run.inflight());
  std::vector<MPI_Request> requests(2 * inflight, MPI_REQUEST_NULL);
  run.measure([&](Turn t) {
    for (std::size_t i = 0; i < inflight; ++i) {
      irecv(in[t], pair.peer, run.comm(), &requests[i]);
    }
    for (std::size_t i = inflight; i < 2 * inflight; ++i) {
      isend(out[t], pair.peer, run.comm(), &requests[i]);
    }
    wait_all(2 * run.inflight(), requests.data());
    acknowledge(pair, run.comm());
  });
  run.expect(run.wrong(in.bytes(), pair.peer, 0));
}

const Add one_way{uniband_card, uniband};
const Add both_ways{biband_card, biband};

}  // namespace
}  // namespace mpigauge
