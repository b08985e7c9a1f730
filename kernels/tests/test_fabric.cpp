// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Who meets whom in the suite FABRIC, as each host computes it for itself.
#include <numeric>
#include <set>
#include <vector>

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

}  // namespace

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

TEST(random_pairs_differ_from_round_to_round) {
  std::set<int> partners;
  for (std::uint32_t round = 0; round < 200; ++round) {
    partners.insert(fabric::random_meeting(3, 8, seed, round).host);
  }
  CHECK(partners == (std::set<int>{0, 1, 2, 4, 5, 6, 7}));
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
