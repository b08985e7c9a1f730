// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The plugin's entry for all names of IMB.

#include <exception>

#include "driver/singletons.hpp"
#include "imb/grammar.hpp"
#include "imb/program.hpp"

extern "C" int mpigauge_imb(int argc, char** argv) {
  using namespace mpigauge;
  constexpr int exit_usage = 2;
  const imb::Words words(argv + 1, argv + argc);
  const imb::Program* program = imb::find_program(argv[0]);
  const auto complain = [&](std::string_view name, const char* what) {
    complain_once(name, what);
    return exit_usage;
  };
  if (program == nullptr) return complain(argv[0], "is the name of none of the programs");
  try {
    return program->run(*program, words);
  } catch (const std::exception& error) {
    return complain(program->name, error.what());
  }
}
