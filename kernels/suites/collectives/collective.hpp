// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Collectives have one shape: buffers of the card's sizes, one call, one check. A description of
// these is a family of benchmarks, one for each form that MPI gives the call:
//   Bcast                 blocking                                              MPI1
//   Ibcast                non-blocking, overlapped with a computation           NBC
//   Ibcast_pure           non-blocking and waited for at once                   NBC, when named
//   Bcast_persist         persistent, overlapped with a computation             MPI4
//   Bcast_persist_pure    persistent, started and waited for at once            MPI4, when named
//   Bcast_persist_init    what making and freeing the persistent request costs  MPI4, when named
//   BcastMT               blocking, on every thread of a rank at once            MT, where named
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "core/benchmark.hpp"
#include "core/calls_forms.hpp"
#include "core/overlap.hpp"
#include "core/threads.hpp"

namespace mpigauge {

/// Arguments of a collective call, ready to be passed on.
struct Args {
  void* send = nullptr;
  void* recv = nullptr;
  int count = 0;  ///< elements of a message
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const int* counts = nullptr;  ///< per rank (or neighbour), all equal to count
  const int* places = nullptr;  ///< per rank (or neighbour), one message behind the other
  MPI_Count large_count = 0;
};

/// Whom the ranks talk to.
enum class Partners {
  all,
  grid,  ///< the four neighbours on a periodic grid in two dimensions
};
constexpr int grid_neighbours = 4;

/// Its form on threads; no name: it has none.
struct OnThreads {
  std::string_view name;
  int place = 900;  ///< in MT
};

/// What a collective is beside its card, and how its other forms stand in their suites.
struct OtherForms {
  int place = 900;  ///< in NBC and MPI4
  bool immediate_by_default = true;
  bool persistent_by_default = true;
  Partners partners = Partners::all;
  bool counts_per_rank = false;  ///< the call takes a count (and a place) for every rank
  OnThreads on_threads;
};

struct NoLargeCall {};

/// What makes a collective: `call` is linked<MPI_X>, or looked_up<decltype(MPI_X)> where it is
/// newer than MPI-2.2; `arguments(Args)` gives its arguments as a tuple; `check(Run, Block)` the
/// number of wrong elements in the receive buffer after a call with run.root(); `large(Args)` calls
/// it with a count that is not an int.
template <class Call, class Arguments, class Check, class Large>
struct Collective {
  Card card;
  Call call;
  Arguments arguments;
  Check check;
  OtherForms forms;
  Large large;
};

/// Cards of the forms, made from the card of the description.
Card blocking_card(Card card, bool in_every_library);
Card immediate_card(const Card& card, const OtherForms& forms);
Card immediate_pure_card(const Card& card, const OtherForms& forms);
Card persistent_card(const Card& card, const OtherForms& forms);
Card persistent_pure_card(const Card& card, const OtherForms& forms);
Card persistent_init_card(const Card& card, const OtherForms& forms);
Card threaded_card(const Card& card, const OnThreads& form);

/// Buffers and arguments of a collective; small, so that timed loops have a copy of their own.
class Arranged {
 public:
  Arranged(const Block& out, const Block& in, const Args& args) : out_(out), in_(in), args_(args) {}
  // Field by field: of a copy of the whole the compiler would not leave out what a call does not
  // use.
  [[nodiscard]] Args operator[](Turn t) const {
    return {.send = out_[t].data,
            .recv = in_[t].data,
            .count = args_.count,
            .type = args_.type,
            .op = args_.op,
            .root = t.root,
            .rank = args_.rank,
            .comm = args_.comm,
            .counts = args_.counts,
            .places = args_.places,
            .large_count = args_.large_count};
  }

 private:
  Block out_, in_;
  Args args_;
};

/// What a collective needs at one visit; lives as long as its calls.
class Prepared {
 public:
  Prepared(Run& run, const Card& card, const OtherForms& forms);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  [[nodiscard]] const Arranged& arranged() const { return arranged_; }
  [[nodiscard]] const Block& in() const { return in_; }

 private:
  MPI_Comm grid_;  ///< null: all ranks are partners
  std::vector<int> counts_, places_;
  Block in_;
  Arranged arranged_;
};

/// Starts a non-blocking call.
template <class Function, class Arguments>
class Immediate {
 public:
  Immediate(Function function, const Arranged& arranged, Arguments arguments)
      : function_(function), arranged_(arranged), arguments_(arguments) {}
  MPI_Request* operator()(Turn t) {
    std::apply([&](auto... a) { call(function_(a..., &request_)); }, arguments_(arranged_[t]));
    return &request_;
  }

 private:
  Function function_;
  Arranged arranged_;
  Arguments arguments_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Persistent requests, one for each turn.
class Requests {
 public:
  /// A request keeps its buffers and its root, so each copy of cold buffers and each root has one,
  /// up to so many; further copies stay unused.
  static constexpr std::size_t most = 4096;

  /// `init(Turn, MPI_Request*)` makes the request for a turn.
  template <class Init>
  Requests(const Run& run, Init init) {
    for (const Turn t : run.turns(most)) init(t, &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  ~Requests();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  /// Starts one after the other; each copy of it begins with the first.
  class Starter {
   public:
    explicit Starter(std::vector<MPI_Request>& all) : all_(all.data()), count_(all.size()) {}
    MPI_Request* operator()(Turn) {
      MPI_Request* request = all_ + at_;
      if (++at_ == count_) at_ = 0;
      call(MPI_Start(request));
      return request;
    }

   private:
    MPI_Request* all_;
    std::size_t count_;
    std::size_t at_ = 0;
  };
  [[nodiscard]] Starter starter() { return Starter(requests_); }

 private:
  std::vector<MPI_Request> requests_;
};

/// Starts and waits.
template <class Start>
void measure_pure(Run& run, Start start) {
  run.measure(StartAndWait(start));
}

// Starting a persistent request is the same for all collectives: compiled once, in collective.cpp.
extern template void measure_overlap(Run&, Requests::Starter);
extern template void measure_pure(Run&, Requests::Starter);

/// The forms of a collective as functions of a run.
template <class C>
class FormsOfCollective {
 public:
  explicit FormsOfCollective(const C& c) : c_(c) {}

  void blocking(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    const auto function = c_.call.get(blocking_call(c_.card.name));
    run.measure([arranged = prepared.arranged(), arguments = c_.arguments, large = c_.large,
                 function](Turn t) {
      const Args args = arranged[t];
      if constexpr (!std::is_same_v<decltype(c_.large), NoLargeCall>) {
        if (args.large_count > INT_MAX) [[unlikely]]
          return call(large(args));
      } else {
        static_cast<void>(large);
      }
      call(std::apply(function, arguments(args)));
    });
    check(run, prepared);
  }

  void immediate(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    measure_overlap(run, immediate_of(prepared));
    check(run, prepared);
  }

  void immediate_pure(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    measure_pure(run, immediate_of(prepared));
    check(run, prepared);
  }

  void persistent(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    Requests requests(run, init_of(prepared));
    measure_overlap(run, requests.starter());
    check(run, prepared);
  }

  void persistent_pure(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    Requests requests(run, init_of(prepared));
    measure_pure(run, requests.starter());
    check(run, prepared);
  }

  void persistent_init(Run& run) const {
    const Prepared prepared(run, c_.card, c_.forms);
    const auto init = init_of(prepared);
    // A request that nobody starts moves nothing, so the checked one is started.
    const bool used = run.checking();
    run.measure([=](Turn t) {
      MPI_Request request = MPI_REQUEST_NULL;
      init(t, &request);
      if (used) [[unlikely]] {
        call(MPI_Start(&request));
        wait(&request);
      }
      call(MPI_Request_free(&request));
    });
    check(run, prepared);
  }

 private:
  [[nodiscard]] auto immediate_of(const Prepared& prepared) const {
    using Function = decltype(c_.call)::Forms::Immediate;
    return Immediate(find_as<Function>(immediate_call(c_.card.name)), prepared.arranged(),
                     c_.arguments);
  }

  [[nodiscard]] auto init_of(const Prepared& prepared) const {
    using Function = decltype(c_.call)::Forms::Init;
    return [function = find_as<Function>(init_call(c_.card.name)), arranged = prepared.arranged(),
            arguments = c_.arguments](Turn t, MPI_Request* request) {
      std::apply([&](auto... a) { call(function(a..., MPI_INFO_NULL, request)); },
                 arguments(arranged[t]));
    };
  }

  [[gnu::noinline]] void check(Run& run, const Prepared& prepared) const {
    run.expect(run.checking() ? c_.check(run, prepared.in()) : 0);
  }

  C c_;
};

/// Adds a collective in all its forms to the registry, which refers to it from then on.
template <class Call, class Arguments, class Check, class Large = NoLargeCall>
class AddCollective {
 public:
  AddCollective(const Card& card, Call call, Arguments arguments, Check check,
                const OtherForms& others = {}, Large large = {})
      : forms_({card, call, arguments, check, others, large}) {
    add(blocking_card(card, Call::in_every_library), &Forms::blocking);
    add(immediate_card(card, others), &Forms::immediate);
    add(immediate_pure_card(card, others), &Forms::immediate_pure);
    add(persistent_card(card, others), &Forms::persistent);
    add(persistent_pure_card(card, others), &Forms::persistent_pure);
    add(persistent_init_card(card, others), &Forms::persistent_init);
    if (others.on_threads.name.empty()) return;
    const Add threaded{threaded_card(card, others.on_threads), [this](Run& run) {
                         on_threads(run, [this](Run& r) { forms_.blocking(r); });
                       }};
  }
  ~AddCollective() = default;
  AddCollective(const AddCollective&) = delete;
  AddCollective& operator=(const AddCollective&) = delete;

 private:
  using Forms = FormsOfCollective<Collective<Call, Arguments, Check, Large>>;

  void add(const Card& card, void (Forms::*form)(Run&) const) const {
    const Add added{card, [this, form](Run& run) { (forms_.*form)(run); }};
  }

  Forms forms_;
};

}  // namespace mpigauge
