// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/mix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/reading.hpp"

namespace mpigauge {

namespace {

constexpr double microsecond = 1e-6, longest_us = 1e9;
constexpr int most_ranks = 1 << 24, most_window = 1 << 16;
constexpr std::uint32_t most_times = 1U << 20U;
constexpr std::size_t cache_line = 64;
constexpr std::size_t most_bytes = std::numeric_limits<int>::max();

constexpr std::array<Word<MixedCall>, 20> words{{
    {"barrier", MixedCall::barrier},
    {"bcast", MixedCall::bcast},
    {"reduce", MixedCall::reduce},
    {"allreduce", MixedCall::allreduce},
    {"reduce_scatter", MixedCall::reduce_scatter},
    {"reduce_scatter_block", MixedCall::reduce_scatter_block},
    {"scan", MixedCall::scan},
    {"exscan", MixedCall::exscan},
    {"gather", MixedCall::gather},
    {"gatherv", MixedCall::gatherv},
    {"scatter", MixedCall::scatter},
    {"scatterv", MixedCall::scatterv},
    {"allgather", MixedCall::allgather},
    {"allgatherv", MixedCall::allgatherv},
    {"alltoall", MixedCall::alltoall},
    {"alltoallv", MixedCall::alltoallv},
    {"sendrecv", MixedCall::sendrecv},
    {"send", MixedCall::send},
    {"posted", MixedCall::posted},
    {"nonblocking", MixedCall::nonblocking},
}};

MixedCall read_call(std::string_view text) {
  for (const auto& each : words) {
    if (each.text == text) return each.value;
  }
  refuse(text, "is not a call that can be replayed");
}

std::size_t read_index(std::string_view text, std::size_t size) {
  const auto index = read_number<std::size_t>(text, most_times);
  if (index >= size) refuse(text, "is none of " + std::to_string(size));
  return index;
}

bool has_parts_to_send(MixedCall call) {
  return call == MixedCall::scatter || call == MixedCall::scatterv || call == MixedCall::alltoall ||
         call == MixedCall::alltoallv;
}

bool has_parts_to_receive(MixedCall call) {
  return call == MixedCall::gather || call == MixedCall::gatherv || call == MixedCall::allgather ||
         call == MixedCall::allgatherv || call == MixedCall::alltoall ||
         call == MixedCall::alltoallv;
}

// Calls that wait for one message have one on each side.
void check_pairs(std::string_view word, const std::vector<MixedMessage>& messages) {
  for (const auto& one : messages) {
    const auto alike = std::count_if(messages.begin(), messages.end(), [&](const auto& each) {
      return each.from == one.from || each.to == one.to;
    });
    if (alike > 1) refuse(word, "has several messages of one rank");
  }
}

std::size_t most_members(const MixedGroup& group) {
  std::size_t most = 0;
  for (const auto& members : group) most = std::max(most, members.size());
  return most;
}

// Of those that one rank receives before a wait.
std::size_t most_incoming(const MixedStep& step) {
  std::size_t most = 0;
  for (const auto& one : step.messages) {
    const auto alike = std::count_if(step.messages.begin(), step.messages.end(),
                                     [&](const MixedMessage& each) { return each.to == one.to; });
    most = std::max(most, static_cast<std::size_t>(alike));
  }
  return most * static_cast<std::size_t>(step.window);
}

}  // namespace

Mix Mix::read(const std::string& text) {
  constexpr std::size_t sections = 5;
  Mix made;
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) refuse(text, "has no name before its mix");
  made.name_ = text.substr(0, equals);
  const auto parts = parts_of(std::string_view(text).substr(equals + 1), ';');
  if (parts.size() != sections) refuse(made.name_, "is not of five parts with ; between");
  made.ranks_ = read_number<int>(parts[0], most_ranks);
  if (made.ranks_ == 0) refuse(made.name_, "has no ranks");
  made.read_groups(parts[1]);
  made.gaps_s_ = made.read_times(parts[2]);
  made.read_steps(parts[3]);
  if (!parts[4].empty()) made.read_lateness(parts[4]);
  return made;
}

int Mix::read_rank(std::string_view text) const { return read_number<int>(text, ranks_ - 1); }

std::vector<double> Mix::read_times(std::string_view text) const {
  std::vector<double> seconds;
  for (const auto us : parts_of(text, '+')) {
    seconds.push_back(read_number<double>(us, longest_us) * microsecond);
  }
  if (seconds.size() != static_cast<std::size_t>(ranks_)) {
    refuse(text, "has no time for each of " + std::to_string(ranks_) + " ranks");
  }
  return seconds;
}

void Mix::read_groups(std::string_view text) {
  for (const auto group : parts_of(text, '/')) {
    auto& made = groups_.emplace_back();
    std::vector<bool> taken(static_cast<std::size_t>(ranks_), false);
    for (const auto comm : parts_of(group, '_')) {
      auto& members = made.emplace_back();
      for (const auto word : parts_of(comm, '+')) {
        const int rank = read_rank(word);
        if (taken[static_cast<std::size_t>(rank)]) refuse(group, "has a rank twice");
        taken[static_cast<std::size_t>(rank)] = true;
        members.push_back(rank);
      }
    }
  }
}

void Mix::read_steps(std::string_view text) {
  constexpr std::size_t collective = 5, messages = 7;
  for (const auto word : parts_of(text, '/')) {
    const auto parts = parts_of(word, ':');
    MixedStep step;
    step.call = read_call(parts[0]);
    if (parts.size() != (step.has_messages() ? messages : collective)) {
      refuse(word, "is not a step of a mix");
    }
    step.bytes = read_number<std::size_t>(parts[1], most_bytes);
    step.group = read_index(parts[2], groups_.size());
    step.root = read_number<int>(parts[3], ranks_ - 1);
    step.times = read_number<std::uint32_t>(parts[4], most_times);
    if (step.has_messages()) {
      step.window = read_number<int>(parts[5], most_window);
      for (const auto message : parts_of(parts[6], '+')) {
        const auto ends = parts_of(message, '-');
        if (ends.size() != 2) refuse(message, "does not say from which rank to which");
        step.messages.push_back({read_rank(ends[0]), read_rank(ends[1])});
      }
      if (step.call != MixedCall::nonblocking) check_pairs(word, step.messages);
    } else {
      for (const auto& members : groups_[step.group]) {
        if (step.root >= static_cast<int>(members.size())) refuse(word, "has a root of no rank");
      }
    }
    steps_.push_back(std::move(step));
  }
}

void Mix::read_lateness(std::string_view text) {
  for (const auto word : parts_of(text, '/')) {
    const auto parts = parts_of(word, ':');
    if (parts.size() != 2) refuse(word, "is not a lateness of a step");
    auto& step = steps_[read_index(parts[0], steps_.size())];
    for (const auto late : parts_of(parts[1], '_')) step.lateness.push_back(read_times(late));
  }
}

std::string Mix::excuse(int ranks) const {
  if (empty()) return "nothing is there to replay; --profile names it";
  if (ranks == ranks_) return "";
  return "the profile " + name_ + " is of " + std::to_string(ranks_) +
         (ranks_ == 1 ? " rank" : " ranks");
}

std::vector<std::size_t> Mix::order() const {
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    for (std::uint32_t i = 0; i < steps_[step].times; ++i) {
      places.emplace_back((i + 0.5) / steps_[step].times, step);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<std::size_t> order;
  order.reserve(places.size());
  for (const auto& place : places) order.push_back(place.second);
  return order;
}

std::size_t Mix::most_sent() const {
  std::size_t most = 0;
  for (const auto& step : steps_) {
    const auto parts = has_parts_to_send(step.call) ? most_members(groups_[step.group]) : 1;
    most = std::max(most, step.bytes * parts);
  }
  return (most + cache_line - 1) / cache_line * cache_line;
}

std::size_t Mix::most_received() const {
  std::size_t most = 0;
  for (const auto& step : steps_) {
    std::size_t parts = 1;
    if (has_parts_to_receive(step.call)) parts = most_members(groups_[step.group]);
    if (step.has_messages()) parts = most_incoming(step);
    most = std::max(most, step.bytes * parts);
  }
  return most;
}

std::string option_text(const Mix& mix) { return mix.name(); }

}  // namespace mpigauge
