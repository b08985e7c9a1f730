// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/buffers.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

std::vector<std::byte> written(const Contents& contents, std::size_t first, std::size_t bytes) {
  std::vector<std::byte> to(bytes);
  Pattern(contents).write(first, to);
  return to;
}

}  // namespace

TEST(a_pattern_has_the_bytes_of_its_rank_from_any_byte_on) {
  const Contents contents{.rank = 3};
  for (const std::size_t bytes : {0U, 1U, 1023U, 1024U, 4016U, 20000U}) {
    for (const std::size_t first : {0U, 1U, 97U, 4016U, 123457U}) {
      CHECK_EQ(wrong_bytes(3, first, written(contents, first, bytes)), 0U);
    }
  }
}

TEST(a_pattern_has_the_numbers_of_its_rank_from_any_element_on) {
  for (const std::string_view name : {"float", "double_int", "int8", "double_complex"}) {
    const DataType& type = *find_type(name);
    const std::string op(type.ops.front());
    const Contents contents{.type = &type, .op = op, .rank = 2};
    std::vector<std::byte> period(pattern_period * type.bytes);
    type.fill(op, 2, 0, period.data(), pattern_period);
    for (const std::size_t first : {0U, 1U, 1463U, 1464U, 99999U}) {
      const auto got = written(contents, first, 5000 * type.bytes);
      CHECK_EQ(wrong_elements(type, period, first, got), 0U);
    }
  }
}

TEST(every_byte_differs_from_the_one_that_was_there) {
  const Contents contents{.rank = 1};
  const auto one = written(contents, 7, 5000), next = written(contents, 8, 5000);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] != next[i]);
}

TEST(fresh_contents_have_memory_of_their_own) {
  Buffers buffers(mapped_arena);
  CHECK(&buffers.send({.rank = 0}, 64) != &buffers.send({.rank = 0, .fresh = true}, 64));
}

TEST(a_send_buffer_is_filled_to_its_end_and_kept_while_it_is_large_enough) {
  Buffers buffers(mapped_arena);
  for (const std::size_t bytes : {1U, 100'000U, 300'000U}) {
    const std::byte* data = buffers.send({.rank = 2}, bytes).location().data;
    CHECK_EQ(wrong_bytes(2, 0, {data, bytes}), 0U);
    CHECK(buffers.send({.rank = 2}, bytes).location().data == data);
    CHECK(buffers.send({.rank = 2}, 1).location().data == data);
  }
}
