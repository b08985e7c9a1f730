// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include "core/refused.hpp"
#include "platform/pages.hpp"
#include "suites/node/crew.hpp"
#include "suites/node/where.hpp"

namespace mpigauge::node {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_lines = 128;
constexpr double share_of_memory = 0.8;
constexpr std::size_t per_line = line_bytes / sizeof(double);

// Behind y, at a line, where the arrays are so many numbers apart.
constexpr std::size_t first_of_z(std::size_t n, std::size_t apart) {
  return (n + per_line - 1) / per_line * per_line + 2 * apart;
}

// A piece that starts at a huge page, whether it has any or not, so that addresses are alike.
class Piece {
 public:
  Piece() = default;
  Piece(std::size_t bytes, Pages pages) : mapping_(bytes + platform::huge_page), bytes_(bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(mapping_.data());
    const std::size_t skip = (platform::huge_page - at % platform::huge_page) % platform::huge_page;
    data_ = mapping_.data() + skip;
    if (pages == Pages::huge) platform::ask_for_huge_pages(data_, bytes);
  }
  [[nodiscard]] double* numbers() const { return reinterpret_cast<double*>(data_); }
  [[nodiscard]] std::size_t count() const { return bytes_ / sizeof(double); }
  [[nodiscard]] std::byte* start() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  platform::Mapping mapping_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Arrays are shared by rows that want them alike. Where all memory is on one node, it does not
// matter which thread touched it first.
using Key = std::tuple<Pages, std::string, int, std::string>;
Key key_of(const Run& run, Pages pages) {
  static const bool one_node = platform::numa_calls().nodes().size() < 2;
  const SuiteOptions& s = run.options();
  if (one_node || !s.memory_on.empty()) return {pages, s.memory_on, 1, ""};
  return {pages, "", run.threads(), s.thread_order};
}

struct Held {
  Piece x, read;
  std::size_t n = 0;  // numbers of an array, as they were shared out among threads
  int epoch = 0;
  [[nodiscard]] std::size_t bytes() const { return x.bytes() + read.bytes(); }
};

std::map<Key, Held>& all_held() {
  static std::map<Key, Held> all;
  return all;
}

std::string mib(std::size_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / (1U << 20U));
  return text.data();
}

// What a run wants of the memory of its rank.
struct Wish {
  std::size_t bytes = 0, to_read = 0;  // of the array that is written, and of the others together
  std::vector<int> nodes;              // none: as it comes
  int ranks = 1;
  [[nodiscard]] double all() const { return static_cast<double>(bytes + to_read) * ranks; }
};

// Throws Refused on all ranks alike.
std::vector<int> nodes_wanted(const Run& run) {
  const std::string& word = run.options().memory_on;
  if (word.empty()) return {};
  std::string why;
  std::vector<int> nodes;
  try {
    nodes = nodes_for(word, platform::numa_calls().nodes(),
                      platform::numa_node(platform::current_cpu()));
  } catch (const std::invalid_argument& error) {
    why = error.what();
  }
  agree(run, why.empty(), why);
  return nodes;
}

Wish wish_of(const Run& run) {
  const std::size_t bytes = std::max<std::size_t>(run.bytes(), 4096);
  return {bytes, 2 * (bytes + most_lines * line_bytes), nodes_wanted(run), run.ranks()};
}

// What there is for it, on the nodes that it is to lie on.
std::size_t available(const Wish& wish) {
  const std::size_t all = platform::available_memory();
  if (wish.nodes.empty()) return all;
  std::size_t on_nodes = 0;
  for (const auto& node : platform::numa_calls().nodes()) {
    const bool wanted =
        std::find(wish.nodes.begin(), wish.nodes.end(), node.number) != wish.nodes.end();
    if (wanted) on_nodes = std::min(all, on_nodes + std::min(all, node.free_bytes));
  }
  return on_nodes;
}

// The other ranks of this host want as much; they may be all there are.
bool fits(const Wish& wish, const Held& held) {
  return wish.all() <=
         share_of_memory * static_cast<double>(available(wish)) + static_cast<double>(held.bytes());
}

// What other rows left is given up before a row is refused.
bool makes_room(const Wish& wish, const Key& key, const Held& held) {
  if (fits(wish, held)) return true;
  std::erase_if(all_held(), [&](const auto& each) { return each.first != key; });
  return fits(wish, held);
}

// Each thread its parts of the three arrays, then the rest, which lies between.
void touch(const Held& held, const Crew& crew, std::size_t n) {
  double *x = held.x.numbers(), *read = held.read.numbers();
  const std::size_t z = first_of_z(n, 0), all = held.read.count();
  const auto fill = [read](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) read[i] = number_at(i);
  };
  auto work = [&](int thread) {
    const Range part = part_of(n, thread, crew.size());
    std::fill_n(x + part.first, part.count, 1.0);
    fill(part.first, part.first + part.count);
    fill(z + part.first, z + part.first + part.count);
  };
  crew.run(work);
  std::fill(x + n, x + held.x.count(), 1.0);
  fill(n, z);
  fill(z + n, all);
}

// Old memory goes before new is taken, or both would be needed at once. Says what went wrong.
std::string renew(Held& held, const Wish& wish, const Crew& crew, std::size_t n, Pages pages) {
  held = {.epoch = held.epoch};
  held.x = Piece(wish.bytes, pages);
  held.read = Piece(wish.to_read, pages);
  held.n = n;
  for (const Piece* piece : {&held.x, &held.read}) {
    if (wish.nodes.empty()) continue;
    auto why = put_on(platform::numa_calls(), piece->start(), piece->bytes(), wish.nodes);
    if (why.empty()) continue;
    held = {.epoch = held.epoch};
    return why;
  }
  touch(held, crew, n);
  return "";
}

std::string why_too_large(const Wish& wish) {
  std::string text = "not enough memory: three arrays of " + mib(wish.bytes) + " on each of " +
                     std::to_string(wish.ranks) + " ranks, and there are " + mib(available(wish));
  if (wish.nodes.empty()) return text;
  const bool one = wish.nodes.size() == 1;
  return text + (one ? " on NUMA node " : " on NUMA nodes ") + platform::format_cpuset(wish.nodes);
}

// Where pages lie, of x and of what is read, and why that is not right.
struct Look {
  Census x, read;
  std::string why;
};

Look look_at(const Held& held, const std::vector<int>& wanted) {
  const auto& calls = platform::numa_calls();
  Look look;
  look.x = census_of(calls, held.x.start(), held.x.bytes(), look.why);
  look.read = census_of(calls, held.read.start(), held.read.bytes(), look.why);
  if (wanted.empty()) look.why.clear();  // then nobody has to know
  else if (look.why.empty()) look.why = misplaced(look.x, wanted);
  if (!wanted.empty() && look.why.empty()) look.why = misplaced(look.read, wanted);
  return look;
}

// Of all ranks together.
Census summed(const Run& run, const Census& mine) {
  int last = mine.empty() ? -1 : mine.rbegin()->first, most = 0;
  call(MPI_Allreduce(&last, &most, 1, MPI_INT, MPI_MAX, run.comm()));
  std::vector<unsigned long long> counts(static_cast<std::size_t>(most) + 2);
  for (const auto& [node, pages] : mine) counts.at(static_cast<std::size_t>(node) + 1) = pages;
  call(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()),
                     MPI_UNSIGNED_LONG_LONG, MPI_SUM, run.comm()));
  Census all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) all[static_cast<int>(i) - 1] = counts[i];
  }
  return all;
}

std::string where_of(const Census& x, const Census& read) {
  if (x.empty() && read.empty()) return "";
  if (words_of(x) == words_of(read)) return "memory on " + words_of(x);
  return "x on " + words_of(x) + ", y and z on " + words_of(read);
}

using Row = std::tuple<std::size_t, int, int, std::string, std::string, Pages>;
std::map<Row, std::string>& said() {
  static std::map<Row, std::string> all;
  return all;
}
Row row_of(std::size_t bytes, int ranks, int threads, const SuiteOptions& s, Pages pages) {
  return {bytes, ranks, threads, s.thread_order, s.memory_on, pages};
}

// At the checked visit, which all ranks of a run make together.
void look_around(const Run& run, const Crew& crew, const Held& held, const Wish& wish,
                 Pages pages) {
  const Look look = look_at(held, wish.nodes);
  agree(run, look.why.empty(), look.why);
  const Census x = summed(run, look.x), read = summed(run, look.read);
  const bool several = platform::numa_calls().nodes().size() > 1;
  const bool asked = !wish.nodes.empty();
  std::string text = crew.words();
  if (const auto where = where_of(x, read); !where.empty() && (several || asked)) {
    text += (text.empty() ? "" : "; ") + where;
  }
  said()[row_of(run.bytes(), run.ranks(), run.threads(), run.options(), pages)] = text;
}

const Held& provide(const Run& run, const Crew& crew, Pages pages) {
  const Key key = key_of(run, pages);
  Held& held = all_held()[key];
  if (const int epoch = run.team().buffers->epoch(); held.epoch != epoch) {
    held = {.epoch = epoch};
  }
  const Wish wish = wish_of(run);
  const std::size_t n = wish.bytes / sizeof(double);
  const bool large = held.x.bytes() >= wish.bytes && held.read.bytes() >= wish.to_read;
  const bool enough = large && (held.n == n || std::get<int>(key) == 1);
  const bool room = enough || makes_room(wish, key, held);
  agree(run, room, room ? "" : why_too_large(wish));
  const auto why = enough ? "" : renew(held, wish, crew, n, pages);
  agree(run, why.empty(), why);
  if (run.checking()) look_around(run, crew, held, wish, pages);
  return held;
}

double expected(Stream what, const Arrays& a, std::size_t i) {
  const double y = number_at(a.first_y + i), z = number_at(a.first_z + i);
  switch (what) {
    case Stream::write: return factor_of(what);
    case Stream::copy: return y;
    case Stream::scale: return factor_of(what) * y;
    case Stream::add: return y + z;
    case Stream::triad: return y + factor_of(what) * z;
    case Stream::update: return factor_of(what) * number_at(i);
    case Stream::read: return y;
    case Stream::dot: return y * z;
  }
  return 0;
}

}  // namespace

void agree(const Run& run, bool fine, const std::string& otherwise) {
  int mine = fine ? 1 : 0, all = 0;
  call(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, run.comm()));
  if (all == 0) throw Refused(otherwise);
}

void make_ready(Stream what, const Arrays& a) {
  for (std::size_t i = 0; i < a.n; ++i) {
    a.x[i] = what == Stream::update ? number_at(i) : std::numeric_limits<double>::quiet_NaN();
  }
}

// A comparison that a number which is none does not pass.
std::size_t wrong_numbers(Stream what, const Arrays& a, double sum) {
  if (what == Stream::read || what == Stream::dot) {
    double right = 0;
    for (std::size_t i = 0; i < a.n; ++i) right += expected(what, a, i);
    return sum == right ? 0 : 1;
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.n; ++i) wrong += a.x[i] == expected(what, a, i) ? 0 : 1;
  return wrong;
}

Arrays arrays_of(const Run& run, const Crew& crew, Pages pages, std::size_t lines) {
  const Held& held = provide(run, crew, pages);
  Arrays a;
  a.n = run.bytes() / sizeof(double);
  const std::size_t apart = std::min(lines, most_lines / 2) * per_line;
  a.first_y = apart;
  a.first_z = first_of_z(a.n, apart);
  a.x = held.x.numbers();
  a.y = held.read.numbers() + a.first_y;
  a.z = held.read.numbers() + a.first_z;
  return a;
}

std::string whereabouts(const Shape& s, Pages pages) {
  const auto at = said().find(row_of(s.bytes, s.ranks, s.threads, *s.options, pages));
  return at == said().end() ? "" : at->second;
}

bool in_huge_pages(const Arrays& a) {
  const std::size_t bytes = a.n * sizeof(double);
  return 2 * platform::bytes_in_huge_pages(reinterpret_cast<const std::byte*>(a.x), bytes) > bytes;
}

}  // namespace mpigauge::node
