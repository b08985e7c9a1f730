// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "core/registry.hpp"
#include "core/run.hpp"
#include "driver/names.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

struct Ended {
  int status = 0;
  std::string said;
};

// A child adds a benchmark; what it said, and how it ended.
Ended add_in_a_child(const Card& card) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};  // no core file for an end on purpose
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], STDERR_FILENO);
    const Add added(card, [](Run&) {});
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  std::array<char, 256> text{};
  for (ssize_t got = 0; (got = read(ends[0], text.data(), text.size())) > 0;) {
    ended.said.append(text.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

}  // namespace

TEST(benchmarks_have_added_themselves) {
  CHECK(benchmarks().size() >= 20);
  CHECK(find_benchmark("PingPong") != nullptr);
  CHECK(find_benchmark("Barrier") != nullptr);
}

TEST(names_are_found_in_any_spelling) {
  const auto* found = find_benchmark("PingPong");
  CHECK(find_benchmark("pingpong") == found);
  CHECK(find_benchmark("PINGPONG") == found);
  CHECK(find_benchmark("PingPon") == nullptr);
  CHECK(find_benchmark("") == nullptr);
}

TEST(benchmarks_stand_in_the_order_of_their_suite) {
  const auto& all = benchmarks();
  CHECK(std::is_sorted(all.begin(), all.end(), [](const Benchmark& a, const Benchmark& b) {
    return std::tie(a.card.suite, a.card.place) < std::tie(b.card.suite, b.card.place);
  }));
}

TEST(every_card_says_what_it_is) {
  for (const auto& [card, function] : benchmarks()) {
    CHECK(!card.suite.empty() && !card.name.empty());
    CHECK(card.about.size() > 20 && card.about.back() == '.');
    CHECK(static_cast<bool>(function));
  }
}

TEST(two_of_one_name_end_the_program) {
  const Ended ended = add_in_a_child({.suite = "MPI1", .name = "pingPONG"});
  CHECK(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGABRT);
  CHECK_EQ(ended.said, "mpigauge-kernel: two benchmarks are called MPI1/pingPONG\n");
}

TEST(a_new_name_is_welcome) {
  const Ended ended = add_in_a_child({.suite = "MPI1", .name = "NeverHeardOf"});
  CHECK(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0);
  CHECK(find_benchmark("NeverHeardOf") == nullptr);
}
