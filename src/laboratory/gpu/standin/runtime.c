// Stands in for libcuda.so.1 or libamdhip64.so.6 in tests: names and parameters are facts of the public headers. Its device is a
// clock: work takes the time that a made-up device would take for its bytes, one thing after the other on a stream. What it
// answers follows from the environment:
//   STANDIN_DEVICES       how many devices (1)
//   STANDIN_MEMORY        bytes of each (85899345920)
//   STANDIN_LOST_AFTER    launches after which the device is lost (status 719)
//   STANDIN_HANG_AFTER    launches after which work never ends
//   STANDIN_INIT          status of the initialization (0)
//   STANDIN_NO_PEER       devices cannot reach each other
//   STANDIN_KERNELS       a file to which the text of each module is appended
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#ifdef STANDIN_HIP
#define CU(cuda, hip) hip
#define UNITS 63
#define LANES 87
#define CLOCK 5
#define CACHE 19
#define MAJOR 23
#define MINOR 61
#else
#define CU(cuda, hip) cuda
#define UNITS 16
#define LANES 10
#define CLOCK 13
#define CACHE 38
#define MAJOR 75
#define MINOR 76
#endif

enum { kOutOfMemory = 2, kInvalid = 1, kNoDevice = 100, kNotReady = 600, kLaunchFailed = 719 };
typedef struct {
  double until_ns;  // by the device's own clock, which only work moves
} stream_t;
typedef struct {
  double at_ns;
  int hangs;
} event_t;
typedef struct {
  int nodes;
  double ns;
} graph_t;

static long long launches, allocated;
static int current, capturing;
static graph_t captured;

static long long setting(const char* name, long long otherwise) {
  const char* text = getenv(name);
  return text && *text ? atoll(text) : otherwise;
}
static int lost(void) {
  const long long after = setting("STANDIN_LOST_AFTER", -1);
  return after >= 0 && launches > after;
}
static int hangs(void) {
  const long long after = setting("STANDIN_HANG_AFTER", -1);
  return after >= 0 && launches > after;
}
static int status(void) { return lost() ? kLaunchFailed : 0; }

// Used by the stand-ins of the libraries too.
EXPORT int standin_work(void* stream, double ns) {
  ++launches;
  if (lost()) return kLaunchFailed;
  if (capturing) {
    ++captured.nodes;
    captured.ns += ns;
    return 0;
  }
  ((stream_t*)stream)->until_ns += ns;
  return 0;
}

EXPORT int CU(cuInit, hipInit)(unsigned flags) {
  (void)flags;
  return (int)setting("STANDIN_INIT", 0);
}
EXPORT int CU(cuDriverGetVersion, hipRuntimeGetVersion)(int* version) {
  *version = CU(12040, 60443484);
  return 0;
}
EXPORT int CU(cuDeviceGetCount, hipGetDeviceCount)(int* count) {
  *count = (int)setting("STANDIN_DEVICES", 1);
  return *count > 0 ? 0 : kNoDevice;
}
EXPORT int CU(cuDeviceGet, hipDeviceGet)(int* device, int number) {
  *device = number;
  return 0;
}
EXPORT int CU(cuDeviceGetName, hipDeviceGetName)(char* name, int size, int device) {
  const char* known = getenv("STANDIN_NAME");
  (void)device;
  snprintf(name, (size_t)size, "%s", known ? known : CU("NVIDIA H100 80GB HBM3", "AMD Instinct MI300X"));
  return 0;
}
EXPORT int CU(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)setting("STANDIN_MEMORY", CU(85899345920LL, 206158430208LL));
  return 0;
}
EXPORT int CU(cuDeviceGetAttribute, hipDeviceGetAttribute)(int* value, int attribute, int device) {
  (void)device;
  switch (attribute) {
    case UNITS: *value = CU(132, 304); return 0;
    case LANES: *value = CU(32, 64); return 0;
    case CLOCK: *value = CU(1980000, 2100000); return 0;
    case CACHE: *value = CU(52428800, 4194304); return 0;
    case MAJOR: *value = 9; return 0;
    case MINOR: *value = CU(0, 4); return 0;
    default: return kInvalid;
  }
}
EXPORT int CU(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char* text, int size, int device) {
  snprintf(text, (size_t)size, "0000:%02X:00.0", 0x1B + device);
  return 0;
}
EXPORT int CU(cuMemGetInfo_v2, hipMemGetInfo)(size_t* free, size_t* total) {
  CU(cuDeviceTotalMem_v2, hipDeviceTotalMem)(total, current);
  *free = *total - (size_t)allocated;
  return status();
}
// Counted, not kept: nothing here reads what an address holds.
static struct {
  uint64_t at;
  size_t bytes;
} known[1024];
EXPORT int CU(cuMemAlloc_v2, hipMalloc)(uint64_t* pointer, size_t bytes) {
  static uint64_t next = 1ULL << 32;
  size_t total = 0;
  CU(cuDeviceTotalMem_v2, hipDeviceTotalMem)(&total, current);
  if (allocated + (long long)bytes > (long long)total) return kOutOfMemory;
  for (int i = 0; i < 1024; ++i) {
    if (known[i].at) continue;
    known[i].at = *pointer = next;
    known[i].bytes = bytes;
    next += (bytes + 0xFFF) & ~0xFFFULL;
    allocated += (long long)bytes;
    return status();
  }
  return kOutOfMemory;
}
EXPORT int CU(cuMemFree_v2, hipFree)(uint64_t pointer) {
  for (int i = 0; i < 1024; ++i) {
    if (known[i].at != pointer) continue;
    known[i].at = 0;
    allocated -= (long long)known[i].bytes;
    return status();
  }
  return kInvalid;
}
EXPORT int CU(cuMemHostAlloc, hipHostMalloc)(void** pointer, size_t bytes, unsigned flags) {
  (void)flags;
  *pointer = malloc(bytes);
  return *pointer ? 0 : kOutOfMemory;
}
EXPORT int CU(cuMemFreeHost, hipHostFree)(void* pointer) {
  free(pointer);
  return 0;
}
// 25 GB/s from and to the host, 1000 GB/s on the device, 100 GB/s between devices.
EXPORT int CU(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(uint64_t to, const void* from, size_t bytes, void* stream) {
  (void)to, (void)from;
  return standin_work(stream, 2000 + (double)bytes / 25);
}
EXPORT int CU(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void* to, uint64_t from, size_t bytes, void* stream) {
  (void)to, (void)from;
  return standin_work(stream, 2000 + (double)bytes / 25);
}
EXPORT int CU(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  (void)to, (void)from;
  return standin_work(stream, 1000 + (double)bytes / 1000);
}
EXPORT int CU(cuDeviceCanAccessPeer, hipDeviceCanAccessPeer)(int* possible, int device, int peer) {
  *possible = device != peer && !getenv("STANDIN_NO_PEER");
  return 0;
}
#ifdef STANDIN_HIP
EXPORT int hipSetDevice(int device) {
  current = device;
  return status();
}
EXPORT int hipDeviceEnablePeerAccess(int device, unsigned flags) {
  (void)device, (void)flags;
  return 0;
}
EXPORT int hipMemcpyPeerAsync(uint64_t to, int device, uint64_t from, int peer, size_t bytes, void* stream) {
  (void)to, (void)from;
  return device == peer ? kInvalid : standin_work(stream, 3000 + (double)bytes / 100);
}
EXPORT const char* hipGetErrorString(int error) { return error == kLaunchFailed ? "unspecified launch failure" : "some error"; }
#else
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(intptr_t)(device + 1);
  return status();
}
EXPORT int cuCtxSetCurrent(void* context) {
  current = (int)(intptr_t)context - 1;
  return status();
}
EXPORT int cuCtxEnablePeerAccess(void* context, unsigned flags) {
  (void)context, (void)flags;
  return 0;
}
EXPORT int cuMemcpyPeerAsync(uint64_t to, void* context, uint64_t from, void* peer, size_t bytes, void* stream) {
  (void)to, (void)from;
  return context == peer ? kInvalid : standin_work(stream, 3000 + (double)bytes / 100);
}
EXPORT int cuGetErrorString(int error, const char** text) {
  *text = error == kLaunchFailed ? "unspecified launch failure" : "some error";
  return 0;
}
#endif

EXPORT int CU(cuModuleLoadData, hipModuleLoadData)(void** module, const void* image) {
  const char* file = getenv("STANDIN_KERNELS");
  FILE* out = file ? fopen(file, "a") : NULL;
  if (out) {
    fprintf(out, "%s\n", (const char*)image);
    fclose(out);
  }
  *module = strdup((const char*)image);
  return strstr(*module, CU(".version 7.0", "__global__")) ? status() : kInvalid;
}
EXPORT int CU(cuModuleUnload, hipModuleUnload)(void* module) {
  free(module);
  return 0;
}
EXPORT int CU(cuModuleGetFunction, hipModuleGetFunction)(void** function, void* module, const char* name) {
  *function = module;
  return strcmp(name, "work") == 0 ? 0 : kInvalid;
}
// A block takes 10 ns, and a launch 4 us at least.
EXPORT int CU(cuLaunchKernel, hipModuleLaunchKernel)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                     unsigned by, unsigned bz, unsigned shared, void* stream, void** arguments,
                                                     void** extra) {
  (void)function, (void)shared, (void)extra;
  if (!arguments || gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024) return kInvalid;
  const double ns = 10.0 * gx * gy;
  return standin_work(stream, ns > 4000 ? ns : 4000);
}
EXPORT int CU(cuStreamCreate, hipStreamCreateWithFlags)(void** stream, unsigned flags) {
  *stream = calloc(1, sizeof(stream_t));
  return flags == 1 ? status() : kInvalid;
}
EXPORT int CU(cuStreamDestroy_v2, hipStreamDestroy)(void* stream) {
  free(stream);
  return 0;
}
EXPORT int CU(cuEventCreate, hipEventCreateWithFlags)(void** event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof(event_t));
  return status();
}
EXPORT int CU(cuEventDestroy_v2, hipEventDestroy)(void* event) {
  free(event);
  return 0;
}
EXPORT int CU(cuEventRecord, hipEventRecord)(void* event, void* stream) {
  ((event_t*)event)->at_ns = ((stream_t*)stream)->until_ns;
  ((event_t*)event)->hangs = hangs();
  return status();
}
EXPORT int CU(cuEventQuery, hipEventQuery)(void* event) { return ((event_t*)event)->hangs ? kNotReady : status(); }
EXPORT int CU(cuEventElapsedTime, hipEventElapsedTime)(float* milliseconds, void* first, void* last) {
  *milliseconds = (float)((((event_t*)last)->at_ns - ((event_t*)first)->at_ns) * 1e-6);
  return status();
}
#ifndef STANDIN_OLD
EXPORT int CU(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void* stream, int mode) {
  (void)stream, (void)mode;
  capturing = 1;
  memset(&captured, 0, sizeof captured);
  return 0;
}
EXPORT int CU(cuStreamEndCapture, hipStreamEndCapture)(void* stream, void** graph) {
  (void)stream;
  capturing = 0;
  *graph = malloc(sizeof captured);
  memcpy(*graph, &captured, sizeof captured);
  return 0;
}
EXPORT int CU(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void** ready, void* graph, unsigned long long flags) {
  (void)flags;
  *ready = malloc(sizeof(graph_t));
  memcpy(*ready, graph, sizeof(graph_t));
  return 0;
}
// A node of a graph takes 1 us.
EXPORT int CU(cuGraphLaunch, hipGraphLaunch)(void* ready, void* stream) {
  return standin_work(stream, 1000.0 * ((graph_t*)ready)->nodes);
}
EXPORT int CU(cuGraphExecDestroy, hipGraphExecDestroy)(void* ready) {
  free(ready);
  return 0;
}
EXPORT int CU(cuGraphDestroy, hipGraphDestroy)(void* graph) {
  free(graph);
  return 0;
}
#endif
