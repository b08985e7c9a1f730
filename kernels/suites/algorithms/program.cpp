// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/algorithms/program.hpp"

#include <numeric>

namespace mpigauge::schedules {

namespace {

constexpr std::size_t line_bytes = 64;

/// Consecutive bytes of the vectors of two ranks.
struct Piece {
  std::size_t from = 0, to = 0, bytes = 0;
};

/// A message of this rank, to or from another.
struct Own {
  bool is_sent = false;
  int peer = 0;
  std::vector<Piece> pieces;
};

struct OwnRound {
  std::vector<Own> messages;
  Kind kind = Kind::message;
  bool reduces = false;
  unsigned step = 0;  ///< among the rounds in shared memory
};

struct Range {
  std::size_t first = 0, end = 0;
  [[nodiscard]] bool empty() const { return end <= first; }
  [[nodiscard]] bool holds(const Range& other) const {
    return other.empty() || (first <= other.first && other.end <= end);
  }
  void add(std::size_t at, std::size_t bytes) {
    if (bytes == 0) return;
    const bool was_empty = empty();
    first = was_empty ? at : std::min(first, at);
    end = was_empty ? at + bytes : std::max(end, at + bytes);
  }
};

/// The messages of a rank in a schedule, in bytes of vectors.
class Reader {
 public:
  Reader(const Algorithm& algorithm, const Call& call)
      : algorithm_(algorithm), call_(call), own_(counted(call.rank)) {
    const auto elements = call.bytes / call.element_bytes;
    const auto ranks = static_cast<std::size_t>(call.ranks);
    const Operation& operation = *algorithm.operation;
    const auto spaces = static_cast<std::size_t>(operation.spaces);
    elements_ =
        operation.moves_data ? elements * spaces * (operation.has_block_per_rank ? ranks : 1) : 0;
    const auto block = (elements + ranks - 1) / ranks * call.element_bytes;
    symbols_.ranks = call.ranks;
    symbols_.node_ranks = std::min(call.node_ranks, call.ranks);
    symbols_.segments =
        std::max<Number>(static_cast<Number>((block + segment_bytes - 1) / segment_bytes), 1);
  }

  [[nodiscard]] std::vector<OwnRound> rounds() {
    std::vector<OwnRound> all;
    for (const Phase* phase : algorithm_.phases) add_phase(*phase, all);
    return all;
  }
  [[nodiscard]] unsigned steps() const { return steps_; }
  [[nodiscard]] std::size_t vector_bytes() const { return elements_ * call_.element_bytes; }

 private:
  void add_phase(const Phase& phase, std::vector<OwnRound>& all) {
    const Number rounds = phase.rounds(symbols_);
    chunks_ = std::max<Number>(phase.chunks(symbols_), 1);
    std::vector<Number> senders;
    for (Number round = 0; round < rounds; ++round) {
      symbols_.round = round;
      if (phase.alike != Alike::pattern || round == 0) senders = senders_of(phase);
      const bool is_first = round == 0 || !phase.overlaps;
      if (is_first) all.push_back({{}, phase.kind, phase.reduces, steps_});
      if (phase.kind == Kind::copy) ++steps_;
      for (const Number sender : senders) add_messages(phase, sender, all.back().messages);
    }
  }

  /// The ranks whose messages may be from or to this one.
  [[nodiscard]] std::vector<Number> senders_of(const Phase& phase) {
    const Number all = phase.senders(symbols_);
    std::vector<Number> senders;
    if (phase.alike == Alike::shift) {
      for (const Number each : {own_, modulo(own_ - symbols_.round - 1, symbols_.ranks)}) {
        if (each < all) senders.push_back(each);
      }
      return senders;
    }
    if (phase.alike == Alike::nothing) {
      senders.resize(static_cast<std::size_t>(std::max<Number>(all, 0)));
      std::iota(senders.begin(), senders.end(), 0);
      return senders;
    }
    for (Number sender = 0; sender < all; ++sender) {
      if (is_own(phase, sender)) senders.push_back(sender);
    }
    return senders;
  }

  [[nodiscard]] bool is_own(const Phase& phase, Number sender) {
    symbols_.rank = sender;
    symbols_.piece = 0;
    const Number lanes = phase.lanes(symbols_);
    for (symbols_.lane = 0; symbols_.lane < lanes; ++symbols_.lane) {
      const Sent sent = phase.sent(symbols_);
      if (sent.is_sent && (sender == own_ || sent.to == own_)) return true;
    }
    return false;
  }

  void add_messages(const Phase& phase, Number sender, std::vector<Own>& messages) {
    symbols_.rank = sender;
    symbols_.piece = 0;
    const Number lanes = phase.lanes(symbols_);
    for (Number lane = 0; lane < lanes; ++lane) {
      symbols_.lane = lane;
      symbols_.piece = 0;
      const Sent sent = phase.sent(symbols_);
      if (!sent.is_sent || (sender != own_ && sent.to != own_)) continue;
      const bool is_sent = sender == own_;
      messages.push_back({is_sent, rank_of(is_sent ? sent.to : sender), pieces(phase)});
    }
  }

  [[nodiscard]] std::vector<Piece> pieces(const Phase& phase) {
    std::vector<Piece> all;
    const Number count = phase.pieces(symbols_);
    for (Number piece = 0; piece < count; ++piece) {
      symbols_.piece = piece;
      const Sent sent = phase.sent(symbols_);
      if (sent.has_piece) add_piece(sent, all);
    }
    return all;
  }

  void add_piece(const Sent& sent, std::vector<Piece>& all) const {
    Number first = sent.first, into = sent.into;
    if (algorithm_.operation->rotates_blocks) {
      into = first = modulo(first + call_.root, symbols_.ranks);
    }
    const Number before_end = std::min(sent.count, chunks_ - first);
    all.push_back(piece(first, into, before_end));
    if (sent.count > before_end) all.push_back(piece(0, 0, sent.count - before_end));
  }

  [[nodiscard]] Piece piece(Number first, Number into, Number count) const {
    return {offset(first), offset(into), offset(first + count) - offset(first)};
  }
  [[nodiscard]] std::size_t offset(Number chunk) const {
    return static_cast<std::size_t>(chunk) * elements_ / static_cast<std::size_t>(chunks_) *
           call_.element_bytes;
  }

  /// A rank as schedules count it, and back.
  [[nodiscard]] Number counted(int rank) const {
    if (algorithm_.is_on_nodes) return swapped(rank);
    return modulo(rank - call_.root, call_.ranks);
  }
  [[nodiscard]] int rank_of(Number rank) const {
    if (algorithm_.is_on_nodes) return swapped(static_cast<int>(rank));
    return static_cast<int>(modulo(rank + call_.root, call_.ranks));
  }
  [[nodiscard]] int swapped(int rank) const {
    if (rank == 0) return call_.root;
    return rank == call_.root ? 0 : rank;
  }

  const Algorithm& algorithm_;
  const Call& call_;
  const Number own_;
  Symbols symbols_;
  std::size_t elements_ = 0;
  Number chunks_ = 1;
  unsigned steps_ = 0;
};

/// Where the vector of a rank is in its memory.
class Memory {
 public:
  Memory(const Algorithm& algorithm, const Call& call, std::size_t vector_bytes,
         const std::vector<OwnRound>& rounds)
      : operation_(*algorithm.operation), call_(call), bytes_(vector_bytes) {
    const bool is_root = call.rank == call.root;
    const bool scatters = operation_.has_root && (named("Bcast") || named("Scatter"));
    only_sends_ = scatters && is_root;
    has_initial_ = !scatters || is_root;
    const bool has_block = operation_.has_block_per_rank;
    initial_ = operation_.reduces || scatters || !has_block ? Range{0, bytes_} : own_block();
    const bool has_result = !operation_.has_root || is_root || scatters;
    if (has_result) {
      const bool is_block = named("Scatter") || named("Reduce_scatter");
      result_ = is_block ? own_block() : Range{0, bytes_};
    }
    copies_result_ = !named("Bcast") || !is_root;
    for (const OwnRound& round : rounds) touch(round);
    if (receives_ && has_initial_ && !only_sends_) touched_.add(initial_.first, length(initial_));
    is_in_result_ = result_.holds(touched_);
  }

  [[nodiscard]] Place read(std::size_t at) const {
    if (exchanges()) return space_of(at);
    if (only_sends_ || !receives_) return {Space::send, at - initial_.first};
    return written(at);
  }
  [[nodiscard]] Place written(std::size_t at) const {
    if (exchanges()) return space_of(at);
    if (is_in_result_) return {Space::recv, at - result_.first};
    return {Space::vector, at - touched_.first};
  }
  [[nodiscard]] std::size_t vector_bytes() const {
    if (!receives_) return 0;
    if (exchanges()) return bytes_ / 3;
    return is_in_result_ ? 0 : length(touched_);
  }
  void add_copies(Program& program) const {
    if (exchanges()) {
      const Range own = own_block();
      if (!own.empty()) {
        program.before.push_back({{Space::send, own.first}, {Space::recv, own.first}, length(own)});
      }
      return;
    }
    const bool starts = receives_ && has_initial_ && !only_sends_;
    if (starts && !initial_.empty()) {
      program.before.push_back({{Space::send, 0}, written(initial_.first), length(initial_)});
    }
    if (result_.empty() || !copies_result_) return;
    const Place from = read(result_.first);
    const Place to{Space::recv, 0};
    if (from.space != to.space) program.after.push_back({from, to, length(result_)});
  }

 private:
  [[nodiscard]] bool named(std::string_view name) const { return operation_.name == name; }
  [[nodiscard]] bool exchanges() const { return operation_.spaces > 1; }
  [[nodiscard]] static std::size_t length(const Range& range) { return range.end - range.first; }
  [[nodiscard]] Range own_block() const {
    const std::size_t first = static_cast<std::size_t>(call_.rank) * call_.bytes;
    return {first, first + call_.bytes};
  }
  [[nodiscard]] Place space_of(std::size_t at) const {
    constexpr std::array spaces{Space::send, Space::recv, Space::vector};
    const std::size_t each = std::max<std::size_t>(bytes_ / spaces.size(), 1);
    const std::size_t space = std::min(at / each, spaces.size() - 1);
    return {spaces[space], at - space * each};
  }
  void touch(const OwnRound& round) {
    for (const Own& message : round.messages) {
      receives_ = receives_ || !message.is_sent;
      for (const Piece& piece : message.pieces) {
        touched_.add(message.is_sent ? piece.from : piece.to, piece.bytes);
      }
    }
  }

  const Operation& operation_;
  const Call& call_;
  std::size_t bytes_;
  Range initial_, result_, touched_;
  bool only_sends_ = false;    // the root has its data where the benchmark sends from
  bool has_initial_ = false;   // data of its own
  bool copies_result_ = true;  // the benchmark looks for it in its receive buffer
  bool receives_ = false;
  bool is_in_result_ = false;
};

/// Makes a program of the messages of a rank.
class Writer {
 public:
  Writer(const Call& call, const Memory& memory, Program& program)
      : call_(call), memory_(memory), program_(program) {}

  void add(const OwnRound& own) {
    if (own.messages.empty()) return;
    round_ = {};
    stage_ = 0;
    for (const Own& message : own.messages) {
      if (own.kind == Kind::copy) {
        share(own, message);
      } else if (message.is_sent) {
        send(message);
      } else {
        receive(message, own.reduces);
      }
    }
    program_.stage_bytes = std::max(program_.stage_bytes, stage_);
    program_.most_requests =
        std::max(program_.most_requests, round_.sent.size() + round_.received.size());
    program_.rounds.push_back(std::move(round_));
  }

 private:
  void share(const OwnRound& own, const Own& message) {
    const Piece& piece = message.pieces.front();
    if (!message.is_sent) {
      round_.read.push_back({memory_.written(piece.to), piece.bytes, count(piece.bytes),
                             message.peer, own.step, own.reduces});
      return;
    }
    if (round_.published.empty()) {
      round_.published.push_back({memory_.read(piece.from), piece.bytes, 0, own.step});
      program_.shared_bytes = std::max(program_.shared_bytes, piece.bytes);
    }
    ++round_.published.front().readers;
  }

  void send(const Own& message) {
    if (message.pieces.size() == 1) {
      const Piece& piece = message.pieces.front();
      round_.sent.push_back({memory_.read(piece.from), count(piece.bytes), message.peer});
      return;
    }
    const std::size_t bytes = all_bytes(message);
    std::size_t at = room(bytes);
    round_.sent.push_back({{Space::stage, at}, count(bytes), message.peer});
    for (const Piece& piece : message.pieces) {
      if (piece.bytes > 0) {
        round_.packed.push_back({memory_.read(piece.from), {Space::stage, at}, piece.bytes});
      }
      at += piece.bytes;
    }
  }

  void receive(const Own& message, bool reduces) {
    if (message.pieces.size() == 1 && !reduces) {
      const Piece& piece = message.pieces.front();
      round_.received.push_back({memory_.written(piece.to), count(piece.bytes), message.peer});
      return;
    }
    const std::size_t bytes = all_bytes(message);
    std::size_t at = room(bytes);
    round_.received.push_back({{Space::stage, at}, count(bytes), message.peer});
    for (const Piece& piece : message.pieces) {
      const Place from{Space::stage, at}, to = memory_.written(piece.to);
      if (piece.bytes > 0 && reduces) round_.reduced.push_back({from, to, count(piece.bytes)});
      if (piece.bytes > 0 && !reduces) round_.unpacked.push_back({from, to, piece.bytes});
      at += piece.bytes;
    }
  }

  [[nodiscard]] static std::size_t all_bytes(const Own& message) {
    std::size_t bytes = 0;
    for (const Piece& piece : message.pieces) bytes += piece.bytes;
    return bytes;
  }
  [[nodiscard]] std::size_t room(std::size_t bytes) {
    const std::size_t at = stage_;
    stage_ += (bytes + line_bytes - 1) / line_bytes * line_bytes;
    return at;
  }
  [[nodiscard]] int count(std::size_t bytes) const {
    return static_cast<int>(bytes / call_.element_bytes);
  }

  const Call& call_;
  const Memory& memory_;
  Program& program_;
  Round round_;
  std::size_t stage_ = 0;
};

}  // namespace

Program program_of(const Algorithm& algorithm, const Call& call) {
  Program program;
  Reader reader(algorithm, call);
  const std::vector<OwnRound> rounds = reader.rounds();
  const Memory memory(algorithm, call, reader.vector_bytes(), rounds);
  Writer writer(call, memory, program);
  for (const OwnRound& round : rounds) writer.add(round);
  memory.add_copies(program);
  program.vector_bytes = memory.vector_bytes();
  program.steps = reader.steps();
  program.is_made = true;
  return program;
}

}  // namespace mpigauge::schedules
