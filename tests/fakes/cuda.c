// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A libcuda.so.1 for tests on machines without a GPU: the functions that mpigauge calls, over
// memory of the host. The CPU cannot touch its device memory, as on a GPU, but copies work: so an
// MPI that is not aware of CUDA faults. Variables:
//   MPIGAUGE_FAKE_CUDA      aware: the CPU may touch device memory, which plays an aware MPI;
//                           none: the driver reports no GPU; old: a driver of CUDA 10;
//                           lost: copies fail after the first eight, as with a lost GPU
//   MPIGAUGE_FAKE_GPUS      number of GPUs (2)
//   MPIGAUGE_FAKE_GPU_MIB   memory of each (4096)
//   MPIGAUGE_FAKE_SLOW      the rank whose copies to the GPU take 20 ms each
// cc -shared -fPIC -o libcuda.so.1 cuda.c
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t Address;
enum { success = 0, invalid = 1, out_of_memory = 2, no_device = 100, lost_device = 46 };

// An allocation: pages for the "GPU", and the same pages where copies reach them.
typedef struct Piece {
  struct Piece* next;
  char* device;
  char* copy;
  size_t bytes;
} Piece;

static Piece* pieces;
static size_t used_bytes;
static int copies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* current;
static char contexts[64];

static int is_mode(const char* mode) {
  const char* set = getenv("MPIGAUGE_FAKE_CUDA");
  return set != NULL && strcmp(set, mode) == 0;
}

static int number(const char* name, int usual) {
  const char* set = getenv(name);
  return set != NULL ? atoi(set) : usual;
}

static size_t total_bytes(void) { return (size_t)number("MPIGAUGE_FAKE_GPU_MIB", 4096) << 20; }

// As the real driver: an empty variable hides all GPUs, a list shows so many of them.
static int gpus(void) {
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  const int all = is_mode("none") ? 0 : number("MPIGAUGE_FAKE_GPUS", 2);
  if (visible == NULL) return all;
  int shown = *visible != '\0' ? 1 : 0;
  for (; *visible != '\0'; ++visible) shown += *visible == ',';
  return shown < all ? shown : all;
}

int cuInit(unsigned flags) {
  (void)flags;
  return gpus() > 0 ? success : no_device;
}

int cuDriverGetVersion(int* version) {
  *version = is_mode("old") ? 10020 : 13000;
  return success;
}

int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case invalid: *name = "CUDA_ERROR_INVALID_VALUE"; return success;
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return success;
    case lost_device: *name = "CUDA_ERROR_DEVICES_UNAVAILABLE"; return success;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; return success;
    default: return invalid;
  }
}

int cuDeviceGetCount(int* count) {
  *count = gpus();
  return success;
}

int cuDeviceGet(int* device, int index) {
  if (index < 0 || index >= gpus()) return invalid;
  *device = index;
  return success;
}

int cuDeviceGetName(char* name, int room, int device) {
  (void)device;
  snprintf(name, (size_t)room, "Fake GPU");
  return success;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  memset(uuid, 0xfa, 16);
  uuid[15] = (unsigned char)device;
  return success;
}

int cuDeviceGetPCIBusId(char* bus, int room, int device) {
  snprintf(bus, (size_t)room, "0000:%02X:00.0", 0x19 + device);
  return success;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = total_bytes();
  return success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device < 0 || device >= 64) return invalid;
  *context = &contexts[device];
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return success;
}

int cuCtxSetCurrent(void* context) {
  current = context;
  return success;
}

int cuCtxGetCurrent(void** context) {
  *context = current;
  return success;
}

int cuCtxGetDevice(int* device) {
  if (current == NULL) return invalid;
  *device = (int)((char*)current - contexts);
  return success;
}

int cuCtxSynchronize(void) { return success; }

int cuMemGetInfo_v2(size_t* left, size_t* total) {
  *total = total_bytes();
  *left = *total > used_bytes ? *total - used_bytes : 0;
  return success;
}

static int allocate(Address* address, size_t bytes, int for_cpu) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t room = (bytes + page - 1) / page * page;
  if (bytes == 0) return invalid;
  if (used_bytes + room > total_bytes()) return out_of_memory;
  const int file = memfd_create("fake-gpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)room) != 0) return out_of_memory;
  Piece* piece = malloc(sizeof *piece);
  piece->bytes = room;
  piece->device =
      mmap(NULL, room, for_cpu ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, file, 0);
  piece->copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (piece->device == MAP_FAILED || piece->copy == MAP_FAILED) return out_of_memory;
  pthread_mutex_lock(&lock);
  piece->next = pieces;
  pieces = piece;
  used_bytes += room;
  pthread_mutex_unlock(&lock);
  *address = (Address)(uintptr_t)piece->device;
  return success;
}

int cuMemAlloc_v2(Address* address, size_t bytes) {
  return allocate(address, bytes, is_mode("aware"));
}

int cuMemAllocManaged(Address* address, size_t bytes, unsigned flags) {
  return flags == 1 ? allocate(address, bytes, 1) : invalid;
}

int cuMemFree_v2(Address address) {
  pthread_mutex_lock(&lock);
  for (Piece** at = &pieces; *at != NULL; at = &(*at)->next) {
    Piece* piece = *at;
    if ((Address)(uintptr_t)piece->device != address) continue;
    *at = piece->next;
    used_bytes -= piece->bytes;
    munmap(piece->device, piece->bytes);
    munmap(piece->copy, piece->bytes);
    free(piece);
    pthread_mutex_unlock(&lock);
    return success;
  }
  pthread_mutex_unlock(&lock);
  return invalid;
}

int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  (void)flags;
  return posix_memalign(address, 4096, bytes) == 0 ? success : out_of_memory;
}

int cuMemFreeHost(void* address) {
  free(address);
  return success;
}

// Where copies find an address of the device; itself where it is none.
static char* reachable(Address address) {
  char* at = (char*)(uintptr_t)address;
  pthread_mutex_lock(&lock);
  for (const Piece* piece = pieces; piece != NULL; piece = piece->next) {
    if (at >= piece->device && at < piece->device + piece->bytes) {
      at = piece->copy + (at - piece->device);
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return at;
}

static int copy(char* to, const char* from, size_t bytes) {
  if (is_mode("lost") && ++copies > 8) return lost_device;
  memmove(to, from, bytes);
  return success;
}

static int is_slow(void) {
  const char* slow = getenv("MPIGAUGE_FAKE_SLOW");
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  return slow != NULL && rank != NULL && strcmp(slow, rank) == 0;
}

int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  if (is_slow()) usleep(20000);
  return copy(reachable(to), from, bytes);
}

int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  return copy(to, reachable(from), bytes);
}

int cuStreamCreate(void** stream, unsigned flags) {
  (void)flags;
  *stream = malloc(1);
  return success;
}

int cuStreamSynchronize(void* stream) {
  (void)stream;
  return success;
}

int cuStreamDestroy_v2(void* stream) {
  free(stream);
  return success;
}
