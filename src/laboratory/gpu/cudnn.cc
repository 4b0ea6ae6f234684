#include <fmt/format.h>

#include <array>
#include <map>

#include "laboratory/gpu/convolutions.h"

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr const char* kCudnnRemedy = "install cuDNN 8 or 9 (libcudnn), or name its folder in LD_LIBRARY_PATH";
constexpr int kNchw = 0, kCrossCorrelation = 1, kFloat = 0;
constexpr int kDefaultMath = 0, kTensorMath = 1, kPlainMath = 3;
constexpr int kCandidates = 8;  // algorithms that the library is asked for, the fastest first

// cudnnConvolutionFwdAlgoPerf_t
struct CudnnCandidate {
  int algorithm = 0, status = 0;
  float milliseconds = 0;
  std::size_t workspace = 0;
  int determinism = 0, math = 0;
  std::array<int, 3> reserved{};
};

struct CudnnApi {
  core::SharedLibrary library;
  int (*create)(Opaque*) = nullptr;
  int (*destroy)(Opaque) = nullptr;
  int (*set_stream)(Opaque, Opaque) = nullptr;
  int (*tensor_create)(Opaque*) = nullptr;
  int (*tensor_destroy)(Opaque) = nullptr;
  int (*tensor_set)(Opaque, int, int, int, int, int, int) = nullptr;
  int (*filter_create)(Opaque*) = nullptr;
  int (*filter_destroy)(Opaque) = nullptr;
  int (*filter_set)(Opaque, int, int, int, int, int, int) = nullptr;
  int (*convolution_create)(Opaque*) = nullptr;
  int (*convolution_destroy)(Opaque) = nullptr;
  int (*convolution_set)(Opaque, int, int, int, int, int, int, int, int) = nullptr;
  int (*set_groups)(Opaque, int) = nullptr;
  int (*set_math)(Opaque, int) = nullptr;
  int (*candidates)(Opaque, Opaque, Opaque, Opaque, Opaque, int, int*, CudnnCandidate*) = nullptr;
  int (*workspace_size)(Opaque, Opaque, Opaque, Opaque, Opaque, int, std::size_t*) = nullptr;
  int (*forward)(Opaque, const void*, Opaque, DevicePointer, Opaque, DevicePointer, Opaque, int, DevicePointer, std::size_t,
                 const void*, Opaque, DevicePointer) = nullptr;

  std::string load() {
    std::string missing;
    const auto one = [&](auto& function, const char* name) {
      function = library.function<std::remove_reference_t<decltype(function)>>(name);
      if (function == nullptr && missing.empty()) missing = name;
    };
    one(create, "cudnnCreate");
    one(destroy, "cudnnDestroy");
    one(set_stream, "cudnnSetStream");
    one(tensor_create, "cudnnCreateTensorDescriptor");
    one(tensor_destroy, "cudnnDestroyTensorDescriptor");
    one(tensor_set, "cudnnSetTensor4dDescriptor");
    one(filter_create, "cudnnCreateFilterDescriptor");
    one(filter_destroy, "cudnnDestroyFilterDescriptor");
    one(filter_set, "cudnnSetFilter4dDescriptor");
    one(convolution_create, "cudnnCreateConvolutionDescriptor");
    one(convolution_destroy, "cudnnDestroyConvolutionDescriptor");
    one(convolution_set, "cudnnSetConvolution2dDescriptor");
    one(set_groups, "cudnnSetConvolutionGroupCount");
    one(set_math, "cudnnSetConvolutionMathType");
    one(candidates, "cudnnGetConvolutionForwardAlgorithm_v7");
    one(workspace_size, "cudnnGetConvolutionForwardWorkspaceSize");
    one(forward, "cudnnConvolutionForward");
    return missing;
  }
};

struct CudnnType {
  int type = 0, math = 0;
};
std::optional<CudnnType> cudnn_type(const std::string& dtype) {
  // float32 as it says: TF32 is a type of its own here.
  static const std::map<std::string, CudnnType> kTypes{
      {"float32", {0, kPlainMath}}, {"tf32", {0, kDefaultMath}}, {"float16", {2, kTensorMath}}, {"bfloat16", {9, kTensorMath}}};
  const auto found = kTypes.find(dtype);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

struct CudnnPrepared {
  Object x, w, out, convolution;
  int algorithm = 0;
  std::size_t workspace_bytes = 0;
  Memory workspace;
};

class Cudnn final : public Convolutions, public std::enable_shared_from_this<Cudnn> {
 public:
  Cudnn(Device& device, CudnnApi api) : device_(device), api_(std::move(api)) {}

  core::Status start() {
    AACO_ASSIGN(handle_, own(api_.create, api_.destroy));
    return check(api_.set_stream(handle_.get(), device_.stream()), "setting the stream");
  }
  [[nodiscard]] std::string name() const override { return "cuDNN"; }

  core::Result<std::function<core::Status()>> make(const ConvolutionForm& form, DevicePointer x, DevicePointer w,
                                                   DevicePointer out) override {
    const auto number = cudnn_type(form.dtype);
    if (!number) return core::fail(ErrorCode::unsupported, "no convolution of " + form.dtype + " by cuDNN");
    auto ready = std::make_shared<CudnnPrepared>();
    AACO_TRY(describe(form, *number, *ready));
    AACO_TRY(choose(*ready));
    const auto self = shared_from_this();
    return [self, ready, x, w, out] {
      constexpr float kOne = 1, kZero = 0;
      return self->check(
          self->api_.forward(self->handle_.get(), &kOne, ready->x.get(), x, ready->w.get(), w, ready->convolution.get(),
                             ready->algorithm, ready->workspace.get(), ready->workspace_bytes, &kZero, ready->out.get(), out),
          "the convolution");
    };
  }

 private:
  core::Status check(int status, std::string_view what) {
    if (status == 0) return {};
    return core::fail(ErrorCode::unsupported, fmt::format("cuDNN: {} failed with status {}", what, status),
                      handle_.get() == nullptr ? "check that its version fits the driver's" : "");
  }
  core::Result<Object> own(int (*create)(Opaque*), int (*destroy)(Opaque)) {
    Opaque made = nullptr;
    AACO_TRY(check(create(&made), "creating a descriptor or handle"));
    return Object(made, destroy, &over_);
  }

  core::Status describe(const ConvolutionForm& form, CudnnType number, CudnnPrepared& ready) {
    AACO_ASSIGN(ready.x, own(api_.tensor_create, api_.tensor_destroy));
    AACO_ASSIGN(ready.out, own(api_.tensor_create, api_.tensor_destroy));
    AACO_ASSIGN(ready.w, own(api_.filter_create, api_.filter_destroy));
    AACO_ASSIGN(ready.convolution, own(api_.convolution_create, api_.convolution_destroy));
    AACO_TRY(check(api_.tensor_set(ready.x.get(), kNchw, number.type, form.n, form.c, form.h, form.w), "describing the input"));
    AACO_TRY(check(api_.tensor_set(ready.out.get(), kNchw, number.type, form.n, form.k, form.out_h(), form.out_w()),
                   "describing the output"));
    AACO_TRY(check(api_.filter_set(ready.w.get(), number.type, kNchw, form.k, form.c / form.groups, form.r, form.s),
                   "describing the filter"));
    AACO_TRY(check(api_.convolution_set(ready.convolution.get(), form.pad, form.pad, form.stride, form.stride, form.dilation,
                                        form.dilation, kCrossCorrelation, kFloat),
                   "describing the convolution"));
    AACO_TRY(check(api_.set_groups(ready.convolution.get(), form.groups), "setting the groups"));
    return check(api_.set_math(ready.convolution.get(), number.math), "setting the arithmetic");
  }

  // The first that works and whose workspace the device has.
  core::Status choose(CudnnPrepared& ready) {
    std::array<CudnnCandidate, kCandidates> found{};
    int count = 0;
    AACO_TRY(check(api_.candidates(handle_.get(), ready.x.get(), ready.w.get(), ready.convolution.get(), ready.out.get(),
                                   kCandidates, &count, found.data()),
                   "choosing an algorithm"));
    for (int i = 0; i < std::min(count, kCandidates); ++i) {
      const CudnnCandidate& one = found[static_cast<std::size_t>(i)];
      if (one.status != 0 || api_.set_math(ready.convolution.get(), one.math) != 0) continue;
      std::size_t bytes = 0;
      if (api_.workspace_size(handle_.get(), ready.x.get(), ready.w.get(), ready.convolution.get(), ready.out.get(),
                              one.algorithm, &bytes) != 0)
        continue;
      auto workspace = device_.allocate(bytes);
      if (!workspace && device_.lost()) return tl::unexpected<core::Error>(workspace.error());
      if (!workspace) continue;
      ready.algorithm = one.algorithm;
      ready.workspace_bytes = bytes;
      ready.workspace = std::move(*workspace);
      return {};
    }
    return core::fail(ErrorCode::unsupported, "cuDNN has no algorithm for this convolution");
  }

  Device& device_;
  CudnnApi api_;
  bool over_ = false;
  Object handle_;
};

}  // namespace

core::Result<std::shared_ptr<Convolutions>> open_cudnn(Device& device) {
  auto opened = open_vendor_library(GpuRuntime::cuda, {"libcudnn.so.9", "libcudnn.so.8"});
  if (!opened) return core::fail(ErrorCode::unsupported, opened.error().message, kCudnnRemedy);
  CudnnApi api{.library = *opened};
  if (const std::string missing = api.load(); !missing.empty())
    return core::fail(ErrorCode::unsupported, opened->path() + " has no function " + missing, kCudnnRemedy);
  auto cudnn = std::make_shared<Cudnn>(device, std::move(api));
  AACO_TRY(cudnn->start());
  return std::shared_ptr<Convolutions>(cudnn);
}

core::Result<std::shared_ptr<Convolutions>> Convolutions::open(Device& device) {
  return device.api().runtime == GpuRuntime::cuda ? open_cudnn(device) : open_miopen(device);
}

}  // namespace aaco::laboratory::gpu
