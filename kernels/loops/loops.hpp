// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a library of simple loops has. Any compiler makes one of loops.cpp, which is not part of the
// kernels; they open it.
#pragma once

#include "suites/node/stream.hpp"

extern "C" {
/// The loop of a stream.
mpigauge::node::Loop mpigauge_loop(int stream);
/// The compiler as it names itself, and the flags that it was given.
const char* mpigauge_words();
/// Goes through each loop once, over few numbers: whether this processor can do what it needs.
void mpigauge_try();
}

namespace mpigauge::node {
inline constexpr const char* loop_symbol = "mpigauge_loop";
inline constexpr const char* words_symbol = "mpigauge_words";
}  // namespace mpigauge::node
