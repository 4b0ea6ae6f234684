#include "tracelake/archive/zstd_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <vector>

#include "core/files.h"
#include "core/handles.h"
#include "core/special_file.h"

namespace aaco::tracelake::archive {
namespace {

using core::ErrorCode;

// Most of a bundle is compressed already; a low level suits the rest.
constexpr int kLevel = 3;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct ZstdFileWriter::Impl {
  std::string path;
  std::string temporary;  // empty once it has its final name
  core::FileDescriptor file;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context{ZSTD_createCCtx()};
  std::vector<char> out = std::vector<char>(ZSTD_CStreamOutSize());

  ~Impl() {
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }
  core::Status compress(std::string_view bytes, ZSTD_EndDirective mode) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context.get(), &output, &input, mode);
      if (ZSTD_isError(left) != 0) return core::fail(ErrorCode::io, path + ": compressing failed: " + ZSTD_getErrorName(left));
      AACO_TRY(core::write_all(file.get(), {out.data(), output.pos}, path));
      if (mode == ZSTD_e_end ? left == 0 : input.pos == input.size) return {};
    }
  }
};

ZstdFileWriter::ZstdFileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZstdFileWriter::ZstdFileWriter(ZstdFileWriter&&) noexcept = default;
ZstdFileWriter& ZstdFileWriter::operator=(ZstdFileWriter&&) noexcept = default;
ZstdFileWriter::~ZstdFileWriter() = default;

core::Result<ZstdFileWriter> ZstdFileWriter::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  if (core::is_written_in_place(path)) {
    impl->file = core::FileDescriptor(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!impl->file.valid()) return core::fail_errno(errno, path);
  } else {
    std::string temporary = path + ".XXXXXX";
    impl->file = core::FileDescriptor(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!impl->file.valid()) return core::fail_errno(errno, path);
    impl->temporary = std::move(temporary);
  }
  ZSTD_CCtx_setParameter(impl->context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(impl->context.get(), ZSTD_c_checksumFlag, 1);
  return ZstdFileWriter(std::move(impl));
}

core::Status ZstdFileWriter::write(std::string_view bytes) {
  return bytes.empty() ? core::Status() : impl_->compress(bytes, ZSTD_e_continue);
}

core::Status ZstdFileWriter::finish() {
  AACO_TRY(impl_->compress({}, ZSTD_e_end));
  if (impl_->temporary.empty()) return {};
  ::fchmod(impl_->file.get(), 0600);  // what is packed was its owner's alone
  if (::fsync(impl_->file.get()) != 0) return core::fail_errno(errno, impl_->path);
  if (::rename(impl_->temporary.c_str(), impl_->path.c_str()) != 0) return core::fail_errno(errno, impl_->path);
  impl_->temporary.clear();
  return {};
}

struct ZstdFileReader::Impl {
  std::string path;
  core::FileDescriptor file;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context{ZSTD_createDCtx()};
  std::vector<char> in = std::vector<char>(ZSTD_DStreamInSize());
  ZSTD_inBuffer input{in.data(), 0, 0};
  bool frame_complete = true;

  core::Result<bool> refill() {
    for (;;) {
      const ssize_t count = ::read(file.get(), in.data(), in.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return core::fail_errno(errno, path);
      input = {in.data(), static_cast<std::size_t>(count), 0};
      return count > 0;
    }
  }
};

ZstdFileReader::ZstdFileReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZstdFileReader::ZstdFileReader(ZstdFileReader&&) noexcept = default;
ZstdFileReader& ZstdFileReader::operator=(ZstdFileReader&&) noexcept = default;
ZstdFileReader::~ZstdFileReader() = default;

core::Result<ZstdFileReader> ZstdFileReader::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->file = core::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!impl->file.valid()) return core::fail_errno(errno, path);
  return ZstdFileReader(std::move(impl));
}

core::Result<std::size_t> ZstdFileReader::read(std::span<char> into) {
  ZSTD_outBuffer output{into.data(), into.size(), 0};
  while (output.size > 0) {
    const std::size_t before = impl_->input.pos;
    const std::size_t left = ZSTD_decompressStream(impl_->context.get(), &output, &impl_->input);
    if (ZSTD_isError(left) != 0)
      return core::fail(ErrorCode::invalid_input,
                        impl_->path + " is not a packed session or is damaged: " + ZSTD_getErrorName(left),
                        "download or pack it again");
    if (impl_->input.pos != before || output.pos > 0) impl_->frame_complete = left == 0;
    if (output.pos > 0) break;
    if (impl_->input.pos < impl_->input.size) continue;
    AACO_ASSIGN(const bool more, impl_->refill());
    if (!more && !impl_->frame_complete)
      return core::fail(ErrorCode::invalid_input, impl_->path + " is truncated: it ends inside a compressed frame",
                        "download or pack it again");
    if (!more) break;
  }
  return output.pos;
}

}  // namespace aaco::tracelake::archive
