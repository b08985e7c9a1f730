// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/cases.hpp"

#include <algorithm>
#include <cstdio>

#include "core/card_options.hpp"
#include "core/faults.hpp"
#include "driver/names.hpp"
#include "record/columns.hpp"

namespace mpigauge {

namespace {

constexpr std::size_t default_largest = std::size_t{4} << 20U;

std::vector<std::size_t> default_sizes(const Card& card) {
  if (!card.sizes.empty()) return {card.sizes.begin(), card.sizes.end()};
  std::vector<std::size_t> sizes{0};
  for (std::size_t bytes = 1; bytes <= default_largest; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

const DataType& type_of(const Card& card, const Options& options) {
  if (!options.datatype.empty() && card.unit != Unit::none) return *find_type(options.datatype);
  return *find_type(card.unit == Unit::reduction ? "float" : "byte");
}

std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f GiB", bytes / (1U << 30U));
  return text;
}

bool has_large_calls() {
  const auto& calls = large_calls();
  return calls.send != nullptr && calls.recv != nullptr && calls.isend != nullptr &&
         calls.irecv != nullptr && calls.sendrecv != nullptr && calls.bcast != nullptr;
}

std::string_view why_not_on(Ranks kind) {
  switch (kind) {
    case Ranks::one: return "needs 1 rank";
    case Ranks::pair: return "needs 2 ranks";
    case Ranks::pairs: return "needs an even number of ranks";
    case Ranks::several: return "needs at least 2 ranks";
    case Ranks::plane: return "needs a number of ranks that makes a plane with 2 or more on a side";
    case Ranks::volume:
      return "needs a number of ranks that makes a volume with 2 or more on a side";
    case Ranks::any: break;
  }
  return "needs a rank";
}

const DataType* in_memory(const DataType& type, Contiguity contiguity) {
  return is_spread(contiguity) ? find_spread(type.name) : &type;
}

// Those combinations that are not the same to this benchmark.
std::vector<const SuiteOptions*> combinations_for(const Card& card, const Options& options) {
  if (options.combinations.empty()) return {&options.suite};  // as IMB's words are understood
  std::vector<const SuiteOptions*> unlike;
  for (const SuiteOptions& each : options.combinations) {
    const bool known = std::any_of(unlike.begin(), unlike.end(),
                                   [&](const auto* other) { return alike_to(card, *other, each); });
    if (!known) unlike.push_back(&each);
  }
  return unlike;
}

int threads_of(const Card& card, const SuiteOptions& suite) {
  if (card.library != nullptr) return card.library->threads();
  return card.options.has(SuiteOption::threads) ? suite.threads : 1;
}

Case case_of(const Card& card, Shape shape, const Options& options, const SuiteOptions& suite) {
  const Contiguity contiguity = card.unit == Unit::none ? Contiguity::base : suite.contiguity;
  shape.inflight = card.windowed ? options.inflight : 1;
  shape.threads = threads_of(card, suite);
  shape.options = &suite;
  return {.card = &card,
          .shape = shape,
          .type = in_memory(type_of(card, options), contiguity),
          .op = card.unit == Unit::reduction ? find_op(options.op) : nullptr,
          .contiguity = contiguity,
          .root_shift = options.root_shift && has_root(card),
          .cold_bytes = options.cache_bytes};
}

bool insists_on_fresh(const Card& card, const Options& options) {
  return std::any_of(options.insist.begin(), options.insist.end(),
                     [&](const auto& name) { return &find_benchmark(name)->card == &card; });
}

// What has no data to write is static, unless somebody named it: then it is fresh and refused.
void add_static_and_fresh(std::vector<Job>& jobs, Job job, const Options& options) {
  const Card& card = *job.row.card;
  const bool named = insists_on_fresh(card, options);
  const bool wanted = options.data != Data::unchanged;
  const bool has_fresh = wanted && (why_static(card).empty() || named);
  if (options.data != Data::fresh || !has_fresh) jobs.push_back(job);
  if (!has_fresh) return;
  job.row.shape.fresh = true;
  jobs.push_back(job);
}

void add_hot_and_cold(std::vector<Job>& jobs, Job job, const Options& options);

// A trial launch ended by it: the reason, or nothing.
std::string_view why_left_out(const Card& card, const Memories& memories, const Options& options) {
  for (const LeftOut& each : options.left_out) {
    const bool is_this = &find_benchmark(each.benchmark)->card == &card;
    if (is_this && each.memories == memories) return each.reason;
  }
  return "";
}

// Without buffers no memory differs from another.
void add_memories(std::vector<Job>& jobs, Job job, const Options& options) {
  if (job.row.card->by_gpu_library) {
    job.row.memories = {Memory::device, Memory::device};
    return add_hot_and_cold(jobs, job, options);
  }
  if (options.memories.empty() || !has_buffers(*job.row.card)) {
    return add_hot_and_cold(jobs, job, options);
  }
  for (const Memories& memories : options.memories) {
    job.row.memories = memories;
    job.row.left_out = why_left_out(*job.row.card, memories, options);
    add_hot_and_cold(jobs, job, options);
  }
}

void add_hot_and_cold(std::vector<Job>& jobs, Job job, const Options& options) {
  const Card& card = *job.row.card;
  const bool has_cold = options.cache != Cache::hot && has_buffers(card);
  if (options.cache != Cache::cold || !has_cold) add_static_and_fresh(jobs, job, options);
  if (!has_cold) return;
  job.row.cold = true;
  add_static_and_fresh(jobs, job, options);
}

std::string_view missing_call(const Card& card) {
  const auto* const found = std::find_if(
      card.needs.begin(), card.needs.end(),
      [](std::string_view name) { return !name.empty() && find_call(name) == nullptr; });
  return found == card.needs.end() ? "" : *found;
}

// Why the buffers cannot be in this memory; empty: they can.
std::string why_not_in_memory(const Case& row) {
  const Memories& memories = row.memories;
  if (!row.left_out.empty()) return std::string(row.left_out);
  if (!memories.needs_driver()) return "";
  const std::string name = "memory " + memories.name() + ": ";
  if (const auto why = why_host(*row.card); !why.empty()) return name + std::string(why);
  if (memories.differ() && row.card->ranks != Ranks::pair) {
    return name + "only the two ranks of a pair can differ";
  }
  if (row.cold) return name + "rotating buffers are in memory of the host only";
  if (row.shape.fresh) return name + "fresh data are written in memory of the host only";
  return "";
}

// What no other size would change.
std::string why_not_here(const Case& row) {
  const Card& card = *row.card;
  if (comes_apart(card, row.shape)) {
    auto excuse = row.shape.options->arrival.excuse(row.shape.ranks);
    if (!excuse.empty()) return excuse;
  }
  const int root = has_root(card) ? row.shape.options->root : 0;
  if (root >= row.shape.ranks) {
    return "there is no rank " + std::to_string(root) + " of " + std::to_string(row.shape.ranks) +
           " to be the root";
  }
  if (auto why = why_not_in_memory(row); !why.empty()) return why;
  if (const auto why = why_static(card); row.shape.fresh && !why.empty()) {
    return "there are no fresh data: " + std::string(why);
  }
  if (card.excuse != nullptr) {
    if (auto excuse = card.excuse(row.shape); !excuse.empty()) return excuse;
  }
  if (const auto missing = missing_call(card); !missing.empty()) {
    return "this MPI library has no " + std::string(missing);
  }
  if (card.by_gpu_library) return "";  // what MPI lacks or does wrong is not in its way
  if (row.type->mpi() == MPI_DATATYPE_NULL) {
    return "this MPI library has no data type " + std::string(row.type->name);
  }
  return std::string(known_fault({.benchmark = card.name,
                                  .ranks = row.shape.ranks,
                                  .datatype = row.type->name,
                                  .op = row.op != nullptr ? row.op->name : std::string_view()}));
}

std::string_view why_not_so_many(const Card& card, std::size_t elements) {
  if (elements <= INT_MAX || card.by_gpu_library) return "";
  if (!card.large_counts) return "more than 2147483647 elements, which MPI counts as int here";
  if (has_large_calls()) return "";
  return "more than 2147483647 elements, and this MPI library has no large-count calls "
         "(MPI_Send_c)";
}

}  // namespace

std::vector<std::size_t> sizes_of(const Card& card, const DataType& type, const Options& options) {
  if (card.unit == Unit::none) return {0};
  const auto whole = [&](std::size_t bytes) {
    return (bytes + type.bytes - 1) / type.bytes * type.bytes;
  };
  if (card.only_bytes > 0) {
    return {card.unit == Unit::reduction ? whole(card.only_bytes) : card.only_bytes};
  }
  std::vector<std::size_t> sizes;
  for (const std::size_t wanted : options.sizes.value_or(default_sizes(card))) {
    const std::size_t bytes = whole(wanted);
    if (std::find(sizes.begin(), sizes.end(), bytes) == sizes.end()) sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<int> ranks_of(const Card& card, const Options& options, int world_ranks) {
  if (options.ranks.empty() || card.ranks == Ranks::pair || card.ranks == Ranks::one) {
    return group_sizes(card.ranks, options.npmin, world_ranks);
  }
  return options.ranks;
}

std::vector<Job> jobs_of(const Benchmark& benchmark, int ranks, const Options& options) {
  const Card& card = benchmark.card;
  const std::vector<std::string> nowhere(1);
  std::vector<Job> jobs;
  for (const auto& directory : is_on_files(card) ? options.suite.directories : nowhere) {
    for (const Completion completion : completions_of(card.modes)) {
      for (const std::size_t bytes : sizes_of(card, type_of(card, options), options)) {
        for (const SuiteOptions* suite : combinations_for(card, options)) {
          Case row = case_of(card, {bytes, ranks}, options, *suite);
          row.completion = completion;
          row.directory = directory;
          // Only by a clock can ranks come apart as they should.
          const bool apart = comes_apart(card, row.shape);
          const SyncMethod sync = apart ? SyncMethod::clock : sync_of(card, completion, options);
          add_memories(jobs, {.benchmark = &benchmark, .row = row, .sync = sync}, options);
        }
      }
    }
  }
  return jobs;
}

std::optional<Refusal> refusal_of(const Case& row, double memory) {
  const Card& card = *row.card;
  if (!can_run_on(card.ranks, row.shape.ranks)) {
    return Refusal{.limit = Limit::ranks, .reason = std::string(why_not_on(card.ranks))};
  }
  if (auto reason = why_not_here(row); !reason.empty()) {
    return Refusal{.limit = Limit::call, .reason = std::move(reason)};
  }
  const Layout buffers = layout(row);
  const std::size_t elements = std::max(buffers.send_bytes, buffers.recv_bytes) / row.type->bytes;
  if (const auto reason = why_not_so_many(card, elements); !reason.empty()) {
    return Refusal{.limit = Limit::overflow, .reason = std::string(reason)};
  }
  const double needed =
      static_cast<double>(buffers.send_total() + buffers.recv_total()) * row.shape.threads;
  if (needed <= memory) return std::nullopt;
  return Refusal{.limit = Limit::memory,
                 .needed_bytes = needed,
                 .reason = "not enough memory: needs " + gib(needed) + " per rank, " + gib(memory) +
                           " may be used"};
}

void prepare_world(const Card& card) {
  if (card.prepare != nullptr && missing_call(card).empty()) card.prepare();
}

// Threads of a rank may share its cores, and IMB lets them meet at barriers.
SyncMethod sync_of(const Card& card, Completion completion, const Options& options) {
  if (!meets_each(card, completion)) return SyncMethod::none;
  if (options.sync != SyncMethod::automatic) return options.sync;
  return is_threaded(card) ? SyncMethod::barrier : options.automatic_sync;
}

Object key_of(const Job& job, const Options& options, const Whose& whose) {
  const Card& card = *job.row.card;
  const bool sized = card.unit != Unit::none;
  Object key;
  key.add(column::suite, card.suite)
      .add(column::benchmark, card.name)
      .add(column::ranks, job.row.shape.ranks)
      .add(column::groups, whose.groups)
      .add(column::group, whose.group)
      .add(column::members, whose.members)
      .add(column::message_bytes, sized ? static_cast<long long>(job.row.shape.bytes) : -1LL)
      .add(column::datatype, job.row.type->name)
      .add(column::op, job.row.op != nullptr ? job.row.op->name : std::string_view())
      .add(column::cache, job.row.cold ? "cold" : "hot")
      .add(column::data, job.row.shape.fresh ? "fresh" : "static")
      .add(column::sync, word(job.sync))
      .add(column::root_shift, job.row.root_shift)
      .add(column::inflight, job.row.shape.inflight)
      .add(column::completion, word(job.row.completion))
      .add(column::threads, job.row.shape.threads)
      .add(column::directory, job.row.directory)
      .add(column::layout, word(job.row.contiguity))
      .add(column::settings, unusual(card, *job.row.shape.options))
      .add(column::arm, options.arms.empty() ? std::string() : options.arms[job.arm].name)
      .add(column::mode, options.classic ? "classic" : "adaptive")
      .add(column::memory, job.row.memories.name())
      .add(column::origin, "measured")
      .add(column::thread_level, option_text(options.suite.thread_level))
      .add(column::arrival,
           comes_apart(card, job.row.shape) ? job.row.shape.options->arrival.name() : std::string())
      .add(column::sharing, options.gpus_shared && job.row.memories.on_gpu() ? "shared" : "");
  return key;
}

Object facts_of(const Job& job) {
  const Card& card = *job.row.card;
  Object facts;
  facts.add(column::time_scale, time_scale(card))
      .add(column::moved_bytes, card.moved(job.row.shape))
      .add(column::messages, card.messages(job.row.shape));
  return facts;
}

}  // namespace mpigauge
