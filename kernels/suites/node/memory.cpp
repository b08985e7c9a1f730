// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How fast a rank, or all of them at once, goes over memory: each stream as compilers make the
// simple loop, which compares with STREAM, and tuned.
#include <cstring>

#include "suites/node/compiled.hpp"
#include "suites/node/tuning.hpp"

namespace mpigauge::node {
namespace {

constexpr std::array<std::size_t, 9> array_sizes{
    std::size_t{4} << 10U,   std::size_t{16} << 10U, std::size_t{64} << 10U,
    std::size_t{256} << 10U, std::size_t{1} << 20U,  std::size_t{4} << 20U,
    std::size_t{16} << 20U,  std::size_t{64} << 20U, std::size_t{256} << 20U};

constexpr int arrays_touched(Stream what) {
  switch (what) {
    case Stream::read:
    case Stream::write: return 1;
    case Stream::add:
    case Stream::triad: return 3;
    default: return 2;
  }
}

// As STREAM counts: what the program names, not what caches fetch before they are written to.
template <Stream what>
double counted(const Shape& s) {
  return arrays_touched(what) * (message(s) - static_cast<double>(s.bytes % sizeof(double))) *
         s.ranks;
}

std::string with(std::string way, const std::string& where) {
  if (!way.empty() && !where.empty()) way += "; ";
  return way + where;
}

template <Stream what>
std::string by_trial(const Shape& shape) {
  return with(found_for(what, shape), whereabouts(shape, Pages::huge));
}

std::string as_compiled(const Shape& shape) {
  const auto& file = shape.options->compiler;
  const auto by = file.empty() ? std::string(usual_vectors().name) : words_of_compiler(file);
  return with(by, whereabouts(shape, Pages::usual));
}

std::string as_it_likes(const Shape& shape) { return whereabouts(shape, Pages::usual); }

void go_over(Run& run, const Crew& crew, Stream what, const Arrays& arrays, Loop loop) {
  if (run.checking() || what == Stream::update) make_ready(what, arrays);
  Passes go(crew, what, arrays);
  double sum = 0;
  run.measure([&sum, &go, loop](Turn) { sum = go(loop); });
  run.expect(run.checking() ? wrong_numbers(what, arrays, sum) : 0);
}

template <Stream what>
void plain(Run& run) {
  const Crew crew(run);
  const auto& file = run.options().compiler;
  const Loop loop =
      file.empty() ? usual_vectors().plain.at(place_of(what)) : loop_of_compiler(run, file, what);
  go_over(run, crew, what, arrays_of(run, crew, Pages::usual), loop);
}

template <Stream what>
void tuned(Run& run) {
  const Crew crew(run);
  const Tuned& best = tuned_for(run, crew, what);
  go_over(run, crew, what, arrays_of(run, crew, Pages::huge, best.lines), best.loop(what));
}

template <Stream what>
constexpr Card card_of(std::string_view name, std::string_view about, int place, Choice choice) {
  return {
      .suite = "NODE",
      .name = name,
      .about = about,
      .place = place,
      .columns = Columns::parallel,
      .send = nothing,
      .recv = nothing,
      .moved = counted<what>,
      .options = {SuiteOption::threads, SuiteOption::thread_order, SuiteOption::memory_on},
      .may_refuse = true,
      .sizes = array_sizes,
      .choice = choice,
  };
}

template <Stream what>
constexpr Card plain_card(std::string_view name, std::string_view about, int place) {
  Card card = card_of<what>(name, about, place, as_compiled);
  card.options.add(SuiteOption::compiler);
  return card;
}

template <Stream what>
struct Both {
  Both(std::string_view name, std::string_view about, std::string_view tuned_name, int place)
      : simple(plain_card<what>(name, about, place), plain<what>),
        best(card_of<what>(tuned_name, "The same, by the fastest of our loops, found by a trial.",
                           place + 1, by_trial<what>),
             tuned<what>) {}
  Add simple, best;
};

const Both<Stream::read> read("Read", "Adds up the numbers of an array.", "Read_tuned", 10);
const Both<Stream::write> write("Write", "Fills an array with one number.", "Write_tuned", 20);
const Both<Stream::copy> copy("Copy", "x = y, number by number.", "Copy_tuned", 30);
const Both<Stream::scale> scale("Scale", "x = s y, with one factor for all.", "Scale_tuned", 50);
const Both<Stream::add> add("Add", "x = y + z, two arrays that are read.", "Add_tuned", 60);
const Both<Stream::triad> triad("Triad", "x = y + s z, a loop like STREAM's.", "Triad_tuned", 70);
const Both<Stream::update> update("Update", "x = s x, in place: nothing is fetched in vain.",
                                  "Update_tuned", 80);
const Both<Stream::dot> dot("Dot", "Adds up the products y z.", "Dot_tuned", 90);

// Called through a pointer, so that it is the library's and none of the compiler's.
double copy_of_library(double* x, const double* y, const double* /*z*/, std::size_t n,
                       double /*s*/) {
  static void* (*volatile const function)(void*, const void*, std::size_t) = std::memcpy;
  function(x, y, n * sizeof(double));
  return 0;
}

void library_copy(Run& run) {
  const Crew crew(run);
  go_over(run, crew, Stream::copy, arrays_of(run, crew, Pages::usual), copy_of_library);
}

const Add by_library(card_of<Stream::copy>("Memcpy",
                                           "x = y by the C library's memcpy, which chooses its way "
                                           "by what it takes for the cache's size.",
                                           40, as_it_likes),
                     library_copy);

}  // namespace
}  // namespace mpigauge::node
