// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/pair_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/sampling.hpp"
#include "record/columns.hpp"
#include "record/pair_block.hpp"
#include "record/records.hpp"

namespace mpigauge {

namespace {

static_assert(std::is_trivially_copyable_v<PairRow>, "rows travel as bytes");

// As they stand behind each other in a row.
constexpr std::array<std::string_view, 12> flag_names{
    "tainted", "drift", "bimodal",        "unconverged", "detours",  "cold-sensitive",
    "clock",   "sync",  "oversubscribed", "cached",      "buffered", "aggressors"};
constexpr std::array<Stop, 4> stops{Stop::precise, Stop::budget, Stop::time, Stop::interrupted};

std::uint32_t bits_of(const std::vector<std::string_view>& flags) {
  std::uint32_t bits = 0;
  for (const auto flag : flags) {
    const auto* at = std::find(flag_names.begin(), flag_names.end(), flag);
    if (at == flag_names.end()) throw std::logic_error("no flag is called " + std::string(flag));
    bits |= 1U << static_cast<unsigned>(at - flag_names.begin());
  }
  return bits;
}

std::vector<std::string_view> flags_in(std::uint32_t bits) {
  std::vector<std::string_view> flags;
  for (std::size_t i = 0; i < flag_names.size(); ++i) {
    if ((bits >> i & 1U) != 0) flags.push_back(flag_names.at(i));
  }
  return flags;
}

std::int32_t number_of(std::string_view stop) {
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (word(stops.at(i)) == stop) return static_cast<std::int32_t>(i);
  }
  throw std::logic_error("sampling never stops as " + std::string(stop));
}

template <class Value>
std::vector<std::decay_t<std::invoke_result_t<Value, const PairRow&>>> values_of(
    std::span<const PairRow> rows, Value value) {
  std::vector<std::decay_t<std::invoke_result_t<Value, const PairRow&>>> values;
  values.reserve(rows.size());
  for (const PairRow& row : rows) values.push_back(value(row));
  return values;
}

// Takes the times of one row after the other, as a record does.
class TimeColumns {
 public:
  void begin_row() { at_ = 0; }
  void add(std::string_view name, double value) {
    if (at_ == columns_.size()) columns_.emplace_back(name, std::vector<double>());
    columns_[at_++].second.push_back(value);
  }
  [[nodiscard]] const auto& columns() const { return columns_; }

 private:
  std::size_t at_ = 0;
  std::vector<std::pair<std::string_view, std::vector<double>>> columns_;
};

bool is_kept(std::string_view time, bool detailed) {
  return detailed || time == column::time_p50_s || time == column::ci_low_s ||
         time == column::ci_high_s;
}

void add_times(BlockColumns& block, std::span<const PairRow> rows, bool detailed) {
  TimeColumns times;
  for (const PairRow& row : rows) {
    times.begin_row();
    column::add_times(times, row.times);
  }
  for (const auto& [name, values] : times.columns()) {
    if (is_kept(name, detailed)) block.add(name, values);
  }
}

// Counts of the rows; where these are too many for one of each, the least.
template <class Value>
void add_counts(BlockColumns& block, std::span<const PairRow> rows, bool detailed,
                std::string_view name, Value value) {
  const auto values = values_of(rows, value);
  if (detailed) block.add(name, values);
  else block.share(name, *std::min_element(values.begin(), values.end()));
}

void add_columns(BlockColumns& block, std::span<const PairRow> rows, bool detailed) {
  const auto counts = [&](std::string_view name, auto value) {
    add_counts(block, rows, detailed, name, value);
  };
  counts(column::calls, [](const PairRow& row) { return row.calls; });
  counts(column::samples, [](const PairRow& row) { return row.samples; });
  counts(column::chunks, [](const PairRow& row) { return row.chunks; });
  counts(column::rounds, [](const PairRow& row) { return row.rounds; });
  counts(column::epochs, [](const PairRow& row) { return row.epochs; });
  block.add(column::stop, values_of(rows, [](const PairRow& row) {
              return word(stops.at(static_cast<std::size_t>(row.stop)));
            }));
  if (detailed) {
    block.add(column::tainted_ratio,
              values_of(rows, [](const PairRow& row) { return row.tainted_ratio; }));
  }
  block.add(column::flags, values_of(rows, [](const PairRow& row) { return flags_in(row.flags); }));
  block.add(column::wrong_count, values_of(rows, [](const PairRow& row) { return row.wrong; }));
  add_times(block, rows, detailed);
}

void add_facts(BlockColumns& block, const Job& job) {
  const Card& card = *job.row.card;
  const BusyWith busy = card.library != nullptr ? card.library->busy(job.row.shape) : BusyWith();
  block.share(column::variant, card.choice != nullptr ? card.choice(job.row.shape) : std::string());
  block.share(column::busy_cores, busy.cores);
  block.share(column::busy_threads, busy.threads);
  block.share(column::check, card.unit == Unit::none ? "none" : "exact");
  block.share(column::time_scale, time_scale(card));
  block.share(column::moved_bytes, card.moved(job.row.shape));
  block.share(column::messages, card.messages(job.row.shape));
}

}  // namespace

PairRow pair_row(const Session& session, const Groups& groups, const Measured& measured) {
  const Summary& s = measured.summary;
  const auto comma = groups.own_group().members.find(',');
  const std::string members(groups.own_group().members);
  PairRow row{.index = groups.index(),
              .first = std::stoi(members),
              .second = std::stoi(members.substr(comma + 1)),
              .holder = rank_in(groups.active()),
              .times = s,
              .tainted_ratio = s.tainted_ratio,
              .samples = s.samples,
              .chunks = s.chunks,
              .wrong = measured.wrong,
              .calls = s.calls,
              .rounds = measured.rounds,
              .flags = bits_of(flags_of(session, measured)),
              .epochs = measured.epochs,
              .stop = number_of(measured.stop)};
  return row;
}

std::vector<PairRow> gather_rows(const PairRow& mine, MPI_Comm comm) {
  const bool collects = rank_in(comm) == 0;
  std::vector<PairRow> rows(collects ? static_cast<std::size_t>(size_of(comm)) : 0);
  call(MPI_Gather(&mine, sizeof mine, MPI_BYTE, rows.data(), sizeof mine, MPI_BYTE, 0, comm));
  std::erase_if(rows, [](const PairRow& row) { return row.index < 0; });
  std::sort(rows.begin(), rows.end(),
            [](const PairRow& a, const PairRow& b) { return a.index < b.index; });
  return rows;
}

Object pair_block_of(const Session& session, const Groups& groups, const Job& job,
                     std::span<const PairRow> rows, const std::vector<std::string>& raw) {
  const bool detailed = session.ranks <= most_ranks_in_detail;
  BlockColumns block(!detailed);
  add_columns(block, rows, detailed);
  add_facts(block, job);
  records::PairBlock record{.launch = session.options.launch,
                            .round = groups.round(),
                            .key = key_of(job, session.options, groups.all_groups()),
                            .pairs = {},
                            .pairing = std::string(groups.pairing()),
                            .world_ranks = session.ranks,
                            .shared = block.shared(),
                            .columns = block.columns()};
  if (record.pairing.empty() || static_cast<int>(rows.size()) < groups.groups()) {
    record.pairing.clear();
    for (const PairRow& row : rows) {
      record.pairs.push_back(static_cast<std::uint64_t>(row.first));
      record.pairs.push_back(static_cast<std::uint64_t>(row.second));
    }
  }
  Object line = object_of(record);
  if (!raw.empty()) line.add_json("raw", json_list(raw));
  return line;
}

}  // namespace mpigauge
