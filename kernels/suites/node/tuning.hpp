// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Finds the fastest of the tuned loops by a short trial, all ranks of a run together.
#pragma once

#include <string>

#include "suites/node/crew.hpp"

namespace mpigauge::node {

struct Tuned {
  const Vectors* vectors = nullptr;
  Manner manner;
  std::size_t lines = 0;  ///< by which the arrays are moved against each other
  bool huge = false;      ///< whether the memory lies in huge pages
  [[nodiscard]] Loop loop(Stream what) const {
    return vectors->tuned.at(place_of(what)).at(place_of(manner));
  }
};
/// avx2, past the caches, 4 strips, 37 lines apart, huge pages.
std::string words_of(const Tuned& tuned);

/// The best for this stream at the run's size on so many ranks and threads; tried once, the same on
/// all ranks.
const Tuned& tuned_for(const Run& run, const Crew& crew, Stream what);
/// What was found for a row; empty where nothing was tried.
std::string found_for(Stream what, const Shape& shape);

}  // namespace mpigauge::node
