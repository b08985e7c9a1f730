// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/where.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace mpigauge::node {

namespace {

constexpr double most_uneven = 0.05;  // of all pages, that a node may have more or less...
constexpr double in_huge_page = 512;  // ...and as many, since those come at once
constexpr std::size_t at_a_time = 4096;

using Nodes = std::vector<platform::NumaNode>;

std::vector<int> with_memory(const Nodes& all) {
  std::vector<int> numbers;
  for (const auto& node : all) {
    if (node.has_memory) numbers.push_back(node.number);
  }
  return numbers;
}

std::string listed(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

std::string there_is(const Nodes& all) {
  const auto numbers = with_memory(all);
  if (numbers.empty()) return "the system tells of no node with memory";
  if (numbers.size() == 1) return "only node " + listed(numbers) + " has memory here";
  return "nodes " + listed(numbers) + " have memory here";
}

bool holds(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Firmware that tells no distances makes all others as far as each other.
int farthest(const Nodes& all, int own) {
  const auto here =
      std::find_if(all.begin(), all.end(), [own](const auto& node) { return node.number == own; });
  int found = -1, most = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].number == own || !all[i].has_memory) continue;
    const bool told = here != all.end() && here->distances.size() == all.size();
    const int far = told ? here->distances[i] : 0;
    if (far > most) {
      most = far;
      found = all[i].number;
    }
  }
  return found;
}

std::vector<int> numbered(const std::string& word, const Nodes& all) {
  std::string list = word;
  std::replace(list.begin(), list.end(), '+', ',');
  const auto numbers = platform::parse_cpuset(list);
  if (!numbers || numbers->empty()) {
    throw std::invalid_argument("'" + word + "' is none of local, remote, interleaved, 1 and 0+1");
  }
  for (const int number : *numbers) {
    if (!holds(with_memory(all), number)) {
      throw std::invalid_argument("there is no memory on NUMA node " + std::to_string(number) +
                                  "; " + there_is(all));
    }
  }
  return *numbers;
}

std::string shares(const Census& pages, std::size_t total) {
  std::string text;
  for (const auto& [node, count] : pages) {
    std::array<char, 32> share{};
    std::snprintf(share.data(), share.size(), "%.3g %%",
                  100.0 * static_cast<double>(count) / static_cast<double>(total));
    text += (text.empty() ? "" : ", ") + std::string(share.data());
  }
  return text;
}

std::size_t total_of(const Census& pages) {
  return std::accumulate(pages.begin(), pages.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.second; });
}

}  // namespace

std::vector<int> nodes_for(const std::string& word, const Nodes& all, int own) {
  if (word == "interleaved") {
    auto numbers = with_memory(all);
    if (numbers.empty()) throw std::invalid_argument(there_is(all));
    return numbers;
  }
  if (word == "local") {
    if (holds(with_memory(all), own)) return {own};
    throw std::invalid_argument("there is no memory beside this core, on NUMA node " +
                                std::to_string(own) + "; " + there_is(all));
  }
  if (word == "remote") {
    if (const int far = farthest(all, own); far >= 0) return {far};
    throw std::invalid_argument("there is no remote memory: " + there_is(all));
  }
  return numbered(word, all);
}

Census census_of(const platform::NumaCalls& calls, std::byte* at, std::size_t bytes,
                 std::string& why) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::array<void*, at_a_time> pages{};
  std::array<int, at_a_time> nodes{};
  Census found;
  for (std::size_t done = 0; done < bytes;) {
    std::size_t count = 0;
    for (; count < at_a_time && done < bytes; done += page) pages.at(count++) = at + done;
    const int error = calls.look({pages.data(), count}, {nodes.data(), count});
    if (error != 0) {
      why = "the system does not tell where memory lies (move_pages: " +
            std::string(std::strerror(error)) + ')';
      return {};
    }
    for (std::size_t i = 0; i < count; ++i) ++found[std::max(nodes.at(i), -1)];
  }
  return found;
}

std::string put_on(const platform::NumaCalls& calls, std::byte* at, std::size_t bytes,
                   const std::vector<int>& nodes) {
  const int error = calls.put(at, bytes, nodes);
  if (error == 0) return "";
  return "the system does not let memory be put on NUMA " +
         std::string(nodes.size() == 1 ? "node " : "nodes ") + listed(nodes) +
         " (mbind: " + std::strerror(error) + "); a container or a cpuset may be why";
}

std::string misplaced(const Census& pages, const std::vector<int>& wanted) {
  const auto total = static_cast<double>(total_of(pages));
  const double fair = total / static_cast<double>(wanted.size());
  bool fine = true;
  for (const auto& each : pages) fine = fine && holds(wanted, each.first);
  for (const int node : wanted) {
    const auto at = pages.find(node);
    const double count = at == pages.end() ? 0.0 : static_cast<double>(at->second);
    fine = fine && std::abs(count - fair) <= most_uneven * total + in_huge_page;
  }
  if (fine) return "";
  return "memory was wanted on " + std::string(wanted.size() == 1 ? "node " : "nodes ") +
         listed(wanted) + ", but lies on " + words_of(pages);
}

std::string words_of(const Census& pages) {
  std::vector<int> nodes;
  for (const auto& each : pages) {
    if (each.first >= 0) nodes.push_back(each.first);
  }
  std::string none = pages.contains(-1) ? "no node at all" : "";
  if (nodes.empty()) return none;
  if (pages.size() == 1) return "node " + listed(nodes);
  std::string text = (nodes.size() == 1 ? "node " : "nodes ") + listed(nodes);
  if (!none.empty()) text = none + " and " + text;
  return text + " (" + shares(pages, total_of(pages)) + ')';
}

}  // namespace mpigauge::node
