// Faults that the laboratory lacks, loaded into a measured program by LD_PRELOAD. AACO_UNSEEN_FAULT names one,
// AACO_UNSEEN_STRENGTH is its strength (0..1). Used by scripts/proofs/unseen_faults.py only; nothing was tuned on them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double strength = 0.5;
static const char* fault = "";

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static void burn(int64_t ns) {
  const int64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}
static void rest(int64_t ns) {
  const struct timespec t = {ns / 1000000000ll, ns % 1000000000ll};
  nanosleep(&t, NULL);
}
// Works `strength` of the time, in turns of 10 ms.
#define DUTY(work)                                   \
  for (;;) {                                         \
    const int64_t began = now_ns();                  \
    while (now_ns() - began < strength * 10e6) work; \
    rest((int64_t)((1 - strength) * 10e6) + 1000);   \
  }

static void* tlb_storm(void* unused) {  // remote TLB shootdowns: unmapping while other threads run
  (void)unused;
  DUTY({
    char* p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1;
    munmap(p, 1 << 20);
  })
  return NULL;
}
static void* cache_storm(void* unused) {  // streams through 128 MiB
  (void)unused;
  static char* p;
  const size_t size = 128u << 20;
  p = malloc(size);
  memset(p, 1, size);
  static size_t at;
  DUTY({
    memset(p + at, (int)at, 1 << 20);
    at = (at + (1 << 20)) % size;
  })
  return NULL;
}
static void* protect_storm(void* unused) {
  (void)unused;
  char* p = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(p, 1, 64 * 4096);
  DUTY({
    mprotect(p, 64 * 4096, PROT_READ);
    mprotect(p, 64 * 4096, PROT_READ | PROT_WRITE);
    p[0] = 2;
  })
  return NULL;
}
static void* fork_storm(void* unused) {  // copy on write for the parent
  (void)unused;
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    rest((int64_t)(20e6 * (1 - strength)) + 100000);
  }
  return NULL;
}
static void* sync_writer(void* unused) {
  (void)unused;
  char name[] = "/var/tmp/aaco-unseen-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  static char block[1 << 16];
  for (;;) {
    if (pwrite(file, block, sizeof block, 0) < 0) return NULL;
    fdatasync(file);
    rest((int64_t)(10e6 * (1 - strength)) + 1000);
  }
  return NULL;
}
static void* spinner(void* unused) {  // a busy thread of the program itself
  (void)unused;
  DUTY(burn(100000))
  return NULL;
}
static void on_alarm(int signal_number) {
  (void)signal_number;
  burn((int64_t)(strength * 2e5));
}

static void start(void* (*body)(void*), int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) == 0) pthread_detach(thread);
  }
}

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("AACO_UNSEEN_FAULT"), *value = getenv("AACO_UNSEEN_STRENGTH");
  if (name == NULL) return;
  fault = name;
  if (value != NULL) strength = atof(value);
  if (strcmp(fault, "tlb_storm") == 0) start(tlb_storm, 1);
  if (strcmp(fault, "cache_storm") == 0) start(cache_storm, 1);
  if (strcmp(fault, "protect_storm") == 0) start(protect_storm, 1);
  if (strcmp(fault, "fork_storm") == 0) start(fork_storm, 1);
  if (strcmp(fault, "sync_writer") == 0) start(sync_writer, 1);
  if (strcmp(fault, "own_spinner") == 0) start(spinner, 1);
  if (strcmp(fault, "own_spinners") == 0) start(spinner, 8);
  if (strcmp(fault, "signals") == 0) {
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every, NULL);
  }
}

// Slow library functions: those that ONNX Runtime calls from the calling thread in every inference.
static int due(int* count, int every) { return __sync_fetch_and_add(count, 1) % every == 0; }

void* memcpy(void* to, const void* from, size_t size) {
  static void* (*real)(void*, const void*, size_t);
  if (real == NULL) real = (void* (*)(void*, const void*, size_t))dlsym(RTLD_NEXT, "memmove");
  static int count;
  if (fault[0] == 'm' && strcmp(fault, "memcpy_slow") == 0 && size >= 64 && due(&count, 8)) burn((int64_t)(strength * 20000));
  if (fault[0] == 'm' && strcmp(fault, "memcpy_sleeps") == 0 && size >= 64 && due(&count, 8)) rest((int64_t)(strength * 20000));
  return real(to, from, size);
}
// The loop reads the clock before and after each call: what the main thread does there is work around the model.
int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  static __thread int inside;
  if (fault[0] == 'c' && strncmp(fault, "clock_", 6) == 0 && clock == CLOCK_MONOTONIC && inside == 0 && gettid() == getpid()) {
    inside = 1;
    if (strcmp(fault, "clock_slow") == 0) burn((int64_t)(strength * 3e6));
    if (strcmp(fault, "clock_sleeps") == 0) rest((int64_t)(strength * 3e6));
    if (strcmp(fault, "clock_faults") == 0) {
      const size_t size = (size_t)(strength * (8 << 20));
      char* p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(p, size, MADV_NOHUGEPAGE);
      for (size_t i = 0; i < size; i += 4096) p[i] = 1;
      munmap(p, size);
    }
    inside = 0;
  }
  return real(clock, time);
}
