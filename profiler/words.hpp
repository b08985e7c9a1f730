// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a wrapper sees of a call. All arguments of MPI's calls in C are integers or pointers, which
// travel in registers of one kind, whatever the ABI of the MPI. So one wrapper serves all MPIs: it
// takes and hands on words, and looks into those only that it has to know, by what is known of the
// ABI (abi.hpp).
#pragma once

#include <cstdint>
#include <cstring>

namespace mpigauge::profile {

/// An argument as it came. Of an int only the lower half counts.
using Word = std::uintptr_t;

inline int as_int(Word word) { return static_cast<int>(word); }

template <class Value>
Value value_at(Word address) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

/// Where a call came from: the return address, the stack pointer after the return, and the frame
/// pointer then. With them the stack can be followed, see unwind.hpp.
struct Caller {
  Word pc;
  Word sp;
  Word fp;
  std::uint32_t line = 0;  // of Python, see python.hpp; 0: none
};

// Of the function that this stands in; it has to have a frame pointer, in which the caller's is
// saved.
#define MPIGAUGE_CALLER                                                            \
  ::mpigauge::profile::Caller {                                                    \
    reinterpret_cast<::mpigauge::profile::Word>(__builtin_return_address(0)),      \
        reinterpret_cast<::mpigauge::profile::Word>(__builtin_dwarf_cfa()),        \
        *static_cast<const ::mpigauge::profile::Word*>(__builtin_frame_address(0)) \
  }

}  // namespace mpigauge::profile
