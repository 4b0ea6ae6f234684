#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::agent {

struct SpoolOptions {
  std::string folder;
  std::int64_t limit_bytes = std::int64_t{256} << 20;
  std::function<core::Status(const std::string& path, std::string_view bytes)> write;  // tests fill the disk; empty: real files
};
struct SpoolCounts {
  std::int64_t waiting_rows = 0, waiting_bytes = 0, waiting_files = 0;
  std::int64_t rows_in_memory = 0;  // of those that wait, not on disk: writing failed
  std::int64_t dropped_rows = 0;    // oldest ones, for the limit
  std::int64_t damaged_rows = 0;    // of files that a crash cut short, or that somebody changed
};

// Rows that wait for the collector: one file for each add(), in a folder of bounded size. When it is full the oldest files
// are dropped and counted. Where the disk takes no file, rows wait in memory, up to kMaxMemoryBytes. Files of an earlier process
// are found again. Safe from two threads.
class Spool {
 public:
  static constexpr std::int64_t kMaxMemoryBytes = 2 << 20;

  // Fails with conflict where another process uses the folder, with io where it cannot be made.
  static core::Result<std::unique_ptr<Spool>> open(SpoolOptions options);

  // `text` has `rows` lines. Never fails: what cannot be kept is counted.
  void add(std::string text, std::int64_t rows);

  struct Batch {
    std::string text;
    std::int64_t rows = 0;
    std::vector<std::int64_t> numbers;
  };
  // The oldest rows, up to about `max_bytes`; empty where none wait. They stay until remove().
  Batch oldest(std::int64_t max_bytes);
  void remove(const Batch& batch);
  [[nodiscard]] SpoolCounts counts() const;

 private:
  struct Entry {
    std::int64_t number = 0, rows = 0, bytes = 0;
    std::string text;  // only where it is not on disk
  };
  Spool(SpoolOptions options, core::FileDescriptor lock) : options_(std::move(options)), lock_(std::move(lock)) {}
  core::Status find_files();
  void keep_to_limits();
  void drop(std::size_t index);
  [[nodiscard]] std::string path_of(const Entry& entry) const;

  SpoolOptions options_;
  core::FileDescriptor lock_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // oldest first
  std::int64_t next_number_ = 1, disk_bytes_ = 0, memory_bytes_ = 0;
  SpoolCounts counts_;
};

}  // namespace aaco::agent
