// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/sync.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

TEST(a_rank_naps_a_small_share_of_its_wait_and_never_long) {
  CHECK_EQ(longest_nap_s(0), 2e-3);
  CHECK_EQ(longest_nap_s(0.1), 2e-3);
  CHECK_EQ(longest_nap_s(2.56), 10e-3);
  CHECK_EQ(longest_nap_s(3600), 50e-3);
}
