// Stands in for a GPU runtime in tests: the functions' names and parameters are facts of the public headers of the version that
// STANDIN_HIP, STANDIN_CUDART or STANDIN_DRIVER names. Its GPU is a clock: a kernel runs for as many ns as it asks bytes of
// shared memory for, after what its stream has to do already.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  unsigned x, y, z;
} dim3;
typedef struct {
  int64_t until_ns, number;
} stream_t;
typedef struct {
  int64_t at_ns;
} event_t;

static stream_t null_stream;
static int64_t launches;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static void wait_until(int64_t at) {
  struct timespec time = {at / 1000000000LL, at % 1000000000LL};
  if (at > now_ns())
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
    }
}
static stream_t* stream_of(void* handle) { return (uintptr_t)handle <= 2 ? &null_stream : handle; }
// When the stream's next work begins, which ends the duration later.
static int64_t give(stream_t* stream, int64_t duration_ns) {
  int64_t until = __atomic_load_n(&stream->until_ns, __ATOMIC_RELAXED), start = 0;
  do {
    const int64_t now = now_ns();
    start = until > now ? until : now;
  } while (!__atomic_compare_exchange_n(&stream->until_ns, &until, start + duration_ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return start;
}
static int run(void* handle, int64_t duration_ns) {
  __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
  if (duration_ns != 0) give(stream_of(handle), duration_ns);
  return 0;
}
// Of `number`: of the launch in its thread; a graph's kernels share it.
static void run_kernel(void* handle, int64_t duration_ns, const char* name, long number) {
  stream_t* stream = stream_of(handle);
  const int64_t start = give(stream, duration_ns);
  __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
  note("kernel", name, stream->number, start, start + duration_ns, 0, number);
}
static int synchronise(void* handle) {
  wait_until(stream_of(handle)->until_ns);
  return 0;
}

// How many kernels this library itself was given.
EXPORT int64_t standin_launches(void) { return __atomic_load_n(&launches, __ATOMIC_RELAXED); }

static int allocate(void** pointer, size_t bytes) {
  if (bytes > (1UL << 40)) return 2;
  *pointer = malloc(bytes ? bytes : 1);
  return 0;
}
static int make_stream(void** stream) {
  static int64_t streams;
  stream_t* made = calloc(1, sizeof(stream_t));
  made->number = __atomic_add_fetch(&streams, 1, __ATOMIC_RELAXED);
  *stream = made;
  return 0;
}
static int make_event(void** event) {
  *event = calloc(1, sizeof(event_t));
  return 0;
}
static int mark(void* event, void* stream) {
  ((event_t*)event)->at_ns = stream_of(stream)->until_ns;
  return 0;
}
static int query(int64_t at) { return at <= now_ns() ? 0 : 600; }
static int copy(void* to, const void* from, size_t bytes) {
  memmove(to, from, bytes);
  return 0;
}

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#ifdef STANDIN_HIP
#define NAME(name) hip##name
#define REGISTER __hipRegisterFunction
#endif
#ifdef STANDIN_CUDART
#define NAME(name) cuda##name
#define REGISTER __cudaRegisterFunction
#endif

#ifdef NAME
typedef struct {
  const void* host;
  const char* name;
} registered_t;
enum { kMaxRegistered = 64 };
static registered_t registered[kMaxRegistered];
static int registered_count;
__attribute__((unused)) static const char* name_of(const void* function) {
  for (int i = 0; i < registered_count; ++i)
    if (registered[i].host == function) return registered[i].name;
  return "an_unregistered_kernel";
}

EXPORT void REGISTER(void* modules, const void* host, char* device, const char* name, unsigned limit, void* a, void* b, void* c,
                     void* d, int* e) {
  (void)modules, (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
  if (registered_count < kMaxRegistered) registered[registered_count++] = (registered_t){host, name};
}
#ifndef STANDIN_CUDART
EXPORT int NAME(LaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, void* stream) {
  (void)arguments;
  const int64_t entered = enter_call();
  const int is_right = grid.x == 3 && grid.y == 5 && grid.z == 7 && block.x == 64 && block.y == 2 && block.z == 1;
  ++launch_number;
  if (!entered) return is_right ? run(stream, (int64_t)shared) : 9;
  if (is_right) run_kernel(stream, shared ? (int64_t)shared : 1, name_of(function), launch_number);
  return leave_call("hipLaunchKernel", entered, is_right ? 0 : 9);
}
#else
typedef int (*launch_t)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
// As the real one finds its driver.
static launch_t driver_launch(void) {
  static launch_t known;
  void* driver = known ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return known;
#if STANDIN_CUDART >= 12
  int (*look)(const char*, void**, int, uint64_t, void*) =
      (int (*)(const char*, void**, int, uint64_t, void*))dlsym(driver, "cuGetProcAddress_v2");
  void* address = NULL;
  if (!look || look("cuLaunchKernel", &address, 12000, 0, NULL) != 0) return NULL;
  return known = (launch_t)address;
#else
  return known = (launch_t)dlsym(driver, "cuLaunchKernel");
#endif
}
EXPORT int NAME(LaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, void* stream) {
  const launch_t driver = driver_launch();
  run(stream, 0);
  return driver ? driver((void*)function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream, arguments,
                         NULL)
                : 3;
}
#if STANDIN_CUDART >= 13
// What compilers of that version call: a handle of the kernel, and a launch by the handle.
EXPORT int __cudaGetKernel(void** kernel, const void* function) {
  *kernel = (void*)((uintptr_t)function ^ 0x5a5a000000000000);
  return 0;
}
EXPORT int __cudaLaunchKernel(void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared, void* stream) {
  return NAME(LaunchKernel)((void*)((uintptr_t)kernel ^ 0x5a5a000000000000), grid, block, arguments, shared, stream);
}
#endif
EXPORT int cudaStreamSynchronize_ptsz(void* stream) { return synchronise(stream); }
#endif
EXPORT int NAME(Malloc)(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
EXPORT int NAME(Free)(void* pointer) {
  free(pointer);
  return 0;
}
EXPORT int NAME(Memcpy)(void* to, const void* from, size_t bytes, int kind) {
  synchronise(NULL);
  return kind < 0 || kind > 4 ? 21 : copy(to, from, bytes);
}
EXPORT int NAME(MemcpyAsync)(void* to, const void* from, size_t bytes, int kind, void* stream) {
  (void)kind;
  const int64_t entered = enter_call(), start = give(stream_of(stream), 1000);
  note("copy", "", stream_of(stream)->number, start, start + 1000, (int64_t)bytes, ++copy_number);
  copy(to, from, bytes);
  return leave_call(TEXT(NAME(MemcpyAsync)), entered, 0);
}
EXPORT int NAME(Memset)(void* to, int value, size_t bytes) {
  memset(to, value, bytes);
  return 0;
}
EXPORT int NAME(DeviceSynchronize)(void) {
  const int64_t entered = enter_call();
  return leave_call(TEXT(NAME(DeviceSynchronize)), entered, synchronise(NULL));
}
EXPORT int NAME(StreamCreate)(void** stream) { return make_stream(stream); }
EXPORT int NAME(StreamDestroy)(void* stream) {
  free(stream);
  return 0;
}
EXPORT int NAME(StreamSynchronize)(void* stream) { return synchronise(stream); }
EXPORT int NAME(StreamQuery)(void* stream) { return query(stream_of(stream)->until_ns); }
EXPORT int NAME(EventCreate)(void** event) { return make_event(event); }
EXPORT int NAME(EventRecord)(void* event, void* stream) { return mark(event, stream); }
EXPORT int NAME(EventSynchronize)(void* event) {
  wait_until(((event_t*)event)->at_ns);
  return 0;
}
EXPORT int NAME(EventDestroy)(void* event) {
  free(event);
  return 0;
}
EXPORT int NAME(SetDevice)(int device) {
  if (device < 0 || device > 7) return 101;
  own_device = device;
  return 0;
}
EXPORT int NAME(GraphLaunch)(void* graph, void* stream) {
  (void)graph;
  const int64_t entered = enter_call();
  ++launch_number;
  if (!entered) return run(stream, 10000);
  for (int i = 0; i < 3; ++i) run_kernel(stream, 3000, "a_kernel_of_a_graph", launch_number);
  return leave_call(TEXT(NAME(GraphLaunch)), entered, 0);
}
#endif

#if defined(STANDIN_HIP) && STANDIN_HIP >= 6
EXPORT int hipGetProcAddress(const char* name, void** address, int version, uint64_t flags, void* status) {
  (void)version, (void)flags, (void)status;
  if (!strcmp(name, "hipLaunchKernel")) {
    *address = (void*)&hipLaunchKernel;
    return 0;
  }
  if (!strcmp(name, "hipStreamSynchronize")) {
    *address = (void*)&hipStreamSynchronize;
    return 0;
  }
  *address = NULL;
  return 500;
}
#endif

#ifdef STANDIN_DRIVER
EXPORT int cuInit(unsigned flags) { return flags ? 1 : 0; }
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* stream, void** arguments, void** extra) {
  (void)function, (void)arguments, (void)extra;
  return gx == 3 && gy == 5 && gz == 7 && bx == 64 && by == 2 && bz == 1 ? run(stream, shared) : 1;
}
EXPORT int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) { return allocate((void**)pointer, bytes); }
EXPORT int cuMemFree_v2(uint64_t pointer) {
  free((void*)pointer);
  return 0;
}
EXPORT int cuCtxSynchronize(void) { return synchronise(NULL); }
EXPORT int cuStreamSynchronize(void* stream) { return synchronise(stream); }
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  *function = (void*)(uintptr_t)(0x1000 + strlen(name));
  return 0;
}
EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags, void* status) {
  (void)version, (void)flags, (void)status;
  *address = !strcmp(name, "cuLaunchKernel")     ? (void*)&cuLaunchKernel
             : !strcmp(name, "cuMemAlloc")       ? (void*)&cuMemAlloc_v2
             : !strcmp(name, "cuMemFree")        ? (void*)&cuMemFree_v2
             : !strcmp(name, "cuGetProcAddress") ? (void*)&cuGetProcAddress_v2
                                                 : NULL;
  return *address ? 0 : 500;
}
EXPORT int cuGetProcAddress(const char* name, void** address, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, NULL);
}
#endif
