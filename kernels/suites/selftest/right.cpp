// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether a collective gives right results where algorithms go wrong: with few elements, with as
// many as there are ranks and one more or less, in place, and where an operation needs the order of
// the ranks. What is timed is the call of one element; the checked visit makes all the others.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/benchmark.hpp"
#include "core/refused.hpp"
#include "core/sync.hpp"

namespace mpigauge {
namespace {

using Word = unsigned;

/// A product of these depends on the order of its factors.
struct Matrix {
  std::array<Word, 4> at;
  friend bool operator==(const Matrix&, const Matrix&) = default;
  friend Matrix operator*(const Matrix& l, const Matrix& r) {
    return {l.at[0] * r.at[0] + l.at[1] * r.at[2], l.at[0] * r.at[1] + l.at[1] * r.at[3],
            l.at[2] * r.at[0] + l.at[3] * r.at[2], l.at[2] * r.at[1] + l.at[3] * r.at[3]};
  }
};

// MPI says what it is given. NOLINTNEXTLINE(misc-const-correctness,readability-non-const-parameter)
void multiply(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* l = static_cast<const Matrix*>(left);
  auto* r = static_cast<Matrix*>(right);
  for (int i = 0; i < *count; ++i) r[i] = l[i] * r[i];
}

/// Contributions repeat after so many places, a prime: no shift by a whole block goes unnoticed.
constexpr int period = 997;

/// What `rank` contributes at a place, and how two contributions are combined. Sums are of small
/// whole numbers, which are exact in any order.
template <class T>
T value(int rank, int place) {
  return static_cast<T>(7 * rank + place % period + 1);
}
template <>
Matrix value(int rank, int place) {
  const auto r = static_cast<Word>(rank), p = static_cast<Word>(place % period);
  return {r + 1, p, r, 2};
}
template <class T>
T combine(const T& lower, const T& higher) {
  return lower + higher;
}
template <>
Matrix combine(const Matrix& lower, const Matrix& higher) {
  return lower * higher;
}
/// What all ranks have together at each place up to the period. Each place once: with hundreds of
/// ranks, to combine them takes longer than most calls.
template <class T>
std::vector<T> combined(int ranks) {
  std::vector<T> all;
  for (int place = 0; place < period; ++place) {
    all.push_back(value<T>(0, place));
    for (int r = 1; r < ranks; ++r) all.back() = combine(all.back(), value<T>(r, place));
  }
  return all;
}

/// The type and the operation as MPI knows them, and what is right.
template <class T>
struct Known {
  std::vector<T> right;
  MPI_Datatype type;
  MPI_Op op = MPI_SUM;
};
template <>
struct Known<Matrix> {
  std::vector<Matrix> right;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  explicit Known(std::vector<Matrix> of_all) : right(std::move(of_all)) {
    call(MPI_Type_contiguous(4, MPI_UNSIGNED, &type));
    call(MPI_Type_commit(&type));
    call(MPI_Op_create(multiply, 0, &op));
  }
  ~Known() {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
};

template <class T>
std::vector<T> values(int rank, int from, int count) {
  std::vector<T> made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = value<T>(rank, from + i);
  return made;
}

/// How many of `got` differ from what all ranks have together at the places from `from` on.
template <class T>
std::size_t wrong_combined(const Known<T>& known, const std::vector<T>& got, int from, int count) {
  std::size_t wrong = 0;
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>((from + i) % period);
    if (!(got[static_cast<std::size_t>(i)] == known.right[place])) ++wrong;
  }
  return wrong;
}
template <class T>
std::size_t differing(const std::vector<T>& got, const std::vector<T>& wanted) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(got[i] == wanted[i])) ++wrong;
  return wrong;
}

template <class T>
std::size_t wrong_allreduce(const Run& run, const Known<T>& known, int count) {
  const std::vector<T> mine = values<T>(run.rank(), 0, count);
  std::vector<T> got(mine.size());
  call(MPI_Allreduce(mine.data(), got.data(), count, known.type, known.op, run.comm()));
  std::vector<T> in_place = mine;
  call(MPI_Allreduce(MPI_IN_PLACE, in_place.data(), count, known.type, known.op, run.comm()));
  return wrong_combined(known, got, 0, count) + wrong_combined(known, in_place, 0, count);
}

template <class T>
std::size_t wrong_reduce(const Run& run, const Known<T>& known, int count) {
  std::size_t wrong = 0;
  for (const int root : {0, run.ranks() - 1}) {
    const bool here = run.rank() == root;
    const std::vector<T> mine = values<T>(run.rank(), 0, count);
    std::vector<T> got(mine.size());
    call(MPI_Reduce(mine.data(), got.data(), count, known.type, known.op, root, run.comm()));
    if (here) wrong += wrong_combined(known, got, 0, count);
    got = mine;
    call(MPI_Reduce(here ? MPI_IN_PLACE : got.data(), got.data(), count, known.type, known.op, root,
                    run.comm()));
    if (here) wrong += wrong_combined(known, got, 0, count);
  }
  return wrong;
}

/// Ranks that are roots in turn: all, or of many the first, the middle and the last ones.
std::vector<int> roots_of(const Run& run) {
  constexpr int few = 16, near = 3;
  const int ranks = run.ranks();
  std::vector<int> roots;
  for (int r = 0; r < ranks; ++r) {
    const bool in_middle = std::abs(r - ranks / 2) < near;
    if (ranks <= few || r < near || in_middle || r >= ranks - near) roots.push_back(r);
  }
  return roots;
}

int number_of_roots(const Run& run) { return static_cast<int>(roots_of(run).size()); }

/// Each rank gets `count` elements, or one more where it is odd.
template <class T>
std::size_t wrong_reduce_scatter(const Run& run, const Known<T>& known, int count) {
  std::size_t wrong = 0;
  for (const int more : {0, 1}) {
    std::vector<int> counts;
    int whole = 0, from = 0;
    for (int r = 0; r < run.ranks(); ++r) {
      counts.push_back(count + more * (r % 2));
      if (r < run.rank()) from += counts.back();
      whole += counts.back();
    }
    const int own = counts[static_cast<std::size_t>(run.rank())];
    std::vector<T> mine = values<T>(run.rank(), 0, whole);
    std::vector<T> got(static_cast<std::size_t>(own));
    call(MPI_Reduce_scatter(mine.data(), got.data(), counts.data(), known.type, known.op,
                            run.comm()));
    wrong += wrong_combined(known, got, from, own);
    call(MPI_Reduce_scatter(MPI_IN_PLACE, mine.data(), counts.data(), known.type, known.op,
                            run.comm()));
    wrong += wrong_combined(known, mine, from, own);
  }
  return wrong;
}

/// Each rank gets `count` elements.
template <class T>
std::size_t wrong_reduce_scatter_block(const Run& run, const Known<T>& known, int count) {
  std::vector<T> mine = values<T>(run.rank(), 0, count * run.ranks());
  std::vector<T> got(static_cast<std::size_t>(count));
  const int from = count * run.rank();
  call(MPI_Reduce_scatter_block(mine.data(), got.data(), count, known.type, known.op, run.comm()));
  const std::size_t wrong = wrong_combined(known, got, from, count);
  call(
      MPI_Reduce_scatter_block(MPI_IN_PLACE, mine.data(), count, known.type, known.op, run.comm()));
  return wrong + wrong_combined(known, mine, from, count);
}

std::size_t wrong_bcast(const Run& run, MPI_Datatype type, int count) {
  std::size_t wrong = 0;
  for (const int root : roots_of(run)) {
    const std::vector<Word> wanted = values<Word>(root, 0, count);
    std::vector<Word> got(wanted.size());
    if (run.rank() == root) got = wanted;
    call(MPI_Bcast(got.data(), count, type, root, run.comm()));
    wrong += differing(got, wanted);
  }
  return wrong;
}

std::size_t wrong_allgather(const Run& run, MPI_Datatype type, int count) {
  std::vector<Word> wanted;
  for (int r = 0; r < run.ranks(); ++r)
    for (const Word each : values<Word>(r, 0, count)) wanted.push_back(each);
  const std::vector<Word> mine = values<Word>(run.rank(), 0, count);
  std::vector<Word> got(wanted.size()), in_place(wanted.size());
  call(MPI_Allgather(mine.data(), count, type, got.data(), count, type, run.comm()));
  const auto at = static_cast<std::size_t>(run.rank()) * mine.size();
  for (std::size_t i = 0; i < mine.size(); ++i) in_place[at + i] = mine[i];
  call(MPI_Allgather(MPI_IN_PLACE, 0, type, in_place.data(), count, type, run.comm()));
  return differing(got, wanted) + differing(in_place, wanted);
}

/// What rank `from` sends to rank `to`.
std::vector<Word> letter(int from, int to, int count) { return values<Word>(from, 31 * to, count); }

std::size_t wrong_alltoall(const Run& run, MPI_Datatype type, int count) {
  std::vector<Word> mine, wanted;
  for (int r = 0; r < run.ranks(); ++r) {
    for (const Word each : letter(run.rank(), r, count)) mine.push_back(each);
    for (const Word each : letter(r, run.rank(), count)) wanted.push_back(each);
  }
  std::vector<Word> got(wanted.size());
  call(MPI_Alltoall(mine.data(), count, type, got.data(), count, type, run.comm()));
  const std::size_t wrong = differing(got, wanted);
  call(MPI_Alltoall(MPI_IN_PLACE, 0, type, mine.data(), count, type, run.comm()));
  return wrong + differing(mine, wanted);
}

/// The first root has its own elements in place.
std::size_t wrong_gather(const Run& run, MPI_Datatype type, int count) {
  std::vector<Word> wanted;
  for (int r = 0; r < run.ranks(); ++r)
    for (const Word each : values<Word>(r, 0, count)) wanted.push_back(each);
  const std::vector<Word> mine = values<Word>(run.rank(), 0, count);
  std::size_t wrong = 0;
  for (const int root : roots_of(run)) {
    const bool here = run.rank() == root, in_place = here && root == 0;
    std::vector<Word> got(here ? wanted.size() : 0);
    if (in_place) std::copy(mine.begin(), mine.end(), got.begin());
    call(MPI_Gather(in_place ? MPI_IN_PLACE : const_cast<Word*>(mine.data()), count, type,
                    got.data(), count, type, root, run.comm()));
    if (here) wrong += differing(got, wanted);
  }
  return wrong;
}

/// The first root leaves its own elements where they are.
std::size_t wrong_scatter(const Run& run, MPI_Datatype type, int count) {
  std::size_t wrong = 0;
  for (const int root : roots_of(run)) {
    const bool here = run.rank() == root, in_place = here && root == 0;
    std::vector<Word> all;
    for (int r = 0; here && r < run.ranks(); ++r)
      for (const Word each : letter(root, r, count)) all.push_back(each);
    const std::vector<Word> wanted = letter(root, run.rank(), count);
    std::vector<Word> got = in_place ? wanted : std::vector<Word>(wanted.size());
    call(MPI_Scatter(all.data(), count, type, in_place ? MPI_IN_PLACE : got.data(), count, type,
                     root, run.comm()));
    wrong += differing(got, wanted);
  }
  return wrong;
}

/// The number of calls of a test for each shape, and of blocks of elements in its buffers.
struct Calls {
  int each;
  int blocks = 1;
};

/// Few elements, about as many as ranks, and many, each number once. Buffers of several blocks hold
/// at most a million elements, as all ranks of a host have some: 20 000 in each of up to 52 blocks,
/// and about as many as ranks in up to 1023.
std::set<int> counts_of(int ranks, Calls calls) {
  constexpr int most_elements = 1 << 20;
  const int most = std::max(most_elements / calls.blocks, 1);
  std::set<int> counts;
  for (const int count : {1, 2, std::max(ranks - 1, 1), ranks, ranks + 1, 1000, 20'000})
    counts.insert(std::min(count, most));
  return counts;
}

/// The time of a test. Some algorithms take seconds a call where hundreds of ranks share a core,
/// and mpigauge takes a launch to hang that is silent for 30 s. Ranks agree by plain messages: the
/// broadcast under test might bring them different answers.
class TestTime {
 public:
  explicit TestTime(const Run& run) : run_(run) {
    call(MPI_Barrier(run.comm()));
    start_s_ = shape_s_ = platform::now_s();
  }

  /// Throws Refused on all ranks if so many calls like this one would take too long.
  template <class Timed>
  void require(std::size_t calls, Timed timed) {
    call(timed());
    call(MPI_Barrier(run_.comm()));
    const double call_s = platform::now_s() - start_s_;
    refuse_if(static_cast<double>(calls) * call_s > longest_s,
              std::to_string(calls) + " calls of " + in_ms(call_s));
    shape_s_ = platform::now_s();
  }

  /// Throws Refused on all ranks if another shape would take too long, as long as the last one.
  void require_shape() {
    const double now_s = platform::now_s();
    const double last_s = now_s - shape_s_;
    refuse_if(now_s - start_s_ + last_s > longest_s, "calls of one shape take " + in_ms(last_s));
    shape_s_ = now_s;
  }

 private:
  static constexpr double longest_s = 20;

  static std::string in_ms(double seconds) {
    return std::to_string(std::lround(seconds * 1e3)) + " ms";
  }

  /// By the clock of rank 0.
  void refuse_if(bool is_too_long, const std::string& why) const {
    const std::uint8_t by_first = is_too_long ? 1 : 0;
    if (sleep_until_told(run_.comm(), by_first) != 0)
      throw Refused("the test takes too long: " + why);
  }

  const Run& run_;
  double start_s_ = 0, shape_s_ = 0;
};

/// Times a call of one element, and counts the wrong elements of a reduction: of whole and
/// floating-point numbers, and with an operation that does not commute.
template <class Timed, class Wrong>
void measure_reduction(Run& run, Calls calls, Timed timed, Wrong wrong) {
  run.measure([timed](Turn) { call(timed()); });
  if (!run.checking()) return run.expect(0);
  constexpr int types = 3;
  const auto counts = counts_of(run.ranks(), calls);
  TestTime time(run);
  time.require(counts.size() * static_cast<std::size_t>(calls.each * types), timed);
  const Known<Word> words{combined<Word>(run.ranks()), MPI_UNSIGNED};
  const Known<double> doubles{combined<double>(run.ranks()), MPI_DOUBLE};
  const Known<Matrix> matrices(combined<Matrix>(run.ranks()));
  std::size_t all = 0;
  for (const int count : counts) {
    time.require_shape();
    all += wrong(run, words, count) + wrong(run, doubles, count) + wrong(run, matrices, count);
  }
  run.expect(all);
}

/// Times a call of one element, and counts the wrong elements of a transfer.
template <class Timed>
void measure_transfer(Run& run, Calls calls, Timed timed,
                      std::size_t (*wrong)(const Run&, MPI_Datatype, int)) {
  run.measure([timed](Turn) { call(timed()); });
  if (!run.checking()) return run.expect(0);
  const auto counts = counts_of(run.ranks(), calls);
  TestTime time(run);
  time.require(counts.size() * static_cast<std::size_t>(calls.each), timed);
  std::size_t all = 0;
  for (const int count : counts) {
    time.require_shape();
    all += wrong(run, MPI_UNSIGNED, count);
  }
  run.expect(all);
}

constexpr Card card_of(std::string_view name, std::string_view about) {
  return {
      .suite = "SELFTEST",
      .name = name,
      .about = about,
      .meet = Meet::each,
      .columns = Columns::collective,
      .send = nothing,
      .recv = nothing,
      .most_s = 0.05,
      .may_refuse = true,
      .keeps_data = "its data are its own",
      .only_bytes = 4,
      .by_default = false,
  };
}

const Add allreduce{
    card_of("Allreduce_right", "Counts what MPI_Allreduce reduces wrong, in many shapes."),
    [](Run& run) {
      Word in = 1, out = 0;
      measure_reduction(
          run, {.each = 2},
          [&] { return MPI_Allreduce(&in, &out, 1, MPI_UNSIGNED, MPI_SUM, run.comm()); },
          [](const Run& r, const auto& known, int count) {
            return wrong_allreduce(r, known, count);
          });
    }};

const Add reduce{
    card_of("Reduce_right", "Counts what MPI_Reduce reduces wrong, in many shapes."), [](Run& run) {
      Word in = 1, out = 0;
      measure_reduction(
          run, {.each = 4},
          [&] { return MPI_Reduce(&in, &out, 1, MPI_UNSIGNED, MPI_SUM, 0, run.comm()); },
          [](const Run& r, const auto& known, int count) { return wrong_reduce(r, known, count); });
    }};

const Add reduce_scatter{card_of("Reduce_scatter_right",
                                 "Counts what MPI_Reduce_scatter reduces wrong, in many shapes."),
                         [](Run& run) {
                           std::vector<Word> in(static_cast<std::size_t>(run.ranks()), 1);
                           const std::vector<int> ones(in.size(), 1);
                           Word out = 0;
                           measure_reduction(
                               run, {.each = 4, .blocks = run.ranks()},
                               [&] {
                                 return MPI_Reduce_scatter(in.data(), &out, ones.data(),
                                                           MPI_UNSIGNED, MPI_SUM, run.comm());
                               },
                               [](const Run& r, const auto& known, int count) {
                                 return wrong_reduce_scatter(r, known, count);
                               });
                         }};

const Add reduce_scatter_block{
    card_of("Reduce_scatter_block_right",
            "Counts what MPI_Reduce_scatter_block reduces wrong, in many shapes."),
    [](Run& run) {
      std::vector<Word> in(static_cast<std::size_t>(run.ranks()), 1);
      Word out = 0;
      measure_reduction(
          run, {.each = 2, .blocks = run.ranks()},
          [&] {
            return MPI_Reduce_scatter_block(in.data(), &out, 1, MPI_UNSIGNED, MPI_SUM, run.comm());
          },
          [](const Run& r, const auto& known, int count) {
            return wrong_reduce_scatter_block(r, known, count);
          });
    }};

const Add bcast{
    card_of("Bcast_right", "Counts what MPI_Bcast brings wrong, in many shapes."), [](Run& run) {
      Word data = 1;
      measure_transfer(
          run, {.each = number_of_roots(run)},
          [&] { return MPI_Bcast(&data, 1, MPI_UNSIGNED, 0, run.comm()); }, wrong_bcast);
    }};

const Add allgather{
    card_of("Allgather_right", "Counts what MPI_Allgather brings wrong, in many shapes."),
    [](Run& run) {
      Word in = 1;
      std::vector<Word> out(static_cast<std::size_t>(run.ranks()));
      measure_transfer(
          run, {.each = 2, .blocks = run.ranks()},
          [&] {
            return MPI_Allgather(&in, 1, MPI_UNSIGNED, out.data(), 1, MPI_UNSIGNED, run.comm());
          },
          wrong_allgather);
    }};

const Add gather{
    card_of("Gather_right", "Counts what MPI_Gather brings wrong, in many shapes."), [](Run& run) {
      Word in = 1;
      std::vector<Word> out(static_cast<std::size_t>(run.ranks()));
      measure_transfer(
          run, {.each = number_of_roots(run), .blocks = run.ranks()},
          [&] {
            return MPI_Gather(&in, 1, MPI_UNSIGNED, out.data(), 1, MPI_UNSIGNED, 0, run.comm());
          },
          wrong_gather);
    }};

const Add scatter{card_of("Scatter_right", "Counts what MPI_Scatter brings wrong, in many shapes."),
                  [](Run& run) {
                    std::vector<Word> in(static_cast<std::size_t>(run.ranks()), 1);
                    Word out = 0;
                    measure_transfer(
                        run, {.each = number_of_roots(run), .blocks = run.ranks()},
                        [&] {
                          return MPI_Scatter(in.data(), 1, MPI_UNSIGNED, &out, 1, MPI_UNSIGNED, 0,
                                             run.comm());
                        },
                        wrong_scatter);
                  }};

const Add alltoall{
    card_of("Alltoall_right", "Counts what MPI_Alltoall brings wrong, in many shapes."),
    [](Run& run) {
      std::vector<Word> in(static_cast<std::size_t>(run.ranks()), 1), out(in.size());
      measure_transfer(
          run, {.each = 2, .blocks = run.ranks()},
          [&] {
            return MPI_Alltoall(in.data(), 1, MPI_UNSIGNED, out.data(), 1, MPI_UNSIGNED,
                                run.comm());
          },
          wrong_alltoall);
    }};

}  // namespace
}  // namespace mpigauge
