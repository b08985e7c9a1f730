/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * Calls of all families, whose number and bytes are the same each time. zoo_counter.c counts them on
 * its own; so does the profiler. The argument is a file for MPI-IO. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <stdlib.h>

enum { MOST = 4096 };
static int rank, ranks, left, right;
static int out[MOST], in[MOST];

static void messages(void) {
  MPI_Request requests[2];
  MPI_Status status;
  static char room[1 << 16];
  const int tag = 1;
  for (int n = 0; n < 5; ++n) {
    MPI_Irecv(in, 40, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 40, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Sendrecv(out, 3, MPI_DOUBLE, right, tag, in, 3, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &status);
  MPI_Sendrecv_replace(out, 7, MPI_INT, right, tag, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(out, 100, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
  MPI_Irecv(in, 11, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend(out, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
  MPI_Buffer_attach(room, sizeof room);
  MPI_Bsend(out, 11, MPI_INT, right, tag, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], &status);
  void *back;
  int size;
  MPI_Buffer_detach(&back, &size);
  MPI_Isend(out, 9, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Probe(left, tag, MPI_COMM_WORLD, &status);
  MPI_Recv(in, 9, MPI_BYTE, left, tag, MPI_COMM_WORLD, &status);
  MPI_Wait(&requests[0], &status);
  MPI_Message message;
  MPI_Isend(out, 5, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Mprobe(left, tag, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 5, MPI_INT, &message, &status);
  MPI_Wait(&requests[0], &status);
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Send_init(out, 13, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 13, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[1]);
  for (int n = 0; n < 3; ++n) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static int query(void *state, MPI_Status *status) {
  return state == NULL && status != NULL ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int forget(void *state) { return state == NULL ? MPI_SUCCESS : MPI_ERR_OTHER; }
static int cancel(void *state, int complete) { return state == NULL && complete ? MPI_SUCCESS : MPI_ERR_OTHER; }

/* Requests that calls take by their value, and others that come from no communicator. */
static void requests(void) {
  enum { PARTS = 13 };
  MPI_Request both[2], request;
  MPI_Status status;
  const int tag = 3;
  int flag = 0, list[] = {11, 12};
  MPI_Psend_init(out, PARTS, 1, MPI_INT, right, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Precv_init(in, PARTS, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int n = 0; n < 2; ++n) {
    MPI_Startall(2, both);
    MPI_Pready(0, both[0]);
    MPI_Pready_range(1, 10, both[0]);
    MPI_Pready_list(2, list, both[0]);
    MPI_Parrived(both[1], 0, &flag);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Message message;
  MPI_Isend(out, 6, MPI_INT, right, tag, MPI_COMM_WORLD, &both[0]);
  MPI_Mprobe(left, tag, MPI_COMM_WORLD, &message, &status);
  MPI_Imrecv(in, 6, MPI_INT, &message, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Isendrecv(out, 8, MPI_INT, right, tag, in, 8, MPI_INT, left, tag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Grequest_start(query, forget, cancel, NULL, &request);
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm copy;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
}

static void collectives(MPI_Comm comm) {
  int counts[64], places[64];
  MPI_Datatype types[64];
  MPI_Request request;
  int own = 0;
  MPI_Comm_rank(comm, &own);
  for (int n = 0, at = 0; n < ranks; ++n) {
    counts[n] = n + 1;
    places[n] = at;
    types[n] = MPI_INT;
    at += n + 1;
  }
  MPI_Barrier(comm);
  MPI_Bcast(out, 20, MPI_INT, ranks - 1, comm);
  MPI_Reduce(out, in, 6, MPI_INT, MPI_SUM, 0, comm);
  MPI_Allreduce(out, in, 8, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, in, 8, MPI_INT, MPI_MAX, comm);
  MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, 0, comm);
  MPI_Gatherv(out, counts[own], MPI_INT, in, counts, places, MPI_INT, 0, comm);
  MPI_Scatter(out, 10, MPI_INT, in, 10, MPI_INT, 0, comm);
  MPI_Scatterv(out, counts, places, MPI_INT, in, counts[own], MPI_INT, ranks - 1, comm);
  MPI_Allgather(out, 5, MPI_INT, in, 5, MPI_INT, comm);
  MPI_Allgatherv(out, counts[own], MPI_INT, in, counts, places, MPI_INT, comm);
  MPI_Alltoall(out, 12, MPI_INT, in, 12, MPI_INT, comm);
  for (int n = 0; n < ranks; ++n) counts[n] = 3, places[n] = 3 * n;
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  for (int n = 0; n < ranks; ++n) places[n] *= (int)sizeof(int);
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, comm);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(out, in, 3, MPI_INT, MPI_SUM, comm);
  MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(out, in, 2, MPI_INT, MPI_SUM, comm);
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ibcast(out, 30, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ialltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(out, in, 9, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void neighbours(void) {
  MPI_Comm ring;
  int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Neighbor_allgather(out, 6, MPI_INT, in, 6, MPI_INT, ring);
  MPI_Neighbor_alltoall(out, 6, MPI_INT, in, 6, MPI_INT, ring);
  MPI_Comm_free(&ring);
}

static void one_sided(void) {
  MPI_Win window;
  MPI_Win_create(in, sizeof in, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 15, MPI_INT, right, 0, 15, MPI_INT, window);
  MPI_Get(out, 4, MPI_INT, left, 100, 4, MPI_INT, window);
  MPI_Accumulate(out, 2, MPI_INT, right, 200, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Request request;
  MPI_Win_lock_all(0, window);
  MPI_Rput(out, 3, MPI_INT, right, 0, 3, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget(out, 3, MPI_INT, left, 100, 3, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void files(char *name) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 64, out, 16, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, rank * 64, in, 16, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_File_iwrite_at(file, rank * 64, out, 16, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, rank * 64, in, 16, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  MPI_Comm other;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
  messages();
  persistent();
  requests();
  collectives(MPI_COMM_WORLD);
  collectives(other);
  neighbours();
  one_sided();
  files(argv[1]);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
