// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Functions of the program that MPI calls: what the target hands over is translated on the way in.
#include <unordered_map>
#include <utility>

#include "fortran_handles.hpp"

namespace mpigauge::translate {

// --- functions of Fortran ------------------------------------------------------------------------

namespace {

// Subroutines call the functions of C, which cannot take one more argument.
constinit thread_local bool is_next_of_fortran = false;

How how_of_next() { return std::exchange(is_next_of_fortran, false) ? as_fortran : as_c; }
How how_of_next_large() {
  return how_of_next() == as_c ? as_c_with_large_count : as_fortran_with_large_count;
}

}  // namespace

FunctionOfFortran::FunctionOfFortran() { is_next_of_fortran = true; }
FunctionOfFortran::~FunctionOfFortran() { is_next_of_fortran = false; }

// --- operations ---------------------------------------------------------------------------------

namespace {

using Type = TargetHandle<Kind::datatype>;

template <class Number, class Datatype>
void call_operation(const Callback& callback, void* in, void* inout, Number count, Datatype type) {
  using Real = void (*)(void*, void*, Number*, Datatype*);
  reinterpret_cast<Real>(callback.function)(in, inout, &count, &type);
}

template <class Count>
void run_operation(void* in, void* inout, Count* count, Type* type, const Callback* callback) {
  const auto own = to_program<Kind::datatype>(*type, Given::seen);
  const auto few = static_cast<int>(*count);
  const Wide many = *count;
  switch (callback->how) {
    case as_c: return call_operation(*callback, in, inout, few, own);
    case as_c_with_large_count: return call_operation(*callback, in, inout, many, own);
    case as_fortran:
      return call_operation(*callback, in, inout, few, to_fortran<Kind::datatype>(own));
    default: return call_operation(*callback, in, inout, many, to_fortran<Kind::datatype>(own));
  }
}

template <class Count>
Function thunk_of_operation(const Callback& callback) {
  static auto* const thunks = new Thunks(reinterpret_cast<Function>(run_operation<Count>), 4);
  return thunks->of(callback);
}

int create_op(Function function, How how, int commutes, ProgramHandle<Kind::op>* op) {
  if (function_of<call_Op_create>() == nullptr) return missing(call_Op_create);
  auto made = null_for_target<Kind::op>();
  int code = 0;
  const bool is_large = how == as_c_with_large_count || how == as_fortran_with_large_count;
  if (is_large && function_of<call_Op_create_c>() != nullptr) {
    code = ask<call_Op_create_c>(thunk_of_operation<Wide>({function, how}), commutes, &made);
  } else {
    code = ask<call_Op_create>(thunk_of_operation<int>({function, how}), commutes, &made);
  }
  if (code == 0) *op = to_program<Kind::op>(made);
  return error_to_program(code);
}

}  // namespace

// --- error handlers -----------------------------------------------------------------------------

namespace {

template <Kind kind>
void run_handler(TargetHandle<kind>* handle, int* code, const Callback* callback) {
  auto own = to_program<kind>(*handle, Given::seen);
  int error = error_to_program(*code);
  if (callback->how == as_fortran) {
    int number = to_fortran<kind>(own);
    reinterpret_cast<void (*)(int*, int*)>(callback->function)(&number, &error);
    return;
  }
  using Real = void (*)(ProgramHandle<kind>*, int*, ...);
  reinterpret_cast<Real>(callback->function)(&own, &error);
}

template <Kind kind>
constexpr Call creator() {
  switch (kind) {
    case Kind::file: return call_File_create_errhandler;
    case Kind::win: return call_Win_create_errhandler;
    case Kind::session: return call_Session_create_errhandler;
    default: return call_Comm_create_errhandler;
  }
}

template <Kind kind>
int create_errhandler(Function function, How how, ProgramHandle<Kind::errhandler>* errhandler) {
  static auto* const thunks = new Thunks(reinterpret_cast<Function>(run_handler<kind>), 2);
  if (function_of<creator<kind>()>() == nullptr) return missing(creator<kind>());
  auto made = null_for_target<Kind::errhandler>();
  const int code = ask<creator<kind>()>(thunks->of({function, how}), &made);
  if (code == 0) *errhandler = to_program<Kind::errhandler>(made);
  return error_to_program(code);
}

}  // namespace

// --- attributes ---------------------------------------------------------------------------------

namespace {

// What the program said of a keyval. It is there as long as the keyval, or an attribute of it.
struct Keyval {
  Function copy, free;
  void* extra;
  std::atomic<long> uses{1};
};

void let_go(Keyval* keyval) {
  if (keyval->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete keyval;
}

// By the target's number of them; each kind counts its own.
struct Keyvals {
  std::mutex lock;
  std::unordered_map<int, Keyval*> by_number;
};
Keyvals& keyvals_of(Kind kind) {
  static auto* const all = new std::array<Keyvals, kinds>;
  return (*all)[static_cast<std::size_t>(kind)];
}

template <Kind kind>
int copy_attribute(TargetHandle<kind> handle, int keyval, void* extra, void* value, void* copied,
                   int* flag) {
  auto& own = *static_cast<Keyval*>(extra);
  const auto number = reinterpret_cast<Word>(own.copy);
  *flag = number == 0 ? 0 : 1;
  if (number == 0) return 0;
  int code = 0;
  if (number == 1) {  // the standard's MPI_COMM_DUP_FN
    std::memcpy(copied, static_cast<void*>(&value), sizeof value);
  } else {
    using Real = int (*)(ProgramHandle<kind>, int, void*, void*, void*, int*);
    code =
        reinterpret_cast<Real>(own.copy)(to_program<kind>(handle, Given::seen),
                                         keyval_to_program(keyval), own.extra, value, copied, flag);
  }
  if (code == 0 && *flag != 0) own.uses.fetch_add(1, std::memory_order_relaxed);
  return error_to_target(code);
}

template <Kind kind>
int free_attribute(TargetHandle<kind> handle, int keyval, void* value, void* extra) {
  auto* const own = static_cast<Keyval*>(extra);
  int code = 0;
  if (own->free != nullptr) {
    using Real = int (*)(ProgramHandle<kind>, int, void*, void*);
    code = reinterpret_cast<Real>(own->free)(to_program<kind>(handle, Given::seen),
                                             keyval_to_program(keyval), value, own->extra);
  }
  if (code == 0) let_go(own);
  return error_to_target(code);
}

template <Kind kind, Call call>
int create_keyval(Function copy, Function free, int* keyval, void* extra) {
  if (function_of<call>() == nullptr) return missing(call);
  int made = 0;
  auto* const own = new Keyval{copy, free, extra};
  const int code =
      ask<call>(copy_attribute<kind>, free_attribute<kind>, &made, static_cast<void*>(own));
  if (code != 0) {
    delete own;
    return error_to_program(code);
  }
  Keyvals& all = keyvals_of(kind);
  const std::scoped_lock guard(all.lock);
  all.by_number[made] = own;
  *keyval = keyval_to_program(made);
  return 0;
}

}  // namespace

void* hold_keyval(Kind kind, int number) {
  Keyvals& all = keyvals_of(kind);
  const std::scoped_lock guard(all.lock);
  const auto found = all.by_number.find(number);
  if (found == all.by_number.end()) return nullptr;
  found->second->uses.fetch_add(1, std::memory_order_relaxed);
  return found->second;
}
void let_keyval_go(void* held) {
  if (held != nullptr) let_go(static_cast<Keyval*>(held));
}
void forget_keyval(Kind kind, int number) {
  Keyvals& all = keyvals_of(kind);
  const std::scoped_lock guard(all.lock);
  const auto found = all.by_number.find(number);
  if (found == all.by_number.end()) return;
  let_go(found->second);
  all.by_number.erase(found);
}

// --- requests and data representations of the program -------------------------------------------

namespace {

struct Generalized {
  Function query, free, cancel;
  void* extra;
};

int query_request(void* state, TargetStatus* status) {
  const auto& own = *static_cast<const Generalized*>(state);
  ProgramStatus given{};
  status_to_program(*status, given);
  const int code = reinterpret_cast<int (*)(void*, ProgramStatus*)>(own.query)(own.extra, &given);
  status_to_target(given, *status);
  return error_to_target(code);
}
int free_request(void* state) {
  const std::unique_ptr<Generalized> own(static_cast<Generalized*>(state));
  return error_to_target(reinterpret_cast<int (*)(void*)>(own->free)(own->extra));
}
int cancel_request(void* state, int complete) {
  const auto& own = *static_cast<const Generalized*>(state);
  return error_to_target(reinterpret_cast<int (*)(void*, int)>(own.cancel)(own.extra, complete));
}

struct Representation {
  Function read, write, extent;
  void* extra;
  bool large;
};

template <class Count>
int convert(Function function, bool large, void* buffer, Type type, Count count, void* file,
            Wide position, void* extra) {
  const auto own = to_program<Kind::datatype>(type, Given::seen);
  using Handle = ProgramHandle<Kind::datatype>;
  if (large) {
    using Real = int (*)(void*, Handle, Wide, void*, Wide, void*);
    return error_to_target(
        reinterpret_cast<Real>(function)(buffer, own, count, file, position, extra));
  }
  using Real = int (*)(void*, Handle, int, void*, Wide, void*);
  return error_to_target(reinterpret_cast<Real>(function)(buffer, own, static_cast<int>(count),
                                                          file, position, extra));
}
template <class Count>
int read_data(void* buffer, Type type, Count count, void* file, Wide position, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  return convert(own.read, own.large, buffer, type, count, file, position, own.extra);
}
template <class Count>
int write_data(void* buffer, Type type, Count count, void* file, Wide position, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  return convert(own.write, own.large, buffer, type, count, file, position, own.extra);
}
int extent_of_data(Type type, Wide* extent, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  using Real = int (*)(ProgramHandle<Kind::datatype>, Wide*, void*);
  return error_to_target(reinterpret_cast<Real>(own.extent)(
      to_program<Kind::datatype>(type, Given::seen), extent, own.extra));
}

template <Call call, class Count>
int register_data(const char* name, const Representation& own) {
  if (function_of<call>() == nullptr) return missing(call);
  // It stays for good, as the standard has no way to take one back.
  auto* const state = new Representation(own);
  const auto reader = own.read == nullptr ? nullptr : read_data<Count>;
  const auto writer = own.write == nullptr ? nullptr : write_data<Count>;
  const int code = ask<call>(name, reader, writer, extent_of_data, static_cast<void*>(state));
  if (code != 0) delete state;
  return error_to_program(code);
}

}  // namespace

}  // namespace mpigauge::translate

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

MPIGAUGE_EXPORT int PMPI_Op_create(Function function, int commutes, ProgramHandle<Kind::op>* op) {
  return create_op(function, how_of_next(), commutes, op);
}
MPIGAUGE_EXPORT int PMPI_Op_create_c(Function function, int commutes, ProgramHandle<Kind::op>* op) {
  return create_op(function, how_of_next_large(), commutes, op);
}
MPIGAUGE_EXPORT int PMPI_Comm_create_errhandler(Function function,
                                                ProgramHandle<Kind::errhandler>* made) {
  return create_errhandler<Kind::comm>(function, how_of_next(), made);
}
MPIGAUGE_EXPORT int PMPI_File_create_errhandler(Function function,
                                                ProgramHandle<Kind::errhandler>* made) {
  return create_errhandler<Kind::file>(function, how_of_next(), made);
}
MPIGAUGE_EXPORT int PMPI_Win_create_errhandler(Function function,
                                               ProgramHandle<Kind::errhandler>* made) {
  return create_errhandler<Kind::win>(function, how_of_next(), made);
}
MPIGAUGE_EXPORT int PMPI_Session_create_errhandler(Function function,
                                                   ProgramHandle<Kind::errhandler>* made) {
  return create_errhandler<Kind::session>(function, how_of_next(), made);
}
MPIGAUGE_EXPORT int PMPI_Comm_create_keyval(Function copy, Function free, int* keyval,
                                            void* extra) {
  return create_keyval<Kind::comm, call_Comm_create_keyval>(copy, free, keyval, extra);
}
MPIGAUGE_EXPORT int PMPI_Keyval_create(Function copy, Function free, int* keyval, void* extra) {
  return create_keyval<Kind::comm, call_Comm_create_keyval>(copy, free, keyval, extra);
}
MPIGAUGE_EXPORT int PMPI_Type_create_keyval(Function copy, Function free, int* keyval,
                                            void* extra) {
  return create_keyval<Kind::datatype, call_Type_create_keyval>(copy, free, keyval, extra);
}
MPIGAUGE_EXPORT int PMPI_Win_create_keyval(Function copy, Function free, int* keyval, void* extra) {
  return create_keyval<Kind::win, call_Win_create_keyval>(copy, free, keyval, extra);
}
MPIGAUGE_EXPORT int PMPI_Grequest_start(Function query, Function free, Function cancel, void* extra,
                                        ProgramHandle<Kind::request>* request) {
  auto made = null_for_target<Kind::request>();
  if (function_of<call_Grequest_start>() == nullptr) return missing(call_Grequest_start);
  auto* const state = new Generalized{query, free, cancel, extra};
  const int code = ask<call_Grequest_start>(query_request, free_request, cancel_request,
                                            static_cast<void*>(state), &made);
  if (code == 0) {
    *request = to_program<Kind::request>(made);
  } else {
    delete state;
  }
  return error_to_program(code);
}
MPIGAUGE_EXPORT int PMPI_Register_datarep(const char* name, Function read, Function write,
                                          Function extent, void* extra) {
  return register_data<call_Register_datarep, int>(name, {read, write, extent, extra, false});
}
MPIGAUGE_EXPORT int PMPI_Register_datarep_c(const char* name, Function read, Function write,
                                            Function extent, void* extra) {
  const Representation own{read, write, extent, extra, true};
  if (function_of<call_Register_datarep_c>() == nullptr) {
    return register_data<call_Register_datarep, int>(name, own);
  }
  return register_data<call_Register_datarep_c, Wide>(name, own);
}

MPIGAUGE_ALSO(Op_create)
MPIGAUGE_ALSO(Op_create_c)
MPIGAUGE_ALSO(Comm_create_errhandler)
MPIGAUGE_ALSO(File_create_errhandler)
MPIGAUGE_ALSO(Win_create_errhandler)
MPIGAUGE_ALSO(Session_create_errhandler)
MPIGAUGE_ALSO(Comm_create_keyval)
MPIGAUGE_ALSO(Keyval_create)
MPIGAUGE_ALSO(Type_create_keyval)
MPIGAUGE_ALSO(Win_create_keyval)
MPIGAUGE_ALSO(Grequest_start)
MPIGAUGE_ALSO(Register_datarep)
MPIGAUGE_ALSO(Register_datarep_c)
