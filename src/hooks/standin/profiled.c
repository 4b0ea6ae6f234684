// Launches in an irregular pattern under the stand-in runtime's own profiler. profiled THREADS LAUNCHES STREAMS SEED [LETTERS]:
// each thread launches so often, on streams of its own. Letters: c copies and synchronisations between, d devices by thread,
// f failing launches between, g graph launches between, l sleep for 20 ms after every tenth, n kernels without names, o launches
// outside of the profiler's window too, p a forked process does the same, r in a regular pattern, s one stream for all threads, t
// the threads one after another.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  unsigned x, y, z;
} dim3;
int hipLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
int hipMemcpyAsync(void*, const void*, size_t, int, void*);
int hipDeviceSynchronize(void);
int hipGraphLaunch(void*, void*);
int hipStreamCreate(void**);
int hipSetDevice(int);
void __hipRegisterFunction(void*, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
void standin_profile_begin(void);
void standin_profile_end(void);

enum { kKernels = 4, kMaxStreams = 16 };
static const char kernels[kKernels];
static const char* const kNames[kKernels] = {"_Z6first_Pf", "_ZN4some6second_EPfi", "third", "fourth"};
static const dim3 kGrid = {3, 5, 7}, kBlock = {64, 2, 1};
static long launches, streams, seed;
static const char* letters = "";
static void* shared_streams[kMaxStreams];

static int has(char letter) { return strchr(letters, letter) != NULL; }
static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static void spin(int64_t ns) {
  const int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}
static uint64_t next(uint64_t* state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return *state >> 33;
}
static void check(int result, int wanted) {
  if (result != wanted) exit(9);
}

static void* launching(void* number) {
  uint64_t state = (uint64_t)seed * 1000003 + (uintptr_t)number;
  void* own[kMaxStreams];
  char from[64] = "", to[64];
  if (has('d')) check(hipSetDevice((int)(uintptr_t)number % 2), 0);
  for (long i = 0; i < streams; ++i) {
    own[i] = shared_streams[i];
    if (!has('s')) check(hipStreamCreate(&own[i]), 0);
  }
  for (long i = 0; i < launches; ++i) {
    void* const stream = own[next(&state) % (uint64_t)streams];
    const uint64_t kernel = next(&state) % kKernels;
    check(hipLaunchKernel(&kernels[kernel], kGrid, kBlock, NULL, 1000 + next(&state) % 9000, stream), 0);
    if (has('f') && i % 13 == 5) check(hipLaunchKernel(&kernels[kernel], kBlock, kBlock, NULL, 1, stream), 9);
    if (has('c') && i % 7 == 3) check(hipMemcpyAsync(to, from, sizeof to, 3, stream), 0);
    if (has('c') && i % 50 == 49) check(hipDeviceSynchronize(), 0);
    if (has('g') && i % 11 == 4) check(hipGraphLaunch(NULL, stream), 0);
    if (has('l') && i % 10 == 9) check(hipDeviceSynchronize(), 0), usleep(20000);
    spin(has('r') ? 5000 : (int64_t)(next(&state) % 20000));
  }
  return NULL;
}

static void all_threads(long count) {
  pthread_t thread[64];
  for (long i = 0; i < count; ++i) {
    check(pthread_create(&thread[i], NULL, &launching, (void*)i), 0);
    if (has('t')) check(pthread_join(thread[i], NULL), 0);
  }
  for (long i = 0; i < count && !has('t'); ++i) check(pthread_join(thread[i], NULL), 0);
}

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const long threads = atol(arguments[1]);
  launches = atol(arguments[2]), streams = atol(arguments[3]), seed = atol(arguments[4]);
  if (count > 5) letters = arguments[5];
  if (threads < 1 || threads > 64 || streams < 1 || streams > kMaxStreams) return 2;
  for (int i = 0; i < kKernels && !has('n'); ++i)
    __hipRegisterFunction(NULL, &kernels[i], NULL, kNames[i], 0, NULL, NULL, NULL, NULL, NULL);
  const pid_t child = has('p') ? fork() : -1;
  if (child == 0) ++seed;
  for (long i = 0; i < streams; ++i) check(hipStreamCreate(&shared_streams[i]), 0);
  if (has('o')) all_threads(threads);
  standin_profile_begin();
  all_threads(threads);
  check(hipDeviceSynchronize(), 0);
  standin_profile_end();
  if (has('o')) all_threads(threads);
  int status = 0;
  if (child > 0) check(waitpid(child, &status, 0) == child ? status : 1, 0);
  return 0;
}
