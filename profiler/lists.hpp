// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Lists of so many words, as parameters and as arguments.
#pragma once

#include "words.hpp"

// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
#define MPIGAUGE_TAKE_0
#define MPIGAUGE_GIVE_0
#define MPIGAUGE_TAKE_1 ::mpigauge::profile::Word a
#define MPIGAUGE_GIVE_1 a
#define MPIGAUGE_TAKE_2 MPIGAUGE_TAKE_1, ::mpigauge::profile::Word b
#define MPIGAUGE_GIVE_2 MPIGAUGE_GIVE_1, b
#define MPIGAUGE_TAKE_3 MPIGAUGE_TAKE_2, ::mpigauge::profile::Word c
#define MPIGAUGE_GIVE_3 MPIGAUGE_GIVE_2, c
#define MPIGAUGE_TAKE_4 MPIGAUGE_TAKE_3, ::mpigauge::profile::Word d
#define MPIGAUGE_GIVE_4 MPIGAUGE_GIVE_3, d
#define MPIGAUGE_TAKE_5 MPIGAUGE_TAKE_4, ::mpigauge::profile::Word e
#define MPIGAUGE_GIVE_5 MPIGAUGE_GIVE_4, e
#define MPIGAUGE_TAKE_6 MPIGAUGE_TAKE_5, ::mpigauge::profile::Word f
#define MPIGAUGE_GIVE_6 MPIGAUGE_GIVE_5, f
#define MPIGAUGE_TAKE_7 MPIGAUGE_TAKE_6, ::mpigauge::profile::Word g
#define MPIGAUGE_GIVE_7 MPIGAUGE_GIVE_6, g
#define MPIGAUGE_TAKE_8 MPIGAUGE_TAKE_7, ::mpigauge::profile::Word h
#define MPIGAUGE_GIVE_8 MPIGAUGE_GIVE_7, h
#define MPIGAUGE_TAKE_9 MPIGAUGE_TAKE_8, ::mpigauge::profile::Word i
#define MPIGAUGE_GIVE_9 MPIGAUGE_GIVE_8, i
#define MPIGAUGE_TAKE_10 MPIGAUGE_TAKE_9, ::mpigauge::profile::Word j
#define MPIGAUGE_GIVE_10 MPIGAUGE_GIVE_9, j
#define MPIGAUGE_TAKE_11 MPIGAUGE_TAKE_10, ::mpigauge::profile::Word k
#define MPIGAUGE_GIVE_11 MPIGAUGE_GIVE_10, k
#define MPIGAUGE_TAKE_12 MPIGAUGE_TAKE_11, ::mpigauge::profile::Word l
#define MPIGAUGE_GIVE_12 MPIGAUGE_GIVE_11, l
#define MPIGAUGE_TAKE_13 MPIGAUGE_TAKE_12, ::mpigauge::profile::Word m
#define MPIGAUGE_GIVE_13 MPIGAUGE_GIVE_12, m
#define MPIGAUGE_TAKE_14 MPIGAUGE_TAKE_13, ::mpigauge::profile::Word n
#define MPIGAUGE_GIVE_14 MPIGAUGE_GIVE_13, n
#define MPIGAUGE_TAKE_15 MPIGAUGE_TAKE_14, ::mpigauge::profile::Word o
#define MPIGAUGE_GIVE_15 MPIGAUGE_GIVE_14, o
#define MPIGAUGE_TAKE_16 MPIGAUGE_TAKE_15, ::mpigauge::profile::Word p
#define MPIGAUGE_GIVE_16 MPIGAUGE_GIVE_15, p
#define MPIGAUGE_TAKE_17 MPIGAUGE_TAKE_16, ::mpigauge::profile::Word q
#define MPIGAUGE_GIVE_17 MPIGAUGE_GIVE_16, q
#define MPIGAUGE_TAKE_18 MPIGAUGE_TAKE_17, ::mpigauge::profile::Word r
#define MPIGAUGE_GIVE_18 MPIGAUGE_GIVE_17, r
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on
