// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Functions made while the program runs. MPI calls operations and error handlers of the program
// without a word that says which they are; so each one gets a few instructions of its own, which
// put the address of what we know of it behind the other arguments, and go on in our function.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "target.hpp"

namespace mpigauge::translate {

/// A callback of the program.
struct Callback {
  Function function = nullptr;
  /// How it has to be called.
  int how = 0;
};

/// Thunks that go on in one function of ours, which takes a `Callback*` behind `arguments` others.
class Thunks {
 public:
  Thunks(Function entry, int arguments) : entry_(entry), arguments_(arguments) {}
  /// The thunk for a callback; the same one each time.
  Function of(const Callback& callback);

 private:
  struct Page {
    std::vector<Callback> callbacks;
    unsigned char* code;
    std::size_t used;
  };
  Page make_page();

  Function entry_;
  int arguments_;
  std::mutex lock_;
  std::vector<Page> pages_;
};

}  // namespace mpigauge::translate
