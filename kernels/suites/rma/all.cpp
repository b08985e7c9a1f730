// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/passive.hpp"

namespace mpigauge {
namespace {

enum class Origins { first, all };
enum class Flush { remote, local };

double message_to_each(const Shape& s) { return message(s) * (s.ranks - 1); }

// One origin: a message to or from each other rank. IMB counts the bytes of one of them.
constexpr Card one_card(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "RMA",
      .name = name,
      .about = about,
      .place = place,
      .columns = Columns::single,
      .modes = Modes::end_unnamed,
      .moved = message_to_each,
      .imb_moved = message,
      .messages = [](const Shape& s) { return s.ranks - 1.0; },
      .needs = {"MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Win_flush_all",
                "MPI_Win_flush_local_all"},
  };
}

// Every rank is an origin; then no rate is that of the whole.
constexpr Card all_card(std::string_view name, std::string_view about, int place) {
  Card card = one_card(name, about, place);
  card.columns = Columns::collective;
  card.moved = nothing;
  card.imb_moved = nullptr;
  card.messages = nothing;
  return card;
}

// Every origin has a place of its own at its targets, and every target one at its origin: nothing
// that is under way at the same time may overlap.
constexpr Card with_places(Card card) {
  card.recv = message_per_rank;
  return card;
}

template <Way way>
Message near_of(const Ends& ends, std::size_t offset, Turn t) {
  Message m = ends.near[t];
  if constexpr (way == Way::get) m.data = static_cast<std::byte*>(m.data) + offset;
  return m;
}

template <Way way, Origins origins>
std::size_t wrong_arrivals(const Run& run, const Block& in) {
  const bool from_one = way == Way::put && origins == Origins::first;
  if (from_one) return run.rank() == 0 ? 0 : run.wrong(in.bytes(), 0, 0);
  if (origins == Origins::first && run.rank() != 0) return 0;
  std::size_t wrong = 0;
  for (int r = 0; r < run.ranks(); ++r) {
    const auto at = static_cast<std::size_t>(r) * run.bytes();
    if (r != run.rank()) wrong += run.wrong(in.bytes(at, run.bytes()), r, 0);
  }
  return wrong;
}

// Targets in the order of ranks from the own one on, so that not all begin with the same.
template <Way way, Origins origins, Flush completion>
void all(Run& run) {
  Ends ends = ends_of<way>(run);
  const Block in = arrivals<way>(ends);
  if constexpr (way == Way::get) ends.near = ends.near.part(0, run.bytes());
  const int rank = run.rank(), ranks = run.ranks();
  const std::size_t bytes = run.bytes();
  const bool own_places = way == Way::put && origins == Origins::all;
  const auto place = static_cast<MPI_Aint>(own_places ? static_cast<std::size_t>(rank) * bytes : 0);
  in_window(run, ends, [&](MPI_Win window) {
    if (origins == Origins::first && rank != 0) return stand_by(run);
    const auto flush =
        completion == Flush::local ? rma_calls().flush_local_all : rma_calls().flush_all;
    measure_all_locked(
        run, window,
        [=](Turn t) {
          for (int step = 1; step < ranks; ++step) {
            const int target = rank + step < ranks ? rank + step : rank + step - ranks;
            const Message near = near_of<way>(ends, static_cast<std::size_t>(target) * bytes, t);
            transfer<way>(near, target, place_of(ends.far, t) + place, window);
          }
        },
        [=] { call(flush(window)); });
  });
  run.expect(wrong_arrivals<way, origins>(run, in));
}

const Add put_local{
    one_card("Put_all_local", "One_put_all, but only until the origin may use its buffer again.",
             60),
    all<Way::put, Origins::first, Flush::local>};
const Add one_put{one_card("One_put_all", "Rank 0 writes to the memory of all other ranks.", 70),
                  all<Way::put, Origins::first, Flush::remote>};
const Add all_put{
    with_places(all_card("All_put_all", "Every rank writes to the memory of all others.", 80)),
    all<Way::put, Origins::all, Flush::remote>};
const Add one_get{
    with_places(one_card("One_get_all", "Rank 0 reads the memory of all other ranks.", 90)),
    all<Way::get, Origins::first, Flush::remote>};
const Add all_get{
    with_places(all_card("All_get_all", "Every rank reads the memory of all others.", 100)),
    all<Way::get, Origins::all, Flush::remote>};
const Add get_local{variant_of(with_places(one_card("", "", 0)), "Get_all_local",
                               "One_get_all with a local flush.", 210),
                    all<Way::get, Origins::first, Flush::local>};

}  // namespace
}  // namespace mpigauge
