// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

// Messages in one direction.
double one_way(const Shape& s) {
  const int pairs = paired_ranks(s.ranks, s.settings->stride) / 2;
  return static_cast<double>(s.threads) * s.inflight * pairs;
}

constexpr Card uniband_card = paired_card({
    .name = "UniBandMT",
    .about = "Each thread of the lower rank of a pair sends many messages at once to the upper.",
    .place = 50,
    .columns = Columns::timed_band,
    .moved = [](const Shape& s) { return one_way(s) * message(s); },
    .messages = one_way,
    .windowed = true,
});

constexpr Card biband_card = paired_card({
    .name = "BiBandMT",
    .about = "Threads of paired ranks send many messages at once in both directions.",
    .place = 60,
    .columns = Columns::timed_band,
    .moved = [](const Shape& s) { return 2 * one_way(s) * message(s); },
    .messages = [](const Shape& s) { return 2 * one_way(s); },
    .windowed = true,
});

// One byte from the upper rank tells the lower one that all has arrived.
void acknowledge(const Pair& pair, MPI_Comm comm) {
  unsigned char byte = 1;
  const Message ack{&byte, 1, MPI_BYTE};
  if (pair.lower) recv(ack, pair.peer, comm);
  else send(ack, pair.peer, comm);
}

void uniband(Run& run, const Pair& pair) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
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

void biband(Run& run, const Pair& pair) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
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

const Add one_direction = add_paired(uniband_card, uniband);
const Add both_directions = add_paired(biband_card, biband);

}  // namespace
}  // namespace mpigauge::mt
