// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the benchmarks of the suite MT share: all threads of a rank run them at once, and most pair
// ranks that are a stride apart.
#pragma once

#include "core/benchmark.hpp"
#include "core/threads.hpp"
#include "core/transfers.hpp"

namespace mpigauge::mt {

inline int stride_of(int ranks, int wanted) { return wanted > 0 ? wanted : ranks / 2; }

/// Ranks that have a partner.
inline int paired_ranks(int ranks, int wanted_stride) {
  const int block = 2 * stride_of(ranks, wanted_stride);
  return block > 0 ? ranks / block * block : 0;
}

/// Who talks to whom: in each whole block of two strides, rank r of the lower half with r + stride
/// of the upper one. What does not fill a block sits out.
inline Pair pair_of(int rank, int ranks, int wanted_stride) {
  if (rank >= paired_ranks(ranks, wanted_stride)) return {};
  const int stride = stride_of(ranks, wanted_stride);
  const bool lower = rank % (2 * stride) < stride;
  return {lower ? rank + stride : rank - stride, lower};
}

inline std::string no_partners(const Shape& shape) {
  const int stride = shape.options->stride;
  if (paired_ranks(shape.ranks, stride) > 0) return "";
  return "no rank has a partner at a stride of " + std::to_string(stride);
}

inline double per_thread(const Shape& s) { return s.threads; }
inline double threads_times_message(const Shape& s) { return s.threads * message(s); }

constexpr Card threaded_card(Card card) {
  card.suite = "MT";
  card.options.add(SuiteOption::threads);
  card.options.add(SuiteOption::thread_memory);
  return card;
}

constexpr Card paired_card(Card card) {
  card.ranks = Ranks::several;
  card.excuse = no_partners;
  card.options.add(SuiteOption::stride);
  return threaded_card(card);
}

/// Adds a benchmark that every thread runs.
inline Add add(const Card& card, void (*benchmark)(Run&)) {
  return {card, [benchmark](Run& run) { on_threads(run, benchmark); }};
}

/// Adds one whose ranks work in pairs; those without a partner only come to the meetings.
inline Add add_paired(const Card& card, void (*benchmark)(Run&, const Pair&)) {
  return {card, [benchmark](Run& run) {
            on_threads(run, [benchmark](Run& r) {
              const Pair pair = pair_of(r.rank(), r.ranks(), r.options().stride);
              if (pair.exists()) return benchmark(r, pair);
              r.sit_out();
              r.measure([](Turn) {});
              r.expect(0);
            });
          }};
}

}  // namespace mpigauge::mt
