// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/faults.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "core/library.hpp"

namespace mpigauge {

namespace {

struct Fault {
  std::string_view name;  // of the library, as it says itself
  std::string_view
      version;  // the first thing behind it; a part of a version stands for all of them
  bool (*hits)(const Asked&);
  std::string_view reason;
};

constexpr std::array faults{
    Fault{"Intel(R) MPI Library", "2021.18",
          [](const Asked& a) { return a.benchmark.starts_with("Scatter_persist") && a.ranks > 2; },
          "Intel MPI 2021.18 aborts when a persistent Scatter of more than 2 ranks is started a "
          "second time"},
    Fault{"MPICH Version:", "5.0",
          [](const Asked& a) { return a.datatype == "bfloat16" && !a.op.empty() && a.op != "sum"; },
          "MPICH 5.0 aborts in every reduction of bfloat16 but the sum"},
};

bool is_version(std::string_view text, std::string_view version) {
  const auto start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos || !text.substr(start).starts_with(version)) return false;
  const auto rest = text.substr(start + version.size());
  return rest.empty() || std::isdigit(static_cast<unsigned char>(rest.front())) == 0;
}

bool is_in(std::string_view library, const Fault& fault) {
  return library.starts_with(fault.name) &&
         is_version(library.substr(fault.name.size()), fault.version);
}

std::string_view text_of_open_library() {
  static const std::string text = library_text();
  return text;
}

// The library is asked only where it matters.
template <class Library>
std::string_view fault_in(Library library, const Asked& asked) {
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.hits(asked) && is_in(library(), fault);
  });
  return found == faults.end() ? "" : found->reason;
}

}  // namespace

std::string_view known_fault(std::string_view library, const Asked& asked) {
  return fault_in([=] { return library; }, asked);
}

std::string_view known_fault(const Asked& asked) { return fault_in(text_of_open_library, asked); }

}  // namespace mpigauge
