// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A library is tried out by another process first, since one that does not fit may end it.
#pragma once

#include <string>
#include <vector>

#include "blas/library.hpp"

namespace mpigauge::blas {

struct Trial {
  std::string problem;  ///< why the library cannot be used; empty: it can
  Account account;
  std::string symbol;
  int bits = 0;  ///< of its integers
};

/// What that process prints, with a line `problem=` where it ended before its time. `program`: the
/// words that start the kernels, without their options.
std::string try_out(const std::vector<std::string>& program, const std::string& file,
                    double patience_s);
/// The words that this process was started with, as far as they say what to open.
std::vector<std::string> own_program();
/// The same as values.
Trial read_trial(const std::string& printed);

}  // namespace mpigauge::blas
