#pragma once

#include <cstddef>
#include <cstdint>

// What the preloaded library and the reader share: files in one folder, mapped by both. Neither waits for the other, and either
// may be killed at any time. Plain data without pointers; both sides are of one build and of x86-64.
namespace aaco::hooks::wire {

inline constexpr std::uint32_t kMagic = 0x4b4f4841;  // "AHOK"
inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kMinRecords = 1024, kMaxRecords = 65536;  // of a ring, powers of two
// Records of a ring that only signal handlers use: one that interrupts the writing of the last free record finds room.
inline constexpr std::uint32_t kSpareRecords = 16;
inline constexpr std::size_t kMaxProcesses = 4096;  // of one recording

inline constexpr const char* kControlFile = "control";
inline constexpr const char* kRingSuffix = ".ring";
inline constexpr const char* kFolderVariable = "AACO_HOOKS";  // environment: the folder

enum class Kind : std::uint8_t { call, text, alias };

// One cache line. `sequence` is the record's number in its ring, from 1, and is written last: a record without its number is not
// finished. A call: words are start, end, stream, bytes, aux. A text (the name of a kernel): up to 40 characters of it, from
// `result` on; `device` is 1 in its last record. An alias: `subject` is another handle of the kernel whose handle is words[0].
struct Record {
  std::uint64_t sequence;
  std::int32_t result;
  std::uint16_t function;  // index in functions.inc
  std::uint8_t device;
  std::uint8_t kind;
  std::uint64_t subject;  // kernel, event, graph or pointer that the call is about
  std::uint64_t words[5];
};
static_assert(sizeof(Record) == 64);
enum Word : std::uint8_t { start, end, stream, bytes, aux };

// The head of a ring: what the writer changes, and on a line of its own what the reader changes.
struct Ring {
  std::uint32_t magic;  // written last: a ring without it is not ready
  std::uint32_t records;
  std::int32_t process_id;
  std::int32_t thread_id;
  char reserved[48];
  std::uint64_t next;   // records reserved
  std::uint64_t lost;   // calls that found no room
  std::uint32_t ended;  // the thread is over
  char reserved2[44];
  std::uint64_t tail;  // records read
};
static_assert(sizeof(Ring) <= kHeaderBytes);

// One for a recording, made by the reader.
struct Control {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t enabled;   // bit of each Group that is recorded; 0: calls pass unrecorded
  std::uint32_t uses_tsc;  // times are of the time-stamp counter, otherwise of CLOCK_MONOTONIC in ns
  std::uint32_t records;   // of each ring
  char reserved[44];
  std::uint64_t lost;     // calls of threads that have no ring: no memory, no descriptor, or at the thread's end
  std::uint64_t missing;  // calls of functions that no loaded library has
  std::uint32_t rings_refused;
  std::uint32_t namespaces;  // opened by dlmopen: no preloaded library is in them
  std::uint32_t processes;   // that ever loaded the library; those beyond kMaxProcesses are only counted
  std::uint32_t deep_bound;  // libraries opened with RTLD_DEEPBIND: they find their own runtime first
  char reserved2[32];
  std::int32_t process_ids[kMaxProcesses];  // 0: not there yet
};

}  // namespace aaco::hooks::wire
