// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "driver/schedule.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr double fast = 1e-6;  // a call that no time cuts

// Repetitions of a table's rows, one after the other.
std::vector<std::int64_t> table(const Schedule& schedule, const std::vector<RowFacts>& rows,
                                const std::vector<double>& seconds = {}) {
  Repetitions repetitions(schedule);
  std::vector<std::int64_t> made;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    made.push_back(repetitions.cut(rows[i], i < seconds.size() ? seconds[i] : fast));
    repetitions.note(rows[i], made.back());
  }
  return made;
}

std::vector<RowFacts> of_sizes(const std::vector<std::size_t>& sizes) {
  std::vector<RowFacts> rows;
  for (const auto bytes : sizes) rows.push_back({.bytes = bytes, .ranks = 2});
  return rows;
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST(by_default_a_row_moves_40_mebibytes) {
  const auto made = table({}, of_sizes({0, 1, 32768, 65536, 131072, 1U << 20U, 4U << 20U, 8U << 20U,
                                        16U << 20U, 64U << 20U}));
  CHECK_EQ(made, (Numbers{1000, 1000, 1000, 640, 320, 40, 10, 5, 2, 1}));
}

TEST(the_volume_does_not_overflow) {
  const auto made = table({.repetitions = 10, .volume_bytes = 4000.0 * (1U << 20U)},
                          of_sizes({1U << 20U, std::size_t{1} << 40U}));
  CHECK_EQ(made, (Numbers{10, 1}));
}

TEST(time_cuts_a_row_and_all_after_it) {
  const Schedule schedule{.row_seconds = 1};
  CHECK_EQ(table(schedule, of_sizes({0, 1, 2}), {fast, 0.1, fast}), (Numbers{1000, 11, 11}));
}

TEST(sizes_of_the_user_bound_each_other_by_their_order) {
  const Schedule schedule{.row_seconds = 1, .user_sizes = true};
  // The second is smaller than the first, so the first is not a bound from above for it.
  CHECK_EQ(table(schedule, of_sizes({1024, 8, 2048}), {0.1, fast, fast}), (Numbers{11, 1000, 11}));
  // A slow small one bounds the larger ones; it is itself never less than a larger one before.
  CHECK_EQ(table(schedule, of_sizes({1024, 8}), {fast, 0.5}), (Numbers{1000, 1000}));
}

TEST(rows_that_complete_each_call_have_a_number_of_their_own) {
  const Schedule schedule{.repetitions = 8, .seldom = 4};
  RowFacts row{.bytes = 16};
  CHECK_EQ(Repetitions(schedule).wanted(row), 8);
  row.seldom = true;
  CHECK_EQ(Repetitions(schedule).wanted(row), 4);
}

TEST(multiples_of_the_number_of_ranks) {
  // -iter_policy multiple_np -iter 60 -msglog 0:10 on 2 processes, as IMB prints it.
  const Schedule schedule{.repetitions = 60, .policy = Policy::multiple_np, .largest_bytes = 1024};
  const std::vector<std::size_t> sizes{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  CHECK_EQ(table(schedule, of_sizes(sizes)),
           (Numbers{60, 60, 60, 60, 58, 58, 56, 52, 48, 40, 30, 20}));
}

TEST(automatic_looks_whether_there_is_a_root) {
  const Schedule schedule{.repetitions = 60, .policy = Policy::automatic, .largest_bytes = 1024};
  const Repetitions repetitions(schedule);
  CHECK_EQ(repetitions.wanted({.bytes = 1024, .ranks = 2, .rooted = true}), 20);
  CHECK_EQ(repetitions.wanted({.bytes = 1024, .ranks = 2}), 60);
}

TEST(off_is_the_same_for_all) {
  const Schedule schedule{.repetitions = 6, .policy = Policy::off};
  CHECK_EQ(table(schedule, of_sizes({0, 4U << 20U}), {fast, 100}), (Numbers{6, 6}));
}

TEST(a_barrier_has_no_size) {
  const Schedule schedule{.repetitions = 6, .policy = Policy::multiple_np};
  CHECK_EQ(Repetitions(schedule).wanted({.ranks = 4, .sized = false}), 6);
}

TEST(trials_take_about_a_second) {
  CHECK_EQ(Repetitions::trial(2000, 1e-6), 1000);
  CHECK_EQ(Repetitions::trial(2000, 0.01), 100);
  CHECK_EQ(Repetitions::trial(2000, 3), 1);
  CHECK_EQ(Repetitions::trial(5, 1e-6), 5);
}

TEST(a_tenth_warms_up_but_ten_where_there_are_as_many) {
  const Repetitions on({}), off({.warm_up = false});
  CHECK_EQ(on.warm_up(1000), 100);
  CHECK_EQ(on.warm_up(50), 10);
  CHECK_EQ(on.warm_up(4), 4);
  CHECK_EQ(on.warm_up(0), 0);
  CHECK_EQ(off.warm_up(1000), 0);
}
