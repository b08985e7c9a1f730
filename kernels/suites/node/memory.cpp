// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How fast a rank, or all of them at once, goes over memory: each stream as compilers make the
// simple loop, which compares with STREAM, and tuned.
#include <cstring>

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

template <Stream what>
std::string by_trial(const Shape& shape) {
  return found_for(what, shape);
}

std::string as_compiled(const Shape& /*any*/) { return std::string(usual_vectors().name); }

void go_over(Run& run, Stream what, const Arrays& arrays, Loop loop) {
  if (run.checking() || what == Stream::update) make_ready(what, arrays);
  double sum = 0;
  run.measure(
      [&sum, loop, a = arrays, s = factor_of(what)](Turn) { sum = loop(a.x, a.y, a.z, a.n, s); });
  run.expect(run.checking() ? wrong_numbers(what, arrays, sum) : 0);
}

template <Stream what>
void plain(Run& run) {
  go_over(run, what, arrays_of(run, Pages::usual), usual_vectors().plain.at(place_of(what)));
}

template <Stream what>
void tuned(Run& run) {
  const Tuned& best = tuned_for(run, what);
  go_over(run, what, arrays_of(run, Pages::huge, best.lines), best.loop(what));
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
      .may_refuse = true,
      .sizes = array_sizes,
      .choice = choice,
  };
}

template <Stream what>
struct Both {
  Both(std::string_view name, std::string_view about, std::string_view tuned_name, int place)
      : simple(card_of<what>(name, about, place, as_compiled), plain<what>),
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
void library_copy(Run& run) {
  const Arrays arrays = arrays_of(run, Pages::usual);
  if (run.checking()) make_ready(Stream::copy, arrays);
  void* (*volatile copy_of_library)(void*, const void*, std::size_t) = std::memcpy;
  run.measure(
      [a = arrays, function = copy_of_library](Turn) { function(a.x, a.y, a.n * sizeof(double)); });
  run.expect(run.checking() ? wrong_numbers(Stream::copy, arrays, 0) : 0);
}

const Add by_library(card_of<Stream::copy>("Memcpy",
                                           "x = y by the C library's memcpy, which chooses its way "
                                           "by what it takes for the cache's size.",
                                           40, nullptr),
                     library_copy);

}  // namespace
}  // namespace mpigauge::node
