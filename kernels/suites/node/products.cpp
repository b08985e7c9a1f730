// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Products of matrices by the BLAS that --blas names, on as many threads as the rank has cores:
// square ones, and in the shape in which HPL updates what is left of its matrix.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "suites/node/effort.hpp"
#include "suites/node/matrices.hpp"
#include "suites/node/rank_blas.hpp"

namespace mpigauge::node {
namespace {

enum class Form { square, update };

constexpr std::size_t columns_of_update = 192;  // as HPL's blocks have them, and nodeperf
constexpr std::array<std::size_t, 2> orders{2000, 4000};
constexpr std::array<std::size_t, 2> update_orders{4000, 15000};

constexpr std::array<std::size_t, 2> squares(std::array<std::size_t, 2> sides, std::size_t bytes) {
  for (std::size_t& side : sides) side *= side * bytes;
  return sides;
}
template <class Number>
constexpr auto bytes_of_squares = squares(orders, sizeof(Number));
template <class Number>
constexpr auto bytes_of_updates = squares(update_orders, sizeof(Number));

// The size of a row is the bytes of the product.
template <class Number>
std::size_t order_of(std::size_t bytes) {
  const auto order = std::sqrt(static_cast<double>(bytes) / sizeof(Number));
  return std::max<std::size_t>(1, static_cast<std::size_t>(order));
}

template <class Number, Form form>
Extent extent_of(std::size_t bytes) {
  const std::size_t order = order_of<Number>(bytes);
  return {order, form == Form::update ? columns_of_update : order};
}

template <class Number, Form form>
double operations(const Shape& s) {
  const Extent extent = extent_of<Number, form>(s.bytes);
  const auto n = static_cast<double>(extent.order), k = static_cast<double>(extent.depth);
  return 2 * n * n * k * s.ranks;
}

using Key = std::tuple<std::size_t, int, int>;
template <class Number, Form form>
Effort& effort_of(std::size_t bytes, int ranks, int threads) {
  static std::map<Key, Effort> all;
  return all[{bytes, ranks, threads}];
}

template <class Number, Form form>
BusyWith busy(const Shape& s) {
  return effort_of<Number, form>(s.bytes, s.ranks, s.threads).busy();
}

// HPL takes a product away from what there is; every other call adds it again, so that numbers stay
// as small as they are.
template <class Number, Form form>
void multiply(Run& run) {
  const blas::Library& library = library_of(run);
  const Extent extent = extent_of<Number, form>(run.bytes());
  const bool update = form == Form::update;
  const Matrices<Number> at = matrices_of<Number>(run, extent);
  if (run.checking()) make_ready(at, update);
  const Effort before = Effort::so_far();
  const auto n = static_cast<long>(extent.order), k = static_cast<long>(extent.depth);
  Number sign = update ? Number{-1} : Number{1};
  const Number turn = update ? Number{-1} : Number{1}, kept = update ? Number{1} : Number{0};
  run.measure([&library, at, n, k, &sign, turn, kept](Turn) {
    library.product(n, n, k, sign, at.a, at.b, kept, at.c);
    sign *= turn;
  });
  if (!run.checking()) {
    effort_of<Number, form>(run.bytes(), run.ranks(), run.threads()).add_since(before);
  }
  run.expect(run.checking() ? wrong_numbers(at, update) : 0);
}

template <class Number, Form form>
constexpr ThreadedLibrary blas{threads_of_library, busy<Number, form>};

template <class Number, Form form>
constexpr Card card_of(std::string_view name, std::string_view about, int place) {
  constexpr bool square = form == Form::square;
  return {
      .suite = "NODE",
      .name = name,
      .about = about,
      .place = place,
      .columns = Columns::rate,
      .send = nothing,
      .recv = nothing,
      .messages = operations<Number, form>,
      .options = {SuiteOption::blas},
      .may_refuse = true,
      .sizes = square ? std::span(bytes_of_squares<Number>) : std::span(bytes_of_updates<Number>),
      .prepare = count_threads,
      .choice = words_of_library,
      .library = &blas<Number, form>,
  };
}

template <class Number>
struct Both {
  Both(std::string_view name, std::string_view about, std::string_view update_name, int place)
      : square(card_of<Number, Form::square>(name, about, place), multiply<Number, Form::square>),
        update(card_of<Number, Form::update>(
                   update_name, "The same as HPL's update: n x n takes away n x 192 times 192 x n.",
                   place + 1),
               multiply<Number, Form::update>) {}
  Add square, update;
};

const Both<double> in_double("DGEMM",
                             "A product of n x n matrices by the BLAS of --blas; its rate is "
                             "operations per second, its size that of the product.",
                             "DGEMM_update", 400);
const Both<float> in_single("SGEMM", "The same in single precision.", "SGEMM_update", 410);

}  // namespace
}  // namespace mpigauge::node
