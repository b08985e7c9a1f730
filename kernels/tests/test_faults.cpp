// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/faults.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

constexpr std::string_view intel = "Intel(R) MPI Library 2021.18.1 for Linux* OS";
constexpr std::string_view mpich = "MPICH Version:      5.0.2\nMPICH Release date: some day";

}  // namespace

TEST(a_fault_is_one_of_certain_versions) {
  const Asked asked{.benchmark = "Scatter_persist_pure", .ranks = 3, .datatype = "byte"};
  CHECK(known_fault(intel, asked).starts_with("Intel MPI 2021.18 aborts"));
  CHECK_EQ(known_fault("Intel(R) MPI Library 2021.19 for Linux* OS", asked), "");
  CHECK_EQ(known_fault("Intel(R) MPI Library 2021.180 for Linux* OS", asked), "");
  CHECK_EQ(known_fault(mpich, asked), "");
}

TEST(a_fault_is_one_of_certain_calls) {
  CHECK_EQ(known_fault(intel, {.benchmark = "Scatter_persist", .ranks = 2}), "");
  CHECK_EQ(known_fault(intel, {.benchmark = "Scatterv_persist", .ranks = 4}), "");
  CHECK_EQ(known_fault(intel, {.benchmark = "Scatter", .ranks = 4}), "");
}

TEST(a_fault_is_one_of_certain_data) {
  CHECK(!known_fault(mpich, {.datatype = "bfloat16", .op = "max"}).empty());
  CHECK_EQ(known_fault(mpich, {.datatype = "bfloat16", .op = "sum"}), "");
  CHECK_EQ(known_fault(mpich, {.datatype = "bfloat16"}), "");
  CHECK_EQ(known_fault(mpich, {.datatype = "float16", .op = "max"}), "");
}
