// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "platform/pages.hpp"

namespace mpigauge::platform {

void ask_for_huge_pages(std::byte* at, std::size_t bytes) {
  const auto start = reinterpret_cast<std::uintptr_t>(at);
  const std::size_t skip = (huge_page - start % huge_page) % huge_page;
  // Refused where the kernel has none; then the pages stay as they are.
  if (bytes > skip) madvise(at + skip, bytes - skip, MADV_HUGEPAGE);
}

std::size_t bytes_in_huge_pages(const std::byte* at, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(at), last = first + bytes;
  std::ifstream file("/proc/self/smaps");
  std::string text;
  std::size_t kib = 0, all = 0;
  bool inside = false;
  while (std::getline(file, text)) {
    unsigned long from = 0, to = 0;
    if (std::sscanf(text.c_str(), "%lx-%lx ", &from, &to) == 2) inside = from < last && to > first;
    else if (inside && std::sscanf(text.c_str(), "AnonHugePages: %zu kB", &kib) == 1) all += kib;
  }
  return all * 1024;
}

}  // namespace mpigauge::platform
