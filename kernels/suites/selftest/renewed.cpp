// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/refused.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "SELFTEST",
    .name = "Renewed",
    .about =
        "A PingPong that looks at what each timed call brought: proves that fresh data are new.",
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .may_refuse = true,
    .by_default = false,
};

// Calls that brought something else than what was written for them, the warm-up's among them.
class Watch {
 public:
  Watch(const Run& run, const Block& in, int from)
      : in_(in), from_(from), writes_(run.task().writes) {}
  void look(Turn) {
    ++writes_;
    if (wrong_bytes(from_, writes_, in_.bytes()) > 0) ++stale_;
  }
  [[nodiscard]] std::size_t stale() const { return stale_; }

 private:
  Block in_;
  int from_;
  std::size_t writes_;
  std::size_t stale_ = 0;
};

void renewed(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.peer();
  Watch watch(run, in, peer);
  run.measure([&](Turn t) {
    if (run.rank() == 0) send(out[t], peer, run.comm());
    recv(in[t], peer, run.comm());
    if (run.rank() == 1) send(out[t], peer, run.comm());
    watch.look(t);
  });
  run.expect(run.wrong(in.bytes(), peer, 0));
  if (watch.stale() > 0) throw Refused("a call brought what an earlier one had brought");
}

const Add added{card, renewed};

}  // namespace
}  // namespace mpigauge
