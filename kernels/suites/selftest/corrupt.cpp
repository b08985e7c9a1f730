// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "SELFTEST",
    .name = "Corrupt",
    .about = "A PingPong that spoils one byte on purpose: proves that wrong data are noticed.",
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .moves_only = true,
    .by_default = false,
};

void corrupt(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.peer();
  run.measure([&](Turn t) {
    if (run.rank() == 0) send(out[t], peer, run.comm());
    recv(in[t], peer, run.comm());
    if (run.rank() == 1) send(out[t], peer, run.comm());
  });
  if (run.checking() && run.rank() == 1 && run.bytes() > 0) {
    run.refresh();
    in.bytes().front() ^= std::byte{0x10};
    run.push();
  }
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add added{card, corrupt};

}  // namespace
}  // namespace mpigauge
