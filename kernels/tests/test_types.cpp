// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <set>

#include "core/types.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

std::vector<std::byte> bytes_of(int rank, std::size_t first, std::size_t count) {
  std::vector<std::byte> bytes(count);
  fill_bytes(rank, first, bytes);
  return bytes;
}

std::vector<std::byte> filled(const DataType& type, std::string_view op, int rank,
                              std::size_t count) {
  std::vector<std::byte> bytes(count * type.bytes);
  type.fill(op, rank, 0, bytes.data(), count);
  return bytes;
}

std::size_t wrong_after(const DataType& type, std::string_view op, int ranks,
                        std::span<const std::byte> got) {
  return wrong_elements(type, reduced_period(type, op, ranks), 0, got);
}

// As a library may do it: ranks combined two by two in a tree.
std::vector<std::byte> tree_of(const DataType& type, std::string_view op, int from, int to,
                               std::size_t count) {
  if (to - from == 1) return filled(type, op, from, count);
  const int middle = from + (to - from) / 3 + ((to - from) % 3 != 0 ? 1 : 0);
  auto left = tree_of(type, op, from, middle, count);
  const auto right = tree_of(type, op, middle, to, count);
  type.combine(op, right.data(), left.data(), count);
  return left;
}

template <class Visit>
void for_all_reductions(Visit&& visit) {
  for (const auto& type : data_types()) {
    for (const auto op : type.ops) visit(type, op);
  }
}

}  // namespace

TEST(sent_bytes_arrive_right_from_any_offset) {
  for (const std::size_t count : {0U, 1U, 250U, 251U, 252U, 1000U, 4096U}) {
    for (const std::size_t first : {0U, 1U, 250U, 251U, 777U}) {
      CHECK_EQ(wrong_bytes(3, first, bytes_of(3, first, count)), 0U);
    }
  }
}

TEST(sent_bytes_go_on_where_they_were_cut) {
  const auto whole = bytes_of(5, 0, 2000);
  const auto rest = bytes_of(5, 700, 1300);
  CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + 700));
}

TEST(one_wrong_byte_is_found_at_every_place) {
  auto got = bytes_of(1, 0, 1021);
  for (auto& byte : got) {
    const auto right = byte;
    byte ^= std::byte{1};
    CHECK_EQ(wrong_bytes(1, 0, got), 1U);
    byte = right;
  }
}

TEST(a_wrong_period_is_found_behind_right_ones) {
  auto bytes = bytes_of(1, 0, 4 * byte_period);
  bytes.back() ^= std::byte{1};
  CHECK_EQ(wrong_bytes(1, 0, std::span(bytes).subspan(2 * byte_period)), 1U);
  const auto* type = find_type("int");
  const auto right = reduced_period(*type, "sum", 2);
  std::vector<std::byte> elements;
  for (int i = 0; i < 4; ++i) elements.insert(elements.end(), right.begin(), right.end());
  elements.back() ^= std::byte{1};
  CHECK_EQ(wrong_elements(*type, right, 0, std::span(elements).subspan(2 * right.size())), 1U);
}

TEST(nothing_zero_and_nothing_poisoned_passes) {
  const auto sent = bytes_of(0, 0, 251);
  CHECK_EQ(std::count(sent.begin(), sent.end(), std::byte{0}), 0);
  const std::vector<std::byte> zero(1000), poisoned(1000, poison);
  CHECK_EQ(wrong_bytes(0, 0, zero), 1000U);
  CHECK(wrong_bytes(0, 0, poisoned) >= 996U);
}

TEST(shifted_and_foreign_bytes_are_found) {
  for (const std::size_t shift : {1U, 2U, 8U, 64U, 250U, 256U, 4096U, 65536U}) {
    CHECK_EQ(wrong_bytes(0, 0, bytes_of(0, shift, 500)), 500U);
  }
  for (int other = 1; other < 251; ++other) {
    CHECK_EQ(wrong_bytes(0, 0, bytes_of(other, 0, 300)), 300U);
  }
}

TEST(every_reduction_is_exact_in_any_order) {
  for_all_reductions([](const DataType& type, std::string_view op) {
    for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 16, 61, 62, 64, 128, 300}) {
      const auto got = tree_of(type, op, 0, ranks, pattern_period);
      CHECK_EQ(wrong_after(type, op, ranks, got), 0U);
    }
  });
}

// Against arithmetic of another width, for the types where the library's answer is not that of
// `combine` by construction.
TEST(sums_and_products_are_those_of_arithmetic) {
  const auto* type = find_type("double");
  for (const int ranks : {1, 2, 3, 4, 100, 2000}) {
    const auto sums = reduced_period(*type, "sum", ranks);
    for (std::size_t i = 0; i < pattern_period; ++i) {
      long expected = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        double part = 0;
        type->fill("sum", rank, i, reinterpret_cast<std::byte*>(&part), 1);
        expected += std::lround(part);
      }
      double got = 0;
      std::memcpy(&got, sums.data() + i * sizeof got, sizeof got);
      CHECK_EQ(got, static_cast<double>(expected));
    }
  }
}

// What `combine` makes of two numbers, in words of the standard and not of itself.
TEST(operations_are_those_of_the_standard) {
  const auto of_two = []<class T>(std::string_view type, std::string_view op, T a, T b) {
    find_type(type)->combine(op, reinterpret_cast<const std::byte*>(&b),
                             reinterpret_cast<std::byte*>(&a), 1);
    return a;
  };
  const std::vector<std::pair<std::string_view, int>> of_ints{
      {"sum", 9}, {"prod", 18}, {"max", 6},  {"min", 3}, {"land", 1},
      {"lor", 1}, {"lxor", 0},  {"band", 2}, {"bor", 7}, {"bxor", 5}};
  CHECK_EQ(of_ints.size(), find_type("int")->ops.size());
  for (const auto& [op, result] : of_ints) {
    CHECK_EQ(of_two("int", op, 3, 6), result);
    CHECK_EQ(of_two("int", op, 6, 3), result);
  }
  for (const auto& [op, result] : {std::pair{"land", 0}, {"lor", 1}, {"lxor", 1}}) {
    CHECK_EQ(of_two("int", op, 0, 6), result);
    CHECK_EQ(of_two("int", op, 6, 0), result);
    CHECK_EQ(of_two("int", op, 0, 0), 0);
  }
  for (const auto& [op, result] :
       {std::pair{"sum", 3.5}, {"prod", 1.5}, {"max", 3.}, {"min", .5}}) {
    CHECK_EQ(of_two("double", op, 0.5, 3.0), result);
    CHECK_EQ(of_two("float", op, 3.0F, 0.5F), static_cast<float>(result));
  }
  using Complex = std::complex<double>;
  CHECK(of_two("double_complex", "sum", Complex(1, 2), Complex(3, 5)) == Complex(4, 7));
  CHECK(of_two("double_complex", "prod", Complex(1, 2), Complex(3, 5)) == Complex(-7, 11));
  using Pair = std::array<int, 2>;  // a value and its place; of two that are equal the lower one
  CHECK(of_two("2int", "maxloc", Pair{1, 8}, Pair{2, 9}) == Pair({2, 9}));
  CHECK(of_two("2int", "minloc", Pair{1, 8}, Pair{2, 9}) == Pair({1, 8}));
  for (const std::string_view op : {"maxloc", "minloc"}) {
    CHECK(of_two("2int", op, Pair{1, 8}, Pair{1, 3}) == Pair({1, 3}));
  }
}

TEST(products_never_leave_the_numbers) {
  for (const std::string_view name : {"float", "double", "float_complex", "double_complex"}) {
    const auto* type = find_type(name);
    const auto period = reduced_period(*type, "prod", 2000);
    // NaN and infinity minus itself are not equal to themselves.
    for (std::size_t i = 0; i < pattern_period; ++i) {
      const auto* at = period.data() + i * type->bytes;
      CHECK(type->same(at, at));
    }
  }
  const auto floats = reduced_period(*find_type("float"), "prod", 2000);
  for (std::size_t i = 0; i < pattern_period; ++i) {
    float value = 0;
    std::memcpy(&value, floats.data() + i * sizeof value, sizeof value);
    CHECK(std::isfinite(value));
  }
}

TEST(values_repeat_with_the_period) {
  for_all_reductions([](const DataType& type, std::string_view op) {
    for (const int rank : {0, 1, 999}) {
      const auto two = filled(type, op, rank, 2 * pattern_period);
      std::vector<std::byte> later(pattern_period * type.bytes);
      type.fill(op, rank, pattern_period, later.data(), pattern_period);
      CHECK_EQ(wrong_elements(type, later, 0, two), 0U);
    }
  });
}

TEST(one_wrong_element_is_found_at_every_place) {
  for_all_reductions([](const DataType& type, std::string_view op) {
    const std::size_t count = pattern_period + 5;
    auto got = tree_of(type, op, 0, 3, count);
    const auto period = reduced_period(type, op, 3);
    std::size_t missed = 0;
    for (std::size_t i = 0; i < count; i += i < 40 ? 1 : 97) {
      // The lowest byte of a number, or of the place of a pair: never padding.
      auto& low = got[i * type.bytes];
      const auto right = low;
      low ^= std::byte{0x40};
      missed += wrong_elements(type, period, 0, got) == 1 ? 0U : 1U;
      low = right;
    }
    CHECK_EQ(missed, 0U);
  });
}

TEST(missing_and_repeated_ranks_are_found) {
  const auto* type = find_type("int");
  for (const std::string_view op : {"sum", "prod", "bxor", "lxor"}) {
    CHECK(wrong_after(*type, op, 4, reduced_period(*type, op, 3)) > 0);
    CHECK(wrong_after(*type, op, 4, reduced_period(*type, op, 5)) > 0);
  }
}

TEST(shifted_reductions_are_found) {
  const auto* type = find_type("float");
  auto got = tree_of(*type, "sum", 0, 4, 1000);
  std::rotate(got.begin(), got.begin() + 4, got.end());
  CHECK(wrong_after(*type, "sum", 4, got) > 900);
}

TEST(not_a_number_is_wrong) {
  const auto* type = find_type("double");
  auto got = tree_of(*type, "max", 0, 2, 100);
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(got.data() + 8 * 50, &none, sizeof none);
  CHECK_EQ(wrong_after(*type, "max", 2, got), 1U);
}

TEST(poison_is_no_result) {
  for_all_reductions([](const DataType& type, std::string_view op) {
    const std::vector<std::byte> untouched(100 * type.bytes, poison);
    CHECK_EQ(wrong_after(type, op, 2, untouched), 100U);
  });
}

TEST(a_part_of_a_reduction_is_checked_from_its_first_element) {
  const auto* type = find_type("int64");
  const auto all = tree_of(*type, "sum", 0, 3, 3000);
  const std::span<const std::byte> got(all.data() + 8 * 2000, 8 * 500);
  CHECK_EQ(wrong_elements(*type, reduced_period(*type, "sum", 3), 2000, got), 0U);
  CHECK(wrong_elements(*type, reduced_period(*type, "sum", 3), 2001, got) > 0);
}

TEST(names_are_unique_and_found) {
  std::set<std::string_view> names;
  for (const auto& type : data_types()) {
    CHECK(names.insert(type.name).second);
    CHECK(find_type(type.name) == &type);
  }
  for (const auto& op : ops()) CHECK(find_op(op.name) == &op);
  CHECK(find_type("quad") == nullptr);
  CHECK(find_op("avg") == nullptr);
  CHECK(has_op(*find_type("2int"), "maxloc"));
  CHECK(!has_op(*find_type("2int"), "sum"));
  CHECK(!has_op(*find_type("byte"), "sum"));
}
