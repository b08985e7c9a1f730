// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/window.hpp"

namespace mpigauge {
namespace {

constexpr Card transfer_card(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "EXT",
      .name = name,
      .about = about,
      .place = place,
      .ranks = Ranks::pair,
      .columns = Columns::single,
      .modes = Modes::end_then_each,
      .moved = message,
      .messages = once,
  };
}

// Each fence ends an epoch and begins the next, so that all of them are legal; only the first has
// nothing before it and the last nothing behind.
template <Way way, bool both>
void between_fences(Run& run) {
  const Ends ends = ends_of<way>(run);
  const int peer = run.peer();
  const bool origin = both || run.rank() == (way == Way::put ? 0 : 1);
  in_window(run, ends, [&](MPI_Win window) {
    const auto fence = [=] { call(MPI_Win_fence(0, window)); };
    call(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    if (origin) {
      run.measure_completed(
          [=](Turn t) { transfer<way>(ends.near[t], peer, place_of(ends.far, t), window); }, fence);
    } else {
      run.sit_out();
      run.measure_completed([](Turn) {}, fence);
    }
    call(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
  });
  const bool received = both || run.rank() == 1;  // a put is from rank 0, a get by rank 1
  run.expect(received ? run.wrong(arrivals<way>(ends).bytes(), peer, 0) : 0);
}

const Add one_get{
    transfer_card("Unidir_Get", "One rank reads the other's memory, between fences.", 20),
    between_fences<Way::get, false>};
const Add one_put{
    transfer_card("Unidir_Put", "One rank writes to the other's memory, between fences.", 30),
    between_fences<Way::put, false>};
const Add both_get{
    transfer_card("Bidir_Get", "Two ranks read each other's memory, between fences.", 40),
    between_fences<Way::get, true>};
const Add both_put{
    transfer_card("Bidir_Put", "Two ranks write to each other's memory, between fences.", 50),
    between_fences<Way::put, true>};

}  // namespace
}  // namespace mpigauge
