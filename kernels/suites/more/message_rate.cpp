// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "core/benchmark.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

double under_way(const Shape& s) {
  const int pairs = s.ranks / 2;
  return static_cast<double>(s.inflight) * pairs;
}

constexpr Card card{
    .suite = "MORE",
    .name = "Message_rate",
    .about = "Messages per second of all pairs: the lower ranks send many at once to the upper.",
    .place = 10,
    .ranks = Ranks::pairs,
    .columns = Columns::rate,
    .send = message_under_way,
    .recv = [](const Shape& s) { return message(s) * s.inflight; },
    .moved = [](const Shape& s) { return under_way(s) * message(s); },
    .messages = under_way,
    .windowed = true,
};

void send_all(Run& run, int to, std::vector<MPI_Request>& requests) {
  const Outgoing out(run);
  const MPI_Comm comm = run.comm();
  char answer = 0;
  const Message all_came{&answer, 1, MPI_BYTE};
  run.measure([&, comm, to](Turn t) {
    out.start(t, to, comm, requests);
    wait_all(static_cast<int>(requests.size()), requests.data());
    recv(all_came, to, comm);
  });
  run.expect(0);
}

// Every message has a place of its own: receives that are under way must not overlap.
void receive_all(Run& run, int from, std::vector<MPI_Request>& requests) {
  static_cast<void>(run.send_block());  // so that it writes while the other writes
  const Block in = run.recv_block();
  const std::size_t bytes = run.bytes();
  const Block first = in.part(0, bytes);
  const MPI_Comm comm = run.comm();
  char answer = 1;
  const Message all_came{&answer, 1, MPI_BYTE};
  run.measure([&, comm, from, bytes](Turn t) {
    Message place = first[t];
    for (auto& request : requests) {
      irecv(place, from, comm, &request);
      place.data = static_cast<std::byte*>(place.data) + bytes;
    }
    wait_all(static_cast<int>(requests.size()), requests.data());
    send(all_came, from, comm);
  });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    wrong += run.wrong(in.bytes(i * bytes, bytes), from, 0);
  }
  run.expect(wrong);
}

void message_rate(Run& run) {
  const Pair pair = pair_of_halves(run);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(run.inflight()), MPI_REQUEST_NULL);
  if (pair.lower) send_all(run, pair.peer, requests);
  else receive_all(run, pair.peer, requests);
}

const Add added{card, message_rate};

}  // namespace
}  // namespace mpigauge
