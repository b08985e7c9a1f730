// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/computation.hpp"
#include "core/groups.hpp"
#include "driver/names.hpp"
#include "suites/neighbours/grid.hpp"
#include "suites/partitioned/calls.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

/// A clock that a piece of work moves on.
struct Machine {
  double ticks_per_step = 3.0;
  double cost_of_start = 40.0;
  int disturb_every = 0;  ///< 0: never
  double disturbance = 1e6;
  double ticks = 0.0;
  int works = 0;

  auto work() {
    return [this](std::uint64_t steps) {
      ++works;
      ticks += cost_of_start + ticks_per_step * static_cast<double>(steps);
      if (disturb_every > 0 && works % disturb_every == 0) ticks += disturbance;
    };
  }
  auto now() {
    return [this] { return static_cast<std::uint64_t>(ticks); };
  }
};

}  // namespace

TEST(the_pace_is_free_of_what_starting_costs) {
  Machine machine;
  const Pace pace = calibrate(machine.work(), machine.now(), 1000);
  CHECK_NEAR(pace.ticks_per_step(), 3.0, 0.02);
  CHECK_EQ(pace.steps(3000), std::uint64_t{1000});
}

TEST(the_pace_is_that_of_an_undisturbed_machine) {
  for (const int every : {2, 3, 5}) {
    Machine machine{.disturb_every = every};
    CHECK_NEAR(calibrate(machine.work(), machine.now(), 1000).ticks_per_step(), 3.0, 0.02);
  }
}

TEST(a_fast_machine_and_a_coarse_clock_are_no_obstacle) {
  Machine fast{.ticks_per_step = 0.01, .cost_of_start = 2};
  CHECK_NEAR(calibrate(fast.work(), fast.now(), 1000).ticks_per_step(), 0.01, 2e-4);
}

TEST(a_clock_that_stands_still_does_not_hang) {
  std::uint64_t most = 0;
  const auto work = [&](std::uint64_t steps) { most = std::max(most, steps); };
  const Pace pace = calibrate(work, [] { return std::uint64_t{0}; }, 1000);
  CHECK(most > 0);
  CHECK_EQ(pace.steps(1000), std::uint64_t{0});
}

TEST(no_time_is_no_steps) {
  CHECK_EQ(Pace(2.0).steps(0), std::uint64_t{0});
  CHECK_EQ(Pace(2.0).steps(-5), std::uint64_t{0});
  CHECK_EQ(Pace().steps(100), std::uint64_t{0});
  CHECK_EQ(Pace(2.0).steps(101), std::uint64_t{51});
}

TEST(a_computation_is_compared_with_what_was_asked) {
  const Tolerance tolerance{.ticks = 10, .share = 0.1};
  CHECK(kept(1000, 1000, tolerance) == Kept::yes);
  CHECK(kept(1000, 1109, tolerance) == Kept::yes);
  CHECK(kept(1000, 1111, tolerance) == Kept::too_slow);
  CHECK(kept(1000, 889, tolerance) == Kept::too_fast);
  CHECK(kept(0, 10, tolerance) == Kept::yes);
  CHECK(kept(0, 11, tolerance) == Kept::too_slow);
}

TEST(the_real_computation_has_a_pace) {
  platform::start_clock();
  CHECK(pace().known());
  CHECK(pace().steps(ticks_per_second()) > 1000);
  forget_pace();
  CHECK(pace().known());
}

TEST(neighbours_are_neighbours_in_both_directions) {
  for (int ranks = 1; ranks <= 24; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto mine = neighbours_on_grid(rank, ranks);
      for (std::size_t n = 0; n < mine.size(); ++n) {
        CHECK(mine.at(n) >= 0 && mine.at(n) < ranks);
        CHECK_EQ(neighbours_on_grid(mine.at(n), ranks).at(n ^ 1U), rank);
      }
    }
  }
  const auto of_twelve = neighbours_on_grid(0, 12);  // 3 rows of 4
  CHECK(of_twelve == (std::array<int, grid_neighbours>{8, 4, 3, 1}));
}

TEST(messages_have_as_many_equal_parts_as_they_can) {
  CHECK_EQ(parts_of(4096, 4), 4);
  CHECK_EQ(parts_of(2, 4), 2);
  CHECK_EQ(parts_of(1, 4), 1);
  CHECK_EQ(parts_of(0, 4), 4);
  CHECK_EQ(parts_of(9, 4), 3);
  CHECK_EQ(parts_of(7, 4), 1);
}

TEST(names_of_the_forms_follow_from_the_call) {
  CHECK_EQ(immediate_call("Reduce_scatter"), "MPI_Ireduce_scatter");
  CHECK_EQ(init_call("Reduce_scatter"), "MPI_Reduce_scatter_init");
  CHECK_EQ(blocking_call("Bcast"), "MPI_Bcast");
  CHECK_EQ(immediate_name("Neighbor_alltoall"), "Ineighbor_alltoall");
}

TEST(a_description_is_six_benchmarks) {
  for (const char* name : {"MPI1:Bcast", "NBC:Ibcast", "NBC:Ibcast_pure", "MPI4:Bcast_persist",
                           "MPI4:Bcast_persist_pure", "MPI4:Bcast_persist_init"}) {
    CHECK(find_benchmark(name) != nullptr);
  }
  const Card& overlapped = find_benchmark("NBC:Ibcast")->card;
  CHECK(overlapped.columns == Columns::overlap && overlapped.by_default && has_root(overlapped));
  CHECK_EQ(overlapped.needs[0], "MPI_Ibcast");
  const Card& barrier = find_benchmark("NBC:Ibarrier_pure")->card;
  CHECK(barrier.columns == Columns::barrier && !barrier.by_default);
  CHECK(find_benchmark("MPI4:Barrier_persist")->card.columns == Columns::overlap);
  CHECK(!find_benchmark("MPI4:Allgather_persist")->card.by_default);
}

TEST(defaults_stand_in_the_order_of_imb) {
  const auto defaults = [](std::string_view suite) {
    std::string names;
    for (const auto& [card, function] : benchmarks()) {
      if (card.suite == suite && card.by_default) names += std::string(card.name) + ' ';
    }
    return names;
  };
  CHECK_EQ(defaults("NBC"),
           "Ibcast Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv Ialltoall Ialltoallv "
           "Ireduce Ireduce_scatter Iallreduce Ibarrier ");
  CHECK_EQ(defaults("MPI4"),
           "Bcast_persist Allgatherv_persist Gather_persist Gatherv_persist Scatter_persist "
           "Scatterv_persist Alltoall_persist Alltoallv_persist Reduce_persist "
           "Reduce_scatter_persist Allreduce_persist Barrier_persist ");
}
