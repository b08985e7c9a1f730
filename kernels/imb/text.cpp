// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/text.hpp"

#include <sys/utsname.h>

#include <cstdio>
#include <ctime>

#include "core/mpi.hpp"

namespace mpigauge::imb {

namespace {

constexpr std::size_t banner_dashes = 64;

std::string formatted(const char* format, double number) {
  char text[400];  // the largest double has 309 digits
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string local_time() {
  char text[64] = "";
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (localtime_r(&now, &parts) != nullptr) {
    std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  }
  return text;
}

}  // namespace

Line& Line::word(std::string_view text) {
  if (text.size() < field_width) text_.append(field_width - text.size(), ' ');
  else if (!text_.empty()) text_ += ' ';  // too wide for its field, but never glued to another
  text_ += text;
  return *this;
}

Line& Line::count(std::int64_t number) { return word(std::to_string(number)); }
Line& Line::value(double number) { return word(formatted("%.2f", number)); }
Line& Line::rate(double number) { return word(formatted("%.0f", number)); }

std::string head(const std::vector<std::string_view>& words) {
  Line line;
  for (const auto word : words) line.word(word);
  return line.text();
}

std::string dashes(std::size_t count) { return '#' + std::string(count, '-') + '\n'; }
std::string rule(std::size_t columns) { return dashes(field_width * columns - 1); }

std::string banner(std::string_view title) {
  std::string text = dashes(banner_dashes);
  text += "#    mpigauge " MPIGAUGE_VERSION ", IMB-compatible, " + std::string(title) + '\n';
  return text + dashes(banner_dashes);
}

std::string system_lines() {
  utsname system{};
  uname(&system);
  int version = 0, subversion = 0;
  call(MPI_Get_version(&version, &subversion));
  std::string text;
  text += "# Date                  : " + local_time() + '\n';
  text += std::string("# Machine               : ") + system.machine + '\n';
  text += std::string("# System                : ") + system.sysname + '\n';
  text += std::string("# Release               : ") + system.release + '\n';
  text += std::string("# Version               : ") + system.version + '\n';
  text += "# MPI Version           : " + std::to_string(version) + '.' +
          std::to_string(subversion) + '\n';
  return text + "# MPI Thread Environment: \n";
}

// NOLINTNEXTLINE(modernize-use-string-view): it is appended to strings
std::string footer() { return "\n\n# All processes entering MPI_Finalize\n\n"; }

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace mpigauge::imb
