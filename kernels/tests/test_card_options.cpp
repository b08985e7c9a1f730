// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <string>

#include "core/card_options.hpp"
#include "core/registry.hpp"
#include "core/suite_options.hpp"
#include "driver/names.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

// Each option has another value than usual.
SuiteOptions all_unusual() {
  SuiteOptions options;
  options.contiguity = Contiguity::resize;
  options.directories = {"other"};
  options.io_cache = IoCache::drop;
  options.threads = 2;
  options.thread_order = "scatter";
  options.memory_on = "local";
  options.thread_level = ThreadLevel::multiple;
  options.thread_memory = ThreadMemory::serial;
  options.stride = 1;
  options.touch_send = options.touch_recv = false;
  options.topo = {2, 1};
  options.arrival = Arrival::read("late:1:50");
  options.profile = Mix::read("heat=1;0;0;barrier:0:0:0:1;");
  options.root = 1;
  options.group_ranks = 2;
  options.host_ranks = 2;
  options.host_order = {1, 0};
  options.aggressors = 25;
  options.partitions = 8;
  options.blas = "mine=/lib/libblas.so";
  options.compiler = "g++=/tmp/loops.so";
  options.test_every_us = 3;
  return options;
}

const Card& card(std::string_view name) { return find_benchmark(name)->card; }

}  // namespace

TEST(settings_name_each_unusual_option_without_a_column) {
  const SuiteOptions unusual_options = all_unusual();
  for (const auto& benchmark : benchmarks()) {
    const auto names = options_of(benchmark.card);
    std::string expected;
    for (const auto& row : suite_option_rows) {
      const std::string value = row.text(unusual_options);
      CHECK(value != row.text(usual_suite_options));
      const bool used = std::find(names.begin(), names.end(), row.name) != names.end();
      if (!used || row.has_column) continue;
      expected += (expected.empty() ? "" : " ") + std::string(row.name) + '=' + value;
    }
    CHECK_EQ(unusual(benchmark.card, unusual_options), expected);
    CHECK_EQ(unusual(benchmark.card, {}), "");
  }
  CHECK_EQ(unusual(card("MT:BcastMT"), unusual_options), "thread-memory=serial root=1");
}

TEST(options_are_alike_if_those_that_a_benchmark_uses_are) {
  SuiteOptions on_two;
  on_two.partitions = 2;
  for (const auto& benchmark : benchmarks()) {
    const auto names = options_of(benchmark.card);
    const bool uses = std::find(names.begin(), names.end(), "partitions") != names.end();
    CHECK_EQ(alike_to(benchmark.card, {}, on_two), !uses);
    CHECK(alike_to(benchmark.card, on_two, on_two));
  }
}
