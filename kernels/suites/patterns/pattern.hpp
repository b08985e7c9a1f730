// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the benchmarks of the suite P2P share: all ranks work at once, and what they send and
// receive is touched by the processor, as in a program.
#pragma once

#include "core/benchmark.hpp"
#include "core/grid.hpp"
#include "core/transfers.hpp"

namespace mpigauge::patterns {

inline double pairs(const Shape& s) {
  const int at_once = s.ranks / 2;
  return at_once;
}
inline double message_per_pair(const Shape& s) { return pairs(s) * message(s); }
inline double ranks(const Shape& s) { return s.ranks; }

constexpr Card pattern_card(Card card) {
  card.suite = "P2P";
  card.columns = Columns::rate;
  card.options = {SuiteOption::touch_send, SuiteOption::touch_recv};
  return card;
}

inline Touch touch_of(const Run& run) {
  return {run.options().touch_send && run.on_cpu(), run.options().touch_recv && run.on_cpu()};
}

}  // namespace mpigauge::patterns
