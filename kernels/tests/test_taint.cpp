// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What counts as a disturbance, with threads that wait and threads that are kept from running.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "core/sampling.hpp"
#include "platform/platform.hpp"
#include "tests/check.hpp"

using namespace mpigauge::platform;

namespace {

/// A message that another thread sends through a pipe, and that one waits for asleep.
class Post {
 public:
  Post() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
    sender_ = std::thread([this] { send(); });
  }
  ~Post() {
    left_ = 0;
    sender_.join();
    close(ends_[0]);
    close(ends_[1]);
  }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  /// Asks for a message, and sleeps until it is there.
  void wait_for_one() {
    ++wanted_;
    pollfd there{.fd = ends_[0], .events = POLLIN, .revents = 0};
    char byte = 0;
    if (poll(&there, 1, -1) != 1 || read(ends_[0], &byte, 1) != 1)
      throw std::runtime_error("no message");
  }

 private:
  void send() {
    while (left_ != 0) {
      sleep_s(1e-3);
      const char byte = 1;
      if (wanted_ > 0 && write(ends_[1], &byte, 1) == 1) --wanted_;
    }
  }
  std::array<int, 2> ends_{};
  std::atomic<int> wanted_{0}, left_{1};
  std::thread sender_;
};

}  // namespace

TEST(a_call_that_sleeps_until_its_message_is_there_is_not_disturbed) {
  start_clock();
  Post post;
  mpigauge::Sampling sampling({.precision = 1e-6}, {{1e9}}, now_s());
  int blocked = 0;
  while (blocked < 10) {
    const mpigauge::Round round = sampling.next(0);
    TaintProbe probe;
    const Counted before = counted();
    probe.mark();
    const auto start = ticks();
    post.wait_for_one();
    mpigauge::Chunk chunk{.round = round.number, .taint = probe.taint()};
    chunk.slowest = chunk.fastest = chunk.mean = {ticks() - start};
    const Counted after = counted();
    sampling.add(0, std::move(chunk), 1e-3);
    const bool left_alone = after.preempted == before.preempted && after.cpu == before.cpu;
    if (after.blocked == before.blocked || !left_alone || round.number == 0) continue;
    const auto& seen = sampling.cells()[0].chunks().back();
    CHECK_EQ(seen.taint & (Taint::switched | Taint::migrated), 0U);
    ++blocked;
  }
}

TEST(a_thread_whose_core_is_taken_is_disturbed) {
  const CpuSet before = allowed_cpus();
  CHECK(bind({before.front()}));
  std::atomic<bool> on{true};
  std::thread other([&] {
    while (on) {
    }
  });
  TaintProbe probe;
  probe.mark();
  while ((probe.taint() & Taint::switched) == 0) {
  }
  on = false;
  other.join();
  CHECK(bind(before));
}

TEST(what_is_disturbance_and_what_is_waiting) {
  const Counted before{.blocked = 3, .preempted = 5, .cpu = 1};
  CHECK_EQ(taint_between(before, {.blocked = 9, .preempted = 5, .cpu = 1}), 0U);
  CHECK_EQ(taint_between(before, {.blocked = 3, .preempted = 6, .cpu = 1}), Taint::switched);
  CHECK_EQ(taint_between(before, {.blocked = 3, .preempted = 5, .cpu = 0}), Taint::migrated);
}
