#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::tracelake::archive {

// A compressed file that is being written beside its place, and appears there when finish() succeeds.
class ZstdFileWriter {
 public:
  static core::Result<ZstdFileWriter> create(const std::string& path);
  ZstdFileWriter(ZstdFileWriter&&) noexcept;
  ZstdFileWriter& operator=(ZstdFileWriter&&) noexcept;
  ~ZstdFileWriter();  // an unfinished file is removed

  core::Status write(std::string_view bytes);
  core::Status finish();

 private:
  struct Impl;
  explicit ZstdFileWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads a compressed file in bounded memory.
class ZstdFileReader {
 public:
  static core::Result<ZstdFileReader> open(const std::string& path);
  ZstdFileReader(ZstdFileReader&&) noexcept;
  ZstdFileReader& operator=(ZstdFileReader&&) noexcept;
  ~ZstdFileReader();

  // Fills up to into.size() bytes; 0 at the end. A file that stops inside a frame is an error.
  core::Result<std::size_t> read(std::span<char> into);

 private:
  struct Impl;
  explicit ZstdFileReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::tracelake::archive
