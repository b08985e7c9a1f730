// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "pending.hpp"

#include <algorithm>
#include <array>

#include "process.hpp"

namespace mpigauge::profile {

namespace {

constexpr std::uint32_t not_known = ~std::uint32_t{0};

// What requests are about that were begun last. A request has the one place that its handle leads
// to, and the next one takes that over: of many that are open at once some are not known any more.
// Threads may overwrite each other's; nothing is counted by this.
struct Begun {
  Word request;
  layout::Awaited what;
};
std::array<Begun, 1024> all_begun;

Begun& begun_at(Word request) { return all_begun[mixed(request) % all_begun.size()]; }

int argument(std::int8_t position, const Word* arguments) {
  return position == nowhere ? 0 : as_int(arguments[position]);
}

layout::Awaited awaited(Word request) {
  const Begun& begun = begun_at(request);
  if (begun.request == request) return begun.what;
  return {.comm = 0, .peer = 0, .tag = 0, .call = not_known, .unused = 0};
}

}  // namespace

void note_begun(Call call, const Facts& facts, const Word* arguments) {
  if (!process.keeps || process.is_child) return;
  const Word request = handle_at(arguments[facts.request]);
  const bool sends = facts.to != nowhere;
  const std::int8_t peer = sends ? facts.to : facts.from;
  begun_at(request) = {.request = request,
                       .what = {.comm = pending_comm(facts, arguments),
                                .peer = argument(peer == nowhere ? facts.root : peer, arguments),
                                .tag = argument(sends ? facts.to_tag : facts.from_tag, arguments),
                                .call = call,
                                .unused = 0}};
}

void note_awaited(layout::Pending& pending, const Facts& facts, const Word* arguments) {
  const bool is_one = facts.requests == one_request;
  pending.requests = is_one ? 1 : as_int(arguments[facts.requests]);
  if (arguments[facts.request] == 0) return;  // which is the MPI's to report
  const auto count = static_cast<std::size_t>(std::max(pending.requests, 0));
  std::size_t places = 0;
  for (std::size_t n = 0; n < count && places < layout::most_awaited; ++n) {
    const Word request = handle_in(arguments[facts.request], n);
    if (request != abi.request_null) pending.awaited[places++] = awaited(request);
  }
  if (places < layout::most_awaited) pending.requests = static_cast<std::int32_t>(places);
}

}  // namespace mpigauge::profile
