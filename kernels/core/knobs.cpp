// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/knobs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "core/refused.hpp"

namespace mpigauge {

namespace {

// The calls of MPI_T, of which an MPI-2.2 library has none.
struct ToolCalls {
  int (*init)(int, int*) = find_as<decltype(init)>("MPI_T_init_thread");
  int (*finalize)() = find_as<decltype(finalize)>("MPI_T_finalize");
  int (*count)(int*) = find_as<decltype(count)>("MPI_T_cvar_get_num");
  int (*info)(int, char*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*,
              int*) = find_as<decltype(info)>("MPI_T_cvar_get_info");
  int (*handle)(int, void*, MPI_T_cvar_handle*,
                int*) = find_as<decltype(handle)>("MPI_T_cvar_handle_alloc");
  int (*drop)(MPI_T_cvar_handle*) = find_as<decltype(drop)>("MPI_T_cvar_handle_free");
  int (*read)(MPI_T_cvar_handle, void*) = find_as<decltype(read)>("MPI_T_cvar_read");
  int (*write)(MPI_T_cvar_handle, const void*) = find_as<decltype(write)>("MPI_T_cvar_write");

  [[nodiscard]] bool complete() const {
    return init != nullptr && finalize != nullptr && count != nullptr && info != nullptr &&
           handle != nullptr && drop != nullptr && read != nullptr && write != nullptr;
  }
};

const ToolCalls& tool() {
  static const ToolCalls calls;
  return calls;
}

constexpr int most_name = 512;
constexpr std::size_t most_value = 4096;

template <class Number>
std::vector<char> bytes_of(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) throw Refused("'" + text + "' is no such number");
  std::vector<char> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::vector<char> bytes_of_bool(const std::string& text) {
  const bool on = text == "1" || text == "true";
  if (!on && text != "0" && text != "false") throw Refused("'" + text + "' is neither 0 nor 1");
  return {static_cast<char>(on ? 1 : 0)};
}

std::vector<char> bytes_of_text(const std::string& text) {
  std::vector<char> bytes(text.begin(), text.end());
  bytes.push_back('\0');
  return bytes;
}

// Of types that MPI-2.2 has; newer ones are data of a library that older ones lack.
std::vector<char> encoded(MPI_Datatype type, const std::string& text) {
  if (type == MPI_CHAR) return bytes_of_text(text);
  if (type == MPI_INT || type == MPI_INT32_T) return bytes_of<int>(text);
  if (type == MPI_UNSIGNED || type == MPI_UINT32_T) return bytes_of<unsigned>(text);
  if (type == MPI_LONG || type == MPI_INT64_T) return bytes_of<long>(text);
  if (type == MPI_UNSIGNED_LONG || type == MPI_UINT64_T) return bytes_of<unsigned long>(text);
  if (type == MPI_UNSIGNED_LONG_LONG) return bytes_of<unsigned long long>(text);
  if (type == MPI_DOUBLE) return bytes_of<double>(text);
  if (type == MPI_C_BOOL) return bytes_of_bool(text);
  throw Refused("it is of a type that cannot be written");
}

std::pair<std::string, std::string> read_setting(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw std::invalid_argument("'" + std::string(word) + "' is not of the form NAME=VALUE");
  }
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Arm read_arm(std::string_view text) {
  const auto mark = text.find('~');
  if (mark == std::string_view::npos) {
    throw std::invalid_argument("'" + std::string(text) + "' is not of the form NAME~SETTINGS");
  }
  Arm arm{std::string(text.substr(0, mark)), {}};
  for (const auto word : split(text.substr(mark + 1), ';')) {
    if (!word.empty()) arm.settings.push_back(read_setting(word));
  }
  return arm;
}

}  // namespace

std::vector<Arm> read_arms(const std::string& text) {
  std::vector<Arm> arms;
  for (const auto word : split(text, '|')) arms.push_back(read_arm(word));
  return arms;
}

// A control variable and its first value.
class Knobs::Variable {
 public:
  explicit Variable(const std::string& name);
  ~Variable() { tool().drop(&handle_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Throws Refused.
  void set(const std::string& text);
  void reset() const { tool().write(handle_, first_.data()); }

 private:
  [[nodiscard]] std::vector<char> value() const;
  [[nodiscard]] bool holds(const std::vector<char>& bytes) const;

  std::string name_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_T_cvar_handle handle_{};
  std::vector<char> first_;
};

namespace {

// By name, since the call that looks it up is newer than the others. -1: there is none.
int index_of(const std::string& wanted, MPI_Datatype& type) {
  int count = 0;
  tool().count(&count);
  for (int i = 0; i < count; ++i) {
    std::array<char, most_name> name{};
    int length = most_name, nothing = 0, level = 0, bind = 0, scope = 0;
    MPI_T_enum values{};
    const int code = tool().info(i, name.data(), &length, &level, &type, &values, nullptr, &nothing,
                                 &bind, &scope);
    if (code == MPI_SUCCESS && wanted == name.data()) return i;
  }
  return -1;
}

}  // namespace

Knobs::Variable::Variable(const std::string& name) : name_(name) {
  const int index = index_of(name, type_);
  if (index < 0) throw Refused("the library has no control variable of that name");
  int count = 0;
  if (tool().handle(index, nullptr, &handle_, &count) != MPI_SUCCESS ||
      (count != 1 && type_ != MPI_CHAR)) {
    throw Refused("it is not a single value");
  }
  first_ = value();
}

std::vector<char> Knobs::Variable::value() const {
  std::vector<char> bytes(most_value, '\0');
  if (tool().read(handle_, bytes.data()) != MPI_SUCCESS) throw Refused("it cannot be read");
  return bytes;
}

bool Knobs::Variable::holds(const std::vector<char>& bytes) const {
  const auto now = value();
  return std::equal(bytes.begin(), bytes.end(), now.begin());
}

void Knobs::Variable::set(const std::string& text) {
  const auto bytes = encoded(type_, text);
  const int code = tool().write(handle_, bytes.data());
  if (code != MPI_SUCCESS) {
    throw Refused("the library does not let it be changed while it runs (code " +
                  std::to_string(code) + ")");
  }
  if (!holds(bytes)) throw Refused("it did not take the value " + text);
}

Knobs::Knobs(const std::vector<Arm>& arms, MPI_Comm comm)
    : arms_(arms), comm_(comm), refusals_(arms.size()), comms_(arms.size(), comm) {
  if (arms.empty()) return;
  int provided = 0;
  const bool on = tool().complete() && tool().init(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    std::string why;
    if (!arms[i].settings.empty()) why = on ? try_on(arms[i]) : "this MPI library has no MPI_T";
    refusals_[i] = first_text(why, comm);
    if (refusals_[i].empty()) call(MPI_Comm_dup(comm, &comms_[i]));
    back_to_first();
  }
}

Knobs::~Knobs() {
  back_to_first();
  for (MPI_Comm& comm : comms_) {
    if (comm != comm_) MPI_Comm_free(&comm);
  }
  variables_.clear();
  if (!arms_.empty() && tool().complete()) tool().finalize();
}

std::string_view Knobs::refusal(std::size_t arm) const {
  return refusals_.empty() ? std::string_view() : refusals_[arm];
}

Knobs::Variable& Knobs::variable(const std::string& name) {
  const auto known = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const auto& each) { return each->name() == name; });
  if (known != variables_.end()) return **known;
  variables_.push_back(std::make_unique<Variable>(name));
  return *variables_.back();
}

std::string Knobs::try_on(const Arm& arm) {
  for (const auto& [name, value] : arm.settings) {
    try {
      variable(name).set(value);
    } catch (const Refused& why) {
      return name + ": " + why.what();
    }
  }
  return "";
}

void Knobs::back_to_first() {
  for (const auto& variable : variables_) variable->reset();
}

MPI_Comm Knobs::choose(std::size_t arm) {
  if (arms_.empty()) return comm_;
  if (arm != now_) {
    back_to_first();
    for (const auto& [name, value] : arms_[arm].settings) variable(name).set(value);
    now_ = arm;
  }
  return comms_[arm];
}

}  // namespace mpigauge
