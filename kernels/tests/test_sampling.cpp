// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The sampling algorithm on a fake clock: a visit takes the time that its samples say.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "core/sampling.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr double us = 1000;  // ticks; rules are 1 GHz by default

Chunk chunk_of(unsigned round, std::vector<std::uint64_t> ticks, unsigned taint = 0) {
  Chunk chunk{.round = round, .taint = taint, .first = ticks.front()};
  chunk.slowest = chunk.fastest = chunk.mean = std::move(ticks);
  return chunk;
}

Chunk flat(unsigned round, double ticks, unsigned taint = 0) {
  return chunk_of(round, std::vector<std::uint64_t>(5, static_cast<std::uint64_t>(ticks)), taint);
}

// One cell with chunk medians as given.
Cell cell_of(const std::vector<double>& medians, double resolution = 0) {
  Cell cell(resolution);
  unsigned round = 0;
  for (const double value : medians) cell.add(flat(++round, value));
  return cell;
}

std::vector<std::string_view> flags_of(const Cell& cell, Stop stop = Stop::precise,
                                       const Rules& rules = {}) {
  return summarise(cell, rules, stop, 0.025).flags;
}

bool has(const std::vector<std::string_view>& flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

/// Cells whose calls take a time with noise, visited as the sampling says.
class Bench {
 public:
  Bench(const Rules& rules, std::vector<double> calls_ticks, double noise, Goal goal = {})
      : rules_(rules),
        calls_(std::move(calls_ticks)),
        noise_(noise),
        sampling_(rules, std::vector<Goal>(calls_.size(), goal), 0) {}

  /// Rounds until sampling is over, at most `most`.
  void run(std::size_t most = 2000) {
    while (rounds_.size() < most && step()) {
    }
  }

  /// The same as kernels do it: before visits, as planned, and after the first call of a cell, they
  /// look whether there is time for more.
  void run_asking() {
    for (;;) {
      const Round round = sampling_.next(now_s_);
      if (round.visits.empty()) return;
      for (const Visit& visit : round.visits) {
        if (visit.ask != 0 && sampling_.out_of_time(now_s_)) return;
        if (visit.ask != 0 && !sampling_.is_in_time(visit, now_s_)) {
          if (round.number == 0) sampling_.leave_out(visit.cell);
        } else if (round.number > 0) {
          make(round, visit);
        } else {
          begin(round, visit);
        }
      }
    }
  }
  [[nodiscard]] double now_s() const { return now_s_; }

  bool step() {
    const Round round = sampling_.next(now_s_);
    if (round.visits.empty()) return false;
    rounds_.push_back(round);
    for (const Visit& visit : round.visits) make(round, visit);
    return true;
  }

  Sampling& sampling() { return sampling_; }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  [[nodiscard]] const Cell& cell(std::size_t i) const { return sampling_.cells()[i]; }
  void taint_every(unsigned n, double factor) { taint_every_ = n, factor_ = factor; }
  /// Detours of so many ticks at random moments, which the system tells nothing of.
  void detour(double per_second, double ticks) { hazard_ = per_second, detour_ = ticks; }
  void wait(double seconds) { now_s_ += seconds; }
  [[nodiscard]] double first_visit_s(std::uint32_t cell) const { return first_s_.at(cell); }

 private:
  void begin(const Round& round, const Visit& visit) {
    const double call_s = calls_[visit.cell] / 1e9;
    now_s_ += call_s;
    sampling_.note_first_call(call_s);
    if (!sampling_.has_time_for_one(call_s, now_s_)) return sampling_.leave_out(visit.cell);
    if (!sampling_.is_too_long(visit, call_s, now_s_)) return make(round, visit);
    make(round, {.cell = visit.cell});
  }
  void make(const Round& round, const Visit& visit) {
    const bool disturbed = taint_every_ != 0 && ++visits_ % taint_every_ == 0;
    Chunk chunk{.round = round.number, .taint = disturbed ? 1U : 0U, .calls = visit.calls};
    double all = calls_[visit.cell] * visit.warm;
    for (int i = 0; i < visit.samples; ++i) {
      const double call = calls_[visit.cell] * noise_of() * (disturbed ? factor_ : 1);
      const double sample = call * visit.calls + detours_in(call * visit.calls) * detour_;
      chunk.slowest.push_back(static_cast<std::uint64_t>(sample));
      all += sample;
    }
    chunk.fastest = chunk.mean = chunk.slowest;
    now_s_ += all / rules_.hz;
    if (chunk.round == 0) first_s_[visit.cell] = all / rules_.hz;
    sampling_.add(visit.cell, std::move(chunk), all / rules_.hz);
  }
  double noise_of() { return std::exp(noise_ * normal_(random_)); }
  double detours_in(double ticks) {
    if (hazard_ <= 0) return 0;
    return std::poisson_distribution<int>(hazard_ * ticks / rules_.hz)(random_);
  }

  Rules rules_;
  std::vector<double> calls_;
  double noise_;
  Sampling sampling_;
  std::vector<Round> rounds_;
  double now_s_ = 0;
  unsigned taint_every_ = 0, visits_ = 0;
  double factor_ = 1;
  double hazard_ = 0, detour_ = 0;
  std::map<std::uint32_t, double> first_s_;
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
};

std::vector<std::uint32_t> order_of(const Round& round) {
  std::vector<std::uint32_t> cells;
  for (const Visit& visit : round.visits) cells.push_back(visit.cell);
  return cells;
}

const Visit& visit_to(const Round& round, std::uint32_t cell) {
  return *std::find_if(round.visits.begin(), round.visits.end(),
                       [&](const Visit& visit) { return visit.cell == cell; });
}

/// What was found in a second in which so many detours of so many ticks were to be found.
Detours detours_of(double per_second, double ticks) {
  Detours made;
  made.add(ticks / us * 1e-6, per_second);
  made.observed(1 + per_second * ticks / us * 1e-6, per_second * ticks / us * 1e-6);
  return made;
}

constexpr double forever = 1e9;  // calls of IMB, for cells that shall not run out of budget

}  // namespace

// --- order ---------------------------------------------------------------------------------

TEST(a_round_visits_every_cell_once) {
  Bench bench({.precision = 1e-6}, std::vector<double>(24, us), 1, {forever});
  bench.run(10);
  for (const Round& round : bench.rounds()) {
    auto cells = order_of(round);
    std::sort(cells.begin(), cells.end());
    for (std::uint32_t i = 0; i < 24; ++i) CHECK_EQ(cells[i], i);
  }
}

TEST(the_order_differs_between_rounds_and_comes_from_the_seed) {
  const auto orders = [](std::uint64_t seed) {
    Bench bench({.precision = 1e-6, .seed = seed}, std::vector<double>(24, us), 1, {forever});
    bench.run(5);
    std::vector<std::vector<std::uint32_t>> all;
    for (const Round& round : bench.rounds()) all.push_back(order_of(round));
    return all;
  };
  const auto one = orders(1);
  CHECK_EQ(std::set(one.begin(), one.end()).size(), 5U);
  CHECK(one == orders(1));
  CHECK(one != orders(2));
}

TEST(arms_of_a_case_have_each_turn_once_in_as_many_rounds) {
  // Cells 0 to 3 are arms of one case, 4 to 7 are cases of their own.
  std::vector<Goal> goals(8, Goal{forever});
  for (std::size_t i = 0; i < 4; ++i) goals[i].arms_of = 7;
  Sampling sampling({.precision = 1e-6}, goals, 0);
  std::set<std::pair<std::size_t, std::uint32_t>> turns;
  for (int round = 0; round < 4; ++round) {
    std::size_t turn = 0;
    std::set<std::uint32_t> seen;
    for (const Visit& visit : sampling.next(0).visits) {
      seen.insert(visit.cell);
      if (visit.cell < 4) turns.emplace(turn++, visit.cell);
    }
    CHECK_EQ(seen.size(), 8U);
  }
  CHECK_EQ(turns.size(), 16U);
}

TEST(buffers_are_fresh_after_every_fourth_round) {
  Bench bench({.precision = 1e-6}, {us}, 1, {forever});
  bench.run(18);
  for (const Round& round : bench.rounds()) {
    const bool expected =
        round.number == 5 || round.number == 9 || round.number == 13 || round.number == 17;
    CHECK_EQ(round.fresh_buffers, expected);
  }
}

// --- how a visit is made -------------------------------------------------------------------

TEST(chunks_are_shorter_where_calls_are_longer) {
  Bench bench({.precision = 1e-6}, {us, 50 * us, 500 * us, 2000 * us}, 0, {forever});
  bench.run(2);
  const Round& round = bench.rounds()[1];
  const std::vector<std::pair<int, int>> expected{{20, 20}, {2, 5}, {1, 3}, {1, 1}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Visit& visit = visit_to(round, i);
    CHECK_EQ(visit.warm, expected[i].first);
    CHECK_EQ(visit.samples, expected[i].second);
  }
}

TEST(chunks_change_their_shape_at_20_and_200_us_and_at_1_ms) {
  Bench bench({.precision = 1e-6}, {19.9 * us, 20 * us, 199 * us, 200 * us, 999 * us, 1000 * us}, 0,
              {forever});
  bench.run(2);
  const std::vector<std::pair<int, int>> expected{{20, 20}, {2, 5}, {2, 5}, {1, 3}, {1, 3}, {1, 1}};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    const Visit& visit = visit_to(bench.rounds()[1], i);
    CHECK_EQ(visit.warm, expected[i].first);
    CHECK_EQ(visit.samples, expected[i].second);
  }
}

TEST(long_calls_of_connected_ranks_have_no_untimed_one_before) {
  const Goal connected{.calls_of_imb = forever, .connects = true};
  const std::vector<Goal> goals{connected, connected, Goal{.calls_of_imb = forever}};
  Sampling sampling({.hz = 1e9}, goals, 0);
  CHECK_EQ(sampling.next(0).number, 0U);
  sampling.add(0, flat(0, 19e6), 0.1);
  sampling.add(1, flat(0, 21e6), 0.1);
  sampling.add(2, flat(0, 21e6), 0.1);
  const Round round = sampling.next(0);
  const std::vector<int> expected{1, 0, 1};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    CHECK_EQ(visit_to(round, i).warm, expected[i]);
    CHECK_EQ(visit_to(round, i).samples, 1);
  }
}

TEST(the_first_round_is_short_for_all) {
  Bench bench({}, {us, 50000 * us}, 0);
  bench.run(1);
  for (const Visit& visit : bench.rounds()[0].visits) {
    CHECK(visit.warm == 1 && visit.samples == 3 && visit.calls == 1);
  }
}

TEST(the_first_round_calls_once_where_messages_are_large) {
  Bench bench({}, {500 * us}, 0, {calls_of_imb(1 << 20)});
  bench.run(1);
  const Visit& visit = bench.rounds()[0].visits[0];
  CHECK(visit.warm == 0 && visit.samples == 1 && visit.calls == 1);
}

TEST(short_calls_share_a_pair_of_clock_readings) {
  const Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 2, .precision = 1e-6};
  Bench bench(rules, {30, 499, 501, us}, 0, {forever, true});
  bench.run(8);
  for (std::size_t i = 1; i < bench.rounds().size(); ++i) {
    CHECK_EQ(visit_to(bench.rounds()[i], 0).calls, 17U);  // 20 readings, 500 ticks
    CHECK_EQ(visit_to(bench.rounds()[i], 1).calls, 2U);
    CHECK_EQ(visit_to(bench.rounds()[i], 2).calls, 1U);
    CHECK_EQ(visit_to(bench.rounds()[i], 3).calls, 1U);
  }
}

TEST(a_batch_is_no_longer_than_there_are_buffers_for_it) {
  const Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 2, .precision = 1e-6};
  Bench bench(rules, {30, 300}, 0, {.calls_of_imb = forever, .batched = true, .most_calls = 4});
  bench.run(2);
  CHECK_EQ(visit_to(bench.rounds()[1], 0).calls, 4U);
  CHECK_EQ(visit_to(bench.rounds()[1], 1).calls, 2U);
}

TEST(a_coarse_clock_needs_longer_samples) {
  const Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 1000, .precision = 1e-6};
  Bench bench(rules, {us}, 0, {forever, true});
  bench.run(2);
  CHECK_EQ(bench.rounds()[1].visits[0].calls, 100U);
}

// --- what detours do to it -----------------------------------------------------------------

namespace {

std::uint32_t calls_of_a_sample(const Rules& rules, double call) {
  Bench bench(rules, {call}, 0, {forever});
  bench.run(2);
  return bench.rounds()[1].visits[0].calls;
}

}  // namespace

TEST(the_step_of_the_clock_asks_for_no_samples_that_detours_often_hit) {
  Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 1000, .precision = 1e-6};
  CHECK_EQ(calls_of_a_sample(rules, us), 100U);
  rules.detours = detours_of(1000, 2 * us);
  CHECK_EQ(calls_of_a_sample(rules, us), 52U);  // 95 of 100 are not hit: 51.3 us
  rules.cores = 2;
  CHECK_EQ(calls_of_a_sample(rules, us), 26U);
  rules.cores = 64;
  CHECK_EQ(calls_of_a_sample(rules, us), 25U);  // a quarter is the least
  CHECK_NEAR(longest_calm_s(rules), 51.3e-6 / 64, 0.01e-6);
}

TEST(rare_detours_change_no_sample) {
  Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 1000, .precision = 1e-6};
  rules.detours = detours_of(100, 2 * us);
  CHECK_EQ(calls_of_a_sample(rules, us), 100U);
}

TEST(no_sample_is_shorter_than_the_cost_of_the_clock_allows) {
  Rules rules{.clock_cost_ticks = 25, .clock_step_ticks = 2, .precision = 1e-6, .cores = 1024};
  CHECK_EQ(calls_of_a_sample(rules, 30), 17U);
  rules.detours = detours_of(100'000, 2 * us);
  CHECK_EQ(calls_of_a_sample(rules, 30), 17U);
}

TEST(the_fastest_call_of_the_first_round_settles_the_batch) {
  Sampling sampling({.clock_cost_ticks = 25}, {{forever, true}}, 0);
  sampling.next(0);
  sampling.add(0, chunk_of(0, {5000, 900, 100}), 0);
  CHECK_EQ(sampling.next(0).visits[0].calls, 5U);
}

TEST(the_batch_of_a_cell_is_settled_once) {
  Bench bench({.precision = 1e-6}, {40}, 0.5, {forever, true});
  bench.run(50);
  std::set<std::uint32_t> batches;
  for (std::size_t i = 1; i < 50; ++i) batches.insert(bench.rounds()[i].visits[0].calls);
  CHECK_EQ(batches.size(), 1U);
}

TEST(calls_that_start_together_are_never_batched) {
  Bench bench({.clock_cost_ticks = 25, .precision = 1e-6}, {10}, 0, {forever, false});
  bench.run(5);
  for (const Round& round : bench.rounds()) CHECK_EQ(round.visits[0].calls, 1U);
}

TEST(ranks_look_up_at_least_every_fifth_of_a_second) {
  Bench bench({.precision = 1e-6}, std::vector<double>(100, 10000 * us), 0, {forever});
  bench.run(3);
  for (std::size_t i = 1; i < 3; ++i) {
    double since = 0;
    for (const Visit& visit : bench.rounds()[i].visits) {
      since = visit.ask != 0 ? 0 : since + 0.01 * (visit.warm + visit.samples);
      CHECK(since < 0.25);
    }
    const auto& visits = bench.rounds()[i].visits;
    CHECK_EQ(visits[0].ask, 1U);
    // Each visit takes 0.02 s, so that every tenth one asks, or every eleventh.
    const auto asks =
        std::count_if(visits.begin(), visits.end(), [](const Visit& visit) { return visit.ask; });
    CHECK(asks >= 9 && asks <= 11);
  }
}

TEST(the_first_round_asks_now_and_then_too) {
  Bench bench({}, std::vector<double>(64, us), 0);
  bench.run(1);
  const auto& visits = bench.rounds()[0].visits;
  CHECK_EQ(std::count_if(visits.begin(), visits.end(), [](const Visit& v) { return v.ask; }), 32);
}

// --- when it stops -------------------------------------------------------------------------

TEST(a_quiet_cell_stops_after_the_least_rounds) {
  Bench bench({}, {us}, 1e-4);
  bench.run();
  CHECK_EQ(bench.cell(0).rounds(), 6U);
  CHECK(bench.sampling().stopped(0) == Stop::precise);
  CHECK_EQ(word(bench.sampling().stopped(0)), "precise");
}

TEST(a_noisy_cell_goes_on_until_it_is_precise) {
  Bench bench({.precision = 0.05}, {us}, 0.3, {forever});
  bench.run();
  CHECK(bench.cell(0).rounds() > 6);
  CHECK(bench.sampling().stopped(0) == Stop::precise);
  CHECK(bench.cell(0).estimate().error() <= 0.025);
}

TEST(finished_cells_are_left_alone) {
  Bench bench({.precision = 0.02}, {us, us}, 0, {forever});
  bench.run(1);
  for (unsigned round = 1; round <= 6; ++round) bench.sampling().add(1, flat(round, us), 1e-6);
  CHECK(bench.sampling().unfinished() == std::vector<std::uint8_t>({1, 0}));
  CHECK_EQ(order_of(bench.sampling().next(0)), (std::vector<std::uint32_t>{0}));
}

TEST(a_cell_that_another_group_wants_goes_on) {
  Bench bench({}, {us, us}, 0);
  bench.run();
  CHECK(bench.sampling().next(0).visits.empty());
  CHECK_EQ(order_of(bench.sampling().next(0, {0, 1})), (std::vector<std::uint32_t>{1}));
}

TEST(no_cell_takes_much_more_time_than_imb_would) {
  Bench bench({.precision = 1e-6}, {us}, 0.5, {100});
  bench.run();
  CHECK(bench.sampling().stopped(0) == Stop::budget);
  const double budget = 2.1 * 100 * us, visit = 40 * us;
  CHECK(bench.cell(0).spent() >= budget * 0.8);
  CHECK(bench.cell(0).spent() <= std::max(budget, 6 * visit) * 1.3 + 2 * visit);
}

TEST(the_target_is_half_the_precision_but_no_less_than_2_percent) {
  const auto target = [](double precision) {
    return Sampling({.precision = precision}, {{}}, 0).target();
  };
  CHECK_EQ(target(0.10), 0.05);
  CHECK_EQ(target(0.05), 0.025);
  CHECK_EQ(target(0.01), 0.02);
}

TEST(waiting_for_the_start_is_no_time_of_the_call) {
  const auto rounds = [](double wait_ticks) {
    Bench bench({.precision = 1e-6}, {us}, 0.5, {.calls_of_imb = 100, .wait_ticks = wait_ticks});
    bench.run();
    return bench.cell(0).rounds();
  };
  CHECK(rounds(9 * us) > 5 * rounds(0));
}

TEST(the_budget_is_2_1_times_the_calls_of_imb) {
  // Visits of 0.1 ms, whose median is 1.5 us: 1000 calls of IMB are 1.5 ms, so 3.15 ms are enough.
  const auto stop_after = [](unsigned rounds, Goal goal) {
    Sampling sampling({}, {goal}, 0);
    for (unsigned i = 1; i <= rounds; ++i) sampling.add(0, flat(i, i % 2 == 0 ? us : 2 * us), 1e-4);
    return sampling.finished(0);
  };
  CHECK(!stop_after(30, {1000}) && stop_after(32, {1000}));
  const Goal waits{.calls_of_imb = 1000, .wait_ticks = 1.5 * us};
  CHECK(!stop_after(62, waits) && stop_after(64, waits));
  const Goal own_time{.calls_of_imb = 1000, .most_s = 0.002};
  CHECK(!stop_after(18, own_time) && stop_after(20, own_time));
}

TEST(a_cell_may_have_a_time_of_its_own) {
  Bench bench({.precision = 1e-6}, {1000 * us, 1000 * us}, 0.5,
              {.calls_of_imb = forever, .most_s = 0.1});
  bench.run();
  CHECK(bench.sampling().stopped(0) == Stop::budget);
  CHECK(bench.cell(0).spent() >= 0.1 / 1e-9 && bench.cell(0).spent() < 0.15 / 1e-9);
}

TEST(no_cell_takes_longer_than_it_may) {
  const double second = 1e9;  // ticks
  for (const double call : {0.01, 0.15, 0.4, 1.4, 30.0}) {
    Bench bench({.precision = 1e-6, .cell_seconds = 1}, {call * second, us}, 0.1, {});
    bench.run();
    const double first = bench.first_visit_s(0), taken = bench.cell(0).taken() / second;
    CHECK(bench.sampling().stopped(0) == Stop::budget);
    CHECK(!bench.cell(0).empty());
    CHECK(taken <= std::max(1.0, first) * 1.1 + 2 * call * 0.1);
    // Nothing is given away: another visit would have been too long.
    CHECK(taken + 3 * call * 1.2 > 1);
    CHECK(bench.cell(1).rounds() >= 6);  // others have their own time
  }
}

TEST(a_first_visit_is_a_single_call_where_more_would_take_too_long) {
  const Sampling sampling({.cell_seconds = 1}, {{}}, 0);
  const Visit first{.warm = 1, .samples = 3};
  CHECK(!sampling.is_too_long(first, 0.25, 0));
  CHECK(sampling.is_too_long(first, 0.26, 0));
  CHECK(!sampling.is_too_long({}, 100, 0));  // one call is made in any case
  CHECK(!Sampling({}, {{}}, 0).is_too_long(first, 100, 0));
}

TEST(a_first_visit_is_a_single_call_where_more_would_end_too_late) {
  const Sampling sampling({.seconds = 20}, {{}}, 100);
  const Visit first{.warm = 1, .samples = 3};
  CHECK(!sampling.is_too_long(first, 1.8, 110));
  CHECK(sampling.is_too_long(first, 1.8, 113));
  CHECK(sampling.has_time_for(1.8, 118));
  CHECK(!sampling.has_time_for(1.8, 118.5));
  CHECK(Sampling({}, {{}}, 0).has_time_for(1e9, 1e9));
}

TEST(slow_cells_end_in_time_and_those_that_do_not_fit_are_left_out) {
  const double second = 1e9;  // ticks
  for (const double call : {0.05, 0.4, 1.8, 7.0}) {
    Bench bench({.precision = 1e-6, .seconds = 20}, std::vector<double>(25, call * second), 0.1);
    bench.run_asking();
    // The time is kept, but for what a call took longer than the one before.
    CHECK(bench.now_s() < 1.2 * 20 + 0.5 * call);
    std::size_t empty = 0;
    for (std::size_t i = 0; i < 25; ++i) {
      if (bench.cell(i).empty()) ++empty;
      CHECK(bench.sampling().stopped(i) == Stop::time);
    }
    CHECK_EQ(empty > 0, 5 * call * 25 > 20);  // a first visit is five calls
    CHECK(empty < 25);
  }
}

TEST(the_first_cell_of_all_gets_a_timed_call) {
  Sampling sampling({.seconds = 1}, {{}, {}}, 0);
  sampling.next(0);
  CHECK(sampling.has_time_for_one(30, 30));
  sampling.add(0, flat(0, 1e9), 1);
  CHECK(!sampling.has_time_for_one(30, 30));
  CHECK(sampling.has_time_for_one(0.4, 1.0));
  CHECK(!sampling.has_time_for_one(0.6, 1.0));
}

TEST(what_was_left_out_at_first_is_not_visited_later) {
  Sampling sampling({.seconds = 10}, {{}, {}}, 0);
  const Round first = sampling.next(0);
  CHECK_EQ(first.visits.size(), 2U);
  sampling.add(first.visits[0].cell, flat(0, 1e9), 1);
  sampling.leave_out(first.visits[1].cell);
  for (const Visit& visit : sampling.next(2).visits) CHECK_EQ(visit.cell, first.visits[0].cell);
}

TEST(sampling_is_over_when_no_visit_would_end_in_time) {
  Sampling sampling({.precision = 1e-6, .seconds = 10}, {{}}, 0);
  sampling.next(0);
  sampling.add(0, flat(0, 4e9), 4);
  CHECK_EQ(sampling.next(4).visits.size(), 0U);
  CHECK(sampling.stopped(0) == Stop::time);
  Sampling fitting({.precision = 1e-6, .seconds = 10}, {{}}, 0);
  fitting.next(0);
  fitting.add(0, flat(0, 1e9), 1);
  CHECK_EQ(fitting.next(4).visits.size(), 1U);
}

TEST(calls_that_are_completed_together_are_fewer_where_they_are_long) {
  const auto calls = [](double call_s) {
    Sampling sampling({.cell_seconds = 1}, {{.calls = 1000}, {}}, 0);
    sampling.shorten(0, call_s);
    sampling.shorten(1, call_s);
    const Round round = sampling.next(0);
    CHECK_EQ(visit_to(round, 1).calls, 1U);
    return visit_to(round, 0).calls;
  };
  CHECK_EQ(calls(1e-6), 1000U);
  CHECK_EQ(calls(1e-3), 83U);
  CHECK_EQ(calls(1.4), 1U);
}

TEST(a_cell_without_a_bound_takes_what_it_needs) {
  Bench bench({.precision = 1e-6}, {1e8}, 0.1, {20});
  bench.run();
  CHECK(bench.cell(0).taken() > 3e9);
}

TEST(time_ends_sampling) {
  Bench bench({.precision = 1e-6, .seconds = 0.01}, {us, us}, 0.5, {forever});
  bench.run();
  CHECK(bench.rounds().size() < 2000);
  CHECK(bench.sampling().stopped(0) == Stop::time);
  CHECK(bench.sampling().out_of_time(0.01) && !bench.sampling().out_of_time(0.0099));
}

TEST(without_seconds_there_is_no_end_of_time) {
  CHECK(!Sampling({.seconds = 0}, {{}}, 0).out_of_time(1e9));
}

TEST(one_cell_is_visited_however_late_it_is_where_that_is_wanted) {
  for (const bool at_least_one : {false, true}) {
    Sampling sampling({.hz = 1e9, .seconds = 1, .at_least_one = at_least_one}, {{}, {}}, 0);
    const Round round = sampling.next(5);
    CHECK_EQ(round.visits.size(), at_least_one ? 2U : 0U);
    if (!at_least_one) continue;
    const auto [first, second] = std::array{round.visits[0], round.visits[1]};
    CHECK(!sampling.out_of_time(5) && sampling.is_in_time(first, 5));
    sampling.add(first.cell, flat(0, 1e8), 0.1);
    CHECK(sampling.out_of_time(5) && !sampling.is_in_time(second, 5));
    CHECK(sampling.next(6).visits.empty());
  }
}

TEST(time_counts_from_the_start_of_sampling) {
  const Sampling sampling({.seconds = 1}, {{}}, 100);
  CHECK(!sampling.out_of_time(100.9) && sampling.out_of_time(101));
}

TEST(an_interrupt_ends_sampling_and_what_is_there_stays) {
  Bench bench({.precision = 1e-6}, {us, us}, 0.5, {forever});
  bench.run(4);
  bench.sampling().interrupt();
  CHECK(!bench.step());
  CHECK(bench.sampling().interrupted());
  CHECK(bench.sampling().stopped(0) == Stop::interrupted);
  CHECK_EQ(bench.cell(0).rounds(), 3U);
}

TEST(a_cell_that_was_precise_before_the_interrupt_says_so) {
  Bench bench({}, {us}, 1e-4);
  bench.run();
  bench.sampling().interrupt();
  CHECK(bench.sampling().stopped(0) == Stop::precise);
}

TEST(all_of_the_time_goes_to_the_wider_half) {
  Bench bench({.seconds = 1, .use_all = true}, {us, us, us, us}, 0, {});
  bench.run(7);  // the discarded round and six more, all alike
  for (unsigned round = 7; round < 10; ++round) {
    bench.sampling().add(2, flat(round, (round % 2 == 0 ? 5 : 0.5) * us), 1e-6);
    bench.sampling().add(3, flat(round, (round % 2 == 0 ? 2 : 0.7) * us), 1e-6);
  }
  bench.sampling().add(2, flat(10, 9 * us), 1e-6);
  bench.sampling().add(3, flat(10, 3 * us), 1e-6);
  for (unsigned round = 11; round < 30; ++round) {
    for (const std::size_t wide : {2U, 3U}) {
      bench.sampling().add(wide, flat(round, (round % 2 == 0 ? 4 : 0.5) * us), 1e-6);
    }
  }
  auto cells = order_of(bench.sampling().next(0));
  std::sort(cells.begin(), cells.end());
  CHECK_EQ(cells, (std::vector<std::uint32_t>{2, 3}));
}

TEST(the_wider_half_of_three_cells_is_two) {
  Bench bench({.seconds = 1, .use_all = true}, {us, us, us}, 0.1, {});
  bench.run(8);
  CHECK_EQ(bench.rounds()[6].visits.size(), 3U);  // no cell had an interval before
  CHECK_EQ(bench.rounds()[7].visits.size(), 2U);
}

TEST(all_of_the_time_is_used_though_all_is_precise) {
  Bench bench({.seconds = 0.02, .use_all = true}, {us, us}, 1e-4);
  bench.run(100000);
  CHECK(bench.rounds().size() > 100);
  CHECK(bench.sampling().stopped(0) == Stop::precise);
}

TEST(a_cell_whose_ranks_never_start_in_time_does_not_go_on_for_ever) {
  Sampling sampling({}, {{}}, 0);
  int rounds = 0;
  for (Round round = sampling.next(0); !round.visits.empty() && rounds < 10000; ++rounds) {
    sampling.add(0, flat(round.number, us, platform::Taint::missed), 1e-6);
    round = sampling.next(0);
  }
  CHECK_EQ(rounds, 101);  // the discarded one, and a hundred without a start
  CHECK_EQ(sampling.cells()[0].rounds(), 0U);
  CHECK(sampling.stopped(0) == Stop::budget);
}

TEST(a_cell_goes_on_while_as_many_visits_start_as_do_not) {
  Sampling sampling({}, {{forever}}, 0);
  for (unsigned i = 1; i <= 100; ++i) {
    sampling.add(0, flat(i, i % 2 == 0 ? us : 2 * us), 1e-6);
    sampling.add(0, flat(i, us, platform::Taint::missed), 1e-6);
  }
  CHECK(!sampling.finished(0));
  sampling.add(0, flat(101, us, platform::Taint::missed), 1e-6);
  CHECK(sampling.stopped(0) == Stop::budget);
}

// --- what is made of the samples -----------------------------------------------------------

TEST(the_value_is_the_median_of_the_medians_of_chunks) {
  Cell cell;
  cell.add(chunk_of(1, {1, 2, 90}));
  cell.add(chunk_of(2, {4, 5, 90}));
  cell.add(chunk_of(3, {3, 3, 90}));
  CHECK_EQ(cell.estimate().value, 3.0);
  CHECK_EQ(cell.samples(), 9U);
}

TEST(batched_samples_count_per_call) {
  Cell cell;
  Chunk chunk = chunk_of(1, {100, 100, 100});
  chunk.calls = 10;
  cell.add(chunk);
  CHECK_EQ(cell.estimate().value, 10.0);
}

TEST(an_interval_needs_six_chunks) {
  CHECK(!cell_of({1, 2, 3, 4, 5}).estimate().has_interval);
  CHECK(std::isinf(cell_of({1, 2, 3, 4, 5}).estimate().error()));
  const Estimate estimate = cell_of({100, 101, 102, 103, 104, 105}).estimate();
  CHECK(estimate.has_interval);
  CHECK_EQ(estimate.interval.low, 100.0);
  CHECK_EQ(estimate.interval.high, 105.0);
}

TEST(no_interval_is_narrower_than_the_step_of_the_clock) {
  const Estimate estimate = cell_of(std::vector<double>(10, 100), 20).estimate();
  CHECK_EQ(estimate.interval.low, 90.0);
  CHECK_EQ(estimate.interval.high, 110.0);
}

TEST(a_batch_divides_the_step_of_the_clock) {
  Cell cell(20);
  for (unsigned round = 1; round <= 6; ++round) {
    Chunk chunk = flat(round, 1000);
    chunk.calls = 10;
    cell.add(chunk);
  }
  CHECK_EQ(cell.estimate().interval.high - cell.estimate().interval.low, 2.0);
}

TEST(clean_chunks_are_preferred) {
  Cell cell;
  for (unsigned round = 1; round <= 6; ++round) cell.add(flat(round, 100));
  for (unsigned round = 7; round <= 20; ++round) cell.add(flat(round, 500, 1));
  CHECK_EQ(cell.estimate().value, 100.0);
  CHECK_EQ(cell.medians().size(), 6U);
  CHECK_NEAR(cell.tainted_ratio(), 0.7, 1e-12);
}

TEST(too_few_clean_chunks_are_not_trusted_alone) {
  Cell few;
  for (unsigned round = 1; round <= 5; ++round) few.add(flat(round, 100));
  for (unsigned round = 6; round <= 12; ++round) few.add(flat(round, 500, 1));
  CHECK_EQ(few.estimate().value, 500.0);
  Cell rare;
  for (unsigned round = 1; round <= 6; ++round) rare.add(flat(round, 100));
  for (unsigned round = 7; round <= 40; ++round) rare.add(flat(round, 500, 2));
  CHECK_EQ(rare.estimate().value, 500.0);
}

TEST(a_quarter_of_clean_chunks_is_enough) {
  Cell cell;
  for (unsigned round = 1; round <= 6; ++round) cell.add(flat(round, 100));
  for (unsigned round = 7; round <= 24; ++round) cell.add(flat(round, 500, 1));
  CHECK_EQ(cell.estimate().value, 100.0);
  cell.add(flat(25, 500, 1));
  CHECK_EQ(cell.estimate().value, 500.0);
}

TEST(a_summary_has_the_time_from_each_rank_s_own_arrival) {
  Cell cell;
  for (unsigned round = 1; round <= 7; ++round) {
    Chunk chunk = flat(round, 1000, round == 7 ? 1 : 0);
    chunk.own = {100 * round, 200 * round, 600 * round};
    cell.add(chunk);
  }
  const Summary s = summarise(cell, {}, Stop::precise, 0.025);
  CHECK_NEAR(s.time_own_s, 700e-9, 1e-15);        // of rounds 1 to 6
  CHECK_NEAR(s.time_own_mean_s, 1200e-9, 1e-15);  // of all seven: 300 * 4
  CHECK(std::isnan(summarise(cell_of({100}), {}, Stop::precise, 0.025).time_own_s));
}

TEST(a_summary_has_the_overlap_of_each_visit) {
  // 60 and 50 together are 110: in 80 of them 30 are hidden, half of the 60; with help 50 of 60.
  Cell cell;
  for (unsigned round = 1; round <= 6; ++round) {
    Chunk chunk = flat(round, 80);
    chunk.parts[static_cast<std::size_t>(Part::pure)] = {60};
    chunk.parts[static_cast<std::size_t>(Part::cpu)] = {50};
    chunk.parts[static_cast<std::size_t>(Part::progress)] = {60};
    cell.add(chunk);
  }
  const Summary s = summarise(cell, {}, Stop::precise, 0.025);
  CHECK_NEAR(s.time_pure_s, 60e-9, 1e-15);
  CHECK_NEAR(s.time_cpu_s, 50e-9, 1e-15);
  CHECK_NEAR(s.time_progress_s, 60e-9, 1e-15);
  CHECK_NEAR(s.overlap_ratio, 0.5, 1e-12);
  CHECK_NEAR(s.overlap_low_ratio, 0.5, 1e-12);
  CHECK_NEAR(s.overlap_high_ratio, 0.5, 1e-12);
  CHECK_NEAR(s.overlap_progress_ratio, 50.0 / 60, 1e-12);
  const Summary shorter = summarise(cell, {}, Stop::precise, 0.025, true);
  CHECK_NEAR(shorter.overlap_ratio, 0.6, 1e-12);
  CHECK(std::isnan(s.time_write_s));
}

TEST(disturbed_visits_do_not_move_the_value) {
  Bench bench({.precision = 1e-6}, {us}, 0.01, {forever});
  bench.taint_every(3, 10);
  bench.run(200);
  CHECK_NEAR(bench.cell(0).estimate().value, us, 0.01 * us);
}

TEST(the_first_visit_is_discarded) {
  Bench bench({}, {us}, 0);
  bench.run(1);
  CHECK_EQ(bench.cell(0).rounds(), 0U);
  CHECK_EQ(bench.cell(0).spent(), 0.0);
  CHECK(!bench.cell(0).empty());
  bench.run();
  const auto& chunks = bench.cell(0).chunks();
  CHECK(std::all_of(chunks.begin(), chunks.end(), [](const Chunk& c) { return c.round > 0; }));
}

TEST(the_first_visit_is_the_last_resort) {
  Cell cell;
  cell.set_probe(chunk_of(0, {70, 80}));
  CHECK_EQ(cell.estimate().value, 75.0);
  CHECK(!cell.estimate().has_interval);
  const Summary summary = summarise(cell, {}, Stop::interrupted, 0.025);
  CHECK_EQ(summary.samples, 2U);
  CHECK_NEAR(summary.time_p50_s, 75e-9, 1e-15);
  CHECK(std::isnan(summary.ci_low_s));
  cell.add(flat(1, 50));
  CHECK_EQ(cell.estimate().value, 50.0);
}

TEST(a_summary_is_in_seconds_per_call) {
  Cell cell;
  for (unsigned round = 1; round <= 6; ++round) {
    Chunk chunk{.round = round, .calls = 10, .first = 900};
    chunk.slowest = {1000, 2000, 3000};
    chunk.mean = {900, 1800, 2700};
    chunk.fastest = {500, 1000, 1500};
    cell.add(chunk);
  }
  const Summary s = summarise(cell, {}, Stop::precise, 0.025);
  CHECK_NEAR(s.time_p50_s, 200e-9, 1e-15);
  CHECK_NEAR(s.time_max_s, 200e-9, 1e-15);
  CHECK_NEAR(s.time_avg_s, 180e-9, 1e-15);
  CHECK_NEAR(s.time_min_s, 100e-9, 1e-15);
  CHECK_NEAR(s.time_best_s, 100e-9, 1e-15);
  CHECK_NEAR(s.time_worst_s, 300e-9, 1e-15);
  CHECK_NEAR(s.time_mean_s, 200e-9, 1e-15);
  CHECK_NEAR(s.time_first_s, 900e-9, 1e-15);
  CHECK(s.calls == 10 && s.samples == 18 && s.chunks == 6);
}

namespace {

// Chunks of ranks that differ, on a machine that now and then takes a core away for long.
Cell noisy_cell(std::uint64_t seed, double tainted_share) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> call(std::log(us), 0.3), share(std::log(0.5), 0.3);
  std::uniform_real_distribution<double> chance;
  Cell cell;
  for (unsigned round = 1; round <= 4 + seed % 40; ++round) {
    Chunk chunk{.round = round, .taint = chance(random) < tainted_share ? 1U : 0U};
    const double lost = chunk.taint != 0 ? 20 * chance(random) : 1;
    for (int i = 0; i < 1 + static_cast<int>(seed % 7); ++i) {
      const double slowest = call(random) * lost;
      const double fastest = slowest * std::min(1.0, share(random));
      chunk.slowest.push_back(static_cast<std::uint64_t>(slowest));
      chunk.fastest.push_back(static_cast<std::uint64_t>(fastest));
      chunk.mean.push_back(static_cast<std::uint64_t>((slowest + fastest) / 2));
    }
    cell.add(std::move(chunk));
  }
  return cell;
}

}  // namespace

TEST(columns_of_a_row_are_in_order_whatever_was_left_out) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const double tainted : {0.0, 0.2, 0.6, 0.9, 1.0}) {
      const Summary s = summarise(noisy_cell(seed, tainted), {}, Stop::budget, 0.025);
      CHECK(s.time_min_s <= s.time_avg_s && s.time_avg_s <= s.time_max_s);
      CHECK_EQ(s.time_max_s, s.time_p50_s);
      CHECK(s.time_best_s <= s.time_p01_s && s.time_p01_s <= s.time_p50_s &&
            s.time_p50_s <= s.time_p99_s && s.time_p99_s <= s.time_worst_s);
      CHECK(s.time_best_s <= s.time_mean_s && s.time_mean_s <= s.time_worst_s);
    }
  }
}

TEST(what_the_value_leaves_out_no_other_rank_s_column_has) {
  Cell cell;
  for (unsigned round = 1; round <= 8; ++round) cell.add(flat(round, 100));
  for (unsigned round = 9; round <= 20; ++round) cell.add(flat(round, 900, 1));
  const Summary s = summarise(cell, {}, Stop::precise, 0.025);
  for (const double column :
       {s.time_p50_s, s.time_min_s, s.time_avg_s, s.time_max_s, s.time_first_s}) {
    CHECK_NEAR(column, 100e-9, 1e-15);
  }
  CHECK_NEAR(s.time_worst_s, 900e-9, 1e-15);  // the tails are of everything that happened
}

namespace {

// Visits of which so many found all ranks at the start, and so many did not.
Sampling with_starts(unsigned met, unsigned missed, double missed_ticks) {
  Sampling sampling({}, {Goal()}, 0);
  const unsigned bit = platform::Taint::missed;
  sampling.add(0, flat(0, 2 * us, met == 0 ? bit : 0), 1e-6);
  for (unsigned i = 1; i <= met; ++i) sampling.add(0, flat(i, us), 1e-6);
  for (unsigned i = 1; i <= missed; ++i) sampling.add(0, flat(met + i, missed_ticks, bit), 1e-6);
  return sampling;
}

Summary summary_of(const Sampling& sampling) {
  return summarise(sampling.cells()[0], {}, Stop::time, 0.025);
}

}  // namespace

TEST(a_cell_whose_every_start_was_missed_has_a_row_all_the_same) {
  const Sampling sampling = with_starts(0, 9, 3 * us);
  const Summary s = summary_of(sampling);
  CHECK_NEAR(s.time_p50_s, 3e-6, 1e-12);
  CHECK(s.missed && !std::isnan(s.ci_low_s) && has(s.flags, "tainted"));
  CHECK_EQ(s.chunks, 9U);
  CHECK_EQ(sampling.cells()[0].rounds(), 0U);  // so that it is visited again
  CHECK_EQ(summarise(sampling.cells()[0].with_missed(), {}, Stop::time, 0.025).chunks, 9U);
}

TEST(a_missed_first_visit_is_all_that_there_is_at_worst) {
  const Sampling sampling = with_starts(0, 0, us);
  CHECK(!sampling.cells()[0].empty());
  CHECK_NEAR(summary_of(sampling).time_p50_s, 2e-6, 1e-12);
  CHECK(summary_of(sampling).missed);
}

TEST(missed_starts_count_only_where_others_give_no_interval) {
  const Summary enough = summary_of(with_starts(6, 50, 9 * us));
  CHECK_NEAR(enough.time_p50_s, 1e-6, 1e-12);
  CHECK(!enough.missed && enough.chunks == 6 && enough.tainted_ratio == 0.0);
  const Summary few = summary_of(with_starts(5, 4, 9 * us));
  CHECK(few.missed && !std::isnan(few.ci_low_s) && few.chunks == 9);
  CHECK_NEAR(few.time_p50_s, 1e-6, 1e-12);
}

TEST(a_hundred_visits_without_a_start_are_kept) {
  CHECK_EQ(summary_of(with_starts(0, 100, us)).chunks, 100U);
  CHECK_EQ(summary_of(with_starts(0, 101, us)).chunks, 100U);
}

TEST(a_long_call_whose_first_start_was_missed_is_known_to_be_long) {
  Sampling sampling({}, {Goal()}, 0);
  CHECK_EQ(sampling.next(0).number, 0U);
  sampling.add(0, flat(0, 1e8, platform::Taint::missed), 0.1);
  const Visit visit = sampling.next(0).visits.front();
  CHECK(visit.warm == 1 && visit.samples == 1);
}

TEST(a_summary_of_nothing_is_empty) {
  CHECK_EQ(summarise(Cell(), {}, Stop::time, 0.025).samples, 0U);
}

// --- flags ---------------------------------------------------------------------------------

TEST(a_good_cell_has_no_flags) {
  Bench bench({.precision = 1e-6}, {us}, 0.01, {forever});
  bench.run(60);
  CHECK(flags_of(bench.cell(0)).empty());
}

TEST(disturbed_chunks_are_flagged) {
  Cell cell = cell_of(std::vector<double>(50, us));
  CHECK(!has(flags_of(cell), "tainted"));
  cell.add(flat(51, us, 4));
  CHECK(has(flags_of(cell), "tainted"));
}

TEST(a_hundredth_of_disturbed_chunks_is_not_flagged) {
  Cell cell = cell_of(std::vector<double>(98, us));
  cell.add(flat(99, us, 4));
  CHECK(has(flags_of(cell), "tainted"));
  for (unsigned round = 100; round <= 101; ++round) cell.add(flat(round, us));
  CHECK(!has(flags_of(cell), "tainted"));
}

TEST(drift_is_a_change_of_two_percent_that_is_no_chance) {
  const auto drifts = [](const std::vector<double>& percent) {
    std::vector<double> medians;
    for (const double each : percent) medians.push_back(1000 * us * (1 + each / 100));
    return has(flags_of(cell_of(medians)), "drift");
  };
  const auto steps = [](int n, double height) {
    std::vector<double> values(static_cast<std::size_t>(n), 0.0);
    std::fill(values.end() - n / 2, values.end(), height);
    return values;
  };
  CHECK(drifts(steps(30, 3)) && drifts(steps(30, -3)));
  CHECK(!drifts(steps(30, 1.5)) && !drifts(steps(30, -1.5)));
  CHECK(drifts(steps(12, 9)));   // four against four: p = 0.008
  CHECK(!drifts(steps(11, 9)));  // three against three: p = 0.025
  // Rank sum 16 of mean 27.5, variance 22.9: p = 0.016.
  CHECK(!drifts({1, 2, 3, 4, 6, 5, 5, 5, 5, 5, 5.5, 7, 8, 9, 10}));
}

TEST(drift_is_flagged) {
  std::vector<double> medians;
  for (int i = 0; i < 30; ++i) medians.push_back(us * (1 + 0.005 * i) + i % 3);
  CHECK(has(flags_of(cell_of(medians)), "drift"));
  for (int i = 0; i < 30; ++i) medians[static_cast<std::size_t>(i)] = us * (1 + 0.0003 * i);
  CHECK(!has(flags_of(cell_of(medians)), "drift"));  // real, but too small to matter
}

TEST(two_groups_are_flagged) {
  std::vector<double> medians;
  for (int i = 0; i < 40; ++i) medians.push_back(us * (i % 2 == 0 ? 1.0 : 1.5) + i);
  CHECK(has(flags_of(cell_of(medians)), "bimodal"));
}

namespace {

// Whether cells of one sample in each visit are in two groups.
bool bimodal_samples(const std::vector<std::uint64_t>& samples, double step = 1) {
  Cell cell;
  unsigned round = 0;
  for (const auto sample : samples) cell.add(chunk_of(++round, {sample}));
  return has(flags_of(cell, Stop::precise, {.clock_step_ticks = step}), "bimodal");
}

std::vector<std::uint64_t> in_turn(std::size_t n, std::uint64_t low, std::uint64_t high) {
  std::vector<std::uint64_t> samples(n, low);
  for (std::size_t i = 1; i < n; i += 2) samples[i] = high;
  return samples;
}

}  // namespace

TEST(two_groups_are_of_eight_values_and_a_tenth_apart) {
  CHECK(bimodal_samples(in_turn(8, 1000, 1500)));
  CHECK(!bimodal_samples(in_turn(7, 1000, 1500)));
  CHECK(bimodal_samples(in_turn(20, 1000, 1120)));   // 120 of a median of 1060
  CHECK(!bimodal_samples(in_turn(20, 1000, 1090)));  // 90 of 1045
}

TEST(a_group_has_a_seventh_of_the_values) {
  std::vector<std::uint64_t> samples(20, 1000);
  samples[4] = samples[14] = 10000;
  CHECK(!bimodal_samples(samples));
  samples[9] = 10000;
  CHECK(bimodal_samples(samples));
  for (auto& sample : samples) sample = sample == 1000 ? 10000 : 1000;
  CHECK(bimodal_samples(samples));
}

TEST(a_gap_between_groups_is_half_of_the_spread) {
  const auto groups = [](std::uint64_t apart) {
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = 0; i < 10; ++i) {
      samples.push_back(1000 + i * apart);
      samples.push_back(1300 + 9 * apart + (9 - i) * apart);
    }
    return samples;
  };
  CHECK(bimodal_samples(groups(14)));   // 300 of 499
  CHECK(!bimodal_samples(groups(32)));  // 300 of 754
}

TEST(groups_in_a_visit_are_three_steps_of_the_clock_apart) {
  const auto groups = [](double step, std::uint32_t calls) {
    Cell cell;
    for (unsigned round = 1; round <= 10; ++round) {
      Chunk chunk = chunk_of(round, {1000, 1300, 1000, 1300, 1000});
      chunk.calls = calls;
      cell.add(chunk);
    }
    return has(flags_of(cell, Stop::precise, {.clock_step_ticks = step}), "bimodal");
  };
  for (const std::uint32_t calls : {1U, 2U}) CHECK(groups(90, calls) && !groups(110, calls));
}

TEST(phases_are_flagged) {
  std::vector<double> medians;
  for (int i = 0; i < 40; ++i) medians.push_back(us * (i / 10 % 2 == 0 ? 1.0 : 1.3) + i);
  CHECK(has(flags_of(cell_of(medians)), "bimodal"));
}

// Without a gap between fast and slow visits: neighbours are more alike than others.
TEST(visits_that_get_slower_and_faster_by_and_by_are_flagged) {
  const auto waves = [](double period) {
    std::vector<double> medians;
    for (int i = 0; i < 60; ++i) medians.push_back(us * (1 + 0.2 * std::sin(6.2832 * i / period)));
    return flags_of(cell_of(medians));
  };
  CHECK(has(waves(6.4), "bimodal"));
  CHECK(!has(waves(5.6), "bimodal"));  // a correlation of 0.43
}

TEST(two_groups_are_flagged_though_one_is_left_out) {
  Cell cell;
  for (unsigned round = 1; round <= 40; ++round) {
    const bool disturbed = round % 2 == 0;
    cell.add(flat(round, us * (disturbed ? 1.5 : 1) + round, disturbed ? 1 : 0));
  }
  CHECK_NEAR(cell.estimate().value, us, 0.05 * us);
  CHECK(has(flags_of(cell), "bimodal"));
}

TEST(two_groups_in_each_visit_are_flagged) {
  Cell cell;
  for (unsigned round = 1; round <= 40; ++round) {
    cell.add(chunk_of(round, {1000 + round, 1400 + round, 1010 + round, 1390, 1405, 1395, 1002}));
  }
  CHECK(has(flags_of(cell), "bimodal"));
}

TEST(steps_of_a_coarse_clock_are_no_groups) {
  Cell cell(40);
  for (unsigned round = 1; round <= 40; ++round) cell.add(chunk_of(round, {80, 120, 80, 120, 80}));
  CHECK(!has(flags_of(cell, Stop::precise, {.clock_step_ticks = 40}), "bimodal"));
}

TEST(one_outlier_is_no_second_group) {
  std::vector<double> medians(40, us);
  medians[20] = 3 * us;
  CHECK(!has(flags_of(cell_of(medians)), "bimodal"));
}

TEST(what_did_not_converge_is_flagged) {
  const Cell wide = cell_of({100, 110, 120, 130, 140, 150});
  CHECK(has(flags_of(wide, Stop::budget), "unconverged"));
  CHECK(has(flags_of(cell_of({100, 100}), Stop::time), "unconverged"));
  const Cell narrow = cell_of(std::vector<double>(6, 100));
  CHECK(!has(flags_of(narrow, Stop::time), "unconverged"));
}

TEST(what_just_reaches_its_target_has_converged_however_it_ended) {
  const Cell cell = cell_of({1000, 1001, 1002, 1003, 1004, 1005, 1006});
  const double error = cell.estimate().error();
  CHECK(error > 0 && error < 0.025);
  for (const Stop stop : {Stop::time, Stop::budget, Stop::interrupted, Stop::precise}) {
    CHECK(!has(flags_of(cell, stop), "unconverged"));
    CHECK(!has(summarise(cell, {}, stop, error).flags, "unconverged"));
    const bool misses = has(summarise(cell, {}, stop, 0.99 * error).flags, "unconverged");
    CHECK_EQ(misses, stop != Stop::precise);
  }
}

TEST(calls_near_the_cost_of_the_clock_are_flagged) {
  const Rules rules{.clock_cost_ticks = 30};
  CHECK(has(flags_of(cell_of(std::vector<double>(6, 100)), Stop::precise, rules), "clock"));
  CHECK(!has(flags_of(cell_of(std::vector<double>(6, 200)), Stop::precise, rules), "clock"));
  CHECK(has(flags_of(cell_of(std::vector<double>(6, 149)), Stop::precise, rules), "clock"));
  CHECK(!has(flags_of(cell_of(std::vector<double>(6, 151)), Stop::precise, rules), "clock"));
  Cell batched;
  Chunk chunk = flat(1, 200);
  chunk.calls = 10;  // 20 ticks each, read once in ten calls
  batched.add(chunk);
  CHECK(!has(flags_of(batched, Stop::precise, rules), "clock"));
}

namespace {

// A call of 500 us on a core that is taken 1500 times a second for 40 us, until IMB's time is over;
// `known`: how often that is thought to be.
std::vector<std::string_view> flags_beside_detours(double known, double noise = 1e-3) {
  Rules rules{.precision = 0.01};
  if (known > 0) rules.detours = detours_of(known, 40 * us);
  Bench bench(rules, {500 * us}, noise, {20});
  bench.detour(1500, 40 * us);
  bench.run();
  CHECK(bench.sampling().stopped(0) == Stop::budget);
  return flags_of(bench.cell(0), Stop::budget, rules);
}

}  // namespace

TEST(a_spread_that_detours_make_is_flagged) {
  const auto flags = flags_beside_detours(1500);
  CHECK(has(flags, "detours") && has(flags, "unconverged"));
}

TEST(a_spread_is_not_laid_to_detours_that_nobody_found) {
  CHECK(!has(flags_beside_detours(0), "detours"));
}

TEST(more_slow_samples_than_detours_are_somebody_else_s) {
  CHECK(!has(flags_beside_detours(300), "detours"));
}

TEST(a_spread_that_is_there_without_detours_is_not_laid_to_them) {
  CHECK(!has(flags_beside_detours(1500, 0.2), "detours"));
}

// Half of a short detour is less than the precision of long calls, which is what counts then.
TEST(what_is_longer_than_any_detour_is_not_laid_to_them) {
  Rules rules;
  rules.detours = detours_of(1500, 40 * us);
  std::vector<double> times(40, 10'000 * us);
  for (std::size_t i = 0; i < times.size(); i += 5) times[i] = times[i + 2] = 10'300 * us;
  const Cell cell = cell_of(times);
  CHECK(cell.estimate().error() > 0.01);
  CHECK(!has(summarise(cell, rules, Stop::budget, 0.01).flags, "detours"));
}

TEST(what_is_precise_needs_no_excuse) {
  Rules rules;
  rules.detours = detours_of(1000, 40 * us);
  CHECK(
      !has(flags_of(cell_of(std::vector<double>(12, 350 * us)), Stop::precise, rules), "detours"));
}

TEST(a_slow_first_call_is_flagged) {
  const auto with_first = [](double first, double value, unsigned rounds = 6) {
    Cell cell;
    for (unsigned round = 1; round <= rounds; ++round) {
      Chunk chunk = flat(round, value);
      chunk.first = static_cast<std::uint64_t>(first);
      cell.add(chunk);
    }
    return has(flags_of(cell), "cold-sensitive");
  };
  CHECK(with_first(40 * us, 10 * us));
  CHECK(!with_first(20 * us, 10 * us));
  CHECK(with_first(31 * us, 10 * us) && !with_first(29 * us, 10 * us));
  CHECK(with_first(40 * us, 10 * us, 4) && !with_first(40 * us, 10 * us, 3));
  CHECK(!with_first(500, 100));  // short of half a microsecond
  CHECK(with_first(650, 100));
}

TEST(repetitions_of_imb) {
  CHECK_EQ(calls_of_imb(0), 1000.0);
  constexpr double half = 20.0 * 1024 * 1024;  // of what IMB sends in all
  CHECK_EQ(calls_of_imb(half), 2.0);
  CHECK_EQ(calls_of_imb(half + 1), 1.0);
  CHECK_EQ(calls_of_imb(32768), 1000.0);
  CHECK_EQ(calls_of_imb(65536), 640.0);
  CHECK_EQ(calls_of_imb(4 << 20), 10.0);
  CHECK_EQ(calls_of_imb(1e9), 1.0);
}
