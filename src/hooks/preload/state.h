#pragma once

#include <time.h>
#include <x86intrin.h>

#include <cstdint>

#include "hooks/functions.h"
#include "hooks/wire.h"

// The preloaded library's own state. It runs inside programs of others: no allocation, no lock, no C++ runtime, nothing at exit.
namespace aaco::hooks {

// Of a function: slot 0 is for calls by symbol, the others for addresses that dlsym or a runtime's own lookup answered.
inline constexpr unsigned kSlots = 4;

struct Shared {
  wire::Control* control;           // null: not recording
  const std::uint64_t* generation;  // of this process; a fork sets it to 0
  bool initialised;
  bool uses_tsc;
};

struct Thread {
  std::uint64_t generation;
  wire::Ring* ring;  // null: none
  wire::Record* records;
  std::uint32_t mask;
  std::uint8_t device;   // of the last successful hipSetDevice or cudaSetDevice
  std::uint8_t endings;  // how often its destructor was called
};

extern Shared shared;
extern constinit thread_local Thread thread __attribute__((tls_model("initial-exec")));

// Call once before anything else; more calls do nothing.
void initialise();
// Gives the calling thread a ring of this process where it can have one.
void attach_thread();

extern "C" {
// The wrappers, kSlots of each function.
extern void* const kHookEntries[] __asm__("aaco_hook_entries") __attribute__((visibility("hidden")));
// Where the exported symbols of the functions are, at a distance of kStubBytes each.
extern const char kHookStubs[] __asm__("aaco_hook_stubs") __attribute__((visibility("hidden")));
}
inline constexpr std::size_t kStubBytes = 16;
inline void* aaco_hook_exports(std::size_t function) { return const_cast<char*>(kHookStubs + function * kStubBytes); }

// The address that calls of the function are passed on to; null: no loaded library has it.
void* real_of(std::size_t function, unsigned slot);
// The wrapper to answer in place of `address`, or `address` where no slot is free.
void* wrapper_of(std::size_t function, void* address);
// Index of the function, -1: not recorded. `lookup`: as a runtime's own lookup names it ("cuMemAlloc" for cuMemAlloc_v2).
int find_function(const char* name, bool lookup);
// Addresses of libraries that were unloaded since; after dlclose.
void forget_unloaded();
// All functions of libraries that are loaded, so that the first call of one does not look for it.
void resolve_loaded();

inline std::uint64_t now() {
  if (__builtin_expect(static_cast<long>(shared.uses_tsc), 1) != 0) return __rdtsc();
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// Whether calls of the group are recorded in this thread now.
inline bool is_recording(Group group) {
  if (__builtin_expect(static_cast<long>(shared.control == nullptr), 0) != 0) {
    if (shared.initialised) return false;
    initialise();
    if (shared.control == nullptr) return false;
  }
  const std::uint32_t enabled = __atomic_load_n(&shared.control->enabled, __ATOMIC_RELAXED);
  if ((enabled >> static_cast<unsigned>(group) & 1U) == 0) return false;
  if (__builtin_expect(static_cast<long>(thread.generation != *shared.generation), 0) != 0) attach_thread();
  return true;
}

// The next record of the thread, and its number; null: no room, counted. A signal handler may call it in the middle of itself:
// numbers are given by one instruction.
inline wire::Record* reserve(std::uint64_t& sequence) {
  wire::Ring* const ring = thread.ring;
  if (__builtin_expect(static_cast<long>(ring == nullptr), 0) != 0) {
    __atomic_fetch_add(&shared.control->lost, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  const std::uint64_t used = ring->next - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
  if (__builtin_expect(static_cast<long>(used >= thread.mask + 1 - wire::kSpareRecords), 0) != 0) {
    __asm__ volatile("incq %0" : "+m"(ring->lost));
    return nullptr;
  }
  std::uint64_t number = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(number), "+m"(ring->next));
  sequence = number + 1;
  return thread.records + (number & thread.mask);
}

inline bool has_room() {
  wire::Ring* const ring = thread.ring;
  return ring == nullptr || ring->next - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) < thread.mask + 1 - wire::kSpareRecords;
}
// Waits until the thread's ring has room; a process waits for half a second in all, in case the reader is gone. For names of
// kernels: a program registers ten thousands of them while it is loaded, faster than anybody reads.
void wait_for_room();

inline void publish(wire::Record& record, std::uint64_t sequence) {
  __atomic_store_n(&record.sequence, sequence, __ATOMIC_RELEASE);
}

}  // namespace aaco::hooks
