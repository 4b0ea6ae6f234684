#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks/preload/state.h"

namespace aaco::hooks {

constinit Shared shared{};
constinit thread_local Thread thread __attribute__((tls_model("initial-exec"))){};

namespace {

constexpr std::size_t kMaxPath = 512;
constinit char folder[kMaxPath] = {};
constinit pthread_key_t thread_end{};
constinit bool has_thread_end = false;
constinit std::uint64_t* own_generation = nullptr;

class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = value_; }

 private:
  int value_;
};

// No handler runs meanwhile: its calls would find a ring that is not there yet. Faults are not held back.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&held, fault);
    valid_ = pthread_sigmask(SIG_SETMASK, &held, &before_) == 0;
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    if (valid_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
  bool valid_;
};

std::size_t bytes_of(std::uint32_t records) { return wire::kHeaderBytes + std::size_t{records} * sizeof(wire::Record); }

// Runs as late among the thread's destructors as it can: the program's own may still call a runtime.
void end_thread(void* ring) {
  if (thread.ring != ring) return;  // of a forked parent
  if (++thread.endings < 4 && pthread_setspecific(thread_end, ring) == 0) return;
  const std::uint32_t records = thread.mask + 1;
  wire::Ring* const own = thread.ring;
  thread.ring = nullptr;
  __atomic_store_n(&own->ended, 1, __ATOMIC_RELEASE);
  munmap(own, bytes_of(records));
}

// A limit on file sizes would make the growth of a ring a deadly signal.
bool may_write(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

// The pages are allocated now: with memory short, touching one later would kill the program.
void* make_ring_file(std::size_t bytes) {
  char path[kMaxPath + 96];
  snprintf(path, sizeof path, "%s/%d.%ld.%llx%s", folder, getpid(), syscall(SYS_gettid), static_cast<unsigned long long>(now()),
           wire::kRingSuffix);
  if (!may_write(bytes)) return nullptr;
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  void* address = MAP_FAILED;
  if (fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0)
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (address != MAP_FAILED) return address;
  unlink(path);
  return nullptr;
}

bool open_control() {
  const char* const name = getenv(wire::kFolderVariable);
  if (name == nullptr || name[0] != '/' || strlen(name) >= sizeof folder) return false;
  char path[kMaxPath + 16];
  snprintf(path, sizeof path, "%s/%s", name, wire::kControlFile);
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  struct stat facts {};
  void* address = MAP_FAILED;
  if (fstat(file, &facts) == 0 && facts.st_size == static_cast<off_t>(sizeof(wire::Control)))
    address = mmap(nullptr, sizeof(wire::Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (address == MAP_FAILED) return false;
  auto* const control = static_cast<wire::Control*>(address);
  const std::uint32_t records = control->records;
  if (control->magic != wire::kMagic || control->version != wire::kVersion || records < wire::kMinRecords ||
      records > wire::kMaxRecords || (records & (records - 1)) != 0) {
    munmap(address, sizeof(wire::Control));
    return false;
  }
  strcpy(folder, name);
  shared.uses_tsc = control->uses_tsc != 0;
  shared.control = control;
  return true;
}

// A page that a fork of whatever kind leaves empty in the child.
bool make_generation() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) return false;
  own_generation = static_cast<std::uint64_t*>(page);
  shared.generation = own_generation;
  return true;
}

void enter_process() {
  std::uint64_t unset = 0;
  const std::uint64_t fresh = __rdtsc() | 1U;
  if (!__atomic_compare_exchange_n(own_generation, &unset, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  const std::uint32_t place = __atomic_fetch_add(&shared.control->processes, 1, __ATOMIC_RELAXED);
  if (place < wire::kMaxProcesses) __atomic_store_n(&shared.control->process_ids[place], getpid(), __ATOMIC_RELEASE);
}

}  // namespace

void attach_thread() {
  const KeptErrno kept;
  const HeldSignals held;
  if (thread.generation == *shared.generation && *shared.generation != 0) return;  // a handler was here first
  enter_process();
  thread.endings = 0;
  thread.ring = nullptr;  // of a forked parent, if any
  thread.generation = *shared.generation;
  const std::uint32_t records = shared.control->records;
  auto* const ring = static_cast<wire::Ring*>(make_ring_file(bytes_of(records)));
  if (ring == nullptr) {
    __atomic_fetch_add(&shared.control->rings_refused, 1, __ATOMIC_RELAXED);
    return;
  }
  ring->records = records;
  ring->process_id = getpid();
  ring->thread_id = static_cast<std::int32_t>(syscall(SYS_gettid));
  thread.records = reinterpret_cast<wire::Record*>(reinterpret_cast<char*>(ring) + wire::kHeaderBytes);
  thread.mask = records - 1;
  thread.ring = ring;
  __atomic_store_n(&ring->magic, wire::kMagic, __ATOMIC_RELEASE);
  if (has_thread_end) pthread_setspecific(thread_end, ring);
}

void wait_for_room() {
  constexpr timespec kPause = {0, 100'000};
  constexpr int kMaxPauses = 5000;
  static constinit int pauses = 0;
  const KeptErrno kept;
  while (!has_room() && __atomic_load_n(&pauses, __ATOMIC_RELAXED) < kMaxPauses) {
    __atomic_fetch_add(&pauses, 1, __ATOMIC_RELAXED);
    nanosleep(&kPause, nullptr);
  }
}

void initialise() {
  if (__atomic_exchange_n(&shared.initialised, true, __ATOMIC_ACQ_REL)) return;
  const KeptErrno kept;
  if (!make_generation() || !open_control()) {
    shared.control = nullptr;
    return;
  }
  has_thread_end = pthread_key_create(&thread_end, &end_thread) == 0;
  enter_process();
  resolve_loaded();
}

namespace {
__attribute__((constructor)) void at_load() { initialise(); }
}  // namespace

}  // namespace aaco::hooks
