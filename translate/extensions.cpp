// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Extensions of MPIs, MPIX_…: those for failed processes are translated, as two MPIs have them. Of
// others a program finds that they are not there when it calls one, not when it starts.
#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

namespace {

constexpr const char* not_there = "the MPI that this program was given has no such call";

template <class... Parameters>
int extension(const char* name, typename Parameters::Program... given) {
  function_of<call_Initialized>();
  void* const found = symbol_of_target(name);
  if (found == nullptr) return refuse(name, not_there, Target::MPI_ERR_UNSUPPORTED_OPERATION);
  const auto function = reinterpret_cast<Function>(found);
  return detail::run_with<call_Initialized>(function, List<Parameters...>{}, given...);
}

using Comm = ProgramHandle<Kind::comm>;
using Failed = ProgramHandle<Kind::group>;

}  // namespace

#define MPIGAUGE_EXTENSION(NAME, TAKEN, GIVEN, ...)                               \
  MPIGAUGE_EXPORT int PMPIX_##NAME TAKEN { return extension<__VA_ARGS__> GIVEN; } \
  extern "C" [[gnu::visibility("default"), gnu::weak,                             \
               gnu::alias("PMPIX_" #NAME)]] decltype(PMPIX_##NAME) MPIX_##NAME;

// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
MPIGAUGE_EXTENSION(Comm_shrink, (Comm comm, Comm* made), ("MPIX_Comm_shrink", comm, made),
                   In<Kind::comm>, Out<Kind::comm>)
MPIGAUGE_EXTENSION(Comm_revoke, (Comm comm), ("MPIX_Comm_revoke", comm), In<Kind::comm>)
MPIGAUGE_EXTENSION(Comm_is_revoked, (Comm comm, int* flag), ("MPIX_Comm_is_revoked", comm, flag),
                   In<Kind::comm>, IntPointer)
MPIGAUGE_EXTENSION(Comm_agree, (Comm comm, int* flag), ("MPIX_Comm_agree", comm, flag),
                   In<Kind::comm>, IntPointer)
MPIGAUGE_EXTENSION(Comm_iagree, (Comm comm, int* flag, ProgramHandle<Kind::request>* request),
                   ("MPIX_Comm_iagree", comm, flag, request), In<Kind::comm>, IntPointer,
                   Out<Kind::request>)
MPIGAUGE_EXTENSION(Comm_get_failed, (Comm comm, Failed* failed),
                   ("MPIX_Comm_get_failed", comm, failed), In<Kind::comm>, Out<Kind::group>)
MPIGAUGE_EXTENSION(Comm_ack_failed, (Comm comm, int count, int* done),
                   ("MPIX_Comm_ack_failed", comm, count, done), In<Kind::comm>, Int, IntPointer)
MPIGAUGE_EXTENSION(Comm_failure_ack, (Comm comm), ("MPIX_Comm_failure_ack", comm), In<Kind::comm>)
MPIGAUGE_EXTENSION(Comm_failure_get_acked, (Comm comm, Failed* failed),
                   ("MPIX_Comm_failure_get_acked", comm, failed), In<Kind::comm>, Out<Kind::group>)
// NOLINTEND(bugprone-macro-parentheses)

#if MPIGAUGE_PROGRAM_IS_MPICH

// What only asks is answered.
MPIGAUGE_EXPORT int MPIX_GPU_query_support(int type, int* flag) {
  function_of<call_Initialized>();
  *flag = 0;
  if (symbol_of_target("MPIX_GPU_query_support") == nullptr) return 0;
  return extension<Int, IntPointer>("MPIX_GPU_query_support", type, flag);
}
MPIGAUGE_EXPORT int MPIX_Comm_test_threadcomm(Comm, int* flag) {
  *flag = 0;
  return 0;
}

#define MPIGAUGE_LACKING(NAME)                                                      \
  MPIGAUGE_EXPORT int PMPIX_##NAME() {                                              \
    function_of<call_Initialized>();                                                \
    return refuse("MPIX_" #NAME, not_there, Target::MPI_ERR_UNSUPPORTED_OPERATION); \
  }                                                                                 \
  extern "C" [[gnu::visibility("default"), gnu::weak,                               \
               gnu::alias("PMPIX_" #NAME)]] decltype(PMPIX_##NAME) MPIX_##NAME;
MPIGAUGE_LACKING(Allreduce_enqueue)
MPIGAUGE_LACKING(Allreduce_enqueue_c)
MPIGAUGE_LACKING(Async_get_state)
MPIGAUGE_LACKING(Async_spawn)
MPIGAUGE_LACKING(Async_start)
MPIGAUGE_LACKING(Comm_create_errhandler_x)
MPIGAUGE_LACKING(Comm_get_stream)
MPIGAUGE_LACKING(File_create_errhandler_x)
MPIGAUGE_LACKING(Get_notify)
MPIGAUGE_LACKING(Get_notify_c)
MPIGAUGE_LACKING(Grequest_class_allocate)
MPIGAUGE_LACKING(Grequest_class_create)
MPIGAUGE_LACKING(Grequest_start)
MPIGAUGE_LACKING(Info_set_hex)
MPIGAUGE_LACKING(Irecv_enqueue)
MPIGAUGE_LACKING(Irecv_enqueue_c)
MPIGAUGE_LACKING(Isend_enqueue)
MPIGAUGE_LACKING(Isend_enqueue_c)
MPIGAUGE_LACKING(Op_create_x)
MPIGAUGE_LACKING(Put_notify)
MPIGAUGE_LACKING(Put_notify_c)
MPIGAUGE_LACKING(Recv_enqueue)
MPIGAUGE_LACKING(Recv_enqueue_c)
MPIGAUGE_LACKING(Request_is_complete)
MPIGAUGE_LACKING(Send_enqueue)
MPIGAUGE_LACKING(Send_enqueue_c)
MPIGAUGE_LACKING(Session_create_errhandler_x)
MPIGAUGE_LACKING(Start_progress_thread)
MPIGAUGE_LACKING(Stop_progress_thread)
MPIGAUGE_LACKING(Stream_comm_create)
MPIGAUGE_LACKING(Stream_comm_create_multiplex)
MPIGAUGE_LACKING(Stream_create)
MPIGAUGE_LACKING(Stream_free)
MPIGAUGE_LACKING(Stream_irecv)
MPIGAUGE_LACKING(Stream_irecv_c)
MPIGAUGE_LACKING(Stream_isend)
MPIGAUGE_LACKING(Stream_isend_c)
MPIGAUGE_LACKING(Stream_progress)
MPIGAUGE_LACKING(Stream_recv)
MPIGAUGE_LACKING(Stream_recv_c)
MPIGAUGE_LACKING(Stream_send)
MPIGAUGE_LACKING(Stream_send_c)
MPIGAUGE_LACKING(Threadcomm_finish)
MPIGAUGE_LACKING(Threadcomm_free)
MPIGAUGE_LACKING(Threadcomm_init)
MPIGAUGE_LACKING(Threadcomm_start)
MPIGAUGE_LACKING(Type_iov)
MPIGAUGE_LACKING(Type_iov_len)
MPIGAUGE_LACKING(Wait_enqueue)
MPIGAUGE_LACKING(Waitall_enqueue)
MPIGAUGE_LACKING(Win_create_errhandler_x)
MPIGAUGE_LACKING(Win_create_notify)
MPIGAUGE_LACKING(Win_free_notify)
MPIGAUGE_LACKING(Win_get_notify)
MPIGAUGE_LACKING(Win_get_notify_request)
MPIGAUGE_LACKING(Win_set_notify)

#endif
