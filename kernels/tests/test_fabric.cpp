// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Who meets whom in the suite FABRIC, as each host computes it for itself.
#include <numeric>
#include <set>
#include <vector>

#include "suites/fabric/aggressors.hpp"
#include "suites/fabric/beside.hpp"
#include "suites/fabric/hosts.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using fabric::Meeting;

namespace {

constexpr std::uint64_t seed = 7;

// The hosts that meet agree on it, one of them is the lower one, and pairs are numbered.
void check_matching(const std::vector<Meeting>& meetings) {
  std::set<int> numbers;
  std::size_t resting = 0;
  for (std::size_t host = 0; host < meetings.size(); ++host) {
    const Meeting& mine = meetings[host];
    if (!mine.exists()) {
      ++resting;
      continue;
    }
    const Meeting& other = meetings[static_cast<std::size_t>(mine.host)];
    CHECK(other.host == static_cast<int>(host));
    CHECK(other.pair == mine.pair);
    CHECK(other.lower != mine.lower);
    numbers.insert(mine.pair);
  }
  CHECK(resting == meetings.size() % 2);
  CHECK(numbers.size() == meetings.size() / 2);
  CHECK(*numbers.rbegin() == static_cast<int>(meetings.size() / 2) - 1);
}

// The size at which a load settles where a call takes so long for each of its sizes.
unsigned settled_at(double (*seconds)(double share)) {
  fabric::LoadSize size;
  for (int calls = 0; !size.is_settled(); ++calls) {
    CHECK(calls < 100);
    size.take(seconds(1.0 / (1U << size.halvings())));
  }
  return size.halvings();
}

}  // namespace

TEST(aggressors_send_all_they_can_on_a_fast_network) {
  CHECK_EQ(settled_at([](double share) { return 20e-6 + 500e-6 * share; }), 0U);
}

TEST(aggressors_send_no_more_than_fills_a_slow_network) {
  const auto seconds = [](double share) { return 1e-3 + 600e-3 * share; };
  const unsigned halvings = settled_at(seconds);
  CHECK(halvings > 0);
  CHECK(seconds(1.0 / (1U << halvings)) < 20e-3);
  CHECK(seconds(1.0 / (1U << halvings)) > 2.5e-3);
}

TEST(aggressors_send_more_where_the_cores_are_slow_and_not_the_network) {
  // 20 ms of each call are others' on the cores.
  const unsigned halvings = settled_at([](double share) { return 20e-3 + 600e-3 * share; });
  CHECK(halvings > 0);
  CHECK(halvings < 5);
}

TEST(the_first_call_of_aggressors_does_not_count) {
  fabric::LoadSize size;
  size.take(2.0);  // it connects ranks
  size.take(1e-4);
  CHECK(size.halvings() == fabric::most_halvings);
  size.take(1e-4);
  CHECK(size.halvings() == fabric::most_halvings - 1);
  CHECK(!size.is_settled());
}

TEST(hosts_agree_on_random_pairs) {
  for (int hosts = 2; hosts < 14; ++hosts) {
    for (std::uint32_t round = 0; round < 20; ++round) {
      std::vector<Meeting> meetings;
      for (int host = 0; host < hosts; ++host) {
        meetings.push_back(fabric::random_meeting(host, hosts, seed, round));
      }
      check_matching(meetings);
    }
  }
}

TEST(random_pairs_have_all_met_before_any_meets_again) {
  for (int hosts = 2; hosts < 14; ++hosts) {
    const int rounds = hosts - 1 + hosts % 2;
    std::set<std::pair<std::uint32_t, int>> met;
    for (std::uint32_t round = 0; round < 3U * static_cast<std::uint32_t>(rounds); ++round) {
      const int other = fabric::random_meeting(1, hosts, seed, round).host;
      if (other < 0) continue;
      CHECK(met.emplace(round / static_cast<std::uint32_t>(rounds), other).second);
    }
    CHECK_EQ(met.size(), 3U * (static_cast<std::size_t>(hosts) - 1));
  }
}

TEST(tournaments_differ_from_each_other) {
  std::set<int> first_partners;
  for (std::uint32_t tournament = 0; tournament < 200; ++tournament) {
    first_partners.insert(fabric::random_meeting(3, 8, seed, 7 * tournament).host);
  }
  CHECK(first_partners == (std::set<int>{0, 1, 2, 4, 5, 6, 7}));
}

TEST(halves_meet_each_other_alone) {
  for (int hosts = 2; hosts < 14; ++hosts) {
    std::vector<int> order(static_cast<std::size_t>(hosts));
    std::iota(order.rbegin(), order.rend(), 0);
    for (const auto& given : {std::vector<int>{}, order}) {
      for (std::uint32_t round = 0; round < 20; ++round) {
        std::vector<Meeting> meetings;
        for (int host = 0; host < hosts; ++host) {
          meetings.push_back(fabric::halves_meeting(host, hosts, given, round));
        }
        check_matching(meetings);
        for (int host = 0; host < hosts; ++host) {
          const Meeting& mine = meetings[static_cast<std::size_t>(host)];
          const int place = given.empty() ? host : hosts - 1 - host;
          if (mine.exists()) CHECK(mine.lower == (place < hosts / 2) || hosts % 2 != 0);
        }
      }
    }
  }
}

TEST(every_host_rests_in_turn_where_their_number_is_odd) {
  std::set<int> resting;
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (int host = 0; host < 5; ++host) {
      if (!fabric::halves_meeting(host, 5, {}, round).exists()) resting.insert(host);
    }
  }
  CHECK(resting == (std::set<int>{0, 1, 2, 3, 4}));
}

TEST(aggressors_leave_two_victims) {
  CHECK(fabric::aggressor_hosts(4, 50) == 2);
  CHECK(fabric::aggressor_hosts(4, 99) == 2);
  CHECK(fabric::aggressor_hosts(4, 1) == 2);
  CHECK(fabric::aggressor_hosts(8, 25) == 2);
  CHECK(fabric::aggressor_hosts(9, 50) == 5);
  CHECK(fabric::aggressor_hosts(100, 80) == 80);
}
