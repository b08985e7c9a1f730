// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/directories.hpp"

#include <string>

#include "core/refused.hpp"
#include "platform/files.hpp"

namespace mpigauge {

// One rank of each host looks, as a local disk is another one there.
void check_directories(const Session& session, std::string_view option) {
  std::string mine;
  if (session.rank == 0 || platform::launcher_local_rank() == 0) {
    for (const auto& directory : session.options.suite.directories) {
      const auto why = platform::why_not_writable(directory);
      if (!why.empty() && mine.empty()) {
        mine.append(option)
            .append(": no file can be made in '")
            .append(directory)
            .append("' on ")
            .append(platform::host_name());
        mine.append(": ").append(why);
      }
    }
  }
  const auto first = first_text(mine, MPI_COMM_WORLD);
  if (!first.empty()) throw UsageError(first);
}

}  // namespace mpigauge
