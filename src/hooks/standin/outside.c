// Uses of stand-in runtimes that are hard on a preloaded library. outside MODE [NUMBER]; prints "launched N" for each process:
// the launches that succeeded. Fails where a call does not do what it does without being recorded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  unsigned x, y, z;
} dim3;
typedef int (*launch_t)(const void*, dim3, dim3, void**, size_t, void*);
static const dim3 kGrid = {3, 5, 7}, kBlock = {64, 2, 1};
static long launched;

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      _exit(9);                                               \
    }                                                         \
  } while (0)

static void* open_or_fail(const char* library, int flags) {
  void* handle = dlopen(library, flags);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  CHECK(handle);
  return handle;
}
static launch_t hip;
static void use_hip(void) {
  hip = (launch_t)dlsym(open_or_fail("libamdhip64.so.6", RTLD_NOW), "hipLaunchKernel");
  CHECK(hip);
}
static void launch_with(launch_t start) {
  CHECK(start(&kGrid, kGrid, kBlock, NULL, 0, NULL) == 0);
  __atomic_fetch_add(&launched, 1, __ATOMIC_RELAXED);
}
static void tell(void) {
  printf("launched %ld\n", launched);
  fflush(stdout);
}

static volatile int going = 1;
static void* until_stopped(void* unused) {
  while (going) {
    for (int i = 0; i < 20; ++i) launch_with(hip);
    usleep(50);
  }
  return unused;
}
// A process with launching threads forks again and again; each child launches.
static void fork_in_the_middle(long count) {
  pthread_t thread[3];
  use_hip();
  for (int i = 0; i < 3; ++i) CHECK(pthread_create(&thread[i], NULL, &until_stopped, NULL) == 0);
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      launched = 0;
      for (int k = 0; k < 50; ++k) launch_with(hip);
      char text[64];
      const int size = snprintf(text, sizeof text, "launched %ld\n", launched);
      _exit(write(1, text, (size_t)size) == size ? 0 : 9);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  going = 0;
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  tell();
}

static void handler(int number) {
  (void)number;
  launch_with(hip);
}
static void launching_handler(long count) {
  use_hip();
  struct sigaction action = {0};
  action.sa_handler = &handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; i < count; ++i) launch_with(hip);
  setitimer(ITIMER_REAL, &never, NULL);
  tell();
}

// The runtime is unloaded and loaded again, with something else mapped in between, so that it comes to another address. From the
// middle on it is in the global scope, where a look-up by name keeps it loaded.
static void reload(long count) {
  long visible = 0;
  void* addresses[2] = {NULL, NULL};
  for (long i = 0; i < count; ++i) {
    const int global = i >= count / 2;
    void* handle = open_or_fail("libamdhip64.so.5", RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    const launch_t start = (launch_t)dlsym(handle, "hipLaunchKernel");
    CHECK(start);
    launch_with(start);
    if (global) {
      const launch_t found = (launch_t)dlsym(RTLD_DEFAULT, "hipLaunchKernel");
      CHECK(found);
      launch_with(found);
    }
    addresses[i > 0] = dlsym(handle, "standin_launches");
    CHECK(dlclose(handle) == 0);
    const launch_t after = (launch_t)dlsym(RTLD_DEFAULT, "hipLaunchKernel");
    if (after) ++visible, launch_with(after);
    if (i == 0) open_or_fail("libcudart.so.12", RTLD_NOW);
    if (i == 1) open_or_fail("libcudart.so.11.0", RTLD_NOW);
  }
  printf("visible %ld, %s\n", visible, addresses[0] == addresses[1] ? "at one address" : "at several addresses");
  tell();
}

// A driver's entry points by its own lookup, of older and newer kinds; what has no newer kind is answered as it is.
static void lookups(long count) {
  void* driver = open_or_fail("libcuda.so.1", RTLD_NOW);
  typedef int (*look1_t)(const char*, void**, int, uint64_t);
  typedef int (*look2_t)(const char*, void**, int, uint64_t, void*);
  typedef int (*start_t)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  const look1_t first = (look1_t)dlsym(driver, "cuGetProcAddress");
  CHECK(first);
  void *second = NULL, *start = NULL, *again = NULL, *none = &none;
  CHECK(first("cuGetProcAddress", &second, 12000, 0) == 0 && second);  // the lookup of the lookup
  CHECK(((look2_t)second)("cuLaunchKernel", &start, 12000, 0, NULL) == 0);
  CHECK(((look2_t)second)("cuLaunchKernel", &again, 11000, 0, NULL) == 0 && start == again);
  CHECK(((look2_t)second)("cuNotThere", &none, 12000, 0, NULL) == 500 && !none);
  for (long i = 0; i < count; ++i) {
    CHECK(((start_t)start)(NULL, 3, 5, 7, 64, 2, 1, 0, NULL, NULL, NULL) == 0);
    ++launched;
  }
  tell();
}

static launch_t cuda;
static void* both_threads(void* count) {
  for (long i = 0; i < (long)count; ++i) launch_with(i % 2 ? hip : cuda);
  return NULL;
}
// HIP and CUDA in one process, by four threads at once.
static void two_runtimes(long count) {
  pthread_t thread[4];
  use_hip();
  cuda = (launch_t)dlsym(open_or_fail("libcudart.so.12", RTLD_NOW), "cudaLaunchKernel");
  CHECK(cuda);
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&thread[i], NULL, &both_threads, (void*)count) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  tell();
}

static void* one_launch(void* unused) {
  launch_with(hip);
  return unused;
}
static void churn(long count) {
  use_hip();
  for (long i = 0; i < count; i += 8) {
    pthread_t thread[8];
    for (int k = 0; k < 8; ++k) CHECK(pthread_create(&thread[k], NULL, &one_launch, NULL) == 0);
    for (int k = 0; k < 8; ++k) CHECK(pthread_join(thread[k], NULL) == 0);
  }
  tell();
}

static void repeat(long count, unsigned pause_us) {
  use_hip();
  for (long i = 0; i < count; ++i) {
    launch_with(hip);
    if (pause_us) usleep(pause_us);
  }
  tell();
}

// The parent ends when its child has launched once; the child goes on launching in a session of its own and says so in the file.
static void outlive(const char* file) {
  int begun[2];
  char mark = 0;
  use_hip();
  launch_with(hip);
  CHECK(pipe(begun) == 0);
  if (fork() == 0) {
    setsid();
    close(0), close(1), close(2);
    launched = 0;
    for (int i = 0; i < 1000; ++i) {
      launch_with(hip);
      if (i == 0) CHECK(write(begun[1], "", 1) == 1);
      usleep(1000);
    }
    FILE* out = fopen(file, "w");
    if (out) fprintf(out, "launched %ld\n", launched), fclose(out);
    _exit(0);
  }
  CHECK(read(begun[0], &mark, 1) == 1);
  tell();
}

// In a namespace of its own: by dlsym, after an unrelated library was unloaded, or from inside a library that is there.
static void name_space(const char* library, long count) {
  void* handle = dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  CHECK(handle);
  long (*work)(long) = (long (*)(long))dlsym(handle, "standin_user_launches");
  if (work) {
    launched = work(count);
  } else {
    const launch_t start = (launch_t)dlsym(handle, "hipLaunchKernel");
    CHECK(start);
    CHECK(dlclose(open_or_fail("libcudart.so.11.0", RTLD_NOW)) == 0);
    for (long i = 0; i < count; ++i) launch_with(start);
  }
  tell();
}

static void deep_bind(const char* library, long count) {
  void* handle = open_or_fail(library, RTLD_NOW | RTLD_DEEPBIND);
  long (*work)(long) = (long (*)(long))dlsym(handle, "standin_user_launches");
  CHECK(work);
  launched = work(count);
  tell();
}

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  const long number = count > 2 ? atol(arguments[2]) : 10;
  if (!strcmp(mode, "fork"))
    fork_in_the_middle(number);
  else if (!strcmp(mode, "handler"))
    launching_handler(number);
  else if (!strcmp(mode, "reload"))
    reload(number);
  else if (!strcmp(mode, "lookups"))
    lookups(number);
  else if (!strcmp(mode, "both"))
    two_runtimes(number);
  else if (!strcmp(mode, "churn"))
    churn(number);
  else if (!strcmp(mode, "repeat"))
    repeat(number, count > 3 ? (unsigned)atol(arguments[3]) : 0);
  else if (!strcmp(mode, "outlive"))
    outlive(arguments[2]);
  else if (!strcmp(mode, "namespace"))
    name_space(arguments[3], number);
  else if (!strcmp(mode, "deepbind"))
    deep_bind(arguments[3], number);
  else if (!strcmp(mode, "exec")) {
    use_hip();
    launch_with(hip);
    tell();
    execv(arguments[2], arguments + 2);
    return 8;
  } else
    return 2;
  return 0;
}
