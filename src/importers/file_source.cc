#include "importers/file_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/handles.h"

namespace aaco::importers {
namespace {

class FileSource final : public trace::ByteSource {
 public:
  FileSource(core::FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  core::Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      const ssize_t count = ::read(file_.get(), into.data(), into.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return core::fail_errno(errno, path_);
    }
  }
  [[nodiscard]] const std::string& name() const override { return path_; }
  [[nodiscard]] std::string path() const override { return path_; }

 private:
  core::FileDescriptor file_;
  std::string path_;
};

}  // namespace

core::Result<std::unique_ptr<trace::ByteSource>> open_file_source(const std::string& path) {
  core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  return std::make_unique<FileSource>(std::move(file), path);
}

}  // namespace aaco::importers
