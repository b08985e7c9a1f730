// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#pragma once

#include <stdexcept>

namespace mpigauge {

/// A word on the command line that makes no sense; the text says which and what would.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mpigauge
