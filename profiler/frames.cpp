// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "frames.hpp"

#include <elf.h>
#include <link.h>

#include <array>
#include <cstring>

namespace mpigauge::profile {

namespace {

// Numbers of registers in these tables.
#if defined(__x86_64__)
constexpr unsigned fp_register = 6, sp_register = 7, return_register = 16;
#elif defined(__aarch64__)
constexpr unsigned fp_register = 29, sp_register = 31, return_register = 30;
#else
#error "the profiler knows the stacks of x86-64 and aarch64"
#endif

// --- packing ------------------------------------------------------------------------------------

constexpr unsigned frame_bits = 24, save_bits = 17;

std::uint64_t cut(std::int32_t value, unsigned bits) {
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}

std::int32_t extended(std::uint64_t word, unsigned bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t value = word & ((sign << 1U) - 1);
  return static_cast<std::int32_t>(static_cast<std::int64_t>((value ^ sign) - sign));
}

bool fits(std::int64_t value, unsigned bits) {
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

// --- reading ------------------------------------------------------------------------------------

// Goes over bytes; whoever wrote them is trusted with their form, not with their kind.
class Reader {
 public:
  Reader(const std::uint8_t* from, const std::uint8_t* to) : at_(from), end_(to) {}
  [[nodiscard]] const std::uint8_t* at() const { return at_; }
  [[nodiscard]] bool done() const { return at_ >= end_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <class Value>
  Value take() {
    Value value{};
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t take_unsigned() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
  }

  std::int64_t take_signed() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      shift += 7;
    } while ((byte & 0x80U) != 0);
    if ((byte & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

  // A pointer in one of the encodings that are used; `data` is what relative ones may refer to.
  Word take_pointer(unsigned encoding, Word data = 0) {
    constexpr unsigned relative_to_place = 0x10, relative_to_data = 0x30;
    const Word place = reinterpret_cast<Word>(at_);
    const Word value = take_encoded(encoding & 0x0fU);
    switch (encoding & 0x70U) {
      case relative_to_place: return value + place;
      case relative_to_data: return value + data;
      default: return value;
    }
  }

 private:
  Word take_encoded(unsigned format) {
    switch (format) {
      case 0x01: return take_unsigned();
      case 0x02: return take<std::uint16_t>();
      case 0x03: return take<std::uint32_t>();
      case 0x09: return static_cast<Word>(take_signed());
      case 0x0a: return static_cast<Word>(static_cast<std::int64_t>(take<std::int16_t>()));
      case 0x0b: return static_cast<Word>(static_cast<std::int64_t>(take<std::int32_t>()));
      default: return take<Word>();
    }
  }

  const std::uint8_t *at_, *end_;
};

// --- the tables ---------------------------------------------------------------------------------

// What all functions of one kind share (CIE).
struct Common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  unsigned return_column = 0;
  unsigned pointers = 0;  // their encoding
  bool has_more = false;  // a function's entry has a length of further data
  bool is_signal = false;
  bool known = true;
  const std::uint8_t *program = nullptr, *end = nullptr;
};

// An entry's length and where it ends; false at the end of all.
bool begin_entry(Reader& reader, const std::uint8_t*& end) {
  constexpr std::uint32_t long_form = 0xffffffff;
  std::uint64_t length = reader.take<std::uint32_t>();
  if (length == long_form) length = reader.take<std::uint64_t>();
  end = reader.at() + length;
  return length != 0;
}

Common read_common(const std::uint8_t* at) {
  Common common;
  Reader reader(at, at);
  begin_entry(reader, common.end);
  reader.skip(4);
  const auto version = reader.take<std::uint8_t>();
  const char* letter = reinterpret_cast<const char*>(reader.at());
  reader.skip(std::strlen(letter) + 1);
  common.code_factor = reader.take_unsigned();
  common.data_factor = reader.take_signed();
  common.return_column =
      version == 1 ? reader.take<std::uint8_t>() : static_cast<unsigned>(reader.take_unsigned());
  common.program = reader.at();
  if (*letter == '\0') return common;
  common.known = *letter == 'z';
  if (!common.known) return common;
  common.has_more = true;
  const std::uint64_t more = reader.take_unsigned();
  common.program = reader.at() + more;
  for (++letter; *letter != '\0'; ++letter) {
    if (*letter == 'R') common.pointers = reader.take<std::uint8_t>();
    if (*letter == 'L') reader.skip(1);
    if (*letter == 'P') {
      const auto encoding = reader.take<std::uint8_t>();
      reader.take_pointer(encoding);
    }
    if (*letter == 'S') common.is_signal = true;
  }
  return common;
}

// The entry of the function that may hold `pc`: the last that begins before it.
const std::uint8_t* find_entry(const std::uint8_t* table, Word pc) {
  constexpr std::uint8_t known_version = 1, count_encoding = 0x03, sorted_encoding = 0x3b;
  if (table[0] != known_version || table[2] != count_encoding || table[3] != sorted_encoding) {
    return nullptr;
  }
  const Word data = reinterpret_cast<Word>(table);
  Reader reader(table + 4, table);
  reader.take_pointer(table[1], data);
  const auto count = reader.take<std::uint32_t>();
  struct Row {
    std::int32_t start, entry;
  };
  const std::uint8_t* const rows = reader.at();
  const auto row = [rows](std::size_t n) {
    Row found{};
    std::memcpy(&found, rows + (n * sizeof found), sizeof found);
    return found;
  };
  const auto offset = static_cast<std::int64_t>(pc - data);
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (row(middle).start <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : table + row(low - 1).entry;
}

// --- what a function does to its frame, up to an address
// ------------------------------------------

struct State {
  Rule rule;
  unsigned frame_register = sp_register;
  std::int64_t frame_offset = 0;
  std::int64_t fp_offset = 0, return_offset = 0;
  bool has_return = false;  // it is saved somewhere
  bool known = true;
};

class Program {
 public:
  Program(const Common& common, State& state) : common_(common), state_(state) {}

  // Runs until the place `stop`, from `start` on.
  void run(const std::uint8_t* from, const std::uint8_t* to, Word start, Word stop) {
    Reader reader(from, to);
    Word place = start;
    while (!reader.done() && state_.known) {
      const auto byte = reader.take<std::uint8_t>();
      const unsigned low = byte & 0x3fU;
      switch (byte >> 6U) {
        case 1: place += low * common_.code_factor; break;
        case 2: save(low, static_cast<std::int64_t>(reader.take_unsigned())); break;
        case 3: restore(low); break;
        default: place += extended_step(low, reader);
      }
      if (place > stop) return;
    }
  }

  void remember_initial() { initial_ = state_; }

 private:
  // All other instructions; how far they go on in the code.
  std::uint64_t extended_step(unsigned what, Reader& reader) {
    switch (what) {
      case 0x00: break;                        // nothing
      case 0x01: state_.known = false; break;  // an address of its own: nobody writes that
      case 0x02: return reader.take<std::uint8_t>() * common_.code_factor;
      case 0x03: return reader.take<std::uint16_t>() * common_.code_factor;
      case 0x04: return reader.take<std::uint32_t>() * common_.code_factor;
      case 0x05: {
        const auto which = static_cast<unsigned>(reader.take_unsigned());
        save(which, static_cast<std::int64_t>(reader.take_unsigned()));
        break;
      }
      case 0x06: restore(static_cast<unsigned>(reader.take_unsigned())); break;
      case 0x07: lose(static_cast<unsigned>(reader.take_unsigned())); break;
      case 0x08: reader.take_unsigned(); break;  // unchanged
      case 0x09: {
        lose(static_cast<unsigned>(reader.take_unsigned()));
        reader.take_unsigned();
        break;
      }
      case 0x0a: push(); break;
      case 0x0b: pop(); break;
      case 0x0c: {
        const auto which = static_cast<unsigned>(reader.take_unsigned());
        set_frame(which, static_cast<std::int64_t>(reader.take_unsigned()));
        break;
      }
      case 0x0d:
        set_frame(static_cast<unsigned>(reader.take_unsigned()), state_.frame_offset);
        break;
      case 0x0e:
        set_frame(state_.frame_register, static_cast<std::int64_t>(reader.take_unsigned()));
        break;
      case 0x0f: frame_expression(reader); break;
      case 0x10: saved_expression(reader); break;
      case 0x11: {
        const auto which = static_cast<unsigned>(reader.take_unsigned());
        save(which, reader.take_signed());
        break;
      }
      case 0x12: {
        const auto which = static_cast<unsigned>(reader.take_unsigned());
        set_frame(which, reader.take_signed() * common_.data_factor);
        break;
      }
      case 0x13:
        set_frame(state_.frame_register, reader.take_signed() * common_.data_factor);
        break;
      case 0x16: {  // a value, of a register that nobody needs
        lose(static_cast<unsigned>(reader.take_unsigned()));
        reader.skip(reader.take_unsigned());
        break;
      }
      case 0x2d: break;  // return addresses are signed, or not, from here on (aarch64)
      case 0x2e: reader.take_unsigned(); break;  // arguments on the stack
      default: state_.known = false;
    }
    return 0;
  }

  void set_frame(unsigned which, std::int64_t offset) {
    state_.frame_register = which;
    state_.frame_offset = offset;
    if (which == sp_register) {
      state_.rule.frame = Rule::Frame::from_sp;
    } else if (which == fp_register) {
      state_.rule.frame = Rule::Frame::from_fp;
    } else {
      state_.rule.frame = Rule::Frame::end;
    }
  }

  void save(unsigned which, std::int64_t factored) {
    const std::int64_t offset = factored * common_.data_factor;
    if (which == fp_register) {
      state_.rule.fp = Rule::Saved::in_frame;
      state_.fp_offset = offset;
    } else if (which == common_.return_column) {
      state_.has_return = true;
      state_.return_offset = offset;
    }
  }

  void restore(unsigned which) {
    if (which == fp_register) {
      state_.rule.fp = initial_.rule.fp;
      state_.fp_offset = initial_.fp_offset;
    } else if (which == common_.return_column) {
      state_.has_return = initial_.has_return;
      state_.return_offset = initial_.return_offset;
    }
  }

  // Where the return address is lost the stack ends. A lost frame pointer matters to callers only
  // that use it, and compilers do not lose it then.
  void lose(unsigned which) {
    if (which == common_.return_column) state_.has_return = false;
  }

  // Functions that align their stack keep the frame's end in it: the value at fp + offset.
  void frame_expression(Reader& reader) {
    constexpr std::uint8_t from_register = 0x70, value_there = 0x06;
    const std::uint64_t length = reader.take_unsigned();
    Reader inner(reader.at(), reader.at() + length);
    reader.skip(length);
    state_.rule.frame = Rule::Frame::end;
    if (inner.take<std::uint8_t>() != from_register + fp_register) return;
    const std::int64_t offset = inner.take_signed();
    if (inner.done() || inner.take<std::uint8_t>() != value_there || !inner.done()) return;
    state_.rule.frame = Rule::Frame::at_fp;
    state_.frame_offset = offset;
  }

  // They save what they save beside the frame pointer.
  void saved_expression(Reader& reader) {
    constexpr std::uint8_t from_register = 0x70;
    const auto which = static_cast<unsigned>(reader.take_unsigned());
    const std::uint64_t length = reader.take_unsigned();
    Reader inner(reader.at(), reader.at() + length);
    reader.skip(length);
    if (which == common_.return_column) state_.has_return = false;
    if (which != fp_register) return;
    const bool near_fp = inner.take<std::uint8_t>() == from_register + fp_register;
    const std::int64_t offset = near_fp ? inner.take_signed() : 0;
    if (!near_fp || !inner.done()) {
      state_.known = false;
      return;
    }
    state_.rule.fp = Rule::Saved::from_fp;
    state_.fp_offset = offset;
  }

  void push() {
    if (depth_ == stack_.size()) {
      state_.known = false;
      return;
    }
    stack_[depth_++] = state_;
  }
  void pop() {
    if (depth_ > 0) state_ = stack_[--depth_];
  }

  const Common& common_;
  State& state_;
  State initial_;
  std::array<State, 8> stack_{};
  std::size_t depth_ = 0;
};

Rule rule_of(const State& state) {
  Rule rule = state.rule;
  const bool small = fits(state.frame_offset, frame_bits) && fits(state.fp_offset, save_bits) &&
                     fits(state.return_offset, save_bits);
  if (!state.known || !state.has_return || !small) return {};
  rule.frame_offset = static_cast<std::int32_t>(state.frame_offset);
  rule.fp_offset = static_cast<std::int32_t>(state.fp_offset);
  rule.return_offset = static_cast<std::int32_t>(state.return_offset);
  return rule;
}

// --- files --------------------------------------------------------------------------------------

struct Wanted {
  Word pc;
  LoadedFile* file;
};

bool holds(const dl_phdr_info& info, Word pc) {
  for (std::size_t n = 0; n < info.dlpi_phnum; ++n) {
    const ElfW(Phdr) & part = info.dlpi_phdr[n];
    if (part.p_type == PT_LOAD && pc - (info.dlpi_addr + part.p_vaddr) < part.p_memsz) return true;
  }
  return false;
}

void read_id(const std::uint8_t* at, std::size_t bytes, LoadedFile& file) {
  const std::uint8_t* const end = at + bytes;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, at, sizeof note);
    const std::uint8_t* const name = at + sizeof note;
    const std::uint8_t* const content = name + ((note.n_namesz + 3U) & ~3U);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      file.id = content;
      file.id_bytes = note.n_descsz;
      return;
    }
    at = content + ((note.n_descsz + 3U) & ~3U);
  }
}

// NOLINTNEXTLINE(misc-const-correctness): as it is declared
int note_file(dl_phdr_info* info, std::size_t, void* data) {
  const auto& wanted = *static_cast<Wanted*>(data);
  if (!holds(*info, wanted.pc)) return 0;
  LoadedFile& file = *wanted.file;
  file.base = info->dlpi_addr;
  file.path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  for (std::size_t n = 0; n < info->dlpi_phnum; ++n) {
    const ElfW(Phdr) & part = info->dlpi_phdr[n];
    const auto* const at = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_GNU_EH_FRAME) file.unwind_table = at;
    if (part.p_type == PT_NOTE && file.id == nullptr) read_id(at, part.p_memsz, file);
  }
  return 1;
}

}  // namespace

std::uint64_t Rule::packed() const {
  std::uint64_t word = static_cast<std::uint64_t>(frame) | (std::uint64_t{1} << 63U);  // never 0
  word |= static_cast<std::uint64_t>(fp) << 2U;
  word |= cut(frame_offset, frame_bits) << 4U;
  word |= cut(fp_offset, save_bits) << 28U;
  return word | (cut(return_offset, save_bits) << 45U);
}

Rule Rule::unpacked(std::uint64_t word) {
  return {.frame = static_cast<Frame>(word & 3U),
          .frame_offset = extended(word >> 4U, frame_bits),
          .fp = static_cast<Saved>((word >> 2U) & 3U),
          .fp_offset = extended(word >> 28U, save_bits),
          .return_offset = extended(word >> 45U, save_bits)};
}

bool find_file(Word pc, LoadedFile& file) {
  Wanted wanted{pc, &file};
  return dl_iterate_phdr(note_file, &wanted) != 0;
}

unsigned long long files_closed() {
  unsigned long long closed = 0;
  const auto note = [](dl_phdr_info* info, std::size_t, void* data) {
    *static_cast<unsigned long long*>(data) = info->dlpi_subs;
    return 1;  // all files say the same
  };
  dl_iterate_phdr(note, &closed);
  return closed;
}

Rule find_rule(Word pc, const LoadedFile& file) {
  if (file.unwind_table == nullptr) return {};
  const Word place = pc - 1;  // a return address may be the first of the next function
  const std::uint8_t* const entry = find_entry(file.unwind_table, place);
  if (entry == nullptr) return {};
  const std::uint8_t* end = nullptr;
  Reader reader(entry, entry);
  if (!begin_entry(reader, end)) return {};
  const std::uint8_t* const distance_at = reader.at();
  const Common common = read_common(distance_at - reader.take<std::uint32_t>());
  if (!common.known || common.is_signal || common.return_column != return_register) return {};
  const Word start = reader.take_pointer(common.pointers);
  const Word length = reader.take_pointer(common.pointers & 0x0fU);
  if (place - start >= length) return {};
  if (common.has_more) {
    const std::uint64_t more = reader.take_unsigned();
    reader.skip(more);
  }
  State state;
  Program program(common, state);
  program.run(common.program, common.end, 0, 0);
  program.remember_initial();
  program.run(reader.at(), end, start, place);
  return rule_of(state);
}

}  // namespace mpigauge::profile
