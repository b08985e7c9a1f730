// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

#include <array>
#include <numeric>

#include "core/groups.hpp"

namespace mpigauge {

namespace {

constexpr std::string_view blocking_suite = "MPI1";

// IMB has a suite for each form; what IMB has not stays in the suite of its description.
std::string_view suite_of(const Card& card, std::string_view form) {
  return card.suite == blocking_suite ? form : card.suite;
}

// A barrier has no size, and IMB times barriers that follow each other.
Card with_columns(Card card, Columns columns) {
  const bool sized = card.unit != Unit::none;
  card.meet = sized ? Meet::each : Meet::never;
  card.columns = sized || columns != Columns::collective ? columns : Columns::barrier;
  return card;
}

Card newer_card(const Card& card, std::string_view suite, std::string name, std::string about,
                int place, Columns columns) {
  Card made =
      variant_of(with_columns(card, columns), keep(std::move(name)), keep(std::move(about)), place);
  made.suite = suite_of(card, suite);
  made.large_counts = false;
  if (columns == Columns::overlap) made.options.add(SuiteOption::test_every);
  return made;
}

Card immediate_form(const Card& card, std::string_view end, std::string_view about, int place,
                    Columns columns) {
  const auto function = immediate_call(card.name);
  Card made = newer_card(card, "NBC", immediate_name(card.name) + std::string(end),
                         std::string(function) + std::string(about), place, columns);
  made.needs = {function};
  return made;
}

Card persistent_form(const Card& card, std::string_view end, std::string_view about, int place,
                     Columns columns) {
  const auto function = init_call(card.name);
  Card made = newer_card(card, "MPI4", std::string(card.name) + "_persist" + std::string(end),
                         std::string(function) + std::string(about), place, columns);
  made.needs = {function};
  return made;
}

MPI_Comm grid_of(MPI_Comm comm) {
  const auto sides = factors(size_of(comm), 2);
  const std::array<int, 2> around{1, 1};
  MPI_Comm grid = MPI_COMM_NULL;
  call(MPI_Cart_create(comm, 2, sides.data(), around.data(), 0, &grid));
  return grid;
}

// Memory that grows with the ranks, so only where the call itself asks for it.
std::size_t parts_of(const Run& run, const OtherForms& forms) {
  if (!forms.counts_per_rank) return 0;
  return static_cast<std::size_t>(forms.partners == Partners::grid ? grid_neighbours : run.ranks());
}

std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  return places;
}

}  // namespace

Card blocking_card(Card card, bool in_every_library) {
  if (!in_every_library) card.needs = {blocking_call(card.name)};
  const bool laid_out = card.suite == blocking_suite && card.unit != Unit::none;
  if (laid_out) card.options.add(SuiteOption::layout);
  card.options.add(SuiteOption::arrival);
  return with_columns(card, Columns::collective);
}

Card immediate_card(const Card& card, const OtherForms& forms) {
  Card made = immediate_form(card, "",
                             ", then a computation as long as that alone, then MPI_Wait: how much "
                             "of it is hidden.",
                             forms.place, Columns::overlap);
  made.by_default = card.by_default && forms.immediate_by_default;
  return made;
}

Card immediate_pure_card(const Card& card, const OtherForms& forms) {
  return immediate_form(card, "_pure", " and MPI_Wait, nothing between them.", forms.place + 1,
                        Columns::collective);
}

Card persistent_card(const Card& card, const OtherForms& forms) {
  Card made = persistent_form(
      card, "",
      has_root(card)
          ? " beforehand for each root; MPI_Start, a computation, MPI_Wait: how much of it "
            "is hidden."
          : " beforehand; MPI_Start, a computation, MPI_Wait: how much of it is hidden.",
      forms.place, Columns::overlap);
  made.by_default = card.by_default && forms.persistent_by_default;
  return made;
}

Card persistent_pure_card(const Card& card, const OtherForms& forms) {
  return persistent_form(card, "_pure", " beforehand; MPI_Start and MPI_Wait.", forms.place + 1,
                         Columns::collective);
}

Card persistent_init_card(const Card& card, const OtherForms& forms) {
  Card made = persistent_form(
      card, "_init", " and MPI_Request_free: what a persistent request costs before it is used.",
      forms.place + 2, Columns::collective);
  made.keeps_data = "it sends no data";
  return made;
}

// IMB lets the threads meet before each call, barriers too.
Card threaded_card(const Card& card, const OnThreads& form) {
  Card made = card;
  made.suite = "MT";
  made.name = form.name;
  made.about = keep("Each thread of a rank by itself, all at once. " + std::string(card.about));
  made.place = form.place;
  made.meet = Meet::each;
  made.columns = card.unit == Unit::none ? Columns::barrier : Columns::collective;
  made.options = {SuiteOption::threads, SuiteOption::thread_memory};
  if (has_root(card)) made.options.add(SuiteOption::root);
  made.large_counts = false;
  return made;
}

Prepared::Prepared(Run& run, const Card& card, const OtherForms& forms)
    : grid_(forms.partners == Partners::grid ? grid_of(run.comm()) : MPI_COMM_NULL),
      counts_(parts_of(run, forms), static_cast<int>(run.count())),
      places_(places_of(counts_)),
      in_(run.recv_block()),
      arranged_(run.send_block(), in_,
                {.count = static_cast<int>(run.count()),
                 .type = run.type(),
                 .op = card.unit == Unit::reduction ? run.op() : MPI_Op(MPI_OP_NULL),
                 .rank = run.rank(),
                 .comm = grid_ != MPI_COMM_NULL ? grid_ : run.comm(),
                 .counts = counts_.data(),
                 .places = places_.data(),
                 .large_count = static_cast<MPI_Count>(run.count())}) {}

Prepared::~Prepared() {
  if (grid_ != MPI_COMM_NULL) MPI_Comm_free(&grid_);
}

Requests::~Requests() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

template void measure_overlap(Run&, Requests::Starter);
template void measure_pure(Run&, Requests::Starter);

}  // namespace mpigauge
