// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Sections: the heading of a table, its head, its rows, and what is said where there is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/classic.hpp"
#include "imb/text.hpp"

namespace mpigauge::imb {

/// Which processes make the rows of a table.
struct Place {
  int ranks = 1;        ///< of a group
  int groups = 1;       ///< side by side
  int world_ranks = 1;  ///< of the whole job
  Multi multi = Multi::off;
  Grid grid;
  [[nodiscard]] int idle() const { return world_ranks - ranks * groups; }
  [[nodiscard]] bool has_group_column() const { return multi == Multi::apart; }
};

/// World ranks in the order in which groups are made of them.
std::vector<int> order_of(const Place& place);

/// How many processes take no part; empty: none.
std::string idle_text(const Place& place);

/// Words of a table's head.
std::vector<std::string_view> heads_of(const Card& card, const Place& place);
/// From the blank line before the section to its head.
std::string heading(const Case& row, const Place& place, bool names_directory);
/// A row; `group` is shown where there is a column for it.
std::string row_text(const Job& job, const ClassicRow& row, const Place& place, int group);
/// Instead of a row.
std::string note(const Case& row, const Refusal& why);
/// Instead of a section.
std::string invalid(const Card& card, int ranks, const Refusal& why);

/// Writes rows as they come, from rank 0 of the world.
class TextSink : public RowSink {
 public:
  TextSink(Session& session, const Place& place) : session_(session), place_(place) {}
  void row(const Job& job, const ClassicRow& mine, const std::vector<ClassicRow>& all) override;
  void refused(const Job& job, const Refusal& why) override;

 private:
  Session& session_;
  Place place_;
};

/// Hands everything to two sinks.
class BothSinks : public RowSink {
 public:
  BothSinks(RowSink& first, RowSink& second) : first_(first), second_(second) {}
  void row(const Job& job, const ClassicRow& mine, const std::vector<ClassicRow>& all) override;
  void refused(const Job& job, const Refusal& why) override;

 private:
  RowSink& first_;
  RowSink& second_;
};

}  // namespace mpigauge::imb
