// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Who talks to whom: grids, random pairs and rings, pairs at a stride, cores of threads.
#include <algorithm>
#include <map>
#include <set>

#include "core/grid.hpp"
#include "core/groups.hpp"
#include "core/threads.hpp"
#include "imb/p2p.hpp"
#include "suites/mt/threaded.hpp"
#include "suites/patterns/random.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using patterns::calls_in_cycle;

namespace {

using Sides = std::vector<int>;
constexpr std::uint64_t seed = 7;

std::string refused_p2p(const std::vector<std::string>& words) {
  return check::thrown_by<UsageError>([&] { imb::read_p2p_settings(words); });
}

}  // namespace

TEST(stencils_have_the_sides_that_imb_prints) {
  const std::map<int, Sides> planes{{4, {2, 2}},  {6, {3, 2}},  {8, {2, 4}}, {12, {4, 3}},
                                    {16, {4, 4}}, {18, {3, 6}}, {24, {4, 6}}};
  for (const auto& [ranks, sides] : planes) CHECK(stencil_sides(ranks, 2) == sides);
  const std::map<int, Sides> volumes{
      {8, {2, 2, 2}}, {12, {2, 3, 2}}, {16, {2, 2, 4}}, {18, {2, 3, 3}}, {24, {2, 4, 3}}};
  for (const auto& [ranks, sides] : volumes) CHECK(stencil_sides(ranks, 3) == sides);
}

TEST(a_stencil_has_all_ranks_and_no_side_of_one) {
  for (int ranks = 1; ranks <= 200; ++ranks) {
    for (const int dimensions : {2, 3}) {
      const Sides sides = stencil_sides(ranks, dimensions);
      const bool possible = can_run_on(dimensions == 2 ? Ranks::plane : Ranks::volume, ranks);
      if (possible) CHECK(!sides.empty());
      if (sides.empty()) continue;
      CHECK_EQ(points_of(sides), ranks);
      CHECK(*std::min_element(sides.begin(), sides.end()) >= 2);
    }
  }
}

TEST(grids_without_a_wish_are_even) {
  CHECK(even_sides(1) == Sides{1});
  CHECK(even_sides(2) == Sides{2});
  CHECK(even_sides(4) == (Sides{2, 2}));
  CHECK(even_sides(7) == Sides{7});
  CHECK(even_sides(8) == (Sides{2, 2, 2}));
}

TEST(neighbours_see_each_other) {
  for (const Sides& sides :
       {Sides{1}, Sides{2}, Sides{5}, Sides{3, 2}, Sides{2, 3, 4}, Sides{1, 4}}) {
    for (int rank = 0; rank < points_of(sides); ++rank) {
      const auto mine = neighbours_on(sides, rank);
      CHECK_EQ(static_cast<int>(mine.size()), faces_of(sides));
      for (std::size_t i = 0; i < mine.size(); ++i) {
        CHECK_EQ(neighbours_on(sides, mine[i])[i ^ 1U], rank);
      }
    }
  }
  CHECK(neighbours_on({2, 1}, 0) == (std::vector<int>{1, 1}));  // not itself
  CHECK(neighbours_on({1, 3, 1}, 1) == (std::vector<int>{0, 2}));
  CHECK(neighbours_on({1, 1}, 0).empty());
  CHECK_EQ(faces_of({2, 1, 5}), 4);
  CHECK_EQ(faces_of({1}), 0);
  CHECK(neighbours_on({2, 3}, 0) == (std::vector<int>{3, 3, 2, 1}));
}

// What IMB 2021 makes of -topo on so many ranks, but for those of which it says that they are too
// few: 2.1 on 16.
TEST(a_halo_has_the_largest_grid_of_its_proportions) {
  CHECK(halo_sides({1}, 1) == Sides{1});
  CHECK(halo_sides({1}, 7) == Sides{7});
  CHECK(halo_sides({2}, 2) == Sides{2});
  CHECK(halo_sides({3}, 8) == Sides{8});
  CHECK(halo_sides({2, 1}, 4) == (Sides{2, 1}));
  CHECK(halo_sides({2, 1}, 8) == (Sides{4, 2}));
  CHECK(halo_sides({2, 1}, 16) == (Sides{4, 2}));
  CHECK(halo_sides({4, 2}, 2) == (Sides{2, 1}));
  CHECK(halo_sides({2, 2}, 3) == (Sides{1, 1}));
  CHECK(halo_sides({2, 2}, 6) == (Sides{2, 2}));
  CHECK(halo_sides({1, 1, 1}, 64) == (Sides{4, 4, 4}));
  CHECK(halo_sides({3, 2}, 2) == (Sides{3, 2}));
}

TEST(random_pairs_are_of_different_ranks_and_reach_all) {
  for (const int ranks : {2, 3, 5, 8}) {
    std::set<std::pair<int, int>> seen;
    for (std::size_t call = 0; call < calls_in_cycle; ++call) {
      const auto drawn = patterns::random_pairs(ranks, seed, call);
      CHECK_EQ(drawn.size(), static_cast<std::size_t>(ranks));
      for (const auto& pair : drawn) {
        CHECK(pair.first != pair.second);
        CHECK(std::min(pair.first, pair.second) >= 0 && std::max(pair.first, pair.second) < ranks);
        seen.emplace(pair.first, pair.second);
      }
    }
    CHECK_EQ(seen.size(), static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks - 1));
  }
}

// Each rank draws for itself; what they do must fit together, in one order.
TEST(all_ranks_agree_on_random_pairs) {
  constexpr int ranks = 5;
  std::vector<std::vector<std::vector<patterns::Step>>> steps;
  for (int rank = 0; rank < ranks; ++rank) {
    steps.push_back(patterns::random_steps(rank, ranks, seed));
  }
  for (std::size_t call = 0; call < calls_in_cycle; ++call) {
    std::vector<std::size_t> at(ranks, 0);
    for (const auto& [first, second] : patterns::random_pairs(ranks, seed, call)) {
      const auto& giver = steps[static_cast<std::size_t>(first)][call];
      const auto& taker = steps[static_cast<std::size_t>(second)][call];
      const auto g = giver.at(at[static_cast<std::size_t>(first)]++);
      const auto t = taker.at(at[static_cast<std::size_t>(second)]++);
      CHECK(g.first && g.peer == second);
      CHECK(!t.first && t.peer == first);
    }
    for (std::size_t rank = 0; rank < at.size(); ++rank)
      CHECK_EQ(at[rank], steps[rank][call].size());
  }
}

TEST(random_rings_hold_every_rank_once) {
  constexpr int ranks = 6;
  std::vector<std::vector<patterns::Place>> places;
  for (int rank = 0; rank < ranks; ++rank) {
    places.push_back(patterns::random_places(rank, ranks, seed));
  }
  std::set<std::vector<int>> rings;
  for (std::size_t call = 0; call < calls_in_cycle; ++call) {
    std::vector<int> ring;
    for (int rank = 0; ring.size() < ranks;
         rank = places[static_cast<std::size_t>(rank)][call].behind) {
      ring.push_back(rank);
      const int behind = places[static_cast<std::size_t>(rank)][call].behind;
      CHECK_EQ(places[static_cast<std::size_t>(behind)][call].before, rank);
    }
    CHECK_EQ(std::set<int>(ring.begin(), ring.end()).size(), ring.size());
    rings.insert(ring);
  }
  CHECK(rings.size() > calls_in_cycle / 2);
}

TEST(seeds_differ) {
  const auto same = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  CHECK(same(patterns::random_pairs(50, 1, 0), patterns::random_pairs(50, 1, 0)));
  CHECK(!same(patterns::random_pairs(50, 1, 0), patterns::random_pairs(50, 2, 0)));
  CHECK(!same(patterns::random_pairs(50, 1, 0), patterns::random_pairs(50, 1, 1)));
}

// Ranks, stride, ranks that have a partner: as the programs of IMB print them.
TEST(pairs_fill_whole_blocks_of_two_strides) {
  const std::vector<std::array<int, 3>> table{{2, 0, 2}, {3, 0, 2}, {5, 0, 4}, {5, 1, 4},
                                              {5, 3, 0}, {6, 1, 6}, {6, 2, 4}, {6, 3, 6},
                                              {7, 2, 4}, {7, 3, 6}, {1, 0, 0}, {1, 1, 0}};
  for (const auto& [ranks, stride, paired] : table) {
    CHECK_EQ(mt::paired_ranks(ranks, stride), paired);
    int found = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Pair pair = mt::pair_of(rank, ranks, stride);
      if (!pair.exists()) continue;
      ++found;
      const Pair other = mt::pair_of(pair.peer, ranks, stride);
      CHECK_EQ(other.peer, rank);
      CHECK(other.lower != pair.lower);
    }
    CHECK_EQ(found, paired);
  }
}

TEST(threads_have_a_core_each_where_there_are_enough) {
  using Cores = std::vector<platform::CpuSet>;
  CHECK(cores_of_threads({0, 1, 2, 3}, 2, 0) == (Cores{{0}, {1}}));
  CHECK(cores_of_threads({0, 1, 2, 3}, 2, 1) == (Cores{{2}, {3}}));
  CHECK(cores_of_threads({4, 6}, 2, 1) == (Cores{{4}, {6}}));
  CHECK(cores_of_threads({0}, 2, 0).empty());
}

TEST(repetitions_of_p2p_follow_the_volume) {
  const auto settings = imb::read_p2p_settings({"-iter", "5000,20"});
  const std::map<std::size_t, std::int64_t> table{{0, 5000},       {1, 5000},        {4096, 5000},
                                                  {8192, 2560},    {1U << 20U, 20},  {4U << 20U, 5},
                                                  {64U << 20U, 1}, {1000U << 20U, 1}};
  for (const auto& [bytes, repetitions] : table) {
    CHECK_EQ(imb::p2p_repetitions(settings, bytes), repetitions);
  }
}

TEST(the_words_of_p2p) {
  using Sizes = std::vector<std::size_t>;
  CHECK((imb::read_p2p_settings({"-msglog", "2"}).sizes == Sizes{0, 1, 2, 4}));
  CHECK((imb::read_p2p_settings({"-msglog", "3:5"}).sizes == Sizes{8, 16, 32}));
  CHECK((imb::read_p2p_settings({"-MSGSZ", "4k", "-msgsz", "0"}).sizes == Sizes{4096, 0}));
  CHECK_EQ(imb::read_p2p_settings({"-msglog", "47"}).sizes.back(), std::size_t{1} << 47U);
  CHECK_EQ(imb::read_p2p_settings({}).sizes.size(), 24U);
  CHECK(!imb::read_p2p_settings({"-msgrd", "OFF"}).options.suite.touch_recv);
  CHECK_EQ(imb::read_p2p_settings({"-lenient", "-bogus"}).chosen.named.size(), 1U);
  CHECK_EQ(refused_p2p({"-msglog", "9:3"}), "-msglog: '9:3' ends before it begins");
  CHECK(refused_p2p({"-msglog", "48"}).starts_with("-msglog: '48' is out of range"));
  CHECK(refused_p2p({"-iter", "0"}).starts_with("-iter: '0' is out of range"));
  CHECK_EQ(refused_p2p({"-pause", "x"}), "-pause: 'x' is not a number");
  CHECK(refused_p2p({"-bogus", "3"}).starts_with("there is no option -bogus"));
}
