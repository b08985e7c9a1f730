// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/buffer_budget.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr std::size_t mi = 1 << 20;

struct Taken {
  std::size_t bytes = 0;
  double seconds = 0.0;
};

std::vector<std::size_t> powers_up_to(std::size_t bytes) {
  std::vector<std::size_t> needs{0};
  for (std::size_t size = 2; size <= bytes; size *= 2) needs.push_back(size);
  return needs;
}

// Each step fills its buffers anew, and spends some time around that.
Taken play(BufferBudget budget, double s_per_byte, double around_s) {
  double seconds = 0.0;
  while (const auto bytes = budget.next()) {
    const double took_s = around_s + s_per_byte * static_cast<double>(*bytes);
    seconds += took_s;
    budget.end_step(took_s);
  }
  return {budget.taken(), seconds};
}

}  // namespace

TEST(without_a_bound_all_buffers_are_taken_in_one_step) {
  BufferBudget budget({8, 64 * mi, 0}, 0);
  CHECK_EQ(budget.next().value_or(0), 64 * mi);
  budget.end_step(1e6);
  CHECK(!budget.next());
  CHECK_EQ(budget.taken(), 64 * mi);
}

TEST(no_case_needs_no_buffers) {
  CHECK(!BufferBudget({}, 1).next());
  BufferBudget budget({0, 0}, 1);
  CHECK_EQ(budget.next().value_or(1), 0U);
  budget.end_step(9);
  CHECK(!budget.next());
}

TEST(where_there_is_time_all_buffers_are_taken) {
  for (const double around_s : {0.0, 0.01, 1.0}) {
    CHECK_EQ(play(BufferBudget(powers_up_to(128 * mi), 20), 1e-9, around_s).bytes, 128 * mi);
  }
}

TEST(buffers_take_at_most_half_of_the_time_and_what_is_spent_around_them) {
  // 128 ranks on two cores: 128 MiB of each take ten seconds.
  for (const double seconds : {2.0, 4.0, 10.0}) {
    for (const double around_s : {0.0, 0.05, 0.4}) {
      const Taken taken = play(BufferBudget(powers_up_to(128 * mi), seconds), 8e-8, around_s);
      CHECK(taken.bytes < 128 * mi);
      CHECK(taken.bytes >= mi / 8);
      CHECK(taken.seconds < 8.0 / 7 * seconds / 2 + 4 * around_s);
    }
  }
}

TEST(cases_of_one_size_are_a_single_step) {
  const Taken taken = play(BufferBudget({64 * mi, 64 * mi}, 1), 1e-6, 0);
  CHECK_EQ(taken.bytes, 64 * mi);
}

TEST(a_case_much_larger_than_all_others_is_a_step_of_its_own) {
  CHECK_EQ(play(BufferBudget({8, 16, 128 * mi}, 10), 1e-9, 0).bytes, 128 * mi);
}
