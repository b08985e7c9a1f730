// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "record.hpp"

#include <algorithm>
#include <bit>

#include "instances.hpp"
#include "messages.hpp"
#include "objects.hpp"
#include "python.hpp"
#include "regions.hpp"

namespace mpigauge::profile {

namespace {

using layout::Way;

// --- times --------------------------------------------------------------------------------------

// Below 16 one bin for each, then 8 for each power of two.
std::size_t time_bin(Ticks took) {
  constexpr Ticks exact = 16, last_bit = 40;
  if (took < exact) return took;
  const auto bit = static_cast<Ticks>(std::bit_width(took)) - 1;
  if (bit > last_bit) return layout::bins - 1;
  return ((bit - 2) * 8) + ((took >> (bit - 3)) & 7U);
}

void count_time(Thread& thread, layout::Site& site, Ticks end) {
  const Ticks seen = end - thread.began;
  const Ticks took = seen > process.inner_ticks ? seen - process.inner_ticks : 0;
  site.ticks += took;
  // Branches that are hardly ever taken cost less than two stores.
  if (took < site.least) [[unlikely]]
    site.least = took;
  if (took > site.most) [[unlikely]]
    site.most = took;
  ++site.times[time_bin(took)];
  thread.stored->latest = end;
  if (end < thread.step_end) [[likely]] {
    *thread.step += took;
  } else {
    advance_steps(thread, end, took);
  }
}

// --- amounts ------------------------------------------------------------------------------------

std::int64_t number_at(Word array, std::size_t n, bool wide) {
  return wide ? value_at<std::int64_t>(array + (8 * n)) : value_at<int>(array + (4 * n));
}

std::int64_t number_of(Word word, bool wide) {
  return wide ? static_cast<std::int64_t>(word) : as_int(word);
}

// Bytes of elements of a type that is always there, or of the program's own.
std::int64_t bytes_of_elements(std::int64_t count, Word type) {
  return count <= 0 || type == 0 || type == abi.datatype_null ? 0 : count * size_of_type(type);
}

// An array with an element for each rank.
std::int64_t summed(const Amount& amount, const Word* arguments, int ranks) {
  const Word counts = arguments[amount.count], type = arguments[amount.type];
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < static_cast<std::size_t>(ranks); ++n) {
    const std::int64_t count = number_at(counts, n, amount.wide);
    sum += amount.types ? bytes_of_elements(count, handle_in(type, n)) : count;
  }
  return amount.types ? sum : bytes_of_elements(sum, handle(type));
}

std::int64_t single_count(const Amount& amount, const Word* arguments) {
  const std::int64_t count = number_of(arguments[amount.count], amount.wide);
  return amount.factor == nowhere ? count : count * as_int(arguments[amount.factor]);
}

std::uint8_t size_bin(std::uint64_t amount) {
  return static_cast<std::uint8_t>(std::bit_width(amount));
}

std::int32_t peer_of(int rank) {
  if (rank >= 0) [[likely]]
    return rank;
  if (rank == abi.proc_null) return layout::null_process;
  return rank == abi.any_source ? layout::any_source : layout::no_rank;
}

// --- cells --------------------------------------------------------------------------------------

// A message, or whatever else a call is about, as its arguments tell.
struct Part {
  Way way = Way::none;
  Word comm = 0;            // the handle; 0: none
  bool comm_known = false;  // it is not a handle, but where the communicator is known
  Word type = 0, operation = 0;
  std::int64_t count = 0;  // of elements; for what was received, of bytes
  std::int32_t peer = layout::no_rank;
  std::int32_t tag = no_tag;
};

void add(Thread& thread, const CellKey& key, std::uint64_t amount, std::uint32_t sends,
         Memo* memo) {
  layout::Cell* const cell = find_cell(thread, key);
  if (memo != nullptr) memo->cell = cell;
  if (cell == nullptr) {
    ++process.storage.head().lost_cells;
    return;
  }
  ++cell->count;
  cell->amount += amount;
  cell->sends = sends;
  cell->least = std::min(cell->least, amount);
  cell->most = std::max(cell->most, amount);
}

bool is_same(const Memo& memo, const Part& part) {
  return memo.cell != nullptr && memo.count == part.count && memo.comm == part.comm &&
         memo.peer == part.peer && memo.type == part.type && memo.operation == part.operation &&
         memo.handles == process.handles.load(std::memory_order_relaxed);
}

Comm* comm_of_part(const Part& part) {
  if (part.comm_known) return reinterpret_cast<Comm*>(part.comm);
  return part.comm == 0 ? nullptr : comm_of(part.comm);
}

// Of some collectives only the root sends. Between two groups it is the rank that gives MPI_ROOT.
constexpr bool is_sent_by_root(const Facts& facts) {
  const bool reduces = facts.operation != nowhere, gathers = facts.in_place.how != Count::none;
  const bool sends = facts.sent.how != Count::none;
  return facts.root != nowhere && (sends ? !reduces && !gathers : true);
}

bool is_root(const Comm& comm, std::int32_t root) {
  return root == (comm.stored->remote_size > 0 ? layout::no_rank : comm.rank);
}

// How often a rank sends the amount of a call: the bytes that count are those of its own send
// buffer. Files are no messages.
std::uint32_t sends_of(const Facts& facts, const Part& part, Comm* comm) {
  if (part.way == Way::received || part.way == Way::requests) return 0;
  if (part.peer == layout::null_process || facts.group == Group::file) return 0;
  if (part.way == Way::sent || comm == nullptr) return 1;
  if (is_sent_by_root(facts) && !is_root(*comm, part.peer)) return 0;
  // The root of a gather between two groups has no part of its own.
  const bool between = comm->stored->remote_size > 0 && facts.root != nowhere;
  if (between && !is_sent_by_root(facts) && is_root(*comm, part.peer)) return 0;
  if (!facts.equal_parts) return 1;
  if (facts.group == Group::neighbourhood) return static_cast<std::uint32_t>(neighbours_of(*comm));
  // A reduction between two groups has parts for the ranks of the own one.
  return static_cast<std::uint32_t>(facts.operation == nowhere ? comm->ranks : comm->stored->size);
}

// The same message again is most often the next one. Types that the program made may come back as
// others.
[[gnu::noinline]] void add_part(Thread& thread, const Part& part, std::uint64_t bytes,
                                bool remember, Memo& memo) {
  Comm* const comm = comm_of_part(part);
  const CellKey key{
      .site = thread.place->site->site,
      .comm = comm == nullptr ? 0 : comm->number,
      .peer = part.peer,
      .way = part.way,
      .bin = size_bin(bytes),
      .type = part.type == 0 ? std::uint16_t{0} : type_number(part.type, part.operation)};
  const auto made = static_cast<Call>(thread.place->site->call);
  add(thread, key, bytes, sends_of(facts_of[made], part, comm), &memo);
  if (part.way == Way::none) {
    memo.instances = comm == nullptr ? nullptr : instances_of(*comm, made, key.bin);
  } else {
    memo.channel = channel_of(comm, part.peer, part.way, part.tag);
  }
  memo.comm = part.comm;
  memo.type = part.type;
  memo.operation = part.operation;
  memo.count = part.count;
  memo.peer = part.peer;
  memo.handles = process.handles.load(std::memory_order_relaxed);
  memo.amount = bytes;
  if (!remember) memo.cell = nullptr;
}

// Takes a copy, so that a message that is the same again never has to lie in memory.
[[gnu::noinline]] void count_other_elements(Thread& thread, Part part, Memo& memo) {
  const bool moves = part.peer != layout::null_process && part.type != 0;
  const std::int64_t bytes = moves ? bytes_of_elements(part.count, part.type) : 0;
  const bool remember = part.type == 0 || is_predefined(part.type);
  add_part(thread, part, static_cast<std::uint64_t>(bytes), remember, memo);
}

void count_elements(Thread& thread, const Part& part, Memo& memo) {
  if (is_same(memo, part)) [[likely]] {
    ++memo.cell->count;
    memo.cell->amount += memo.amount;
    return;
  }
  count_other_elements(thread, part, memo);
}

void count_bytes(Thread& thread, const Part& part, Memo& memo) {
  if (is_same(memo, part)) [[likely]] {
    ++memo.cell->count;
    memo.cell->amount += memo.amount;
    return;
  }
  add_part(thread, part, static_cast<std::uint64_t>(part.count), true, memo);
}

// --- what calls are about
// -------------------------------------------------------------------------

Word operation_of(const Facts& facts, const Word* arguments) {
  return facts.operation == nowhere ? 0 : handle(arguments[facts.operation]);
}

// What windows and files were made on, and messages matched on, is what counts for them, though it
// may be freed by now.
constexpr bool is_on_something_made(const Facts& facts) {
  const bool made = facts.window != nowhere || facts.file != nowhere || facts.message != nowhere;
  return facts.comm == nowhere && made;
}

Word comm_word(const Thread& thread, const Facts& facts, const Word* arguments) {
  if (facts.comm != nowhere) return handle(arguments[facts.comm]);
  if (facts.message != nowhere) return thread.message_comm;
  const Comm* comm = nullptr;
  if (facts.window != nowhere) comm = comm_of_window(handle(arguments[facts.window]));
  if (facts.file != nowhere) comm = comm_of_file(arguments[facts.file]);
  return reinterpret_cast<Word>(comm);
}

// 0 for none, of which nothing may be asked.
Word type_word(Word type) {
  const Word known = handle(type);
  return known == abi.datatype_null ? 0 : known;
}

std::int32_t other_rank(std::int8_t position, const Word* arguments) {
  return position == nowhere ? layout::no_rank : peer_of(as_int(arguments[position]));
}

constexpr bool is_collective(const Facts& facts) {
  return facts.group == Group::collective || facts.group == Group::neighbourhood;
}

std::int64_t elements_of(const Amount& amount, const Word* arguments) {
  return amount.how == Count::one ? 1 : single_count(amount, arguments);
}

std::int32_t tag_at(std::int8_t position, const Word* arguments) {
  return position == nowhere ? no_tag : as_int(arguments[position]);
}

Part message(const Thread& thread, const Facts& facts, const Amount& amount, Way way,
             std::int8_t peer, const Word* arguments) {
  return {.way = is_collective(facts) ? Way::none : way,
          .comm = comm_word(thread, facts, arguments),
          .comm_known = is_on_something_made(facts),
          .type = type_word(arguments[amount.type]),
          .operation = operation_of(facts, arguments),
          .count = elements_of(amount, arguments),
          .peer = other_rank(peer, arguments),
          .tag = tag_at(way == Way::sent ? facts.to_tag : facts.from_tag, arguments)};
}

void count_sent(Thread& thread, const Facts& facts, const Word* arguments) {
  const std::int8_t peer = facts.to == nowhere ? facts.root : facts.to;
  count_elements(thread, message(thread, facts, facts.sent, Way::sent, peer, arguments),
                 thread.place->first);
}

void count_received(Thread& thread, const Facts& facts, const Word* arguments) {
  count_elements(thread,
                 message(thread, facts, facts.received, Way::received, facts.from, arguments),
                 thread.place->second);
}

Thread::Matched& matched_at(Thread& thread, Word message) {
  return thread.matched[mixed(message) % thread.matched.size()];
}

void note_matched(Thread& thread, const Facts& facts, const Word* arguments) {
  const Word message = handle_at(arguments[facts.message]);
  Comm const* const comm = comm_of(handle(arguments[facts.comm]));
  matched_at(thread, message) = {message, reinterpret_cast<Word>(comm)};
}

// What really came, and from whom.
void count_by_status(Thread& thread, const Facts& facts, const Word* arguments) {
  const Status& status = *reinterpret_cast<const Status*>(arguments[facts.status]);
  const Part part{.way = Way::received,
                  .comm = comm_word(thread, facts, arguments),
                  .comm_known = is_on_something_made(facts),
                  .type = type_word(arguments[facts.received.type]),
                  .operation = 0,
                  .count = bytes_of(status),
                  .peer = peer_of(source_of(status)),
                  .tag = facts.from_tag == nowhere ? no_tag : tag_of(status)};
  count_bytes(thread, part, thread.place->second);
}

void count_only_comm(Thread& thread, const Facts& facts, const Word* arguments) {
  const std::int8_t peer = facts.to == nowhere ? facts.from : facts.to;
  const Part part{.comm = comm_word(thread, facts, arguments),
                  .comm_known = is_on_something_made(facts),
                  .peer = other_rank(peer == nowhere ? facts.root : peer, arguments)};
  if (part.comm != 0) count_elements(thread, part, thread.place->first);
}

// --- collectives with more than one count, in place, or between two groups
// --------------------------

std::int64_t bytes_of_amount(const Amount& amount, const Word* arguments, int own_rank, int ranks) {
  switch (amount.how) {
    case Count::none: return 0;
    case Count::one:
    case Count::value:
      return bytes_of_elements(elements_of(amount, arguments), type_word(arguments[amount.type]));
    case Count::sum: return summed(amount, arguments, ranks);
    case Count::own: {
      const auto rank = static_cast<std::size_t>(own_rank);
      return bytes_of_elements(number_at(arguments[amount.count], rank, amount.wide),
                               handle(arguments[amount.type]));
    }
  }
  return 0;
}

// The root of MPI_Scatterv has a part for each rank.
bool has_all_parts(const Facts& facts, const Comm& comm, int root) {
  const bool scatters = facts.sent.how == Count::none && facts.in_place.how == Count::own;
  return scatters && (root == abi.root || (root == comm.rank && comm.stored->remote_size == 0));
}

// For how many ranks there are counts: a reduction between two groups has them for the own one.
int ranks_counted(const Facts& facts, Comm& comm) {
  if (facts.group == Group::neighbourhood) return neighbours_of(comm);
  return facts.operation == nowhere ? comm.ranks : comm.stored->size;
}

// Between two groups the root gives MPI_ROOT, and those beside it MPI_PROC_NULL.
std::int64_t bytes_of_collective(const Facts& facts, const Word* arguments, Comm& comm,
                                 const Amount*& amount) {
  amount = facts.sent.how == Count::none ? &facts.received : &facts.sent;
  const int ranks = ranks_counted(facts, comm);
  const int root = facts.root == nowhere ? 0 : as_int(arguments[facts.root]);
  if (root == abi.proc_null) return 0;
  const bool in_place = facts.buffer != nowhere && arguments[facts.buffer] == abi.in_place;
  const bool is_root = root == abi.root && facts.in_place.how != Count::none;
  const bool all_parts = has_all_parts(facts, comm, root);
  if (in_place || is_root || all_parts) amount = &facts.in_place;
  if (amount->how == Count::own && (is_root || all_parts)) {
    return summed(*amount, arguments, ranks);
  }
  return bytes_of_amount(*amount, arguments, comm.rank, ranks);
}

Part collective(const Thread& thread, const Facts& facts, const Word* arguments) {
  Part part{.comm = comm_word(thread, facts, arguments),
            .operation = operation_of(facts, arguments),
            .peer = other_rank(facts.root, arguments)};
  Comm* const comm = comm_of(part.comm);
  if (comm == nullptr) return part;
  const Amount* amount = nullptr;
  part.count = bytes_of_collective(facts, arguments, *comm, amount);
  if (part.peer != layout::null_process) {
    const Word type = arguments[amount->type];
    part.type = type_word(amount->types ? handle_in(type, 0) : type);
  }
  return part;
}

void count_collective(Thread& thread, const Facts& facts, const Word* arguments) {
  count_bytes(thread, collective(thread, facts, arguments), thread.place->first);
}

// --- who waits for whom -------------------------------------------------------------------------

void follow_meeting(const Thread& thread, Ticks end) {
  const Memo& memo = thread.place->first;
  if (memo.instances != nullptr) count_instance(*memo.instances, thread, end, memo.peer);
}

void follow_later_meeting(const Thread& thread, const Facts& facts, const Word* arguments) {
  const Memo& memo = thread.place->first;
  if (memo.instances == nullptr || !is_followed(thread)) return;
  request_posted(handle_at(arguments[facts.request]), memo.instances, memo.peer, thread);
}

void follow_sent(const Thread& thread, const Facts& facts, const Word* arguments, Ticks end) {
  const int tag = as_int(arguments[facts.to_tag]);
  Channel* const channel = channel_beside(thread.place->first.channel, tag);
  if (channel != nullptr && is_followed(thread)) count_message(*channel, thread, end, tag);
}

void follow_received(const Thread& thread, const Facts& facts, const Word* arguments, Ticks end) {
  Channel* channel = thread.place->second.channel;
  if (channel == nullptr || channel->comm->receives_unclear) return;
  const int tag = tag_of(*reinterpret_cast<const Status*>(arguments[facts.status]));
  channel = channel_beside(channel, tag);
  if (channel != nullptr && is_followed(thread)) count_message(*channel, thread, end, tag);
}

// Whose message it is may be seen when it is there, but not whether it came before one that was
// asked for later.
void follow_asked(const Thread& thread, const Facts& facts, const Word* arguments) {
  const Memo& memo = thread.place->second;
  if (memo.peer == layout::null_process || !is_followed(thread)) return;
  const int tag = as_int(arguments[facts.from_tag]);
  const bool known = memo.peer >= 0 && tag > no_tag;
  Channel* channel = known ? channel_beside(memo.channel, tag) : nullptr;
  Comm* const comm = channel == nullptr ? comm_of(memo.comm) : channel->comm;
  if (comm == nullptr || memo.peer == comm->rank) return;
  if (!known) receives_are_unclear(comm);
  if (comm->receives_unclear) channel = nullptr;
  request_posted(handle_at(arguments[facts.request]), channel, tag, thread, false);
}

void follow_probed(const Thread& thread, const Facts& facts, const Word* arguments, Ticks end,
                   bool takes) {
  const Status& status = *reinterpret_cast<const Status*>(arguments[facts.status]);
  Comm* const comm = comm_of(handle(arguments[facts.comm]));
  const int tag = tag_of(status);
  Channel* const channel = channel_of(comm, peer_of(source_of(status)), Way::received, tag);
  if (channel == nullptr || comm->receives_unclear || !is_followed(thread)) return;
  if (takes) {
    count_message(*channel, thread, end, tag);
  } else {
    note_probed(*channel, thread, end, tag);
  }
}

// A persistent request that is not a message of these, such as a collective or a partitioned one.
constexpr std::int32_t not_followed = -2;

constexpr bool is_followed_later(const Facts& facts) {
  return facts.to_tag != nowhere || facts.from_tag != nowhere;
}

void follow_started(const Thread& thread, Word request, const Started& what) {
  const bool nobody = what.tag == not_followed || what.peer == layout::null_process;
  if (nobody || !is_followed(thread)) return;
  const bool known = what.peer >= 0 && what.tag > no_tag;
  if (!known) receives_are_unclear(what.comm);
  Channel* channel = channel_of(what.comm, what.peer, what.way, what.tag);
  if (what.way == Way::received) {
    if (what.comm == nullptr || what.peer == what.comm->rank) return;
    if (what.comm->receives_unclear) channel = nullptr;
    request_posted(request, channel, what.tag, thread, true);
  } else if (channel != nullptr) {
    count_message(*channel, thread, thread.began, what.tag);
  }
}

// --- requests
// -------------------------------------------------------------------------------------

std::int64_t requests_of(const Facts& facts, const Word* arguments) {
  return facts.requests == one_request ? 1 : as_int(arguments[facts.requests]);
}

void count_requests(Thread& thread, const Facts& facts, const Word* arguments) {
  const Part part{.way = Way::requests, .count = requests_of(facts, arguments)};
  count_bytes(thread, part, thread.place->first);
}

void count_start(Thread& thread, Word request) {
  const Started* const what = started_by(request);
  if (what == nullptr) return;
  const CellKey key{.site = thread.place->site->site,
                    .comm = what->comm == nullptr ? 0 : what->comm->number,
                    .peer = what->peer,
                    .way = what->way,
                    .bin = size_bin(what->bytes),
                    .type = what->type};
  add(thread, key, what->bytes, what->way == Way::received ? 0 : 1, nullptr);
  follow_started(thread, request, *what);
}

void count_starts(Thread& thread, const Facts& facts, const Word* arguments) {
  count_requests(thread, facts, arguments);
  const Word requests = arguments[facts.request];
  const auto count = static_cast<std::size_t>(requests_of(facts, arguments));
  for (std::size_t n = 0; n < count; ++n) count_start(thread, handle_in(requests, n));
}

}  // namespace

void keep_persistent(Call call, const Word* arguments) {
  static const Thread thread{};  // of no message that was matched before
  if (!process.keeps || process.is_child) return;
  const Facts& facts = facts_of[call];
  Part part;
  std::int64_t bytes = 0;
  if (is_collective(facts)) {
    part = collective(thread, facts, arguments);
    bytes = part.count * sends_of(facts, part, comm_of_part(part));
  } else {
    const bool out = facts.sent.how != Count::none;
    part = message(thread, facts, out ? facts.sent : facts.received,
                   out ? Way::sent : Way::received, out ? facts.to : facts.from, arguments);
    const bool moves = part.peer != layout::null_process;
    bytes = moves ? bytes_of_elements(part.count, part.type) : 0;
  }
  const bool typed = part.type != 0;
  request_made(handle_at(arguments[facts.request]),
               {.comm = comm_of_part(part),
                .peer = part.peer,
                .way = part.way,
                .type = typed ? type_number(part.type, part.operation) : std::uint16_t{0},
                .bytes = static_cast<std::uint64_t>(bytes),
                .tag = is_followed_later(facts) ? part.tag : not_followed});
}

void recall_matched(Thread& thread, Word message) {
  const Thread::Matched& known = matched_at(thread, message);
  thread.message_comm = known.message == message ? known.comm : 0;
}

namespace {

// What is counted of a call besides its time.
enum class Content : std::uint8_t {
  nothing,
  comm,
  sent,
  received,
  by_status,
  both,
  both_by_status,
  collective,
  requests,
  starts,
  match,
};

constexpr bool sends(const Facts& facts) { return facts.sent.how != Count::none; }
constexpr bool receives(const Facts& facts) { return facts.received.how != Count::none; }

constexpr Content content_of_message(const Facts& facts) {
  const bool has_status = facts.status != nowhere && facts.group != Group::file;
  if (sends(facts) && receives(facts)) return has_status ? Content::both_by_status : Content::both;
  if (sends(facts)) return Content::sent;
  return has_status ? Content::by_status : Content::received;
}

// One count that means the same on all ranks is read as that of a message is.
constexpr Content content_of_collective(const Facts& facts) {
  const bool simple = facts.sent.how <= Count::value && facts.in_place.how == Count::none;
  return simple && sends(facts) ? Content::sent : Content::collective;
}

constexpr Content content_without_amount(const Facts& facts) {
  if (facts.group == Group::start) return Content::starts;
  if (facts.requests != nowhere) return Content::requests;
  if (facts.group == Group::probe && facts.message != nowhere) return Content::match;
  if (facts.frees) return Content::nothing;
  const bool on_something =
      facts.comm != nowhere || facts.window != nowhere || facts.file != nowhere;
  return on_something ? Content::comm : Content::nothing;
}

constexpr Content content_of(const Facts& facts) {
  if (facts.persistent) return Content::comm;
  if (!sends(facts) && !receives(facts)) return content_without_amount(facts);
  return is_collective(facts) ? content_of_collective(facts) : content_of_message(facts);
}

// What is noted of a call, so that it can be told afterwards what waited for whom.
enum class Follow : std::uint8_t {
  nothing,
  meeting,        // of a collective
  later_meeting,  // which is waited for by its request
  sent,
  received,
  exchanged,
  asked,  // for a message, which is waited for by a request
  exchanged_later,
  probed,
  matched,
  unclear,  // which messages are received from now on
  requests,
};

constexpr Follow follow_of_message(const Facts& facts) {
  const bool sends = facts.to_tag != nowhere, receives = facts.from_tag != nowhere;
  const bool later = facts.request != nowhere;
  if (sends && receives) return later ? Follow::exchanged_later : Follow::exchanged;
  if (receives) return later ? Follow::asked : Follow::received;
  return sends ? Follow::sent : Follow::nothing;
}

constexpr Follow follow_of(Call call) {
  const Facts& facts = facts_of[call];
  switch (call) {
    case call_Probe: return Follow::probed;
    case call_Mprobe: return Follow::matched;
    case call_Improbe: return Follow::unclear;
    case call_Iprobe: return Follow::nothing;
    default: break;
  }
  if (ends_requests(call)) return Follow::requests;
  if (facts.persistent) return Follow::nothing;
  if (facts.waits == Waits::nobody) return follow_of_message(facts);
  return facts.request == nowhere ? Follow::meeting : Follow::later_meeting;
}

// All that leave() has to know of a call, in one place.
struct alignas(line) KnownCall {
  Facts facts;
  Content content;
  Follow follow;
};
static_assert(sizeof(KnownCall) == line);

constexpr std::array<KnownCall, calls> known_of = [] {
  std::array<KnownCall, calls> made{};
  for (std::size_t n = 0; n < calls; ++n) {
    made[n] = {facts_of[n], content_of(facts_of[n]), follow_of(static_cast<Call>(n))};
  }
  return made;
}();

void count_content(Thread& thread, Content content, const Facts& facts, const Word* arguments) {
  switch (content) {
    case Content::nothing: return;
    case Content::comm: return count_only_comm(thread, facts, arguments);
    case Content::sent: return count_sent(thread, facts, arguments);
    case Content::received: return count_received(thread, facts, arguments);
    case Content::by_status: return count_by_status(thread, facts, arguments);
    case Content::both:
      count_sent(thread, facts, arguments);
      return count_received(thread, facts, arguments);
    case Content::both_by_status:
      count_sent(thread, facts, arguments);
      return count_by_status(thread, facts, arguments);
    case Content::collective: return count_collective(thread, facts, arguments);
    case Content::requests: return count_requests(thread, facts, arguments);
    case Content::starts: return count_starts(thread, facts, arguments);
    case Content::match:
      note_matched(thread, facts, arguments);
      return count_only_comm(thread, facts, arguments);
  }
}

// After the call has been counted, its site remembers which it was.
void follow(const Thread& thread, Follow what, const Facts& facts, const Word* arguments,
            Ticks end) {
  switch (what) {
    case Follow::nothing: return;
    case Follow::meeting: return follow_meeting(thread, end);
    case Follow::later_meeting: return follow_later_meeting(thread, facts, arguments);
    case Follow::sent: return follow_sent(thread, facts, arguments, end);
    case Follow::received: return follow_received(thread, facts, arguments, end);
    case Follow::exchanged:
      follow_sent(thread, facts, arguments, end);
      return follow_received(thread, facts, arguments, end);
    case Follow::asked: return follow_asked(thread, facts, arguments);
    case Follow::exchanged_later:
      follow_sent(thread, facts, arguments, end);
      return follow_asked(thread, facts, arguments);
    case Follow::probed:
    case Follow::matched:
      return follow_probed(thread, facts, arguments, end, what == Follow::matched);
    case Follow::unclear: return receives_are_unclear(comm_of(handle(arguments[facts.comm])));
    case Follow::requests: return requests_ended(thread, facts, arguments, end);
  }
}

void count_and_follow(Thread& thread, const KnownCall& known, const Word* arguments, Ticks end) {
  count_content(thread, known.content, known.facts, arguments);
  follow(thread, known.follow, known.facts, arguments, end);
}

[[gnu::noinline]] void count_by_table(Thread& thread, Call call, const Word* arguments, Ticks end) {
  count_and_follow(thread, known_of[call], arguments, end);
}

// The same for one call whose facts the compiler knows, which leaves nothing of the questions that
// are asked of them. It halves what we cost besides the clock.
template <Call call>
[[gnu::flatten]] void count_compiled(Thread& thread, const Word* arguments, Ticks end) {
  count_and_follow(thread, known_of[call], arguments, end);
}

using Counter = void (*)(Thread& thread, const Word* arguments, Ticks end);

template <Call... frequent>
constexpr std::array<Counter, calls> compiled() {
  std::array<Counter, calls> counters{};
  ((counters[frequent] = count_compiled<frequent>), ...);
  return counters;
}

// For the calls that programs make most; null for the others.
constexpr std::array<Counter, calls> counters =
    compiled<call_Send, call_Recv, call_Sendrecv, call_Isend, call_Irecv, call_Iprobe, call_Test,
             call_Testany, call_Testall, call_Wait, call_Waitany, call_Waitall, call_Barrier,
             call_Bcast, call_Reduce, call_Allreduce, call_Allgather, call_Alltoall>();

// Makes a site that nobody has seen yet, or finds one whose stack lies elsewhere now.
[[gnu::noinline]] Thread* enter_anew(Thread& thread, Call call, Caller caller, std::uint64_t key) {
  thread.place = find_place(thread, caller, key, call);
  if (thread.place == nullptr) {
    ++process.storage.head().lost_calls;
    thread.inside = 0;
    return nullptr;
  }
  thread.pending->site = thread.place->site->site;
  return &thread;
}

[[gnu::noinline]] Thread* enter_first(Call call, Caller caller) {
  if (process.state.load(std::memory_order_acquire) == 0) start(caller.pc);
  const std::uint64_t state = process.state.load(std::memory_order_acquire);
  if (!State::is_recording(state)) return nullptr;
  const bool first = self == nullptr;
  if (first && begin_thread() == nullptr) {
    ++process.storage.head().lost_calls;
    return nullptr;
  }
  if (first && self->stored->thread == 0) measure_own_cost();
  return enter(call, caller.pc, caller.sp, caller.fp);
}

// A call inside another is a part of that one, which is why its time is not counted twice. But the
// other may be gone, left by an exception or a jump: then the stack is no deeper than it was there.
[[gnu::noinline]] bool is_nested(const Thread& thread, Caller caller) {
  if (caller.sp < thread.inside) {
    ++process.storage.head().nested;
    return true;
  }
  ++process.storage.head().cut;
  return false;
}

}  // namespace

Thread* enter(Call call, Word pc, Word sp, Word fp) {
  Caller caller{pc, sp, fp};
  const std::uint64_t state = process.state.load(std::memory_order_relaxed);
  Thread* const thread = self;
  if (thread == nullptr || !State::is_recording(state)) [[unlikely]] {
    if (state != 0 && !State::is_recording(state)) return nullptr;
    return enter_first(call, caller);
  }
  if (thread->inside != 0 && is_nested(*thread, caller)) [[unlikely]]
    return nullptr;
  // First of all, as the interpreter may call MPI from within.
  if (process.has_lines) [[unlikely]]
    caller.line = current_line();
  thread->inside = caller.sp;
  const std::uint64_t where = (state & own_region.kept) | own_region.region;
  const std::uint64_t key = where | (static_cast<std::uint64_t>(call) << State::call_shift);
  const Known& known = known_for(*thread, caller, key);
  if (!is_same(known, caller, key)) [[unlikely]]
    return enter_anew(*thread, call, caller, key);
  thread->place = known.place;
  thread->pending->site = known.place->site->site;
  return thread;
}

void leave(Thread& thread, Call call, const Word* arguments, int code) {
  const Ticks end = ticks();
  layout::Site& site = *thread.place->site;
  count_time(thread, site, end);
  if (code != 0) [[unlikely]] {
    ++site.failures;
  } else if (counters[call] != nullptr) {
    counters[call](thread, arguments, end);
  } else {
    count_by_table(thread, call, arguments, end);
  }
  thread.inside = 0;
}

}  // namespace mpigauge::profile
