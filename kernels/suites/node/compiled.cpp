// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/compiled.hpp"

#include <dlfcn.h>

#include <map>

#include "loops/loops.hpp"

namespace mpigauge::node {

namespace {

struct Opened {
  decltype(&mpigauge_loop) loop = nullptr;
  std::string words, problem;
};

Opened open(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {.problem = dlerror()};
  const auto loop = reinterpret_cast<decltype(&mpigauge_loop)>(dlsym(library, loop_symbol));
  const auto words = reinterpret_cast<decltype(&mpigauge_words)>(dlsym(library, words_symbol));
  if (loop == nullptr || words == nullptr) return {.problem = file + " has no loops"};
  return {.loop = loop, .words = words()};
}

std::map<std::string, Opened>& all_opened() {
  static std::map<std::string, Opened> all;
  return all;
}

const Opened& opened(const std::string& named) {
  const auto [at, is_new] = all_opened().try_emplace(named);
  if (is_new) at->second = open(named.substr(named.find('=') + 1));
  return at->second;
}

}  // namespace

Loop loop_of_compiler(const Run& run, const std::string& named, Stream what) {
  const Opened& library = opened(named);
  agree(run, library.problem.empty(), library.problem);
  return library.loop(static_cast<int>(what));
}

std::string words_of_compiler(const std::string& named) {
  const auto at = all_opened().find(named);
  return at == all_opened().end() ? "" : at->second.words;
}

}  // namespace mpigauge::node
