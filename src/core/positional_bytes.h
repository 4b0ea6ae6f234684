#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::core {

// Bytes that copies share; the memory is aligned for any number.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<const std::byte[]> data, std::size_t size) : data_(std::move(data)), size_(size) {}  // NOLINT
  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }
  [[nodiscard]] std::shared_ptr<const void> owner() const { return data_; }

 private:
  std::shared_ptr<const std::byte[]> data_;  // NOLINT
  std::size_t size_ = 0;
};

// A file, or bytes in memory, of which parts are read when they are needed. A file stays the one that was opened, also where its
// name is given to another meanwhile.
class PositionalBytes {
 public:
  // Fails for what is no regular file.
  static Result<PositionalBytes> open(const std::string& path);
  // `name` stands in messages.
  static PositionalBytes of(std::string bytes, std::string name);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // invalid_input where the bytes end earlier (a file that became shorter). Thread-safe.
  [[nodiscard]] Result<SharedBytes> read(std::uint64_t offset, std::size_t length) const;

 private:
  FileDescriptor file_;
  std::string bytes_, name_;
  std::uint64_t size_ = 0;
};

}  // namespace aaco::core
