// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Writes cards.json: what there is to run, for everything that must not need an MPI to know. This
// program is linked to no MPI and calls none.

#include <cstdio>
#include <vector>

#include "core/card_options.hpp"
#include "core/registry.hpp"
#include "core/types.hpp"
#include "record/json.hpp"

namespace {

using namespace mpigauge;

std::string_view word(Ranks ranks) {
  switch (ranks) {
    case Ranks::one: return "one";
    case Ranks::pair: return "pair";
    case Ranks::pairs: return "pairs";
    case Ranks::several: return "several";
    case Ranks::plane: return "plane";
    case Ranks::volume: return "volume";
    case Ranks::any: break;
  }
  return "any";
}

std::string_view word(Unit unit) {
  switch (unit) {
    case Unit::transfer: return "transfer";
    case Unit::reduction: return "reduction";
    case Unit::none: break;
  }
  return "none";
}

std::string_view word(Columns columns) {
  switch (columns) {
    case Columns::single: return "single";
    case Columns::parallel: return "parallel";
    case Columns::collective: return "collective";
    case Columns::barrier: return "barrier";
    case Columns::timed_band: return "timed_band";
    case Columns::rate: return "rate";
    case Columns::overlap: return "overlap";
    case Columns::passive: return "passive";
    case Columns::band: break;
  }
  return "band";
}

std::vector<std::string_view> completions(const Card& card) {
  std::vector<std::string_view> words;
  for (const Completion completion : completions_of(card.modes)) words.push_back(word(completion));
  return words;
}

Object object_of(const Card& card) {
  std::vector<std::string_view> needs;
  for (const auto call : card.needs) {
    if (!call.empty()) needs.push_back(call);
  }
  Object object;
  object.add("suite", card.suite)
      .add("name", card.name)
      .add("about", card.about)
      .add("ranks", word(card.ranks))
      .add("time", card.time == Time::call ? "call" : "half_round_trip")
      .add("unit", word(card.unit))
      .add("sync", card.meet == Meet::each ? "each" : "none")
      .add("rooted", has_root(card))
      .add("by_default", card.by_default)
      .add("columns", word(card.columns))
      .add("windowed", card.windowed)
      .add("why_static", why_static(card))
      .add("gpu", why_host(card))
      .add("completions", completions(card))
      .add("threaded", is_threaded(card))
      .add("on_files", is_on_files(card))
      .add("only_bytes", card.only_bytes)
      .add("buffers", has_buffers(card))
      .add("typed", is_typed(card))
      .add("large_counts", card.large_counts)
      .add("heeds", options_of(card))
      .add("needs", needs);
  return object;
}

template <class Table>
std::vector<std::string_view> names(const Table& rows) {
  std::vector<std::string_view> all;
  for (const auto& row : rows) all.push_back(row.name);
  return all;
}

Object sizes_of_types() {
  Object sizes;
  for (const auto& type : data_types()) sizes.add(type.name, type.bytes);
  return sizes;
}

Object types_of_ops() {
  Object table;
  for (const auto& op : ops()) {
    std::vector<std::string_view> types;
    for (const auto& type : data_types()) {
      if (has_op(type, op.name)) types.push_back(type.name);
    }
    table.add(op.name, types);
  }
  return table;
}

std::vector<std::string_view> reduction_types() {
  std::vector<std::string_view> types;
  for (const auto& type : data_types()) {
    if (!type.ops.empty()) types.push_back(type.name);
  }
  return types;
}

}  // namespace

int main() {
  std::vector<Object> cards;
  for (const auto& benchmark : benchmarks()) cards.push_back(object_of(benchmark.card));
  Object all;
  all.add("schema", 1)
      .add("benchmarks", cards)
      .add("datatypes", names(data_types()))
      .add("datatype_bytes", sizes_of_types())
      .add("reduction_datatypes", reduction_types())
      .add("ops", names(ops()))
      .add("op_types", types_of_ops());
  std::puts(all.text().c_str());
}
