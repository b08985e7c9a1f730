// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of Fortran: of mpif.h and the module mpi, and of mpi_f08, whose handles are integers in a
// structure (what it has besides in MPICH is in f08.cpp). The standard says nothing of Fortran in
// its ABI, so programs of it have none here.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "subroutines.hpp"

#if !MPIGAUGE_PROGRAM_IS_STD

// --- variables that stand for something ---------------------------------------------------------

#define MPIGAUGE_VARIABLE extern "C" [[gnu::visibility("default")]]

namespace {

using mpigauge::translate::Program;

// Blocks of Fortran that programs and the library have in common: the linker makes them one.
// Their sizes are exact, as programs bring copies of their own.
constexpr std::size_t alignment_of(std::size_t bytes) {
  if (bytes % 8 == 0) return 8;
  return bytes % 4 == 0 ? 4 : 1;
}
template <std::size_t bytes>
struct alignas(alignment_of(bytes)) Block {
  std::array<char, bytes> bytes_of;
};

}  // namespace

#define MPIGAUGE_BLOCK(NAME, BYTES)    \
  MPIGAUGE_VARIABLE Block<BYTES> NAME; \
  Block<BYTES> NAME {}

#if MPIGAUGE_PROGRAM_IS_OMPI

MPIGAUGE_BLOCK(mpi_fortran_bottom_, 4);
MPIGAUGE_BLOCK(mpi_fortran_in_place_, 4);
MPIGAUGE_BLOCK(mpi_fortran_argv_null_, 1);
MPIGAUGE_BLOCK(mpi_fortran_argvs_null_, 1);
MPIGAUGE_BLOCK(mpi_fortran_errcodes_ignore_, 4);
MPIGAUGE_BLOCK(mpi_fortran_status_ignore_, 24);
MPIGAUGE_BLOCK(mpi_fortran_statuses_ignore_, 24);
MPIGAUGE_BLOCK(mpi_fortran_unweighted_, 4);
MPIGAUGE_BLOCK(mpi_fortran_weights_empty_, 4);

namespace {
bool is_bottom(const void* address) { return address == &mpi_fortran_bottom_; }
bool is_in_place(const void* address) { return address == &mpi_fortran_in_place_; }
bool is_no_status(const void* address) {
  return address == &mpi_fortran_status_ignore_ || address == &mpi_fortran_statuses_ignore_;
}
bool is_errors_ignored(const void* address) { return address == &mpi_fortran_errcodes_ignore_; }
bool is_argv_absent(const void* address) { return address == &mpi_fortran_argv_null_; }
bool is_argvs_absent(const void* address) { return address == &mpi_fortran_argvs_null_; }
bool is_unweighted(const void* address) { return address == &mpi_fortran_unweighted_; }
bool is_weights_empty(const void* address) { return address == &mpi_fortran_weights_empty_; }
bool is_automatic(const void*) { return false; }  // it has no automatic buffers
}  // namespace

#else

// MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE; MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE;
// MPI_ARGVS_NULL, MPI_ARGV_NULL; MPI_UNWEIGHTED; MPI_WEIGHTS_EMPTY; MPI_BUFFER_AUTOMATIC
MPIGAUGE_BLOCK(mpipriv1_, 28);
MPIGAUGE_BLOCK(mpipriv2_, 24);
MPIGAUGE_BLOCK(mpiprivc_, 2);
MPIGAUGE_BLOCK(mpifcmb5_, 4);
MPIGAUGE_BLOCK(mpifcmb9_, 4);
MPIGAUGE_BLOCK(mpifcmba_, 4);

// The same in mpi_f08.
// NOLINTBEGIN(bugprone-reserved-identifier): gfortran's names of what modules have
MPIGAUGE_BLOCK(MPIR_F08_MPI_BOTTOM, 4);
MPIGAUGE_BLOCK(MPIR_F08_MPI_IN_PLACE, 4);
MPIGAUGE_BLOCK(MPIR_F08_MPI_STATUS_IGNORE_OBJ, 20);
MPIGAUGE_BLOCK(MPIR_F08_MPI_STATUSES_IGNORE_OBJ, 20);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_errcodes_ignore, 4);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_argv_null, 1);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_argvs_null, 1);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_unweighted, 4);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_weights_empty, 4);
MPIGAUGE_BLOCK(__mpi_f08_link_constants_MOD_mpi_buffer_automatic, 4);
// NOLINTEND(bugprone-reserved-identifier)

namespace {
bool is_bottom(const void* address) {
  return address == &mpipriv1_ || address == &MPIR_F08_MPI_BOTTOM;
}
bool is_in_place(const void* address) {
  return address == mpipriv1_.bytes_of.data() + 4 || address == &MPIR_F08_MPI_IN_PLACE;
}
bool is_no_status(const void* address) {
  return address == mpipriv1_.bytes_of.data() + 8 || address == &mpipriv2_ ||
         address == &MPIR_F08_MPI_STATUS_IGNORE_OBJ || address == &MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}
bool is_errors_ignored(const void* address) {
  return address == mpipriv2_.bytes_of.data() + 20 ||
         address == &__mpi_f08_link_constants_MOD_mpi_errcodes_ignore;
}
bool is_argv_absent(const void* address) {
  return address == mpiprivc_.bytes_of.data() + 1 ||
         address == &__mpi_f08_link_constants_MOD_mpi_argv_null;
}
bool is_argvs_absent(const void* address) {
  return address == &mpiprivc_ || address == &__mpi_f08_link_constants_MOD_mpi_argvs_null;
}
bool is_unweighted(const void* address) {
  return address == &mpifcmb5_ || address == &__mpi_f08_link_constants_MOD_mpi_unweighted;
}
bool is_automatic(const void* address) {
  return address == &mpifcmba_ || address == &__mpi_f08_link_constants_MOD_mpi_buffer_automatic;
}
bool is_weights_empty(const void* address) {
  return address == &mpifcmb9_ || address == &__mpi_f08_link_constants_MOD_mpi_weights_empty;
}
}  // namespace

#endif

namespace mpigauge::translate::fortran {

void* buffer_of(void* address) {
  if (is_bottom(address)) return nullptr;
  if (is_automatic(address)) return address_of(Program::MPI_BUFFER_AUTOMATIC);
  return is_in_place(address) ? address_of(Program::MPI_IN_PLACE) : address;
}
bool is_status_ignored(const void* address) { return is_no_status(address); }
int* errors_of(int* address) { return is_errors_ignored(address) ? nullptr : address; }
int* weights_of(int* address) {
  if (is_unweighted(address)) return own_unweighted();
  return is_weights_empty(address) ? own_weights_empty() : address;
}
bool is_argv_null(const void* address) { return is_argv_absent(address); }

}  // namespace mpigauge::translate::fortran

// --- subroutines --------------------------------------------------------------------------------

#if MPIGAUGE_PROGRAM_IS_MPICH
// Our profiler passes calls of mpi_f08 on where it finds this, as their functions of C follow.
MPIGAUGE_VARIABLE const int mpigauge_f08_calls_c;
const int mpigauge_f08_calls_c = 1;
#endif

using namespace mpigauge::translate;  // NOLINT: what follows are the program's subroutines
using mpigauge::translate::fortran::tell;

// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
namespace {

int create_info_of_start(Info* info) { return MPIGAUGE_IN_C(Info_create_env)(0, nullptr, info); }

}  // namespace

MPIGAUGE_SUBROUTINE(Init, init, INIT, (int* ierror),
                    tell(ierror, MPIGAUGE_IN_C(Init)(nullptr, nullptr)))
MPIGAUGE_SUBROUTINE(Init_thread, init_thread, INIT_THREAD,
                    (const int* required, int* provided, int* ierror),
                    tell(ierror, MPIGAUGE_IN_C(Init_thread)(nullptr, nullptr, *required, provided)))

MPIGAUGE_SUBROUTINE(Info_create_env, info_create_env, INFO_CREATE_ENV, (int* info, int* ierror),
                    fortran::call<fortran::Out<Kind::info>>(create_info_of_start, ierror,
                                                            std::tuple(), info))

MPIGAUGE_EXPORT double pmpi_wtime_() { return PMPI_Wtime(); }
MPIGAUGE_NAMES(wtime, WTIME)
MPIGAUGE_EXPORT double pmpi_wtick_() { return PMPI_Wtick(); }
MPIGAUGE_NAMES(wtick, WTICK)
MPIGAUGE_EXPORT Wide pmpi_aint_add_(const Wide* base, const Wide* more) { return *base + *more; }
MPIGAUGE_NAMES(aint_add, AINT_ADD)
MPIGAUGE_EXPORT Wide pmpi_aint_diff_(const Wide* one, const Wide* other) { return *one - *other; }
MPIGAUGE_NAMES(aint_diff, AINT_DIFF)
MPIGAUGE_SUBROUTINE(Pcontrol, pcontrol, PCONTROL, (const int* level),
                    MPIGAUGE_IN_C(Pcontrol)(*level))

// It is there to be called: the compiler must not know what becomes of the buffer.
MPIGAUGE_SUBROUTINE(F_sync_reg, f_sync_reg, F_SYNC_REG, (void*), )
MPIGAUGE_DESCRIBED(f_sync_reg, f08ts, (void*, int* ierror), tell(ierror, 0))

// --- callbacks ----------------------------------------------------------------------------------

namespace {

template <class Create>
void op_create(Create create, Function function, const int* commutes, int* number, int* ierror) {
  function_of<call_Initialized>();
  auto op = null_for_program<Kind::op>();
  const FunctionOfFortran guard;
  const int code = create(function, *commutes != 0 ? 1 : 0, &op);
  if (code == 0) *number = to_fortran<Kind::op>(op);
  tell(ierror, code);
}

template <class Create>
void errhandler_create(Create create, Function function, int* number, int* ierror) {
  function_of<call_Initialized>();
  auto made = null_for_program<Kind::errhandler>();
  const FunctionOfFortran guard;
  const int code = create(function, &made);
  if (code == 0) *number = to_fortran<Kind::errhandler>(made);
  tell(ierror, code);
}

}  // namespace

MPIGAUGE_SUBROUTINE(Op_create, op_create, OP_CREATE,
                    (Function function, const int* commutes, int* op, int* ierror),
                    op_create(MPIGAUGE_IN_C(Op_create), function, commutes, op, ierror))
MPIGAUGE_DESCRIBED(op_create_c, f08, (Function function, const int* commutes, int* op, int* ierror),
                   op_create(MPIGAUGE_IN_C(Op_create_c), function, commutes, op, ierror))
#define MPIGAUGE_ERRHANDLER_CREATE(NAME, LOWER, UPPER)                                 \
  MPIGAUGE_SUBROUTINE(NAME, LOWER, UPPER, (Function function, int* made, int* ierror), \
                      errhandler_create(MPIGAUGE_IN_C(NAME), function, made, ierror))
MPIGAUGE_ERRHANDLER_CREATE(Comm_create_errhandler, comm_create_errhandler, COMM_CREATE_ERRHANDLER)
MPIGAUGE_ERRHANDLER_CREATE(Errhandler_create, errhandler_create, ERRHANDLER_CREATE)
MPIGAUGE_ERRHANDLER_CREATE(File_create_errhandler, file_create_errhandler, FILE_CREATE_ERRHANDLER)
MPIGAUGE_ERRHANDLER_CREATE(Win_create_errhandler, win_create_errhandler, WIN_CREATE_ERRHANDLER)
MPIGAUGE_ERRHANDLER_CREATE(Session_create_errhandler, session_create_errhandler,
                           SESSION_CREATE_ERRHANDLER)

// --- generalised requests, and representations of data ------------------------------------------

// There is no reader, or no writer: what is in memory is what is in the file.
MPIGAUGE_EXPORT void mpi_conversion_fn_null_() {}
MPIGAUGE_PREDEFINED(mpi_conversion_fn_null, MPI_CONVERSION_FN_NULL)

namespace {

// Functions of Fortran get the program's own word, by its address.
struct Generalized {
  Function query, free, cancel;
  Wide* extra;
};

int query_request(void* state, ProgramStatus* status) {
  const auto& own = *static_cast<const Generalized*>(state);
  int code = 0;
  reinterpret_cast<void (*)(Wide*, ProgramStatus*, int*)>(own.query)(own.extra, status, &code);
  return code;
}
int free_request(void* state) {
  const std::unique_ptr<Generalized> own(static_cast<Generalized*>(state));
  int code = 0;
  reinterpret_cast<void (*)(Wide*, int*)>(own->free)(own->extra, &code);
  return code;
}
int cancel_request(void* state, int complete) {
  const auto& own = *static_cast<const Generalized*>(state);
  int code = 0;
  reinterpret_cast<void (*)(Wide*, int*, int*)>(own.cancel)(own.extra, &complete, &code);
  return code;
}

void grequest_start(const Generalized& own, int* request, int* ierror) {
  function_of<call_Initialized>();
  auto made = null_for_program<Kind::request>();
  auto state = std::make_unique<Generalized>(own);
  const int code = MPIGAUGE_IN_C(Grequest_start)(
      reinterpret_cast<Function>(query_request), reinterpret_cast<Function>(free_request),
      reinterpret_cast<Function>(cancel_request), state.get(), &made);
  if (code == 0) {
    state.release();  // NOLINT: free_request has it
    *request = to_fortran<Kind::request>(made);
  }
  tell(ierror, code);
}

struct Representation {
  Function read, write, extent;
  Wide* extra;
};

int convert(Function function, void* buffer, Type type, int count, void* file, Wide position,
            Wide* extra) {
  int number = to_fortran<Kind::datatype>(type), code = 0;
  using Real = void (*)(void*, int*, int*, void*, Wide*, Wide*, int*);
  reinterpret_cast<Real>(function)(buffer, &number, &count, file, &position, extra, &code);
  return code;
}
int read_data(void* buffer, Type type, int count, void* file, Wide position, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  return convert(own.read, buffer, type, count, file, position, own.extra);
}
int write_data(void* buffer, Type type, int count, void* file, Wide position, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  return convert(own.write, buffer, type, count, file, position, own.extra);
}
int extent_of_data(Type type, Wide* extent, void* state) {
  const auto& own = *static_cast<const Representation*>(state);
  int number = to_fortran<Kind::datatype>(type), code = 0;
  reinterpret_cast<void (*)(int*, Wide*, Wide*, int*)>(own.extent)(&number, extent, own.extra,
                                                                   &code);
  return code;
}

Function unless_null(Function given, Function ours) {
  const bool is_null = given == reinterpret_cast<Function>(mpi_conversion_fn_null_) ||
                       given == reinterpret_cast<Function>(MPIGAUGE_OF_F08(mpi_conversion_fn_null));
  return is_null ? nullptr : ours;
}

void register_datarep(const std::string& name, const Representation& own, int* ierror) {
  function_of<call_Initialized>();
  auto* const state = new Representation(own);  // there is no way to take one back
  const int code = MPIGAUGE_IN_C(Register_datarep)(
      name.c_str(), unless_null(own.read, reinterpret_cast<Function>(read_data)),
      unless_null(own.write, reinterpret_cast<Function>(write_data)),
      reinterpret_cast<Function>(extent_of_data), state);
  if (code != 0) delete state;
  tell(ierror, code);
}

}  // namespace

MPIGAUGE_SUBROUTINE(Grequest_start, grequest_start, GREQUEST_START,
                    (Function query, Function free, Function cancel, Wide* extra, int* request,
                     int* ierror),
                    grequest_start({query, free, cancel, extra}, request, ierror))
MPIGAUGE_SUBROUTINE(Register_datarep, register_datarep, REGISTER_DATAREP,
                    (const char* name, Function read, Function write, Function extent, Wide* extra,
                     int* ierror, std::size_t length),
                    register_datarep(fortran::without_blanks(name, length),
                                     {read, write, extent, extra}, ierror))

// --- several programs that are started together -------------------------------------------------

namespace {

// Commands, and the arguments of each: a table whose rows are the programs. Fortran keeps it column
// by column, and a blank ends a row.
class Programs {
 public:
  Programs(std::size_t count, const char* commands, std::size_t length) {
    for (std::size_t n = 0; n < count; ++n) {
      texts_.push_back(fortran::without_blanks(commands + n * length, length));
    }
    for (std::string& each : texts_) commands_.push_back(each.data());
  }

  void take_arguments(const char* table, std::size_t length) {
    if (is_argvs_absent(table)) return;
    const std::size_t count = texts_.size();
    rows_.resize(count);
    for (std::size_t row = 0; row < count; ++row) {
      for (const char* each = table + row * length;; each += count * length) {
        std::string text = fortran::without_blanks(each, length);
        if (text.empty()) break;
        rows_[row].push_back(std::move(text));
      }
    }
    for (auto& row : rows_) {
      auto& places = places_.emplace_back();
      for (std::string& each : row) places.push_back(each.data());
      places.push_back(nullptr);
    }
    for (auto& places : places_) arguments_.push_back(places.data());
  }

  char** commands() { return commands_.data(); }
  char*** arguments() { return arguments_.empty() ? nullptr : arguments_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> commands_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::vector<char*>> places_;
  std::vector<char**> arguments_;
};

struct Spawned {
  int count;
  const char* commands;
  const char* arguments;
  const int* most;
  const int* infos;
};

// Only the root's programs mean anything.
void spawn_multiple(const Spawned& asked, int root, int comm, int* made, int* errors, int* ierror,
                    std::size_t command_length, std::size_t argument_length) {
  function_of<call_Initialized>();
  const auto own = from_fortran<Kind::comm>(comm);
  int rank = 0;
  PMPI_Comm_rank(own, &rank);
  const auto count = static_cast<std::size_t>(rank == root ? asked.count : 0);
  Programs programs(count, asked.commands, command_length);
  programs.take_arguments(asked.arguments, argument_length);
  std::vector<Info> infos;
  for (std::size_t n = 0; n < count; ++n) infos.push_back(from_fortran<Kind::info>(asked.infos[n]));
  auto inter = null_for_program<Kind::comm>();
  const int code = MPIGAUGE_IN_C(Comm_spawn_multiple)(
      asked.count, programs.commands(), programs.arguments(), asked.most, infos.data(), root, own,
      &inter, fortran::errors_of(errors));
  if (code == 0) *made = to_fortran<Kind::comm>(inter);
  tell(ierror, code);
}

}  // namespace

MPIGAUGE_SUBROUTINE(Comm_spawn_multiple, comm_spawn_multiple, COMM_SPAWN_MULTIPLE,
                    (const int* count, const char* commands, const char* arguments, const int* most,
                     const int* infos, const int* root, const int* comm, int* made, int* errors,
                     int* ierror, std::size_t command_length, std::size_t argument_length),
                    spawn_multiple({*count, commands, arguments, most, infos}, *root, *comm, made,
                                   errors, ierror, command_length, argument_length))
// NOLINTEND(bugprone-macro-parentheses)

#endif
