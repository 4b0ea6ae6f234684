#include "agent/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::agent {
namespace {

constexpr std::int64_t kBlockBytes = 4096;  // what a small file takes on disk at least
constexpr std::int64_t kMaxSpoolFileBytes = 64 << 20;

std::int64_t on_disk(std::int64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

core::Result<core::FileDescriptor> lock_folder(const std::string& folder) {
  const std::string path = core::join_path(folder, "lock");
  core::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return core::fail_errno(errno, path, "choose another folder with --spool");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return core::fail(core::ErrorCode::conflict, "another agent uses " + folder,
                      "stop it, or choose another folder with --spool");
  return file;
}

}  // namespace

core::Result<std::unique_ptr<Spool>> Spool::open(SpoolOptions options) {
  if (options.limit_bytes < kBlockBytes)
    return core::fail(core::ErrorCode::invalid_argument, "the limit of the spool is below 4 KiB");
  if (!options.write)
    options.write = [](const std::string& path, std::string_view bytes) { return core::write_file_atomic(path, bytes); };
  AACO_TRY(core::make_directories(options.folder));
  AACO_ASSIGN(auto lock, lock_folder(options.folder));
  auto spool = std::unique_ptr<Spool>(new Spool(std::move(options), std::move(lock)));
  AACO_TRY(spool->find_files());
  return spool;
}

// "000000000012-40.rows": number and rows.
core::Status Spool::find_files() {
  AACO_ASSIGN(const auto names, core::list_directory(options_.folder));
  for (const std::string& name : names) {
    if (!name.ends_with(".rows")) continue;
    const auto dash = name.find('-');
    const auto number = core::parse_i64(name.substr(0, dash));
    const auto rows = dash == std::string::npos ? std::nullopt : core::parse_i64(name.substr(dash + 1, name.size() - dash - 6));
    const auto bytes = core::file_size(core::join_path(options_.folder, name));
    if (!number || !rows || !bytes) continue;
    entries_.push_back({*number, *rows, *bytes, {}});
    disk_bytes_ += on_disk(*bytes);
    next_number_ = std::max(next_number_, *number + 1);
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  keep_to_limits();
  return {};
}

std::string Spool::path_of(const Entry& entry) const {
  return core::join_path(options_.folder, fmt::format("{:012}-{}.rows", entry.number, entry.rows));
}

void Spool::drop(std::size_t index) {
  const Entry& entry = entries_[index];
  if (entry.text.empty()) {
    (void)core::remove_tree(path_of(entry));
    disk_bytes_ -= on_disk(entry.bytes);
  } else {
    memory_bytes_ -= entry.bytes;
  }
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Spool::keep_to_limits() {
  const auto drop_oldest = [&](bool in_memory) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.text.empty() != in_memory; });
    if (found == entries_.end()) return false;
    counts_.dropped_rows += found->rows;
    drop(static_cast<std::size_t>(found - entries_.begin()));
    return true;
  };
  while (disk_bytes_ > options_.limit_bytes && drop_oldest(false)) {
  }
  while (memory_bytes_ > kMaxMemoryBytes && drop_oldest(true)) {
  }
}

void Spool::add(std::string text, std::int64_t rows) {
  if (rows <= 0 || text.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<std::int64_t>(text.size());
  entries_.push_back({next_number_++, rows, bytes, std::move(text)});
  memory_bytes_ += bytes;
  // Those that the disk did not take earlier are tried again, oldest first.
  for (Entry& entry : entries_) {
    if (entry.text.empty()) continue;
    if (!options_.write(path_of(entry), entry.text)) break;
    entry.text = {};
    memory_bytes_ -= entry.bytes;
    disk_bytes_ += on_disk(entry.bytes);
  }
  keep_to_limits();
}

Spool::Batch Spool::oldest(std::int64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  Batch batch;
  for (std::size_t i = 0; i < entries_.size();) {
    const Entry& entry = entries_[i];
    if (batch.rows > 0 && static_cast<std::int64_t>(batch.text.size()) + entry.bytes > max_bytes) break;
    std::string text = entry.text;
    if (text.empty()) text = core::read_file(path_of(entry), kMaxSpoolFileBytes).value_or("");
    if (std::count(text.begin(), text.end(), '\n') != entry.rows || !text.ends_with('\n')) {
      counts_.damaged_rows += entry.rows;
      drop(i);
      continue;
    }
    batch.text += text;
    batch.rows += entry.rows;
    batch.numbers.push_back(entry.number);
    ++i;
  }
  return batch;
}

void Spool::remove(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  if (batch.numbers.empty()) return;
  const std::set<std::int64_t> numbers(batch.numbers.begin(), batch.numbers.end());
  for (std::size_t i = 0; i < entries_.size() && entries_[i].number <= *numbers.rbegin();)
    if (numbers.contains(entries_[i].number))
      drop(i);
    else
      ++i;
}

SpoolCounts Spool::counts() const {
  const std::lock_guard lock(mutex_);
  SpoolCounts counts = counts_;
  counts.waiting_bytes = disk_bytes_;
  counts.waiting_files = static_cast<std::int64_t>(entries_.size());
  for (const Entry& entry : entries_) {
    counts.waiting_rows += entry.rows;
    if (!entry.text.empty()) counts.rows_in_memory += entry.rows;
  }
  return counts;
}

}  // namespace aaco::agent
