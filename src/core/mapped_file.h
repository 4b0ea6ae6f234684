#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::core {

// A file's bytes as memory, read as they are touched: for files of which only small parts matter. The file must not become
// shorter while it is mapped.
class MappedFile {
 public:
  // Fails for what is no regular file. An empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  MappedFile() = default;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace aaco::core
