// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "PingPing",
    .about = "Two ranks send to each other at the same time.",
    .place = 20,
    .ranks = Ranks::pair,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .large_counts = true,
};

template <bool any_source>
void pingping(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.peer();
  const int source = any_source ? MPI_ANY_SOURCE : peer;
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    MPI_Request sent = MPI_REQUEST_NULL;
    isend(out[t], peer, comm, &sent);
    recv(in[t], source, comm);
    wait(&sent);
  });
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add plain{card, pingping<false>};
const Add specific{
    variant_of(card, "PingPingSpecificSource",
               "PingPing whose receives name the source; the same as PingPing.", card.place + 1),
    pingping<false>};
const Add any{variant_of(card, "PingPingAnySource", "PingPing whose receives take any source.",
                         card.place + 2),
              pingping<true>};

}  // namespace
}  // namespace mpigauge
