// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "thunks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mpigauge::translate {

namespace {

constexpr std::size_t size_of_thunk = 32;

// Puts `callback` into the register of the argument, and jumps.
void write_thunk(unsigned char* code, int argument, const Callback* callback, Function entry) {
  const auto word = reinterpret_cast<Word>(callback), to = reinterpret_cast<Word>(entry);
#if defined(__x86_64__)
  // mov rdx, word or mov r8, word; mov rax, to; jmp rax
  const std::array<unsigned char, 2> move = argument == 2
                                                ? std::array<unsigned char, 2>{0x48, 0xba}
                                                : std::array<unsigned char, 2>{0x49, 0xb8};
  constexpr std::array<unsigned char, 2> move_target = {0x48, 0xb8}, jump = {0xff, 0xe0};
  std::memcpy(code, move.data(), 2);
  std::memcpy(code + 2, &word, 8);
  std::memcpy(code + 10, move_target.data(), 2);
  std::memcpy(code + 12, &to, 8);
  std::memcpy(code + 20, jump.data(), 2);
#elif defined(__aarch64__)
  // ldr x2 or x4, word; ldr x16, to; br x16; nop; and the two words
  const std::array<std::uint32_t, 4> instructions = {
      0x58000080U | static_cast<std::uint32_t>(argument), 0x580000b0U, 0xd61f0200U, 0xd503201fU};
  std::memcpy(code, instructions.data(), 16);
  std::memcpy(code + 16, &word, 8);
  std::memcpy(code + 24, &to, 8);
#else
#error "no thunks are known for this processor"
#endif
}

}  // namespace

Thunks::Page Thunks::make_page() {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) end("no memory for callbacks:", std::strerror(errno));
  auto* const code = static_cast<unsigned char*>(memory);
  Page page{std::vector<Callback>(size / size_of_thunk), code, 0};
  for (std::size_t n = 0; n < page.callbacks.size(); ++n) {
    write_thunk(code + n * size_of_thunk, arguments_, &page.callbacks[n], entry_);
  }
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    end("this system forbids to make functions for callbacks:", std::strerror(errno));
  }
  __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code) + size);
  return page;
}

Function Thunks::of(const Callback& callback) {
  const std::scoped_lock guard(lock_);
  const auto thunk = [](const Page& page, std::size_t n) {
    return reinterpret_cast<Function>(page.code + n * size_of_thunk);
  };
  for (const Page& page : pages_) {
    for (std::size_t n = 0; n < page.used; ++n) {
      const Callback& each = page.callbacks[n];
      if (each.function == callback.function && each.how == callback.how) return thunk(page, n);
    }
  }
  if (pages_.empty() || pages_.back().used == pages_.back().callbacks.size()) {
    pages_.push_back(make_page());
  }
  Page& page = pages_.back();
  page.callbacks[page.used] = callback;
  return thunk(page, page.used++);
}

}  // namespace mpigauge::translate
