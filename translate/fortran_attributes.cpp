// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Attributes of Fortran: integers as long as addresses. C gets the address of such an integer, and
// Fortran gets the address that C has set as an integer; so both see what the other has set.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "subroutines.hpp"

#if !MPIGAUGE_PROGRAM_IS_STD

using namespace mpigauge::translate;  // NOLINT: what follows are the program's subroutines

// --- values that Fortran has set ----------------------------------------------------------------

namespace {

/// Each is where its address says until its attribute is deleted by a function of Fortran; those
/// that a function of C deletes stay, as it may have copied their address.
class Values {
 public:
  void* keep(Wide value) {
    const std::scoped_lock lock(mutex_);
    auto place = std::make_unique<Wide>(value);
    void* const address = place.get();
    places_.emplace(address, std::move(place));
    return address;
  }
  Wide at(void* address) {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(address);
    return found != places_.end() ? *found->second
                                  : static_cast<Wide>(reinterpret_cast<Word>(address));
  }
  void forget(void* address) {
    const std::scoped_lock lock(mutex_);
    places_.erase(address);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Wide>> places_;
};

Values& values() {
  static auto* const all = new Values;  // attributes are deleted while the process ends, too
  return *all;
}

}  // namespace

namespace mpigauge::translate::fortran {

void* attribute_of(Wide value) { return values().keep(value); }

}  // namespace mpigauge::translate::fortran

// --- functions of keyvals -----------------------------------------------------------------------

namespace {

// Functions of Fortran take all by address.
struct Keyval {
  Function copy, free;
  Wide extra;
};

template <Kind kind>
int copy_attribute(ProgramHandle<kind> handle, int keyval, void* state, void* value, void* copied,
                   int* flag) {
  auto& own = *static_cast<Keyval*>(state);
  int number = to_fortran<kind>(handle), code = 0;
  Wide given = values().at(value), made = given;
  using Real = void (*)(int*, int*, Wide*, Wide*, Wide*, int*, int*);
  reinterpret_cast<Real>(own.copy)(&number, &keyval, &own.extra, &given, &made, flag, &code);
  if (code != 0 || *flag == 0) return code;
  void* const kept = values().keep(made);
  std::memcpy(copied, static_cast<const void*>(&kept), sizeof kept);
  return 0;
}

template <Kind kind>
int free_attribute(ProgramHandle<kind> handle, int keyval, void* value, void* state) {
  auto& own = *static_cast<Keyval*>(state);
  int number = to_fortran<kind>(handle), code = 0;
  Wide given = values().at(value);
  using Real = void (*)(int*, int*, Wide*, Wide*, int*);
  reinterpret_cast<Real>(own.free)(&number, &keyval, &given, &own.extra, &code);
  if (code == 0) values().forget(value);
  return code;
}

template <Kind kind, class Create>
void keyval_create(Create create, Function copy, Function free, int* keyval, Wide extra,
                   int* ierror) {
  auto* const state = new Keyval{copy, free, extra};  // attributes may outlive the keyval
  fortran::tell(ierror, create(reinterpret_cast<Function>(copy_attribute<kind>),
                               reinterpret_cast<Function>(free_attribute<kind>), keyval, state));
}

// A key of what MPI has set, as C has it, or no_integer: in MPICH those of Fortran are the next
// numbers.
int key_of_mpi(int keyval) {
  constexpr int distance = program_abi == Abi::mpich ? 1 : 0;
  for (const Pair& each : pairs<Group::keyval>) {
    if (each.program != no_integer && each.program + distance == keyval) return each.program;
  }
  return no_integer;
}

// What MPI has set comes as the address of an integer, what a program has set as it is.
Wide value_of(int key, void* found) {
  if (key == no_integer || key == Program::MPI_WIN_BASE) return values().at(found);
  return key == Program::MPI_WIN_SIZE ? *static_cast<Wide*>(found) : *static_cast<int*>(found);
}

template <Kind kind, class Get>
void get_attribute(Get get, const int* number, const int* keyval, Wide* value, int* flag,
                   int* ierror) {
  function_of<call_Initialized>();
  const int key = key_of_mpi(*keyval);
  void* found = nullptr;
  const int code =
      get(from_fortran<kind>(*number), key == no_integer ? *keyval : key, &found, flag);
  fortran::tell(ierror, code);
  if (code == 0 && *flag != 0) *value = value_of(key, found);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
MPIGAUGE_SUBROUTINE(Comm_create_keyval, comm_create_keyval, COMM_CREATE_KEYVAL,
                    (Function copy, Function free, int* keyval, const Wide* extra, int* ierror),
                    keyval_create<Kind::comm>(MPIGAUGE_IN_C(Comm_create_keyval), copy, free, keyval,
                                              *extra, ierror))
MPIGAUGE_SUBROUTINE(Keyval_create, keyval_create, KEYVAL_CREATE,
                    (Function copy, Function free, int* keyval, const int* extra, int* ierror),
                    keyval_create<Kind::comm>(PMPI_Comm_create_keyval, copy, free, keyval, *extra,
                                              ierror))
MPIGAUGE_SUBROUTINE(Type_create_keyval, type_create_keyval, TYPE_CREATE_KEYVAL,
                    (Function copy, Function free, int* keyval, const Wide* extra, int* ierror),
                    keyval_create<Kind::datatype>(MPIGAUGE_IN_C(Type_create_keyval), copy, free,
                                                  keyval, *extra, ierror))
MPIGAUGE_SUBROUTINE(Win_create_keyval, win_create_keyval, WIN_CREATE_KEYVAL,
                    (Function copy, Function free, int* keyval, const Wide* extra, int* ierror),
                    keyval_create<Kind::win>(MPIGAUGE_IN_C(Win_create_keyval), copy, free, keyval,
                                             *extra, ierror))
MPIGAUGE_SUBROUTINE(Comm_get_attr, comm_get_attr, COMM_GET_ATTR,
                    (const int* comm, const int* keyval, Wide* value, int* flag, int* ierror),
                    get_attribute<Kind::comm>(PMPI_Comm_get_attr, comm, keyval, value, flag,
                                              ierror))
MPIGAUGE_SUBROUTINE(Win_get_attr, win_get_attr, WIN_GET_ATTR,
                    (const int* win, const int* keyval, Wide* value, int* flag, int* ierror),
                    get_attribute<Kind::win>(PMPI_Win_get_attr, win, keyval, value, flag, ierror))
MPIGAUGE_SUBROUTINE(Type_get_attr, type_get_attr, TYPE_GET_ATTR,
                    (const int* type, const int* keyval, Wide* value, int* flag, int* ierror),
                    get_attribute<Kind::datatype>(PMPI_Type_get_attr, type, keyval, value, flag,
                                                  ierror))

namespace {

// MPI-1's have integers for values.
void attr_get(const int* comm, const int* keyval, int* value, int* flag, int* ierror) {
  Wide found = 0;
  get_attribute<Kind::comm>(PMPI_Comm_get_attr, comm, keyval, &found, flag, ierror);
  if (*flag != 0) *value = static_cast<int>(found);
}
void attr_put(const int* comm, const int* keyval, const int* value, int* ierror) {
  function_of<call_Initialized>();
  const auto own = from_fortran<Kind::comm>(*comm);
  fortran::tell(ierror, PMPI_Comm_set_attr(own, *keyval, fortran::attribute_of(*value)));
}

}  // namespace

MPIGAUGE_SUBROUTINE(Attr_get, attr_get, ATTR_GET,
                    (const int* comm, const int* keyval, int* value, int* flag, int* ierror),
                    attr_get(comm, keyval, value, flag, ierror))
MPIGAUGE_SUBROUTINE(Attr_put, attr_put, ATTR_PUT,
                    (const int* comm, const int* keyval, const int* value, int* ierror),
                    attr_put(comm, keyval, value, ierror))

// --- predefined functions of attributes ---------------------------------------------------------

// As Wide, also those of MPI-1, whose values are integers: the lower half is theirs.
#define MPIGAUGE_COPIES(PREFIX, UPPER)                                                   \
  MPIGAUGE_EXPORT void PREFIX##null_copy_fn_(int*, int*, Wide*, Wide*, Wide*, int* flag, \
                                             int* ierror) {                              \
    *flag = 0;                                                                           \
    *ierror = 0;                                                                         \
  }                                                                                      \
  MPIGAUGE_EXPORT void PREFIX##dup_fn_(int*, int*, Wide*, const Wide* value, Wide* copy, \
                                       int* flag, int* ierror) {                         \
    *copy = *value;                                                                      \
    *flag = 1;                                                                           \
    *ierror = 0;                                                                         \
  }                                                                                      \
  MPIGAUGE_EXPORT void PREFIX##null_delete_fn_(int*, int*, Wide*, Wide*, int* ierror) {  \
    *ierror = 0;                                                                         \
  }                                                                                      \
  MPIGAUGE_PREDEFINED(PREFIX##null_copy_fn, UPPER##NULL_COPY_FN)                         \
  MPIGAUGE_PREDEFINED(PREFIX##dup_fn, UPPER##DUP_FN)                                     \
  MPIGAUGE_PREDEFINED(PREFIX##null_delete_fn, UPPER##NULL_DELETE_FN)
MPIGAUGE_COPIES(mpi_, MPI_)
MPIGAUGE_COPIES(mpi_comm_, MPI_COMM_)
MPIGAUGE_COPIES(mpi_type_, MPI_TYPE_)
MPIGAUGE_COPIES(mpi_win_, MPI_WIN_)
// NOLINTEND(bugprone-macro-parentheses)

#endif
