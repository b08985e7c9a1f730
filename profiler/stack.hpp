// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Following the stack, and knowing one again. Unwinding reads some words of the stack, each at a
// place that follows from those read before, from the rules of frames.hpp, and from where the call
// came. So when a call comes from the same place with the same stack pointer and all these words
// are what they were, its stack is the same, whatever the frames hold besides. That takes two loads
// for each frame, and is exact.
#pragma once

#include <array>
#include <cstdint>

#include "frames.hpp"

namespace mpigauge::profile {

constexpr std::uint32_t most_frames = 32;

/// A word of the stack that was read on the way.
struct Check {
  const Word* at;
  Word value;
};

struct Stack {
  std::uint32_t frames = 0, checks = 0;
  bool used_fp = false;              // the frame pointer of the caller mattered
  std::uint32_t line = 0;            // of Python, which called the last frame; 0: none
  std::array<Word, most_frames> pc;  // return addresses, the innermost first
  // At most two for each frame: the return address, and where the frame is told by its frame
  // pointer.
  std::array<Check, 3 * most_frames> check;
};

/// Gives the rule for a return address.
using FindRule = Rule (*)(Word pc);

/// Follows the stack from where a call came, for so many frames at most.
void unwind(const Caller& caller, std::uint32_t frames, FindRule find, Stack& stack);

}  // namespace mpigauge::profile
