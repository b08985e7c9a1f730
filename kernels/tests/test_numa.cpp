// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Memory on NUMA nodes, on machines that are recorded or thought up, with calls of the system that
// only pretend.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/numa.hpp"
#include "suites/node/where.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::node;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30U;
constexpr std::size_t page = 4096;

// Files of a machine below a folder of their own.
class Files {
 public:
  explicit Files(const std::map<std::string, std::string>& files) {
    std::string folder = std::filesystem::temp_directory_path() / "mpigauge-machine-XXXXXX";
    root_ = mkdtemp(folder.data());
    for (const auto& [path, text] : files) {
      std::filesystem::create_directories((root_ / path).parent_path());
      std::ofstream(root_ / path) << text;
    }
  }
  ~Files() { std::filesystem::remove_all(root_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  [[nodiscard]] std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

// What a recorded machine tells of nodes and cores: a path and, behind a tab, what is there.
std::map<std::string, std::string> recorded(const std::string& name) {
  std::map<std::string, std::string> files;
  std::ifstream lines(std::string(MACHINES) + '/' + name);
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    const bool wanted = line.starts_with("sys/devices/system/node/") ||
                        line.find("/topology/") != std::string::npos;
    if (wanted && tab != std::string::npos) files[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return files;
}

// Two sockets of two nodes each, and one of memory that has no cores; node 5 has no memory.
std::vector<platform::NumaNode> two_sockets() {
  return {{0, true, 60 * gib, {0, 1}, {10, 12, 32, 32, 40, 12}},
          {1, true, 60 * gib, {2, 3}, {12, 10, 32, 32, 40, 12}},
          {2, true, 60 * gib, {4, 5}, {32, 32, 10, 12, 40, 32}},
          {3, true, 60 * gib, {6, 7}, {32, 32, 12, 10, 40, 32}},
          {4, true, 16 * gib, {}, {40, 40, 40, 40, 10, 40}},
          {5, false, 0, {8, 9}, {12, 12, 32, 32, 40, 10}}};
}

// Puts pages where it is told, but for those that stray.
class Pretended : public platform::NumaCalls {
 public:
  int refusal = 0, silence = 0;
  std::size_t straying = 0;  // of the first pages, onto node 3

  [[nodiscard]] std::vector<platform::NumaNode> nodes() const override { return two_sockets(); }
  [[nodiscard]] int put(std::byte* at, std::size_t /*bytes*/,
                        const std::vector<int>& nodes) const override {
    start_ = at;
    nodes_ = nodes;
    return refusal;
  }
  [[nodiscard]] int look(std::span<void*> pages, std::span<int> nodes) const override {
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const auto number =
          static_cast<std::size_t>(static_cast<std::byte*>(pages[i]) - start_) / page;
      nodes[i] = number < straying ? 3 : nodes_.at(number % nodes_.size());
    }
    return silence;
  }

 private:
  mutable std::byte* start_ = nullptr;
  mutable std::vector<int> nodes_;
};

struct Found {
  Census pages;
  std::string why;
};

Found put_and_look(const Pretended& calls, const std::vector<int>& nodes, std::size_t pages) {
  std::vector<std::byte> memory(pages * page);
  Found found;
  found.why = put_on(calls, memory.data(), memory.size(), nodes);
  if (found.why.empty()) found.pages = census_of(calls, memory.data(), memory.size(), found.why);
  return found;
}

std::string refused(const std::string& word, int own = 0) {
  return check::thrown_by<std::invalid_argument>([&] { nodes_for(word, two_sockets(), own); });
}

using Numbers = std::vector<int>;

}  // namespace

TEST(a_recorded_machine_has_two_nodes_with_memory) {
  const Files machine(recorded("epyc-7302-two-sockets.txt"));
  const auto nodes = platform::numa_nodes(machine.root());
  CHECK_EQ(nodes.size(), 2U);
  for (const auto& node : nodes) {
    CHECK(node.has_memory);
    CHECK_EQ(node.cpus.size(), 32U);
  }
  CHECK(nodes_for("local", nodes, 1) == Numbers{1});
  CHECK(nodes_for("remote", nodes, 1) == Numbers{0});
  CHECK(nodes_for("interleaved", nodes, 1) == (Numbers{0, 1}));
}

TEST(memory_that_a_node_has_is_told_beside_its_distances) {
  const Files machine({{"sys/devices/system/node/node0/meminfo",
                        "Node 0 MemTotal: 100 kB\nNode 0 MemFree: 40 kB\n"
                        "Node 0 Active(file): 2 kB\nNode 0 Inactive(file): 1 kB\n"},
                       {"sys/devices/system/node/node0/distance", "10 21 21\n"},
                       {"sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB\n"},
                       {"sys/devices/system/node/node2/cpulist", "\n"},
                       {"proc/self/status", "Mems_allowed:\t3\nMems_allowed_list:\t0-1\n"}});
  const auto nodes = platform::numa_nodes(machine.root());
  CHECK_EQ(nodes.size(), 2U);
  CHECK_EQ(nodes[0].free_bytes, 43U * 1024U);
  CHECK(nodes[0].distances == (Numbers{10, 21, 21}));
  CHECK(!nodes[1].has_memory);
}

TEST(a_machine_that_tells_nothing_has_no_nodes) {
  CHECK(platform::numa_nodes("/nowhere").empty());
  CHECK_EQ(check::thrown_by<std::invalid_argument>([] { nodes_for("interleaved", {}, 0); }),
           "the system tells of no node with memory");
}

TEST(processors_are_found_in_their_packages_nodes_and_cores) {
  const Files machine(recorded("epyc-7302-two-sockets.txt"));
  const auto places = platform::cpu_places({0, 16, 32, 48}, machine.root());
  CHECK_EQ(places[0].numa, 0);
  CHECK_EQ(places[1].numa, 1);
  CHECK_EQ(places[1].package, 1);
  CHECK_EQ(places[0].sibling, 0);
  CHECK_EQ(places[2].sibling, 1);
  CHECK_EQ(places[2].core, places[0].core);
}

TEST(words_are_nodes_as_seen_from_a_core) {
  const auto nodes = two_sockets();
  CHECK(nodes_for("local", nodes, 2) == Numbers{2});
  CHECK(nodes_for("remote", nodes, 0) == Numbers{4});
  CHECK(nodes_for("interleaved", nodes, 0) == (Numbers{0, 1, 2, 3, 4}));
  CHECK(nodes_for("1", nodes, 0) == Numbers{1});
  CHECK(nodes_for("3+0", nodes, 0) == (Numbers{0, 3}));
}

TEST(what_is_no_node_with_memory_is_named_beside_those_that_are) {
  const std::string there = "; nodes 0, 1, 2, 3 and 4 have memory here";
  CHECK_EQ(refused("7"), "there is no memory on NUMA node 7" + there);
  CHECK_EQ(refused("0+5"), "there is no memory on NUMA node 5" + there);
  CHECK_EQ(refused("local", 5), "there is no memory beside this core, on NUMA node 5" + there);
  CHECK_EQ(refused("near"), "'near' is none of local, remote, interleaved, 1 and 0+1");
  const std::vector<platform::NumaNode> one{{0, true, gib, {0}, {10}}};
  CHECK_EQ(check::thrown_by<std::invalid_argument>([&] { nodes_for("remote", one, 0); }),
           "there is no remote memory: only node 0 has memory here");
}

TEST(every_page_is_looked_for) {
  const Found bound = put_and_look({}, {2}, 10'000);
  CHECK_EQ(bound.pages.at(2), 10'000U);
  CHECK_EQ(misplaced(bound.pages, {2}), "");
  const Found spread = put_and_look({}, {0, 1, 2}, 9'000);
  CHECK_EQ(spread.pages.at(1), 3'000U);
  CHECK_EQ(misplaced(spread.pages, {0, 1, 2}), "");
  CHECK_EQ(words_of(spread.pages), "nodes 0, 1 and 2 (33.3 %, 33.3 %, 33.3 %)");
}

TEST(one_page_elsewhere_is_an_error) {
  Pretended calls;
  calls.straying = 1;
  const Found found = put_and_look(calls, {2}, 1000);
  CHECK_EQ(misplaced(found.pages, {2}),
           "memory was wanted on node 2, but lies on nodes 2 and 3 (99.9 %, 0.1 %)");
  CHECK_EQ(misplaced(found.pages, {2, 3}), "");  // a huge page more or less
}

TEST(an_uneven_spread_is_an_error) {
  Pretended calls;
  calls.straying = 9'000;
  const Found found = put_and_look(calls, {2, 3}, 10'000);
  CHECK_EQ(misplaced(found.pages, {2, 3}),
           "memory was wanted on nodes 2 and 3, but lies on nodes 2 and 3 (5 %, 95 %)");
  CHECK_EQ(misplaced({{-1, 4}, {0, 4}}, {0}),
           "memory was wanted on node 0, but lies on no node at all and node 0 (50 %, 50 %)");
}

TEST(a_refusal_is_said_and_so_is_silence) {
  Pretended strict;
  strict.refusal = EPERM;
  CHECK_EQ(put_and_look(strict, {0, 1}, 4).why,
           "the system does not let memory be put on NUMA nodes 0 and 1 (mbind: Operation not "
           "permitted); a container or a cpuset may be why");
  Pretended silent;
  silent.silence = EPERM;
  const Found found = put_and_look(silent, {0}, 4);
  CHECK_EQ(found.why,
           "the system does not tell where memory lies (move_pages: Operation not permitted)");
  CHECK(found.pages.empty());
}

TEST(memory_of_this_machine_is_where_it_was_put) {
  const auto& calls = platform::numa_calls();
  for (const auto& node : calls.nodes()) {
    if (!node.has_memory) continue;
    const platform::Mapping memory(64 * page);
    std::string why = put_on(calls, memory.data(), memory.size(), {node.number});
    if (!why.empty()) continue;  // in a container
    std::fill_n(memory.data(), memory.size(), std::byte{1});
    const Census pages = census_of(calls, memory.data(), memory.size(), why);
    CHECK_EQ(misplaced(pages, {node.number}), "");
  }
}
