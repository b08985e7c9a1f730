// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls from Fortran: those of mpif.h and the module mpi (mpi_send_), and those of mpi_f08
// (mpi_send_f08_). MPICH and its kin make those of mpif.h by their own functions of C, which are
// wrapped, so they are passed on by a jump that leaves no trace in the stack. So do those of
// mpi_f08 with a buffer (mpi_send_f08ts_), but the others call PMPI, as all of Open MPI do. So
// there the arguments are read as those of C, and the MPI's own function of Fortran is called with
// what the program gave it. A call of C inside it is a part of it. The translation of MPICH's
// programs makes all calls by functions of C, also those of mpi_f08.
#include <alloca.h>

#include <algorithm>
#include <array>

#include "hooks.hpp"
#include "library.hpp"
#include "lists.hpp"
#include "messages.hpp"
#include "objects.hpp"
#include "pending.hpp"
#include "record.hpp"

namespace mpigauge::profile {

namespace {

constexpr std::size_t most_words = 18;
using Words = std::array<Word, most_words>;

void call_real(Function function, const Words& w) {
  using Real = void (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                        Word, Word, Word, Word, Word, Word);
  // Those that it does not know of lie where it does not look.
  reinterpret_cast<Real>(function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9],
                                   w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17]);
}

// --- objects that are arguments
// ---------------------------------------------------------------------

// Each compiler writes their names in its own way.
template <std::size_t count>
using Places = std::array<Word, count>;

template <std::size_t count>
Places<count> places_of(const std::array<const char*, count>& names) {
  Places<count> places{};
  std::transform(names.begin(), names.end(), places.begin(), object_of);
  return places;
}

template <std::size_t count>
bool is_one_of(const Places<count>& places, Word address) {
  return address != 0 && std::find(places.begin(), places.end(), address) != places.end();
}

bool is_in_place(Word address) {
  static const auto places =
      places_of(std::array{"mpi_fortran_in_place", "mpi_fortran_in_place_",
                           "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  return is_one_of(places, address);
}

bool is_status_ignored(Word address) {
  static const auto places = places_of(std::array{
      "mpi_fortran_status_ignore", "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore__",
      "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"});
  return is_one_of(places, address);
}

// --- arguments as C has them
// ------------------------------------------------------------------------

using FromFortran = Word (*)(int);

// Where handles of C are numbers, those of Fortran are the same ones, and arrays of them too.
bool are_handles_of_c() { return abi.kind == AbiKind::mpich; }

std::size_t index(std::int8_t position) { return static_cast<std::uint8_t>(position); }

class Arguments {
 public:
  Arguments(Call call, const Words& fortran) : facts_(facts_of[call]), fortran_(fortran) {
    c_ = fortran;
    for (const std::int8_t each :
         {facts_.to, facts_.from, facts_.root, facts_.to_tag, facts_.from_tag, facts_.requests})
      number(each);
    amount(facts_.sent);
    amount(facts_.received);
    amount(facts_.in_place);
    take(facts_.comm, mpi.Comm_f2c, facts_.frees);
    take(facts_.window, mpi.Win_f2c, facts_.frees);
    take_file(facts_.file, facts_.frees);
    take(facts_.operation, mpi.Op_f2c, false);
    take_message();
    if (facts_.frees) take(facts_.request, mpi.Request_f2c, true);
    if (facts_.buffer >= 0 && is_in_place(fortran_[index(facts_.buffer)])) {
      c_[index(facts_.buffer)] = abi.in_place;
    }
  }

  [[nodiscard]] const Word* words() const { return c_.data(); }
  [[nodiscard]] const Facts& facts() const { return facts_; }

  // What the call made.
  void take_made() {
    take(facts_.new_comm, mpi.Comm_f2c, true);
    take(facts_.new_window, mpi.Win_f2c, true);
    take_file(facts_.new_file, true);
    take_message();
    if (facts_.begins) take(facts_.request, mpi.Request_f2c, true);
  }

  void set(std::int8_t position, const Word* handles) {
    c_[index(position)] = reinterpret_cast<Word>(handles);
  }
  void set_status(Word address) { c_[index(facts_.status)] = address; }

 private:
  void number(std::int8_t position, bool wide = false) {
    if (position < 0) return;
    const Word place = fortran_[index(position)];
    const std::int64_t value = wide ? value_at<std::int64_t>(place) : value_at<int>(place);
    c_[index(position)] = static_cast<Word>(value);
  }

  void amount(const Amount& amount) {
    if (amount.how == Count::value) number(amount.count, amount.wide);
    number(amount.factor);
    if (!amount.types) take(amount.type, mpi.Type_f2c, false);
  }

  // C takes some handles by their place.
  void take(std::int8_t position, FromFortran convert, bool by_place) {
    if (position < 0) return;
    if (are_handles_of_c()) {
      if (!by_place) c_[index(position)] = value_at<std::uint32_t>(fortran_[index(position)]);
      return;
    }
    take_converted(position, convert, by_place);
  }
  // A file is an address, whatever other handles are.
  void take_file(std::int8_t position, bool by_place) {
    if (position >= 0) take_converted(position, mpi.File_f2c, by_place);
  }
  void take_converted(std::int8_t position, FromFortran convert, bool by_place) {
    if (convert == nullptr) return;
    const Word handle = convert(value_at<int>(fortran_[index(position)]));
    held_[index(position)] = handle;
    c_[index(position)] = by_place ? reinterpret_cast<Word>(&held_[index(position)]) : handle;
  }
  void take_message() { take(facts_.message, mpi.Message_f2c, true); }

  const Facts& facts_;
  const Words& fortran_;
  Words c_, held_{};
};

void convert(FromFortran from, Word array, std::size_t count, Word* handles) {
  for (std::size_t n = 0; n < count; ++n) handles[n] = from(value_at<int>(array + (4 * n)));
}

std::size_t ranks_of(const Facts& facts, const Word* arguments) {
  Comm* const comm = comm_of(arguments[facts.comm]);
  if (comm == nullptr) return 0;
  const int ranks = facts.group == Group::neighbourhood ? neighbours_of(*comm) : comm->ranks;
  return static_cast<std::size_t>(std::max(ranks, 0));
}

std::size_t requests_of(const Facts& facts, const Word* arguments) {
  if (facts.requests == one_request) return 1;
  return static_cast<std::size_t>(std::max(as_int(arguments[facts.requests]), 0));
}

// How many handles there are in each array that has to be looked into.
std::size_t handles_in_arrays(const Facts& facts, const Word* arguments) {
  if (are_handles_of_c()) return 0;
  if (facts.group == Group::start) return requests_of(facts, arguments);
  return facts.sent.types || facts.in_place.types ? ranks_of(facts, arguments) : 0;
}

// There is room for two arrays of them.
void convert_arrays(Arguments& arguments, const Words& fortran, std::size_t count, Word* room) {
  const Facts& facts = arguments.facts();
  const auto one = [&](std::int8_t position, FromFortran from, Word* handles) {
    convert(from, fortran[index(position)], count, handles);
    arguments.set(position, handles);
  };
  if (facts.group == Group::start) one(facts.request, mpi.Request_f2c, room);
  if (facts.sent.types && arguments.words()[facts.buffer < 0 ? 0 : facts.buffer] != abi.in_place) {
    one(facts.sent.type, mpi.Type_f2c, room);
  }
  if (facts.in_place.types) one(facts.in_place.type, mpi.Type_f2c, room + count);
}

// --- the call
// ---------------------------------------------------------------------------------------

struct Form {
  Call call;
  std::size_t ierror;  // where the place of the error code is; mpi_f08 may leave it out
};

void finish(Thread* thread, Call call, const Word* arguments, int code) {
  if (thread != nullptr) leave(*thread, call, arguments, code);
  if (code != 0) return;
  if (facts_of[call].persistent) keep_persistent(call, arguments);
  if (facts_of[call].begins) note_begun(call, facts_of[call], arguments);
  if (has_after(call)) after(call, arguments);
}

void count_call(const Form& form, Function real, const Caller& caller, Words& words) {
  const Call call = form.call;
  Arguments arguments(call, words);
  const Facts& facts = arguments.facts();
  if (has_before(call)) before(call, arguments.words());
  const bool converts = ends_requests(call) && !are_handles_of_c();
  const std::size_t requests = converts ? requests_of(facts, arguments.words()) : 0;
  auto* const ending = static_cast<Word*>(alloca((requests + 1) * sizeof(Word)));
  if (converts) {
    convert(mpi.Request_f2c, words[index(facts.request)], requests, ending);
    arguments.set(facts.request, ending);
  }
  if (ends_requests(call)) note_requests(facts, arguments.words());
  Thread* const thread = enter(call, caller.pc, caller.sp, caller.fp);
  if (thread != nullptr && tells_by_status(facts)) {
    const std::size_t status = index(facts.status);
    if (is_status_ignored(words[status])) words[status] = reinterpret_cast<Word>(&thread->status);
    arguments.set_status(words[status]);
  }
  if (thread != nullptr) {
    note_pending(*thread, call, facts, arguments.words());
    begin(*thread);
  }
  call_real(real, words);
  const int code = value_at<int>(words[form.ierror]);
  arguments.take_made();
  if (converts) convert(mpi.Request_f2c, words[index(facts.request)], requests, ending);
  if (ends_requests(call) && thread == nullptr) drop_ended(facts, arguments.words());
  const std::size_t handles = thread == nullptr ? 0 : handles_in_arrays(facts, arguments.words());
  if (handles > 0) {
    constexpr std::size_t arrays = 2;
    auto* const room = static_cast<Word*>(alloca(arrays * handles * sizeof(Word)));
    convert_arrays(arguments, words, handles, room);
  }
  finish(thread, call, arguments.words(), code);
}

// MPICH makes these by functions of its own for attributes of Fortran.
constexpr bool is_never_made_by_c(Call call) {
  switch (call) {
    case call_Attr_get:
    case call_Attr_put:
    case call_Comm_get_attr:
    case call_Comm_set_attr:
    case call_Keyval_create:
    case call_Type_get_attr:
    case call_Type_set_attr:
    case call_Win_get_attr:
    case call_Win_set_attr: return true;
    default: return false;
  }
}

// Subroutines of the translation for MPICH's programs, which include those of mpi_f08.
bool f08_calls_c() {
  static const bool found = object_of("mpigauge_f08_calls_c") != 0;
  return found;
}

// Whether the MPI makes the call by its own function of C, of which we see each call. Finds the
// real one.
[[gnu::noinline]] bool is_made_by_c(const char* name, Function& real, Word pc, bool is_f08,
                                    bool is_never) {
  if (process.state.load(std::memory_order_acquire) == 0) start(pc);
  if (real == nullptr) real = function_after_us(name, pc);
  if (real == nullptr) end_without(name);
  if (abi.kind != AbiKind::mpich) return abi.kind != AbiKind::ompi;
  return !is_never && (!is_f08 || f08_calls_c());
}

template <class... Given>
[[gnu::noinline]] void called(const Form& form, Function real, Word pc, Word sp, Word fp,
                              Given... given) {
  Words words = {given...};
  int unseen = 0;
  if (words[form.ierror] == 0) words[form.ierror] = reinterpret_cast<Word>(&unseen);
  count_call(form, real, {pc, sp, fp}, words);
}

}  // namespace

}  // namespace mpigauge::profile

// Compilers write names in capitals or not, with none, one or two strokes behind them.
// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
#define MPIGAUGE_NAMED(SYMBOL, NAME, WORDS, IERROR, IS_F08)                                        \
  extern "C" [[gnu::visibility("default")]] void SYMBOL(MPIGAUGE_TAKE_##WORDS) {                   \
    static constinit mpigauge::profile::Function real = nullptr;                                   \
    static constexpr mpigauge::profile::Form form{mpigauge::profile::call_##NAME, IERROR};         \
    const mpigauge::profile::Caller caller = MPIGAUGE_CALLER;                                      \
    static constexpr bool is_never = mpigauge::profile::is_never_made_by_c(form.call);             \
    if (mpigauge::profile::is_made_by_c(#SYMBOL, real, caller.pc, IS_F08, is_never)) {             \
      return reinterpret_cast<decltype(&SYMBOL)>(real)(MPIGAUGE_GIVE_##WORDS);                     \
    }                                                                                              \
    mpigauge::profile::called(form, real, caller.pc, caller.sp, caller.fp, MPIGAUGE_GIVE_##WORDS); \
  }
#define MPIGAUGE_ALSO(SYMBOL, OTHER, WORDS) \
  extern "C" [[gnu::visibility("default"), gnu::alias(#OTHER)]] void SYMBOL(MPIGAUGE_TAKE_##WORDS);
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_CALL(...)
#define MPIGAUGE_FORTRAN(NAME, LOWER, UPPER, WORDS, IERROR)     \
  MPIGAUGE_NAMED(mpi_##LOWER##_, NAME, WORDS, IERROR, false)    \
  MPIGAUGE_NAMED(mpi_##LOWER##_f08_, NAME, WORDS, IERROR, true) \
  MPIGAUGE_ALSO(mpi_##LOWER, mpi_##LOWER##_, WORDS)             \
  MPIGAUGE_ALSO(mpi_##LOWER##__, mpi_##LOWER##_, WORDS)         \
  MPIGAUGE_ALSO(MPI_##UPPER, mpi_##LOWER##_, WORDS)
#include "calls.inc"

// Modules lead here where a program takes the address of memory as a pointer of C.
#define MPIGAUGE_CPTR(NAME, LOWER, UPPER, WORDS, IERROR)          \
  MPIGAUGE_NAMED(mpi_##LOWER##_cptr_, NAME, WORDS, IERROR, false) \
  MPIGAUGE_ALSO(mpi_##LOWER##_cptr, mpi_##LOWER##_cptr_, WORDS)   \
  MPIGAUGE_ALSO(mpi_##LOWER##_cptr__, mpi_##LOWER##_cptr_, WORDS) \
  MPIGAUGE_ALSO(MPI_##UPPER##_CPTR, mpi_##LOWER##_cptr_, WORDS)
MPIGAUGE_CPTR(Alloc_mem, alloc_mem, ALLOC_MEM, 4, 3)
MPIGAUGE_CPTR(Win_allocate, win_allocate, WIN_ALLOCATE, 7, 6)
MPIGAUGE_CPTR(Win_allocate_shared, win_allocate_shared, WIN_ALLOCATE_SHARED, 7, 6)
MPIGAUGE_CPTR(Win_shared_query, win_shared_query, WIN_SHARED_QUERY, 6, 5)

// Large counts in mpi_f08 of MPICH, where there is no buffer: the second name is that of its
// version 4.0.
#define MPIGAUGE_LARGE(NAME, LOWER, WORDS, IERROR)                \
  MPIGAUGE_NAMED(mpi_##LOWER##_c_f08_, NAME, WORDS, IERROR, true) \
  MPIGAUGE_NAMED(mpi_##LOWER##_f08_large_, NAME, WORDS, IERROR, true)
MPIGAUGE_LARGE(Buffer_detach_c, buffer_detach, 3, 2)
MPIGAUGE_LARGE(Comm_detach_buffer_c, comm_detach_buffer, 4, 3)
MPIGAUGE_LARGE(Get_count_c, get_count, 4, 3)
MPIGAUGE_LARGE(Get_elements_c, get_elements, 4, 3)
MPIGAUGE_LARGE(Op_create_c, op_create, 4, 3)
MPIGAUGE_LARGE(Pack_external_size_c, pack_external_size, 6, 4)
MPIGAUGE_LARGE(Pack_size_c, pack_size, 5, 4)
MPIGAUGE_LARGE(Register_datarep_c, register_datarep, 7, 5)
MPIGAUGE_LARGE(Session_detach_buffer_c, session_detach_buffer, 4, 3)
MPIGAUGE_LARGE(Status_set_elements_c, status_set_elements, 4, 3)
MPIGAUGE_LARGE(Type_contiguous_c, type_contiguous, 4, 3)
MPIGAUGE_LARGE(Type_create_darray_c, type_create_darray, 11, 10)
MPIGAUGE_LARGE(Type_create_hindexed_block_c, type_create_hindexed_block, 6, 5)
MPIGAUGE_LARGE(Type_create_hindexed_c, type_create_hindexed, 6, 5)
MPIGAUGE_LARGE(Type_create_hvector_c, type_create_hvector, 6, 5)
MPIGAUGE_LARGE(Type_create_indexed_block_c, type_create_indexed_block, 6, 5)
MPIGAUGE_LARGE(Type_create_struct_c, type_create_struct, 6, 5)
MPIGAUGE_LARGE(Type_create_subarray_c, type_create_subarray, 8, 7)
MPIGAUGE_LARGE(Type_get_contents_c, type_get_contents, 10, 9)
MPIGAUGE_LARGE(Type_get_envelope_c, type_get_envelope, 7, 6)
MPIGAUGE_LARGE(Type_indexed_c, type_indexed, 6, 5)
MPIGAUGE_LARGE(Type_size_c, type_size, 3, 2)
MPIGAUGE_LARGE(Type_vector_c, type_vector, 6, 5)
MPIGAUGE_LARGE(Win_allocate_c, win_allocate, 7, 6)
MPIGAUGE_LARGE(Win_allocate_shared_c, win_allocate_shared, 7, 6)
MPIGAUGE_LARGE(Win_shared_query_c, win_shared_query, 6, 5)

// Not counted, but obeyed.
#define MPIGAUGE_PCONTROL(SYMBOL, IS_F08)                                            \
  extern "C" [[gnu::visibility("default")]] void SYMBOL(const int* level) {          \
    static constinit mpigauge::profile::Function real = nullptr;                     \
    const mpigauge::profile::Caller caller = MPIGAUGE_CALLER;                        \
    if (!mpigauge::profile::is_made_by_c(#SYMBOL, real, caller.pc, IS_F08, false)) { \
      mpigauge::profile::control(*level);                                            \
    }                                                                                \
    reinterpret_cast<decltype(&SYMBOL)>(real)(level);                                \
  }
#define MPIGAUGE_PCONTROL_ALSO(SYMBOL) \
  extern "C" [[gnu::visibility("default"), gnu::alias("mpi_pcontrol_")]] void SYMBOL(const int*);
#define MPIGAUGE_PCONTROLS(LOWER, UPPER)      \
  MPIGAUGE_PCONTROL(mpi_##LOWER##_, false)    \
  MPIGAUGE_PCONTROL(mpi_##LOWER##_f08_, true) \
  MPIGAUGE_PCONTROL_ALSO(mpi_##LOWER)         \
  MPIGAUGE_PCONTROL_ALSO(mpi_##LOWER##__)     \
  MPIGAUGE_PCONTROL_ALSO(MPI_##UPPER)
MPIGAUGE_PCONTROLS(pcontrol, PCONTROL)
// NOLINTEND(bugprone-macro-parentheses)
