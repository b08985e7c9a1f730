// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The simple loops as another compiler made them: libraries of kernels/loops.
#pragma once

#include <string>

#include "suites/node/arrays.hpp"

namespace mpigauge::node {

/// The loop of the library that NAME=FILE names. Throws Refused, on all ranks of the run alike,
/// where one of them cannot open it.
Loop loop_of_compiler(const Run& run, const std::string& named, Stream what);
/// What the compiler says of itself, and its flags; empty: the library was not opened.
std::string words_of_compiler(const std::string& named);

}  // namespace mpigauge::node
