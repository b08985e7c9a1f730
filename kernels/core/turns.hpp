// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// In what order things that are compared have their turns.
#pragma once

#include <cstddef>

namespace mpigauge {

/// Who of so many (at least 1) has this turn of a round, each from 0. Over as many rounds as there
/// are of them, each has each turn once: a Latin square. Over that many, or twice that many where
/// they are odd, each also comes as often behind each of the others, so that what one leaves behind
/// does to all alike (E. J. Williams, Aust. J. Sci. Res. A 2, 1949, 149).
std::size_t whose_turn(std::size_t turn, std::size_t round, std::size_t many);

}  // namespace mpigauge
