// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// On which NUMA nodes memory is to lie, and on which it does: page by page, never believed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/numa.hpp"

namespace mpigauge::node {

/// The nodes that a word of --memory-on means to a core of node `own`: local; remote, the farthest
/// one; interleaved, all; or numbers with + between. Throws std::invalid_argument, which says what
/// there is.
std::vector<int> nodes_for(const std::string& word, const std::vector<platform::NumaNode>& all,
                           int own);

/// How many pages lie on which node; -1: on none, which is not there yet.
using Census = std::map<int, std::size_t>;
/// Of this memory. `why` says why nothing is known, where the system does not tell.
Census census_of(const platform::NumaCalls& calls, std::byte* at, std::size_t bytes,
                 std::string& why);

/// Puts memory that nobody has touched yet; why it could not, empty: it is done.
std::string put_on(const platform::NumaCalls& calls, std::byte* at, std::size_t bytes,
                   const std::vector<int>& nodes);
/// What is not as wanted: every page is on one of these nodes, and about as many on each.
std::string misplaced(const Census& pages, const std::vector<int>& wanted);
/// node 0; nodes 0 and 1 (75 %, 25 %)
std::string words_of(const Census& pages);

}  // namespace mpigauge::node
