// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cstdlib>
#include <cstring>
#include <limits>

#include "platform/platform.hpp"
#include "tests/check.hpp"

using namespace mpigauge::platform;

namespace {

CpuSet cpus(const std::string& text) { return parse_cpuset(text).value_or(CpuSet{-1}); }

}  // namespace

TEST(the_time_of_this_thread_is_among_those_of_all) {
  const auto before = thread_cpu_s();
  CHECK(before.contains(process_id()));
  while (thread_cpu_s().at(process_id()) <= before.at(process_id())) {
  }
}

TEST(cpusets_are_lists_and_ranges) {
  CHECK_EQ(cpus("0"), (CpuSet{0}));
  CHECK_EQ(cpus("0-3,8"), (CpuSet{0, 1, 2, 3, 8}));
  CHECK_EQ(cpus("5,1,3-4"), (CpuSet{1, 3, 4, 5}));
  CHECK_EQ(cpus("2,2,1-2"), (CpuSet{1, 2}));
  CHECK_EQ(cpus(""), CpuSet{});
}

TEST(what_is_no_cpuset_is_refused) {
  for (const auto* text : {"a", "1-", "-1", "3-1", "1,,2", "1;2", "0x1", "1 2", "1-2-3",
                           "99999999999999999999", "0-4000000000"}) {
    CHECK(!parse_cpuset(text).has_value());
  }
}

TEST(cpusets_are_written_as_they_are_read) {
  for (const auto* text : {"", "0", "0-1", "0-3,8", "1,3,5-7"}) {
    CHECK_EQ(format_cpuset(cpus(text)), text);
  }
}

TEST(the_cores_that_a_thread_may_use_can_be_bound_to) {
  const CpuSet before = allowed_cpus();
  CHECK(!before.empty());
  CHECK(bind({before.front()}));
  CHECK_EQ(allowed_cpus(), (CpuSet{before.front()}));
  CHECK_EQ(current_cpu(), before.front());
  CHECK(bind(before));
  CHECK(!bind({4095}));
}

TEST(memory_is_fresh_and_writable) {
  const Mapping mapping(10000);
  CHECK(mapping.size() >= 10000);
  CHECK_EQ(static_cast<int>(mapping.data()[9999]), 0);
  std::memset(mapping.data(), 1, 10000);
}

TEST(too_much_memory_is_refused) {
  const auto said = mpigauge::check::thrown_by<std::bad_alloc>(
      [] { const Mapping mapping(std::size_t{1} << 60); });
  CHECK(!said.empty());
}

TEST(free_memory_is_known) {
  CHECK(available_memory() > 0);
  CHECK(available_memory() < std::numeric_limits<std::size_t>::max());
}

TEST(the_clock_runs_forward_and_knows_itself) {
  start_clock();
  const ClockFacts facts = clock_facts();
  CHECK(!facts.name.empty());
  CHECK(facts.hz > 1e6 && facts.hz < 1e11);
  CHECK(facts.cost_s > 0 && facts.step_s > 0);
  auto last = ticks();
  for (int i = 0; i < 1000; ++i) {
    const auto now = ticks();
    CHECK(now >= last);
    last = now;
  }
}

TEST(a_process_knows_its_age) {
  const double first = process_age_s();
  CHECK(first > -0.02 && first < 3600);
  CHECK(process_age_s() >= first);
}

TEST(a_launcher_tells_ranks_in_the_environment) {
  unsetenv("OMPI_COMM_WORLD_RANK");
  setenv("PMI_RANK", "3", 1);
  CHECK_EQ(launcher_rank().value_or(-1), 3);
  setenv("PMI_RANK", "three", 1);
  CHECK(!launcher_rank().has_value());
  unsetenv("PMI_RANK");
}
