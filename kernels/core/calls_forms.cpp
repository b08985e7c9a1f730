// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/calls_forms.hpp"

#include <cctype>
#include <set>

namespace mpigauge {

std::string_view keep(std::string text) {
  static std::set<std::string> kept;  // its elements never move
  return *kept.insert(std::move(text)).first;
}

std::string immediate_name(std::string_view collective) {
  std::string name = 'I' + std::string(collective);
  name[1] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[1])));
  return name;
}

std::string_view blocking_call(std::string_view collective) {
  return keep("MPI_" + std::string(collective));
}

std::string_view immediate_call(std::string_view collective) {
  return keep("MPI_" + immediate_name(collective));
}

std::string_view init_call(std::string_view collective) {
  return keep("MPI_" + std::string(collective) + "_init");
}

}  // namespace mpigauge
