// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/passive.hpp"

namespace mpigauge {
namespace {

enum class Origins { first, both };
enum class Flush { remote, local };

constexpr Card pair_card(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "RMA",
      .name = name,
      .about = about,
      .place = place,
      .ranks = Ranks::pair,
      .columns = Columns::single,
      .modes = Modes::each_then_end,
      .moved = message,
      .messages = once,
      .needs = {"MPI_Win_flush", "MPI_Win_flush_local"},
  };
}

template <Way way, Origins origins, Flush completion>
void pair(Run& run) {
  const Ends ends = ends_of<way>(run);
  const int peer = run.peer();
  const bool both = origins == Origins::both;
  in_window(run, ends, [&](MPI_Win window) {
    if (!both && run.rank() != 0) return stand_by(run);
    const auto flush = completion == Flush::local ? rma_calls().flush_local : rma_calls().flush;
    measure_locked(
        run, window, peer,
        [=](Turn t) { transfer<way>(ends.near[t], peer, place_of(ends.far, t), window); },
        [=] { call(flush(peer, window)); });
  });
  const bool received = both || run.rank() == (way == Way::put ? 1 : 0);
  run.expect(received ? run.wrong(arrivals<way>(ends).bytes(), peer, 0) : 0);
}

const Add one_put{
    pair_card("Unidir_put", "One rank writes to the other's memory, which is passive.", 10),
    pair<Way::put, Origins::first, Flush::remote>};
const Add both_put{
    pair_card("Bidir_put", "Two ranks write to each other's memory at the same time.", 20),
    pair<Way::put, Origins::both, Flush::remote>};
const Add one_get{
    pair_card("Unidir_get", "One rank reads the other's memory, which is passive.", 30),
    pair<Way::get, Origins::first, Flush::remote>};
const Add both_get{
    pair_card("Bidir_get", "Two ranks read each other's memory at the same time.", 40),
    pair<Way::get, Origins::both, Flush::remote>};
const Add local_put{
    pair_card("Put_local", "Unidir_put, but only until the origin may use its buffer again.", 50),
    pair<Way::put, Origins::first, Flush::local>};
const Add local_get{
    variant_of(pair_card("", "", 0), "Get_local", "Unidir_get with a local flush.", 200),
    pair<Way::get, Origins::first, Flush::local>};

}  // namespace
}  // namespace mpigauge
