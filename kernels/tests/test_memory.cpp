// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "platform/memory.hpp"
#include "tests/check.hpp"

using namespace mpigauge::platform;

namespace {

using Files = std::map<std::string, std::string>;

// What is left by control groups that these files tell of.
double left_in(const Files& files) {
  std::string name = std::filesystem::temp_directory_path() / "mpigauge-memory-XXXXXX";
  const std::filesystem::path root = mkdtemp(name.data());
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  const double left = memory_left(root.string());
  std::filesystem::remove_all(root);
  return left;
}

}  // namespace

TEST(a_process_takes_some_memory) {
  const MemoryUse use = memory_use();
  CHECK(use.peak_bytes > 1e5);
  CHECK(use.shared_bytes >= 0.0);
  CHECK(use.left_bytes > 0.0);
}

TEST(the_tightest_group_up_the_tree_counts) {
  const Files files{{"proc/self/cgroup", "0::/job/step\n"},
                    {"sys/fs/cgroup/job/step/memory.max", "max\n"},
                    {"sys/fs/cgroup/job/step/memory.peak", "300\n"},
                    {"sys/fs/cgroup/job/memory.max", "1000\n"},
                    {"sys/fs/cgroup/job/memory.peak", "400\n"}};
  CHECK_EQ(left_in(files), 600.0);
}

TEST(version_1_has_other_names) {
  const Files files{{"proc/self/cgroup", "9:cpu:/x\n4:memory:/x\n"},
                    {"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"},
                    {"sys/fs/cgroup/memory/x/memory.max_usage_in_bytes", "5\n"},
                    {"sys/fs/cgroup/memory/memory.limit_in_bytes", "100\n"},
                    {"sys/fs/cgroup/memory/memory.max_usage_in_bytes", "70\n"}};
  CHECK_EQ(left_in(files), 30.0);
}

TEST(without_a_limit_nothing_is_said) {
  CHECK(std::isinf(left_in({{"proc/self/cgroup", "0::/\n"}})));
  CHECK(std::isinf(left_in({{"proc/self/cgroup", "nonsense\n0::x\n"}})));
  CHECK(std::isinf(left_in({})));
}
