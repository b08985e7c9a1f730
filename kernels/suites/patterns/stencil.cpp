// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/patterns/pattern.hpp"

namespace mpigauge::patterns {
namespace {

template <int dimensions>
double messages_of_all(const Shape& s) {
  return 2.0 * dimensions * s.ranks;
}

template <int dimensions>
constexpr Card stencil_card(Card card) {
  card.send = card.recv = [](const Shape& s) { return 2 * dimensions * message(s); };
  card.moved = [](const Shape& s) { return messages_of_all<dimensions>(s) * message(s); };
  card.messages = messages_of_all<dimensions>;
  card.large_counts = true;
  return pattern_card(card);
}

constexpr Card plane = stencil_card<2>({
    .name = "Stencil2D",
    .about = "Ranks form a periodic plane: each exchanges messages with 4 neighbours.",
    .place = 60,
    .ranks = Ranks::plane,
});

constexpr Card volume = stencil_card<3>({
    .name = "Stencil3D",
    .about = "Ranks form a periodic volume: each exchanges messages with 6 neighbours.",
    .place = 70,
    .ranks = Ranks::volume,
});

template <int dimensions>
void stencil(Run& run) {
  exchange_on(run, stencil_sides(run.ranks(), dimensions), touch_of(run));
}

const Add in_a_plane{plane, stencil<2>};
const Add in_a_volume{volume, stencil<3>};

}  // namespace
}  // namespace mpigauge::patterns
