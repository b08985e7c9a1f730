// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The call that a thread is in, in the file: what is stored on entry, so that it is there however
// the process ends. Arguments are stored as they come; whoever reads the file has what explains
// them.
#pragma once

#include "library.hpp"
#include "messages.hpp"
#include "objects.hpp"
#include "thread.hpp"

namespace mpigauge::profile {

/// Whether a call that ends requests waits for them.
constexpr bool waits_for_requests(Call call) {
  return call == call_Wait || call == call_Waitall || call == call_Waitany || call == call_Waitsome;
}

/// Whether a call returns no sooner than all ranks of a communicator have come as far, though it
/// moves nothing.
constexpr bool is_joint(Call call) {
  const Facts& facts = facts_of[call];
  switch (call) {
    case call_Comm_idup:
    case call_Comm_idup_with_info:
    case call_Comm_create_group:
    case call_Comm_accept:
    case call_Comm_connect:
    case call_Comm_join: return false;
    case call_Comm_disconnect:
    case call_Finalize:
    case call_Win_fence:
    case call_Win_free:
    case call_File_close: return true;
    default: break;
  }
  const bool makes =
      facts.new_comm != nowhere || facts.new_window != nowhere || facts.new_file != nowhere;
  return makes && facts.comm != nowhere;
}

/// Whether a call reaches into the memory of another rank, which need not do anything for it: a
/// communicator would have it taken for a message, which that rank has to send or to receive.
constexpr bool is_one_sided(const Facts& facts) {
  return facts.window != nowhere && (facts.to != nowhere || facts.from != nowhere);
}

/// The bits of layout::Takes.
constexpr std::uint32_t taken_by(Call call) {
  const Facts& facts = facts_of[call];
  std::uint32_t bits = 0;
  const auto add = [&bits](bool is_so, layout::Takes bit) { bits |= is_so ? bit : 0U; };
  const bool on_something = facts.window != nowhere || facts.file != nowhere;
  add(facts.comm != nowhere || (on_something && !is_one_sided(facts)), layout::takes_comm);
  add(facts.to != nowhere, layout::takes_to);
  add(facts.from != nowhere, layout::takes_from);
  add(facts.root != nowhere, layout::takes_root);
  add(facts.to_tag != nowhere, layout::takes_to_tag);
  add(facts.from_tag != nowhere, layout::takes_from_tag);
  add(waits_for_requests(call), layout::takes_requests);
  add(call == call_Waitany || call == call_Waitsome, layout::takes_any_request);
  const bool meets = facts.group == Group::collective && !facts.persistent;
  add((meets && facts.waits == Waits::all) || is_joint(call), layout::waits_for_all);
  add(meets && facts.waits == Waits::for_root, layout::waits_for_root);
  add(meets && facts.waits == Waits::at_root, layout::waits_at_root);
  return bits;
}

/// Stores the first requests that a call waits for.
void note_awaited(layout::Pending& pending, const Facts& facts, const Word* arguments);

/// Remembers what a request is about, after the call that began it. That is done while nothing is
/// recorded, too: the handle may have been another request's before.
void note_begun(Call call, const Facts& facts, const Word* arguments);

inline Word pending_comm(const Facts& facts, const Word* arguments) {
  if (facts.comm != nowhere) {
    return facts.frees ? handle_at(arguments[facts.comm]) : arguments[facts.comm];
  }
  if (is_one_sided(facts)) return 0;
  const Comm* comm = nullptr;
  if (facts.window != nowhere) {
    const Word window = arguments[facts.window];
    comm = comm_of_window(facts.frees ? handle_at(window) : handle(window));
  } else if (facts.file != nowhere) {
    const Word file = arguments[facts.file];
    comm = comm_of_file(facts.frees ? value_at<Word>(file) : file);
  }
  return comm == nullptr ? 0 : comm->handle;
}

/// Stores the arguments of a call that begins now. Where its facts are known to the compiler, that
/// is a few stores.
[[gnu::always_inline]] inline void note_pending(const Thread& thread, Call call, const Facts& facts,
                                                const Word* arguments) {
  layout::Pending& pending = *thread.pending;
  const auto put = [arguments](std::int32_t& to, std::int8_t position) {
    if (position != nowhere) to = as_int(arguments[position]);
  };
  if (facts.comm != nowhere || facts.window != nowhere || facts.file != nowhere) {
    pending.comm = pending_comm(facts, arguments);
  }
  put(pending.peer, facts.to == nowhere ? facts.root : facts.to);
  put(pending.tag, facts.to_tag);
  put(pending.source, facts.from);
  put(pending.source_tag, facts.from_tag);
  if (waits_for_requests(call)) note_awaited(pending, facts, arguments);
}

}  // namespace mpigauge::profile
