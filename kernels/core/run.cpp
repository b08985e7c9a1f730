// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/computation.hpp"

namespace mpigauge {

namespace {

constexpr std::size_t cache_line = 64;
constexpr const char* spread_numbers = "max";

std::size_t bytes_of(Amount amount, const Shape& shape) {
  return static_cast<std::size_t>(amount(shape));
}

// Copies of a cold buffer keep a cache line between them, as IMB's do.
std::size_t stride(const Case& row, std::size_t bytes) {
  return row.cold || row.shape.fresh ? (bytes / cache_line + 2) * cache_line : 0;
}

constexpr auto write_part = static_cast<std::size_t>(Part::write);
constexpr auto skew_part = static_cast<std::size_t>(Part::skew);

void keep_slowest(std::vector<std::uint64_t>& mine, const std::vector<std::uint64_t>& other) {
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], other[i]);
}

// Short calls share a sample. Each has its own copy of the send buffer then, so that all can be
// written before the clock is read; few enough to stay in the caches of the core that writes.
constexpr std::size_t most_copies = 64;
constexpr std::size_t bytes_of_copies = std::size_t{64} << 10U;

std::size_t copies(std::size_t stride) {
  return std::clamp<std::size_t>(bytes_of_copies / stride, 1, most_copies);
}

}  // namespace

std::size_t Layout::send_total() const {
  return stride_of_send > 0 ? slots * stride_of_send : send_bytes;
}
std::size_t Layout::recv_total() const {
  return stride_of_recv > 0 ? slots * stride_of_recv : recv_bytes;
}

Layout layout(const Case& row) {
  Layout made;
  Shape in_memory = row.shape;
  in_memory.bytes = bytes_in_memory(row);
  made.send_bytes = bytes_of(row.card->send, in_memory);
  made.recv_bytes = bytes_of(row.card->recv, in_memory);
  made.stride_of_send = stride(row, made.send_bytes);
  if (row.shape.fresh) made.slots = copies(made.stride_of_send);
  if (row.cold) {
    made.stride_of_recv = stride(row, made.recv_bytes);
    const std::size_t step = std::max(made.stride_of_send, made.stride_of_recv);
    made.slots = std::max<std::size_t>((2 * row.cold_bytes + step - 1) / step, 2);
  }
  return made;
}

std::size_t bytes_in_memory(const Case& row) {
  return is_spread(row.contiguity) ? 2 * row.shape.bytes : row.shape.bytes;
}

Contents contents(const Case& row, int rank) {
  // Between spread elements there is room, which does not travel; so they hold numbers.
  const bool fresh = row.shape.fresh;
  if (row.op == nullptr && is_spread(row.contiguity)) {
    return {row.type, spread_numbers, rank, fresh};
  }
  if (row.op == nullptr) return {nullptr, "", rank, fresh};
  return {row.type, std::string(row.op->name), rank, fresh};
}

Run::Rotation Run::rotation() const {
  // Copies beyond those of a sample would only take up cache.
  const bool few = fresh() && !case_.cold;
  return {.turn = {.root = root()},
          .slots = few ? std::min<std::size_t>(layout_.slots, task_.calls) : layout_.slots,
          .ranks = team_.ranks,
          .root_step = case_.root_shift && has_root(*case_.card) ? 1 : 0};
}

std::vector<Turn> Run::turns(std::size_t most) const {
  const std::uint64_t calls = task_.warm + std::uint64_t{task_.samples} * task_.calls;
  std::vector<Turn> turns;
  const Turn first = rotation().turn;
  Rotation at = rotation();
  do {
    turns.push_back(at.turn);
    at.advance();
  } while (turns.size() < std::min<std::uint64_t>(calls, most) &&
           (at.turn.slot != first.slot || at.turn.root != first.root));
  return turns;
}

void Run::take_part(Part part, std::vector<std::uint64_t> ticks) {
  const auto i = static_cast<std::size_t>(part);
  const auto sum = std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
  outcome_.part_seconds.at(i) = static_cast<double>(sum) / ticks_per_second();
  const std::size_t samples = std::min(ticks.size(), outcome_.ticks.size());
  ticks.erase(ticks.begin(), ticks.end() - static_cast<std::ptrdiff_t>(samples));
  outcome_.part_ticks.at(i) = std::move(ticks);
}

void Run::take_own(std::vector<std::uint64_t> ticks) {
  const std::size_t samples = std::min(ticks.size(), outcome_.ticks.size());
  ticks.erase(ticks.begin(), ticks.end() - static_cast<std::ptrdiff_t>(samples));
  outcome_.own = std::move(ticks);
}

void Run::take_ticks(std::vector<std::uint64_t> ticks) {
  const auto sum = std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
  if (outcome_.ticks.empty()) outcome_.seconds = static_cast<double>(sum) / ticks_per_second();
  const std::size_t samples = std::min(ticks.size(), outcome_.ticks.size());
  ticks.erase(ticks.begin(), ticks.end() - static_cast<std::ptrdiff_t>(samples));
  outcome_.ticks = std::move(ticks);
}

Contents Run::contents_to_send() const { return contents(case_, sender(team_.rank)); }

Block Run::send_block() {
  const Contents what = contents_to_send();
  Arena& arena = team_.buffers->send(what, layout_.send_total());
  send_ = &arena;
  sent_ = arena.location().data;
  if (fresh()) pattern_ = &team_.buffers->pattern(what);
  return block(arena.location(), layout_.send_bytes, layout_.stride_of_send);
}

Block Run::recv_block() {
  Arena& arena = team_.buffers->recv(layout_.recv_total());
  recv_ = &arena;
  const Location location = arena.location();
  if (checking()) std::memset(location.mirror, std::to_integer<int>(poison), layout_.recv_bytes);
  return block(location, layout_.recv_bytes, layout_.stride_of_recv);
}

void Run::push() {
  if (send_ != nullptr) send_->push(layout_.send_total());
  if (recv_ != nullptr) recv_->push(layout_.recv_total());
  is_stale_ = true;
}

void Run::refresh() const {
  if (!is_stale_) return;
  if (send_ != nullptr) send_->pull(layout_.send_total());
  if (recv_ != nullptr) recv_->pull(layout_.recv_total());
  is_stale_ = false;
}

std::span<std::uint64_t> Run::samples() {
  outcome_.ticks.assign(task_.samples, 0);
  return outcome_.ticks;
}

void Run::openings() {
  outcome_.late.assign(task_.samples, 0);
  opened_.assign(task_.samples, 0);
  if (!apart_from_others()) return;
  outcome_.own.assign(task_.samples, 0);
  outcome_.part_ticks[skew_part].assign(task_.samples, 0);
}

Run::Coming Run::comes(std::uint32_t sample) const {
  if (!apart_from_others()) return {};
  const double hz = ticks_per_second();
  const auto delays =
      options().arrival.delays(options().pairing, task_.writes + sample, team_.ranks);
  const auto [first, last] = std::minmax_element(delays.begin(), delays.end());
  const auto ticks = [hz](double seconds) {
    return static_cast<platform::Ticks>(std::llround(seconds * hz));
  };
  return {ticks(delays[static_cast<std::size_t>(team_.rank)]), ticks(*last), ticks(*first)};
}

void Run::keep(std::uint32_t sample, const Start& start, const Coming& coming, platform::Ticks from,
               platform::Ticks end) {
  const auto since = [end](platform::Ticks when) { return end > when ? end - when : 0; };
  outcome_.ticks[sample] = since(from + (coming.last - coming.own));
  opened_[sample] = start.opened;
  outcome_.late[sample] = start.late ? 1 : 0;
  if (outcome_.own.empty()) return;
  outcome_.own[sample] = since(from);
  outcome_.part_ticks[skew_part][sample] = coming.last - coming.first;
}

void Run::begin_timing() {
  outcome_.part_ticks[write_part].clear();
  outcome_.part_ticks[write_part].reserve(task_.samples);
  probe_.mark();
}

// Where ranks waited for different windows, the call began with the last of them.
void Run::settle() {
  const auto own_late = outcome_.late;
  auto last = opened_;
  team_.starter->settle(last, outcome_.late);
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (own_late[i] == 0) outcome_.ticks[i] -= std::min(outcome_.ticks[i], last[i] - opened_[i]);
  }
}

Outcome Run::begin_part() { return std::exchange(outcome_, {}); }

void Run::end_part(Part part, Outcome whole) {
  const auto i = static_cast<std::size_t>(part);
  whole.part_ticks.at(i) = std::move(outcome_.ticks);
  whole.part_seconds.at(i) = outcome_.seconds;
  whole.taint |= outcome_.taint;
  outcome_ = std::move(whole);
}

std::uint64_t Run::renew(Rotation at, std::uint32_t calls) {
  const auto start = platform::ticks();
  for (std::uint32_t i = 0; i < calls; ++i) {
    ++writes_;
    write(at.turn);
    at.advance();
  }
  outcome_.part_ticks[write_part].push_back(platform::ticks() - start);
  return platform::ticks();
}

// Every message of a window begins with the same value, whatever order they arrive in.
void Run::write(Turn turn) {
  const bool reads_it = !case_.card->root_sends || turn.root == team_.rank;
  if (pattern_ == nullptr || !reads_it) return;
  std::byte* at = sent_ + turn.slot * layout_.stride_of_send;
  const std::size_t each = case_.card->windowed ? bytes() : layout_.send_bytes;
  for (std::size_t done = 0; done < layout_.send_bytes; done += each) {
    pattern_->write(writes_, {at + done, each});
  }
}

void Run::meet() const {
  // Twice: the first lets everyone arrive, the second takes out what the first left askew.
  const auto barrier = [&] {
    if (team_.addresses != nullptr) meet_partner(address(peer()), team_.comm);
    else if (team_.own_barriers) dissemination_barrier(team_.comm);
    else call(MPI_Barrier(team_.comm));
  };
  barrier();
  if (team_.threads != nullptr) team_.threads->arrive_and_wait();
  barrier();
}

// Each thread of a rank sends other bytes, so that a message in the wrong thread is noticed.
int Run::sender(int rank) const {
  constexpr int apart = 101;
  return case_.op == nullptr ? rank + apart * team_.thread : rank;
}

void Run::take_over(std::vector<Outcome> of_threads) {
  outcome_ = std::move(of_threads.front());
  for (std::size_t i = 1; i < of_threads.size(); ++i) {
    Outcome& other = of_threads[i];
    outcome_.first = std::max(outcome_.first, other.first);
    outcome_.wrong += other.wrong;
    outcome_.expected = outcome_.expected && other.expected;
    outcome_.taint |= other.taint;
    outcome_.counted = outcome_.counted && other.counted;
    keep_slowest(outcome_.part_ticks[write_part], other.part_ticks[write_part]);
    for (std::size_t s = 0; s < outcome_.late.size(); ++s) outcome_.late[s] |= other.late[s];
    outcome_.thread_ticks.push_back(std::move(other.ticks));
    outcome_.thread_seconds.push_back(other.seconds);
  }
}

void Run::expect(std::size_t wrong) {
  outcome_.expected = true;
  if (checking()) outcome_.wrong += wrong;
}

Block Run::block(Location at, std::size_t bytes, std::size_t stride) const {
  if (!derived_) return {at, bytes, stride, case_.type};
  const std::size_t item = is_vector(case_.contiguity) ? this->bytes() : case_.type->bytes;
  return {at, bytes, stride, case_.type, {derived_->type(), item}};
}

std::size_t Run::wrong(std::span<const std::byte> got, int from, std::size_t first) const {
  refresh();
  if (checking() && is_spread(case_.contiguity)) {
    std::vector<std::byte> sent(pattern_period * case_.type->bytes);
    case_.type->fill(spread_numbers, from, 0, sent.data(), pattern_period);
    return wrong_elements(*case_.type, sent, first / case_.type->bytes + news(), got);
  }
  return checking() ? wrong_bytes(sender(from), first + news(), got) : 0;
}

std::size_t Run::wrong_reduction(std::span<const std::byte> got, std::size_t first) const {
  if (!checking()) return 0;
  refresh();
  return wrong_elements(*case_.type, reduced_period(*case_.type, case_.op->name, team_.ranks),
                        first + news(), got);
}

void Run::fill_operand(const Block& operand, int rank) const {
  const auto bytes = operand.bytes();
  case_.type->fill(case_.op->name, rank, 0, bytes.data(), bytes.size() / case_.type->bytes);
}

std::size_t Run::wrong_operand(const Block& operand, int rank) const {
  if (!checking()) return 0;
  refresh();
  std::vector<std::byte> expected(pattern_period * case_.type->bytes), own(expected.size());
  case_.type->fill(case_.op->name, rank, 0, expected.data(), pattern_period);
  case_.type->fill(case_.op->name, team_.rank, 0, own.data(), pattern_period);
  case_.type->combine(case_.op->name, own.data(), expected.data(), pattern_period);
  return wrong_elements(*case_.type, expected, 0, operand.bytes());
}

}  // namespace mpigauge
