// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <stdexcept>

#include "core/arrival.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

using Delays = std::vector<double>;

Delays of(const std::string& text, int ranks, std::uint64_t call = 0) {
  return Arrival::read(text).delays(7, call, ranks);
}

std::string refusal(const std::string& text) {
  return check::thrown_by<std::invalid_argument>([&] { Arrival::read(text); });
}

bool close(const Delays& a, const Delays& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) < 1e-12; });
}

}  // namespace

TEST(ranks_come_together_unless_something_is_said) {
  CHECK(Arrival().is_together() && Arrival::read("together").is_together());
  CHECK_EQ(Arrival().name(), "");
  CHECK(close(Arrival().delays(1, 0, 3), {0, 0, 0}));
}

TEST(one_rank_is_late) {
  CHECK(close(of("late:1:50", 3), {0, 50e-6, 0}));
  CHECK_EQ(Arrival::read("late:1:0.5").name(), "late:1:0.5us");
  CHECK_EQ(Arrival::read("late:2:50").excuse(2), "arrival late:2:50us: there is no rank 2 of 2");
  CHECK_EQ(Arrival::read("late:2:50").excuse(3), "");
}

TEST(ranks_come_one_after_the_other) {
  CHECK(close(of("sorted:90", 4), {0, 30e-6, 60e-6, 90e-6}));
  CHECK(close(of("sorted:90", 1), {0}));
}

TEST(ranks_come_by_chance_the_same_wherever_it_is_asked) {
  Delays all;
  for (std::uint64_t call = 0; call < 1000; ++call) {
    const Delays delays = of("uniform:100", 4, call);
    CHECK(close(delays, of("uniform:100", 4, call)));
    all.insert(all.end(), delays.begin(), delays.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(all.front() >= 0 && all.back() < 100e-6);
  for (const double share : {0.1, 0.5, 0.9}) {
    const double at = all[static_cast<std::size_t>(share * static_cast<double>(all.size()))];
    CHECK(std::abs(at - share * 100e-6) < 5e-6);
  }
  CHECK(!close(Arrival::read("uniform:100").delays(8, 0, 4), of("uniform:100", 4)));
}

TEST(ranks_come_as_in_one_of_some_vectors) {
  const std::string text = "profile:x=0+5.5/3+0/0+1";
  CHECK_EQ(Arrival::read(text).name(), "profile:x");
  int seen[3] = {};
  for (std::uint64_t call = 0; call < 300; ++call) {
    const Delays delays = of(text, 2, call);
    seen[0] += close(delays, {0, 5.5e-6}) ? 1 : 0;
    seen[1] += close(delays, {3e-6, 0}) ? 1 : 0;
    seen[2] += close(delays, {0, 1e-6}) ? 1 : 0;
  }
  CHECK_EQ(seen[0] + seen[1] + seen[2], 300);
  CHECK_EQ(std::min({seen[0], seen[1], seen[2]}), 100);
  CHECK_EQ(Arrival::read(text).excuse(4), "arrival profile:x is of 2 ranks");
}

TEST(the_longest_delay_is_known) {
  CHECK(std::abs(Arrival::read("x=0+5.5/30+0").longest_s() - 30e-6) < 1e-12);
  CHECK(std::abs(Arrival::read("sorted:90").longest_s() - 90e-6) < 1e-12);
}

TEST(what_is_no_pattern_is_refused) {
  CHECK(refusal("soon:5").starts_with("'soon:5' is none of together, late:RANK:TIME"));
  CHECK(refusal("late:5").starts_with("'late:5' is none of"));
  CHECK_EQ(refusal("uniform:x"), "'x' is not a number from 0 to 1000000");
  CHECK_EQ(refusal("uniform:-1"), "'-1' is not a number from 0 to 1000000");
  CHECK_EQ(refusal("late:-1:5"), "'-1' is not a number from 0 to 2147483647");
  CHECK_EQ(refusal("x=0+1/0"), "'x' has vectors of different numbers of ranks");
  CHECK_EQ(refusal("=0+1"), "'=0+1' has no name before its vectors");
}
