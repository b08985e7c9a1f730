// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Shared by the benchmarks of NCCL: the library, the connection of a run's ranks, and the form of
// timed calls.
#pragma once

#include "core/benchmark.hpp"
#include "gpu/nccl.hpp"

namespace mpigauge::on_nccl {

/// The buffers and arguments of a call; small, so that each timed loop has a copy of its own.
struct Call {
  const gpu::Nccl* library = nullptr;
  gpu::Connection connection = nullptr;
  gpu::Stream stream = nullptr;
  gpu::NcclCount count;
  gpu::NcclOp op{};
  int rank = 0;
  int ranks = 1;
  Block out, in;

  [[nodiscard]] const void* send(Turn t) const { return out[t].data; }
  [[nodiscard]] void* recv(Turn t) const { return in[t].data; }
};

/// Connects the ranks of the run, once for its communicator, and gives them their buffers. Throws
/// Refused on all ranks alike where the library cannot be opened, has no such type or operation, or
/// refuses to connect.
Call prepare(Run& run);

/// The name of the library in rows: NCCL 2.28.3.
std::string words_of_library(const Shape& shape);

/// The card of a benchmark of NCCL.
constexpr Card nccl_card(std::string_view name, std::string_view about, int place) {
  Card card;
  card.suite = "NCCL";
  card.name = name;
  card.about = about;
  card.place = place;
  card.meet = Meet::each;
  card.modes = Modes::each_then_end;
  card.may_refuse = true;
  card.keeps_data = "it is in memory of a GPU";
  card.by_gpu_library = true;
  card.choice = words_of_library;
  return card;
}

/// Times `enqueue(Call, Turn)`: the stream is waited for after each call, or once at the end.
template <class Enqueue>
Call measure(Run& run, Enqueue enqueue) {
  const Call call = prepare(run);
  const gpu::Driver& driver = *gpu::driver();
  run.measure_completed([=](Turn t) { enqueue(call, t); },
                        [stream = call.stream, &driver] { driver.synchronize(stream); });
  call.library->check_background(call.connection);
  return call;
}

}  // namespace mpigauge::on_nccl
