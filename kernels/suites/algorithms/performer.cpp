// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/algorithms/performer.hpp"

#include <algorithm>
#include <cstring>

namespace mpigauge::schedules {

Performer::Performer(const std::vector<Program>& programs) : programs_(programs) {
  std::size_t vector = 0, stage = 0, requests = 0;
  for (const Program& each : programs) {
    vector = std::max(vector, each.vector_bytes);
    stage = std::max(stage, each.stage_bytes);
    requests = std::max(requests, each.most_requests);
  }
  vector_.resize(vector);
  stage_.resize(stage);
  requests_.resize(requests, MPI_REQUEST_NULL);
  base_[static_cast<std::size_t>(Space::vector)] = vector_.data();
  base_[static_cast<std::size_t>(Space::stage)] = stage_.data();
}

void Performer::perform(const Args& args) {
  const Program& program = programs_[static_cast<std::size_t>(args.root)];
  base_[static_cast<std::size_t>(Space::send)] = static_cast<std::byte*>(args.send);
  base_[static_cast<std::size_t>(Space::recv)] = static_cast<std::byte*>(args.recv);
  copy(program.before);
  for (const Round& round : program.rounds) perform(round, args);
  copy(program.after);
  if (program.steps > 0) shared_.next_call();
}

void Performer::perform(const Round& round, const Args& args) {
  copy(round.packed);
  exchange(round, args);
  copy(round.unpacked);
  for (const Reduction& each : round.reduced) {
    call(MPI_Reduce_local(at(each.from), at(each.to), each.count, args.type, args.op));
  }
  for (const Published& each : round.published) shared_.publish(each, at(each.from));
  for (const Read& each : round.read) take(each, args);
}

void Performer::exchange(const Round& round, const Args& args) {
  if (round.sent.size() == 1 && round.received.size() == 1) {
    const Transfer &out = round.sent.front(), &in = round.received.front();
    return call(MPI_Sendrecv(at(out.place), out.count, args.type, out.peer, message_tag,
                             at(in.place), in.count, args.type, in.peer, message_tag, args.comm,
                             MPI_STATUS_IGNORE));
  }
  if (round.sent.size() == 1 && round.received.empty()) {
    const Transfer& out = round.sent.front();
    return call(MPI_Send(at(out.place), out.count, args.type, out.peer, message_tag, args.comm));
  }
  if (round.sent.empty() && round.received.size() == 1) {
    const Transfer& in = round.received.front();
    return call(MPI_Recv(at(in.place), in.count, args.type, in.peer, message_tag, args.comm,
                         MPI_STATUS_IGNORE));
  }
  std::size_t posted = 0;
  for (const Transfer& in : round.received) {
    call(MPI_Irecv(at(in.place), in.count, args.type, in.peer, message_tag, args.comm,
                   &requests_[posted++]));
  }
  for (const Transfer& out : round.sent) {
    call(MPI_Isend(at(out.place), out.count, args.type, out.peer, message_tag, args.comm,
                   &requests_[posted++]));
  }
  if (posted > 0) {
    wait_all(static_cast<int>(posted), requests_.data());
  }
}

void Performer::take(const Read& read, const Args& args) {
  const std::byte* from = shared_.open(read);
  if (read.bytes > 0 && read.reduces) {
    call(MPI_Reduce_local(from, at(read.to), read.count, args.type, args.op));
  } else if (read.bytes > 0) {
    std::memcpy(at(read.to), from, read.bytes);
  }
  shared_.close(read);
}

void Performer::copy(const std::vector<Copy>& copies) const {
  for (const Copy& each : copies) std::memcpy(at(each.to), at(each.from), each.bytes);
}

}  // namespace mpigauge::schedules
