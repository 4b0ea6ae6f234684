#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::graph::onnx {

// A file written from its start to its end.
class OutputFile {
 public:
  static core::Result<OutputFile> create(const std::string& path);
  core::Status append(std::span<const std::byte> bytes);
  core::Status append(std::string_view bytes) { return append(std::as_bytes(std::span(bytes.data(), bytes.size()))); }
  // Zeros up to the next multiple of `alignment`.
  core::Status align(std::int64_t alignment);
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  OutputFile(core::FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  core::FileDescriptor file_;
  std::string path_;
  std::int64_t size_ = 0;
};

}  // namespace aaco::graph::onnx
