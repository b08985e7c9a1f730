// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A wrapper for each call of MPI. It hands its arguments on as they are; enter() and leave() do the
// rest.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "hooks.hpp"
#include "library.hpp"
#include "lists.hpp"
#include "messages.hpp"
#include "pending.hpp"
#include "record.hpp"

namespace mpigauge::profile {

namespace {

std::array<Function, calls> functions;

[[gnu::noinline]] Function look_up(Call call, Word pc) {
  if (process.state.load(std::memory_order_acquire) == 0) start(pc);
  const Function found = find_function(call_names[call]);
  if (found == nullptr) end_without(call_names[call]);
  return functions[call] = found;
}

template <Call call>
struct Wrapper {
  Caller caller;

  template <class... Words>
  [[gnu::always_inline]] inline int operator()(Words... words) const;
};

template <Call call>
template <class... Words>
inline int Wrapper<call>::operator()(Words... words) const {
  constexpr const Facts& facts = facts_of[call];
  Word arguments[sizeof...(words) + 1] = {words...};
  Function function = functions[call];
  if (function == nullptr) [[unlikely]]
    function = look_up(call, caller.pc);
  if constexpr (has_before(call)) before(call, arguments);
  if constexpr (ends_requests(call)) note_requests(facts, arguments);
  Thread* const thread = enter(call, caller.pc, caller.sp, caller.fp);
  if constexpr (tells_by_status(facts)) ask_for_status(thread, arguments[facts.status]);
  if (thread != nullptr) {
    note_pending(*thread, call, facts, arguments);
    begin(*thread);
  }
  const auto real = reinterpret_cast<int (*)(Words...)>(function);
  const int code = [&]<std::size_t... n>(std::index_sequence<n...>) {
    return real(arguments[n]...);
  }(std::make_index_sequence<sizeof...(words)>());
  if (thread != nullptr) leave(*thread, call, arguments, code);
  if constexpr (ends_requests(call)) {
    if (thread == nullptr) drop_ended(facts, arguments);
  }
  if constexpr (facts.persistent) {
    if (code == 0) keep_persistent(call, arguments);
  }
  if constexpr (facts.begins) {
    if (code == 0) note_begun(call, facts, arguments);
  }
  if constexpr (has_after(call)) {
    if (code == 0) after(call, arguments);
  }
  return code;
}

// --- what we cost
// ---------------------------------------------------------------------------------

int do_nothing() { return 0; }

[[gnu::noinline]] int call_of_nothing() { return Wrapper<call_nothing>{MPIGAUGE_CALLER}(); }

// The mean of the middle half: an interrupt is not a cost of ours, and the clock's steps are
// coarse.
Ticks middle(std::array<Ticks, 512>& values) {
  std::sort(values.begin(), values.end());
  Ticks sum = 0;
  const std::size_t from = values.size() / 4, to = 3 * values.size() / 4;
  for (std::size_t n = from; n < to; ++n) sum += values[n];
  return sum / (to - from);
}

}  // namespace

void measure_own_cost() {
  functions[call_nothing] = reinterpret_cast<Function>(do_nothing);
  std::array<Ticks, 512> inner{}, whole{};
  for (std::size_t n = 0; n < inner.size(); ++n) {
    const Ticks start = ticks();
    call_of_nothing();
    whole[n] = ticks() - start;
    if (self->place == nullptr) return;
    inner[n] = self->place->site->ticks;
    self->place->site->ticks = 0;
  }
  layout::Head& head = process.storage.head();
  head.inner_ticks = process.inner_ticks = middle(inner);
  head.own_ticks = middle(whole);  // with one reading of the clock, as it is before and after
  self->place->site->times.fill(0);
  self->stored->step.fill(0);
}

}  // namespace mpigauge::profile

// In a program that is linked to us, the call itself is a jump to its wrapper: linked_call.in.
#ifdef MPIGAUGE_LINKED
#define MPIGAUGE_WRAPPER(NAME) [[gnu::visibility("hidden")]] int mpigauge_wrapped_##NAME
#else
#define MPIGAUGE_WRAPPER(NAME) [[gnu::visibility("default")]] int MPI_##NAME
#endif
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_FORTRAN(...)
#define MPIGAUGE_CALL(NAME, ARGUMENTS, ...)                                             \
  extern "C" MPIGAUGE_WRAPPER(NAME)(MPIGAUGE_TAKE_##ARGUMENTS) {                        \
    return mpigauge::profile::Wrapper<mpigauge::profile::call_##NAME>{MPIGAUGE_CALLER}( \
        MPIGAUGE_GIVE_##ARGUMENTS);                                                     \
  }
#include "calls.inc"
