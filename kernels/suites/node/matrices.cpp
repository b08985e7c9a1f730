// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/matrices.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>

#include "platform/pages.hpp"
#include "suites/node/arrays.hpp"
#include "suites/node/rank_blas.hpp"

namespace mpigauge::node {

namespace {

constexpr double share_of_memory = 0.8;

// Numbers repeat after this many rows and columns: a prime, as no block of a library is a multiple
// of it; so a block at a wrong place is wrong in most of its numbers.
constexpr std::size_t period = 31;
constexpr int from_a(std::size_t row, std::size_t column) {
  const std::size_t x = (row + 2 * column) % period;
  return static_cast<int>(x * x % 9) - 4;
}
constexpr int from_b(std::size_t row, std::size_t column) {
  const std::size_t x = (3 * row + column) % period;
  return static_cast<int>((x * x + 5 * x) % 9) - 4;
}
constexpr int before_update(std::size_t row, std::size_t column) {
  return static_cast<int>((row + 7 * column) % period);
}

// All there are of different numbers in a product, by row and column in the period.
std::vector<long> products(std::size_t depth) {
  std::vector<long> sums(period * period, 0);
  for (std::size_t row = 0; row < period; ++row) {
    for (std::size_t column = 0; column < period; ++column) {
      for (std::size_t k = 0; k < depth; ++k) {
        sums[column * period + row] += from_a(row, k) * from_b(k, column);
      }
    }
  }
  return sums;
}

template <class Number, class Value>
void fill_columns(Number* at, std::size_t rows, std::size_t columns, Value value) {
  side_by_side(columns, [=](std::size_t begin, std::size_t end) {
    for (std::size_t column = begin; column < end; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        at[column * rows + row] = static_cast<Number>(value(row, column));
      }
    }
  });
}

template <class Number>
struct Held {
  platform::Mapping c, factors;
  Extent filled;
};
template <class Number>
Held<Number>& held() {
  static Held<Number> one;
  return one;
}

std::string mib(std::size_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / (1U << 20U));
  return text.data();
}

platform::Mapping huge(std::size_t bytes) {
  platform::Mapping made(bytes);
  platform::ask_for_huge_pages(made.data(), bytes);
  return made;
}

}  // namespace

template <class Number>
void fill(const Matrices<Number>& at) {
  const auto [order, depth] = at.extent;
  fill_columns(at.a, order, depth, from_a);
  fill_columns(at.b, depth, order, from_b);
}

// What other extents leave in c are numbers, too, which do as well where times alone count.
template <class Number>
Matrices<Number> matrices_of(const Run& run, Extent extent) {
  Held<Number>& all = held<Number>();
  const std::size_t of_c = extent.order * extent.order * sizeof(Number);
  const std::size_t of_a = extent.order * extent.depth * sizeof(Number);
  const bool enough = all.c.size() >= of_c && all.factors.size() >= 2 * of_a;
  const double wanted = static_cast<double>(of_c + 2 * of_a) * run.ranks();
  const double there = share_of_memory * static_cast<double>(platform::available_memory()) +
                       static_cast<double>(all.c.size() + all.factors.size());
  agree(run, enough || wanted <= there,
        "not enough memory: matrices of " + mib(of_c + 2 * of_a) + " on each of " +
            std::to_string(run.ranks()) + " ranks");
  if (!enough) {
    all = {};  // or both would be needed at once
    all.c = huge(of_c);
    all.factors = huge(2 * of_a);
  }
  auto* const a = reinterpret_cast<Number*>(all.factors.data());
  const Matrices<Number> at{a, a + extent.order * extent.depth,
                            reinterpret_cast<Number*>(all.c.data()), extent};
  if (!enough) fill_columns(at.c, extent.order, extent.order, before_update);
  if (all.filled != extent) fill(at);
  all.filled = extent;
  return at;
}

template <class Number>
void make_ready(const Matrices<Number>& at, bool update) {
  const std::size_t n = at.extent.order;
  if (update) return fill_columns(at.c, n, n, before_update);
  fill_columns(at.c, n, n,
               [](std::size_t, std::size_t) { return std::numeric_limits<Number>::quiet_NaN(); });
}

// A comparison that a number which is none does not pass.
template <class Number>
std::size_t wrong_numbers(const Matrices<Number>& at, bool update) {
  const std::size_t n = at.extent.order;
  const auto sums = products(at.extent.depth);
  std::atomic<std::size_t> wrong{0};
  side_by_side(n, [&](std::size_t begin, std::size_t end) {
    std::size_t mine = 0;
    for (std::size_t column = begin; column < end; ++column) {
      for (std::size_t row = 0; row < n; ++row) {
        const long sum = sums[column % period * period + row % period];
        const long right = update ? before_update(row, column) - sum : sum;
        mine += at.c[column * n + row] == static_cast<Number>(right) ? 0 : 1;
      }
    }
    wrong += mine;
  });
  return wrong;
}

template Matrices<double> matrices_of(const Run&, Extent);
template Matrices<float> matrices_of(const Run&, Extent);
template void fill(const Matrices<double>&);
template void fill(const Matrices<float>&);
template void make_ready(const Matrices<double>&, bool);
template void make_ready(const Matrices<float>&, bool);
template std::size_t wrong_numbers(const Matrices<double>&, bool);
template std::size_t wrong_numbers(const Matrices<float>&, bool);

}  // namespace mpigauge::node
