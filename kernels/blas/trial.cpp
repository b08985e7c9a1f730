// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "blas/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "platform/clock.hpp"

namespace mpigauge::blas {

namespace {

constexpr const char* product_is_right = "product=right";

struct Child {
  pid_t process = -1;
  int output = -1;
};

// Spawned, not forked: memory that a network card uses must not be copied.
Child start(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Child child{-1, ends[0]};
  if (posix_spawn(&child.process, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    child.process = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  return child;
}

// All that it prints until it closes its end; false when that takes too long.
bool read_all(int from, double patience_s, std::string& text) {
  const double end_s = platform::now_s() + patience_s;
  std::array<char, 4096> part{};
  for (;;) {
    const double left_s = end_s - platform::now_s();
    pollfd ready{from, POLLIN, 0};
    if (left_s <= 0 || poll(&ready, 1, static_cast<int>(left_s * 1e3) + 1) <= 0) return false;
    const ssize_t got = read(from, part.data(), part.size());
    if (got <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

int ended(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string how(int status) {
  if (WIFSIGNALED(status)) return std::string("with ") + strsignal(WTERMSIG(status));
  return "with exit status " + std::to_string(WEXITSTATUS(status));
}

// Integers of 64 bits where the last question, with a number that those of 32 bits cut, was too
// much.
std::string missing_lines(const std::string& file, const std::string& said, bool in_time,
                          int status) {
  if (said.find("problem=") != std::string::npos) return "";
  if (said.find(product_is_right) != std::string::npos) {
    return said.find("bits=") != std::string::npos ? "" : "bits=64\n";
  }
  const char* doing = said.find("trial=product") != std::string::npos
                          ? " in a product of 3 x 3 matrices"
                          : " while it was opened";
  if (!in_time) return "problem=" + file + " did not end" + doing + '\n';
  return "problem=" + file + " ended its process" + doing + ", " + how(status) + '\n';
}

}  // namespace

std::vector<std::string> own_program() {
  constexpr std::size_t program_and_what_to_open = 5;
  std::ifstream command("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  words.resize(std::min(words.size(), program_and_what_to_open));
  if (!words.empty()) words[0] = "/proc/self/exe";
  return words;
}

std::string try_out(const std::vector<std::string>& program, const std::string& file,
                    double patience_s) {
  auto words = program;
  words.insert(words.end(), {try_word, file});
  const Child child = start(words);
  std::string said;
  if (child.process < 0) {
    if (child.output >= 0) close(child.output);
    return "problem=cannot start " + words[0] + ", which tries out a BLAS\n";
  }
  const bool in_time = read_all(child.output, patience_s, said);
  close(child.output);
  if (!in_time) kill(child.process, SIGKILL);
  const int status = ended(child.process);
  return said + missing_lines(file, said, in_time, status);
}

Trial read_trial(const std::string& printed) {
  std::map<std::string, std::string> found;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find('=');
    if (at != std::string::npos) found[line.substr(0, at)] = line.substr(at + 1);
  }
  const auto number = [&](const char* name) {
    return static_cast<int>(std::strtol(found[name].c_str(), nullptr, 10));
  };
  return {.problem = found["problem"],
          .account = {.name = found["name"],
                      .core = found["core"],
                      .threading = found["threading"],
                      .threads = number("threads")},
          .symbol = found["symbol"],
          .bits = number("bits")};
}

}  // namespace mpigauge::blas
