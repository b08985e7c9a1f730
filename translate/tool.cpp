// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Of the tool interface: variables that belong to an object get its handle by its address, and
// which kind of object it is has to be asked for.
#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

namespace {

// The handle of an object for the target; its address goes to the call.
class BoundTo {
 public:
  BoundTo(int bind, const void* object) {
    if (object == nullptr) return;
    take<Kind::comm>(bind, Target::MPI_T_BIND_MPI_COMM, object);
    take<Kind::datatype>(bind, Target::MPI_T_BIND_MPI_DATATYPE, object);
    take<Kind::errhandler>(bind, Target::MPI_T_BIND_MPI_ERRHANDLER, object);
    take<Kind::file>(bind, Target::MPI_T_BIND_MPI_FILE, object);
    take<Kind::group>(bind, Target::MPI_T_BIND_MPI_GROUP, object);
    take<Kind::info>(bind, Target::MPI_T_BIND_MPI_INFO, object);
    take<Kind::message>(bind, Target::MPI_T_BIND_MPI_MESSAGE, object);
    take<Kind::op>(bind, Target::MPI_T_BIND_MPI_OP, object);
    take<Kind::request>(bind, Target::MPI_T_BIND_MPI_REQUEST, object);
    take<Kind::win>(bind, Target::MPI_T_BIND_MPI_WIN, object);
  }
  void* target() { return is_bound_ ? &word_ : nullptr; }

 private:
  template <Kind kind>
  void take(int bind, int wanted, const void* object) {
    if (bind != wanted) return;
    const auto handle = to_target<kind>(*static_cast<const ProgramHandle<kind>*>(object));
    std::memcpy(&word_, static_cast<const void*>(&handle), sizeof handle);
    is_bound_ = true;
  }
  Word word_ = 0;
  bool is_bound_ = false;
};

int bind_of_control(int index) {
  int bind = 0, verbosity = 0, scope = 0, none = 0;
  auto type = null_for_target<Kind::datatype>();
  void* enumeration = nullptr;
  ask<call_T_cvar_get_info>(index, static_cast<char*>(nullptr), &none, &verbosity, &type,
                            &enumeration, static_cast<char*>(nullptr), &none, &bind, &scope);
  return bind;
}

int bind_of_performance(int index) {
  int bind = 0, verbosity = 0, kind = 0, none = 0, yes = 0;
  auto type = null_for_target<Kind::datatype>();
  void* enumeration = nullptr;
  ask<call_T_pvar_get_info>(index, static_cast<char*>(nullptr), &none, &verbosity, &kind, &type,
                            &enumeration, static_cast<char*>(nullptr), &none, &bind, &yes, &yes,
                            &yes);
  return bind;
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_T_cvar_handle_alloc(int index, void* object, void** handle, int* count) {
  if (function_of<call_T_cvar_handle_alloc>() == nullptr) return missing(call_T_cvar_handle_alloc);
  BoundTo bound(bind_of_control(index), object);
  return error_to_program(ask<call_T_cvar_handle_alloc>(index, bound.target(), handle, count));
}
MPIGAUGE_EXPORT int PMPI_T_pvar_handle_alloc(void* session, int index, void* object, void** handle,
                                             int* count) {
  if (function_of<call_T_pvar_handle_alloc>() == nullptr) return missing(call_T_pvar_handle_alloc);
  BoundTo bound(bind_of_performance(index), object);
  return error_to_program(
      ask<call_T_pvar_handle_alloc>(session, index, bound.target(), handle, count));
}
MPIGAUGE_ALSO(T_cvar_handle_alloc)
MPIGAUGE_ALSO(T_pvar_handle_alloc)

// --- events -------------------------------------------------------------------------------------

MPIGAUGE_EXPORT int PMPI_T_event_handle_alloc(int index, void* object,
                                              ProgramHandle<Kind::info> info, void** registration) {
  return translated<call_T_event_handle_alloc, Int, Pointer, In<Kind::info>, Pointer>(
      index, object, info, registration);
}
MPIGAUGE_EXPORT int PMPI_T_event_get_info(int index, char* name, int* name_length, int* verbosity,
                                          ProgramHandle<Kind::datatype>* types, Wide* places,
                                          int* count, void** enumeration,
                                          ProgramHandle<Kind::info>* info, char* text,
                                          int* text_length, int* bind) {
  if (function_of<call_T_event_get_info>() == nullptr) return missing(call_T_event_get_info);
  const int room = count == nullptr || types == nullptr ? 0 : *count;
  Room<TargetHandle<Kind::datatype>> made(room);
  auto own = null_for_target<Kind::info>();
  const int code = ask<call_T_event_get_info>(
      index, name, name_length, verbosity, types == nullptr ? nullptr : made.data(), places, count,
      enumeration, info == nullptr ? nullptr : &own, text, text_length, bind);
  if (code != 0) return error_to_program(code);
  for (int n = 0; n < room && n < *count; ++n) {
    types[n] = to_program<Kind::datatype>(made[static_cast<std::size_t>(n)], Given::seen);
  }
  if (info != nullptr) *info = to_program<Kind::info>(own);
  if (verbosity != nullptr) *verbosity = to_program<Group::tool_verbosity>(*verbosity);
  if (bind != nullptr) *bind = to_program<Group::tool_bind>(*bind);
  return 0;
}

namespace {

// What an event is called back with: the level of safety is the only thing of an ABI.
struct Watched {
  Function function;
  void* data;
};

void run_event(void* instance, void* registration, int safety, void* data) {
  const auto& own = *static_cast<const Watched*>(data);
  reinterpret_cast<void (*)(void*, void*, int, void*)>(own.function)(
      instance, registration, to_program<Group::tool_safety>(safety), own.data);
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_T_event_register_callback(void* registration, int safety,
                                                   ProgramHandle<Kind::info> info, void* data,
                                                   Function function) {
  if (function_of<call_T_event_register_callback>() == nullptr) {
    return missing(call_T_event_register_callback);
  }
  auto* const own = new Watched{function, data};
  // The MPI keeps it. NOLINTNEXTLINE(*NewDeleteLeaks)
  const int code = ask<call_T_event_register_callback>(
      registration, to_target<Group::tool_safety>(safety), to_target<Kind::info>(info),
      static_cast<void*>(own), function == nullptr ? nullptr : run_event);
  return error_to_program(code);
}
MPIGAUGE_EXPORT int PMPI_T_event_set_dropped_handler(void* registration, Function function) {
  return translated<call_T_event_set_dropped_handler, Pointer, Same<Function>>(registration,
                                                                               function);
}
MPIGAUGE_EXPORT int PMPI_T_event_handle_free(void* registration, void* data, Function function) {
  return translated<call_T_event_handle_free, Pointer, Pointer, Same<Function>>(registration, data,
                                                                                function);
}
MPIGAUGE_ALSO(T_event_handle_alloc)
MPIGAUGE_ALSO(T_event_get_info)
MPIGAUGE_ALSO(T_event_register_callback)
MPIGAUGE_ALSO(T_event_set_dropped_handler)
MPIGAUGE_ALSO(T_event_handle_free)
