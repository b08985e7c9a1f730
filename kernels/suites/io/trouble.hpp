// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Failures of calls on files. One rank may fail where the others go on (the disk is full for it
// alone), and the others wait for it in the next collective call; so a failure is only noted, and
// made known to all ranks where they meet.
#pragma once

#include <string>

#include "core/mpi.hpp"

namespace mpigauge::io {

class Trouble {
 public:
  /// Notes what a call said, unless it succeeded or there was trouble before.
  void note(int code, const char* call_name) {
    if (code != MPI_SUCCESS) [[unlikely]]
      note_failure(code, call_name);
  }
  void note(const std::string& text);
  [[nodiscard]] bool any() const { return !text_.empty(); }
  /// Throws Refused on all ranks of the communicator when one of them has trouble.
  void agree(MPI_Comm comm) const;

 private:
  [[gnu::cold, gnu::noinline]] void note_failure(int code, const char* call_name);
  std::string text_;
};

}  // namespace mpigauge::io
