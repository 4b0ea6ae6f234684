#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::workflows {

// By the server's policy.
struct UploadLimits {
  bool allowed = false;  // it has import jobs
  std::int64_t max_bytes = 0;
  std::size_t max_files = 0;
};

// A file that a client is sending. Without finish() it is removed again. One thread at a time.
class Upload {
 public:
  Upload(std::string folder, std::string name, std::int64_t max_bytes, core::FileDescriptor file)
      : folder_(std::move(folder)), name_(std::move(name)), max_bytes_(max_bytes), file_(std::move(file)) {}
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  ~Upload();

  // Fails with exhausted beyond the limit.
  core::Status write(std::string_view bytes);
  core::Status finish();
  [[nodiscard]] std::string id() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::string folder_, name_;
  std::int64_t max_bytes_;
  core::FileDescriptor file_;
  std::int64_t bytes_ = 0;
  bool finished_ = false;
};

// The files that clients sent for `import` jobs, each in a folder of its own: FOLDER/ID/NAME. One is removed when its job is
// done, or a day after it arrived.
class Uploads {
 public:
  explicit Uploads(std::string folder) : folder_(std::move(folder)) {}
  // Characters of `name` that are not letters, digits or ._:@+,=- become '_'. Fails with permission where uploads are not
  // allowed, with invalid_argument for an empty name and with exhausted where max_files are stored.
  [[nodiscard]] core::Result<std::unique_ptr<Upload>> begin(std::string_view name, const UploadLimits& limits) const;
  // The file of an upload that is complete; not_found otherwise.
  [[nodiscard]] core::Result<std::string> find(std::string_view id) const;
  // Removes the uploads among a job's words.
  void forget(const std::vector<std::string>& words) const;

 private:
  void forget_old() const;
  std::string folder_;
};

// Below the folder of the jobs.
Uploads uploads_of(const std::string& sessions);

}  // namespace aaco::workflows
