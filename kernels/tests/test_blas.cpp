// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "blas/trial.hpp"
#include "core/registry.hpp"
#include "suites/node/effort.hpp"
#include "suites/node/matrices.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::node;

namespace {

template <class Number>
struct Room {
  explicit Room(Extent extent)
      : factors(2 * extent.order * extent.depth), product(extent.order * extent.order) {
    at = {factors.data(), factors.data() + extent.order * extent.depth, product.data(), extent};
    fill(at);
  }
  // c + sign a b, or sign a b alone, as a library should do it.
  void multiply(bool update) {
    make_ready(at, update);
    const auto [n, depth] = at.extent;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        Number sum = 0;
        for (std::size_t k = 0; k < depth; ++k) sum += at.a[k * n + i] * at.b[j * depth + k];
        at.c[j * n + i] = update ? at.c[j * n + i] - sum : sum;
      }
    }
  }
  std::vector<Number> factors, product;
  Matrices<Number> at;
};

template <class Number>
void finds_what_is_wrong(Extent extent, bool update) {
  Room<Number> room(extent);
  room.multiply(update);
  CHECK_EQ(wrong_numbers(room.at, update), 0U);
  const std::size_t place = room.product.size() / 2;
  const Number right = room.product[place];
  const Number least_off = std::nextafter(right, std::numeric_limits<Number>::max());
  for (const Number bad : {std::numeric_limits<Number>::quiet_NaN(), least_off}) {
    room.product[place] = bad;
    CHECK_EQ(wrong_numbers(room.at, update), 1U);
  }
}

}  // namespace

TEST(one_wrong_number_of_a_product_is_found_and_one_that_is_none) {
  finds_what_is_wrong<double>({45, 45}, false);
  finds_what_is_wrong<float>({45, 45}, false);
  finds_what_is_wrong<double>({33, 192}, true);
  finds_what_is_wrong<float>({1, 192}, true);
}

TEST(a_product_that_was_not_made_is_wrong_everywhere) {
  const Room<double> room({40, 40});
  make_ready(room.at, false);
  CHECK_EQ(wrong_numbers(room.at, false), room.product.size());
}

TEST(a_row_of_a_product_at_another_place_is_wrong) {
  Room<double> room({64, 64});
  room.multiply(false);
  std::swap_ranges(room.product.begin(), room.product.begin() + 64, room.product.begin() + 64 * 32);
  CHECK(wrong_numbers(room.at, false) > 64U);
}

TEST(operations_of_products_are_counted_by_their_order) {
  const auto operations = [](const char* name, std::size_t bytes) {
    return find_benchmark("NODE", name)->card.messages({.bytes = bytes, .ranks = 2});
  };
  CHECK_EQ(operations("DGEMM", 8 * 100 * 100), 2.0 * 2 * 1e6);
  CHECK_EQ(operations("SGEMM", 4 * 100 * 100 + 3), 2.0 * 2 * 1e6);
  CHECK_EQ(operations("DGEMM_update", 8UL * 15000 * 15000), 2.0 * 2 * 15000 * 15000 * 192);
  CHECK_EQ(operations("DGEMM", 0), 2.0 * 2);
}

TEST(threads_that_share_the_work_are_told_from_those_that_wait) {
  const Effort sequential{{{1, 4.0}, {2, 0.01}}, 4.0};
  CHECK_EQ(std::round(sequential.busy().threads * 10), 10.0);
  CHECK_EQ(std::round(sequential.busy().cores * 10), 10.0);
  const Effort on_one_core{{{1, 2.0}, {2, 2.0}}, 4.0};
  CHECK_EQ(on_one_core.busy().threads, 2.0);
  CHECK_EQ(on_one_core.busy().cores, 1.0);
  CHECK(std::isnan(Effort().busy().cores));
}

TEST(what_a_trial_prints_is_read) {
  const auto trial = blas::read_trial(
      "name=OpenBLAS 0.3.34\ncore=Haswell\nthreading=pthreads\nthreads=2\nsymbol=cblas_dgemm64_\n"
      "trial=product\nproduct=right\nbits=64\n");
  CHECK_EQ(trial.problem, "");
  CHECK_EQ(trial.bits, 64);
  CHECK_EQ(blas::words_of(trial.account), "OpenBLAS 0.3.34, core Haswell, pthreads, 2 threads");
  CHECK_EQ(blas::read_trial("name=x\nproblem=it has none\n").problem, "it has none");
  CHECK_EQ(blas::words_of({.name = "libblas.so.3", .threads = 1}), "libblas.so.3, 1 thread");
}

TEST(a_program_that_cannot_be_started_is_a_problem) {
  const auto said = blas::try_out({"/nonexistent/kernel"}, "libblas.so", 1);
  CHECK_EQ(blas::read_trial(said).problem,
           "cannot start /nonexistent/kernel, which tries out a BLAS");
}

TEST(a_trial_that_ends_early_or_never_is_a_problem) {
  const auto problem = [](const char* script, double patience_s) {
    return blas::read_trial(blas::try_out({"/bin/sh", "-c", script, "sh"}, "libx.so", patience_s))
        .problem;
  };
  CHECK_EQ(problem("exit 3", 10),
           "libx.so ended its process while it was opened, with exit status 3");
  CHECK_EQ(problem("echo trial=product; kill -SEGV $$", 10),
           "libx.so ended its process in a product of 3 x 3 matrices, with Segmentation fault");
  CHECK_EQ(problem("echo trial=product; exec sleep 9", 0.05),
           "libx.so did not end in a product of 3 x 3 matrices");
}

TEST(a_library_that_does_not_survive_a_number_of_64_bits_has_these) {
  const auto said =
      blas::try_out({"/bin/sh", "-c", "echo product=right; kill -SEGV $$", "sh"}, "x", 10);
  CHECK_EQ(blas::read_trial(said).bits, 64);
  CHECK_EQ(blas::read_trial(said).problem, "");
}
