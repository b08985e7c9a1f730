// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a message within a host costs at least: two ranks that send as PingPong does, with nothing
// but copies and a line that says when. Once: the receiver copies out of the sender's memory, as
// an MPI does that may read it. Twice: the sender copies into memory that both have, the receiver
// out of it, a piece after the other, side by side. Fresh: the sender writes the message anew
// before it sends it, and that is in the time; else the receiver finds much of it in its own cache.
#include <algorithm>
#include <cstring>

#include "suites/node/shared.hpp"

namespace mpigauge::node {
namespace {

constexpr std::size_t piece_bytes = std::size_t{16} << 10U;
constexpr std::size_t places = 4;  // for pieces, so that both ranks are at work

enum class Data { old, fresh };

/// A line for what the owner has ready, one for what it has taken, apart from the data.
struct Signals {
  Line ready;
  std::array<std::byte, sizeof(Line)> apart;
  Line taken;
  std::array<std::byte, sizeof(Line)> apart_too;
};

Signals& signals_of(std::byte* part) { return *reinterpret_cast<Signals*>(part); }
std::byte* data_of(std::byte* part) { return part + sizeof(Signals); }

int value_of(int rank, std::uint64_t turn) {
  return static_cast<int>((static_cast<std::uint64_t>(rank) + 2 * turn) % 256);
}

/// One of the two: its own part of the shared memory, and the other's.
struct Ends {
  std::byte* mine;
  std::byte* theirs;
  std::byte* out;  ///< the message to be sent
  std::byte* in;   ///< where the other's goes
  std::size_t bytes;
};

// The message lies in the shared memory, and is ready.
void send_once(const Ends& ends, std::uint64_t turn) {
  signals_of(ends.mine).ready.flag.store(turn, std::memory_order_release);
}

void receive_once(const Ends& ends, std::uint64_t turn) {
  wait_for(signals_of(ends.theirs).ready, turn);
  std::memcpy(ends.in, data_of(ends.theirs), ends.bytes);
}

std::uint64_t pieces_of(std::size_t bytes) {
  return std::max<std::uint64_t>((bytes + piece_bytes - 1) / piece_bytes, 1);
}

template <class Copy>
void by_pieces(const Ends& ends, std::uint64_t turn, Copy copy) {
  const std::uint64_t before = (turn - 1) * pieces_of(ends.bytes);
  for (std::size_t at = 0, i = 1; i <= pieces_of(ends.bytes); ++i, at += piece_bytes) {
    copy(before + i, (before + i) % places * piece_bytes, at,
         std::min(piece_bytes, ends.bytes - at));
  }
}

// A piece has room when the other has taken the one that lay there.
void send_twice(const Ends& ends, std::uint64_t turn) {
  by_pieces(ends, turn, [&](std::uint64_t piece, std::size_t to, std::size_t from, std::size_t n) {
    if (piece > places) wait_for(signals_of(ends.theirs).taken, piece - places);
    std::memcpy(data_of(ends.mine) + to, ends.out + from, n);
    signals_of(ends.mine).ready.flag.store(piece, std::memory_order_release);
  });
}

void receive_twice(const Ends& ends, std::uint64_t turn) {
  by_pieces(ends, turn, [&](std::uint64_t piece, std::size_t from, std::size_t to, std::size_t n) {
    wait_for(signals_of(ends.theirs).ready, piece);
    std::memcpy(ends.in + to, data_of(ends.theirs) + from, n);
    signals_of(ends.mine).taken.flag.store(piece, std::memory_order_release);
  });
}

using Step = void (*)(const Ends&, std::uint64_t);

struct Way {
  Step send, receive;
};
constexpr Way once_way{send_once, receive_once};
constexpr Way twice_way{send_twice, receive_twice};

std::size_t wrong_bytes(const Ends& ends, int value) {
  const auto is_wrong = [value](std::byte b) { return std::to_integer<int>(b) != value; };
  return static_cast<std::size_t>(std::count_if(ends.in, ends.in + ends.bytes, is_wrong));
}

void play(Run& run, const Ends& ends, Way way, Data data) {
  const bool first = run.rank() == 0;
  std::uint64_t turn = 0;
  const auto send = [&] {
    if (data == Data::fresh) std::memset(ends.out, value_of(run.rank(), turn), ends.bytes);
    way.send(ends, turn);
  };
  std::memset(ends.out, value_of(run.rank(), 1), ends.bytes);
  run.measure([&](Turn) {
    ++turn;
    if (first) send();
    way.receive(ends, turn);
    if (!first) send();
  });
  run.expect(run.checking() ? wrong_bytes(ends, value_of(run.peer(), 1)) : 0);
}

void copies(Run& run, Way way, Data data) {
  const bool in_place = way.send == send_once;
  const std::size_t room = in_place ? run.bytes() : places * piece_bytes;
  const auto touch = [room](std::byte* part) {
    new (part) Signals;
    std::memset(data_of(part), 0, room);
  };
  in_shared(run, sizeof(Signals) + room, touch, [&](const Parts& parts) {
    std::byte* mine = parts[static_cast<std::size_t>(run.rank())];
    std::byte* own = run.recv_block().bytes().data();
    const Ends ends{.mine = mine,
                    .theirs = parts[static_cast<std::size_t>(run.peer())],
                    .out = in_place ? data_of(mine) : own + run.bytes(),
                    .in = own,
                    .bytes = run.bytes()};
    play(run, ends, way, data);
  });
}

constexpr Card card_of(std::string_view name, std::string_view about, int place) {
  Card card = between_two(name, about, place);
  card.recv = twice_message;
  card.untyped = true;
  card.moved = message;
  return card;
}

const Add once(card_of("Copy_once",
                       "Messages back and forth by one copy out of the other rank's memory.", 430),
               [](Run& run) { copies(run, once_way, Data::old); });
const Add once_fresh(card_of("Copy_once_fresh",
                             "The same, each message written anew before it is sent.", 431),
                     [](Run& run) { copies(run, once_way, Data::fresh); });
const Add twice(card_of("Copy_twice",
                        "Messages back and forth by two copies, through memory that both have.",
                        440),
                [](Run& run) { copies(run, twice_way, Data::old); });
const Add twice_fresh(card_of("Copy_twice_fresh",
                              "The same, each message written anew before it is sent.", 441),
                      [](Run& run) { copies(run, twice_way, Data::fresh); });

}  // namespace
}  // namespace mpigauge::node
