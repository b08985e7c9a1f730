// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/passive.hpp"

namespace mpigauge {
namespace {

constexpr Card exchange_card(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "RMA",
      .name = name,
      .about = about,
      .place = place,
      .columns = Columns::collective,
      .send = twice_message,
      .recv = twice_message,
      .keeps_data = one_sided,
      .needs = {"MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Win_flush"},
  };
}

// The first half of a buffer is what travels to the right, the second what travels to the left.
template <Way way>
void exchange(Run& run) {
  const Ends ends = ends_of<way>(run);
  const std::size_t bytes = run.bytes();
  const Block first = ends.near.part(0, bytes);
  const Block second = ends.near.part(bytes, bytes);
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const int partner_of_first = way == Way::put ? right : left;
  const int partner_of_second = way == Way::put ? left : right;
  in_window(run, ends, [&](MPI_Win window) {
    const auto flush = rma_calls().flush;
    measure_all_locked(
        run, window,
        [=](Turn t) {
          const MPI_Aint place = place_of(ends.far, t);
          transfer<way>(first[t], partner_of_first, place, window);
          transfer<way>(second[t], partner_of_second, place + static_cast<MPI_Aint>(bytes), window);
          call(flush(partner_of_first, window));
          call(flush(partner_of_second, window));
        },
        [] {});
  });
  const Block& in = arrivals<way>(ends);
  run.expect(run.wrong(in.bytes(0, bytes), left, 0) +
             run.wrong(in.bytes(bytes, bytes), right, bytes));
}

const Add put{
    exchange_card("Exchange_put",
                  "Ranks form a ring: each writes to the memory of both neighbours.", 110),
    exchange<Way::put>};
const Add get{exchange_card("Exchange_get",
                            "Ranks form a ring: each reads the memory of both neighbours.", 120),
              exchange<Way::get>};

}  // namespace
}  // namespace mpigauge
