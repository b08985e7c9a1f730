// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <array>

#include "driver/missing.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

bool has_blocking_calls(std::string_view name) { return !name.starts_with("MPI_I"); }

const Benchmark needs_nothing{Card{.name = "Bcast"}, nullptr};
const Benchmark ibcast{Card{.name = "Ibcast", .needs = {"MPI_Ibcast"}}, nullptr};
const Benchmark ibcast_pure{Card{.name = "Ibcast_pure", .needs = {"MPI_Ibcast"}}, nullptr};
const Benchmark ireduce{Card{.name = "Ireduce", .needs = {"MPI_Reduce_local", "MPI_Ireduce"}},
                        nullptr};

}  // namespace

TEST(names_each_call_that_is_missing_once) {
  const std::array<const Benchmark*, 3> all{&ibcast, &ibcast_pure, &ireduce};
  CHECK_EQ(missing_for_all(all, has_blocking_calls), "MPI_Ibcast, MPI_Ireduce");
}

TEST(one_that_can_run_is_enough) {
  const std::array<const Benchmark*, 2> all{&ibcast, &needs_nothing};
  CHECK_EQ(missing_for_all(all, has_blocking_calls), "");
  CHECK_EQ(missing_for_all({}, has_blocking_calls), "");
}
