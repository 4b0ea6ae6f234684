// A program that uses stand-in runtimes in the ways that programs do. program MODE [NUMBER]; prints how many kernels the runtimes
// were given, and fails where a call does not do what it does without being recorded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  unsigned x, y, z;
} dim3;
int hipLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
int hipMalloc(void**, size_t);
int hipFree(void*);
int hipMemcpy(void*, const void*, size_t, int);
int hipDeviceSynchronize(void);
int hipStreamCreate(void**);
int hipStreamSynchronize(void*);
int hipStreamQuery(void*);
int hipEventCreate(void**);
int hipEventRecord(void*, void*);
int hipEventSynchronize(void*);
int hipSetDevice(int);
int hipGetProcAddress(const char*, void**, int, uint64_t, void*);
void __hipRegisterFunction(void*, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
int64_t standin_launches(void);

typedef int (*launch_t)(const void*, dim3, dim3, void**, size_t, void*);
static const dim3 kGrid = {3, 5, 7}, kBlock = {64, 2, 1};
static const char kKernel;

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(9);                                                \
    }                                                         \
  } while (0)

static int launch_ns(long ns) { return hipLaunchKernel(&kKernel, kGrid, kBlock, NULL, (size_t)ns, NULL); }
static int launch(void) { return launch_ns(0); }
static void launch_often(long count) {
  for (long i = 0; i < count; ++i) CHECK(launch() == 0);
}
static void* launching_thread(void* count) {
  launch_often((long)count);
  return NULL;
}
static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((constructor)) static void register_kernels(void) {
  __hipRegisterFunction(NULL, &kKernel, NULL, "a_kernel_with_a_name_that_is_longer_than_one_record_of_the_ring", 0, NULL, NULL,
                        NULL, NULL, NULL);
}

static void common(void) {
  void *memory = NULL, *stream = NULL, *event = NULL;
  char host[64] = "hello", back[64] = "";
  CHECK(hipMalloc(&memory, 1UL << 50) == 2);
  CHECK(hipMalloc(&memory, 4096) == 0);
  CHECK(hipMemcpy(memory, host, sizeof host, 1) == 0);
  CHECK(hipMemcpy(back, memory, sizeof host, 2) == 0);
  CHECK(strcmp(back, "hello") == 0);
  CHECK(hipStreamCreate(&stream) == 0);
  CHECK(hipEventCreate(&event) == 0);
  CHECK(hipSetDevice(99) == 101 && hipSetDevice(1) == 0);
  CHECK(hipLaunchKernel(&kKernel, kGrid, kBlock, NULL, 2000000, stream) == 0);
  CHECK(hipStreamQuery(stream) == 600);
  CHECK(hipEventRecord(event, stream) == 0);
  const int64_t before = now_ns();
  CHECK(hipEventSynchronize(event) == 0);
  CHECK(now_ns() - before > 100000);
  CHECK(hipStreamSynchronize(stream) == 0 && hipDeviceSynchronize() == 0);
  CHECK(hipFree(memory) == 0);
}

static void* find(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  CHECK(handle);
  void* address = dlsym(handle, name);
  CHECK(address);
  return address;
}

// Two versions of HIP at once: each call reaches the one that was asked.
static void versions(long count) {
  const launch_t old = (launch_t)find("libamdhip64.so.5", "hipLaunchKernel"),
                 new = (launch_t)find("libamdhip64.so.6", "hipLaunchKernel");
  int64_t (*given)(void) = (int64_t(*)(void))find("libamdhip64.so.5", "standin_launches");
  for (long i = 0; i < count; ++i) CHECK(old(&kKernel, kGrid, kBlock, NULL, 0, NULL) == 0);
  CHECK(given() == count && standin_launches() == 0);
  CHECK(new (&kKernel, kGrid, kBlock, NULL, 0, NULL) == 0);
  CHECK(given() == count && standin_launches() == 1);
}

static void cuda(const char* library, long count) {
  const launch_t start = (launch_t)find(library, "cudaLaunchKernel");
  for (long i = 0; i < count; ++i) CHECK(start(&kKernel, kGrid, kBlock, NULL, 0, NULL) == 0);
  int (*get)(void**, void*, const char*) = (int (*)(void**, void*, const char*))find("libcuda.so.1", "cuModuleGetFunction");
  void* function = NULL;
  CHECK(get(&function, NULL, "named") == 0 && function == (void*)0x1005);
  int (*look)(const char*, void**, int, uint64_t) =
      (int (*)(const char*, void**, int, uint64_t))find("libcuda.so.1", "cuGetProcAddress");
  void* address = NULL;
  CHECK(look("cuNothing", &address, 12000, 0) == 500 && !address);
  CHECK(look("cuMemAlloc", &address, 12000, 0) == 0);
  uint64_t memory = 0;
  CHECK(((int (*)(uint64_t*, size_t))address)(&memory, 1000) == 0 && memory);
}

// A library with thousands of kernels is loaded, which the compiler of CUDA 13 made.
static void cuda13(long count) {
  enum { kKernels = 12000, kNameBytes = 400 };
  typedef void (*register_t)(void*, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
  const register_t name = (register_t)find("libcudart.so.13", "__cudaRegisterFunction");
  static char functions[kKernels];
  char text[kNameBytes + 16];
  memset(text, 'k', sizeof text);
  for (int i = 0; i < kKernels; ++i) {
    snprintf(text + kNameBytes, 16, "_%d", i);
    name(NULL, &functions[i], NULL, text, 0, NULL, NULL, NULL, NULL, NULL);
  }
  void* kernel = NULL;
  CHECK(((int (*)(void**, const void*))find("libcudart.so.13", "__cudaGetKernel"))(&kernel, &functions[kKernels - 1]) == 0 &&
        kernel);
  const launch_t start = (launch_t)find("libcudart.so.13", "__cudaLaunchKernel");
  for (long i = 0; i < count; ++i) CHECK(start(kernel, kGrid, kBlock, NULL, 0, NULL) == 0);
}

static void lookup(long count) {
  void* address = NULL;
  CHECK(hipGetProcAddress("hipLaunchKernel", &address, 600, 0, NULL) == 0);
  for (long i = 0; i < count; ++i) CHECK(((launch_t)address)(&kKernel, kGrid, kBlock, NULL, 0, NULL) == 0);
  CHECK(hipGetProcAddress("hipNothing", &address, 600, 0, NULL) == 500 && !address);
  CHECK(dlsym(RTLD_DEFAULT, "cudaLaunchKernel") == NULL);  // nobody has opened it
  CHECK(dlsym(RTLD_DEFAULT, "hipMalloc") != NULL && dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
  const launch_t found = (launch_t)dlsym(RTLD_DEFAULT, "hipLaunchKernel");
  CHECK(found && found(&kKernel, kGrid, kBlock, NULL, 0, NULL) == 0);
}

static void threads(long count) {
  pthread_t thread[8];
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&thread[i], NULL, &launching_thread, (void*)count) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
}

static void forks(long count) {
  launch_often(count);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = i == 2 ? (pid_t)syscall(SYS_fork) : fork();
    if (child == 0) {
      launch_often(count);
      if (i == 0) {
        execl("/proc/self/exe", "program", "linked", "5", NULL);
        _exit(8);
      }
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  launch_often(count);
}

static volatile sig_atomic_t handled;
static void on_alarm(int number) {
  (void)number;
  if (hipStreamQuery(NULL) == 0) handled = handled + 1;
}
static void signals(long count) {
  struct sigaction action = {0};
  action.sa_handler = &on_alarm;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  launch_often(count);
  while (handled < 5) launch_often(10), usleep(50);
  setitimer(ITIMER_REAL, &never, NULL);
  fprintf(stdout, "handled %d\n", (int)handled);
}

static void at_exit(void) { CHECK(launch() == 0); }
static pthread_key_t key;
static void at_thread_end(void* value) {
  (void)value;
  CHECK(launch() == 0);
}
static void* ending_thread(void* value) {
  pthread_setspecific(key, value);
  return NULL;
}
static void ends(void) {
  pthread_t thread;
  atexit(&at_exit);
  CHECK(pthread_key_create(&key, &at_thread_end) == 0);
  CHECK(pthread_create(&thread, NULL, &ending_thread, (void*)1) == 0 && pthread_join(thread, NULL) == 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void locked(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_mutex_lock(&lock);
    CHECK(launch() == 0);
    pthread_mutex_unlock(&lock);
  }
}

// Keeps the stand-in GPU busy; every tenth launch comes late, in the way that `how` names.
static void late(const char* how, long count) {
  for (long i = 0; i < count; ++i) {
    CHECK(launch_ns(1000000) == 0 && hipDeviceSynchronize() == 0);
    if (i % 10 != 9) continue;
    const int64_t until = now_ns() + 20000000;
    if (!strcmp(how, "sleep"))
      usleep(20000);
    else
      while (now_ns() < until) {
      }
  }
}

// Launches at a fixed rate per second for `seconds`, in batches of 20 us; prints the time that the calls took, per call in ns.
static void rate(long per_second, double seconds) {
  const int64_t begin = now_ns(), end = begin + (int64_t)(seconds * 1e9);
  int64_t spent = 0, calls = 0;
  while (now_ns() < end) {
    const int64_t before = now_ns();
    for (int i = 0; i < 100; ++i) launch();
    spent += now_ns() - before, calls += 100;
    while ((now_ns() - begin) * 1e-9 * (double)per_second < (double)calls) {
    }
  }
  printf("per_call_ns %.3f\n", (double)spent / (double)calls);
}

// A fixed amount of work: launches with computing between them; prints how long it took, its CPU time, how long it waited for a
// CPU (-1: the kernel does not say), its page faults and how often it lost its CPU.
static int64_t cpu_wait_ns(void) {
  long long run = 0, wait = -1;
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (file && fscanf(file, "%lld %lld", &run, &wait) != 2) wait = -1;
  if (file) fclose(file);
  return wait;
}
static int64_t cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static void work(long per_second, double seconds) {
  const long calls = (long)((double)per_second * seconds);
  volatile double sum = 0;
  struct rusage before, after;
  getrusage(RUSAGE_THREAD, &before);
  const int64_t begin_wait = cpu_wait_ns(), begin = now_ns(), begin_cpu = cpu_ns();
  for (long i = 0; i < calls; ++i) {
    launch();
    for (int k = 0; k < 3000; ++k) sum = sum + k;  // about 10 us
  }
  const int64_t wall = now_ns() - begin, cpu = cpu_ns() - begin_cpu;
  const int64_t wait = begin_wait < 0 ? -1 : cpu_wait_ns() - begin_wait;
  getrusage(RUSAGE_THREAD, &after);
  printf("wall_ns %lld cpu_ns %lld calls %ld wait_ns %lld faults %ld switches %ld\n", (long long)wall, (long long)cpu, calls,
         (long long)wait, after.ru_minflt - before.ru_minflt, after.ru_nivcsw - before.ru_nivcsw);
}

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "linked";
  const long number = count > 2 ? atol(arguments[2]) : 10;
  if (!strcmp(mode, "linked"))
    launch_often(number);
  else if (!strcmp(mode, "common"))
    common();
  else if (!strcmp(mode, "versions"))
    versions(number);
  else if (!strcmp(mode, "cuda11"))
    cuda("libcudart.so.11.0", number);
  else if (!strcmp(mode, "cuda12"))
    cuda("libcudart.so.12", number);
  else if (!strcmp(mode, "cuda13"))
    cuda13(number);
  else if (!strcmp(mode, "lookup"))
    lookup(number);
  else if (!strcmp(mode, "threads"))
    threads(number);
  else if (!strcmp(mode, "forks"))
    forks(number);
  else if (!strcmp(mode, "signals"))
    signals(number);
  else if (!strcmp(mode, "ends"))
    ends();
  else if (!strcmp(mode, "locked"))
    locked(number);
  else if (!strcmp(mode, "late"))
    late(count > 3 ? arguments[3] : "sleep", number);
  else if (!strcmp(mode, "rate"))
    rate(number, count > 3 ? atof(arguments[3]) : 1);
  else if (!strcmp(mode, "work"))
    work(number, count > 3 ? atof(arguments[3]) : 1);
  else if (!strcmp(mode, "forever"))
    for (;;) launch_often(1000), usleep(1000);
  else if (!strcmp(mode, "namespace"))
    CHECK(dlmopen(LM_ID_NEWLM, "libamdhip64.so.5", RTLD_NOW));
  else
    return 2;
  printf("launches %lld\n", (long long)standin_launches());
  return 0;
}
