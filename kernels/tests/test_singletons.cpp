// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/singletons.hpp"
#include "tests/check.hpp"

using mpigauge::why_alone;

TEST(a_world_as_large_as_the_launcher_says_is_good) {
  CHECK_EQ(why_alone(4, 4, "some MPI"), "");
  CHECK_EQ(why_alone(1, 1, "some MPI"), "");
}

TEST(other_sizes_are_the_launchers_business) {
  CHECK_EQ(why_alone(2, 8, "a spawned job"), "");
  CHECK_EQ(why_alone(8, 1, "a launcher below another"), "");
}

TEST(ranks_that_are_each_alone_are_refused_in_one_line) {
  const std::string reason = why_alone(1, 2, "MPI A\nbuilt yesterday");
  CHECK(reason.find("2 ranks") != std::string::npos);
  CHECK(reason.find("(MPI A)") != std::string::npos);
  CHECK(reason.find('\n') == std::string::npos);
}
