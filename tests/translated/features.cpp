// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Says what is wrong in an MPI, in a line each, and how many lines these are. Built with the
// headers of one MPI and run on another, it shows whether the translation is right. Any number of
// ranks.
#ifdef MPIGAUGE_STANDARD_ABI
#include <mpi_abi.h>
#define TO_NUMBER(KIND, HANDLE) MPI_##KIND##_toint(HANDLE)
#define OF_NUMBER(KIND, NUMBER) MPI_##KIND##_fromint(NUMBER)
#else
#include <mpi.h>
#define TO_NUMBER(KIND, HANDLE) MPI_##KIND##_c2f(HANDLE)
#define OF_NUMBER(KIND, NUMBER) MPI_##KIND##_f2c(NUMBER)
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

int ranks, rank, wrong;

void say(bool good, const char* what, int line) {
  if (good) return;
  ++wrong;
  std::printf("rank %d: line %d: %s\n", rank, line, what);
}
#define CHECK(...) say((__VA_ARGS__), #__VA_ARGS__, __LINE__)
#define OK(...) CHECK((__VA_ARGS__) == MPI_SUCCESS)

int class_of(int code) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found;
}

// --- one rank to another ------------------------------------------------------------------------

void messages() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  std::array<double, 5> out{}, in{};
  out.fill(rank);
  MPI_Status status;
  OK(MPI_Sendrecv(out.data(), 3, MPI_DOUBLE, next, 7, in.data(), 5, MPI_DOUBLE, MPI_ANY_SOURCE,
                  MPI_ANY_TAG, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == last && status.MPI_TAG == 7 && in[2] == last);
  int count = 0;
  OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK(count == 3);
  OK(MPI_Get_elements(&status, MPI_BYTE, &count));
  CHECK(count == 24);
  MPI_Count many = 0;
  OK(MPI_Get_elements_x(&status, MPI_DOUBLE, &many));
  CHECK(many == 3);
  OK(MPI_Get_count(&status, MPI_LONG_DOUBLE, &count));
  CHECK(count == MPI_UNDEFINED);

  OK(MPI_Recv(in.data(), 5, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK(count == 0);
  OK(MPI_Send(out.data(), 5, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD));

  int flag = 1;
  OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(flag == 0);
  MPI_Request request;
  OK(MPI_Isend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &request));
  MPI_Message message;
  OK(MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status));
  CHECK(status.MPI_SOURCE == last && message != MPI_MESSAGE_NULL);
  int got = -1;
  OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
  CHECK(got == last && message == MPI_MESSAGE_NULL);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(request == MPI_REQUEST_NULL);
  OK(MPI_Wait(&request, &status));
  OK(MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
}

void many_requests() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  constexpr int n = 100;
  std::array<int, n> in{}, out{};
  std::array<MPI_Request, 2 * n> requests;
  std::array<MPI_Status, 2 * n> statuses;
  for (int i = 0; i < n; ++i) {
    out[i] = 1000 * rank + i;
    OK(MPI_Irecv(&in[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]));
  }
  for (int i = 0; i < n; ++i) {
    OK(MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[n + i]));
  }
  OK(MPI_Waitall(2 * n, requests.data(), statuses.data()));
  for (int i = 0; i < n; ++i) {
    CHECK(in[i] == 1000 * last + i && statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == last);
    CHECK(requests[i] == MPI_REQUEST_NULL && requests[n + i] == MPI_REQUEST_NULL);
  }
  int index = 0, flag = 0;
  OK(MPI_Waitany(2 * n, requests.data(), &index, statuses.data()));
  CHECK(index == MPI_UNDEFINED);
  OK(MPI_Testall(2 * n, requests.data(), &flag, MPI_STATUSES_IGNORE));
  CHECK(flag == 1);

  for (int i = 0; i < n; ++i) {
    OK(MPI_Recv_init(&in[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Send_init(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[n + i]));
  }
  for (int turn = 0; turn < 3; ++turn) {
    in.fill(-1);
    OK(MPI_Startall(2 * n, requests.data()));
    int done = 0;
    while (done < 2 * n) {
      int some = 0;
      std::array<int, 2 * n> indices;
      OK(MPI_Waitsome(2 * n, requests.data(), &some, indices.data(), statuses.data()));
      for (int i = 0; i < some; ++i) {
        CHECK(indices[i] >= n || statuses[i].MPI_TAG == indices[i]);
      }
      done += some;
    }
    CHECK(in[n - 1] == 1000 * last + n - 1 && requests[0] != MPI_REQUEST_NULL);
  }
  for (MPI_Request& each : requests) OK(MPI_Request_free(&each));
  CHECK(requests[n] == MPI_REQUEST_NULL);

  MPI_Request never;
  OK(MPI_Irecv(in.data(), 1, MPI_INT, last, 12345, MPI_COMM_WORLD, &never));
  OK(MPI_Cancel(&never));
  MPI_Status status;
  OK(MPI_Wait(&never, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag == 1);
}

// --- collectives --------------------------------------------------------------------------------

template <int factor>
void add_times(void* in, void* inout, int* count, MPI_Datatype* type) {
  if (*type != MPI_INT) std::abort();
  for (int n = 0; n < *count; ++n) {
    static_cast<int*>(inout)[n] += static_cast<int*>(in)[n] * (factor == 0 ? 1 : 1);
  }
  static_cast<int*>(inout)[0] += factor;
}

template <int... factors>
void many_operations(std::integer_sequence<int, factors...>) {
  const std::array<MPI_User_function*, sizeof...(factors)> functions = {add_times<factors>...};
  std::array<MPI_Op, sizeof...(factors)> all;
  for (std::size_t n = 0; n < all.size(); ++n) OK(MPI_Op_create(functions[n], 1, &all[n]));
  for (std::size_t n = 0; n < all.size(); ++n) {
    std::array<int, 2> in = {0, 0}, inout = {0, 1};
    OK(MPI_Reduce_local(in.data(), inout.data(), 2, MPI_INT, all[n]));
    CHECK(inout[0] == static_cast<int>(n) && inout[1] == 1);
  }
  std::array<int, 2> mine = {1, rank}, sum{};
  OK(MPI_Allreduce(mine.data(), sum.data(), 2, MPI_INT, all[0], MPI_COMM_WORLD));
  CHECK(sum[0] == ranks && sum[1] == ranks * (ranks - 1) / 2);
  for (MPI_Op& op : all) OK(MPI_Op_free(&op));
  CHECK(all[0] == MPI_OP_NULL);
}

void collectives() {
  std::vector<int> all(ranks, rank);
  OK(MPI_Allreduce(MPI_IN_PLACE, all.data(), ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(all[0] == ranks * (ranks - 1) / 2);
  all.assign(ranks, -1);
  all[rank] = rank;
  OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT, MPI_COMM_WORLD));
  for (int n = 0; n < ranks; ++n) CHECK(all[n] == n);
  struct {
    double value;
    int index;
  } mine = {static_cast<double>(rank), rank}, most{};
  OK(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
  CHECK(most.index == ranks - 1);
  for (const MPI_Op op : {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                          MPI_LXOR, MPI_BXOR}) {
    int in = 3, out = 5;
    OK(MPI_Reduce_local(&in, &out, 1, MPI_INT, op));
    int commutes = 0;
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == 1);
  }
}

void types_of_alltoallw() {
  std::vector<int> in(ranks, -1), out(ranks), counts(ranks, 1), places(ranks);
  for (int n = 0; n < ranks; ++n) {
    out[n] = 100 * rank + n;
    places[n] = static_cast<int>(n * sizeof(int));
  }
  MPI_Datatype type;
  OK(MPI_Type_contiguous(1, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  const std::vector<MPI_Datatype> types(ranks, type);
  std::array<MPI_Request, 3> requests;
  for (MPI_Request& each : requests) {
    OK(MPI_Ialltoallw(out.data(), counts.data(), places.data(), types.data(), in.data(),
                      counts.data(), places.data(), types.data(), MPI_COMM_WORLD, &each));
  }
  OK(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE));
  for (int n = 0; n < ranks; ++n) CHECK(in[n] == 100 * n + rank);
  OK(MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, in.data(), counts.data(), places.data(),
                   types.data(), MPI_COMM_WORLD));
  for (int n = 0; n < ranks; ++n) CHECK(in[n] == out[n]);
  OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
}

// --- types --------------------------------------------------------------------------------------

void how_made(MPI_Datatype type, int expected, int integers, int last) {
  int ni = 0, na = 0, nt = 0, combiner = -1;
  OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner));
  CHECK(combiner == expected);
  CHECK(ni == integers);
  std::vector<int> all(ni + 1);
  std::vector<MPI_Aint> places(na + 1);
  std::vector<MPI_Datatype> parts(nt + 1);
  OK(MPI_Type_get_contents(type, ni, na, nt, all.data(), places.data(), parts.data()));
  CHECK(parts[0] == MPI_INT);
  CHECK(ni == 0 || all[ni - 1] == last);
}

void types() {
  int bytes = 0;
  OK(MPI_Type_size(MPI_CXX_FLOAT_COMPLEX, &bytes));
  CHECK(bytes == 8);
  MPI_Datatype type;
  int combiner = 0, a = 0, b = 0, c = 0;
  OK(MPI_Type_get_envelope(MPI_INT, &a, &b, &c, &combiner));
  CHECK(combiner == MPI_COMBINER_NAMED);
  OK(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
  how_made(type, MPI_COMBINER_VECTOR, 3, 4);
  OK(MPI_Type_free(&type));
  const std::array<int, 2> sizes = {4, 6}, part = {2, 3}, from = {1, 1};
  OK(MPI_Type_create_subarray(2, sizes.data(), part.data(), from.data(), MPI_ORDER_FORTRAN, MPI_INT,
                              &type));
  how_made(type, MPI_COMBINER_SUBARRAY, 8, MPI_ORDER_FORTRAN);
  OK(MPI_Type_free(&type));
  const std::array<int, 2> how = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const std::array<int, 2> with = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const std::array<int, 2> grid = {1, 1};
  OK(MPI_Type_create_darray(1, 0, 2, sizes.data(), how.data(), with.data(), grid.data(),
                            MPI_ORDER_C, MPI_INT, &type));
  how_made(type, MPI_COMBINER_DARRAY, 12, MPI_ORDER_C);
  std::array<int, 12> integers{};
  std::array<MPI_Aint, 1> none{};
  std::array<MPI_Datatype, 1> old{};
  OK(MPI_Type_get_contents(type, 12, 0, 1, integers.data(), none.data(), old.data()));
  CHECK(integers[5] == MPI_DISTRIBUTE_BLOCK && integers[6] == MPI_DISTRIBUTE_NONE);
  CHECK(integers[7] == MPI_DISTRIBUTE_DFLT_DARG);
  OK(MPI_Type_free(&type));
  const std::array<int, 2> lengths = {1, 2};
  const std::array<MPI_Aint, 2> places = {0, 8};
  const std::array<MPI_Datatype, 2> members = {MPI_INT, MPI_DOUBLE};
  OK(MPI_Type_create_struct(2, lengths.data(), places.data(), members.data(), &type));
  how_made(type, MPI_COMBINER_STRUCT, 3, 2);
  int size = 0;
  OK(MPI_Type_size(type, &size));
  CHECK(size == 20);
  MPI_Datatype copy;
  OK(MPI_Type_dup(type, &copy));
  OK(MPI_Type_free(&copy));
  OK(MPI_Type_free(&type));
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
  OK(MPI_Type_size(type, &size));
  CHECK(size == 8);
  OK(MPI_Type_set_name(MPI_COMM_NULL == MPI_COMM_WORLD ? MPI_INT : MPI_DOUBLE, "ours"));
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  OK(MPI_Type_get_name(MPI_DOUBLE, name.data(), &size));
  CHECK(std::string(name.data()) == "ours" && size == 4);
  for (const MPI_Datatype each : {MPI_CHAR,
                                  MPI_SHORT,
                                  MPI_LONG,
                                  MPI_LONG_LONG,
                                  MPI_UNSIGNED,
                                  MPI_FLOAT,
                                  MPI_LONG_DOUBLE,
                                  MPI_BYTE,
                                  MPI_WCHAR,
                                  MPI_INT8_T,
                                  MPI_UINT64_T,
                                  MPI_C_BOOL,
                                  MPI_C_DOUBLE_COMPLEX,
                                  MPI_AINT,
                                  MPI_OFFSET,
                                  MPI_COUNT,
                                  MPI_FLOAT_INT,
                                  MPI_SHORT_INT,
                                  MPI_2INT,
                                  MPI_LONG_DOUBLE_INT}) {
    OK(MPI_Type_size(each, &size));
    CHECK(size > 0);
  }
}

// --- attributes, errors, callbacks --------------------------------------------------------------

int copies, deletes;
int copy_it(MPI_Comm comm, int, void* extra, void* value, void* copied, int* flag) {
  CHECK(comm == MPI_COMM_SELF && extra == &copies);
  ++copies;
  *static_cast<void**>(copied) = static_cast<char*>(value) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_it(MPI_Comm, int, void*, void*) {
  ++deletes;
  return MPI_SUCCESS;
}

void attributes() {
  void* value = nullptr;
  int flag = 0;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  CHECK(flag == 1 && *static_cast<int*>(value) >= 32767);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
  CHECK(flag == 0 || *static_cast<int*>(value) == MPI_ANY_SOURCE || *static_cast<int*>(value) >= 0);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  CHECK(flag == 1);
  CHECK(*static_cast<int*>(value) >= MPI_ERR_LASTCODE);

  int keyval = MPI_KEYVAL_INVALID;
  OK(MPI_Comm_create_keyval(copy_it, delete_it, &keyval, &copies));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &wrong));
  MPI_Comm other;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
  OK(MPI_Comm_get_attr(other, keyval, &value, &flag));
  CHECK(flag == 1 && value == reinterpret_cast<char*>(&wrong) + 1 && copies == 1);
  OK(MPI_Comm_free(&other));
  OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
  CHECK(deletes == 2);
  OK(MPI_Comm_free_keyval(&keyval));
  CHECK(keyval == MPI_KEYVAL_INVALID);

  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr));
  void* const no_address = reinterpret_cast<void*>(4711);
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, no_address));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
  OK(MPI_Comm_get_attr(other, keyval, &value, &flag));
  CHECK(flag == 1 && value == no_address);
  OK(MPI_Comm_free(&other));
  OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
  OK(MPI_Comm_free_keyval(&keyval));
}

int errors_seen, last_class;
void on_error(MPI_Comm* comm, int* code, ...) {
  CHECK(*comm == MPI_COMM_SELF);
  ++errors_seen;
  last_class = class_of(*code);
}

void errors() {
  MPI_Errhandler ours, found;
  OK(MPI_Comm_create_errhandler(on_error, &ours));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, ours));
  OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &found));
  CHECK(found == ours);
  OK(MPI_Errhandler_free(&found));
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, 5, 0, MPI_COMM_SELF);
  CHECK(errors_seen == 1 && last_class == MPI_ERR_RANK);
  std::array<int, 4> long_one{};
  MPI_Request request;
  OK(MPI_Isend(long_one.data(), 4, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)) ==
        MPI_ERR_TRUNCATE);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Errhandler_free(&ours));
  OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_SELF)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Send(&value, -1, MPI_INT, 0, 5, MPI_COMM_SELF)) == MPI_ERR_COUNT);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0, added = 0, code = 0;
  OK(MPI_Error_string(MPI_ERR_TRUNCATE, text.data(), &length));
  CHECK(length > 0 && length == static_cast<int>(std::strlen(text.data())));
  OK(MPI_Add_error_class(&added));
  CHECK(added > MPI_ERR_LASTCODE);
  OK(MPI_Add_error_code(added, &code));
  OK(MPI_Add_error_string(code, "our own"));
  CHECK(class_of(code) == added);
  OK(MPI_Error_string(code, text.data(), &length));
  CHECK(std::string(text.data()) == "our own");
  OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
  CHECK(code > MPI_ERR_LASTCODE && class_of(code) == MPI_ERR_OTHER);
}

int query(void* extra, MPI_Status* status) {
  OK(MPI_Status_set_elements(status, MPI_INT, 17));
  OK(MPI_Status_set_cancelled(status, 0));
  status->MPI_SOURCE = 42;
  status->MPI_TAG = 43;
  ++*static_cast<int*>(extra);
  return MPI_SUCCESS;
}
int free_it(void* extra) {
  *static_cast<int*>(extra) += 10;
  return MPI_SUCCESS;
}
int cancel_it(void*, int) { return MPI_SUCCESS; }

void requests_of_ours() {
  int calls = 0, count = 0;
  MPI_Request request;
  MPI_Status status;
  OK(MPI_Grequest_start(query, free_it, cancel_it, &calls, &request));
  OK(MPI_Grequest_complete(request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK(count == 17 && status.MPI_SOURCE == 42 && status.MPI_TAG == 43);
  CHECK(calls % 10 >= 1 && calls >= 10);
}

// --- communicators and groups -------------------------------------------------------------------

// What one library has besides is an error on others, and no other way to split.
void splits_of_one_library([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  const char* const whose = "Open MPI";
  const int how = OMPI_COMM_TYPE_CORE;
#elif defined(MPIX_COMM_TYPE_NEIGHBORHOOD)
  const char* const whose = "MPICH";
  const int how = MPIX_COMM_TYPE_NEIGHBORHOOD;
#endif
#if defined(OPEN_MPI) || defined(MPIX_COMM_TYPE_NEIGHBORHOOD)
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  OK(MPI_Get_library_version(version.data(), &length));
  if (std::string(version.data()).find(whose) != std::string::npos) return;
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  MPI_Comm split = MPI_COMM_NULL;
  CHECK(MPI_Comm_split_type(comm, how, 0, MPI_INFO_NULL, &split) != MPI_SUCCESS);
#endif
}

void communicators() {
  MPI_Comm comm, split;
  MPI_Request request;
  int result = -1;
  OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
  CHECK(result == MPI_IDENT);
  OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
  CHECK(result == MPI_CONGRUENT);
  OK(MPI_Comm_split(comm, rank % 2 == 0 ? MPI_UNDEFINED : 1, 0, &split));
  CHECK((split == MPI_COMM_NULL) == (rank % 2 == 0));
  if (split != MPI_COMM_NULL) OK(MPI_Comm_free(&split));
  OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &split));
  int size = 0;
  OK(MPI_Comm_size(split, &size));
  CHECK(size == ranks);
  OK(MPI_Comm_free(&split));
  splits_of_one_library(comm);
  OK(MPI_Comm_set_name(comm, "a name"));
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  OK(MPI_Comm_get_name(comm, name.data(), &size));
  CHECK(std::string(name.data()) == "a name");
  MPI_Group all, one;
  OK(MPI_Comm_group(comm, &all));
  const int first = 0;
  OK(MPI_Group_incl(all, 1, &first, &one));
  std::array<int, 2> from = {ranks - 1, MPI_PROC_NULL}, to{};
  OK(MPI_Group_translate_ranks(all, 2, from.data(), one, to.data()));
  CHECK(to[0] == (ranks == 1 ? 0 : MPI_UNDEFINED) && to[1] == MPI_PROC_NULL);
  OK(MPI_Group_compare(all, one, &result));
  CHECK(result == (ranks == 1 ? MPI_IDENT : MPI_UNEQUAL));
  OK(MPI_Group_free(&one));
  OK(MPI_Group_difference(all, all, &one));
  CHECK(one == MPI_GROUP_EMPTY);
  OK(MPI_Group_free(&all));
  CHECK(all == MPI_GROUP_NULL);
  OK(MPI_Comm_get_parent(&split));
  CHECK(split == MPI_COMM_NULL);
  CHECK(OF_NUMBER(Comm, TO_NUMBER(Comm, comm)) == comm);
  CHECK(OF_NUMBER(Comm, TO_NUMBER(Comm, MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  CHECK(OF_NUMBER(Type, TO_NUMBER(Type, MPI_DOUBLE)) == MPI_DOUBLE);
  OK(MPI_Comm_free(&comm));
  CHECK(comm == MPI_COMM_NULL);
}

void topologies() {
  MPI_Comm comm;
  const int no = 0;
  int status = 0, source = 0, destination = 0;
  OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
  CHECK(status == MPI_UNDEFINED);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &no, 0, &comm));
  OK(MPI_Topo_test(comm, &status));
  CHECK(status == MPI_CART);
  OK(MPI_Cart_shift(comm, 0, 1, &source, &destination));
  CHECK(source == (rank == 0 ? MPI_PROC_NULL : rank - 1));
  CHECK(destination == (rank == ranks - 1 ? MPI_PROC_NULL : rank + 1));
  std::array<int, 2> in = {-1, -1};
  OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in.data(), 1, MPI_INT, comm));
  CHECK(in[0] == (rank == 0 ? -1 : rank - 1));
  const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_INT};
  const std::array<int, 2> counts = {1, 1}, mine = {rank, rank};
  const std::array<MPI_Aint, 2> places = {0, sizeof(int)};
  OK(MPI_Neighbor_alltoallw(mine.data(), counts.data(), places.data(), types.data(), in.data(),
                            counts.data(), places.data(), types.data(), comm));
  OK(MPI_Comm_free(&comm));
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next,
                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  OK(MPI_Topo_test(comm, &status));
  CHECK(status == MPI_DIST_GRAPH);
  int weighted = 1;
  OK(MPI_Dist_graph_neighbors_count(comm, &source, &destination, &weighted));
  CHECK(source == 1 && destination == 1 && weighted == 0);
  OK(MPI_Dist_graph_neighbors(comm, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED));
  CHECK(source == last && destination == next);
  OK(MPI_Comm_free(&comm));
}

// --- memory of others ---------------------------------------------------------------------------

void windows() {
  std::vector<int> memory(4, rank);
  MPI_Win win;
  OK(MPI_Win_create(memory.data(), 16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  void* value = nullptr;
  int flag = 0;
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
  CHECK(flag == 1 && *static_cast<int*>(value) == MPI_WIN_FLAVOR_CREATE);
  OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
  CHECK(*static_cast<int*>(value) == MPI_WIN_UNIFIED ||
        *static_cast<int*>(value) == MPI_WIN_SEPARATE);
  OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
  CHECK(value == memory.data());
  OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
  CHECK(*static_cast<MPI_Aint*>(value) == 16);
  const int next = (rank + 1) % ranks, one = 1;
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  OK(MPI_Accumulate(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win));
  CHECK(memory[0] == rank + 1);
  int old = -1;
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
  OK(MPI_Fetch_and_op(&one, &old, MPI_INT, next, 1, MPI_REPLACE, win));
  OK(MPI_Win_unlock(next, win));
  CHECK(old == next);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win));
  OK(MPI_Get(&old, 1, MPI_INT, next, 3, 1, MPI_INT, win));
  OK(MPI_Win_unlock(next, win));
  CHECK(old == next);
  MPI_Group group;
  OK(MPI_Win_get_group(win, &group));
  OK(MPI_Group_free(&group));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
}

// --- files --------------------------------------------------------------------------------------

void files(const char* folder) {
  const std::string name = std::string(folder) + "/features.data";
  MPI_File file;
  CHECK(class_of(MPI_File_open(MPI_COMM_SELF, (name + ".none").c_str(), MPI_MODE_RDONLY,
                               MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  OK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), mode, MPI_INFO_NULL, &file));
  int got = 0;
  OK(MPI_File_get_amode(file, &got));
  CHECK(got == mode);
  OK(MPI_File_set_size(file, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  std::array<int, 4> data{};
  data.fill(rank);
  MPI_Status status;
  OK(MPI_File_write_at(file, 16 * rank, data.data(), 4, MPI_INT, &status));
  OK(MPI_Get_count(&status, MPI_INT, &got));
  CHECK(got == 4);
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  MPI_Offset place = 0;
  OK(MPI_File_get_position(file, &place));
  CHECK(place == 16 * ranks);
  OK(MPI_File_seek(file, 4, MPI_SEEK_SET));
  OK(MPI_File_seek(file, 4, MPI_SEEK_CUR));
  OK(MPI_File_get_position(file, &place));
  CHECK(place == 8);
  OK(MPI_File_set_view(file, 16 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Datatype etype, filetype;
  std::array<char, MPI_MAX_DATAREP_STRING> text{};
  OK(MPI_File_get_view(file, &place, &etype, &filetype, text.data()));
  CHECK(place == 16 * rank && etype == MPI_INT && std::string(text.data()) == "native");
  data.fill(-1);
  MPI_Request request;
  OK(MPI_File_iread(file, data.data(), 4, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_count(&status, MPI_INT, &got));
  CHECK(got == 4 && data[3] == rank);
  CHECK(OF_NUMBER(File, TO_NUMBER(File, file)) == file);
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) OK(MPI_File_delete(name.c_str(), MPI_INFO_NULL));
}

// --- the rest -----------------------------------------------------------------------------------

void texts() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  OK(MPI_Get_processor_name(name.data(), &length));
  CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
  OK(MPI_Get_library_version(version.data(), &length));
  CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
  MPI_Info info;
  int flag = 0;
  std::array<char, 20> value{};
  std::array<char, MPI_MAX_INFO_KEY + 1> key{};
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "a key", "a value"));
  OK(MPI_Info_get(info, "a key", 19, value.data(), &flag));
  CHECK(flag == 1 && std::string(value.data()) == "a value");
  OK(MPI_Info_get_nthkey(info, 0, key.data()));
  CHECK(std::string(key.data()) == "a key");
  OK(MPI_Info_free(&info));
  CHECK(info == MPI_INFO_NULL);
}

void tools() {
  int provided = 0, count = 0;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  OK(MPI_T_cvar_get_num(&count));
  CHECK(count > 0);
  std::array<char, 256> name{}, text{};
  int name_length = 256, text_length = 256, verbosity = -1, bind = -1, scope = -1;
  MPI_Datatype type;
  MPI_T_enum values;
  OK(MPI_T_cvar_get_info(0, name.data(), &name_length, &verbosity, &type, &values, text.data(),
                         &text_length, &bind, &scope));
  CHECK(type != MPI_DATATYPE_NULL && MPI_Type_size(type, &count) == MPI_SUCCESS);
  CHECK(bind == MPI_T_BIND_NO_OBJECT);
  int index = -1;
  OK(MPI_T_cvar_get_index(name.data(), &index));
  CHECK(index == 0);
  CHECK(class_of(MPI_T_cvar_get_index("no such variable", &index)) != MPI_SUCCESS);
  OK(MPI_T_finalize());
}

void threads() {
  int level = -1;
  OK(MPI_Query_thread(&level));
  CHECK(level == MPI_THREAD_MULTIPLE);
  if (level != MPI_THREAD_MULTIPLE) return;
  const auto work = [](int which) {
    for (int turn = 0; turn < 200; ++turn) {
      std::array<MPI_Request, 8> requests;
      std::array<int, 4> in{}, out{};
      for (int n = 0; n < 4; ++n) {
        out[n] = 10 * which + n;
        MPI_Irecv(&in[n], 1, MPI_INT, rank, 1000 * which + n, MPI_COMM_WORLD, &requests[n]);
      }
      for (int n = 0; n < 4; ++n) {
        MPI_Isend(&out[n], 1, MPI_INT, rank, 1000 * which + n, MPI_COMM_WORLD, &requests[4 + n]);
      }
      MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
      if (in != out) std::abort();
      MPI_Datatype type;
      MPI_Type_contiguous(3, MPI_INT, &type);
      MPI_Type_free(&type);
    }
  };
  std::vector<std::thread> all;
  for (int n = 0; n < 4; ++n) all.emplace_back(work, n);
  for (std::thread& each : all) each.join();
}

// Made and freed again and again; memory must not grow. Prints kilobytes before and after.
long resident() {
  long pages = 0, all = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
  std::fclose(file);
  return pages * 4;
}

void made_and_freed(long times) {
  std::array<int, 2> data{};
  const auto turn = [&] {
    std::array<MPI_Request, 2> requests;
    MPI_Irecv(&data[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&data[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_free(&type);
  };
  for (long n = 0; n < times / 10; ++n) turn();
  const long before = resident();
  for (long n = 0; n < times; ++n) turn();
  const long types = resident();
  for (long n = 0; n < times / 10; ++n) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_free(&comm);
  }
  const long comms = resident();
  for (long n = 0; n < times; ++n) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_free(&comm);
  }
  std::printf("grown %ld %ld kB\n", types - before, resident() - comms);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2) {
    made_and_freed(std::atol(argv[2]));
    return MPI_Finalize();
  }
  CHECK(provided == MPI_THREAD_MULTIPLE);
  messages();
  many_requests();
  collectives();
  many_operations(std::make_integer_sequence<int, 300>{});
  types_of_alltoallw();
  types();
  attributes();
  errors();
  requests_of_ours();
  communicators();
  topologies();
  windows();
  files(argc > 1 ? argv[1] : ".");
  texts();
  threads();
  tools();
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("ranks %d wrong %d\n", ranks, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
