// The stand-in runtime's own profiler: with STANDIN_TRACE=FILE in the environment it writes what ran between
// standin_profile_begin() and standin_profile_end() to FILE.PID, a line each, times of CLOCK_MONOTONIC:
//   clocks,MONOTONIC,REALTIME,BOOTTIME                                             read together
//   call,CORRELATION,NAME,PID,TID,START,END
//   kernel,CORRELATION,NAME,DEVICE,STREAM,START,END,TID,NUMBER                     NUMBER: of the launch in its thread, from 1
//   copy,CORRELATION,BYTES,DEVICE,STREAM,START,END,TID,NUMBER                      NUMBER: of the copy in its thread
#ifndef AACO_HOOKS_STANDIN_PROFILER_H
#define AACO_HOOKS_STANDIN_PROFILER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  const char* kind;
  const char* name;
  uint64_t correlation;
  int64_t device, stream, start, end, bytes;
  long thread, number;
} traced_t;

enum { kMaxTraced = 1 << 20 };
static traced_t* traced;
static int64_t traced_count;
static uint64_t correlations;
static int is_profiling;
static __thread long launch_number, copy_number;
static __thread uint64_t own_correlation;
static __thread int own_device;

static int64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void note(const char* kind, const char* name, int64_t stream, int64_t start, int64_t end, int64_t bytes, long number) {
  if (!__atomic_load_n(&is_profiling, __ATOMIC_ACQUIRE)) return;
  const int64_t at = __atomic_fetch_add(&traced_count, 1, __ATOMIC_RELAXED);
  if (at >= kMaxTraced) abort();
  traced[at] = (traced_t){kind, name, own_correlation, own_device, stream, start, end, bytes, syscall(SYS_gettid), number};
}

// Around a call: what it gives the device has its correlation id.
static int64_t enter_call(void) {
  if (!__atomic_load_n(&is_profiling, __ATOMIC_ACQUIRE)) return 0;
  own_correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
  return clock_ns(CLOCK_MONOTONIC);
}
static int leave_call(const char* name, int64_t entered, int result) {
  if (entered) note("call", name, 0, entered, clock_ns(CLOCK_MONOTONIC), 0, 0);
  return result;
}

__attribute__((visibility("default"))) void standin_profile_begin(void) {
  if (!getenv("STANDIN_TRACE")) return;
  traced = (traced_t*)calloc(kMaxTraced, sizeof *traced);  // a cast, so that it is C++ too
  traced_count = 0;
  __atomic_store_n(&is_profiling, traced != NULL, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) void standin_profile_end(void) {
  char path[512];
  if (!traced) return;
  __atomic_store_n(&is_profiling, 0, __ATOMIC_RELEASE);
  snprintf(path, sizeof path, "%s.%d", getenv("STANDIN_TRACE"), (int)getpid());
  FILE* file = fopen(path, "w");
  if (!file) abort();
  fprintf(file, "clocks,%lld,%lld,%lld\n", (long long)clock_ns(CLOCK_MONOTONIC), (long long)clock_ns(CLOCK_REALTIME),
          (long long)clock_ns(CLOCK_BOOTTIME));
  for (int64_t i = 0; i < traced_count; ++i) {
    const traced_t* one = &traced[i];
    if (one->kind[1] == 'a')
      fprintf(file, "call,%llu,%s,%d,%ld,%lld,%lld\n", (unsigned long long)one->correlation, one->name, (int)getpid(),
              one->thread, (long long)one->start, (long long)one->end);
    else if (one->kind[0] == 'k')
      fprintf(file, "kernel,%llu,%s,%lld,%lld,%lld,%lld,%ld,%ld\n", (unsigned long long)one->correlation, one->name,
              (long long)one->device, (long long)one->stream, (long long)one->start, (long long)one->end, one->thread,
              one->number);
    else
      fprintf(file, "copy,%llu,%lld,%lld,%lld,%lld,%lld,%ld,%ld\n", (unsigned long long)one->correlation, (long long)one->bytes,
              (long long)one->device, (long long)one->stream, (long long)one->start, (long long)one->end, one->thread,
              one->number);
  }
  fclose(file);
  free(traced);
  traced = NULL;
}

#endif
