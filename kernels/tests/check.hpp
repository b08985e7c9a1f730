// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// As much of a test framework as these tests need: TEST adds a test to the list of its file,
// CHECK notes what does not hold and goes on.
#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace mpigauge::check {

struct Test {
  std::string_view file, name;
  std::function<void()> body;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

inline int failures = 0;

struct AddTest {
  AddTest(std::string_view file, std::string_view name, std::function<void()> body) {
    tests().push_back({file, name, std::move(body)});
  }
};

inline void that(bool holds, std::string_view text, std::string_view file, int line) {
  if (holds) return;
  ++failures;
  std::cerr << file << ':' << line << ": does not hold: " << text << '\n';
}

template <class A, class B>
void equal(const A& a, const B& b, std::string_view text, std::string_view file, int line) {
  if (a == b) return;
  ++failures;
  std::cerr << file << ':' << line << ": " << text;
  if constexpr (requires { std::cerr << a << b; }) std::cerr << ": " << a << " is not " << b;
  std::cerr << '\n';
}

/// The text of the error that a call throws; empty when it throws none.
template <class Error, class Call>
std::string thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace mpigauge::check

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define TEST(name)                                                            \
  static void name();                                                         \
  static const mpigauge::check::AddTest added_##name{TEST_FILE, #name, name}; \
  static void name()
#define CHECK(...) mpigauge::check::that(__VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_EQ(a, b) mpigauge::check::equal(a, b, #a " == " #b, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, most) \
  mpigauge::check::that(std::fabs((a) - (b)) <= (most), #a " is near " #b, __FILE__, __LINE__)
// NOLINTEND(cppcoreguidelines-macro-usage)
