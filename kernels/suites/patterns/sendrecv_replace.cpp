// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/patterns/pattern.hpp"

namespace mpigauge::patterns {
namespace {

constexpr Card card = pattern_card({
    .name = "SendRecv_Replace",
    .about = "Ranks form a ring: each sends to the right what then is replaced from the left.",
    .place = 80,
    .ranks = Ranks::several,
    .send = nothing,
    .moved = message_per_rank,
    .messages = ranks,
});

void replace(Run& run) {
  const Block both = run.recv_block();
  const Touch touch = touch_of(run);
  const std::size_t bytes = run.bytes();
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const MPI_Comm comm = run.comm();
  if (run.checking()) fill_bytes(run.rank(), 0, both.bytes());
  run.measure([=](Turn t) {
    const Message m = both[t];
    touch.sent(m, bytes);
    call(MPI_Sendrecv_replace(m.data, m.small_count(), m.type, right, message_tag, left,
                              message_tag, comm, MPI_STATUS_IGNORE));
    touch.received(m, bytes);
  });
  run.expect(run.wrong(both.bytes(), left, 0));
}

const Add added{card, replace};

}  // namespace
}  // namespace mpigauge::patterns
