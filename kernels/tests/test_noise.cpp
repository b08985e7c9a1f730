// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Observing a core on a fake clock, and what follows from the detours that were found.
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include "core/noise.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr double hz = 1e9;
constexpr platform::Ticks step = 10;  // between two readings that nothing disturbs

/// A clock whose readings are so far apart, and then a step each.
class Clock {
 public:
  explicit Clock(std::vector<platform::Ticks> gaps) : gaps_(std::move(gaps)) {}
  platform::Ticks operator()() {
    const auto reading = now_;
    now_ += at_ < gaps_.size() ? gaps_[at_] : step;
    ++at_;
    return reading;
  }
  void pass(platform::Ticks ticks) { now_ += ticks; }

 private:
  std::vector<platform::Ticks> gaps_;
  std::size_t at_ = 0;
  platform::Ticks now_ = 12345;
};

void read(NoiseProbe& probe, Clock& clock, std::uint64_t times) {
  probe.read(times, [&clock] { return clock(); });
}

// So many detours in a second of observation.
Detours detours(double length_s, double times) {
  Detours made;
  made.add(length_s, times);
  made.observed(1, length_s * times);
  return made;
}

}  // namespace

// --- a probe ------------------------------------------------------------------------------

TEST(a_gap_of_more_than_a_microsecond_is_a_detour) {
  Clock clock({step, 1000, step, 1001, step, 5000});
  NoiseProbe probe(hz);
  read(probe, clock, 8);
  CHECK_EQ(probe.count(), 2);
  CHECK_EQ(probe.detours().size(), 2U);
  CHECK_EQ(probe.detours()[0].start, 1020U);
  CHECK_EQ(probe.detours()[0].length, 1001U);
  CHECK_EQ(probe.detours()[1].start, 2031U);
  CHECK_EQ(probe.detours()[1].length, 5000U);
  CHECK_NEAR(probe.seconds(), 7051e-9, 1e-15);
  CHECK_NEAR(probe.longest_s(), 5e-6, 1e-15);
  CHECK_NEAR(probe.lost_ratio(), 6001.0 / 7051, 1e-12);
}

TEST(observation_is_over_when_its_time_is) {
  Clock clock({step, 400, step});
  NoiseProbe probe(hz);
  probe.run_for(500e-9, [&clock] { return clock(); });
  CHECK_NEAR(probe.seconds(), 500e-9, 1.5 * step / hz);
  CHECK_EQ(probe.count(), 0);
}

TEST(a_detour_is_followed_to_its_end) {
  Clock clock({step, 70'000});
  NoiseProbe probe(hz);
  probe.run_for(1e-6, [&clock] { return clock(); });
  CHECK_EQ(probe.count(), 1);
  CHECK_NEAR(probe.seconds(), 70.01e-6, 1e-12);
}

TEST(several_pieces_have_one_beginning_and_no_time_between_them) {
  Clock clock({step, 2000});
  NoiseProbe probe(hz);
  read(probe, clock, 3);
  clock.pass(1'000'000);
  read(probe, clock, 2);
  CHECK_EQ(probe.count(), 1);
  CHECK_NEAR(probe.seconds(), (2 * step + 2000 + 2 * step) / hz, 1e-15);
  Clock other({2000});
  read(probe, other, 1);
  CHECK_EQ(probe.count(), 2);
  CHECK_EQ(probe.detours()[1].start, 0U);  // since it has the same first reading
}

TEST(all_detours_are_counted_and_the_first_thousands_kept) {
  Clock clock(std::vector<platform::Ticks>(5000, 3000));
  NoiseProbe probe(hz);
  read(probe, clock, 10'000);
  CHECK_EQ(probe.count(), 5000);
  CHECK_EQ(probe.detours().size(), 4096U);
  const double free_s = 5000 * step / hz;
  CHECK_NEAR(probe.by_length().per_second() * free_s, 5000, 1e-6);
}

TEST(what_the_system_took_adds_up) {
  NoiseProbe probe(hz);
  probe.was_taken({1, 2, 3}, {1.5, 2.25, 5});
  probe.was_taken({7, 7, 7}, {7, 8, 8});
  CHECK_EQ(probe.taken().stolen_s, 0.5);
  CHECK_EQ(probe.taken().waited_s, 1.25);
  CHECK_EQ(probe.taken().switches, 3);
}

TEST(who_has_observed_nothing_knows_nothing) {
  const NoiseProbe probe(hz);
  CHECK_EQ(probe.lost_ratio(), 0.0);
  CHECK_EQ(probe.by_length().per_second(), 0.0);
}

TEST(the_clock_of_the_machine_is_read_as_often_as_is_said) {
  platform::start_clock();
  NoiseProbe probe(platform::clock_facts().hz);
  probe.read(1000);
  CHECK(probe.seconds() > 0);
  CHECK(probe.lost_ratio() >= 0 && probe.lost_ratio() <= 1);
}

// --- detours by their length -----------------------------------------------------------------

TEST(rates_are_of_a_second_in_which_the_core_was_free) {
  Detours both = detours(2e-6, 300);
  both.add(20e-6, 100);
  both.observed(1, 0.4 - 600e-6);
  CHECK_NEAR(both.per_second(), 400 / 1.6, 1e-9);
  CHECK_NEAR(both.per_second(10e-6), 100 / 1.6, 1e-9);
  CHECK_EQ(both.per_second(1), 0.0);
  CHECK_NEAR(both.lost_ratio(), 0.2, 1e-12);
  CHECK_NEAR(both.length_s(0.5), 2e-6, 0.2e-6);
  CHECK_NEAR(both.length_s(0.9), 20e-6, 2e-6);
}

TEST(ranks_are_added_number_by_number) {
  Detours all = detours(2e-6, 100), other = detours(2e-6, 300);
  for (std::size_t i = 0; i < all.numbers().size(); ++i) all.numbers()[i] += other.numbers()[i];
  CHECK_NEAR(all.per_second(), 200, 0.1);  // of a core in the mean
}

TEST(detours_are_read_from_the_sample_of_another_launch) {
  Detours sampled;
  sampled.add(12e-6, 3);
  sampled.add(152e-6, 1);
  sampled.observed(0.1, 188e-6);
  Detours read = Detours::read("0.1:0.000188:1.2e-05*3,0.000152*1");
  const auto expected = sampled.numbers();
  const auto numbers = read.numbers();
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_NEAR(numbers[i], expected[i], 1e-12);
  CHECK_EQ(Detours::read("0.05:0:").per_second(), 0.0);
}

TEST(a_class_stands_for_its_geometric_middle) {
  const Detours some = detours(2e-6, 100);  // four classes to a doubling: 2 us to 2.38 us
  CHECK_NEAR(some.length_s(0.5), 2e-6 * std::exp2(0.125), 1e-15);
  CHECK_EQ(some.per_second(2.19e-6), 0.0);
  CHECK(some.per_second(2.18e-6) > 0);
}

TEST(a_share_of_detours_is_not_longer_than_its_length) {
  Detours both;
  both.add(1e-6, 3);
  both.add(16e-6, 1);
  CHECK_NEAR(both.length_s(0), std::exp2(0.125) * 1e-6, 1e-15);
  CHECK_NEAR(both.length_s(0.75), std::exp2(0.125) * 1e-6, 1e-15);
  CHECK_NEAR(both.length_s(0.76), std::exp2(0.125) * 16e-6, 1e-15);
}

TEST(samples_beyond_any_machine_are_refused) {
  const auto is_refused = [](const char* text) {
    try {
      Detours::read(text);
    } catch (const std::exception&) {
      return true;
    }
    return false;
  };
  CHECK(!is_refused("1e6:1e6:1e6*1e12"));
  for (const char* text : {"1.1e6:0:", "1:1.1e6:", "1:0:1.1e6*1", "1:0:1*1.1e12", "1:0",
                           "1:0::", "1:0:5", "1:0:5*1*1", "-1:0:"}) {
    CHECK(is_refused(text));
  }
}

TEST(very_short_and_very_long_ones_have_a_class_too) {
  Detours extreme;
  extreme.add(0);
  extreme.add(1e6);
  extreme.observed(10, 0);
  CHECK_NEAR(extreme.per_second(), 0.2, 1e-12);
  CHECK_NEAR(extreme.per_second(1), 0.1, 1e-12);
}

TEST(many_cores_are_hit_as_if_independent) {
  const Detours some = detours(1.5e-6, 500);
  const double rate = some.per_second();
  CHECK_NEAR(some.hit_ratio(20e-6, 1), 1 - std::exp(-20e-6 * rate), 1e-12);
  CHECK_NEAR(some.hit_ratio(20e-6, 1000), 1, 1e-4);
  CHECK_EQ(some.hit_ratio(20e-6, 1000, 1e-3), 0.0);
  CHECK_NEAR(some.hit_ratio(some.undisturbed_s(0.95, 8), 8), 0.05, 1e-12);
}

TEST(a_quiet_core_disturbs_nothing) {
  const Detours none = detours(0, 0);
  CHECK_EQ(none.per_second(), 0.0);
  CHECK_EQ(none.hit_ratio(1, 1000), 0.0);
  CHECK(std::isinf(none.undisturbed_s(0.95, 1000)));
  CHECK(std::isnan(none.length_s(0.5)));
}
