// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Steps through memory that ranks of a host share: one rank writes and sets a flag, others read.
#pragma once

#include <functional>
#include <vector>

#include "suites/algorithms/program.hpp"
#include "suites/node/shared.hpp"

namespace mpigauge::schedules {

/// The memory of a rank that others read.
struct Shelf {
  node::Line written;  ///< the last step that is complete
  node::Line taken;    ///< how often others have read
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// The shared memory of the ranks of this host, as one rank uses it.
class SharedSteps {
 public:
  SharedSteps() = default;
  /// `shelves`: those of all ranks of the run; null: on another host.
  SharedSteps(std::vector<Shelf*> shelves, int rank, unsigned steps)
      : shelves_(std::move(shelves)),
        own_(shelves_[static_cast<std::size_t>(rank)]),
        steps_(steps) {}

  /// Begins the next call; all ranks make the same calls.
  void next_call() { done_ += steps_; }
  /// Copies what others are to read.
  void publish(const Published& what, const std::byte* from) {
    node::wait_for(own_->taken, expected_);
    if (what.bytes > 0) std::memcpy(own_->data(), from, what.bytes);
    own_->written.flag.store(number(what.step), std::memory_order_release);
    expected_ += what.readers;
  }
  /// Waits for the memory of another rank.
  [[nodiscard]] const std::byte* open(const Read& what) const {
    Shelf* shelf = shelves_[static_cast<std::size_t>(what.peer)];
    node::wait_for(shelf->written, number(what.step));
    return shelf->data();
  }
  /// Lets it be written again.
  void close(const Read& what) const {
    shelves_[static_cast<std::size_t>(what.peer)]->taken.flag.fetch_add(1,
                                                                        std::memory_order_release);
  }

 private:
  [[nodiscard]] std::uint64_t number(unsigned step) const { return done_ + step + 1; }

  std::vector<Shelf*> shelves_;
  Shelf* own_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t done_ = 0;      // steps of earlier calls
  std::uint64_t expected_ = 0;  // readings of what this rank wrote
};

/// Gives `body` the shared memory for programs, of which one is for each root. Throws Refused on
/// all ranks alike where a rank would read from another host.
void in_shared_steps(const Run& run, const std::vector<Program>& programs,
                     const std::function<void(SharedSteps)>& body);

}  // namespace mpigauge::schedules
