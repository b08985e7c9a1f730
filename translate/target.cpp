// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "target.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "handles.hpp"
#include "status.hpp"

namespace mpigauge::translate {

constinit std::array<std::atomic<Function>, calls> functions{};
constinit Inner inner_of_target = Inner::as_mpich;

namespace {

constexpr const char* variable = "MPIGAUGE_TRANSLATE_TO";
constexpr std::array<const char*, calls> names = {
#define MPIGAUGE_NAME(NAME) "MPI_" #NAME,
#include "names.inc"
#undef MPIGAUGE_NAME
};

constinit std::atomic<bool> is_open{false};
void* library = nullptr;

// The target and what it needs see their own symbols first, not the program's: these have the same
// names and another ABI. The program's copy of `environ` is not theirs, then.
void share_environment() {
  void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (c_library == nullptr) return;
  auto* const theirs = static_cast<char***>(dlsym(c_library, "environ"));
  if (theirs != nullptr && *theirs != environ) *theirs = environ;
  dlclose(c_library);
}

Function find(const char* name) {
  std::array<char, 64> profiling{};
  std::snprintf(profiling.data(), profiling.size(), "P%s", name);
  void* found = dlsym(library, profiling.data());
  if (found == nullptr) found = dlsym(library, name);
  Function function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

// Libraries from before the standard's errata of 2025 have other values.
constinit bool has_old_values = false;

void set_target(auto& pairs, int value_of_program, int value) {
  for (Pair& each : pairs) {
    if (each.program == value_of_program) each.target = value;
  }
}

void exchange(Word& word, Word one, Word other) {
  if (word == one || word == other) word = one + other - word;
}

// What these were before; the errata exchanged them.
void take_values(bool old) {
  if constexpr (target_abi == Abi::std) {
    if (old == has_old_values) return;
    has_old_values = old;
    constexpr Word abort = 0x142, return_them = 0x143;
    std::swap(tables.of_standard[abort], tables.of_standard[return_them]);
    if constexpr (program_abi != Abi::std) {
      for (Word& each : tables.by_entry) exchange(each, abort, return_them);
      constexpr auto kind = static_cast<std::size_t>(Kind::errhandler);
      for (Word& each : tables.of_mpich[kind]) exchange(each, abort, return_them);
    }
    set_target(pairs<Group::seek>, Program::MPI_SEEK_SET, old ? 401 : Target::MPI_SEEK_SET);
    set_target(pairs<Group::seek>, Program::MPI_SEEK_CUR, old ? 402 : Target::MPI_SEEK_CUR);
    set_target(pairs<Group::seek>, Program::MPI_SEEK_END, old ? 403 : Target::MPI_SEEK_END);
    auto& keyvals = pairs<Group::keyval>;
    set_target(keyvals, Program::MPI_UNIVERSE_SIZE, old ? 505 : Target::MPI_UNIVERSE_SIZE);
    set_target(keyvals, Program::MPI_APPNUM, old ? 506 : Target::MPI_APPNUM);
    set_target(keyvals, Program::MPI_LASTUSEDCODE, old ? 507 : Target::MPI_LASTUSEDCODE);
  }
}

// Before MPI runs there is only the name to go by.
bool is_intel() {
  static std::array<char, 8200> text{};
  int length = 0;
  const Function version = find("MPI_Get_library_version");
  if (version == nullptr) return false;
  reinterpret_cast<int (*)(char*, int*)>(version)(text.data(), &length);
  return std::string_view(text.data()).starts_with("Intel");
}

void open_target() {
  static std::mutex lock;
  const std::scoped_lock guard(lock);
  if (is_open.load(std::memory_order_relaxed)) return;
  const char* const path = std::getenv(variable);
  if (path == nullptr) end("no MPI to translate to is named by", variable);
  share_environment();
  library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) end("cannot open the MPI to translate to:", dlerror());
  fill_tables();
  for (std::size_t n = 0; n < names.size(); ++n) {
    functions[n].store(find(names[n]), std::memory_order_relaxed);
  }
  if (target_abi == Abi::std) take_values(is_intel());
  is_open.store(true, std::memory_order_release);
}

// A library that has MPICH's way to keep statuses has the number in the first two words.
void look_at_statuses() {
  if constexpr (target_abi == Abi::std) {
    TargetStatus status{};
    constexpr Wide bytes = 0x123456789;
    const int code =
        ask<call_Status_set_elements_x>(&status, reinterpret_cast<void*>(byte_of_target()), bytes);
    if (code != 0) return;
    for (const Inner inner : {Inner::as_mpich, Inner::as_ompi}) {
      if (read(status, inner).bytes != static_cast<std::uint64_t>(bytes)) continue;
      inner_of_target = inner;
      return;
    }
    end("it is not known how this MPI keeps the count in a status:", std::getenv(variable));
  }
}

// The attribute with the last error code is always there, and is above all classes.
bool holds_last_code(int keyval) {
  int* value = nullptr;
  int flag = 0;
  const auto world = handle_of<TargetHandle<Kind::comm>>(world_of_target());
  const int code = ask<call_Comm_get_attr>(world, keyval, &value, &flag);
  return code == 0 && flag != 0 && *value >= Target::MPI_ERR_LASTCODE;
}
void look_at_values() {
  if constexpr (target_abi == Abi::std) {
    constexpr int before = 507;
    if (holds_last_code(Target::MPI_LASTUSEDCODE)) {
      take_values(false);
    } else if (holds_last_code(before)) {
      take_values(true);
    }
  }
}

}  // namespace

void end(const char* what, const char* which) {
  std::fprintf(stderr, "mpigauge: %s %s\n", what, which == nullptr ? "" : which);
  std::fflush(stderr);
  _exit(1);
}

Function look_up(Call call) {
  if (!is_open.load(std::memory_order_acquire)) open_target();
  return functions[call].load(std::memory_order_relaxed);
}

const char* name_of(Call call) { return names[call]; }

void* symbol_of_target(const char* name) { return dlsym(library, name); }

void look_at_target() {
  look_at_statuses();
  look_at_values();
}

Word world_of_target() {
  if constexpr (target_abi == Abi::mpich) return 0x44000000;
  if constexpr (target_abi == Abi::std) return 0x101;
  return reinterpret_cast<Word>(symbol_of_target("ompi_mpi_comm_world"));
}

Word byte_of_target() {
  if constexpr (target_abi == Abi::mpich) return 0x4c00010d;
  if constexpr (target_abi == Abi::std) return 0x247;
  return reinterpret_cast<Word>(symbol_of_target("ompi_mpi_byte"));
}

int refuse(const char* name, const char* why, int error_of_target) {
  std::fprintf(stderr, "mpigauge: %s: %s\n", name, why);
  const auto world = handle_of<TargetHandle<Kind::comm>>(world_of_target());
  int is_running = 0;
  ask<call_Initialized>(&is_running);
  if (is_running == 0) end(name, "cannot be called before MPI_Init here");
  const int code = ask<call_Comm_call_errhandler>(world, error_of_target);
  return code == 0 ? error_to_program(error_of_target) : error_to_program(code);
}

int missing(Call call) {
  return refuse(name_of(call), "the MPI that this program was given has no such call",
                Target::MPI_ERR_UNSUPPORTED_OPERATION);
}

// --- error codes --------------------------------------------------------------------------------

namespace {

// Codes that the target made while it ran are told from classes by being above these.
constexpr int last_class_of_program = Program::MPI_ERR_LASTCODE;

/// What the program takes a class for that it does not know: before MPI 4.1 a wrong error handler
/// was a wrong argument.
int instead_of(int class_of_target) {
  return class_of_target == Target::MPI_ERR_ERRHANDLER ? Program::MPI_ERR_ARG
                                                       : Program::MPI_ERR_OTHER;
}

bool is_predefined_class(int code, int& found) {
  for (const Pair& each : pairs<Group::error>) {
    if (each.target != code || each.target == Target::MPI_ERR_LASTCODE) continue;
    found = each.program == no_integer ? instead_of(code) : each.program;
    return true;
  }
  return false;
}

}  // namespace

int error_to_program(int code) {
  if (code == 0) return 0;
  int found = 0;
  if (is_predefined_class(code, found)) return found;
  if constexpr (target_abi == Abi::ompi) {
    return made_error_to_program(code);
  } else if constexpr (program_abi == Abi::ompi) {
    int error_class = 0;
    if (ask<call_Error_class>(code, &error_class) != 0) return Program::MPI_ERR_OTHER;
    return is_predefined_class(error_class, found) ? found : code;
  } else {
    return code;
  }
}

int made_error_to_program(int code) {
  if constexpr (target_abi == Abi::ompi) {
    return code > 0 ? last_class_of_program + code : Program::MPI_ERR_OTHER;
  } else {
    return code;
  }
}

int error_to_target(int code) {
  if (code == 0) return 0;
  for (const Pair& each : pairs<Group::error>) {
    if (each.program != code || code == last_class_of_program) continue;
    return each.target == no_integer ? Target::MPI_ERR_OTHER : each.target;
  }
  if constexpr (target_abi == Abi::ompi) {
    return code > last_class_of_program ? code - last_class_of_program : code;
  }
  return code;
}

}  // namespace mpigauge::translate
