#include "runner/ort/register_operators.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/strings.h"
#include "runner/ort/message.h"

namespace aaco::runner::ort {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

// y = Identity(x), one float32, of opset 13, as protobuf writes it (onnx.proto: ModelProto).
constexpr std::string_view kSmallest =
    "\x08\x08"                                                           // ir_version 8
    "\x3a\x37"                                                           // graph, 55 bytes
    "\x0a\x10\x0a\x01x\x12\x01y\x22\x08Identity"                         // node: input, output, op_type
    "\x12\x01g"                                                          // name
    "\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01"  // input: x, float32, [1]
    "\x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01"  // output: y, the same
    "\x42\x02\x10\x0d";                                                  // opset 13

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

// While it lives, standard error goes to a file in memory.
class Quiet {
 public:
  Quiet() : usual_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)), kept_(::memfd_create("aaco_ort_messages", MFD_CLOEXEC)) {
    flush();
    if (!usual_.valid() || !kept_.valid() || ::dup2(kept_.get(), STDERR_FILENO) < 0) usual_ = {};
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() {
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

 private:
  core::FileDescriptor usual_, kept_;
};

// What fails here fails again for the user's model, and is said then.
void open_smallest(const Api& api) {
  OrtSessionOptions* made = nullptr;
  const bool created = api.check(api.call->CreateSessionOptions(&made), "session options").has_value();
  const auto options = api.own(made, api.call->ReleaseSessionOptions);
  if (!created || !api.check(api.call->SetIntraOpNumThreads(made, 1), "threads")) return;
  OrtSession* session = nullptr;
  (void)api.check(
      api.call->CreateSessionFromArray(api.environment.get(), kSmallest.data(), kSmallest.size(), options.get(), &session),
      "a model of one node");
  (void)api.own(session, api.call->ReleaseSession);
}

}  // namespace

void register_operators(const Api& api) {
  if (!has_operators_apart()) return;
  const Quiet quiet;
  open_smallest(api);
}

}  // namespace aaco::runner::ort
