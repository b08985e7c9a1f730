// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/access.hpp"

namespace mpigauge::io {

namespace {

struct Kind {
  Who who;
  std::vector<Pointer> pointers;
};

const char* word(Who who) {
  switch (who) {
    case Who::single: return "S";
    case Who::parallel: return "P";
    case Who::collective: break;
  }
  return "C";
}

const char* word(Pointer pointer) {
  switch (pointer) {
    case Pointer::indv: return "Indv";
    case Pointer::expl: return "Expl";
    case Pointer::shared: return "Shared";
    case Pointer::priv: break;
  }
  return "Priv";
}

const char* sense(const Access& access) {
  if (access.who == Who::single) return "One rank";
  return access.who == Who::parallel ? "Each rank" : "All ranks together";
}

const char* place(Pointer pointer) {
  switch (pointer) {
    case Pointer::indv: return " with its own file pointer";
    case Pointer::expl: return " at explicit offsets";
    case Pointer::shared: return " with the shared file pointer";
    case Pointer::priv: break;
  }
  return " in a file of its own";
}

int wait_for(MPI_File, void*, MPI_Request* request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }

}  // namespace

std::vector<Access> all_accesses() {
  using enum Pointer;
  const std::vector<Kind> kinds{{Who::single, {indv, expl}},
                                {Who::parallel, {indv, shared, priv, expl}},
                                {Who::collective, {indv, shared, expl}}};
  std::vector<Access> all;
  for (const auto direction : {Direction::write, Direction::read}) {
    for (const auto& [who, pointers] : kinds) {
      for (const auto pointer : pointers) {
        all.push_back({who, direction, pointer, true});
        all.push_back({who, direction, pointer, false});
      }
    }
  }
  return all;
}

std::string name_of(const Access& access) {
  const char* verb = access.direction == Direction::write ? "Write" : "Read";
  return std::string(word(access.who)) + (access.blocking ? "_" : "_I") + verb + '_' +
         word(access.pointer);
}

std::string sense_of(const Access& access) {
  const bool many = access.who == Who::collective;
  const std::string end = many ? "" : "s";
  std::string text = sense(access);
  text += (access.direction == Direction::write ? " write" : " read") + end;
  text += place(access.pointer);
  if (!access.blocking) text += " and compute" + end + " meanwhile";
  return text + '.';
}

namespace {

// One row per way to name a place in the file, with and without the others, in both directions.
// `const` reads the same as what MPI-2 had without it.

const Calls write_indv{"MPI_File_write",
                       [](MPI_File f, MPI_Offset, void* data, int n) {
                         return MPI_File_write(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                       },
                       "MPI_File_iwrite",
                       [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request* request) {
                         return MPI_File_iwrite(f, data, n, MPI_BYTE, request);
                       },
                       wait_for};

const Calls write_expl{"MPI_File_write_at",
                       [](MPI_File f, MPI_Offset at, void* data, int n) {
                         return MPI_File_write_at(f, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                       },
                       "MPI_File_iwrite_at",
                       [](MPI_File f, MPI_Offset at, void* data, int n, MPI_Request* request) {
                         return MPI_File_iwrite_at(f, at, data, n, MPI_BYTE, request);
                       },
                       wait_for};

const Calls write_shared{"MPI_File_write_shared",
                         [](MPI_File f, MPI_Offset, void* data, int n) {
                           return MPI_File_write_shared(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                         },
                         "MPI_File_iwrite_shared",
                         [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request* request) {
                           return MPI_File_iwrite_shared(f, data, n, MPI_BYTE, request);
                         },
                         wait_for};

const Calls write_indv_all{"MPI_File_write_all",
                           [](MPI_File f, MPI_Offset, void* data, int n) {
                             return MPI_File_write_all(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                           },
                           "MPI_File_write_all_begin",
                           [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request*) {
                             return MPI_File_write_all_begin(f, data, n, MPI_BYTE);
                           },
                           [](MPI_File f, void* data, MPI_Request*) {
                             return MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE);
                           }};

const Calls write_expl_all{"MPI_File_write_at_all",
                           [](MPI_File f, MPI_Offset at, void* data, int n) {
                             return MPI_File_write_at_all(f, at, data, n, MPI_BYTE,
                                                          MPI_STATUS_IGNORE);
                           },
                           "MPI_File_write_at_all_begin",
                           [](MPI_File f, MPI_Offset at, void* data, int n, MPI_Request*) {
                             return MPI_File_write_at_all_begin(f, at, data, n, MPI_BYTE);
                           },
                           [](MPI_File f, void* data, MPI_Request*) {
                             return MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE);
                           }};

const Calls write_ordered{"MPI_File_write_ordered",
                          [](MPI_File f, MPI_Offset, void* data, int n) {
                            return MPI_File_write_ordered(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                          },
                          "MPI_File_write_ordered_begin",
                          [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request*) {
                            return MPI_File_write_ordered_begin(f, data, n, MPI_BYTE);
                          },
                          [](MPI_File f, void* data, MPI_Request*) {
                            return MPI_File_write_ordered_end(f, data, MPI_STATUS_IGNORE);
                          }};

const Calls read_indv{"MPI_File_read",
                      [](MPI_File f, MPI_Offset, void* data, int n) {
                        return MPI_File_read(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                      },
                      "MPI_File_iread",
                      [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request* request) {
                        return MPI_File_iread(f, data, n, MPI_BYTE, request);
                      },
                      wait_for};

const Calls read_expl{"MPI_File_read_at",
                      [](MPI_File f, MPI_Offset at, void* data, int n) {
                        return MPI_File_read_at(f, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                      },
                      "MPI_File_iread_at",
                      [](MPI_File f, MPI_Offset at, void* data, int n, MPI_Request* request) {
                        return MPI_File_iread_at(f, at, data, n, MPI_BYTE, request);
                      },
                      wait_for};

const Calls read_shared{"MPI_File_read_shared",
                        [](MPI_File f, MPI_Offset, void* data, int n) {
                          return MPI_File_read_shared(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                        },
                        "MPI_File_iread_shared",
                        [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request* request) {
                          return MPI_File_iread_shared(f, data, n, MPI_BYTE, request);
                        },
                        wait_for};

const Calls read_indv_all{"MPI_File_read_all",
                          [](MPI_File f, MPI_Offset, void* data, int n) {
                            return MPI_File_read_all(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                          },
                          "MPI_File_read_all_begin",
                          [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request*) {
                            return MPI_File_read_all_begin(f, data, n, MPI_BYTE);
                          },
                          [](MPI_File f, void* data, MPI_Request*) {
                            return MPI_File_read_all_end(f, data, MPI_STATUS_IGNORE);
                          }};

const Calls read_expl_all{"MPI_File_read_at_all",
                          [](MPI_File f, MPI_Offset at, void* data, int n) {
                            return MPI_File_read_at_all(f, at, data, n, MPI_BYTE,
                                                        MPI_STATUS_IGNORE);
                          },
                          "MPI_File_read_at_all_begin",
                          [](MPI_File f, MPI_Offset at, void* data, int n, MPI_Request*) {
                            return MPI_File_read_at_all_begin(f, at, data, n, MPI_BYTE);
                          },
                          [](MPI_File f, void* data, MPI_Request*) {
                            return MPI_File_read_at_all_end(f, data, MPI_STATUS_IGNORE);
                          }};

const Calls read_ordered{"MPI_File_read_ordered",
                         [](MPI_File f, MPI_Offset, void* data, int n) {
                           return MPI_File_read_ordered(f, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
                         },
                         "MPI_File_read_ordered_begin",
                         [](MPI_File f, MPI_Offset, void* data, int n, MPI_Request*) {
                           return MPI_File_read_ordered_begin(f, data, n, MPI_BYTE);
                         },
                         [](MPI_File f, void* data, MPI_Request*) {
                           return MPI_File_read_ordered_end(f, data, MPI_STATUS_IGNORE);
                         }};

struct Row {
  const Calls& independent;
  const Calls& together;
};

const Row& row_of(Direction direction, Pointer pointer) {
  static const Row writes[] = {
      {write_indv, write_indv_all}, {write_expl, write_expl_all}, {write_shared, write_ordered}};
  static const Row reads[] = {
      {read_indv, read_indv_all}, {read_expl, read_expl_all}, {read_shared, read_ordered}};
  const Row* rows = direction == Direction::write ? writes : reads;
  switch (pointer) {
    case Pointer::expl: return rows[1];
    case Pointer::shared: return rows[2];
    case Pointer::indv:
    case Pointer::priv: break;
  }
  return rows[0];
}

}  // namespace

const Calls& calls_of(const Access& access) {
  const Row& row = row_of(access.direction, access.pointer);
  return access.who == Who::collective ? row.together : row.independent;
}

}  // namespace mpigauge::io
