// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Runs the tests of the files that are named, or all.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/check.hpp"

int main(int argc, char** argv) {
  using namespace mpigauge::check;
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  int run = 0;
  for (const Test& test : tests()) {
    const bool named = std::find(wanted.begin(), wanted.end(), test.file) != wanted.end();
    if (!wanted.empty() && !named) continue;
    const int before = failures;
    try {
      test.body();
    } catch (const std::exception& error) {
      that(false, std::string("threw ") + error.what(), test.file, 0);
    }
    if (failures > before) std::cerr << "failed: " << test.file << ' ' << test.name << '\n';
    ++run;
  }
  std::cout << run << " tests, " << failures << " failures\n";
  return failures > 0 || run == 0 ? 1 : 0;
}
