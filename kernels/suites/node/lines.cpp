// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The least that a message between two cores can take: cache lines that go back and forth, without
// any MPI between them. Which line it is matters, as some are kept further away; so each sample has
// two others, and each visit other pages: 240 lines for a row of 120 samples.
#include <algorithm>
#include <atomic>
#include <thread>

#include "suites/node/arrays.hpp"

namespace mpigauge::node {
namespace {

constexpr unsigned trips_of_line =
    16;  // enough that the first one, which finds it elsewhere, is lost
constexpr unsigned lines_of_call = 2;
constexpr unsigned round_trips = trips_of_line * lines_of_call;  // of a call
constexpr std::size_t places = 256;
constexpr std::size_t apart = std::size_t{32} << 10U;
constexpr std::size_t words_of_payload = 7;

/// A cache line: a flag and what it announces.
struct alignas(64) Line {
  std::atomic<std::uint64_t> flag{0};
  std::array<std::atomic<std::uint64_t>, words_of_payload> words{};
};
static_assert(sizeof(Line) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Of a place: the line from rank 0 to 1, and the one back; not neighbours, since those are fetched
/// in pairs.
struct Lines {
  Line* there = nullptr;
  Line* back = nullptr;
};

struct SharedCalls {
  int (*allocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*);
  int (*query)(MPI_Win, int, MPI_Aint*, int*, void*);
};

const SharedCalls& shared_calls() {
  static const SharedCalls found{
      .allocate = find_as<decltype(SharedCalls::allocate)>("MPI_Win_allocate_shared"),
      .query = find_as<decltype(SharedCalls::query)>("MPI_Win_shared_query"),
  };
  return found;
}

void agree_on_host(const Run& run) {
  std::array<char, 256> name{};
  const std::string own = platform::host_name().substr(0, name.size() - 1);
  std::copy(own.begin(), own.end(), name.begin());
  call(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, run.comm()));
  agree(run, own == name.data(), "its two ranks are on different hosts, which share no cache");
}

// Where in its 32 KiB a place has its lines differs from place to place, else all would be in the
// same sets of the caches.
Lines lines_at(std::byte* base, std::size_t place) {
  const std::size_t pairs = apart / (4 * sizeof(Line));
  std::byte* at = base + place * apart + place * 97 % pairs * 4 * sizeof(Line);
  return {reinterpret_cast<Line*>(at), reinterpret_cast<Line*>(at + 2 * sizeof(Line))};
}

// Where both ranks have but one core, the other one has to come to it.
void wait_for(const Line& line, std::uint64_t value) {
  constexpr unsigned patience = 20'000;
  unsigned looked = 0;
  while (line.flag.load(std::memory_order_acquire) != value) {
    if (++looked == patience) {
      looked = 0;
      std::this_thread::yield();
    }
  }
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
    for (unsigned i = 0; i < lines_of_call; ++i) play_one();
  }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }

 private:
  void play_one() {
    const Lines lines = lines_at(base_, place_++ % places);
    Line& back = way == Way::one ? *lines.there : *lines.back;
    for (unsigned i = 0; i < trips_of_line; ++i, value_ += 2) {
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

// The first rank has all of the memory, and touches it.
template <Way way>
void ping(Run& run) {
  agree_on_host(run);
  const std::size_t mine = run.rank() == 0 ? places * apart : 0;
  MPI_Win window = MPI_WIN_NULL;
  std::byte* base = nullptr;
  call(shared_calls().allocate(static_cast<MPI_Aint>(mine), 1, MPI_INFO_NULL, run.comm(), &base,
                               &window));
  MPI_Aint bytes = 0;
  int unit = 0;
  call(shared_calls().query(window, 0, &bytes, &unit, &base));
  for (std::size_t place = 0; run.rank() == 0 && place < places; ++place) {
    const Lines lines = lines_at(base, place);
    new (lines.there) Line;
    new (lines.back) Line;
  }
  call(MPI_Barrier(run.comm()));
  Player<way> player(base, run.rank());
  run.measure([&player](Turn) { player.play(); });
  run.expect(player.wrong());
  call(MPI_Barrier(run.comm()));
  call(MPI_Win_free(&window));
}

constexpr Card card_of(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "NODE",
      .name = name,
      .about = about,
      .place = place,
      .ranks = Ranks::pair,
      .time = Time::half_round_trip,
      .unit = Unit::none,
      .columns = Columns::single,
      .send = nothing,
      .recv = nothing,
      .may_refuse = true,
      .steps = round_trips,
      .needs = {"MPI_Win_allocate_shared", "MPI_Win_shared_query"},
  };
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
