// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/program.hpp"

#include <algorithm>

#include "core/registry.hpp"

namespace mpigauge::imb {

namespace {

std::vector<Program>& all_programs() {
  static std::vector<Program> all;
  return all;
}

}  // namespace

AddProgram::AddProgram(const Program& program) {
  auto& all = all_programs();
  const auto by_name = [](const Program& a, const Program& b) { return a.name < b.name; };
  all.insert(std::upper_bound(all.begin(), all.end(), program, by_name), program);
}

const std::vector<Program>& programs() { return all_programs(); }

const Program* find_program(std::string_view called_as) {
  const auto name = called_as.substr(called_as.rfind('/') + 1);
  const auto& all = programs();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Program& p) { return same_name(p.name, name); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace mpigauge::imb
