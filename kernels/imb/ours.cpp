// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/ours.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "imb/text.hpp"

namespace mpigauge::imb {

namespace {

// Half of the interval, by the value.
double error_of(const Summary& s) {
  if (!(s.time_p50_s > 0)) return std::nan("");
  return (s.ci_high_s - s.ci_low_s) / 2 / s.time_p50_s;
}

ClassicRow row_of(const Measured& measured) {
  const Summary& s = measured.summary;
  ClassicRow row{.calls = static_cast<std::int64_t>(s.samples) * s.calls,
                 .least = std::min(s.time_min_s, s.time_p50_s),
                 .most = s.time_p50_s,
                 .mean = s.time_avg_s,
                 .slowest = s.time_p50_s,
                 .wrong = measured.wrong,
                 .remarks = measured.remarks,
                 .precise = measured.stop == word(Stop::precise),
                 .error = error_of(s)};
  for (std::size_t p = 0; p < part_count; ++p) {
    const double seconds = s.*time_of_part[p];
    row.parts[p] = std::isnan(seconds) ? 0.0 : seconds;
  }
  return row;
}

// A row is printed like all others where sampling ended before it was precise, so a comment behind
// the table names it; those who read tables skip comments.
std::string remark_of(const Job& job, const ClassicRow& row, std::size_t group, bool several) {
  std::string text = "# not precise: ";
  if (several) text += "group " + std::to_string(group) + ", ";
  if (job.row.card->unit != Unit::none) {
    text += std::to_string(job.row.shape.bytes) + " bytes, ";
  }
  text += std::to_string(row.calls) + " repetitions, ";
  if (std::isnan(row.error)) return text + "error not known\n";
  char error[32];
  std::snprintf(error, sizeof error, "+-%.2g %%", 100 * row.error);
  return text + error + '\n';
}

}  // namespace

void sample(Session& session, const Groups& groups, const std::vector<Job>& rows, double memory,
            const SampledSinks& sinks) {
  std::vector<Job> possible;
  for (const Job& job : rows) {
    if (!refusal_of(job.row, memory)) possible.push_back(job);
  }
  std::map<std::size_t, ClassicRow> known;
  session.on_cell = [&](const Job& job, const Measured& measured) {
    known[job.row.shape.bytes] = row_of(measured);
  };
  run_adaptive(session, groups, possible, 0);
  session.on_cell = nullptr;
  const Visitor visitor(session, groups);
  std::string remarks;
  for (const Job& job : rows) {
    if (const auto why = refusal_of(job.row, memory)) {
      sinks.text_and_records.refused(job, *why);
      continue;
    }
    const ClassicRow& mine = known[job.row.shape.bytes];
    const auto all = visitor.all_groups(mine);
    const bool none = std::none_of(all.begin(), all.end(), [](auto& row) { return row.calls > 0; });
    if (none) sinks.text.refused(job, {Limit::call, 0, "it cannot be run here"});
    else sinks.text.row(job, mine, all);
    for (std::size_t group = 0; group < all.size(); ++group) {
      const bool shown = all[group].calls > 0 && !all[group].precise;
      if (shown) remarks += remark_of(job, all[group], group, all.size() > 1);
    }
  }
  if (session.rank == 0) say(remarks);
}

}  // namespace mpigauge::imb
