#include "core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/handles.h"

namespace aaco::core {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return fail_errno(errno, path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(errno, path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::invalid_input, path + " is not a regular file", "give the path of a file");
  MappedFile mapped;
  if (info.st_size == 0) return mapped;
  void* address = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return fail_errno(errno, path);
  mapped.address_ = address;
  mapped.size_ = static_cast<std::size_t>(info.st_size);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

}  // namespace aaco::core
