// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/ours.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace mpigauge::imb {

namespace {

ClassicRow row_of(const Measured& measured) {
  const Summary& s = measured.summary;
  ClassicRow row{.calls = static_cast<std::int64_t>(s.samples) * s.calls,
                 .least = std::min(s.rank_min, s.p50),
                 .most = s.p50,
                 .mean = s.rank_avg,
                 .slowest = s.p50,
                 .wrong = measured.wrong,
                 .remarks = measured.remarks};
  for (std::size_t p = 0; p < part_count; ++p) {
    row.parts[p] = std::isnan(s.parts.at(p)) ? 0.0 : s.parts.at(p);
  }
  return row;
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
  }
}

}  // namespace mpigauge::imb
