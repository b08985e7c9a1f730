// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/tables.hpp"

#include <cmath>
#include <cstdio>

namespace mpigauge::imb {

namespace {

constexpr int ranks_in_line = 16;
constexpr int most_listed = 1024;
constexpr double per_microsecond = 1e6;
constexpr double bytes_per_megabyte = 1e6;

bool is_sized(const Card& card) { return card.unit != Unit::none; }

// One message between two processes, of which -multi 0 shows more than the slower one.
bool spreads(const Card& card, const Place& place) {
  const bool of_few = card.ranks == Ranks::pair || card.ranks == Ranks::one;
  return card.columns == Columns::single && of_few && place.multi == Multi::together;
}

std::vector<std::string_view> times_of(const Card& card, const Place& place) {
  switch (card.columns) {
    case Columns::single:
      if (!spreads(card, place)) return {"t[usec]", "Mbytes/sec"};
      [[fallthrough]];
    case Columns::parallel: return {"t_min[usec]", "t_max[usec]", "t_avg[usec]", "Mbytes/sec"};
    case Columns::band: return {"Mbytes/sec", "Msg/sec"};
    case Columns::timed_band: return {"t_avg[usec]", "Mbytes/sec", "Msg/sec"};
    case Columns::rate: return {"t[usec]", "Mbytes/sec", "Msg/sec"};
    case Columns::overlap: return {"t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"};
    case Columns::passive: return {"t_pure[usec]", "t_ovrl[usec]"};
    case Columns::collective:
    case Columns::barrier: break;
  }
  return {"t_min[usec]", "t_max[usec]", "t_avg[usec]"};
}

// Ranks of a list, 16 in a line, the rest behind a new comment sign.
std::string listed(const int* ranks, int count, int in_line) {
  std::string text;
  char field[16];
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % in_line == 0) text += "\n#";
    const bool first = i % in_line == 0;
    std::snprintf(field, sizeof field, first ? "%6d" : "%5d", ranks[i]);
    text += field;
  }
  return text;
}

std::string groups_text(const Place& place) {
  const auto order = order_of(place);
  std::string text = "# ( " + std::to_string(place.groups) + " groups of " +
                     std::to_string(place.ranks) + " processes each running simultaneous ) \n";
  int shown = 0;
  for (int g = 0; g < place.groups; ++g) {
    char head[32];
    std::snprintf(head, sizeof head, "# Group %2d:", g);
    const int count = std::min(place.ranks, most_listed - shown);
    text +=
        head + listed(&order[static_cast<std::size_t>(g) * static_cast<std::size_t>(place.ranks)],
                      count, ranks_in_line);
    shown += count;
    if (shown == most_listed && count < place.ranks) return text + " ...\n# \n";
    text += "\n# \n";
    if (shown == most_listed && g + 1 < place.groups) return text + "# ...\n# \n";
  }
  return text;
}

std::string matrix_text(const Place& place) {
  const auto order = order_of(place);
  std::string text = "# #processes = " + std::to_string(place.ranks) + "; rank order (rowwise): \n";
  for (int first = 0; first < place.ranks; first += place.grid.columns) {
    const int count = std::min(place.grid.columns, place.ranks - first);
    text += '#' + listed(&order[static_cast<std::size_t>(first)], count, count) + "\n# \n";
  }
  return text;
}

std::string processes_text(const Place& place) {
  if (place.groups > 1) return groups_text(place);
  if (place.grid.rows > 1 && place.grid.columns > 1) return matrix_text(place);
  return "# #processes = " + std::to_string(place.ranks) + " \n";
}

std::string mode_text(const Case& row, bool names_directory) {
  std::string text;
  // What completes at the end only has no modes to tell apart, but IMB names it on files.
  const bool has_modes = completions_of(row.card->modes).size() > 1 || is_on_files(*row.card);
  if (row.completion != Completion::none && has_modes) {
    text += std::string("#    MODE: ") +
            (row.completion == Completion::end ? "AGGREGATE" : "NON-AGGREGATE") + " \n";
  }
  if (names_directory) text += "#    DIRECTORY: " + std::string(row.directory) + " \n";
  return text.empty() ? "" : "#\n" + text + "#\n";
}

// What there is `amount` of in one printed time, in a second.
double in_a_second(double amount, double time_s) {
  if (amount <= 0) return 0.0;
  return amount / time_s;
}

}  // namespace

std::string idle_text(const Place& place) {
  if (place.idle() < 1) return "";
  return "# ( " + std::to_string(place.idle()) + " additional process" +
         (place.idle() == 1 ? "" : "es") + " waiting in MPI_Barrier)\n";
}

std::vector<int> order_of(const Place& place) {
  std::vector<int> order(static_cast<std::size_t>(place.world_ranks));
  for (int rank = 0; rank < place.world_ranks; ++rank) {
    order.at(static_cast<std::size_t>(position(rank, place.grid))) = rank;
  }
  return order;
}

std::vector<std::string_view> heads_of(const Card& card, const Place& place) {
  std::vector<std::string_view> heads;
  if (place.has_group_column()) heads.emplace_back("Group");
  if (is_sized(card)) heads.emplace_back("#bytes");
  heads.emplace_back("#repetitions");
  for (const auto time : times_of(card, place)) heads.push_back(time);
  return heads;
}

std::string heading(const Case& row, const Place& place, bool names_directory) {
  const auto heads = heads_of(*row.card, place);
  const std::string line = rule(heads.size());
  std::string text = '\n' + line + "# Benchmarking " + (place.groups > 1 ? "Multi-" : "");
  text += std::string(row.card->name) + " \n" + processes_text(place) + idle_text(place) + line;
  return text + mode_text(row, names_directory) + head(heads);
}

std::string row_text(const Job& job, const ClassicRow& row, const Place& place, int group) {
  const Card& card = *job.row.card;
  const double scale = time_scale(card);
  const auto usec = [scale](double seconds) { return seconds * scale * per_microsecond; };
  const double slowest_s = row.most * scale;
  const double megabytes = in_a_second(card.moved(job.row.shape), slowest_s) / bytes_per_megabyte;
  const double rate = in_a_second(card.messages(job.row.shape), slowest_s);
  const double pure = row.parts[static_cast<std::size_t>(Part::pure)];
  const double cpu = row.parts[static_cast<std::size_t>(Part::cpu)];
  const double hidden = overlap_of(row, card.of_shorter);
  Line line;
  if (place.has_group_column()) line.count(group);
  if (is_sized(card)) line.count(static_cast<std::int64_t>(job.row.shape.bytes));
  line.count(row.calls);
  const auto spread = [&] {
    line.value(usec(row.least)).value(usec(row.most)).value(usec(row.mean));
  };
  switch (card.columns) {
    case Columns::single:
      if (spreads(card, place)) spread();
      else line.value(usec(row.most));
      line.value(megabytes);
      break;
    case Columns::parallel:
      spread();
      line.value(megabytes);
      break;
    case Columns::collective:
    case Columns::barrier: spread(); break;
    case Columns::band: line.value(megabytes).rate(rate); break;
    case Columns::timed_band: line.value(usec(row.mean)).value(megabytes).rate(rate); break;
    case Columns::rate: line.value(usec(row.most)).value(megabytes).rate(rate); break;
    case Columns::overlap:
      line.value(usec(row.slowest)).value(usec(pure)).value(usec(cpu));
      line.value(std::isnan(hidden) ? 0.0 : 100 * hidden);
      break;
    case Columns::passive: line.value(usec(pure)).value(usec(row.slowest)); break;
  }
  return line.text();
}

std::string note(const Case& row, const Refusal& why) {
  Line size;
  size.count(static_cast<std::int64_t>(row.shape.bytes));
  std::string text = size.text();
  text.pop_back();
  char needed[64];
  // A little more, so that who gives it as it is printed has enough.
  std::snprintf(needed, sizeof needed, "%8.3f", why.needed_bytes / (1U << 30U) + 0.001);
  switch (why.limit) {
    case Limit::memory:
      return text + " out-of-mem.; needed X=" + needed + " GB; allow it with the flag \"-mem X\"\n";
    case Limit::overflow: return text + " int-overflow; " + why.reason + '\n';
    case Limit::time:
      return text + " time-out.; the table took longer than its rows may; use \"-time X\"\n";
    case Limit::ranks:
    case Limit::call: break;
  }
  return text + " not-run; " + why.reason + '\n';
}

std::string invalid(const Card& card, int ranks, const Refusal& why) {
  std::string text = "\n# !! Benchmark " + std::string(card.name);
  if (why.limit == Limit::ranks) {
    text += " invalid for " + std::to_string(ranks) + " processes";
  } else {
    text += " not run: " + why.reason;
  }
  return text + " !! \n\n";
}

void TextSink::row(const Job& job, const ClassicRow& /*mine*/, const std::vector<ClassicRow>& all) {
  if (session_.rank != 0) return;
  std::string text = place_.has_group_column() ? "\n" : "";
  for (std::size_t group = 0; group < all.size(); ++group) {
    text += row_text(job, all[group], place_, static_cast<int>(group));
  }
  say(text);
}

void TextSink::refused(const Job& job, const Refusal& why) {
  if (session_.rank == 0) say(note(job.row, why));
}

void BothSinks::row(const Job& job, const ClassicRow& mine, const std::vector<ClassicRow>& all) {
  first_.row(job, mine, all);
  second_.row(job, mine, all);
}

void BothSinks::refused(const Job& job, const Refusal& why) {
  first_.refused(job, why);
  second_.refused(job, why);
}

}  // namespace mpigauge::imb
