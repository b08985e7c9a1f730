// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "python.hpp"

#include <cstring>
#include <string_view>

#include "library.hpp"
#include "process.hpp"

namespace mpigauge::profile {

namespace {

struct Object;

// Functions of the C API, under their names.
struct Python {
  int (*Py_IsInitialized)();
  int (*Py_IsFinalizing)();  // null: unknown
  Object* (*PyGILState_GetThisThreadState)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  Object* (*PyEval_GetFrame)();
  Object* (*PyFrame_GetBack)(Object*);
  Object* (*PyFrame_GetCode)(Object*);
  int (*PyFrame_GetLineNumber)(Object*);
  Object* (*PyObject_GetAttrString)(Object*, const char*);
  const char* (*PyUnicode_AsUTF8)(Object*);
  void (*PyErr_Fetch)(Object**, Object**, Object**);
  void (*PyErr_Restore)(Object*, Object*, Object*);
  void (*PyErr_Clear)();
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);
};
constinit Python python{};
Word interpreter = 0;  // the base address of its file

template <class Pointer>
bool find(Pointer& function, const char* name) {
  const Word found = object_of(name);
  std::memcpy(&function, &found, sizeof function);
  return found != 0;
}

// --- lines --------------------------------------------------------------------------------------

// Lines that are not the program's own: those of the import system and of mpi4py.
constexpr std::uint32_t passed = 0xffffffff;
constinit WordMap lines;
std::uint32_t line_count = 0;

bool is_passed(std::string_view path) {
  return path.starts_with("<frozen ") || path.find("/mpi4py/") != std::string_view::npos;
}

// A text that a code object has; null when it has none of that name.
Object* text_of(Object* code, const char* name) {
  Object* const text = python.PyObject_GetAttrString(code, name);
  if (text == nullptr) python.PyErr_Clear();
  return text;
}

std::string_view chars_of(Object* text) {
  const char* const chars = text == nullptr ? nullptr : python.PyUnicode_AsUTF8(text);
  if (text != nullptr && chars == nullptr) python.PyErr_Clear();
  return chars == nullptr ? std::string_view{} : std::string_view{chars};
}

std::uint32_t store_line(std::string_view function, std::string_view path, std::uint32_t in_file) {
  if (is_passed(path)) return passed;
  auto* const line = process.storage.make<layout::Line>(function.size() + path.size());
  if (line == nullptr) return 0;
  line->line = ++line_count;
  line->in_file = in_file;
  line->function_length = static_cast<std::uint32_t>(function.size());
  line->path_length = static_cast<std::uint32_t>(path.size());
  auto* const chars = reinterpret_cast<char*>(line + 1);
  function.copy(chars, function.size());
  path.copy(chars + function.size(), path.size());
  Storage::publish(line->block, layout::Kind::line);
  return line_count;
}

// The lock of the process is taken last: a thread that waits for the interpreter must not hold it.
std::uint32_t described(Object* code, std::uint32_t in_file, std::uint64_t key) {
  Object* const path = text_of(code, "co_filename");
  Object* function = text_of(code, "co_qualname");  // since 3.11
  if (function == nullptr) function = text_of(code, "co_name");
  std::uint32_t line = 0;
  {
    const Locked locked;
    line = static_cast<std::uint32_t>(lines.find(key));
    if (line == 0) line = store_line(chars_of(function), chars_of(path), in_file);
    // Its address is the key, so the code must stay.
    if (line != 0 && lines.put(key, line)) python.Py_IncRef(code);
  }
  if (path != nullptr) python.Py_DecRef(path);
  if (function != nullptr) python.Py_DecRef(function);
  return line;
}

std::uint32_t new_line(Object* code, std::uint32_t in_file, std::uint64_t key) {
  std::array<Object*, 3> error{};  // that the program is about to raise
  python.PyErr_Fetch(error.data(), error.data() + 1, error.data() + 2);
  const std::uint32_t line = described(code, in_file, key);
  python.PyErr_Restore(error[0], error[1], error[2]);
  return line;
}

std::uint32_t line_of(Object* frame) {
  constexpr unsigned line_bits = 20, unused_bits = 4;
  Object* const code = python.PyFrame_GetCode(frame);
  if (code == nullptr) return 0;
  const auto in_file = static_cast<std::uint32_t>(python.PyFrame_GetLineNumber(frame));
  const std::uint64_t low = in_file & ((1U << line_bits) - 1);
  const std::uint64_t key = ((reinterpret_cast<Word>(code) >> unused_bits) << line_bits) | low;
  auto line = static_cast<std::uint32_t>(lines.find(key));
  if (line == 0) line = new_line(code, in_file, key);
  python.Py_DecRef(code);
  return line;
}

std::uint32_t line_of_program() {
  Object* frame = python.PyEval_GetFrame();
  if (frame != nullptr) python.Py_IncRef(frame);
  std::uint32_t line = 0;
  while (frame != nullptr) {
    line = line_of(frame);
    Object* const back = line == passed ? python.PyFrame_GetBack(frame) : nullptr;
    python.Py_DecRef(frame);
    frame = back;
  }
  return line == passed ? 0 : line;
}

}  // namespace

bool find_python() {
  const bool has_all =
#define MPIGAUGE_FIND(NAME) find(python.NAME, #NAME)
      MPIGAUGE_FIND(Py_IsInitialized) && MPIGAUGE_FIND(PyGILState_GetThisThreadState) &&
      MPIGAUGE_FIND(PyGILState_Ensure) && MPIGAUGE_FIND(PyGILState_Release) &&
      MPIGAUGE_FIND(PyEval_GetFrame) && MPIGAUGE_FIND(PyFrame_GetBack) &&
      MPIGAUGE_FIND(PyFrame_GetCode) && MPIGAUGE_FIND(PyFrame_GetLineNumber) &&
      MPIGAUGE_FIND(PyObject_GetAttrString) && MPIGAUGE_FIND(PyUnicode_AsUTF8) &&
      MPIGAUGE_FIND(PyErr_Fetch) && MPIGAUGE_FIND(PyErr_Restore) && MPIGAUGE_FIND(PyErr_Clear) &&
      MPIGAUGE_FIND(Py_IncRef) && MPIGAUGE_FIND(Py_DecRef);
#undef MPIGAUGE_FIND
  if (!has_all) return false;
  // Before 3.13 it has another name.
  if (!find(python.Py_IsFinalizing, "Py_IsFinalizing")) {
    find(python.Py_IsFinalizing, "_Py_IsFinalizing");
  }
  LoadedFile file;
  if (!find_file(reinterpret_cast<Word>(python.PyGILState_Ensure), file)) return false;
  interpreter = file.base;
  return true;
}

// The lock of the interpreter is taken where the thread has given it back, as mpi4py does. A thread
// unknown to Python stays unknown, and an interpreter that ends is left alone.
std::uint32_t current_line() {
  if (python.Py_IsInitialized() == 0) return 0;
  if (python.Py_IsFinalizing != nullptr && python.Py_IsFinalizing() != 0) return 0;
  if (python.PyGILState_GetThisThreadState() == nullptr) return 0;
  const int before = python.PyGILState_Ensure();
  const std::uint32_t line = line_of_program();
  python.PyGILState_Release(before);
  return line;
}

void end_at_python(Stack& stack, std::uint32_t line) {
  for (std::uint32_t n = 0; n < stack.frames; ++n) {
    LoadedFile file;
    if (!find_file(stack.pc[n], file) || file.base != interpreter) continue;
    stack.frames = n;
    stack.line = line;
    return;
  }
}

}  // namespace mpigauge::profile
