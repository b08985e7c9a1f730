// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "platform/pages.hpp"
#include "platform/platform.hpp"
#include "suites/node/arrays.hpp"
#include "suites/node/tuning.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::node;

namespace {

constexpr double untouched = -7;
constexpr std::size_t around = 16;  // numbers on either side that no loop may write
constexpr std::size_t most = 1000;
constexpr std::size_t lengths[] = {0, 1, 7, 8, 9, 31, 32, 33, 64, 100, 257, most};

// Memory for arrays of up to `most` numbers that start at a cache line.
class Room {
 public:
  Room() : memory_(4 * 16384), base_(reinterpret_cast<double*>(memory_.data())) {
    for (std::size_t i = 0; i < 6144; ++i) base_[2048 + i] = number_at(i);
  }
  [[nodiscard]] Arrays arrays(std::size_t n) {
    for (std::size_t i = 0; i < 2048; ++i) base_[i] = untouched;
    return {base_ + around, base_ + 2048 + 8, base_ + 2048 + 3000, n, 8, 3000};
  }
  [[nodiscard]] bool kept(std::size_t n) const {
    for (std::size_t i = 0; i < around; ++i) {
      if (base_[i] != untouched || base_[around + n + i] != untouched) return false;
    }
    return true;
  }

 private:
  platform::Mapping memory_;
  double* base_;
};

std::string names(const std::vector<const Vectors*>& all) {
  std::string text;
  for (const Vectors* each : all) text += std::string(each->name) + ' ';
  return text;
}

bool is_right(Room& room, Stream what, Loop loop, std::size_t n) {
  const Arrays a = room.arrays(n);
  make_ready(what, a);
  const double sum = loop(a.x, a.y, a.z, n, factor_of(what));
  const bool sums = what == Stream::read || what == Stream::dot;
  if (sums) std::fill_n(a.x, n, untouched);
  return wrong_numbers(what, a, sum) == 0 && room.kept(n);
}

constexpr Stream all_streams[] = {Stream::read, Stream::write, Stream::copy,   Stream::scale,
                                  Stream::add,  Stream::triad, Stream::update, Stream::dot};

}  // namespace

TEST(every_loop_is_right_at_every_length_and_writes_no_further) {
  Room room;
  for (const Vectors* each : vectors_up_to("")) {
    for (const Stream what : all_streams) {
      for (const std::size_t n : lengths) {
        bool right = is_right(room, what, each->plain.at(place_of(what)), n);
        for (const Loop loop : each->tuned.at(place_of(what))) {
          right = right && is_right(room, what, loop, n);
        }
        if (!right) std::cerr << each->name << ' ' << place_of(what) << ' ' << n << '\n';
        CHECK(right);
      }
    }
  }
}

TEST(one_wrong_number_is_found_and_one_that_is_none) {
  Room room;
  const Arrays a = room.arrays(most);
  for (const Stream what : {Stream::copy, Stream::triad, Stream::write}) {
    usual_vectors().plain.at(place_of(what))(a.x, a.y, a.z, a.n, factor_of(what));
    CHECK_EQ(wrong_numbers(what, a, 0), 0U);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), a.x[617] * (1 + 1e-15)}) {
      const double right = std::exchange(a.x[617], bad);
      CHECK_EQ(wrong_numbers(what, a, 0), 1U);
      a.x[617] = right;
    }
  }
  make_ready(Stream::triad, a);
  CHECK_EQ(wrong_numbers(Stream::triad, a, 0), most);
}

TEST(a_sum_that_is_off_by_one_or_no_number_is_wrong) {
  Room room;
  const Arrays a = room.arrays(most);
  for (const Stream what : {Stream::read, Stream::dot}) {
    const Loop loop = usual_vectors().plain.at(place_of(what));
    const double sum = loop(a.x, a.y, a.z, a.n, 0);
    CHECK_EQ(wrong_numbers(what, a, sum), 0U);
    CHECK_EQ(wrong_numbers(what, a, sum + 1), 1U);
    CHECK_EQ(wrong_numbers(what, a, std::nan("")), 1U);
  }
}

TEST(every_operation_in_registers_is_done) {
  for (const Vectors* each : vectors_up_to("")) {
    for (const Peak& peak : {each->peak, each->single_peak}) {
      CHECK_EQ(peak.run(1000, 0.5, 1.0), 2.0 * peak.numbers);
      CHECK_EQ(peak.run(1, 0.5, 2.0), 3.0 * peak.numbers);
      CHECK_EQ(peak.run(2, 0.5, 2.0), 3.5 * peak.numbers);
    }
    CHECK(each->single_peak.numbers >= each->peak.numbers);
  }
}

TEST(instructions_can_be_left_out) {
  CHECK(names(vectors_up_to("baseline")).find("avx") == std::string::npos);
  CHECK(names(vectors_up_to("avx2")).find("avx512") == std::string::npos);
  CHECK_EQ(names(vectors_up_to("")), names(vectors_up_to("avx512")));
  CHECK(!vectors_up_to("baseline").empty());
  CHECK_EQ(check::thrown_by<std::invalid_argument>([] { vectors_up_to("avx1024"); }),
           "MPIGAUGE_ISA is 'avx1024', none of baseline, avx2, avx512");
}

// Whoever runs this on another processor says what that one has.
TEST(the_processor_has_what_it_is_said_to_have) {
  const char* expected = std::getenv("MPIGAUGE_EXPECT_VECTORS");
  if (expected != nullptr) CHECK_EQ(names(vectors_up_to("")), std::string(expected));
}

TEST(simple_loops_are_as_wide_as_compilers_make_them) {
  const auto usual = [](std::initializer_list<std::string_view> names, bool of_intel) {
    std::vector<Vectors> made;
    for (const auto name : names) made.push_back({.name = name});
    std::vector<const Vectors*> all;
    for (const Vectors& each : made) all.push_back(&each);
    return std::string(usual_among(all, of_intel));
  };
  CHECK_EQ(usual({"generic", "sse2", "avx2", "avx512"}, true), "avx2");
  CHECK_EQ(usual({"generic", "sse2", "avx2", "avx512"}, false), "avx512");
  CHECK_EQ(usual({"generic", "sse2"}, false), "sse2");
  CHECK_EQ(usual({"generic", "neon"}, false), "neon");
  CHECK_EQ(usual({"generic"}, false), "generic");
}

TEST(what_was_chosen_is_said_in_words) {
  CHECK_EQ(words_of({generic_vectors(), {true, true}, 37, true}),
           "generic, past the caches, 4 strips, 37 lines apart, huge pages");
  CHECK_EQ(words_of({generic_vectors(), {}, 0, false}), "generic, usual pages");
  CHECK_EQ(found_for(Stream::triad, {.bytes = 12345}), "");
}

TEST(a_call_of_many_steps_prints_one) {
  const Card& chase = find_benchmark("NODE", "Chase")->card;
  CHECK_EQ(time_scale(chase) * chase.steps, 1.0);
  const Card& line = find_benchmark("NODE", "Line")->card;
  CHECK_EQ(time_scale(line) * line.steps, 0.5);
  CHECK_EQ(find_benchmark("NODE", "Triad")->card.moved({.bytes = 83, .ranks = 2}), 2.0 * 3 * 80);
}

TEST(noise_is_not_listened_to_for_as_long_as_its_row_is_not_precise) {
  CHECK_EQ(find_benchmark("NODE", "Noise")->card.most_s, 2.0);
}

TEST(others_may_rest_only_where_they_are_named) {
  for (const auto* share : {"half", "quarter", "eighth"}) {
    const Card& load = find_benchmark("NODE", std::string("Chase_loaded_") + share)->card;
    const Card& read = find_benchmark("NODE", std::string("Read_loaded_") + share)->card;
    CHECK(!load.by_default && !read.by_default);
    CHECK_EQ(load.steps, find_benchmark("NODE", "Chase_loaded")->card.steps);
    CHECK_EQ(read.moved({.bytes = 1 << 20, .ranks = 3}), 2.0 * (1 << 20));
  }
}

TEST(huge_pages_are_counted_where_they_are) {
  const std::size_t bytes = 4 * platform::huge_page;
  const platform::Mapping memory(bytes);
  platform::ask_for_huge_pages(memory.data(), bytes);
  CHECK_EQ(platform::bytes_in_huge_pages(memory.data(), bytes), 0U);
  std::fill_n(memory.data(), bytes, std::byte{1});
  const std::size_t huge = platform::bytes_in_huge_pages(memory.data(), bytes);
  CHECK_EQ(huge % platform::huge_page, 0U);  // a machine may have none to give
}
