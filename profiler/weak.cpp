// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Programs and libraries may refer to calls weakly: such a reference is null where nobody has the
// call, and the call is made only where it is not. The linker finds all calls here. So what it
// wrote is looked through, at the start and before a library that was opened is used, and
// references to calls that the MPI lacks are made null again.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "asked.hpp"
#include "loaded.hpp"

namespace mpigauge::profile {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t of_table = R_X86_64_GLOB_DAT, of_data = R_X86_64_64;
#else
constexpr std::uint32_t of_table = R_AARCH64_GLOB_DAT, of_data = R_AARCH64_ABS64;
#endif

struct Reference {
  Word* place;
  const char* name;
};

// What was found in files that were not looked through before.
struct Found {
  std::array<Reference, 1024> reference;
  std::size_t count;
  std::array<Word, 1024> seen;  // where these files lie
  std::size_t files;
  unsigned long long opened, closed;
};
Found found;

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * from = nullptr;
  std::size_t bytes = 0;
};

// Some linkers have added the base to these addresses.
template <class Value>
const Value* at(Word base, ElfW(Addr) address) {
  return reinterpret_cast<const Value*>(address < base ? address + base : address);
}

Tables tables_of(const dl_phdr_info& info) {
  Tables tables;
  const Word base = info.dlpi_addr;
  for (std::size_t n = 0; n < info.dlpi_phnum; ++n) {
    if (info.dlpi_phdr[n].p_type != PT_DYNAMIC) continue;
    const auto* each = reinterpret_cast<const ElfW(Dyn)*>(base + info.dlpi_phdr[n].p_vaddr);
    for (; each->d_tag != DT_NULL; ++each) {
      switch (each->d_tag) {
        case DT_SYMTAB: tables.symbols = at<ElfW(Sym)>(base, each->d_un.d_ptr); break;
        case DT_STRTAB: tables.names = at<char>(base, each->d_un.d_ptr); break;
        case DT_RELA: tables.from = at<ElfW(Rela)>(base, each->d_un.d_ptr); break;
        case DT_RELASZ: tables.bytes = each->d_un.d_val; break;
        default: break;
      }
    }
  }
  return tables;
}

void look_through(const dl_phdr_info& info) {
  const Tables tables = tables_of(info);
  if (tables.symbols == nullptr || tables.names == nullptr || tables.from == nullptr) return;
  const ElfW(Rela)* const end = tables.from + (tables.bytes / sizeof(ElfW(Rela)));
  for (const auto* each = tables.from; each != end; ++each) {
    const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(each->r_info));
    if (kind != of_table && kind != of_data) continue;
    const ElfW(Sym) & symbol = tables.symbols[ELF64_R_SYM(each->r_info)];
    if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF) continue;
    const char* const name = tables.names + symbol.st_name;
    if (std::strncmp(name, "MPI_", 4) != 0 || found.count == found.reference.size()) continue;
    found.reference[found.count++] = {reinterpret_cast<Word*>(info.dlpi_addr + each->r_offset),
                                      name};
  }
}

// NOLINTNEXTLINE(misc-const-correctness): as it is declared
int look_at(dl_phdr_info* info, std::size_t, void* whole) {
  if (info->dlpi_adds == found.opened && info->dlpi_subs == found.closed) return 1;
  if (info->dlpi_subs != found.closed) found.files = 0;  // another one may lie in its place
  found.closed = info->dlpi_subs;
  const auto* const end = found.seen.data() + found.files;
  if (std::find(static_cast<const Word*>(found.seen.data()), end, info->dlpi_addr) != end) return 0;
  look_through(*info);
  if (found.files < found.seen.size()) found.seen[found.files++] = info->dlpi_addr;
  *static_cast<unsigned long long*>(whole) = info->dlpi_adds;
  return 0;
}

void write_null(Word* place) {
  const auto page = static_cast<Word>(sysconf(_SC_PAGESIZE));
  auto* const from = reinterpret_cast<void*>(reinterpret_cast<Word>(place) / page * page);
  // The linker has closed some of these tables; that they were open does no harm.
  if (mprotect(from, page, PROT_READ | PROT_WRITE) == 0) *place = 0;
}

void clear_in_new_files() {
  unsigned long long opened = found.opened;
  dl_iterate_phdr(look_at, &opened);
  found.opened = opened;
  void* library = nullptr;
  bool is_known = false;
  for (std::size_t n = 0; n < found.count; ++n) {
    const Reference& each = found.reference[n];
    if (!is_ours(reinterpret_cast<const void*>(*each.place))) continue;
    if (!is_known) library = mpi_seen_from(reinterpret_cast<Word>(each.place));
    is_known = true;
    if (library == nullptr || !has_call(library, each.name)) write_null(each.place);
  }
  found.count = 0;
}

[[gnu::constructor]] void at_start() { clear_weak_references(); }

}  // namespace

void clear_weak_references() {
  static std::atomic_flag busy;
  if (busy.test_and_set(std::memory_order_acquire)) return;  // by another thread, or from within
  clear_in_new_files();
  busy.clear(std::memory_order_release);
}

}  // namespace mpigauge::profile
