// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/transfers.hpp"

#include <array>
#include <vector>

namespace mpigauge {

namespace {

int source_of(int peer, Source source) { return source == Source::any ? MPI_ANY_SOURCE : peer; }

// One byte from the upper rank tells the lower one that all has arrived.
void acknowledge(const Pair& pair, MPI_Comm comm) {
  unsigned char byte = 1;
  const Message ack{&byte, 1, MPI_BYTE};
  if (pair.lower) recv(ack, pair.peer, comm);
  else send(ack, pair.peer, comm);
}

}  // namespace

Pair first_pair(const Run& run) { return {run.peer(), run.rank() == 0}; }

Pair pair_of_halves(const Run& run) {
  const int half = run.ranks() / 2;
  const bool lower = run.rank() < half;
  return {lower ? run.rank() + half : run.rank() - half, lower};
}

void ping_pong(Run& run, const Pair& pair, Source source) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.address(pair.peer);
  const int from = source_of(peer, source);
  const MPI_Comm comm = run.comm();
  if (pair.lower) {
    run.measure([=](Turn t) {
      send(out[t], peer, comm);
      recv(in[t], from, comm);
    });
  } else {
    run.measure([=](Turn t) {
      recv(in[t], from, comm);
      send(out[t], peer, comm);
    });
  }
  run.expect(run.wrong(in.bytes(), pair.peer, 0));
}

void ping_ping(Run& run, const Pair& pair, Source source) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.address(pair.peer);
  const int from = source_of(peer, source);
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    MPI_Request sent = MPI_REQUEST_NULL;
    isend(out[t], peer, comm, &sent);
    recv(in[t], from, comm);
    wait(&sent);
  });
  run.expect(run.wrong(in.bytes(), pair.peer, 0));
}

Outgoing::Outgoing(Run& run)
    : first_(run.send_block().part(0, run.bytes())), step_(run.fresh() ? run.bytes() : 0) {}

void Outgoing::start(Turn turn, int to, MPI_Comm comm, std::span<MPI_Request> requests) const {
  Message place = first_[turn];
  for (auto& request : requests) {
    isend(place, to, comm, &request);
    place.data = static_cast<std::byte*>(place.data) + step_;
  }
}

Neighbours neighbours_of(const Run& run) {
  const int ranks = run.ranks();
  return {(run.rank() + ranks - 1) % ranks, (run.rank() + 1) % ranks};
}

void ring(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const auto [left, right] = neighbours_of(run);
  const MPI_Comm comm = run.comm();
  run.measure(
      [=, left = left, right = right](Turn t) { sendrecv(out[t], right, in[t], left, comm); });
  run.expect(run.wrong(in.bytes(), left, 0));
}

void exchange(Run& run, const Block& from_left, const Block& from_right) {
  const Block out = run.send_block();
  const std::size_t bytes = run.bytes();
  const Block to_right = out.part(0, bytes);
  const Block to_left = out.part(bytes, bytes);
  const auto [left, right] = neighbours_of(run);
  const MPI_Comm comm = run.comm();
  run.measure([=, left = left, right = right](Turn t) {
    std::array<MPI_Request, 2> sent{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    isend(to_right[t], right, comm, sent.data());
    isend(to_left[t], left, comm, &sent[1]);
    recv(from_left[t], left, comm);
    recv(from_right[t], right, comm);
    wait_all(2, sent.data());
  });
}

void one_way(Run& run, const Pair& pair) {
  const Block in = run.recv_block();
  const Outgoing out(run);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(run.inflight()), MPI_REQUEST_NULL);
  run.measure([&](Turn t) {
    if (pair.lower) out.start(t, pair.peer, run.comm(), requests);
    else
      for (auto& request : requests) irecv(in[t], pair.peer, run.comm(), &request);
    wait_all(run.inflight(), requests.data());
    acknowledge(pair, run.comm());
  });
  run.expect(pair.lower ? 0 : run.wrong(in.bytes(), pair.peer, 0));
}

void both_ways(Run& run, const Pair& pair) {
  const Block in = run.recv_block();
  const Outgoing out(run);
  const auto inflight = static_cast<std::size_t>(run.inflight());
  std::vector<MPI_Request> requests(2 * inflight, MPI_REQUEST_NULL);
  run.measure([&](Turn t) {
    for (std::size_t i = 0; i < inflight; ++i) {
      irecv(in[t], pair.peer, run.comm(), &requests[i]);
    }
    out.start(t, pair.peer, run.comm(), std::span(requests).subspan(inflight));
    wait_all(2 * run.inflight(), requests.data());
    acknowledge(pair, run.comm());
  });
  run.expect(run.wrong(in.bytes(), pair.peer, 0));
}

}  // namespace mpigauge
