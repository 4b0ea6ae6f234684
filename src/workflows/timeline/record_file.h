#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
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

// Records of a fixed size that are read once, in the order in which they were added, in bounded memory: full batches of them are
// in a file without a name. Call order: add() all, then visit().
template <class Record>
class RecordFile {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  static constexpr std::size_t kBatch = 4096;

  // `folder` holds the file while it is open.
  explicit RecordFile(std::string folder) : folder_(std::move(folder)) {}

  core::Status add(const Record& record) {
    newest_.push_back(record);
    return newest_.size() < kBatch ? core::Status() : write_batch();
  }

  template <class Visit>
  core::Status visit(const Visit& visit) const {
    std::vector<Record> batch(batches_ > 0 ? kBatch : 0);
    for (std::size_t i = 0; i < batches_; ++i) {
      AACO_TRY(transfer(::pread, batch.data(), i, "reading"));
      for (const Record& record : batch) visit(record);
    }
    for (const Record& record : newest_) visit(record);
    return {};
  }
  [[nodiscard]] std::size_t batches() const { return batches_; }  // in the file

 private:
  static constexpr std::size_t kBatchBytes = kBatch * sizeof(Record);

  core::Status open_file() {
    AACO_TRY(core::make_directories(folder_));
    const std::string path = core::join_path(folder_, "batches." + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    file_ = core::FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_.valid()) return core::fail_errno(errno, path);
    ::unlink(path.c_str());
    return {};
  }

  core::Status write_batch() {
    if (!file_.valid()) AACO_TRY(open_file());
    AACO_TRY(transfer(::pwrite, newest_.data(), batches_, "writing"));
    ++batches_;
    newest_.clear();
    return {};
  }

  // Moves one batch between memory and the file by pread() or pwrite().
  template <class Call, class Pointer>
  core::Status transfer(Call call, Pointer* records, std::size_t batch, const char* what) const {
    using Byte = std::conditional_t<std::is_const_v<Pointer>, const char, char>;
    Byte* bytes = reinterpret_cast<Byte*>(records);
    const auto offset = static_cast<off_t>(batch * kBatchBytes);
    for (std::size_t done = 0; done < kBatchBytes;) {
      const ssize_t count = call(file_.get(), bytes + done, kBatchBytes - done, offset + static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0)
        return core::fail_errno(count < 0 ? errno : EIO, std::string(what) + " the timeline's levels in " + folder_,
                                "free some disk space");
      done += static_cast<std::size_t>(count);
    }
    return {};
  }

  std::string folder_;
  std::vector<Record> newest_;
  std::size_t batches_ = 0;
  core::FileDescriptor file_;
};

}  // namespace aaco::workflows
