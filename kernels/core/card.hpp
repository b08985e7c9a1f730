// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A card: the facts of a benchmark, known without running it. The list, the plan, the memory
// check, the records and the tables read the same card.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "core/suite_options.hpp"

namespace mpigauge {

/// Which numbers of ranks a benchmark can run on.
enum class Ranks {
  one,      ///< rank 0 alone
  pair,     ///< two, whatever the job has
  pairs,    ///< an even number
  several,  ///< two or more
  plane,    ///< a x b with both at least 2
  volume,   ///< a x b x c with all at least 2
  any,
};

/// What one printed time means.
enum class Time {
  half_round_trip,  ///< half of a call, as rank 0 sees it
  call,             ///< a call, as its slowest rank sees it
};

/// What a message is made of.
enum class Unit { transfer, reduction, none };

/// Whether the ranks meet before each timed call, or calls follow each other.
enum class Meet { never, each };

/// Which table of IMB the benchmark belongs to.
enum class Columns {
  single,      ///< t, MB/s
  parallel,    ///< t_min, t_max, t_avg, MB/s
  collective,  ///< t_min, t_max, t_avg
  barrier,     ///< the same without a size
  band,        ///< MB/s, messages per second
  timed_band,  ///< t_avg, MB/s, messages per second
  rate,        ///< t, MB/s, messages per second
  overlap,     ///< t_ovrl, t_pure, t_CPU, overlap
  passive,     ///< t_pure, t_ovrl
};

/// When the completion of operations is waited for.
enum class Completion {
  none,  ///< the operation is complete when it returns
  each,  ///< after each operation; IMB's NON-AGGREGATE
  end,   ///< once after all operations of a sample; IMB's AGGREGATE
};

constexpr std::string_view word(Completion completion) {
  switch (completion) {
    case Completion::each: return "each";
    case Completion::end: return "end";
    case Completion::none: break;
  }
  return "";
}

namespace detail {
inline constexpr std::array completions{Completion::none, Completion::each, Completion::end,
                                        Completion::each};
}  // namespace detail

/// Which completions a benchmark has, in the order in which IMB shows them.
enum class Modes {
  none,
  each_then_end,
  end_then_each,
  end_only,
  end_unnamed,  ///< end_only, but IMB's tables do not say so
};
constexpr std::span<const Completion> completions_of(Modes modes) {
  constexpr const auto& all = detail::completions;
  switch (modes) {
    case Modes::each_then_end: return std::span(all).subspan(1, 2);
    case Modes::end_then_each: return std::span(all).subspan(2, 2);
    case Modes::end_only:
    case Modes::end_unnamed: return std::span(all).subspan(2, 1);
    case Modes::none: break;
  }
  return std::span(all).first(1);
}

/// What is timed beside the benchmark itself.
enum class Part {
  pure,      ///< the communication alone
  cpu,       ///< the computation alone
  progress,  ///< as the benchmark itself, but the computation calls MPI_Test now and then
  write,     ///< writing the send buffer anew before the call, where data are fresh
  skew,      ///< how much later the last rank comes than the first, where they come apart
};
constexpr std::size_t part_count = 5;

/// The shape of a case: what buffer sizes and traffic depend on.
struct Shape {
  std::size_t bytes = 0;
  int ranks = 1;
  int inflight = 1;
  int threads = 1;
  bool fresh = false;  ///< the send buffer is written before each call
  const SuiteOptions* options = &usual_suite_options;
};

/// Why a benchmark cannot run in this shape; empty: it can.
using Excuse = std::string (*)(const Shape&);

/// How and where a benchmark does its work in this shape, in words, once it has found that out.
using Choice = std::string (*)(const Shape&);

/// What a library that it calls kept busy in this shape; NaN: not known.
struct BusyWith {
  double cores = std::numeric_limits<double>::quiet_NaN();
  double threads = std::numeric_limits<double>::quiet_NaN();  ///< that shared the work
};

/// A library with threads of its own, which --threads does not tell.
struct ThreadedLibrary {
  int (*threads)();  ///< that it is asked for, on this rank
  BusyWith (*busy)(const Shape&);
};

/// What all ranks of a job do together, whichever of them run the benchmark; harmless again.
using Preparation = void (*)();

/// A size or a count as a function of the shape.
using Amount = double (*)(const Shape&);
inline double nothing(const Shape&) { return 0; }
inline double once(const Shape&) { return 1; }
inline double message(const Shape& s) { return static_cast<double>(s.bytes); }
inline double twice_message(const Shape& s) { return 2 * message(s); }
inline double message_per_rank(const Shape& s) { return message(s) * s.ranks; }
/// Of those that send --inflight messages at once: all of the same place, as IMB does, or each of
/// its own, since only the first from one place would be fresh.
inline double message_under_way(const Shape& s) { return message(s) * (s.fresh ? s.inflight : 1); }

/// Options of the kernels that a benchmark uses and that not all do.
class SuiteOptionSet {
 public:
  constexpr SuiteOptionSet() = default;
  constexpr SuiteOptionSet(std::initializer_list<SuiteOption> options) {
    for (const SuiteOption option : options) add(option);
  }
  constexpr void add(SuiteOption option) { bits_ |= bit(option); }
  [[nodiscard]] constexpr bool has(SuiteOption option) const { return (bits_ & bit(option)) != 0; }

 private:
  static constexpr std::uint64_t bit(SuiteOption option) {
    return std::uint64_t{1} << static_cast<unsigned>(option);
  }
  std::uint64_t bits_ = 0;
};

struct Card {
  std::string_view suite;
  std::string_view name;
  std::string_view about;
  int place = 0;  ///< where it stands in its suite's list
  Ranks ranks = Ranks::any;
  Time time = Time::call;
  Unit unit = Unit::transfer;
  Meet meet = Meet::never;
  Columns columns = Columns::collective;
  Modes modes = Modes::none;
  Amount send = message;        ///< bytes of the send buffer of a rank
  Amount recv = message;        ///< bytes of its receive buffer
  Amount moved = nothing;       ///< bytes that count for bandwidth in one printed time
  Amount imb_moved = nullptr;   ///< what IMB takes for them, where that is something else
  Amount messages = nothing;    ///< messages that count for the rate in one printed time
  bool root_sends = false;      ///< of the ranks only the root reads its send buffer
  bool windowed = false;        ///< keeps --inflight messages under way
  bool large_counts = false;    ///< can send more than 2^31 - 1 elements where the MPI can
  SuiteOptionSet options;       ///< that it uses and that not all do
  bool by_pair = false;         ///< ranks work in pairs, of which each has a time of its own
  bool seldom = false;          ///< so slow that IMB repeats it as seldom as NON-AGGREGATE rows
  double most_s = 0;            ///< not 0: seconds of a launch that a row may take
  bool of_shorter = false;      ///< overlap is of the shorter of pure and cpu, not of the longer
  bool may_refuse = false;      ///< may throw Refused
  std::string_view keeps_data;  ///< why its data cannot be fresh; empty: see why_static
  unsigned steps = 1;           ///< alike steps of a call; the printed time is of one
  std::size_t only_bytes = 0;   ///< not 0: the one size that it has
  bool untyped = false;         ///< --datatype changes nothing, though it has buffers
  std::string_view keeps_host;  ///< why its buffers are never on a GPU; empty: see why_host
  bool moves_only = false;      ///< only MPI touches its buffers, though its suite is none of those
  bool by_gpu_library = false;  ///< a library for GPUs moves its data, which are always on them
  std::span<const std::size_t> sizes;  ///< where the user names none; empty: those of all others
  bool by_default = true;
  bool addressed = false;   ///< of two ranks, which need no communicator: it uses Run::address()
  Excuse excuse = nullptr;  ///< what else than the number of ranks can be in its way
  Preparation prepare = nullptr;             ///< before its first cell
  Choice choice = nullptr;                   ///< where it has something to say about that
  const ThreadedLibrary* library = nullptr;  ///< that it calls
  std::array<std::string_view, 4> needs{};   ///< calls newer than MPI-2.2 that it cannot do without
};

/// A card that differs from another in name, sense and place alone, and is run only when named.
constexpr Card variant_of(Card card, std::string_view name, std::string_view about, int place) {
  card.name = name;
  card.about = about;
  card.place = place;
  card.by_default = false;
  return card;
}

/// The same of a benchmark whose two ranks find each other by their addresses.
constexpr Card by_address(Card card) {
  card.addressed = true;
  return card;
}

inline constexpr std::string_view one_sided =
    "it is one-sided: others use its memory between calls";

/// Whether threads of a rank run it at once, each of which calls MPI.
constexpr bool is_threaded(const Card& card) {
  return card.options.has(SuiteOption::thread_memory);
}
/// Whether threads of a rank that call no MPI share its work.
constexpr bool is_pooled(const Card& card) { return card.options.has(SuiteOption::thread_order); }
/// Whether it has a root, which --root names and --root-shift moves.
constexpr bool has_root(const Card& card) { return card.options.has(SuiteOption::root); }
/// Whether it works on files, in the directories of --dir.
constexpr bool is_on_files(const Card& card) { return card.options.has(SuiteOption::dir); }

/// Why its send buffer is never written anew between calls; empty: it can be.
constexpr std::string_view why_static(const Card& card) {
  if (!card.keeps_data.empty()) return card.keeps_data;
  if (is_on_files(card)) return "it works on files";
  if (card.unit == Unit::none || card.send == nothing) return "it has no send buffer";
  if (card.modes != Modes::none) return one_sided;
  return "";
}

/// Suites whose benchmarks leave their buffers to MPI between checks.
inline constexpr std::array suites_on_gpu{std::string_view("MPI1"), std::string_view("NBC"),
                                          std::string_view("P2P"), std::string_view("RMA"),
                                          std::string_view("EXT")};

/// Why its buffers are in memory of the host only; empty: they can be pinned or on a GPU.
constexpr std::string_view why_host(const Card& card) {
  if (card.by_gpu_library) return "";
  if (!card.keeps_host.empty()) return card.keeps_host;
  for (const std::string_view suite : suites_on_gpu) {
    if (card.suite == suite) return "";
  }
  return card.moves_only ? "" : "its suite works on memory of the host";
}

/// Whether ranks meet before each timed call. Calls that are completed at the end follow each
/// other.
constexpr bool meets_each(const Card& card, Completion completion) {
  return card.meet == Meet::each && completion != Completion::end;
}

/// Whether it has buffers of the message, which may be in caches or not.
constexpr bool has_buffers(const Card& card) {
  return card.unit != Unit::none && (card.send != nothing || card.recv != nothing);
}
/// Whether its messages have the type that --datatype names.
constexpr bool is_typed(const Card& card) { return has_buffers(card) && !card.untyped; }

/// Whether ranks come to its calls apart from each other, as --arrival says.
inline bool comes_apart(const Card& card, const Shape& shape) {
  return card.options.has(SuiteOption::arrival) && !shape.options->arrival.is_together();
}

constexpr double time_scale(const Card& card) {
  return (card.time == Time::half_round_trip ? 0.5 : 1.0) / card.steps;
}

}  // namespace mpigauge
