// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <limits>

#include "record/pair_block.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string texts(const BlockColumns& block) {
  return block.shared().text() + ' ' + block.columns().text();
}

}  // namespace

TEST(a_value_that_all_cells_have_stands_once) {
  BlockColumns block(false);
  block.add("time_p50_s", std::vector<double>{1e-6, 1e-6});
  block.add("time_pure_s", std::vector<double>{unknown, unknown});
  block.add("samples", std::vector<int>{40, 40});
  block.share("check", "exact");
  CHECK_EQ(texts(block),
           R"({"time_p50_s":1e-06,"time_pure_s":null,"samples":40,"check":"exact"} {})");
}

TEST(values_in_which_cells_differ_are_a_list) {
  BlockColumns block(false);
  block.add("time_p50_s", std::vector<double>{1e-6, unknown, 2e-6});
  block.add("stop", std::vector<std::string_view>{"precise", "time", "budget"});
  CHECK_EQ(texts(block),
           R"({} {"time_p50_s":[1e-06,null,2e-06],"stop":["precise","time","budget"]})");
}

TEST(a_few_other_values_are_listed_by_their_number) {
  BlockColumns block(true);
  using Words = std::vector<std::string_view>;
  block.add("flags", std::vector<Words>{{}, {}, {"drift"}, {}, {}, {}});
  CHECK_EQ(texts(block), R"({"flags":[]} {"flags":{"2":["drift"]}})");
}

TEST(times_of_many_pairs_are_packed) {
  BlockColumns block(true);
  block.add("time_p50_s", std::vector<double>{1.0, -2.0});
  CHECK_EQ(texts(block), R"({} {"time_p50_s":"AACAPwAAAMA="})");
  BlockColumns many(true);
  many.add("time_p50_s", std::vector<double>(3000, 1.0));
  std::vector<double> times(3000);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = 1e-6 * static_cast<double>(i);
  many.add("ci_low_s", times);
  CHECK(texts(many).size() < 3000 * 6);
}
