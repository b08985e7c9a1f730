// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How to come from a place in a program to its caller, as the tables say that compilers leave for
// exceptions (.eh_frame). Of all that these can say, what compilers write for functions that call
// others is understood: the frame lies at a fixed distance from the stack pointer or the frame
// pointer, or its address is in the stack (functions that align theirs). Elsewhere a stack ends.
#pragma once

#include <cstdint>

#include "words.hpp"

namespace mpigauge::profile {

/// The step from a function to its caller, in a word: so it can be kept in a WordMap.
struct Rule {
  enum class Frame : std::uint8_t { end, from_sp, from_fp, at_fp };
  enum class Saved : std::uint8_t { not_at_all, in_frame, from_fp };

  Frame frame = Frame::end;
  std::int32_t frame_offset = 0;  // the frame's upper end: sp or fp plus this, or what is there
  Saved fp = Saved::not_at_all;   // the caller's frame pointer: unchanged, or where
  std::int32_t fp_offset = 0;
  std::int32_t return_offset = 0;  // the return address, from the upper end

  [[nodiscard]] std::uint64_t packed() const;
  static Rule unpacked(std::uint64_t word);
};

/// A loaded file that holds code.
struct LoadedFile {
  Word base = 0;
  const char* path = "";             // empty for the program itself
  const std::uint8_t* id = nullptr;  // build-id
  std::uint32_t id_bytes = 0;
  const std::uint8_t* unwind_table = nullptr;  // .eh_frame_hdr
};

/// The file with the code at an address; false when there is none.
bool find_file(Word pc, LoadedFile& file);
/// How many files were unloaded so far.
unsigned long long files_closed();
/// The rule at the call whose return address this is.
Rule find_rule(Word pc, const LoadedFile& file);

}  // namespace mpigauge::profile
