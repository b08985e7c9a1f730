// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of Fortran as its compilers make them: by their names, with the place of each argument and
// the lengths of texts behind them. Says what is wrong, as features.cpp does. Two ranks.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

extern "C" {
void mpi_init_(int*);
void mpi_finalize_(int*);
void mpi_comm_rank_(const int*, int*, int*);
void mpi_comm_size_(const int*, int*, int*);
void mpi_isend_(const void*, const int*, const int*, const int*, const int*, const int*, int*,
                int*);
void mpi_recv_(void*, const int*, const int*, const int*, const int*, const int*, int*, int*);
void mpi_wait_(int*, int*, int*);
void mpi_waitany_(const int*, int*, int*, int*, int*);
void mpi_get_count_(const int*, const int*, int*, int*);
void mpi_allreduce_(const void*, void*, const int*, const int*, const int*, const int*, int*);
void mpi_op_create_(void (*)(void*, void*, int*, int*), const int*, int*, int*);
void mpi_op_free_(int*, int*);
void mpi_comm_dup_(const int*, int*, int*);
void mpi_comm_free_(int*, int*);
void mpi_comm_set_name_(const int*, const char*, int*, std::size_t);
void mpi_comm_get_name_(const int*, char*, int*, int*, std::size_t);
void mpi_comm_get_attr_(const int*, const int*, MPI_Aint*, int*, int*);
void mpi_comm_set_attr_(const int*, const int*, const MPI_Aint*, int*);
void mpi_comm_create_keyval_(void (*)(), void (*)(), int*, const MPI_Aint*, int*);
void mpi_comm_dup_fn_();
void mpi_comm_null_delete_fn_();
void mpi_comm_create_errhandler_(void (*)(int*, int*), int*, int*);
void mpi_comm_set_errhandler_(const int*, const int*, int*);
void mpi_info_create_(int*, int*);
void mpi_info_set_(const int*, const char*, const char*, int*, std::size_t, std::size_t);
void mpi_info_get_(const int*, const char*, const int*, char*, int*, int*, std::size_t,
                   std::size_t);
void mpi_info_free_(int*, int*);
void mpi_type_vector_(const int*, const int*, const int*, const int*, int*, int*);
void mpi_type_commit_(int*, int*);
void mpi_type_size_(const int*, int*, int*);
void mpi_type_free_(int*, int*);
void mpi_grequest_start_(void (*)(MPI_Aint*, int*, int*), void (*)(MPI_Aint*, int*),
                         void (*)(MPI_Aint*, int*, int*), MPI_Aint*, int*, int*);
void mpi_grequest_complete_(const int*, int*);
void mpi_status_set_elements_(int*, const int*, const int*, int*);
void mpi_status_set_cancelled_(int*, const int*, int*);
void mpi_register_datarep_(const char*, void (*)(), void (*)(),
                           void (*)(int*, MPI_Aint*, MPI_Aint*, int*), MPI_Aint*, int*,
                           std::size_t);
void mpi_conversion_fn_null_();
void mpi_comm_spawn_multiple_(const int*, const char*, const char*, const int*, const int*,
                              const int*, const int*, int*, int*, int*, std::size_t, std::size_t);
void mpi_comm_get_parent_(int*, int*);
void mpi_comm_disconnect_(int*, int*);
double mpi_wtime_();
void mpi_address_(const void*, int*, int*);
void mpi_type_extent_(const int*, int*, int*);
void mpi_type_struct_(const int*, const int*, const int*, const int*, int*, int*);
void mpi_type_hvector_(const int*, const int*, const int*, const int*, int*, int*);
void mpi_errhandler_get_(const int*, int*, int*);
void mpi_errhandler_set_(const int*, const int*, int*);
void mpi_keyval_create_(void (*)(), void (*)(), int*, const int*, int*);
void mpi_attr_put_(const int*, const int*, const int*, int*);
void mpi_attr_get_(const int*, const int*, int*, int*, int*);
void mpi_dup_fn_();
void mpi_null_delete_fn_();
#if defined(OPEN_MPI)
extern std::array<char, 4> mpi_fortran_in_place_;
extern std::array<char, 24> mpi_fortran_status_ignore_;
void mpi_barrier_f08_(const int*, int*);
#else
extern std::array<int, 7> mpipriv1_;
void mpi_op_create_c_f08_(void (*)(void*, void*, MPI_Count*, int*), const int*, int*, int*);
#endif
}

namespace {

#if defined(OPEN_MPI)
constexpr int world = 0, integer = 7, sum = 3, request_null = 0, comm_null = 2, type_null = 0,
              info_null = 0;
const void* in_place() { return &mpi_fortran_in_place_; }
int* ignored() { return reinterpret_cast<int*>(&mpi_fortran_status_ignore_); }
void barrier_of_f08() { mpi_barrier_f08_(&world, nullptr); }
#else
constexpr int world = MPI_COMM_WORLD, integer = MPI_INTEGER, sum = MPI_SUM,
              request_null = MPI_REQUEST_NULL, comm_null = MPI_COMM_NULL,
              type_null = MPI_DATATYPE_NULL, info_null = MPI_INFO_NULL;
const void* in_place() { return &mpipriv1_[1]; }
int* ignored() { return &mpipriv1_[2]; }
void barrier_of_f08() {}
void add_many(void* in, void* inout, MPI_Count* count, int*) {
  for (MPI_Count n = 0; n < *count; ++n) static_cast<int*>(inout)[n] += static_cast<int*>(in)[n];
}
#endif
#if defined(OPEN_MPI)
constexpr int above = 0;
#else
constexpr int above = 1;  // keys of what MPI has set are the next numbers in Fortran
#endif
constexpr int one = 1, yes = 1, any_source = MPI_ANY_SOURCE, any_tag = MPI_ANY_TAG;

int rank, ranks, wrong, error;

void say(bool good, const char* what, int line) {
  if (good) return;
  ++wrong;
  std::printf("rank %d: line %d: %s\n", rank, line, what);
}
#define CHECK(...) say((__VA_ARGS__), #__VA_ARGS__, __LINE__)

void messages() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, tag = 9;
  std::array<int, 2> requests{};
  std::array<int, sizeof(MPI_Status) / sizeof(int)> status{};
  int got = -1, count = 0, index = 0;
  mpi_isend_(&rank, &one, &integer, &next, &tag, &world, requests.data(), &error);
  CHECK(error == 0);
  mpi_recv_(&got, &one, &integer, &any_source, &any_tag, &world, status.data(), &error);
  CHECK(error == 0 && got == last);
  CHECK(status[MPI_F_SOURCE] == last && status[MPI_F_TAG] == tag);
  mpi_get_count_(status.data(), &integer, &count, &error);
  CHECK(count == 1);
  requests[1] = requests[0];
  requests[0] = request_null;
  const int two = 2;
  mpi_waitany_(&two, requests.data(), &index, ignored(), &error);
  CHECK(error == 0 && index == 2 && requests[1] == request_null);
  mpi_isend_(&rank, &one, &integer, &next, &tag, &world, requests.data(), &error);
  mpi_recv_(&got, &one, &integer, &any_source, &any_tag, &world, ignored(), &error);
  mpi_wait_(requests.data(), ignored(), &error);
  CHECK(error == 0 && requests[0] == request_null);
}

int type_seen;
void add(void* in, void* inout, int* count, int* type) {
  type_seen = *type;
  for (int n = 0; n < *count; ++n) static_cast<int*>(inout)[n] += static_cast<int*>(in)[n];
}

void collectives() {
  int value = rank, total = 0, op = 0;
  mpi_allreduce_(in_place(), &value, &one, &integer, &sum, &world, &error);
  CHECK(error == 0 && value == ranks * (ranks - 1) / 2);
  mpi_op_create_(add, &yes, &op, &error);
  CHECK(error == 0);
  mpi_allreduce_(&one, &total, &one, &integer, &op, &world, &error);
  CHECK(total == ranks);
  CHECK(ranks == 1 || type_seen == integer);
  mpi_op_free_(&op, &error);
  CHECK(error == 0);
#if !defined(OPEN_MPI)
  mpi_op_create_c_f08_(add_many, &yes, &op, nullptr);
  mpi_allreduce_(&one, &total, &one, &integer, &op, &world, &error);
  CHECK(total == ranks);
  mpi_op_free_(&op, &error);
#endif
  barrier_of_f08();
}

int seen;
void on_error(int*, int* code) { seen = *code; }

void communicators() {
  int comm = comm_null, other = comm_null, length = 0, flag = 0, keyval = 0, handler = 0, at = 99;
  mpi_comm_dup_(&world, &comm, &error);
  CHECK(error == 0 && comm != comm_null);
  const std::string name = "by Fortran      ";
  std::string found(20, 'x');
  mpi_comm_set_name_(&comm, name.data(), &error, name.size());
  mpi_comm_get_name_(&comm, found.data(), &length, &error, found.size());
  CHECK(length == 10 && found == "by Fortran          ");
  const int tag_ub = MPI_TAG_UB + above;
  MPI_Aint value = 0;
  const MPI_Aint extra = 5, ours = 4711;
  mpi_comm_get_attr_(&world, &tag_ub, &value, &flag, &error);
  CHECK(flag != 0 && value >= 32767);
  mpi_comm_create_keyval_(mpi_comm_dup_fn_, mpi_comm_null_delete_fn_, &keyval, &extra, &error);
  mpi_comm_set_attr_(&comm, &keyval, &ours, &error);
  mpi_comm_dup_(&comm, &other, &error);
  mpi_comm_get_attr_(&other, &keyval, &value, &flag, &error);
  CHECK(flag != 0 && value == ours);
  const MPI_Comm in_c = MPI_Comm_f2c(other);
  MPI_Aint* seen_in_c = nullptr;
  static int set_in_c = 5;
  MPI_Comm_get_attr(in_c, keyval, static_cast<void*>(&seen_in_c), &flag);
  CHECK(flag != 0 && *seen_in_c == ours);
  MPI_Comm_set_attr(in_c, keyval, &set_in_c);
  mpi_comm_get_attr_(&other, &keyval, &value, &flag, &error);
  CHECK(flag != 0 && value == reinterpret_cast<MPI_Aint>(&set_in_c));
  mpi_comm_create_errhandler_(on_error, &handler, &error);
  mpi_comm_set_errhandler_(&other, &handler, &error);
  int request = 0;
  mpi_isend_(&rank, &one, &integer, &at, &one, &other, &request, &error);
  CHECK(seen != 0);
  mpi_comm_free_(&other, &error);
  mpi_comm_free_(&comm, &error);
  CHECK(error == 0 && comm == comm_null);
}

void texts() {
  const int room = 8;
  int info = info_null, flag = 1;
  std::string found(8, 'x');
  mpi_info_create_(&info, &error);
  mpi_info_set_(&info, " key ", " value ", &error, 5, 7);
  mpi_info_get_(&info, "key", &room, found.data(), &flag, &error, 3, found.size());
  CHECK(flag != 0 && found == "value   ");
  mpi_info_get_(&info, "other", &room, found.data(), &flag, &error, 5, found.size());
  CHECK(flag == 0 && found == "value   ");
  mpi_info_free_(&info, &error);
  CHECK(info == info_null);
}

void types() {
  const int two = 2, three = 3;
  int type = 0, size = 0;
  mpi_type_vector_(&three, &two, &three, &integer, &type, &error);
  mpi_type_commit_(&type, &error);
  mpi_type_size_(&type, &size, &error);
  CHECK(error == 0 && size == 24);
  mpi_type_free_(&type, &error);
  CHECK(type == type_null);
}

// What MPI-3 has taken out of the standard, and old programs call.
void removed_calls() {
  const std::array<int, 2> values{rank, 7}, lengths{1, 1}, types{integer, integer};
  std::array<int, 2> places{};
  for (std::size_t n = 0; n < 2; ++n) mpi_address_(&values[n], &places[n], &error);
  CHECK(places[1] - places[0] == 4);
  places = {4, 0};
  const int two = 2, eight = 8;
  int pair = 0, spread = 0, extent = 0;
  mpi_type_struct_(&two, lengths.data(), places.data(), types.data(), &pair, &error);
  mpi_type_hvector_(&two, &one, &eight, &pair, &spread, &error);
  CHECK(error == 0);
  mpi_type_extent_(&spread, &extent, &error);
  CHECK(extent == 16);
  mpi_type_free_(&pair, &error);
  mpi_type_free_(&spread, &error);
  int handler = 0, keyval = 0, other = comm_null, value = 0, flag = 0;
  mpi_errhandler_get_(&world, &handler, &error);
  mpi_errhandler_set_(&world, &handler, &error);
  CHECK(error == 0);
  const int extra = 0, ours = 4711;
  mpi_keyval_create_(mpi_dup_fn_, mpi_null_delete_fn_, &keyval, &extra, &error);
  mpi_attr_put_(&world, &keyval, &ours, &error);
  mpi_comm_dup_(&world, &other, &error);
  mpi_attr_get_(&other, &keyval, &value, &flag, &error);
  CHECK(flag != 0 && value == ours);
  mpi_comm_free_(&other, &error);
}

void query(MPI_Aint* extra, int* status, int* code) {
  const int three = 3, no = 0;
  *extra += 1;
  mpi_status_set_elements_(status, &integer, &three, code);
  mpi_status_set_cancelled_(status, &no, code);
}
void released(MPI_Aint* extra, int*) { *extra += 10; }
void cancelled(MPI_Aint*, int*, int*) {}

void generalised_requests() {
  MPI_Aint extra = 100;
  int request = request_null, count = 0;
  std::array<int, sizeof(MPI_Status) / sizeof(int)> status{};
  mpi_grequest_start_(query, released, cancelled, &extra, &request, &error);
  CHECK(error == 0 && request != request_null);
  mpi_grequest_complete_(&request, &error);
  mpi_wait_(&request, status.data(), &error);
  CHECK(error == 0 && request == request_null && extra == 111);
  mpi_get_count_(status.data(), &integer, &count, &error);
  CHECK(count == 3);
}

void extent_of(int*, MPI_Aint* extent, MPI_Aint* extra, int* code) {
  *extent = *extra;
  *code = 0;
}

int extent_in_c(MPI_Datatype, MPI_Aint* extent, void*) {
  *extent = 4;
  return MPI_SUCCESS;
}

// Open MPI has none, and says so to both languages.
void representations() {
  static MPI_Aint extra = 4;
  const std::string name = "as in memory  ";
  mpi_register_datarep_(name.data(), mpi_conversion_fn_null_, mpi_conversion_fn_null_, extent_of,
                        &extra, &error, name.size());
  const int by_c = MPI_Register_datarep("as in C", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                        extent_in_c, nullptr);
  CHECK(error == by_c);
}

// Two programs, each with a word of its own behind it, one of them twice.
void several_programs(const std::string& program) {
  const std::size_t length = 300, short_length = 8;
  std::string commands = program, words = "one     two     ";
  commands.resize(length, ' ');
  commands += program;
  commands.resize(2 * length, ' ');
  words.resize(4 * short_length, ' ');
  const std::array<int, 2> most{1, 2}, infos{info_null, info_null};
  const int two = 2, root = 0;
  int inter = comm_null, total = 0;
  std::array<int, 3> errors{1, 1, 1};
  mpi_comm_spawn_multiple_(&two, commands.data(), words.data(), most.data(), infos.data(), &root,
                           &world, &inter, errors.data(), &error, length, short_length);
  CHECK(error == 0 && errors == std::array<int, 3>{});
  int none = 0;
  mpi_allreduce_(&none, &total, &one, &integer, &sum, &inter, &error);
  CHECK(error == 0 && total == 1 + 2 + 2);
  mpi_comm_disconnect_(&inter, &error);
}

int started_with(const std::string& word) { return word == "one" ? 1 : word == "two" ? 2 : 100; }

}  // namespace

int main(int argc, char** argv) {
  mpi_init_(&error);
  int parent = comm_null;
  mpi_comm_get_parent_(&parent, &error);
  if (parent != comm_null) {
    int total = 0, said = started_with(argc == 2 ? argv[1] : "");
    mpi_allreduce_(&said, &total, &one, &integer, &sum, &parent, &error);
    mpi_comm_disconnect_(&parent, &error);
    mpi_finalize_(&error);
    return 0;
  }
  mpi_comm_rank_(&world, &rank, &error);
  mpi_comm_size_(&world, &ranks, &error);
  messages();
  collectives();
  communicators();
  texts();
  types();
  removed_calls();
  generalised_requests();
  representations();
  if (argc > 1) several_programs(argv[0]);
  CHECK(mpi_wtime_() > 0);
  int all = 0;
  mpi_allreduce_(&wrong, &all, &one, &integer, &sum, &world, &error);
  if (rank == 0) std::printf("ranks %d wrong %d\n", ranks, all);
  mpi_finalize_(&error);
  return all == 0 ? 0 : 1;
}
