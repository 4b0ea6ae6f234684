#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/handles.h"
#include "core/result.h"

namespace aaco::workflows {

// Records of a fixed size that are looked up by key, in bounded memory: the newest run of them stays in memory, full runs lie
// sorted in a file without a name, of which single pages are read. Quick where keys rise about as they are added (correlation
// ids do): few runs overlap then, and neighbours lie on one page. Call order: add() all, then seal(), then visit().
// Record has `key()`, whose type is ordered and cheap to copy.
template <class Record>
class SortedRecords {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  using Key = decltype(std::declval<const Record&>().key());
  static constexpr std::size_t kPageRecords = 512;

  // `folder` holds the file while it is open. `run_records`: how many stay in memory.
  explicit SortedRecords(std::string folder, std::size_t run_records = (std::size_t{24} << 20) / sizeof(Record))
      : folder_(std::move(folder)), run_records_(std::max(run_records, kPageRecords)) {}

  core::Status add(const Record& record) {
    newest_.push_back(record);
    return newest_.size() < run_records_ ? core::Status() : write_run();
  }
  void seal() { sort_newest(); }

  // Calls visit(record) for those with this key in the order in which they were added, until it answers false.
  template <class Visit>
  core::Status visit(Key key, const Visit& visit) const {
    for (const Run& run : runs_) {
      if (key < run.page_keys.front() || run.last_key < key) continue;
      AACO_ASSIGN(const bool go_on, visit_run(run, key, visit));
      if (!go_on) return {};
    }
    bool ended = false;
    visit_sorted(std::span<const Record>(newest_), key, visit, ended);
    return {};
  }
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    std::int64_t offset = 0;  // in the file, bytes
    std::size_t records = 0;
    std::vector<Key> page_keys;  // first key of each page
    Key last_key{};
  };
  struct CachedPage {
    std::int64_t offset = -1;
    std::vector<Record> records;
  };
  static constexpr std::size_t kCachedPages = 256;

  void sort_newest() {
    std::stable_sort(newest_.begin(), newest_.end(), [](const Record& a, const Record& b) { return a.key() < b.key(); });
  }

  core::Status open_file() {
    AACO_TRY(core::make_directories(folder_));
    const std::string path = core::join_path(folder_, "records." + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    file_ = core::FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_.valid()) return core::fail_errno(errno, path);
    ::unlink(path.c_str());
    return {};
  }

  core::Status write_run() {
    if (!file_.valid()) AACO_TRY(open_file());
    sort_newest();
    Run run{end_, newest_.size(), {}, newest_.back().key()};
    for (std::size_t at = 0; at < newest_.size(); at += kPageRecords) run.page_keys.push_back(newest_[at].key());
    const char* bytes = reinterpret_cast<const char*>(newest_.data());
    const std::size_t size = newest_.size() * sizeof(Record);
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = ::pwrite(file_.get(), bytes + done, size - done, end_ + static_cast<std::int64_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return core::fail_errno(errno, "writing launches to " + folder_, "free some disk space");
      done += static_cast<std::size_t>(count);
    }
    end_ += static_cast<std::int64_t>(size);
    runs_.push_back(std::move(run));
    newest_.clear();
    return {};
  }

  core::Result<std::span<const Record>> page(const Run& run, std::size_t index) const {
    const std::size_t first = index * kPageRecords;
    const std::size_t count = std::min(kPageRecords, run.records - first);
    const std::int64_t offset = run.offset + static_cast<std::int64_t>(first * sizeof(Record));
    if (cache_.empty()) cache_.resize(kCachedPages);
    CachedPage& cached = cache_[static_cast<std::size_t>(offset) / (kPageRecords * sizeof(Record)) % kCachedPages];
    if (cached.offset != offset) {
      cached.offset = -1;
      cached.records.resize(count);
      char* bytes = reinterpret_cast<char*>(cached.records.data());
      for (std::size_t done = 0; done < count * sizeof(Record);) {
        const ssize_t got =
            ::pread(file_.get(), bytes + done, count * sizeof(Record) - done, offset + static_cast<std::int64_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return core::fail_errno(got < 0 ? errno : EIO, "reading launches from " + folder_);
        done += static_cast<std::size_t>(got);
      }
      cached.offset = offset;
    }
    return std::span<const Record>(cached.records);
  }

  // True where the key may go on behind these records.
  template <class Visit>
  static bool visit_sorted(std::span<const Record> records, Key key, const Visit& visit, bool& ended) {
    auto place = std::lower_bound(records.begin(), records.end(), key,
                                  [](const Record& record, const Key& k) { return record.key() < k; });
    for (; place != records.end(); ++place) {
      if (key < place->key()) return false;
      if (!visit(*place)) {
        ended = true;
        return false;
      }
    }
    return true;
  }

  // False where `visit` has ended it.
  template <class Visit>
  core::Result<bool> visit_run(const Run& run, Key key, const Visit& visit) const {
    auto place = std::lower_bound(run.page_keys.begin(), run.page_keys.end(), key);
    if (place != run.page_keys.begin()) --place;  // the one before may end with the key
    for (; place != run.page_keys.end() && !(key < *place); ++place) {
      AACO_ASSIGN(const auto records, page(run, static_cast<std::size_t>(place - run.page_keys.begin())));
      bool ended = false;
      if (!visit_sorted(records, key, visit, ended)) return !ended;
    }
    return true;
  }

  std::string folder_;
  std::size_t run_records_;
  std::vector<Record> newest_;
  std::vector<Run> runs_;
  core::FileDescriptor file_;
  std::int64_t end_ = 0;
  mutable std::vector<CachedPage> cache_;  // by place in the file
};

}  // namespace aaco::workflows
