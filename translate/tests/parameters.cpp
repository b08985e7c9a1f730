// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What parameters become on their way to the target, and what the program has of them afterwards:
// of two ABIs whose predefined handles are numbers, so that no MPI is needed. A call is made up of
// the parameters alone: what a target would write is written here.
#include "parameters.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>

namespace {

using namespace mpigauge::translate;

int failures = 0;

void check(bool holds, const char* text, int line) {
  if (holds) return;
  ++failures;
  std::printf("line %d: does not hold: %s\n", line, text);
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__, __LINE__)

// An array right before memory that nobody may read.
template <class Type, std::size_t count>
class AtTheEnd {
 public:
  explicit AtTheEnd(const std::array<Type, count>& values) {
    mprotect(pages_ + page_, page_, PROT_NONE);
    std::memcpy(data_, values.data(), sizeof values);
  }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;
  ~AtTheEnd() { munmap(pages_, 2 * page_); }
  [[nodiscard]] Type* data() const { return data_; }

 private:
  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* pages_ = static_cast<char*>(
      mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Type* data_ = reinterpret_cast<Type*>(pages_ + page_) - count;
};

constexpr std::tuple<> nothing;
constexpr int own_error = 4711, own_number = 77;

// --- statuses
// ----------------------------------------------------------------------------------------

// As a program has it before a call, with an error that is its own.
ProgramStatus before() {
  ProgramStatus status{};
  status.source = own_number;
  status.tag = own_number;
  status.error = own_error;
  return status;
}

bool is_untouched(const ProgramStatus& status) {
  return status.source == own_number && status.tag == own_number && status.error == own_error;
}

void write_message(TargetStatus* status, int source, int tag, std::uint64_t bytes) {
  status->source = source;
  status->tag = tag;
  write(*status, {bytes, false}, inner_of_target);
}

std::uint64_t bytes_in(const ProgramStatus& status) { return read(status, inner_of_program).bytes; }

void a_status_keeps_the_error_that_the_target_did_not_write() {
  ProgramStatus status = before();
  StatusOut<-1> out(&status, nothing);
  write_message(out.target(), 3, 5, 24);
  out.done(0, nothing);
  CHECK(status.source == 3 && status.tag == 5 && bytes_in(status) == 24);
  CHECK(status.error == own_error);
}

void a_status_has_the_error_that_the_target_wrote() {
  ProgramStatus status = before();
  for (const auto& [of_target, of_program] :
       {std::pair{Target::MPI_ERR_TRUNCATE, Program::MPI_ERR_TRUNCATE}, std::pair{0, 0},
        std::pair{Target::MPI_ERR_PENDING, Program::MPI_ERR_PENDING}}) {
    StatusOut<-1> out(&status, nothing);
    out.target()->error = of_target;
    out.done(0, nothing);
    CHECK(status.error == of_program);
  }
}

void a_status_is_written_where_its_flag_says_so() {
  for (int flag : {0, 1}) {
    const auto all = std::tuple(&flag);
    ProgramStatus status = before();
    StatusOut<0> out(&status, all);
    write_message(out.target(), 1, 2, 3);
    out.done(0, all);
    CHECK(is_untouched(status) == (flag == 0));
  }
}

void ranks_and_tags_of_a_status_that_are_none() {
  ProgramStatus status = before();
  StatusOut<-1> out(&status, nothing);
  write_message(out.target(), Target::MPI_PROC_NULL, Target::MPI_ANY_TAG, 0);
  out.done(0, nothing);
  CHECK(status.source == Program::MPI_PROC_NULL && status.tag == Program::MPI_ANY_TAG);
  write_message(out.target(), Target::MPI_ANY_SOURCE, 0, 0);
  out.done(0, nothing);
  CHECK(status.source == Program::MPI_ANY_SOURCE && status.tag == 0);
}

void a_status_goes_to_the_target_and_comes_back() {
  constexpr std::uint64_t many = 0x1234567890a;
  for (const bool cancelled : {false, true}) {
    for (const int source : {0, 9, Program::MPI_PROC_NULL, Program::MPI_ANY_SOURCE}) {
      ProgramStatus status = before();
      status.source = source;
      status.tag = Program::MPI_ANY_TAG;
      status.error = Program::MPI_ERR_TRUNCATE;
      write(status, {many, cancelled}, inner_of_program);
      StatusInOut both(&status, nothing);
      CHECK(both.target()->tag == Target::MPI_ANY_TAG);
      CHECK(both.target()->error == Target::MPI_ERR_TRUNCATE);
      CHECK(source < 0 || both.target()->source == source);
      const Hidden inside = read(*both.target(), inner_of_target);
      CHECK(inside.bytes == many && inside.cancelled == cancelled);
      const ProgramStatus given = status;
      status = before();
      both.done(1, nothing);
      CHECK(is_untouched(status));
      both.done(0, nothing);
      CHECK(status.source == given.source && status.tag == given.tag);
      CHECK(status.error == given.error && bytes_in(status) == many);
      CHECK(read(status, inner_of_program).cancelled == cancelled);
      StatusIn in(&given, nothing);
      CHECK(in.target()->tag == Target::MPI_ANY_TAG);
    }
  }
}

constexpr std::size_t several = 3;

// Statuses of several requests, of which the target writes all, its errors as well.
template <int written, int flag, class All>
std::size_t count_written(int code, const All& all) {
  std::array<ProgramStatus, several> statuses{before(), before(), before()};
  Statuses<0, written, flag> out(statuses.data(), all);
  for (std::size_t n = 0; n < several; ++n) write_message(out.target() + n, 1, 2, 3);
  out.done(code, all);
  std::size_t count = 0;
  while (count < several && !is_untouched(statuses[count])) ++count;
  for (std::size_t n = 0; n < several; ++n) CHECK(statuses[n].error == own_error);
  for (std::size_t n = count; n < several; ++n) CHECK(is_untouched(statuses[n]));
  return count;
}

void several_statuses() {
  constexpr int room = several;
  CHECK(count_written<-1, -1>(0, std::tuple(room)) == several);
  for (int said : {0, 1, 2, 3}) {
    CHECK(count_written<1, -1>(0, std::tuple(room, &said)) == static_cast<std::size_t>(said));
  }
  int undefined = -32766;  // MPI_UNDEFINED, the same in all ABIs
  CHECK(count_written<1, -1>(0, std::tuple(room, &undefined)) == 0);
  int no = 0, yes = 1;
  CHECK(count_written<-1, 1>(0, std::tuple(room, &no)) == 0);
  CHECK(count_written<-1, 1>(0, std::tuple(room, &yes)) == several);
  // After an error each status says what became of its request.
  CHECK(count_written<-1, 1>(Target::MPI_ERR_IN_STATUS, std::tuple(room, &no)) == several);
}

// --- numbers
// -----------------------------------------------------------------------------------------

void numbers_that_stand_for_something() {
  CHECK(Rank(Program::MPI_PROC_NULL, nothing).target() == Target::MPI_PROC_NULL);
  CHECK(Rank(Program::MPI_ANY_SOURCE, nothing).target() == Target::MPI_ANY_SOURCE);
  CHECK(Rank(0, nothing).target() == 0 && Rank(5, nothing).target() == 5);
  CHECK(Tag(Program::MPI_ANY_TAG, nothing).target() == Target::MPI_ANY_TAG);
  CHECK(Tag(0, nothing).target() == 0 && Tag(32767, nothing).target() == 32767);
  CHECK(Offset(Program::MPI_DISPLACEMENT_CURRENT, nothing).target() ==
        Target::MPI_DISPLACEMENT_CURRENT);
  CHECK(Offset(12, nothing).target() == 12);
}

void addresses_that_stand_for_something() {
  Buffer in_place(address_of(Program::MPI_IN_PLACE), nothing);
  CHECK(in_place.target() == address_of(Target::MPI_IN_PLACE));
  for (const Word word : {Word{0}, Word{4096}}) {
    auto* const address = reinterpret_cast<void*>(word);
    CHECK(Buffer(address, nothing).target() == address);
  }
}

void buffers_that_mpi_has_itself() {
  constexpr int own = Program::MPI_BUFFER_AUTOMATIC, theirs = Target::MPI_BUFFER_AUTOMATIC;
  void* place = address_of(own_number);
  BufferOut out(&place, nothing);
  out.done(0, nothing);
  CHECK(place == address_of(own_number));
  if constexpr (own != no_integer && theirs != no_integer) {
    CHECK(special_to_target(address_of(own)) == address_of(theirs));
    CHECK(Buffer(address_of(own), nothing).target() ==
          (Program::MPI_IN_PLACE == Target::MPI_IN_PLACE ? address_of(own) : address_of(theirs)));
    place = address_of(theirs);
    out.done(1, nothing);
    CHECK(place == address_of(theirs));
    out.done(0, nothing);
    CHECK(place == address_of(own));
  }
  for (const int each : {0, 3, -3}) CHECK(special_to_target(address_of(each)) == address_of(each));
}

void weights_that_stand_for_something() {
  int own = 0;
  CHECK(Weights(&own, nothing).target() == &own && Weights(nullptr, nothing).target() == nullptr);
  CHECK(own_unweighted() != own_weights_empty());
  if constexpr (target_abi != Abi::mpich) {  // an MPICH's are in its library
    CHECK(Weights(own_unweighted(), nothing).target() == address_of(Target::MPI_UNWEIGHTED));
    CHECK(Weights(own_weights_empty(), nothing).target() == address_of(Target::MPI_WEIGHTS_EMPTY));
    CHECK(PerformanceHandle(own_all_handles(), nothing).target() ==
          address_of(Target::MPI_T_PVAR_ALL_HANDLES));
  }
  CHECK(PerformanceHandle(&own, nothing).target() == &own);
}

void arrays_of_ranks() {
  const AtTheEnd<int, 3> given({4, Program::MPI_PROC_NULL, 0});
  const auto all = std::tuple(3);
  Ranks<0> in(given.data(), all);
  CHECK(in.target()[0] == 4 && in.target()[1] == Target::MPI_PROC_NULL && in.target()[2] == 0);
  for (const int code : {0, 1}) {
    std::array<int, 4> ranks = {4, Target::MPI_PROC_NULL, 0, Target::MPI_PROC_NULL};
    RanksOut<0>(ranks.data(), all).done(code, all);
    CHECK(ranks[0] == 4 && ranks[2] == 0);
    CHECK(ranks[1] == (code == 0 ? Program::MPI_PROC_NULL : Target::MPI_PROC_NULL));
    CHECK(ranks[3] == Target::MPI_PROC_NULL);
  }
}

void a_number_that_the_target_gives() {
  for (const int code : {0, 1}) {
    int place = own_number;
    RankOut out(&place, nothing);
    out.done(code == 0 ? 1 : code, nothing);
    CHECK(place == own_number);  // an error, and nothing was written
    *out.target() = Target::MPI_PROC_NULL;
    out.done(code, nothing);
    CHECK(place == Program::MPI_PROC_NULL);
  }
  RankOut nowhere(nullptr, nothing);
  CHECK(nowhere.target() == nullptr);
  nowhere.done(0, nothing);
}

void errors_are_those_of_the_program() {
  CHECK(error_to_program(0) == 0 && error_to_target(0) == 0);
  CHECK(error_to_program(Target::MPI_ERR_RANK) == Program::MPI_ERR_RANK);
  CHECK(error_to_target(Program::MPI_ERR_RANK) == Target::MPI_ERR_RANK);
  CHECK(error_to_target(Program::MPI_ERR_NO_MEM) == Target::MPI_ERR_NO_MEM);
}

// Both ABIs have it, and no other name of the group has its value.
bool has_both(const Pair& pair) { return pair.program != no_integer && pair.target != no_integer; }

void each_error_class_has_its_like() {
  for (const Pair& each : pairs<Group::error>) {
    if (each.program == Program::MPI_ERR_LASTCODE) continue;
    if (has_both(each)) {
      CHECK(error_to_target(each.program) == each.target);
      CHECK(error_to_program(each.target) == each.program);
    } else if (each.program != no_integer) {
      CHECK(error_to_target(each.program) == Target::MPI_ERR_OTHER);
    } else if (each.target != no_integer) {
      const bool handler = each.target == Target::MPI_ERR_ERRHANDLER;
      CHECK(error_to_program(each.target) ==
            (handler ? Program::MPI_ERR_ARG : Program::MPI_ERR_OTHER));
    }
  }
}

// Codes that a library made while it ran are above all classes.
void made_errors_stay_apart_from_classes() {
  constexpr int made = 12345678;
  constexpr int last = Program::MPI_ERR_LASTCODE;
  if constexpr (target_abi == Abi::ompi) {
    for (const int code : {1, 93, made}) {
      CHECK(made_error_to_program(code) == last + code);
      CHECK(error_to_target(last + code) == code);
    }
    CHECK(error_to_program(made) == last + made);
    CHECK(error_to_program(Target::MPI_ERR_LASTCODE) == last + Target::MPI_ERR_LASTCODE);
    CHECK(error_to_target(last) == last);
    for (const int code : {0, -1}) CHECK(made_error_to_program(code) == Program::MPI_ERR_OTHER);
  } else {
    for (const int code : {1, made}) CHECK(made_error_to_program(code) == code);
    CHECK(error_to_target(made) == made && error_to_target(last) == last);
    if constexpr (program_abi != Abi::ompi) CHECK(error_to_program(made) == made);
  }
}

void keyvals_there_and_back() {
  for (const Pair& each : pairs<Group::keyval>) {
    CHECK(keyval_to_target(each.program) == each.target);
    CHECK(keyval_to_program(each.target) == each.program);
    CHECK(KeyvalIn(each.program, nothing).target() == each.target);
    int place = each.program;
    KeyvalInOut both(&place, nothing);
    CHECK(*both.target() == each.target);
    *both.target() = Target::MPI_KEYVAL_INVALID;
    both.done(0, nothing);
    CHECK(place == Program::MPI_KEYVAL_INVALID);
  }
  for (const int made : {12, 4711}) {
    CHECK(keyval_to_target(keyval_to_program(made)) == made && keyval_to_program(made) >= made);
  }
}

void bits_and_values_of_a_group() {
  int every_program = 0, every_target = 0;
  for (const Pair& each : pairs<Group::file_mode>) {
    CHECK(InBits<Group::file_mode>(each.program, nothing).target() == each.target);
    CHECK(bits_to_program<Group::file_mode>(each.target) == each.program);
    every_program |= each.program;
    every_target |= each.target;
  }
  CHECK(bits_to_target<Group::file_mode>(every_program) == every_target);
  CHECK(bits_to_program<Group::file_mode>(every_target) == every_program);
  CHECK(bits_to_target<Group::file_mode>(0) == 0);
  for (const Pair& each : pairs<Group::split_type>) {
    if (!has_both(each)) continue;
    CHECK(InOf<Group::split_type>(each.program, nothing).target() == each.target);
    int place = own_number;
    OutOf<Group::split_type> out(&place, nothing);
    *out.target() = each.target;
    out.done(0, nothing);
    CHECK(place == each.program);
  }
  // What one library alone has must not become another's value by chance.
  CHECK(to_target<Group::split_type>(own_number) == no_integer);
  CHECK(to_target<Group::split_type>(-32766) == -32766);
  CHECK(to_target<Group::topology>(own_number) == own_number);
}

// --- texts
// -------------------------------------------------------------------------------------------

void a_text_is_cut_to_the_room_that_the_program_has() {
  std::array<char, 8> room;
  for (const char* const text : {"", "1234567", "12345678", "123456789abcdef"}) {
    room.fill('x');
    int length = -1;
    const auto all = std::tuple(&length);
    Text<8, 32, 0> out(room.data(), all);
    std::snprintf(out.target(), 32, "%s", text);
    out.done(0, all);
    const std::string_view kept = std::string_view(text).substr(0, 7);
    CHECK(room.data() == kept && length == static_cast<int>(kept.size()));
  }
  room.fill('x');
  Text<8, 32, -1> unmeasured(room.data(), nothing);
  std::snprintf(unmeasured.target(), 32, "123456789");
  unmeasured.done(0, nothing);
  CHECK(room.data() == std::string_view("1234567"));
  room.fill('x');
  Text<8, 32, -1> failed(room.data(), nothing);
  failed.done(1, nothing);
  CHECK(room[0] == 'x');
  Text<32, 8, -1> as_it_is(room.data(), nothing);
  CHECK(as_it_is.target() == room.data());
  CHECK((Text<8, 32, -1>(nullptr, nothing).target() == nullptr));
}

// Whatever was there before.
void a_text_that_the_target_does_not_write_is_empty() {
  using Some = Text<8, 32, 0>;
  std::array<char, 8> room{"before"};
  int length = -1;
  const auto all = std::tuple(&length);
  alignas(Some) std::array<unsigned char, sizeof(Some)> place;
  place.fill('x');
  auto* const out = new (place.data()) Some(room.data(), all);
  CHECK(out->target() != room.data());
  out->done(0, all);
  CHECK(room[0] == '\0' && length == 0);
}

// --- large counts
// ------------------------------------------------------------------------------------

constexpr Wide most = INT_MAX, least = INT_MIN;

void counts_fit_or_do_not() {
  for (const Wide value : {Wide{0}, most, least}) {
    CHECK(Narrow(value, nothing).fits() && Narrow(value, nothing).target() == value);
  }
  for (const Wide value : {most + 1, least - 1, Wide{1} << 32}) {
    CHECK(!Narrow(value, nothing).fits());
  }
  const auto all = std::tuple(Wide{3});
  const std::array<Wide, 4> small = {1, most, least, most + 1}, large = {1, 2, most + 1, 0};
  NarrowArray<CountAt<0>, -1> fits(small.data(), all), misses(large.data(), all);
  CHECK(fits.fits() && !misses.fits());
  for (std::size_t n = 0; n < 3; ++n) {
    // The analyzer takes the length for 0. NOLINTNEXTLINE(*UndefinedBinaryOperatorResult)
    CHECK(Wide{fits.target()[n]} == small[n]);
  }
  CHECK((NarrowArray<CountAt<0>, -1>(nullptr, all).fits()));
}

void counts_that_come_back() {
  for (const int code : {0, 1}) {
    Wide place = own_number;
    NarrowOut out(&place, nothing);
    *out.target() = 5;
    out.done(code, nothing);
    CHECK(place == (code == 0 ? 5 : own_number));
    place = own_number;
    NarrowInOut both(&place, nothing);
    CHECK(both.fits() && *both.target() == own_number);
    *both.target() = 6;
    both.done(code, nothing);
    CHECK(place == (code == 0 ? 6 : own_number));
  }
  Wide large = most + 1;
  CHECK(!NarrowInOut(&large, nothing).fits());
}

void arrays_live_as_long_as_their_request() {
  constexpr Word request = 0x98000021;
  const auto all = std::tuple(Wide{2});
  const std::array<Wide, 2> values = {1, 2};
  for (const int code : {1, 0}) {
    NarrowArray<CountAt<0>, 0> array(values.data(), all);
    array.done(code, all);
    CHECK((array.target() == nullptr) == (code == 0));
    keep_with(request);
    CHECK(things_kept() == (code == 0));
  }
  finished(request + 1);
  CHECK(things_kept());
  finished(request);
  CHECK(!things_kept());
  keep_with(request);  // nothing is left for the next one
  CHECK(!things_kept());
}

void room_for_few_and_for_many() {
  for (const Wide count : {0, 1, 64, 65, 1000}) {
    Room<int> room(count);
    for (std::size_t n = 0; n < room.size(); ++n) room[n] = static_cast<int>(n);
    CHECK(room.size() == static_cast<std::size_t>(count));
    for (std::size_t n = 0; n < room.size(); ++n) CHECK(room.data()[n] == static_cast<int>(n));
  }
  CHECK(Room<int>(-1).size() == 0);
}

// --- handles
// -----------------------------------------------------------------------------------------

constexpr Word some_comm = 0x84000010, other_comm = 0x84000011;  // of MPICH's: made, not predefined

template <Kind kind>
TargetHandle<kind> of_target(Word word) {
  return handle_of<TargetHandle<kind>>(word);
}

void a_new_handle_comes_where_the_call_went_well() {
  constexpr auto kind = Kind::comm;
  const auto null = null_for_program<kind>();
  for (const int code : {0, 1}) {
    auto place = null;
    Out<kind> out(&place, nothing);
    *out.target() = of_target<kind>(some_comm);
    out.done(code, nothing);
    CHECK((place == null) == (code != 0));
    if (code == 0) CHECK(word_of(to_target<kind>(place)) == some_comm);
  }
  Out<kind> nowhere(nullptr, nothing);
  CHECK(nowhere.target() == nullptr);
}

void a_handle_that_was_freed_is_null() {
  constexpr auto kind = Kind::comm;
  for (const bool frees : {false, true}) {
    auto place = to_program<kind>(of_target<kind>(other_comm));
    const auto given = place;
    InOut<kind> both(&place, nothing);
    CHECK(word_of(*both.target()) == other_comm);
    if (frees) *both.target() = null_for_target<kind>();
    both.done(0, nothing);
    CHECK(place == (frees ? null_for_program<kind>() : given));
  }
}

template <Kind kind>
void check_predefined() {
  if constexpr (program_abi == Abi::ompi) {  // a pointer, which may be null
    CHECK(word_of(to_target<kind>(handle_of<ProgramHandle<kind>>(Word{0}))) == 0);
  }
  for (const Predefined& each : predefined) {
    const bool everywhere = each.mpich != no_value && each.std != no_value && each.ompi != nullptr;
    if (each.kind != kind || !everywhere) continue;
    const auto word = target_abi == Abi::mpich ? each.mpich : each.std;
    const auto handle = to_program<kind>(of_target<kind>(word));
    CHECK(word_of(to_target<kind>(handle)) == word);
    if constexpr (program_abi == Abi::mpich) CHECK(word_of(handle) == each.mpich);
    if constexpr (program_abi == Abi::std) CHECK(word_of(handle) == each.std);
  }
}

void handles_of_predefined_things() {
  check_predefined<Kind::comm>();
  check_predefined<Kind::datatype>();
  check_predefined<Kind::errhandler>();
  check_predefined<Kind::group>();
  check_predefined<Kind::info>();
  check_predefined<Kind::message>();
  check_predefined<Kind::op>();
  check_predefined<Kind::request>();
  check_predefined<Kind::session>();
  check_predefined<Kind::win>();
}

void requests_that_ended_are_null() {
  constexpr auto kind = Kind::request;
  const auto null = null_for_program<kind>();
  std::array<ProgramHandle<kind>, 3> handles = {to_program<kind>(of_target<kind>(0x98000001)), null,
                                                to_program<kind>(of_target<kind>(0x98000002))};
  const auto all = std::tuple(static_cast<int>(handles.size()));
  Requests<0> requests(handles.data(), all);
  CHECK(word_of(requests.target()[0]) == 0x98000001);
  CHECK(requests.target()[1] == null_for_target<kind>());
  const auto other = handles[2];
  requests.target()[0] = null_for_target<kind>();
  requests.done(0, all);
  CHECK(handles[0] == null && handles[1] == null && handles[2] == other);
}

int ended = 0;

// Arrays that a call hands to its request, as an MPI_Ialltoallw does.
void what_is_kept_with_a_request_goes_when_it_ends() {
  constexpr auto kind = Kind::request;
  constexpr Word one = 0x98000007, other = 0x98000008;
  CHECK(!things_kept());
  for (const Word word : {one, one, other}) keep_with(word, [](void*) { ++ended; }, nullptr);
  CHECK(things_kept());
  std::array<ProgramHandle<kind>, 2> handles = {to_program<kind>(of_target<kind>(one)),
                                                to_program<kind>(of_target<kind>(other))};
  const auto all = std::tuple(static_cast<int>(handles.size()));
  Requests<0> requests(handles.data(), all);
  requests.done(0, all);
  CHECK(ended == 0);
  requests.target()[0] = null_for_target<kind>();
  requests.done(0, all);
  CHECK(ended == 2 && things_kept());
  InOut<kind> freed(&handles[1], nothing);
  *freed.target() = null_for_target<kind>();
  freed.done(0, nothing);
  CHECK(ended == 3 && !things_kept());
}

void arrays_of_types() {
  constexpr auto kind = Kind::datatype;
  const Predefined* byte = nullptr;
  for (const Predefined& each : predefined) {
    const bool is_byte = each.ompi != nullptr && each.ompi == std::string_view("ompi_mpi_byte");
    if (is_byte && byte == nullptr) byte = &each;
  }
  CHECK(byte != nullptr);
  if (byte == nullptr) return;
  const Word word = target_abi == Abi::mpich ? byte->mpich : byte->std;
  const std::array<ProgramHandle<kind>, 2> types = {to_program<kind>(of_target<kind>(word)),
                                                    null_for_program<kind>()};
  for (void* const buffer : {address_of(Program::MPI_IN_PLACE), address_of(own_number)}) {
    const auto all = std::tuple(Wide{2}, buffer);
    const bool in_place = buffer == address_of(Program::MPI_IN_PLACE);
    Types<CountAt<0>, -1, 1> some(types.data(), all);
    Types<CountAt<0>, -1, -1> every(types.data(), all);
    CHECK((some.target() == nullptr) == in_place);
    for (const auto* const made : {some.target(), every.target()}) {
      if (made == nullptr) continue;
      CHECK(word_of(made[0]) == word && made[1] == null_for_target<kind>());
    }
    CHECK((Types<CountAt<0>, -1, -1>(nullptr, all).target() == nullptr));
  }
  InArray<kind, 0> read(types.data(), std::tuple(Wide{2}));
  CHECK(word_of(read.target()[0]) == word && read.target()[1] == null_for_target<kind>());
}

// Of which the target has none: null, not another's object.
template <Kind kind>
void check_missing() {
  for (const Predefined& each : predefined) {
    const Word own = program_abi == Abi::mpich ? each.mpich : each.std;
    const Word theirs = target_abi == Abi::mpich ? each.mpich : each.std;
    if (each.kind != kind || program_abi == Abi::ompi) continue;
    if (own == no_value || theirs != no_value) continue;
    CHECK(to_target<kind>(handle_of<ProgramHandle<kind>>(own)) == null_for_target<kind>());
  }
}

void what_only_the_program_has_is_null() {
  check_missing<Kind::comm>();
  check_missing<Kind::datatype>();
  check_missing<Kind::errhandler>();
  check_missing<Kind::op>();
}

// More of them at a time than a thread has numbers in hand, twice.
void every_request_has_a_number_of_its_own() {
  constexpr auto kind = Kind::request;
  constexpr std::size_t many = 3 * OwnNumbers::most;
  static std::array<ProgramHandle<kind>, many> handles;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = 0; n < many; ++n) {
      handles[n] = to_program<kind>(of_target<kind>(0x98001000 + n));
    }
    for (std::size_t n = 0; n < many; ++n) {
      CHECK(word_of(to_target<kind>(handles[n])) == 0x98001000 + n);
    }
    for (const auto handle : handles) forget<kind>(handle);
  }
  if constexpr (in_slots) {
    // What was given back is taken again: no more numbers than were in use at once, and in hand.
    for (const auto handle : handles)
      CHECK((word_of(handle) & slot_mask) < 16 + many + OwnNumbers::most);
  }
}

void a_slot_is_free_when_it_was_freed_as_often_as_made() {
  static SharedSlots slots;
  const auto number = slots.made(100);
  CHECK(slots.made(100) == number && slots.seen(100) == number && slots.at(number) == 100);
  CHECK(slots.made(200) != number);
  slots.freed(number);
  CHECK(slots.made(300) != number && slots.at(number) == 100);
  slots.freed(number);
  CHECK(slots.made(400) == number && slots.at(number) == 400);
  // What the program only sees, it may free at once.
  const auto seen = slots.seen(500);
  slots.freed(seen);
  CHECK(slots.made(600) == seen);
}

void numbers_of_a_thread_that_ended_are_others() {
  constexpr auto kind = Kind::request;
  Word highest = 0;
  for (int n = 0; n < 100; ++n) {
    std::thread([&] {
      const auto handle = to_program<kind>(of_target<kind>(0x98000001));
      highest = std::max(highest, word_of(handle) & slot_mask);
      forget<kind>(handle);
    }).join();
  }
  if constexpr (in_slots) CHECK(highest < 16 + 5 * OwnNumbers::most);
}

void slots_are_taken_and_given_back() {
  constexpr std::size_t many = 2 * Slots::in_chunk + 1;
  static Slots slots;
  static std::array<Slots::Number, many> numbers;
  constexpr Slots::Number far = (Slots::most_chunks - 1) * Slots::in_chunk;
  CHECK(slots.at(far) == 0 && slots.at(Slots::most_chunks * Slots::in_chunk) == 0);
  slots.take(numbers.data(), many);
  for (std::size_t n = 0; n < many; ++n) {
    CHECK(numbers[n] == Slots::first + n);
    slots.set(numbers[n], 1000 + n);
  }
  for (std::size_t n = 0; n < many; ++n) CHECK(slots.at(numbers[n]) == 1000 + n);
  const std::array<Slots::Number, 2> back = {numbers[7], numbers[4099]};
  slots.give_back(back.data(), back.size());
  std::array<Slots::Number, 3> again{};
  slots.take(again.data(), again.size());
  CHECK(again[0] == back[1] && again[1] == back[0] && again[2] == Slots::first + many);
  CHECK(slots.at(numbers[8]) == 1008);
}

}  // namespace

int main() {
  fill_tables();
  a_status_keeps_the_error_that_the_target_did_not_write();
  a_status_has_the_error_that_the_target_wrote();
  a_status_is_written_where_its_flag_says_so();
  ranks_and_tags_of_a_status_that_are_none();
  a_status_goes_to_the_target_and_comes_back();
  several_statuses();
  numbers_that_stand_for_something();
  addresses_that_stand_for_something();
  buffers_that_mpi_has_itself();
  weights_that_stand_for_something();
  arrays_of_ranks();
  a_number_that_the_target_gives();
  errors_are_those_of_the_program();
  each_error_class_has_its_like();
  made_errors_stay_apart_from_classes();
  keyvals_there_and_back();
  bits_and_values_of_a_group();
  a_text_is_cut_to_the_room_that_the_program_has();
  a_text_that_the_target_does_not_write_is_empty();
  counts_fit_or_do_not();
  counts_that_come_back();
  arrays_live_as_long_as_their_request();
  room_for_few_and_for_many();
  slots_are_taken_and_given_back();
  a_slot_is_free_when_it_was_freed_as_often_as_made();
  if constexpr (target_abi != Abi::ompi) {  // an Open MPI's handles are in its library
    a_new_handle_comes_where_the_call_went_well();
    a_handle_that_was_freed_is_null();
    handles_of_predefined_things();
    arrays_of_types();
    what_only_the_program_has_is_null();
    every_request_has_a_number_of_its_own();
    numbers_of_a_thread_that_ended_are_others();
    requests_that_ended_are_null();
    what_is_kept_with_a_request_goes_when_it_ends();
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
