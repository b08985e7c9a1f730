/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * An MPI of one rank with the ABI of MPICH, as far as alone.c needs one: to be linked statically,
 * which the MPIs that are installed for tests cannot. */
#include <string.h>

#define MPI(NAME, ...)                                                   \
  int PMPI_##NAME(__VA_ARGS__);                                          \
  int MPI_##NAME(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #NAME))); \
  int PMPI_##NAME(__VA_ARGS__)

enum { self = 0x44000001, no_comm = 0x04000000, group = 0x48000000, undefined = -32766 };
static int begun = 0, ended = 0;

static int put(int* place, int value) {
  *place = value;
  return 0;
}

MPI(Init, int* count, char*** words) { return (void)count, (void)words, put(&begun, 1); }
MPI(Finalize, void) { return put(&ended, 1); }
MPI(Initialized, int* is) { return put(is, begun); }
MPI(Finalized, int* is) { return put(is, ended); }
MPI(Query_thread, int* level) { return put(level, 0); }
MPI(Comm_rank, int comm, int* rank) { return (void)comm, put(rank, 0); }
MPI(Comm_size, int comm, int* size) { return (void)comm, put(size, 1); }
MPI(Comm_remote_size, int comm, int* size) { return (void)comm, put(size, 0); }
MPI(Comm_test_inter, int comm, int* is) { return (void)comm, put(is, 0); }
MPI(Comm_group, int comm, int* of) { return (void)comm, put(of, group); }
MPI(Comm_remote_group, int comm, int* of) { return (void)comm, put(of, group); }
MPI(Comm_get_parent, int* parent) { return put(parent, no_comm); }
MPI(Group_rank, int of, int* rank) { return (void)of, put(rank, 0); }
MPI(Group_size, int of, int* size) { return (void)of, put(size, 1); }
MPI(Group_translate_ranks, int of, int count, const int* from, int to, int* ranks) {
  (void)of, (void)to;
  memcpy(ranks, from, sizeof *ranks * (size_t)count);
  return 0;
}
MPI(Group_free, int* of) { return put(of, 0); }
MPI(Comm_get_name, int comm, char* name, int* length) {
  strcpy(name, comm == self ? "MPI_COMM_SELF" : "MPI_COMM_WORLD");
  return put(length, (int)strlen(name));
}
MPI(Type_size, int type, int* size) { return put(size, (type >> 8) & 255); }
MPI(Type_get_name, int type, char* name, int* length) {
  strcpy(name, type == 0x4c00080b ? "MPI_DOUBLE" : "");
  return put(length, (int)strlen(name));
}
MPI(Get_library_version, char* text, int* length) {
  strcpy(text, "MPICH Version: 0, of one rank");
  return put(length, (int)strlen(text));
}
MPI(Topo_test, int comm, int* kind) { return (void)comm, put(kind, undefined); }
MPI(Cartdim_get, int comm, int* count) { return (void)comm, put(count, 0); }
MPI(Graph_neighbors_count, int comm, int rank, int* count) {
  return (void)comm, (void)rank, put(count, 0);
}
MPI(Dist_graph_neighbors_count, int comm, int* in, int* out, int* weighted) {
  return (void)comm, put(in, 0), put(out, 0), put(weighted, 0);
}
MPI(Barrier, int comm) { return (void)comm, 0; }
MPI(Allreduce, const void* in, void* out, int count, int type, int op, int comm) {
  (void)op, (void)comm;
  memcpy(out, in, (size_t)count * (size_t)((type >> 8) & 255));
  return 0;
}
