// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What differs between the ABIs of MPI, as data. Only what the profiler has to know is here; a test
// compares it with the headers of real MPIs. Handles of MPICH's ABI are ints, those of the others
// pointers.
#pragma once

#include <array>

#include "words.hpp"

namespace mpigauge::profile {

enum class AbiKind : std::uint32_t { unknown, mpich, ompi, standard };

constexpr std::array<const char*, 14> operation_names = {
    "MPI_MAX", "MPI_MIN",  "MPI_SUM",  "MPI_PROD",   "MPI_LAND",   "MPI_BAND",    "MPI_LOR",
    "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};

struct Abi {
  AbiKind kind = AbiKind::unknown;
  Word handle_bits = ~Word{0};
  Word comm_world = 0, comm_self = 0, comm_null = 0;
  Word datatype_null = 0, group_null = 0, request_null = 0;
  Word byte = 0;
  std::array<Word, operation_names.size()> operations{};
  Word in_place = 0;
  Word status_ignore = 0;
  int proc_null = 0, any_source = 0, any_tag = 0, root = 0, undefined = 0;
  int cart = 0, graph = 0, dist_graph = 0;
  std::array<int, 4> thread_levels = {0, 1, 2, 3};
  std::size_t source_in_status = 0;
};

/// Without handles where these are addresses in the library: see `complete` in library.hpp.
constexpr Abi mpich_abi{
    .kind = AbiKind::mpich,
    .handle_bits = 0xffffffff,
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .datatype_null = 0x0c000000,
    .group_null = 0x08000000,
    .request_null = 0x2c000000,
    .byte = 0x4c00010d,
    .operations = {0x58000001, 0x58000002, 0x58000003, 0x58000004, 0x58000005, 0x58000006,
                   0x58000007, 0x58000008, 0x58000009, 0x5800000a, 0x5800000b, 0x5800000c,
                   0x5800000d, 0x5800000e},
    .in_place = ~Word{0},
    .status_ignore = 1,
    .proc_null = -1,
    .any_source = -2,
    .any_tag = -1,
    .root = -3,
    .undefined = -32766,
    .cart = 2,
    .graph = 1,
    .dist_graph = 3,
    .source_in_status = 8,
};

constexpr Abi ompi_abi{
    .kind = AbiKind::ompi,
    .in_place = 1,
    .status_ignore = 0,
    .proc_null = -2,
    .any_source = -1,
    .any_tag = -1,
    .root = -4,
    .undefined = -32766,
    .cart = 1,
    .graph = 2,
    .dist_graph = 3,
};

constexpr Abi standard_abi{
    .kind = AbiKind::standard,
    .comm_world = 0x101,
    .comm_self = 0x102,
    .comm_null = 0x100,
    .datatype_null = 0x200,
    .group_null = 0x108,
    .request_null = 0x180,
    .byte = 0x247,
    .operations = {0x23, 0x22, 0x21, 0x24, 0x30, 0x28, 0x31, 0x29, 0x32, 0x2a, 0x38, 0x39, 0x3c,
                   0x3d},
    .in_place = 1,
    .status_ignore = 0,
    .proc_null = -3,
    .any_source = -1,
    .any_tag = -2,
    .root = -4,
    .undefined = -32766,
    .cart = 211,
    .graph = 212,
    .dist_graph = 213,
    .thread_levels = {0, 1024, 2048, 4096},
};

/// Room for a status of any ABI.
struct alignas(16) Status {
  std::array<unsigned char, 64> bytes;
};

}  // namespace mpigauge::profile
