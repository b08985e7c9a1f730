// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <deque>
#include <limits>

#include "driver/cases.hpp"
#include "driver/names.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

using Sizes = std::vector<std::size_t>;
constexpr std::size_t gib = std::size_t{1} << 30U;
constexpr double plenty = 1000.0 * gib;

const Card& card(std::string_view name) { return find_benchmark(name)->card; }

Sizes sizes(std::string_view benchmark, std::string_view type, const Sizes& wanted) {
  Options options;
  options.sizes.emplace(wanted);
  return sizes_of(card(benchmark), *find_type(type), options);
}

std::vector<Job> jobs(std::string_view benchmark, int ranks, const Options& options) {
  return jobs_of(*find_benchmark(benchmark), ranks, options);
}

// A case points to its options, so these stay until the program ends.
Case one_case(std::string_view benchmark, int ranks, std::size_t bytes) {
  static std::deque<Options> all;
  Options& options = all.emplace_back();
  options.sizes.emplace(1, bytes);
  return jobs(benchmark, ranks, options).front().row;
}

std::string why_not(const Case& row, double memory) {
  const auto why = refusal_of(row, memory);
  return why ? why->reason : "";
}

}  // namespace

TEST(default_sizes_double_up_to_4_mib) {
  const auto all = sizes_of(card("PingPong"), *find_type("byte"), {});
  CHECK_EQ(all.size(), 24U);
  CHECK_EQ(all.front(), 0U);
  CHECK_EQ(all.back(), 4U << 20U);
}

TEST(sizes_are_whole_elements_and_each_once) {
  CHECK_EQ(sizes("Allreduce", "float", {0, 1, 2, 4, 5, 8}), (Sizes{0, 4, 8}));
  CHECK_EQ(sizes("Allreduce", "double_complex", {1, 16, 17}), (Sizes{16, 32}));
  CHECK_EQ(sizes("PingPong", "byte", {7, 3, 7}), (Sizes{7, 3}));
}

TEST(a_barrier_has_one_size) {
  CHECK_EQ(sizes("Barrier", "byte", {1, 2, 4}), (Sizes{0}));
  Options options;
  options.cache = Cache::cold;
  CHECK_EQ(jobs("Barrier", 2, options).size(), 1U);
}

TEST(ranks_are_those_of_the_options_but_for_pairs) {
  Options options;
  CHECK_EQ(ranks_of(card("Bcast"), options, 6), (std::vector<int>{2, 4, 6}));
  options.ranks = {3, 2};
  CHECK_EQ(ranks_of(card("Bcast"), options, 6), options.ranks);
  CHECK_EQ(ranks_of(card("PingPong"), options, 6), (std::vector<int>{2}));
}

TEST(hot_stands_before_cold) {
  Options options;
  options.cache = Cache::both;
  options.sizes.emplace(Sizes{8, 16});
  const auto rows = jobs("Bcast", 2, options);
  CHECK_EQ(rows.size(), 4U);
  CHECK(!rows[0].row.cold && rows[1].row.cold && rows[1].row.shape.bytes == 8);
}

TEST(cold_buffers_exceed_the_cache_twice) {
  Options options;
  options.cache = Cache::cold;
  for (const std::size_t bytes : {0U, 8U, 4096U, 4U << 20U}) {
    options.sizes.emplace(1, bytes);
    const Layout memory = layout(jobs("Alltoall", 4, options).front().row);
    CHECK(memory.slots >= 2);
    CHECK(memory.send_total() >= 2 * options.cache_bytes);
    CHECK_EQ(memory.recv_total(), memory.slots * memory.stride_of_recv);
    CHECK(memory.stride_of_send >= memory.send_bytes + 64);
  }
}

TEST(static_stands_before_fresh) {
  Options options;
  options.data = Data::both;
  options.sizes.emplace(Sizes{8});
  const auto rows = jobs("Bcast", 2, options);
  CHECK_EQ(rows.size(), 2U);
  CHECK(!rows[0].row.shape.fresh && rows[1].row.shape.fresh);
  options.data = Data::fresh;
  CHECK_EQ(jobs("Bcast", 2, options).size(), 1U);
}

TEST(what_has_no_data_to_write_is_static_unless_it_was_named) {
  Options options;
  options.data = Data::fresh;
  CHECK(!jobs("Barrier", 2, options).front().row.shape.fresh);
  CHECK(!jobs("Reduce_local", 2, options).front().row.shape.fresh);
  options.insist = {"Barrier"};
  const auto rows = jobs("Barrier", 2, options);
  CHECK_EQ(rows.size(), 1U);
  CHECK_EQ(why_not(rows.front().row, plenty), "there are no fresh data: it has no send buffer");
}

// What follows from the fields of a card, beside the few that say so themselves.
TEST(only_messages_and_collectives_have_fresh_data) {
  for (const auto& benchmark : benchmarks()) {
    const Card& card = benchmark.card;
    if (!why_static(card).empty()) continue;
    for (const std::string_view other : {"EXT", "RMA", "IO", "NODE"}) CHECK(card.suite != other);
    CHECK(card.modes == Modes::none);
    CHECK(card.send != nothing);
  }
}

TEST(fresh_data_have_a_copy_for_each_call_of_a_batch) {
  Options options;
  options.data = Data::fresh;
  const auto slots = [&](std::size_t bytes) {
    options.sizes.emplace(1, bytes);
    const Layout memory = layout(jobs("PingPong", 2, options).front().row);
    CHECK(memory.send_total() >= memory.slots * bytes);
    CHECK_EQ(memory.recv_total(), bytes);
    return memory.slots;
  };
  CHECK_EQ(slots(0), 64U);
  CHECK(slots(4096) > 8);
  CHECK_EQ(slots(1U << 20U), 1U);
}

TEST(fresh_messages_of_a_window_have_places_of_their_own) {
  Options options;
  options.data = Data::both;
  options.inflight = 16;
  options.sizes.emplace(Sizes{4096});
  const auto rows = jobs("Uniband", 2, options);
  CHECK_EQ(layout(rows[0].row).send_bytes, 4096U);
  CHECK_EQ(layout(rows[1].row).send_bytes, 16U * 4096U);
}

TEST(reductions_are_of_floats_by_default) {
  const Case row = one_case("Allreduce", 2, 8);
  CHECK_EQ(row.type->name, "float");
  CHECK_EQ(row.op->name, "sum");
  CHECK_EQ(one_case("Bcast", 2, 8).type->name, "byte");
  CHECK(one_case("Bcast", 2, 8).op == nullptr);
}

TEST(only_rooted_benchmarks_shift_their_root) {
  Options options;
  options.root_shift = true;
  CHECK(jobs("Bcast", 2, options).front().row.root_shift);
  CHECK(!jobs("Allreduce", 2, options).front().row.root_shift);
}

TEST(a_group_has_the_root_that_was_named) {
  Options options;
  options.suite.root = 2;
  for (const char* name : {"Bcast", "NBC:Ireduce_pure", "MT:BcastMT", "MORE:Reduce_c"}) {
    CHECK_EQ(why_not(jobs(name, 2, options).front().row, plenty),
             "there is no rank 2 of 2 to be the root");
  }
  CHECK_EQ(why_not(jobs("Scatterv", 3, options).front().row, plenty), "");
  CHECK_EQ(why_not(jobs("Allreduce", 2, options).front().row, plenty), "");
}

TEST(what_can_run_is_not_skipped) {
  Options options;
  options.suite.profile = Mix::read("x=2;0+1;0+0;barrier:0:0:0:1;");
  for (const auto& benchmark : benchmarks()) {
    // Calls that are looked up are not there, since there is no library.
    const int ranks = benchmark.card.suite == "FABRIC" ? 4 : 2;  // half of the hosts are victims
    if (!benchmark.card.needs.front().empty() || !can_run_on(benchmark.card.ranks, ranks)) continue;
    for (const auto& job : jobs_of(benchmark, ranks, options)) {
      CHECK_EQ(why_not(job.row, plenty), "");
    }
  }
}

TEST(too_few_or_odd_ranks_are_a_reason) {
  CHECK_EQ(why_not(one_case("PingPong", 1, 8), plenty), "needs 2 ranks");
  CHECK_EQ(why_not(one_case("Biband", 3, 8), plenty), "needs an even number of ranks");
  CHECK_EQ(why_not(one_case("Biband", 1, 8), plenty), "needs an even number of ranks");
  CHECK_EQ(why_not(one_case("Bcast", 1, 8), plenty), "");
}

TEST(memory_is_a_reason_at_the_last_byte) {
  const Case row = one_case("Alltoall", 4, 1024);  // 4 KiB to send and 4 KiB to receive
  CHECK_EQ(why_not(row, 8192), "");
  CHECK_EQ(why_not(row, 8191),
           "not enough memory: needs 0.000 GiB per rank, 0.000 GiB may be used");
  CHECK_EQ(why_not(one_case("PingPong", 2, gib), gib),
           "not enough memory: needs 2.000 GiB per rank, 1.000 GiB may be used");
}

TEST(counts_beyond_int_are_a_reason) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  CHECK_EQ(why_not(one_case("PingPong", 2, most), plenty), "");
  // This program has no MPI, so no large-count calls.
  CHECK_EQ(why_not(one_case("PingPong", 2, most + 1), plenty),
           "more than 2147483647 elements, and this MPI library has no large-count calls "
           "(MPI_Send_c)");
  CHECK_EQ(why_not(one_case("Allgather", 4, gib), plenty),
           "more than 2147483647 elements, which MPI counts as int here");
  CHECK_EQ(why_not(one_case("Allreduce", 2, 4 * gib), plenty), "");  // 2^30 floats
}

TEST(calls_that_the_library_has_not_are_a_reason) {
  Case row = one_case("Bcast", 2, 8);
  Card needy = *row.card;
  row.card = &needy;
  needy.needs = {"malloc"};  // stands for a call that is there
  CHECK_EQ(why_not(row, plenty), "");
  needy.needs = {"malloc", "MPI_Bcast_in_a_dream"};
  CHECK_EQ(why_not(row, plenty), "this MPI library has no MPI_Bcast_in_a_dream");
}

TEST(keys_tell_cells_apart) {
  Options options;
  options.cache = Cache::both;
  options.sizes.emplace(Sizes{0, 8});
  std::vector<std::string> keys;
  for (const auto& benchmark : benchmarks()) {
    for (const auto& job : jobs_of(benchmark, 2, options)) {
      keys.push_back(key_of(job, options, Whose{}).text());
    }
  }
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST(bandwidth_comes_from_what_is_moved) {
  CHECK_EQ(facts_of({nullptr, one_case("PingPong", 2, 8)}).text(),
           R"({"time_scale":0.5,"moved_bytes":8,"messages":1})");
  CHECK_EQ(facts_of({nullptr, one_case("Exchange", 2, 8)}).text(),
           R"({"time_scale":1,"moved_bytes":32,"messages":4})");
  CHECK_EQ(facts_of({nullptr, one_case("Biband", 4, 8)}).text(),
           R"({"time_scale":1,"moved_bytes":8192,"messages":1024})");
  CHECK_EQ(facts_of({nullptr, one_case("Bcast", 4, 8)}).text(),
           R"({"time_scale":1,"moved_bytes":0,"messages":0})");
}
