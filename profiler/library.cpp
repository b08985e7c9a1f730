// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "library.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>

namespace mpigauge::profile {

constinit Abi abi{};
constinit OwnCalls mpi{};

namespace {

struct Range {
  Word from = 0, to = 0;
  [[nodiscard]] bool holds(Word address) const { return address - from < to - from; }
};
// Where predefined handles of Open MPI lie: in the library, or copied into the program.
Range of_library, of_program;

void add_handles_of_openmpi() {
  constexpr std::array<const char*, operation_names.size()> names = {
      "ompi_mpi_op_max",     "ompi_mpi_op_min",  "ompi_mpi_op_sum",    "ompi_mpi_op_prod",
      "ompi_mpi_op_land",    "ompi_mpi_op_band", "ompi_mpi_op_lor",    "ompi_mpi_op_bor",
      "ompi_mpi_op_lxor",    "ompi_mpi_op_bxor", "ompi_mpi_op_minloc", "ompi_mpi_op_maxloc",
      "ompi_mpi_op_replace", "ompi_mpi_op_no_op"};
  abi.comm_world = object_of("ompi_mpi_comm_world");
  abi.comm_self = object_of("ompi_mpi_comm_self");
  abi.comm_null = object_of("ompi_mpi_comm_null");
  abi.datatype_null = object_of("ompi_mpi_datatype_null");
  abi.group_null = object_of("ompi_mpi_group_null");
  abi.request_null = object_of("ompi_request_null");
  abi.byte = object_of("ompi_mpi_byte");
  for (std::size_t n = 0; n < names.size(); ++n) abi.operations[n] = object_of(names[n]);
}

struct Asked {
  Word address;
  Range library, program;
};

Range range_of(const dl_phdr_info& info) {
  Range range{~Word{0}, 0};
  for (std::size_t n = 0; n < info.dlpi_phnum; ++n) {
    const ElfW(Phdr) & part = info.dlpi_phdr[n];
    if (part.p_type != PT_LOAD) continue;
    const Word from = info.dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
    range.from = std::min(range.from, from);
    range.to = std::max(range.to, to);
  }
  return range;
}

// NOLINTNEXTLINE(misc-const-correctness): as it is declared
int note_ranges(dl_phdr_info* info, std::size_t, void* data) {
  auto& asked = *static_cast<Asked*>(data);
  const Range range = range_of(*info);
  if (asked.program.to == 0) asked.program = range;  // the program comes first
  if (range.holds(asked.address)) asked.library = range;
  return 0;
}

void find_own_calls() {
  const auto find = [](auto& function, const char* name) {
    const Function found = find_function(name);
    std::memcpy(&function, &found, sizeof function);
  };
#define MPIGAUGE_FIND(NAME) find(mpi.NAME, "MPI_" #NAME)
  MPIGAUGE_FIND(Comm_rank);
  MPIGAUGE_FIND(Comm_size);
  MPIGAUGE_FIND(Comm_remote_size);
  MPIGAUGE_FIND(Comm_test_inter);
  MPIGAUGE_FIND(Comm_group);
  MPIGAUGE_FIND(Comm_remote_group);
  MPIGAUGE_FIND(Comm_get_name);
  MPIGAUGE_FIND(Comm_get_parent);
  MPIGAUGE_FIND(Group_size);
  MPIGAUGE_FIND(Group_rank);
  MPIGAUGE_FIND(Group_from_session_pset);
  MPIGAUGE_FIND(Group_translate_ranks);
  MPIGAUGE_FIND(Group_free);
  MPIGAUGE_FIND(Type_size);
  MPIGAUGE_FIND(Type_size_x);
  MPIGAUGE_FIND(Type_get_name);
  MPIGAUGE_FIND(Get_elements_x);
  MPIGAUGE_FIND(Get_library_version);
  MPIGAUGE_FIND(Query_thread);
  MPIGAUGE_FIND(Initialized);
  MPIGAUGE_FIND(Finalized);
  MPIGAUGE_FIND(Topo_test);
  MPIGAUGE_FIND(Cartdim_get);
  MPIGAUGE_FIND(Graph_neighbors_count);
  MPIGAUGE_FIND(Dist_graph_neighbors_count);
  MPIGAUGE_FIND(Comm_f2c);
  MPIGAUGE_FIND(Type_f2c);
  MPIGAUGE_FIND(Op_f2c);
  MPIGAUGE_FIND(Win_f2c);
  MPIGAUGE_FIND(File_f2c);
  MPIGAUGE_FIND(Request_f2c);
  MPIGAUGE_FIND(Message_f2c);
#undef MPIGAUGE_FIND
}

}  // namespace

bool open_library(Word pc) {
  const FoundMpi found = find_mpi(pc);
  switch (found.kind) {
    case AbiKind::mpich: abi = mpich_abi; break;
    case AbiKind::standard: abi = standard_abi; break;
    case AbiKind::ompi:
      abi = ompi_abi;
      add_handles_of_openmpi();
      break;
    case AbiKind::unknown: return false;
  }
  Asked asked{.address = found.init, .library = {}, .program = {}};
  dl_iterate_phdr(note_ranges, &asked);
  of_library = asked.library;
  of_program = asked.program;
  find_own_calls();
  return true;
}

bool is_predefined(Word type) {
  constexpr Word kind_in_mpich = 0xff000000, builtin_in_mpich = 0x4c000000, last_in_standard = 4095;
  switch (abi.kind) {
    case AbiKind::mpich: return (type & kind_in_mpich) == builtin_in_mpich;
    case AbiKind::standard: return type <= last_in_standard;
    case AbiKind::ompi: return of_library.holds(type) || of_program.holds(type);
    case AbiKind::unknown: break;
  }
  return false;
}

int source_of(const Status& status) {
  return value_at<int>(reinterpret_cast<Word>(status.bytes.data()) + abi.source_in_status);
}

int tag_of(const Status& status) {  // all ABIs have it behind the source
  const Word at = reinterpret_cast<Word>(status.bytes.data()) + abi.source_in_status;
  return value_at<int>(at + sizeof(int));
}

std::int64_t bytes_of(const Status& status) {
  const Word at = reinterpret_cast<Word>(status.bytes.data());
  if (abi.kind == AbiKind::mpich) {  // the lowest bit of the second says whether it was cancelled
    const auto low = value_at<std::uint32_t>(at), high = value_at<std::uint32_t>(at + 4) >> 1U;
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(high) << 32U) | low);
  }
  if (abi.kind == AbiKind::ompi) return value_at<std::int64_t>(at + 16);
  long long bytes = 0;
  if (mpi.Get_elements_x == nullptr) return 0;
  return mpi.Get_elements_x(&status, abi.byte, &bytes) == 0 ? bytes : 0;
}

std::int64_t size_of_type(Word type) {
  int size = 0;
  if (mpi.Type_size(type, &size) != 0) return 0;
  if (size != abi.undefined) return size;
  long long large = 0;
  if (mpi.Type_size_x == nullptr || mpi.Type_size_x(type, &large) != 0) return 0;
  return large < 0 ? 0 : large;
}

}  // namespace mpigauge::profile
