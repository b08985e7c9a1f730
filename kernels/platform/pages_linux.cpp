// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "platform/pages.hpp"

namespace mpigauge::platform {

void ask_for_huge_pages(std::byte* at, std::size_t bytes) {
  const auto start = reinterpret_cast<std::uintptr_t>(at);
  const std::size_t skip = (huge_page - start % huge_page) % huge_page;
  // Refused where the kernel has none; then the pages stay as they are.
  if (bytes > skip) madvise(at + skip, bytes - skip, MADV_HUGEPAGE);
}

std::size_t bytes_in_huge_pages(const std::byte* at, std::size_t bytes) {
  constexpr std::string_view huge = "AnonHugePages:";
  const auto first = reinterpret_cast<std::uintptr_t>(at), last = first + bytes;
  std::ifstream file("/proc/self/smaps");
  std::string text;
  std::size_t kib = 0;
  bool inside = false;
  while (std::getline(file, text)) {
    char* end = nullptr;
    const auto from = std::strtoull(text.c_str(), &end, 16);
    if (*end == '-') {
      inside = from < last && std::strtoull(end + 1, nullptr, 16) > first;
    } else if (inside && text.starts_with(huge)) {
      kib += std::strtoull(text.c_str() + huge.size(), nullptr, 10);
    }
  }
  return kib * 1024;
}

}  // namespace mpigauge::platform
