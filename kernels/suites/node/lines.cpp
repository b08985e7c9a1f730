// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The least that a message between two cores can take: cache lines that go back and forth, without
// any MPI between them. Which line it is matters, as some are kept further away; so each sample has
// four others, and each visit other pages: 480 lines for a row of 120 samples.
#include <algorithm>

#include "suites/node/arrays.hpp"
#include "suites/node/shared.hpp"

namespace mpigauge::node {
namespace {

constexpr unsigned trips_of_line = 8;
constexpr unsigned lines_of_call = 4;
constexpr unsigned round_trips = trips_of_line * lines_of_call;  // of a call
constexpr std::size_t places = 256;
constexpr std::size_t apart = std::size_t{32} << 10U;

/// Of a place: the line from rank 0 to 1, and the one back; not neighbours, since those are fetched
/// in pairs.
struct Lines {
  Line* there = nullptr;
  Line* back = nullptr;
};

// Where in its 32 KiB a place has its lines differs from place to place, else all would be in the
// same sets of the caches.
Lines lines_at(std::byte* base, std::size_t place) {
  const std::size_t pairs = apart / (4 * sizeof(Line));
  std::byte* at = base + place * apart + place * 97 % pairs * 4 * sizeof(Line);
  return {reinterpret_cast<Line*>(at), reinterpret_cast<Line*>(at + 2 * sizeof(Line))};
}

/// One line, two, or two that carry something.
enum class Way { one, two, filled };

template <Way way>
void put(Line& line, std::uint64_t value) {
  if constexpr (way == Way::filled) {
    for (auto& word : line.words) word.store(value, std::memory_order_relaxed);
  }
  line.flag.store(value, std::memory_order_release);
}

// How many words are not those that the flag announces.
template <Way way>
std::size_t take(const Line& line, std::uint64_t value) {
  wait_for(line, value);
  if constexpr (way != Way::filled) return 0;
  const auto is_wrong = [value](const auto& word) {
    return word.load(std::memory_order_relaxed) != value;
  };
  return static_cast<std::size_t>(std::count_if(line.words.begin(), line.words.end(), is_wrong));
}

template <Way way>
class Player {
 public:
  Player(std::byte* base, int rank) : base_(base), first_(rank == 0) {}
  void play() {
    for (unsigned i = 0; i < lines_of_call; ++i) play_one(trips_of_line);
  }
  /// Once to each line.
  void walk() {
    for (std::size_t i = 0; i < places; ++i) play_one(1);
  }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }

 private:
  void play_one(unsigned trips) {
    const Lines lines = lines_at(base_, place_++ % places);
    Line& back = way == Way::one ? *lines.there : *lines.back;
    for (unsigned i = 0; i < trips; ++i, value_ += 2) {
      if (first_) put<way>(*lines.there, value_ + 1);
      else wrong_ += take<way>(*lines.there, value_ + 1);
      if (first_) wrong_ += take<way>(back, value_ + 2);
      else put<way>(back, value_ + 2);
    }
  }

  std::byte* base_;
  bool first_;
  std::size_t place_ = 0;
  std::uint64_t value_ = 0;
  std::size_t wrong_ = 0;
};

// Both have come by all lines before they are timed, or the second rank would meet each page for
// the first time in a sample, which takes the system much longer than the line.
template <Way way>
void ping(Run& run) {
  const auto make_lines = [](std::byte* base) {
    for (std::size_t place = 0; place < places; ++place) {
      const Lines lines = lines_at(base, place);
      new (lines.there) Line;
      new (lines.back) Line;
    }
  };
  const auto play = [&run](const Parts& parts) {
    Player<way> player(parts.front(), run.rank());
    player.walk();
    run.measure([&player](Turn) { player.play(); });
    run.expect(player.wrong());
  };
  in_shared(run, run.rank() == 0 ? places * apart : 0, make_lines, play);
}

constexpr Card card_of(std::string_view name, std::string_view about, int place) {
  Card card = between_two(name, about, place);
  card.unit = Unit::none;
  card.steps = round_trips;
  return card;
}

const Add one_line(card_of("Line",
                           "One cache line between two cores, written by either in turn: "
                           "the least that a signal takes.",
                           400),
                   ping<Way::one>);
const Add two_lines(card_of("Mailbox", "A cache line for each way: the least that a queue takes.",
                            410),
                    ping<Way::two>);
const Add filled_lines(card_of("Payload",
                               "The same with 56 bytes beside each flag: the least that "
                               "a short message takes.",
                               420),
                       ping<Way::filled>);

}  // namespace
}  // namespace mpigauge::node
