// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from src/mpigauge/schedules: change that, not this file.
// clang-format off
// NOLINTBEGIN(readability-*,modernize-use-bool-literals,misc-redundant-expression)
// A comparison is a number in these expressions, as in Python, and constants are not folded.
#include "suites/algorithms/schedule.hpp"

#include <array>

namespace mpigauge::schedules {
namespace {

Sent phase_0_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  const Number v1 = modulo(quotient(s.rank, v0), 2);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = s.rank,
          .into = s.rank,
          .count = std::min<Number>(shifted(1, s.round), (s.ranks - s.rank))};
}
constexpr Phase phase_0{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_0_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_1_sent(const Symbols& s) {
  const Number v0 = shifted(1, ((((floor_log2(((2 * s.ranks) - 1)) + 1) - 1) - 1) - s.round));
  const Number v1 = (s.rank + ((s.lane + 1) * v0));
  const Number v2 = modulo((v1 + 1), s.ranks);
  return {.is_sent = ((modulo(s.rank, (v0 * 2)) == 0) && (v1 < s.ranks)) != 0,
          .has_piece = true,
          .to = v1,
          .first = v2,
          .into = v2,
          .count = (s.ranks - 1)};
}
constexpr Phase phase_1{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_1_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_2_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo(((s.rank + s.ranks) - v0), s.ranks),
          .first = s.rank,
          .into = s.rank,
          .count = std::min<Number>(v0, (s.ranks - v0))};
}
constexpr Phase phase_2{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(((2 * s.ranks) - 1)); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_2_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_3_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(s.rank, s.node_ranks);
  const Number v3 = shifted(1, s.round);
  const Number v4 = modulo(quotient(v2, v3), 2);
  const Number v5 = ((v0 * s.node_ranks) + v2);
  return {.is_sent = ((((s.round < ((floor_log2(((2 * v1) - 1)) + 1) - 1)) && (v2 < v1)) && (s.lane < 1)) && ((modulo(v2, v3) == 0) && (v4 != 0))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + (v2 - (v4 * v3))),
          .first = v5,
          .into = v5,
          .count = std::min<Number>(shifted(1, s.round), (v1 - v2))};
}
constexpr Phase phase_3{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_3_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_4_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (modulo(((v1 + v2) - s.round), v2) * s.node_ranks);
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && 1) != 0,
          .has_piece = true,
          .to = ((modulo((v1 + 1), v2) * s.node_ranks) + v0),
          .first = v3,
          .into = v3,
          .count = std::min<Number>(s.node_ranks, (s.ranks - v3))};
}
constexpr Phase phase_4{
    .rounds = [](const Symbols& s) -> Number { return (quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_4_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_5_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = ((floor_log2(((2 * v1) - 1)) + 1) - 1);
  const Number v3 = modulo(s.rank, s.node_ranks);
  const Number v4 = shifted(1, ((v2 - 1) - s.round));
  const Number v5 = (v3 + ((s.lane + 1) * v4));
  const Number v6 = ((v0 * s.node_ranks) + v5);
  const Number v7 = modulo((v6 + 1), s.ranks);
  return {.is_sent = ((((s.round < v2) && (v3 < v1)) && (s.lane < 1)) && ((modulo(v3, (v4 * 2)) == 0) && (v5 < v1))) != 0,
          .has_piece = true,
          .to = v6,
          .first = v7,
          .into = v7,
          .count = (s.ranks - 1)};
}
constexpr Phase phase_5{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_5_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_6_sent(const Symbols& s) {
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo(((s.rank + s.round) + 1), s.ranks),
          .first = s.rank,
          .into = s.rank,
          .count = 1};
}
constexpr Phase phase_6{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_6_sent,
    .alike = Alike::shift,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = true,
};

Sent phase_7_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = s.rank,
          .into = s.rank,
          .count = 1};
}
constexpr Phase phase_7{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_7_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_8_sent(const Symbols& s) {
  const Number v0 = (s.ranks - shifted(1, floor_log2(s.ranks)));
  const Number v1 = choose((s.rank < (2 * v0)), quotient(s.rank, 2), (s.rank - v0));
  const Number v2 = shifted(1, s.round);
  const Number v3 = (v1 ^ v2);
  const Number v4 = (shifted_back(v1, s.round) * v2);
  const Number v5 = choose((v4 < v0), (2 * v4), (v4 + v0));
  const Number v6 = (v4 + v2);
  return {.is_sent = (((s.rank < (2 * v0)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v3 < v0), (2 * v3), (v3 + v0)),
          .first = v5,
          .into = v5,
          .count = (choose((v6 < v0), (2 * v6), (v6 + v0)) - choose((v4 < v0), (2 * v4), (v4 + v0)))};
}
constexpr Phase phase_8{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_8_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_9_sent(const Symbols& s) {
  const Number v0 = modulo((s.rank + 2), s.ranks);
  return {.is_sent = (((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = (s.rank + 1),
          .first = v0,
          .into = v0,
          .count = (s.ranks - 1)};
}
constexpr Phase phase_9{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_9_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_10_sent(const Symbols& s) {
  const Number v0 = modulo(((s.rank + s.ranks) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_10{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_10_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_11_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  const Number v1 = modulo(quotient(s.rank, v0), 2);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_11{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_11_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_12_sent(const Symbols& s) {
  const Number v0 = shifted(1, ((((floor_log2(((2 * s.ranks) - 1)) + 1) - 1) - 1) - s.round));
  const Number v1 = (s.rank + ((s.lane + 1) * v0));
  return {.is_sent = ((modulo(s.rank, (v0 * 2)) == 0) && (v1 < s.ranks)) != 0,
          .has_piece = true,
          .to = v1,
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_12{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_12_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_13_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(s.rank, s.node_ranks);
  const Number v3 = shifted(1, s.round);
  const Number v4 = modulo(quotient(v2, v3), 2);
  return {.is_sent = ((((s.round < ((floor_log2(((2 * v1) - 1)) + 1) - 1)) && (v2 < v1)) && (s.lane < 1)) && ((modulo(v2, v3) == 0) && (v4 != 0))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + (v2 - (v4 * v3))),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_13{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_13_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_14_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && ((v1 < (2 * v3)) && modulo(v1, 2))) != 0,
          .has_piece = true,
          .to = (((v1 - 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_14{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_14_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_15_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  const Number v4 = (choose((v1 < (2 * v3)), quotient(v1, 2), (v1 - v3)) ^ shifted(1, s.round));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v4 < v3), (2 * v4), (v4 + v3)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_15{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_15_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_16_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = (((v1 + 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_16{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_16_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_17_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = ((floor_log2(((2 * v1) - 1)) + 1) - 1);
  const Number v3 = modulo(s.rank, s.node_ranks);
  const Number v4 = shifted(1, ((v2 - 1) - s.round));
  const Number v5 = (v3 + ((s.lane + 1) * v4));
  return {.is_sent = ((((s.round < v2) && (v3 < v1)) && (s.lane < 1)) && ((modulo(v3, (v4 * 2)) == 0) && (v5 < v1))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + v5),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_17{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_17_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_18_sent(const Symbols& s) {
  const Number v0 = shifted(1, (s.round * 2));
  const Number v1 = modulo(quotient(s.rank, v0), 4);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_18{
    .rounds = [](const Symbols& s) -> Number { return quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_18_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_19_sent(const Symbols& s) {
  const Number v0 = shifted(1, (((quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2) - 1) - s.round) * 2));
  const Number v1 = (s.rank + ((s.lane + 1) * v0));
  return {.is_sent = ((modulo(s.rank, (v0 * 4)) == 0) && (v1 < s.ranks)) != 0,
          .has_piece = true,
          .to = v1,
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_19{
    .rounds = [](const Symbols& s) -> Number { return quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 3; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_19_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_20_sent(const Symbols& s) {
  return {.is_sent = (s.rank != 0) != 0,
          .has_piece = true,
          .to = 0,
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_20{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_20_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_21_sent(const Symbols& s) {
  return {.is_sent = true,
          .has_piece = true,
          .to = (s.lane + 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_21{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols&) -> Number { return 1; },
    .lanes = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_21_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_22_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(((modulo(s.rank, s.node_ranks) + s.round) + 1), v1);
  return {.is_sent = (((s.round + 1) < v1) && (v2 < (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks)))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + v2),
          .first = v2,
          .into = v2,
          .count = 1};
}
constexpr Phase phase_22{
    .rounds = [](const Symbols& s) -> Number { return (s.node_ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_22_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_23_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v2 = quotient(s.rank, s.node_ranks);
  const Number v3 = (v1 - shifted(1, floor_log2(v1)));
  const Number v4 = ((v0 * 1) + 0);
  return {.is_sent = (((v0 < (s.ranks - ((v1 - 1) * s.node_ranks))) && (v2 < (2 * v3))) && ((v2 < (2 * v3)) && modulo(v2, 2))) != 0,
          .has_piece = true,
          .to = (((v2 - 1) * s.node_ranks) + v0),
          .first = v4,
          .into = v4,
          .count = 1};
}
constexpr Phase phase_23{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols& s) -> Number { return (1 * (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks))); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_23_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_24_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v2 = quotient(s.rank, s.node_ranks);
  const Number v3 = shifted(1, floor_log2(v1));
  const Number v4 = (v1 - v3);
  const Number v5 = choose((v2 < (2 * v4)), quotient(v2, 2), (v2 - v4));
  const Number v6 = (v5 ^ shifted(1, s.round));
  const Number v7 = ((v0 * v3) + reversed_bits(((v5 ^ shifted(1, s.round)) & (shifted(1, (s.round + 1)) - 1)), floor_log2(v1)));
  return {.is_sent = (((v0 < (s.ranks - ((v1 - 1) * s.node_ranks))) && (v2 < v1)) && (((v2 < (2 * v4)) && modulo(v2, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v6 < v4), (2 * v6), (v6 + v4)) * s.node_ranks) + v0),
          .first = v7,
          .into = v7,
          .count = shifted_back(v3, (s.round + 1))};
}
constexpr Phase phase_24{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols& s) -> Number { return (shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks))) * (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks))); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_24_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_25_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v2 = quotient(s.rank, s.node_ranks);
  const Number v3 = shifted(1, floor_log2(v1));
  const Number v4 = (v1 - v3);
  const Number v5 = choose((v2 < (2 * v4)), quotient(v2, 2), (v2 - v4));
  const Number v6 = floor_log2(v1);
  const Number v7 = ((v6 - 1) - s.round);
  const Number v8 = (v5 ^ shifted(1, v7));
  const Number v9 = ((v0 * v3) + reversed_bits((v5 & (shifted(1, (v7 + 1)) - 1)), v6));
  return {.is_sent = (((v0 < (s.ranks - ((v1 - 1) * s.node_ranks))) && (v2 < v1)) && (((v2 < (2 * v4)) && modulo(v2, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v8 < v4), (2 * v8), (v8 + v4)) * s.node_ranks) + v0),
          .first = v9,
          .into = v9,
          .count = shifted_back(v3, (v7 + 1))};
}
constexpr Phase phase_25{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols& s) -> Number { return (shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks))) * (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks))); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_25_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_26_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v2 = quotient(s.rank, s.node_ranks);
  const Number v3 = (v1 - shifted(1, floor_log2(v1)));
  const Number v4 = ((v0 * 1) + 0);
  return {.is_sent = (((v0 < (s.ranks - ((v1 - 1) * s.node_ranks))) && (v2 < (2 * v3))) && (((v2 < (2 * v3)) && modulo(v2, 2)) == 0)) != 0,
          .has_piece = true,
          .to = (((v2 + 1) * s.node_ranks) + v0),
          .first = v4,
          .into = v4,
          .count = 1};
}
constexpr Phase phase_26{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols& s) -> Number { return (1 * (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks))); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_26_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_27_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(s.rank, s.node_ranks);
  return {.is_sent = (((s.round + 1) < v1) && (v2 < (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks)))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + modulo(((v2 + s.round) + 1), v1)),
          .first = v2,
          .into = v2,
          .count = 1};
}
constexpr Phase phase_27{
    .rounds = [](const Symbols& s) -> Number { return (s.node_ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return (s.ranks - ((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - 1) * s.node_ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_27_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_28_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  return {.is_sent = ((((s.round < 1) && (v0 < std::min<Number>(s.node_ranks, (s.ranks - (v1 * s.node_ranks))))) && (s.lane < 1)) && (v0 != 0)) != 0,
          .has_piece = true,
          .to = ((v1 * s.node_ranks) + 0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_28{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_28_sent,
    .alike = Alike::nothing,
    .kind = Kind::copy,
    .reduces = true,
    .overlaps = false,
};

Sent phase_29_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && ((v1 < (2 * v3)) && modulo(v1, 2))) != 0,
          .has_piece = true,
          .to = (((v1 - 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_29{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_29_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_30_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  const Number v4 = (choose((v1 < (2 * v3)), quotient(v1, 2), (v1 - v3)) ^ shifted(1, s.round));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v4 < v3), (2 * v4), (v4 + v3)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_30{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_30_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_31_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = (((v1 + 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_31{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_31_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_32_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  return {.is_sent = ((((s.round < 1) && (modulo(s.rank, s.node_ranks) < 1)) && (s.lane < (std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks))) - 1))) && 1) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + (s.lane + 1)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_32{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols& s) -> Number { return (std::min<Number>(s.node_ranks, s.ranks) - 1); },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_32_sent,
    .alike = Alike::nothing,
    .kind = Kind::copy,
    .reduces = false,
    .overlaps = false,
};

Sent phase_33_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_33{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_33_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_34_sent(const Symbols& s) {
  const Number v0 = shifted(1, floor_log2(s.ranks));
  const Number v1 = (s.ranks - v0);
  const Number v2 = choose((s.rank < (2 * v1)), quotient(s.rank, 2), (s.rank - v1));
  const Number v3 = (v2 ^ shifted(1, s.round));
  const Number v4 = reversed_bits(((v2 ^ shifted(1, s.round)) & (shifted(1, (s.round + 1)) - 1)), floor_log2(s.ranks));
  return {.is_sent = (((s.rank < (2 * v1)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v3 < v1), (2 * v3), (v3 + v1)),
          .first = v4,
          .into = v4,
          .count = shifted_back(v0, (s.round + 1))};
}
constexpr Phase phase_34{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return shifted(1, floor_log2(s.ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_34_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_35_sent(const Symbols& s) {
  const Number v0 = shifted(1, floor_log2(s.ranks));
  const Number v1 = (s.ranks - v0);
  const Number v2 = choose((s.rank < (2 * v1)), quotient(s.rank, 2), (s.rank - v1));
  const Number v3 = floor_log2(s.ranks);
  const Number v4 = ((v3 - 1) - s.round);
  const Number v5 = (v2 ^ shifted(1, v4));
  const Number v6 = reversed_bits((v2 & (shifted(1, (v4 + 1)) - 1)), v3);
  return {.is_sent = (((s.rank < (2 * v1)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v5 < v1), (2 * v5), (v5 + v1)),
          .first = v6,
          .into = v6,
          .count = shifted_back(v0, (v4 + 1))};
}
constexpr Phase phase_35{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return shifted(1, floor_log2(s.ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_35_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_36_sent(const Symbols& s) {
  return {.is_sent = (((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = (s.rank + 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_36{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_36_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_37_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_37{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_37_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_38_sent(const Symbols& s) {
  const Number v0 = (s.ranks - shifted(1, floor_log2(s.ranks)));
  const Number v1 = (choose((s.rank < (2 * v0)), quotient(s.rank, 2), (s.rank - v0)) ^ shifted(1, s.round));
  return {.is_sent = (((s.rank < (2 * v0)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v1 < v0), (2 * v1), (v1 + v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_38{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_38_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_39_sent(const Symbols& s) {
  return {.is_sent = (((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = (s.rank + 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_39{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_39_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_40_sent(const Symbols& s) {
  const Number v0 = modulo((((s.rank + s.ranks) - 1) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_40{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_40_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_41_sent(const Symbols& s) {
  const Number v0 = modulo(((s.rank + s.ranks) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_41{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_41_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_42_sent(const Symbols& s) {
  const Number v0 = ((modulo((((s.rank + s.ranks) - 1) - modulo(s.round, (s.ranks - 1))), s.ranks) * s.segments) + quotient(s.round, (s.ranks - 1)));
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_42{
    .rounds = [](const Symbols& s) -> Number { return ((s.ranks - 1) * s.segments); },
    .chunks = [](const Symbols& s) -> Number { return (s.ranks * s.segments); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_42_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_43_sent(const Symbols& s) {
  const Number v0 = modulo(((s.rank + s.ranks) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_43{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_43_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_44_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  const Number v1 = modulo((s.rank + v0), s.ranks);
  const Number v2 = ((2 * s.ranks) + s.piece);
  return {.is_sent = true,
          .has_piece = modulo(shifted_back(s.piece, s.round), 2) != 0,
          .to = v1,
          .first = choose(((s.piece & (v0 - 1)) != 0), v2, modulo((s.rank + s.piece), s.ranks)),
          .into = choose((shifted_back(s.piece, (s.round + 1)) != 0), v2, (s.ranks + modulo(((v1 + s.ranks) - s.piece), s.ranks))),
          .count = 1};
}
constexpr Phase phase_44{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(((2 * s.ranks) - 1)); },
    .chunks = [](const Symbols& s) -> Number { return (3 * s.ranks); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols& s) -> Number { return s.ranks; },
    .sent = phase_44_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_45_sent(const Symbols& s) {
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo(((s.rank + s.round) + 1), s.ranks),
          .first = modulo(((s.rank + s.round) + 1), s.ranks),
          .into = (s.ranks + s.rank),
          .count = 1};
}
constexpr Phase phase_45{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return (3 * s.ranks); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_45_sent,
    .alike = Alike::shift,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = true,
};

Sent phase_46_sent(const Symbols& s) {
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo(((s.rank + s.round) + 1), s.ranks),
          .first = modulo(((s.rank + s.round) + 1), s.ranks),
          .into = (s.ranks + s.rank),
          .count = 1};
}
constexpr Phase phase_46{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return (3 * s.ranks); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_46_sent,
    .alike = Alike::shift,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_47_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  const Number v1 = modulo(quotient(s.rank, v0), 2);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_47{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_47_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_48_sent(const Symbols& s) {
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + shifted(1, s.round)), s.ranks),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_48{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(((2 * s.ranks) - 1)); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_48_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_49_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(s.rank, s.node_ranks);
  const Number v3 = shifted(1, s.round);
  const Number v4 = modulo(quotient(v2, v3), 2);
  return {.is_sent = ((((s.round < ((floor_log2(((2 * v1) - 1)) + 1) - 1)) && (v2 < v1)) && (s.lane < 1)) && ((modulo(v2, v3) == 0) && (v4 != 0))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + (v2 - (v4 * v3))),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_49{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_49_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_50_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && ((v1 < (2 * v3)) && modulo(v1, 2))) != 0,
          .has_piece = true,
          .to = (((v1 - 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_50{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_50_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_51_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  const Number v4 = (choose((v1 < (2 * v3)), quotient(v1, 2), (v1 - v3)) ^ shifted(1, s.round));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v4 < v3), (2 * v4), (v4 + v3)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_51{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_51_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_52_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = (((v1 + 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_52{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_52_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_53_sent(const Symbols& s) {
  const Number v0 = shifted(1, (s.round * 2));
  const Number v1 = modulo(quotient(s.rank, v0), 4);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_53{
    .rounds = [](const Symbols& s) -> Number { return quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_53_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_54_sent(const Symbols& s) {
  return {.is_sent = (s.rank != 0) != 0,
          .has_piece = true,
          .to = 0,
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_54{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_54_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_55_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  return {.is_sent = ((((s.round < 1) && (v0 < std::min<Number>(s.node_ranks, (s.ranks - (v1 * s.node_ranks))))) && (s.lane < 1)) && (v0 != 0)) != 0,
          .has_piece = true,
          .to = ((v1 * s.node_ranks) + 0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_55{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_55_sent,
    .alike = Alike::nothing,
    .kind = Kind::copy,
    .reduces = false,
    .overlaps = false,
};

Sent phase_56_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && ((v1 < (2 * v3)) && modulo(v1, 2))) != 0,
          .has_piece = true,
          .to = (((v1 - 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_56{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_56_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_57_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  const Number v4 = (choose((v1 < (2 * v3)), quotient(v1, 2), (v1 - v3)) ^ shifted(1, s.round));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = ((choose((v4 < v3), (2 * v4), (v4 + v3)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_57{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_57_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_58_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = (v2 - shifted(1, floor_log2(v2)));
  return {.is_sent = (((v0 < 1) && (v1 < (2 * v3))) && (((v1 < (2 * v3)) && modulo(v1, 2)) == 0)) != 0,
          .has_piece = true,
          .to = (((v1 + 1) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_58{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks) - shifted(1, floor_log2(quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_58_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_59_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_59{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_59_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_60_sent(const Symbols& s) {
  const Number v0 = (s.ranks - shifted(1, floor_log2(s.ranks)));
  const Number v1 = (choose((s.rank < (2 * v0)), quotient(s.rank, 2), (s.rank - v0)) ^ shifted(1, s.round));
  return {.is_sent = (((s.rank < (2 * v0)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v1 < v0), (2 * v1), (v1 + v0)),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_60{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_60_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_61_sent(const Symbols& s) {
  return {.is_sent = (((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = (s.rank + 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_61{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_61_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_62_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = shifted(1, ((((floor_log2(((2 * v2) - 1)) + 1) - 1) - 1) - s.round));
  const Number v4 = (v1 + ((s.lane + 1) * v3));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && ((modulo(v1, (v3 * 2)) == 0) && (v4 < v2))) != 0,
          .has_piece = true,
          .to = ((v4 * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_62{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_62_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_63_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks);
  const Number v3 = shifted(1, ((((floor_log2(((2 * v2) - 1)) + 1) - 1) - 1) - s.round));
  const Number v4 = (v1 + ((s.lane + 1) * v3));
  return {.is_sent = (((v0 < 1) && (v1 < v2)) && ((modulo(v1, (v3 * 2)) == 0) && (v4 < v2))) != 0,
          .has_piece = true,
          .to = ((v4 * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_63{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_63_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_64_sent(const Symbols& s) {
  const Number v0 = ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1);
  const Number v1 = shifted(1, ((v0 - 1) - s.round));
  const Number v2 = (s.rank + ((s.lane + 1) * v1));
  return {.is_sent = ((modulo(s.rank, (v1 * 2)) == 0) && (v2 < s.ranks)) != 0,
          .has_piece = true,
          .to = v2,
          .first = v2,
          .into = v2,
          .count = std::min<Number>(shifted(1, ((v0 - 1) - s.round)), (s.ranks - v2))};
}
constexpr Phase phase_64{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_64_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_65_sent(const Symbols& s) {
  const Number v0 = modulo(((s.rank + s.ranks) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_65{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_65_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_66_sent(const Symbols& s) {
  const Number v0 = shifted(1, s.round);
  const Number v1 = modulo(quotient(s.rank, v0), 2);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = s.rank,
          .into = s.rank,
          .count = std::min<Number>(shifted(1, s.round), (s.ranks - s.rank))};
}
constexpr Phase phase_66{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_66_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_67_sent(const Symbols& s) {
  const Number v0 = shifted(1, (s.round * 2));
  const Number v1 = modulo(quotient(s.rank, v0), 4);
  return {.is_sent = ((modulo(s.rank, v0) == 0) && (v1 != 0)) != 0,
          .has_piece = true,
          .to = (s.rank - (v1 * v0)),
          .first = s.rank,
          .into = s.rank,
          .count = std::min<Number>(shifted(1, (s.round * 2)), (s.ranks - s.rank))};
}
constexpr Phase phase_67{
    .rounds = [](const Symbols& s) -> Number { return quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_67_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_68_sent(const Symbols& s) {
  return {.is_sent = (s.rank != 0) != 0,
          .has_piece = true,
          .to = 0,
          .first = s.rank,
          .into = s.rank,
          .count = 1};
}
constexpr Phase phase_68{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_68_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_69_sent(const Symbols& s) {
  const Number v0 = quotient(s.rank, s.node_ranks);
  const Number v1 = std::min<Number>(s.node_ranks, (s.ranks - (v0 * s.node_ranks)));
  const Number v2 = modulo(s.rank, s.node_ranks);
  const Number v3 = shifted(1, s.round);
  const Number v4 = modulo(quotient(v2, v3), 2);
  return {.is_sent = ((((s.round < ((floor_log2(((2 * v1) - 1)) + 1) - 1)) && (v2 < v1)) && (s.lane < 1)) && ((modulo(v2, v3) == 0) && (v4 != 0))) != 0,
          .has_piece = true,
          .to = ((v0 * s.node_ranks) + (v2 - (v4 * v3))),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_69{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * std::min<Number>(s.node_ranks, s.ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_69_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_70_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = shifted(1, s.round);
  const Number v3 = modulo(quotient(v1, v2), 2);
  return {.is_sent = (((v0 < 1) && (v1 < quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks))) && ((modulo(v1, v2) == 0) && (v3 != 0))) != 0,
          .has_piece = true,
          .to = (((v1 - (v3 * v2)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_70{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_70_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_71_sent(const Symbols& s) {
  const Number v0 = modulo(s.rank, s.node_ranks);
  const Number v1 = quotient(s.rank, s.node_ranks);
  const Number v2 = shifted(1, s.round);
  const Number v3 = modulo(quotient(v1, v2), 2);
  return {.is_sent = (((v0 < 1) && (v1 < quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks))) && ((modulo(v1, v2) == 0) && (v3 != 0))) != 0,
          .has_piece = true,
          .to = (((v1 - (v3 * v2)) * s.node_ranks) + v0),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_71{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * quotient(((s.ranks + s.node_ranks) - 1), s.node_ranks)) - 1)) + 1) - 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_71_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_72_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_72{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_72_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_73_sent(const Symbols& s) {
  const Number v0 = shifted(1, floor_log2(s.ranks));
  const Number v1 = (s.ranks - v0);
  const Number v2 = choose((s.rank < (2 * v1)), quotient(s.rank, 2), (s.rank - v1));
  const Number v3 = (v2 ^ shifted(1, s.round));
  const Number v4 = reversed_bits(((v2 ^ shifted(1, s.round)) & (shifted(1, (s.round + 1)) - 1)), floor_log2(s.ranks));
  return {.is_sent = (((s.rank < (2 * v1)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v3 < v1), (2 * v3), (v3 + v1)),
          .first = v4,
          .into = v4,
          .count = shifted_back(v0, (s.round + 1))};
}
constexpr Phase phase_73{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return shifted(1, floor_log2(s.ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_73_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_74_sent(const Symbols& s) {
  const Number v0 = shifted(1, floor_log2(s.ranks));
  const Number v1 = (s.ranks - v0);
  const Number v2 = choose((s.rank < (2 * v1)), quotient(s.rank, 2), (s.rank - v1));
  const Number v3 = floor_log2(s.ranks);
  const Number v4 = ((v3 - 1) - s.round);
  const Number v5 = shifted(1, v4);
  const Number v6 = (v2 - v5);
  const Number v7 = reversed_bits((v2 & (shifted(1, (v4 + 1)) - 1)), v3);
  return {.is_sent = (((((s.rank < (2 * v1)) && modulo(s.rank, 2)) == 0) && (v2 >= v5)) && (v2 < (2 * v5))) != 0,
          .has_piece = true,
          .to = choose((v6 < v1), (2 * v6), (v6 + v1)),
          .first = v7,
          .into = v7,
          .count = shifted_back(v0, (v4 + 1))};
}
constexpr Phase phase_74{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return shifted(1, floor_log2(s.ranks)); },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_74_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_75_sent(const Symbols& s) {
  const Number v0 = ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1);
  const Number v1 = shifted(1, ((v0 - 1) - s.round));
  const Number v2 = (s.rank + ((s.lane + 1) * v1));
  return {.is_sent = ((modulo(s.rank, (v1 * 2)) == 0) && (v2 < s.ranks)) != 0,
          .has_piece = true,
          .to = v2,
          .first = v2,
          .into = v2,
          .count = std::min<Number>(shifted(1, ((v0 - 1) - s.round)), (s.ranks - v2))};
}
constexpr Phase phase_75{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_75_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_76_sent(const Symbols& s) {
  const Number v0 = modulo(((s.rank + s.round) + 1), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo(((s.rank + s.round) + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_76{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_76_sent,
    .alike = Alike::shift,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_77_sent(const Symbols& s) {
  return {.is_sent = ((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) != 0,
          .has_piece = true,
          .to = (s.rank - 1),
          .first = 0,
          .into = 0,
          .count = 1};
}
constexpr Phase phase_77{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols&) -> Number { return 1; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_77_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_78_sent(const Symbols& s) {
  const Number v0 = (s.ranks - shifted(1, floor_log2(s.ranks)));
  const Number v1 = choose((s.rank < (2 * v0)), quotient(s.rank, 2), (s.rank - v0));
  const Number v2 = ((floor_log2(s.ranks) - 1) - s.round);
  const Number v3 = shifted(1, v2);
  const Number v4 = (v1 ^ v3);
  const Number v5 = (shifted_back((v1 ^ v3), v2) * v3);
  const Number v6 = choose((v5 < v0), (2 * v5), (v5 + v0));
  const Number v7 = (v5 + v3);
  return {.is_sent = (((s.rank < (2 * v0)) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = choose((v4 < v0), (2 * v4), (v4 + v0)),
          .first = v6,
          .into = v6,
          .count = (choose((v7 < v0), (2 * v7), (v7 + v0)) - choose((v5 < v0), (2 * v5), (v5 + v0)))};
}
constexpr Phase phase_78{
    .rounds = [](const Symbols& s) -> Number { return floor_log2(s.ranks); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_78_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_79_sent(const Symbols& s) {
  const Number v0 = (s.rank + 1);
  return {.is_sent = (((s.rank < (2 * (s.ranks - shifted(1, floor_log2(s.ranks))))) && modulo(s.rank, 2)) == 0) != 0,
          .has_piece = true,
          .to = (s.rank + 1),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_79{
    .rounds = [](const Symbols& s) -> Number { return std::min<Number>((s.ranks - shifted(1, floor_log2(s.ranks))), 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return (2 * (s.ranks - shifted(1, floor_log2(s.ranks)))); },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_79_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_80_sent(const Symbols& s) {
  const Number v0 = modulo((((s.rank + s.ranks) - 1) - s.round), s.ranks);
  return {.is_sent = true,
          .has_piece = true,
          .to = modulo((s.rank + 1), s.ranks),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_80{
    .rounds = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_80_sent,
    .alike = Alike::pattern,
    .kind = Kind::message,
    .reduces = true,
    .overlaps = false,
};

Sent phase_81_sent(const Symbols& s) {
  const Number v0 = ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1);
  const Number v1 = shifted(1, ((v0 - 1) - s.round));
  const Number v2 = (s.rank + ((s.lane + 1) * v1));
  return {.is_sent = ((modulo(s.rank, (v1 * 2)) == 0) && (v2 < s.ranks)) != 0,
          .has_piece = true,
          .to = v2,
          .first = v2,
          .into = v2,
          .count = std::min<Number>(shifted(1, ((v0 - 1) - s.round)), (s.ranks - v2))};
}
constexpr Phase phase_81{
    .rounds = [](const Symbols& s) -> Number { return ((floor_log2(((2 * s.ranks) - 1)) + 1) - 1); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 1; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_81_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_82_sent(const Symbols& s) {
  const Number v0 = quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2);
  const Number v1 = shifted(1, (((v0 - 1) - s.round) * 2));
  const Number v2 = (s.rank + ((s.lane + 1) * v1));
  return {.is_sent = ((modulo(s.rank, (v1 * 4)) == 0) && (v2 < s.ranks)) != 0,
          .has_piece = true,
          .to = v2,
          .first = v2,
          .into = v2,
          .count = std::min<Number>(shifted(1, (((v0 - 1) - s.round) * 2)), (s.ranks - v2))};
}
constexpr Phase phase_82{
    .rounds = [](const Symbols& s) -> Number { return quotient(((floor_log2(((2 * s.ranks) - 1)) + 2) - 1), 2); },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols& s) -> Number { return s.ranks; },
    .lanes = [](const Symbols&) -> Number { return 3; },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_82_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

Sent phase_83_sent(const Symbols& s) {
  const Number v0 = (s.lane + 1);
  return {.is_sent = true,
          .has_piece = true,
          .to = (s.lane + 1),
          .first = v0,
          .into = v0,
          .count = 1};
}
constexpr Phase phase_83{
    .rounds = [](const Symbols&) -> Number { return 1; },
    .chunks = [](const Symbols& s) -> Number { return s.ranks; },
    .senders = [](const Symbols&) -> Number { return 1; },
    .lanes = [](const Symbols& s) -> Number { return (s.ranks - 1); },
    .pieces = [](const Symbols&) -> Number { return 1; },
    .sent = phase_83_sent,
    .alike = Alike::nothing,
    .kind = Kind::message,
    .reduces = false,
    .overlaps = false,
};

constexpr std::array<const Phase*, 2> allgather_by_binomial{&phase_0, &phase_1};
constexpr std::array<const Phase*, 1> allgather_by_bruck{&phase_2};
constexpr std::array<const Phase*, 3> allgather_by_hierarchical{&phase_3, &phase_4, &phase_5};
constexpr std::array<const Phase*, 1> allgather_by_linear{&phase_6};
constexpr std::array<const Phase*, 3> allgather_by_recursive_doubling{&phase_7, &phase_8, &phase_9};
constexpr std::array<const Phase*, 1> allgather_by_ring{&phase_10};
constexpr std::array<const Phase*, 2> allreduce_by_binomial{&phase_11, &phase_12};
constexpr std::array<const Phase*, 5> allreduce_by_hierarchical{&phase_13, &phase_14, &phase_15, &phase_16, &phase_17};
constexpr std::array<const Phase*, 2> allreduce_by_knomial{&phase_18, &phase_19};
constexpr std::array<const Phase*, 2> allreduce_by_linear{&phase_20, &phase_21};
constexpr std::array<const Phase*, 6> allreduce_by_multi_leader{&phase_22, &phase_23, &phase_24, &phase_25, &phase_26, &phase_27};
constexpr std::array<const Phase*, 5> allreduce_by_node_flags{&phase_28, &phase_29, &phase_30, &phase_31, &phase_32};
constexpr std::array<const Phase*, 4> allreduce_by_rabenseifner{&phase_33, &phase_34, &phase_35, &phase_36};
constexpr std::array<const Phase*, 3> allreduce_by_recursive_doubling{&phase_37, &phase_38, &phase_39};
constexpr std::array<const Phase*, 2> allreduce_by_ring{&phase_40, &phase_41};
constexpr std::array<const Phase*, 2> allreduce_by_segmented_ring{&phase_42, &phase_43};
constexpr std::array<const Phase*, 1> alltoall_by_bruck{&phase_44};
constexpr std::array<const Phase*, 1> alltoall_by_linear{&phase_45};
constexpr std::array<const Phase*, 1> alltoall_by_pairwise{&phase_46};
constexpr std::array<const Phase*, 2> barrier_by_binomial{&phase_47, &phase_12};
constexpr std::array<const Phase*, 1> barrier_by_dissemination{&phase_48};
constexpr std::array<const Phase*, 5> barrier_by_hierarchical{&phase_49, &phase_50, &phase_51, &phase_52, &phase_17};
constexpr std::array<const Phase*, 2> barrier_by_knomial{&phase_53, &phase_19};
constexpr std::array<const Phase*, 2> barrier_by_linear{&phase_54, &phase_21};
constexpr std::array<const Phase*, 5> barrier_by_node_flags{&phase_55, &phase_56, &phase_57, &phase_58, &phase_32};
constexpr std::array<const Phase*, 3> barrier_by_recursive_doubling{&phase_59, &phase_60, &phase_61};
constexpr std::array<const Phase*, 1> bcast_by_binomial{&phase_12};
constexpr std::array<const Phase*, 2> bcast_by_hierarchical{&phase_62, &phase_17};
constexpr std::array<const Phase*, 1> bcast_by_knomial{&phase_19};
constexpr std::array<const Phase*, 1> bcast_by_linear{&phase_21};
constexpr std::array<const Phase*, 2> bcast_by_node_flags{&phase_63, &phase_32};
constexpr std::array<const Phase*, 2> bcast_by_scatter_allgather{&phase_64, &phase_65};
constexpr std::array<const Phase*, 1> gather_by_binomial{&phase_66};
constexpr std::array<const Phase*, 1> gather_by_knomial{&phase_67};
constexpr std::array<const Phase*, 1> gather_by_linear{&phase_68};
constexpr std::array<const Phase*, 1> reduce_by_binomial{&phase_11};
constexpr std::array<const Phase*, 2> reduce_by_hierarchical{&phase_69, &phase_70};
constexpr std::array<const Phase*, 1> reduce_by_knomial{&phase_18};
constexpr std::array<const Phase*, 1> reduce_by_linear{&phase_20};
constexpr std::array<const Phase*, 2> reduce_by_node_flags{&phase_28, &phase_71};
constexpr std::array<const Phase*, 3> reduce_by_rabenseifner{&phase_72, &phase_73, &phase_74};
constexpr std::array<const Phase*, 2> reduce_scatter_by_binomial{&phase_11, &phase_75};
constexpr std::array<const Phase*, 1> reduce_scatter_by_pairwise{&phase_76};
constexpr std::array<const Phase*, 3> reduce_scatter_by_recursive_halving{&phase_77, &phase_78, &phase_79};
constexpr std::array<const Phase*, 1> reduce_scatter_by_ring{&phase_80};
constexpr std::array<const Phase*, 1> scatter_by_binomial{&phase_81};
constexpr std::array<const Phase*, 1> scatter_by_knomial{&phase_82};
constexpr std::array<const Phase*, 1> scatter_by_linear{&phase_83};

constexpr std::array<Operation, 9> operation_rows{{
    {"Allgather", 1, false, false, true, true, false},
    {"Allreduce", 1, true, false, false, true, false},
    {"Alltoall", 3, false, false, true, true, false},
    {"Barrier", 1, false, false, false, false, false},
    {"Bcast", 1, false, true, false, true, false},
    {"Gather", 1, false, true, true, true, true},
    {"Reduce", 1, true, true, false, true, false},
    {"Reduce_scatter", 1, true, false, true, true, false},
    {"Scatter", 1, false, true, true, true, true},
}};

constexpr std::array<Algorithm, 48> algorithm_rows{{
    {&operation_rows[0], "Allgather/binomial",
     "MPI_Allgather written with messages: a binomial tree to rank 0, and back with all.",
     allgather_by_binomial, false, true},
    {&operation_rows[0], "Allgather/bruck",
     "MPI_Allgather written with messages: Bruck's algorithm, with twice as much each time.",
     allgather_by_bruck, false, true},
    {&operation_rows[0], "Allgather/hierarchical",
     "MPI_Allgather written with messages: leaders collect the blocks of their node, and use a ring.",
     allgather_by_hierarchical, true, true},
    {&operation_rows[0], "Allgather/linear",
     "MPI_Allgather written with messages: all ranks send to all at once.",
     allgather_by_linear, false, false},
    {&operation_rows[0], "Allgather/recursive_doubling",
     "MPI_Allgather written with messages: recursive doubling, with twice as much each time.",
     allgather_by_recursive_doubling, false, true},
    {&operation_rows[0], "Allgather/ring",
     "MPI_Allgather written with messages: a ring.",
     allgather_by_ring, false, false},
    {&operation_rows[1], "Allreduce/binomial",
     "MPI_Allreduce written with messages: a binomial tree to rank 0, and back.",
     allreduce_by_binomial, false, false},
    {&operation_rows[1], "Allreduce/hierarchical",
     "MPI_Allreduce written with messages: leaders of nodes use recursive doubling.",
     allreduce_by_hierarchical, true, false},
    {&operation_rows[1], "Allreduce/knomial",
     "MPI_Allreduce written with messages: a k-nomial tree to rank 0, and back, k = 4.",
     allreduce_by_knomial, false, false},
    {&operation_rows[1], "Allreduce/linear",
     "MPI_Allreduce written with messages: all ranks send to rank 0, which sends to all.",
     allreduce_by_linear, false, false},
    {&operation_rows[1], "Allreduce/multi_leader",
     "MPI_Allreduce written with messages: parts are reduced on each node, and by Rabenseifner's algorithm among nodes.",
     allreduce_by_multi_leader, true, false},
    {&operation_rows[1], "Allreduce/node_flags",
     "MPI_Allreduce written with messages: shared memory on a node, recursive doubling of leaders.",
     allreduce_by_node_flags, true, false},
    {&operation_rows[1], "Allreduce/rabenseifner",
     "MPI_Allreduce written with messages: recursive halving, then recursive doubling.",
     allreduce_by_rabenseifner, false, false},
    {&operation_rows[1], "Allreduce/recursive_doubling",
     "MPI_Allreduce written with messages: recursive doubling.",
     allreduce_by_recursive_doubling, false, false},
    {&operation_rows[1], "Allreduce/ring",
     "MPI_Allreduce written with messages: sums of parts go round a ring, then the parts.",
     allreduce_by_ring, false, false},
    {&operation_rows[1], "Allreduce/segmented_ring",
     "MPI_Allreduce written with messages: a ring for one segment of all parts after the other, then a ring with the parts.",
     allreduce_by_segmented_ring, false, false},
    {&operation_rows[2], "Alltoall/bruck",
     "MPI_Alltoall written with messages: Bruck's algorithm, with half of all blocks each time.",
     alltoall_by_bruck, false, true},
    {&operation_rows[2], "Alltoall/linear",
     "MPI_Alltoall written with messages: all ranks send to all at once.",
     alltoall_by_linear, false, false},
    {&operation_rows[2], "Alltoall/pairwise",
     "MPI_Alltoall written with messages: pairs at one distance after the other.",
     alltoall_by_pairwise, false, false},
    {&operation_rows[3], "Barrier/binomial",
     "MPI_Barrier written with messages: a binomial tree to rank 0, and back.",
     barrier_by_binomial, false, false},
    {&operation_rows[3], "Barrier/dissemination",
     "MPI_Barrier written with messages: a signal to a rank twice as far away each time.",
     barrier_by_dissemination, false, false},
    {&operation_rows[3], "Barrier/hierarchical",
     "MPI_Barrier written with messages: leaders of nodes use recursive doubling.",
     barrier_by_hierarchical, true, false},
    {&operation_rows[3], "Barrier/knomial",
     "MPI_Barrier written with messages: a k-nomial tree to rank 0, and back, k = 4.",
     barrier_by_knomial, false, false},
    {&operation_rows[3], "Barrier/linear",
     "MPI_Barrier written with messages: all ranks send to rank 0, which sends to all.",
     barrier_by_linear, false, false},
    {&operation_rows[3], "Barrier/node_flags",
     "MPI_Barrier written with messages: shared memory on a node, recursive doubling of leaders.",
     barrier_by_node_flags, true, false},
    {&operation_rows[3], "Barrier/recursive_doubling",
     "MPI_Barrier written with messages: recursive doubling.",
     barrier_by_recursive_doubling, false, false},
    {&operation_rows[4], "Bcast/binomial",
     "MPI_Bcast written with messages: a binomial tree.",
     bcast_by_binomial, false, false},
    {&operation_rows[4], "Bcast/hierarchical",
     "MPI_Bcast written with messages: a binomial tree of leaders, then one on each node.",
     bcast_by_hierarchical, true, false},
    {&operation_rows[4], "Bcast/knomial",
     "MPI_Bcast written with messages: a k-nomial tree, k = 4.",
     bcast_by_knomial, false, false},
    {&operation_rows[4], "Bcast/linear",
     "MPI_Bcast written with messages: the root sends to all ranks at once.",
     bcast_by_linear, false, false},
    {&operation_rows[4], "Bcast/node_flags",
     "MPI_Bcast written with messages: a binomial tree of leaders, shared memory on a node.",
     bcast_by_node_flags, true, false},
    {&operation_rows[4], "Bcast/scatter_allgather",
     "MPI_Bcast written with messages: a binomial tree with parts of the message, which then go round a ring.",
     bcast_by_scatter_allgather, false, false},
    {&operation_rows[5], "Gather/binomial",
     "MPI_Gather written with messages: a binomial tree, with more at each level.",
     gather_by_binomial, false, true},
    {&operation_rows[5], "Gather/knomial",
     "MPI_Gather written with messages: a k-nomial tree, with more at each level, k = 4.",
     gather_by_knomial, false, true},
    {&operation_rows[5], "Gather/linear",
     "MPI_Gather written with messages: all ranks send to the root at once.",
     gather_by_linear, false, false},
    {&operation_rows[6], "Reduce/binomial",
     "MPI_Reduce written with messages: a binomial tree.",
     reduce_by_binomial, false, false},
    {&operation_rows[6], "Reduce/hierarchical",
     "MPI_Reduce written with messages: a binomial tree on each node, then one of leaders.",
     reduce_by_hierarchical, true, false},
    {&operation_rows[6], "Reduce/knomial",
     "MPI_Reduce written with messages: a k-nomial tree, k = 4.",
     reduce_by_knomial, false, false},
    {&operation_rows[6], "Reduce/linear",
     "MPI_Reduce written with messages: all ranks send to the root at once.",
     reduce_by_linear, false, false},
    {&operation_rows[6], "Reduce/node_flags",
     "MPI_Reduce written with messages: shared memory on a node, a binomial tree of leaders.",
     reduce_by_node_flags, true, false},
    {&operation_rows[6], "Reduce/rabenseifner",
     "MPI_Reduce written with messages: recursive halving, then a binomial tree to the root.",
     reduce_by_rabenseifner, false, false},
    {&operation_rows[7], "Reduce_scatter/binomial",
     "MPI_Reduce_scatter written with messages: a binomial tree to rank 0, which scatters.",
     reduce_scatter_by_binomial, false, true},
    {&operation_rows[7], "Reduce_scatter/pairwise",
     "MPI_Reduce_scatter written with messages: pairs at one distance after the other.",
     reduce_scatter_by_pairwise, false, false},
    {&operation_rows[7], "Reduce_scatter/recursive_halving",
     "MPI_Reduce_scatter written with messages: recursive halving.",
     reduce_scatter_by_recursive_halving, false, true},
    {&operation_rows[7], "Reduce_scatter/ring",
     "MPI_Reduce_scatter written with messages: a ring.",
     reduce_scatter_by_ring, false, false},
    {&operation_rows[8], "Scatter/binomial",
     "MPI_Scatter written with messages: a binomial tree, with less at each level.",
     scatter_by_binomial, false, true},
    {&operation_rows[8], "Scatter/knomial",
     "MPI_Scatter written with messages: a k-nomial tree, with less at each level, k = 4.",
     scatter_by_knomial, false, true},
    {&operation_rows[8], "Scatter/linear",
     "MPI_Scatter written with messages: the root sends to all ranks at once.",
     scatter_by_linear, false, false},
}};

}  // namespace

const std::size_t segment_bytes = 65536;

std::span<const Operation> operations() { return operation_rows; }
std::span<const Algorithm> algorithms() { return algorithm_rows; }

}  // namespace mpigauge::schedules
// NOLINTEND(readability-*,modernize-use-bool-literals,misc-redundant-expression)
