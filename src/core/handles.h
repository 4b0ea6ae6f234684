#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/result.h"

namespace aaco::core {

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// A shared library opened at run time; closed when the last copy goes.
class SharedLibrary {
 public:
  // Opens with RTLD_NOW | RTLD_LOCAL. The error carries the loader's own words.
  static Result<SharedLibrary> open(const std::string& path);

  // The symbol's address, or null.
  [[nodiscard]] void* symbol(const char* name) const;
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SharedLibrary(std::shared_ptr<void> handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}
  std::shared_ptr<void> handle_;
  std::string path_;
};

}  // namespace aaco::core
