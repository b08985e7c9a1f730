// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/numa.hpp"
#include "suites/node/crew.hpp"
#include "suites/node/pool.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::node;

namespace {

// Two packages of two nodes with two cores each, of two hardware threads.
std::vector<platform::CpuPlace> sixteen() {
  std::vector<platform::CpuPlace> places;
  for (int cpu = 0; cpu < 16; ++cpu) {
    const int core = cpu % 8;
    places.push_back(
        {.cpu = cpu, .package = core / 4, .numa = core / 2, .core = core % 4, .sibling = cpu / 8});
  }
  return places;
}

std::string order(const std::string& word, const std::vector<platform::CpuPlace>& cpus) {
  std::string text;
  for (const auto& place : thread_places(word, cpus)) {
    text += (text.empty() ? "" : " ") + platform::format_cpuset(place);
  }
  return text;
}

std::string refused(const std::string& word) {
  return check::thrown_by<std::invalid_argument>([&] { thread_places(word, sixteen()); });
}

}  // namespace

TEST(compact_takes_neighbours_and_second_hardware_threads_last) {
  CHECK_EQ(order("compact", sixteen()), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
  CHECK_EQ(order("", sixteen()), order("compact", sixteen()));
}

TEST(scatter_goes_from_package_to_package_and_node_to_node) {
  CHECK_EQ(order("scatter", sixteen()), "0 4 2 6 1 5 3 7 8 12 10 14 9 13 11 15");
}

TEST(places_can_be_named) {
  CHECK_EQ(order("5:2+3:4-7", sixteen()), "5 2-3 4-7");
  CHECK_EQ(refused("0:99"), "a thread was to be on core 99, which this rank may not use");
  CHECK_EQ(refused("0::1"), "'0::1' is none of compact, scatter and places: 0:2+3");
  CHECK_EQ(refused("spread"), "'spread' is none of compact, scatter and places: 0:2+3");
}

TEST(parts_are_whole_lines_and_all_there_is) {
  for (const std::size_t n : {0U, 7U, 8U, 100U, 1000U, 4097U}) {
    for (const int threads : {1, 2, 3, 7}) {
      std::size_t next = 0;
      for (int i = 0; i < threads; ++i) {
        const Range part = part_of(n, i, threads);
        CHECK_EQ(part.first, next);
        CHECK_EQ(part.first % 8, 0U);
        next += part.count;
      }
      CHECK_EQ(next, n);
    }
  }
}

TEST(each_thread_works_once_a_turn_and_where_it_should) {
  const auto allowed = platform::allowed_cpus();
  std::vector<platform::CpuSet> places;
  for (int i = 0; i < 4; ++i) {
    places.push_back({allowed[static_cast<std::size_t>(i) % allowed.size()]});
  }
  Pool pool(places);
  std::vector<int> turns(4);
  std::atomic<int> elsewhere{0};
  auto work = [&](int thread) {
    ++turns[static_cast<std::size_t>(thread)];
    const bool here = platform::allowed_cpus() == places[static_cast<std::size_t>(thread)];
    if (thread > 0 && !here) ++elsewhere;
  };
  for (int i = 0; i < 50; ++i) pool.run(work);
  CHECK(turns == std::vector<int>(4, 50));
  CHECK_EQ(elsewhere.load(), 0);
  CHECK(platform::allowed_cpus() == allowed);
}

TEST(a_thread_that_is_not_where_it_should_be_is_told) {
  const auto first = platform::allowed_cpus().front();
  CHECK_EQ(check::thrown_by<std::runtime_error>([&] { Pool({{first}, {1'000'000}}); }),
           "1 of 2 threads could not be bound to their cores");
}
