// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What all of these programs have beside IMB's options: sampling until precise, and records.
#pragma once

#include <vector>

#include "driver/classic.hpp"
#include "imb/grammar.hpp"

namespace mpigauge::imb {

/// Where options start from: IMB's schedule, no records.
inline Options plain_options() {
  Options options;
  options.classic = true;
  options.records.clear();
  return options;
}

/// A program's options, and ours.
template <class Settings>
std::vector<OptionRow<Settings>> with_ours(std::vector<OptionRow<Settings>> table) {
  table.push_back({"-adaptive", "", "sample until precise instead of IMB's schedule",
                   [](Settings& s, const Value&) { s.options.classic = false; }});
  table.push_back({"-records", "FILE", "write records of mpigauge, too",
                   [](Settings& s, const Value& v) { s.options.records = v.text; }});
  return table;
}

/// Where rows of a table go that was sampled; sampling itself writes records of what it measured.
struct SampledSinks {
  RowSink& text;
  RowSink& text_and_records;
};

/// Samples the rows of a table, interleaved, and shows them together when the last is known: the
/// median of the slowest rank where IMB has its longest time. Rows that need more than so many
/// bytes of a rank are refused. All ranks of the groups.
void sample(Session& session, const Groups& groups, const std::vector<Job>& rows, double memory,
            const SampledSinks& sinks);

}  // namespace mpigauge::imb
