#include "runner/ort/quiet_load.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>

#include "core/strings.h"
#include "runner/ort/message.h"

namespace aaco::runner::ort {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

void flush() {
  std::cerr.flush();
  std::fflush(stderr);
}

bool has_operators_apart() {
  void* library = ::dlopen("libonnx.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

std::string all_of(int file) {
  std::string text;
  std::array<char, kPiece> piece;
  ssize_t count = 0;
  while ((count = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(text.size()))) > 0)
    text.append(piece.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

QuietLoad::QuietLoad() {
  if (!has_operators_apart()) return;
  usual_ = core::FileDescriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  kept_ = core::FileDescriptor(::memfd_create("aaco_ort_messages", MFD_CLOEXEC));
  flush();
  if (!usual_.valid() || !kept_.valid() || ::dup2(kept_.get(), STDERR_FILENO) < 0) usual_ = {};
}

QuietLoad::~QuietLoad() {
  if (!usual_.valid()) return;
  flush();
  ::dup2(usual_.get(), STDERR_FILENO);
  bool was_noise = false;
  const std::string text = all_of(kept_.get());
  for (const std::string_view line : core::split_lines(text)) {
    const bool noise = is_schema_noise(line) || (was_noise && line.empty());  // each has an empty line behind it
    if (!noise) std::cerr << line << '\n';
    was_noise = noise;
  }
}

}  // namespace aaco::runner::ort
