// A library that a user preloads already: it counts launches and passes them on, as a profiler of theirs does. Also a plugin that
// launches by symbol, for dlopen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  unsigned x, y, z;
} dim3;
typedef int (*launch_t)(const void*, dim3, dim3, void**, size_t, void*);

#ifdef STANDIN_PLUGIN
int hipLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
__attribute__((visibility("default"))) long standin_user_launches(long count) {
  const dim3 grid = {3, 5, 7}, block = {64, 2, 1};
  long done = 0;
  for (long i = 0; i < count; ++i) done += hipLaunchKernel(&grid, grid, block, NULL, 0, NULL) == 0;
  return done;
}
#else
static long seen;
__attribute__((visibility("default"))) int hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                                           size_t shared, void* stream) {
  const launch_t next = (launch_t)dlsym(RTLD_NEXT, "hipLaunchKernel");
  ++seen;
  return next ? next(function, grid, block, arguments, shared, stream) : 3;
}
__attribute__((destructor)) static void tell(void) {
  if (seen) fprintf(stderr, "other library saw %ld\n", seen);
}
#endif
