// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/window.hpp"

#include <algorithm>

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "EXT",
    .name = "Window",
    .about = "Makes a window, writes a byte to itself between two fences, and frees it.",
    .place = 10,
    .columns = Columns::collective,
    .seldom = true,
    .keeps_data = one_sided,
    .untyped = true,
};

void window(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const auto bytes = static_cast<MPI_Aint>(run.bytes());
  const int first = static_cast<int>(std::min<std::size_t>(run.bytes(), 1));
  const int rank = run.rank();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    MPI_Win made = MPI_WIN_NULL;
    call(MPI_Win_create(in[t].data, bytes, 1, MPI_INFO_NULL, comm, &made));
    call(MPI_Win_fence(MPI_MODE_NOPRECEDE, made));
    if (first > 0) call(MPI_Put(out[t].data, first, MPI_BYTE, rank, 0, first, MPI_BYTE, made));
    call(MPI_Win_fence(MPI_MODE_NOSUCCEED, made));
    call(MPI_Win_free(&made));
  });
  run.expect(run.wrong(in.bytes(0, static_cast<std::size_t>(first)), rank, 0));
}

const Add added{card, window};

}  // namespace
}  // namespace mpigauge
