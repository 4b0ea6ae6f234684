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

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  unsigned x, y, z;
} dim3;
typedef struct {
  int64_t until_ns;
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
static int run(void* handle, int64_t duration_ns) {
  __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
  if (duration_ns == 0) return 0;
  stream_t* stream = stream_of(handle);
  const int64_t now = now_ns(), until = __atomic_load_n(&stream->until_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&stream->until_ns, (until > now ? until : now) + duration_ns, __ATOMIC_RELAXED);
  return 0;
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
  *stream = calloc(1, sizeof(stream_t));
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

#ifdef STANDIN_HIP
#define NAME(name) hip##name
#define REGISTER __hipRegisterFunction
#endif
#ifdef STANDIN_CUDART
#define NAME(name) cuda##name
#define REGISTER __cudaRegisterFunction
#endif

#ifdef NAME
EXPORT void REGISTER(void* modules, const void* host, char* device, const char* name, unsigned limit, void* a, void* b, void* c,
                     void* d, int* e) {
  (void)modules, (void)host, (void)device, (void)name, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
}
#ifndef STANDIN_CUDART
EXPORT int NAME(LaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, void* stream) {
  (void)function, (void)arguments;
  return grid.x == 3 && grid.y == 5 && grid.z == 7 && block.x == 64 && block.y == 2 && block.z == 1 ? run(stream, (int64_t)shared)
                                                                                                    : 9;
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
  run(stream, 1000);
  return copy(to, from, bytes);
}
EXPORT int NAME(Memset)(void* to, int value, size_t bytes) {
  memset(to, value, bytes);
  return 0;
}
EXPORT int NAME(DeviceSynchronize)(void) { return synchronise(NULL); }
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
EXPORT int NAME(SetDevice)(int device) { return device < 0 || device > 7 ? 101 : 0; }
EXPORT int NAME(GraphLaunch)(void* graph, void* stream) {
  (void)graph;
  return run(stream, 10000);
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
