// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/hits.hpp"
#include "core/turns.hpp"

namespace mpigauge {

namespace {

// From measurements of how long a cell remembers that others had the caches (docs/explain/
// sampling.md): the untimed calls cost as much as the timed ones, and more of both bring nothing.
struct ChunkShape {
  double below_s;
  std::uint16_t warm, samples;
};
constexpr ChunkShape chunk_shapes[] = {
    {20e-6, 20, 20},
    {200e-6, 2, 5},
    {1e-3, 1, 3},
    {std::numeric_limits<double>::infinity(), 1, 1},
};

// Cold caches cost little of calls as long, so the first one counts if ranks are connected.
constexpr double cold_s = 20e-3;

// Shortest sample, where calls may share one: below, the clock's cost or its step would show.
constexpr double batch_of_clock_readings = 20, batch_of_clock_steps = 100;
constexpr double least_of_clock_steps = batch_of_clock_steps / 4;
// Of samples, that no detour hits: then it moves the median of a chunk by a tenth of their spread.
constexpr double calm_share = 0.95;
constexpr double tainted_share_to_flag = 0.01;
constexpr double least_clean_share = 0.25;
constexpr double ask_every_s = 0.2;
constexpr unsigned most_missed = 100;
// The first timed call of a cell may end so much too late: a share of the time, or seconds.
constexpr double late_share = 0.1, late_s_of_any = 0.5;

std::vector<double> per_call(const std::vector<std::uint64_t>& ticks, std::uint32_t calls) {
  std::vector<double> values(ticks.size());
  std::transform(ticks.begin(), ticks.end(), values.begin(),
                 [&](std::uint64_t t) { return static_cast<double>(t) / calls; });
  return values;
}

double min_of(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

std::vector<double> sorted_samples(const Cell& cell) {
  std::vector<double> all;
  for (const auto& chunk : cell.chunks()) {
    const auto values = per_call(chunk.slowest, chunk.calls);
    all.insert(all.end(), values.begin(), values.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

using Chunks = std::vector<const Chunk*>;

// As the value is made of the slowest ranks; so what is smaller in each sample stays smaller.
double median_of_medians(const Chunks& chunks, std::vector<std::uint64_t> Chunk::* which) {
  std::vector<double> medians;
  for (const Chunk* chunk : chunks) {
    medians.push_back(median(per_call(chunk->*which, chunk->calls)));
  }
  return median(std::move(medians));
}

double mean_of(const std::vector<Chunk>& chunks, std::vector<std::uint64_t> Chunk::* which) {
  double sum = 0, samples = 0;
  for (const Chunk& chunk : chunks) {
    const auto each = per_call(chunk.*which, chunk.calls);
    sum = std::accumulate(each.begin(), each.end(), sum);
    samples += static_cast<double>(each.size());
  }
  return sum / samples;
}

bool drifts(const std::vector<double>& medians) {
  const std::size_t third = medians.size() / 3;
  if (third < 4) return false;
  const std::vector<double> early(medians.begin(), medians.begin() + static_cast<long>(third));
  const std::vector<double> late(medians.end() - static_cast<long>(third), medians.end());
  return std::fabs(median(late) / median(early) - 1) > 0.02 && rank_test(early, late) < 0.01;
}

// Of four fifths of the values.
double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.9) - quantile(values, 0.1);
}

bool in_two_groups(const std::vector<double>& values, double least_gap = 0) {
  const double gap = largest_gap(values, 0.15) * median(values);
  return gap > least_gap && gap > 0.5 * spread(values);
}

bool spreads(const std::vector<double>& values) {
  return values.size() >= 8 && spread(values) >= 0.1 * median(values);
}

// Of all that was measured: two speeds of which one is left out are two speeds. Where a visit has
// calls of both, only its samples show them; there the steps of a coarse clock are not groups.
bool bimodal(const Cell& cell, double step) {
  const auto& medians = cell.medians_of_all();
  if (spreads(medians) && (in_two_groups(medians) || lag_one(medians) > 0.5)) return true;
  const auto samples = sorted_samples(cell);
  const double least_gap = 3 * step / cell.chunks().front().calls;
  return spreads(samples) && in_two_groups(samples, least_gap);
}

// Median of a part in one chunk, in ticks per call; NaN where it was not timed.
double part_of(const Chunk& chunk, Part part) {
  const auto& ticks = chunk.parts.at(static_cast<std::size_t>(part));
  return ticks.empty() ? std::nan("") : median(per_call(ticks, chunk.calls));
}

std::vector<double> without_nan(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  return values;
}

// Each visit has its own share: what disturbs a machine for a while is in all parts of a visit.
void add_parts(Summary& s, const Chunks& kept, double tick, bool of_shorter) {
  std::vector<double> plain, with_progress;
  std::array<std::vector<double>, part_count> parts;
  for (const Chunk* chunk : kept) {
    const double pure = part_of(*chunk, Part::pure);
    const double cpu = part_of(*chunk, Part::cpu);
    const double both = median(per_call(chunk->slowest, chunk->calls));
    plain.push_back(overlap(pure, cpu, both, of_shorter));
    with_progress.push_back(overlap(pure, cpu, part_of(*chunk, Part::progress), of_shorter));
    for (std::size_t i = 0; i < part_count; ++i) {
      parts[i].push_back(part_of(*chunk, static_cast<Part>(i)));
    }
  }
  for (std::size_t i = 0; i < part_count; ++i) {
    s.*time_of_part[i] = median(without_nan(parts[i])) * tick;
  }
  const auto shares = without_nan(plain);
  s.overlap_ratio = median(shares);
  if (shares.size() >= least_for_interval()) {
    const Interval interval = median_interval(shares);
    s.overlap_low_ratio = interval.low;
    s.overlap_high_ratio = interval.high;
  }
  s.overlap_progress_ratio = median(without_nan(with_progress));
}

}  // namespace

std::string_view word(Stop stop) {
  switch (stop) {
    case Stop::precise: return "precise";
    case Stop::budget: return "budget";
    case Stop::interrupted: return "interrupted";
    case Stop::running:
    case Stop::time: break;
  }
  return "time";
}

double Estimate::error() const {
  if (!has_interval || !(value > 0)) return std::numeric_limits<double>::infinity();
  return std::max(interval.high - value, value - interval.low) / value;
}

void Cell::add(Chunk chunk) {
  medians_.push_back(median(per_call(chunk.slowest, chunk.calls)));
  clean_ += chunk.taint == 0 ? 1U : 0U;
  chunks_.push_back(std::move(chunk));
}

void Cell::set_probe(Chunk chunk) {
  probe_ = std::move(chunk);
  probed_ = true;
}

void Cell::miss(Chunk chunk) {
  if (++missed_ <= most_missed) missed_chunks_.push_back(std::move(chunk));
}

Cell Cell::with_missed() const {
  Cell all = *this;
  all.missed_chunks_.clear();
  if (rounds() >= least_for_interval()) return all;
  for (const Chunk& chunk : missed_chunks_) all.add(chunk);
  return all;
}

bool Cell::use_clean() const {
  return clean_ >= least_for_interval() &&
         static_cast<double>(clean_) >= least_clean_share * static_cast<double>(chunks_.size());
}

std::vector<const Chunk*> Cell::kept() const {
  std::vector<const Chunk*> kept;
  for (const Chunk& chunk : chunks_) {
    if (chunk.taint == 0 || !use_clean()) kept.push_back(&chunk);
  }
  return kept;
}

std::vector<double> Cell::medians() const {
  if (!use_clean()) return medians_;
  std::vector<double> clean;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].taint == 0) clean.push_back(medians_[i]);
  }
  return clean;
}

Estimate Cell::estimate() const {
  const auto values = medians();
  if (values.empty() && probed_) {
    const double only = median(per_call(probe_.slowest, probe_.calls));
    return {only, {only, only}, false};
  }
  Interval interval = median_interval(values);
  const double half_step = chunks_.empty() ? 0.0 : resolution_ / chunks_.front().calls / 2;
  interval.low -= half_step;
  interval.high += half_step;
  return {median(values), interval, values.size() >= least_for_interval()};
}

double Cell::warm_call() const {
  if (!chunks_.empty()) return estimate().value;
  return probed_ ? min_of(per_call(probe_.slowest, probe_.calls)) : 0.0;
}

std::size_t Cell::samples() const {
  std::size_t all = 0;
  for (const auto& chunk : chunks_) all += chunk.slowest.size();
  return all;
}

double Cell::tainted_ratio() const {
  if (chunks_.empty()) return 0.0;
  return 1 - static_cast<double>(clean_) / static_cast<double>(chunks_.size());
}

double longest_calm_s(const Rules& rules) {
  return rules.detours.undisturbed_s(calm_share, rules.cores);
}

double shortest_sample(const Rules& rules) {
  const double step = rules.clock_step_ticks;
  const double for_step = std::clamp(longest_calm_s(rules) * rules.hz, least_of_clock_steps * step,
                                     batch_of_clock_steps * step);
  return std::max(batch_of_clock_readings * rules.clock_cost_ticks, for_step);
}

Sampling::Sampling(const Rules& rules, std::vector<Goal> goals, double now_s)
    : rules_(rules),
      goals_(std::move(goals)),
      cells_(goals_.size(), Cell(rules.clock_step_ticks)),
      given_up_(goals_.size(), 0),
      left_out_(goals_.size(), 0),
      start_s_(now_s),
      random_(rules.seed) {}

double Sampling::target() const { return std::max(rules_.precision / 2, 0.02); }

bool Sampling::out_of_time(double now_s) const {
  if (rules_.at_least_one && is_empty_) return false;
  return rules_.seconds > 0 && now_s - start_s_ >= rules_.seconds;
}

Stop Sampling::judge(std::size_t i) const {
  if (given_up_[i] != 0) return Stop::budget;
  const Cell& cell = cells_[i];
  if (cell.missed() >= most_missed && cell.missed() > cell.rounds()) return Stop::budget;
  if (rules_.use_all) return Stop::running;
  const Stop going_on = has_time_for_a_visit(i) ? Stop::running : Stop::budget;
  if (cell.rounds() < rules_.least_rounds) return going_on;
  const Estimate estimate = cell.estimate();
  if (estimate.error() <= target()) return Stop::precise;
  // IMB runs a row once to calibrate, a tenth to warm up, and once to measure.
  double budget = 2.1 * goals_[i].calls_of_imb * (estimate.value + goals_[i].wait_ticks);
  if (goals_[i].most_s > 0) budget = std::min(budget, goals_[i].most_s * rules_.hz);
  return cell.spent() >= budget ? Stop::budget : going_on;
}

// Always of a cell of which nothing is known. What a visit costs is reckoned only where a fair part
// of the time is over, which is seldom.
bool Sampling::has_time_for_a_visit(std::size_t i) const {
  const Cell& cell = cells_[i];
  const double most = rules_.cell_seconds * rules_.hz;
  if (most <= 0 || cell.empty() || cell.taken() < most / 16) return true;
  const Visit visit = shape(i);
  const double waits = visit.samples * goals_[i].wait_ticks;
  return cell.taken() + cost_s(visit) * rules_.hz + waits <= most;
}

bool Sampling::is_too_long(const Visit& first, double call_s, double now_s) const {
  const double calls = first.warm + static_cast<double>(first.calls) * first.samples;
  if (calls <= 1) return false;
  if (!has_time_for(calls * call_s, now_s)) return true;
  return rules_.cell_seconds > 0 && calls * call_s > rules_.cell_seconds;
}

bool Sampling::has_time_for(double seconds, double now_s) const {
  return rules_.seconds <= 0 || now_s - start_s_ + seconds <= rules_.seconds;
}

// Of a cell that was not visited yet, no more is known than that others took so long at least. A
// visit takes what is around its calls, too: as long as the last, but for its fewer calls.
double Sampling::expected_s(const Visit& visit) const {
  const Cell& cell = cells_[visit.cell];
  if (cell.empty()) return shortest_first_call_s_;
  const double calls = static_cast<double>(visit.calls) * visit.samples;
  const double share = std::min(calls / cell.last().calls, 1.0);
  return std::max(cost_s(visit), share * cell.last().seconds);
}

bool Sampling::has_time_for_one(double call_s, double now_s) const {
  const double late_s = std::max(late_share * rules_.seconds, late_s_of_any);
  return is_empty_ || has_time_for(call_s - late_s, now_s);
}

bool Sampling::is_in_time(const Visit& visit, double now_s) const {
  if (rules_.at_least_one && is_empty_) return true;
  return has_time_for(expected_s(visit), now_s);
}

void Sampling::note_first_call(double seconds) {
  const bool first = shortest_first_call_s_ <= 0;
  shortest_first_call_s_ = first ? seconds : std::min(shortest_first_call_s_, seconds);
}

void Sampling::shorten(std::size_t cell, double call_s) {
  std::uint32_t& calls = goals_[cell].calls;
  if (calls == 0) return;
  const double fit = rules_.cell_seconds / (2.0 * rules_.least_rounds * call_s);
  calls = static_cast<std::uint32_t>(std::clamp(fit, 1.0, static_cast<double>(calls)));
}

Stop Sampling::stopped(std::size_t cell) const {
  const Stop judged = judge(cell);
  if (judged != Stop::running) return judged;
  const bool precise = cells_[cell].estimate().error() <= target();
  if (precise) return Stop::precise;
  return interrupted_ ? Stop::interrupted : Stop::time;
}

std::vector<std::uint8_t> Sampling::unfinished() const {
  std::vector<std::uint8_t> left;
  left.reserve(cells_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) left.push_back(judge(i) == Stop::running ? 1 : 0);
  return left;
}

Visit Sampling::shape(std::size_t i) const {
  Visit visit{.cell = static_cast<std::uint32_t>(i)};
  if (round_ == 0) {
    const bool large = goals_[i].calls_of_imb < calls_of_imb(0);
    visit.warm = large ? 0 : 1;
    visit.samples = large ? 1 : 3;
    if (goals_[i].calls > 0) visit.calls = goals_[i].calls;
    return visit;
  }
  const double call = std::max(1.0, cells_[i].warm_call());  // 1 where it is not known
  const double least = shortest_sample(rules_);
  if (goals_[i].calls > 0) {
    visit.calls = goals_[i].calls;
  } else if (goals_[i].batched) {
    // Settled once, so that all samples of a cell are alike.
    const auto& chunks = cells_[i].chunks();
    visit.calls = chunks.empty()
                      ? static_cast<std::uint32_t>(std::ceil(std::max(1.0, least / call)))
                      : chunks.front().calls;
    if (goals_[i].most_calls > 0) visit.calls = std::min(visit.calls, goals_[i].most_calls);
  }
  const double sample_s = call * visit.calls / rules_.hz;
  const auto* chosen = std::begin(chunk_shapes);
  while (sample_s >= chosen->below_s) ++chosen;
  visit.warm = goals_[i].connects && sample_s >= cold_s ? 0 : chosen->warm;
  visit.samples = chosen->samples;
  return visit;
}

double Sampling::cost_s(const Visit& visit) const {
  const double calls = visit.warm + static_cast<double>(visit.calls) * visit.samples;
  return std::max(0.0, cells_[visit.cell].estimate().value) * calls / rules_.hz;
}

// Unfinished cells; when all of the time is to be used, the wider half of them once every cell
// has an interval.
std::vector<std::size_t> Sampling::choose(const std::vector<std::uint8_t>& also_wanted,
                                          double now_s) const {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (left_out_[i] != 0 || !is_in_time(shape(i), now_s)) continue;
    if (judge(i) == Stop::running || (i < also_wanted.size() && also_wanted[i] != 0)) {
      chosen.push_back(i);
    }
  }
  if (!rules_.use_all || round_ <= rules_.least_rounds || chosen.size() < 2) return chosen;
  const auto others = std::stable_partition(chosen.begin(), chosen.end(),
                                            [&](std::size_t i) { return goals_[i].every_round; });
  std::stable_sort(others, chosen.end(), [&](std::size_t a, std::size_t b) {
    return cells_[a].estimate().error() > cells_[b].estimate().error();
  });
  chosen.resize(chosen.size() - static_cast<std::size_t>(chosen.end() - others) / 2);
  return chosen;
}

// Where cells of one case stand in the round is by chance; who of them stands there is not.
void Sampling::balance(std::vector<std::size_t>& cells) const {
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const auto arms_of = goals_[cells[i]].arms_of; arms_of != 0) places[arms_of].push_back(i);
  }
  for (const auto& [arms_of, at] : places) {
    std::vector<std::size_t> arms;
    for (const std::size_t place : at) arms.push_back(cells[place]);
    std::sort(arms.begin(), arms.end());
    for (std::size_t turn = 0; turn < at.size(); ++turn) {
      cells[at[turn]] = arms[whose_turn(turn, round_ + arms_of, arms.size())];
    }
  }
}

Round Sampling::next(double now_s, const std::vector<std::uint8_t>& also_wanted) {
  const bool fresh = round_ > 1 && round_ % rules_.rounds_per_epoch == 1;
  Round round{.number = round_, .fresh_buffers = fresh, .visits = {}};
  timed_out_ = timed_out_ || out_of_time(now_s);
  if (interrupted_ || timed_out_) return round;
  auto cells = choose(also_wanted, now_s);
  std::shuffle(cells.begin(), cells.end(), random_);
  balance(cells);
  double since_asked = ask_every_s;
  for (const std::size_t cell : cells) {
    Visit visit = shape(cell);
    // At first nothing is known of any.
    const double at_first_s = rules_.seconds > 0 ? ask_every_s : ask_every_s / 2;
    since_asked += round_ == 0 ? at_first_s : expected_s(visit);
    if (since_asked >= ask_every_s) {
      visit.ask = 1;
      since_asked = 0;
    }
    round.visits.push_back(visit);
  }
  ++round_;
  return round;
}

void Sampling::add(std::size_t cell, Chunk chunk, double seconds) {
  is_empty_ = false;
  cells_[cell].take(seconds * rules_.hz);
  const double calls = static_cast<double>(chunk.calls) * static_cast<double>(chunk.slowest.size());
  cells_[cell].set_last({seconds, std::max(calls, 1.0)});
  if (chunk.round == 0) return cells_[cell].set_probe(std::move(chunk));
  if ((chunk.taint & platform::Taint::missed) != 0) return cells_[cell].miss(std::move(chunk));
  cells_[cell].add(std::move(chunk));
  cells_[cell].spend(seconds * rules_.hz);
}

Summary summarise(const Cell& measured, const Rules& rules, Stop stop, double target,
                  bool of_shorter) {
  Cell cell = measured.with_missed();
  if (cell.chunks().empty() && !cell.empty()) cell.add(cell.probe());
  Summary s;
  const double tick = 1 / rules.hz;
  const auto all = sorted_samples(cell);
  s.samples = all.size();
  s.chunks = cell.chunks().size();
  if (all.empty()) return s;
  s.calls = cell.chunks().front().calls;
  const Estimate estimate = cell.estimate();
  s.time_p50_s = estimate.value * tick;
  if (estimate.has_interval) {
    s.ci_low_s = estimate.interval.low * tick;
    s.ci_high_s = estimate.interval.high * tick;
  }
  const auto kept = cell.kept();
  s.time_min_s = median_of_medians(kept, &Chunk::fastest) * tick;
  s.time_avg_s = median_of_medians(kept, &Chunk::mean) * tick;
  s.time_max_s = s.time_p50_s;
  if (!kept.front()->own.empty()) {
    s.time_own_s = median_of_medians(kept, &Chunk::own) * tick;
    s.time_own_mean_s = mean_of(cell.chunks(), &Chunk::own) * tick;
  }
  s.time_mean_s =
      std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()) * tick;
  for (const auto& [time, share] : column::quantiles) s.*time = quantile(all, share) * tick;
  std::vector<double> firsts;
  for (const Chunk* chunk : kept) firsts.push_back(static_cast<double>(chunk->first));
  s.time_first_s = median(firsts) * tick;
  s.tainted_ratio = cell.tainted_ratio();
  s.missed = std::any_of(kept.begin(), kept.end(), [](const Chunk* chunk) {
    return (chunk->taint & platform::Taint::missed) != 0;
  });
  add_parts(s, kept, tick, of_shorter);

  const auto medians = cell.medians();
  if (s.tainted_ratio > tainted_share_to_flag) s.flags.emplace_back("tainted");
  if (drifts(medians)) s.flags.emplace_back("drift");
  if (bimodal(cell, rules.clock_step_ticks)) s.flags.emplace_back("bimodal");
  if (stop != Stop::precise && estimate.error() > target) s.flags.emplace_back("unconverged");
  if (estimate.error() > target && spread_by_detours(cell, rules, target))
    s.flags.emplace_back("detours");
  // Short of half a microsecond it is the code that was cold, not the data.
  if (s.chunks >= 4 && s.time_first_s > 3 * s.time_p50_s && s.time_first_s - s.time_p50_s > 0.5e-6)
    s.flags.emplace_back("cold-sensitive");
  if (estimate.value * s.calls < 5 * rules.clock_cost_ticks) s.flags.emplace_back("clock");
  return s;
}

double calls_of_imb(double bytes) {
  constexpr double most = 1000, in_all = 40.0 * 1024 * 1024;
  return bytes > 0 ? std::clamp(std::floor(in_all / bytes), 1.0, most) : most;
}

}  // namespace mpigauge
