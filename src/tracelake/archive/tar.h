#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

// The POSIX ustar format (IEEE Std 1003.1, pax, "ustar Interchange Format"), as much of it as a packed session needs: plain files
// with relative names. Sizes above 8 GiB are written in base 256, as GNU tar does.
namespace aaco::tracelake::archive {

inline constexpr std::size_t kTarBlock = 512;

// Fills up to the span's size; 0 at the end.
using ReadBytes = std::function<core::Result<std::size_t>(std::span<char>)>;
using WriteBytes = std::function<core::Status(std::string_view)>;

// Refuses what could leave the folder it is unpacked into: absolute names, "..", empty and hidden parts, control characters.
core::Status check_member_name(std::string_view name);

class TarWriter {
 public:
  explicit TarWriter(WriteBytes write) : write_(std::move(write)) {}
  // Announces a file; exactly `size` bytes must follow by add(). `time` in seconds since 1970.
  core::Status begin(std::string_view name, std::int64_t size, std::int64_t time);
  core::Status add(std::string_view bytes);
  core::Status end_file();
  core::Status finish();

 private:
  WriteBytes write_;
  std::int64_t left_ = 0;
  std::int64_t padding_ = 0;
};

struct TarMember {
  std::string name;
  std::int64_t size = 0;
};

// Reads a hostile archive: damaged headers, links, devices and unsafe names are errors. Folders are passed over.
class TarReader {
 public:
  explicit TarReader(ReadBytes read) : read_(std::move(read)) {}
  // The next file (what is left of the one before is skipped), or empty at the end mark, behind which the stream is read to its
  // end too: that is where a compressed one is checked. An archive that stops before is an error.
  core::Result<std::optional<TarMember>> next();
  // Bytes of the present file; 0 at its end.
  core::Result<std::size_t> read(std::span<char> into);

 private:
  core::Status read_block(std::span<char> block);
  core::Status skip_rest();
  core::Status expect_end();
  ReadBytes read_;
  std::int64_t left_ = 0;
  std::int64_t padding_ = 0;
};

}  // namespace aaco::tracelake::archive
