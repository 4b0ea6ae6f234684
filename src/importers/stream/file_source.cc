#include "importers/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/handles.h"
#include "formats/compression.h"
#include "importers/stream/expanding_source.h"
#include "importers/stream/read_ahead.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kMagicBytes = 4;

class FileSource final : public trace::ByteSource {
 public:
  FileSource(core::FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  core::Result<std::size_t> read(std::span<char> into) override {
    if (taken_ < peeked_.size()) {
      const std::size_t count = peeked_.copy(into.data(), into.size(), taken_);
      taken_ += count;
      return count;
    }
    return read_file(into);
  }
  // The first bytes, which read() will deliver again: works on pipes too.
  core::Result<std::string_view> peek(std::size_t bytes) {
    peeked_.resize(bytes);
    std::size_t size = 0;
    while (size < bytes) {
      AACO_ASSIGN(const std::size_t count, read_file({peeked_.data() + size, bytes - size}));
      if (count == 0) break;
      size += count;
    }
    peeked_.resize(size);
    return std::string_view(peeked_);
  }
  [[nodiscard]] const std::string& name() const override { return path_; }
  [[nodiscard]] std::string path() const override { return path_; }

 private:
  core::Result<std::size_t> read_file(std::span<char> into) {
    for (;;) {
      const ssize_t count = ::read(file_.get(), into.data(), into.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return core::fail_errno(errno, path_);
    }
  }

  core::FileDescriptor file_;
  std::string path_;
  std::string peeked_;
  std::size_t taken_ = 0;
};

core::Result<std::unique_ptr<trace::ByteSource>> open_decoded(const std::string& path, const ExpansionLimits& limits,
                                                              bool read_ahead) {
  core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  struct stat status = {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode))
    return core::fail(core::ErrorCode::invalid_argument, path + " is a folder; a file is expected");
  auto plain = std::make_unique<FileSource>(std::move(file), path);
  AACO_ASSIGN(const std::string_view magic, plain->peek(kMagicBytes));
  const auto kind = formats::detect_compression(magic);
  if (kind == formats::Compression::none) return plain;
  auto expanding = make_expanding_source(std::move(plain), kind, limits);
  if (!read_ahead) return expanding;
  return make_read_ahead(std::move(expanding));
}

}  // namespace

core::Result<std::unique_ptr<trace::ByteSource>> open_file_source(const std::string& path, const ExpansionLimits& limits) {
  return open_decoded(path, limits, true);
}

core::Result<std::string> read_head(const std::string& path, std::size_t bytes) {
  AACO_ASSIGN(const auto source, open_decoded(path, {}, false));
  std::string head(bytes, '\0');
  std::size_t size = 0;
  while (size < bytes) {
    AACO_ASSIGN(const std::size_t count, source->read({head.data() + size, bytes - size}));
    if (count == 0) break;
    size += count;
  }
  head.resize(size);
  return head;
}

}  // namespace aaco::importers
