// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether calls are counted as they are, without an MPI: their times by the clock's own readings
// before and after, calls inside of calls, amounts in one cell. Nothing here takes a time for
// granted: what a site holds is compared with what it holds itself, or with the clock.
//
// usage: record FILE
#include "record.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "check.hpp"
#include "pending.hpp"
#include "process.hpp"
#include "thread.hpp"

namespace {

using namespace mpigauge::profile;
using tests::failures;

// --- calls
// ------------------------------------------------------------------------------------------

constexpr Call some_call = call_Barrier;

void clear(layout::Site& site) {
  site.ticks = site.most = site.failures = 0;
  site.least = ~std::uint64_t{0};
  site.times.fill(0);
}

// The calls come from one place, so that all have one site. It fails, so that no MPI is asked.
layout::Site& call_that_took(Ticks ticks_ago) {
  Thread* const thread = enter(some_call, 1, 1U << 20U, 1);
  if (thread == nullptr) std::exit(1);
  thread->began = ticks() - ticks_ago;
  leave(*thread, some_call, nullptr, 1);
  return *thread->place->site;
}

layout::Site& fresh_site() {
  layout::Site& site = call_that_took(0);
  clear(site);
  return site;
}

// --- times
// ------------------------------------------------------------------------------------------

// The smallest time of a bin: each of its own below 16, then eight for each power of two.
Ticks lowest(std::size_t bin) {
  if (bin < 16) return bin;
  return (8 + ((bin - 16) % 8)) << ((bin - 16) / 8 + 1);
}

std::size_t bin_of(Ticks took) {
  std::size_t bin = 0;
  while (bin + 1 < layout::bins && lowest(bin + 1) <= took) ++bin;
  return bin;
}

void each_time_is_in_its_bin() {
  for (unsigned shift = 0; shift < 44; ++shift) {
    for (const Ticks eighths : {8U, 9U, 11U, 15U}) {
      layout::Site& site = fresh_site();
      const Ticks ago = (eighths << shift) / 8;
      call_that_took(ago);
      CHECK(site.ticks >= ago);
      CHECK(site.times[bin_of(site.ticks)] == 1);
      CHECK(std::accumulate(site.times.begin(), site.times.end(), std::uint64_t{0}) == 1);
    }
  }
}

void a_site_has_the_shortest_and_the_longest_call() {
  const layout::Site& site = fresh_site();
  std::array<Ticks, 4> took{};
  Ticks before = 0;
  for (std::size_t n = 0; n < took.size(); ++n) {
    constexpr std::array<Ticks, 4> ago = {Ticks{1} << 30U, Ticks{1} << 36U, 1U << 20U, 1U << 25U};
    call_that_took(ago[n]);
    took[n] = site.ticks - before;
    before = site.ticks;
  }
  CHECK(site.least == *std::min_element(took.begin(), took.end()) && site.least == took[2]);
  CHECK(site.most == *std::max_element(took.begin(), took.end()) && site.most == took[1]);
  CHECK(site.failures == 4);
}

void our_own_work_inside_a_call_is_taken_off_each_time() {
  layout::Site& site = fresh_site();
  constexpr Ticks ago = Ticks{1} << 40U, inner = Ticks{1} << 39U;
  process.inner_ticks = inner;
  const Ticks before = ticks();
  call_that_took(ago);
  const Ticks after = ticks();
  CHECK(self->stored->latest >= before && self->stored->latest <= after);
  CHECK(site.ticks >= ago - inner && site.ticks <= ago - inner + (after - before));
  process.inner_ticks = ago * 4;
  clear(site);
  call_that_took(ago);
  CHECK(site.ticks == 0 && site.most == 0 && site.least == 0 && site.times[0] == 1);
  process.inner_ticks = 0;
}

std::uint64_t in_steps() {
  const auto& step = self->stored->step;
  return std::accumulate(step.begin(), step.end(), std::uint64_t{0});
}

void a_call_s_time_is_in_its_step_too() {
  self->stored->step.fill(0);
  const layout::Site& site = fresh_site();
  const std::uint64_t before = in_steps();
  for (int n = 0; n < 100; ++n) call_that_took(1);
  CHECK(in_steps() - before == site.ticks);
}

void a_long_call_is_shared_out_over_its_steps() {
  layout::Thread& stored = *self->stored;
  const layout::Site& site = fresh_site();
  // The calls before were in the same steps, which cannot be outside of a test.
  stored.step.fill(0);
  self->step_end = stored.start;
  call_that_took((ticks() - stored.start) / 2);
  CHECK(in_steps() == site.ticks);
  for (const std::uint64_t step : stored.step) CHECK(step <= stored.step_ticks);
}

// --- calls inside of calls
// --------------------------------------------------------------------------

void a_call_inside_another_is_a_part_of_it() {
  const layout::Head& head = process.storage.head();
  const std::uint64_t nested = head.nested, cut = head.cut;
  constexpr Word outer = 1U << 20U;
  Thread* const thread = enter(some_call, 1, outer, 1);
  CHECK(thread != nullptr);
  CHECK(enter(some_call, 2, outer - 64, 1) == nullptr);
  CHECK(enter(call_Send, 3, outer - 8, 1) == nullptr);
  CHECK(head.nested == nested + 2 && head.cut == cut);
  leave(*thread, some_call, nullptr, 1);
  Thread* const next = enter(some_call, 1, outer - 64, 1);
  CHECK(next != nullptr);
  leave(*next, some_call, nullptr, 1);
  CHECK(head.nested == nested + 2 && head.cut == cut);
}

// Its frame is gone when the next call comes from as high on the stack.
void a_call_that_never_came_back_is_cut() {
  const layout::Head& head = process.storage.head();
  const std::uint64_t nested = head.nested, cut = head.cut;
  constexpr Word outer = 1U << 20U;
  CHECK(enter(some_call, 1, outer, 1) != nullptr);
  Thread* const next = enter(some_call, 1, outer, 1);
  CHECK(next != nullptr && head.cut == cut + 1 && head.nested == nested);
  leave(*next, some_call, nullptr, 1);
}

void a_call_that_goes_on_is_in_the_file() {
  const layout::Thread& stored = *self->stored;
  Thread* const thread = enter(call_Recv, 1, 1U << 20U, 1);
  CHECK(thread != nullptr && stored.pending.since <= stored.latest);
  const std::array<Word, 7> arguments = {0, 4, 5, 6, 7, 8, 0};  // rank 6, tag 7, communicator 8
  note_pending(*thread, call_Recv, facts_of[call_Recv], arguments.data());
  begin(*thread);
  CHECK(stored.pending.since > stored.latest && stored.pending.since == thread->began);
  CHECK(stored.pending.site == thread->place->site->site);
  CHECK(stored.pending.source == 6 && stored.pending.source_tag == 7 && stored.pending.comm == 8);
  leave(*thread, call_Recv, arguments.data(), 1);
  CHECK(stored.pending.since <= stored.latest);
}

// A request that lies where others lay has none of their arguments, though its call names nothing
// that it is on.
void an_awaited_request_is_that_of_the_last_call_that_began_it() {
  constexpr Word request = 77, rank = 6, tag = 7;
  Word place = request;
  const auto at = reinterpret_cast<Word>(&place);
  layout::Pending& pending = self->stored->pending;
  const std::array<Word, 2> wait = {at, 0};
  const auto awaited_after = [&](Call call, const Word* arguments) {
    note_begun(call, facts_of[call], arguments);
    note_awaited(pending, facts_of[call_Wait], wait.data());
    return pending.awaited[0];
  };
  process.keeps = true;
  const std::array<Word, 7> send = {0, 4, 5, rank, tag, 8, at};
  const layout::Awaited sent = awaited_after(call_Isend, send.data());
  CHECK(sent.call == call_Isend && sent.peer == rank && sent.tag == tag && sent.comm == 8);
  const std::array<Word, 5> receive = {0, 4, 5, 0, at};
  const layout::Awaited received = awaited_after(call_Imrecv, receive.data());
  CHECK(received.call == call_Imrecv && received.peer == 0 && received.comm == 0);
  process.keeps = false;
}

void only_messages_name_a_communicator_beside_a_rank() {
  CHECK((taken_by(call_Recv) & layout::takes_comm) != 0);
  CHECK((taken_by(call_Win_fence) & layout::takes_comm) != 0);
  for (const Call call : {call_Get, call_Put, call_Rget, call_Rput, call_Win_lock}) {
    CHECK((taken_by(call) & layout::takes_comm) == 0);
  }
}

void nothing_is_recorded_while_it_is_off() {
  const std::uint64_t on = process.state.load();
  process.state.store(State::started);
  CHECK(enter(some_call, 1, 1U << 20U, 1) == nullptr);
  process.state.store(on);
}

// --- amounts
// ----------------------------------------------------------------------------------------

// A call that waits for so many requests, of which none is known.
layout::Cell& call_with(int requests) {
  Thread* const thread = enter(call_Waitall, 5, 1U << 20U, 1);
  const std::array<Word, 3> arguments = {static_cast<Word>(requests), 0, 0};
  leave(*thread, call_Waitall, arguments.data(), 0);
  return *thread->place->first.cell;
}

void a_cell_has_the_least_and_the_most_of_those_of_its_kind() {
  layout::Cell& cell = call_with(5);
  for (const int requests : {7, 7, 4, 6, 6}) CHECK(&call_with(requests) == &cell);
  CHECK(cell.count == 6 && cell.amount == 35);
  CHECK(cell.least == 4 && cell.most == 7);
  const layout::Cell& more = call_with(8);
  CHECK(&more != &cell && more.count == 1 && more.least == 8 && more.most == 8);
  CHECK(cell.bin == 3 && more.bin == 4);
}

// What is remembered has another amount here, which tells whether it is used.
void a_message_is_remembered_until_a_handle_changes() {
  const layout::Cell& cell = call_with(5);
  self->place->first.amount = 1000;
  const std::uint64_t before = cell.amount, count = cell.count;
  call_with(5);
  CHECK(cell.amount == before + 1000);
  process.handles.fetch_add(1);
  call_with(5);
  CHECK(cell.amount == before + 1005);
  call_with(5);
  CHECK(cell.amount == before + 1010 && cell.count == count + 3);
}

void a_call_that_failed_moves_nothing() {
  const layout::Cell& cell = call_with(5);
  const std::uint64_t count = cell.count;
  Thread* const thread = enter(call_Waitall, 5, 1U << 20U, 1);
  const std::array<Word, 3> arguments = {5, 0, 0};
  const std::uint64_t failed = thread->place->site->failures;
  leave(*thread, call_Waitall, arguments.data(), 15);
  CHECK(cell.count == count && thread->place->site->failures == failed + 1);
}

}  // namespace

int main(int argc, char* const* argv) {
  choose_clock();
  if (argc != 2 || !process.storage.open(argv[1], std::size_t{1} << 24U)) return 2;
  process.state.store(State::started | State::recording);
  if (begin_thread() == nullptr) return 2;
  each_time_is_in_its_bin();
  a_site_has_the_shortest_and_the_longest_call();
  our_own_work_inside_a_call_is_taken_off_each_time();
  a_call_s_time_is_in_its_step_too();
  a_long_call_is_shared_out_over_its_steps();
  a_call_inside_another_is_a_part_of_it();
  a_call_that_never_came_back_is_cut();
  a_call_that_goes_on_is_in_the_file();
  an_awaited_request_is_that_of_the_last_call_that_began_it();
  only_messages_name_a_communicator_beside_a_rank();
  nothing_is_recorded_while_it_is_off();
  a_cell_has_the_least_and_the_most_of_those_of_its_kind();
  a_message_is_remembered_until_a_handle_changes();
  a_call_that_failed_moves_nothing();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
