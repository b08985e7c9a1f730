// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/trouble.hpp"

#include "core/refused.hpp"

namespace mpigauge::io {

namespace {

// Some libraries explain an error in several lines.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n') line += c;
    else if (!line.empty() && line.back() != ' ') line += ' ';
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace

void Trouble::note_failure(int code, const char* call_name) {
  note(std::string(call_name) + ": " + MpiError(code).what());
}

void Trouble::note(const std::string& text) {
  if (!any()) text_ = in_one_line(text);
}

void Trouble::agree(MPI_Comm comm) const {
  const std::string mine = any() ? text_ + " (rank " + std::to_string(rank_in(comm)) + ')' : "";
  const std::string first = first_text(mine, comm);
  if (!first.empty()) throw Refused(first);
}

}  // namespace mpigauge::io
