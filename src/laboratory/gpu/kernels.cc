#include "laboratory/gpu/kernels.h"

#include "core/strings.h"

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

// The part of hipRTC that is used here; its published C interface.
struct Compiler {
  core::SharedLibrary library;
  int (*create)(Opaque*, const char*, const char*, int, const char**, const char**) = nullptr;
  int (*compile)(Opaque, int, const char**) = nullptr;
  int (*code_size)(Opaque, std::size_t*) = nullptr;
  int (*code)(Opaque, char*) = nullptr;
  int (*log_size)(Opaque, std::size_t*) = nullptr;
  int (*log)(Opaque, char*) = nullptr;
  int (*destroy)(Opaque*) = nullptr;
};

core::Result<Compiler> open_compiler(GpuRuntime runtime) {
  constexpr const char* kRemedy = "install hipRTC of ROCm (package hip-runtime-amd); own kernels need it";
  auto opened = open_vendor_library(runtime, {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so"});
  if (!opened) return core::fail(ErrorCode::unsupported, opened.error().message, kRemedy);
  Compiler compiler{.library = *opened};
  const auto load = [&](auto& function, const char* name) {
    function = compiler.library.function<std::remove_reference_t<decltype(function)>>(name);
    return function != nullptr;
  };
  if (!load(compiler.create, "hiprtcCreateProgram") || !load(compiler.compile, "hiprtcCompileProgram") ||
      !load(compiler.code_size, "hiprtcGetCodeSize") || !load(compiler.code, "hiprtcGetCode") ||
      !load(compiler.log_size, "hiprtcGetProgramLogSize") || !load(compiler.log, "hiprtcGetProgramLog") ||
      !load(compiler.destroy, "hiprtcDestroyProgram"))
    return core::fail(ErrorCode::unsupported, compiler.library.path() + " lacks functions of hipRTC", kRemedy);
  return compiler;
}

std::string first_error(const Compiler& compiler, Opaque program) {
  std::size_t size = 0;
  if (compiler.log_size(program, &size) != kSuccess || size == 0 || size > (1U << 24)) return "without a message";
  std::string text(size, '\0');
  if (compiler.log(program, text.data()) != kSuccess) return "without a message";
  for (const std::string_view line : core::split_lines(text))
    if (line.find("error") != std::string_view::npos) return std::string(core::trim(line));
  return "without an error in its log";
}

core::Result<std::string> compiled(const Compiler& compiler, const std::string& source) {
  Opaque program = nullptr;
  if (const int status = compiler.create(&program, source.c_str(), "aaco.hip", 0, nullptr, nullptr); status != kSuccess)
    return core::fail(ErrorCode::unsupported, "hipRTC creates no program: error " + std::to_string(status));
  std::string image, why;
  std::size_t size = 0;
  // Without a target it compiles for the current device.
  const char* options[] = {"-O3"};
  if (const int status = compiler.compile(program, 1, options); status != kSuccess)
    why = "hipRTC cannot compile a kernel (error " + std::to_string(status) + "): " + first_error(compiler, program);
  else if (compiler.code_size(program, &size) != kSuccess || size == 0 || size > (1U << 26))
    why = "hipRTC returned no code for a kernel";
  if (why.empty()) {
    image.resize(size);
    if (compiler.code(program, image.data()) != kSuccess) why = "hipRTC returned no code for a kernel";
  }
  (void)compiler.destroy(&program);
  if (!why.empty()) return core::fail(ErrorCode::unsupported, why);
  return image;
}

}  // namespace

core::Result<Kernel> make_kernel(Device& device, const KernelSource& source) {
  if (device.api().runtime == GpuRuntime::cuda) {
    AACO_ASSIGN(const std::string text, ptx_of(source));
    return device.load(text, "work");
  }
  AACO_ASSIGN(const std::string text, hip_source_of(source));
  AACO_ASSIGN(const Compiler compiler, open_compiler(device.api().runtime));
  AACO_ASSIGN(const std::string image, compiled(compiler, text));
  return device.load(image, "work");
}

}  // namespace aaco::laboratory::gpu
