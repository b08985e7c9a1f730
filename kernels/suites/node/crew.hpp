// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The threads that a rank works with at a visit, and the parts of arrays that they go over.
#pragma once

#include <string>
#include <vector>

#include "core/threads.hpp"
#include "suites/node/arrays.hpp"
#include "suites/node/pool.hpp"

namespace mpigauge::node {

/// Numbers first, first + 1, ... of arrays.
struct Range {
  std::size_t first = 0, count = 0;
};
/// The part of n numbers that one of so many threads has: whole cache lines, but for the last one.
constexpr Range part_of(std::size_t n, int thread, int threads) {
  constexpr std::size_t line = 8;
  const auto edge = [=](int i) {
    const auto whole = n / line * static_cast<std::size_t>(i) / static_cast<std::size_t>(threads);
    return i == threads ? n : whole * line;
  };
  return {edge(thread), edge(thread + 1) - edge(thread)};
}

/// As long as it lives, the rank's own thread is bound to the first place. A rank of which no
/// threads were asked for works alone, where it is.
class Crew {
 public:
  /// Throws Refused, on all ranks alike, where there are fewer cores than threads.
  explicit Crew(const Run& run);
  [[nodiscard]] int size() const { return pool_ == nullptr ? 1 : pool_->threads(); }
  /// 4 threads on 0-3; empty: it works alone.
  [[nodiscard]] std::string words() const;
  /// work(0), work(1), ... at once, a thread each.
  template <class Work>
  void run(Work& work) const {
    if (pool_ == nullptr) work(0);
    else pool_->run(work);
  }

 private:
  Pool* pool_ = nullptr;
  Bound bound_;
};

/// Goes over arrays, each thread over its part.
class Passes {
 public:
  Passes(const Crew& crew, Stream what, const Arrays& arrays);
  /// Gives the sum, 0 where there is none.
  double operator()(Loop loop) {
    loop_ = loop;
    crew_.run(*this);
    double sum = 0;
    for (const Share& share : shares_) sum += share.sum;
    return sum;
  }
  void operator()(int thread) {
    Share& share = shares_[static_cast<std::size_t>(thread)];
    const std::size_t at = share.part.first;
    share.sum = loop_(arrays_.x + at, arrays_.y + at, arrays_.z + at, share.part.count, factor_);
  }

 private:
  struct alignas(64) Share {  // a line each, as all are written at once
    Range part;
    double sum = 0;
  };
  const Crew& crew_;
  Arrays arrays_;
  double factor_;
  std::vector<Share> shares_;
  Loop loop_ = nullptr;
};

}  // namespace mpigauge::node
