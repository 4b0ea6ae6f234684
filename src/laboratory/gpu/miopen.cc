#include <fmt/format.h>

#include <array>
#include <map>

#include "laboratory/gpu/convolutions.h"

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr const char* kMiopenRemedy = "install MIOpen of ROCm (package miopen-hip), or name its folder in LD_LIBRARY_PATH";
constexpr int kConvolution = 0;

// miopenConvAlgoPerf_t
struct MiopenCandidate {
  int algorithm = 0;
  float milliseconds = 0;
  std::size_t workspace = 0;
};

struct MiopenApi {
  core::SharedLibrary library;
  int (*create)(Opaque*, Opaque) = nullptr;
  int (*destroy)(Opaque) = nullptr;
  int (*tensor_create)(Opaque*) = nullptr;
  int (*tensor_destroy)(Opaque) = nullptr;
  int (*tensor_set)(Opaque, int, int, int, int, int) = nullptr;
  int (*convolution_create)(Opaque*) = nullptr;
  int (*convolution_destroy)(Opaque) = nullptr;
  int (*convolution_set)(Opaque, int, int, int, int, int, int, int) = nullptr;
  int (*set_groups)(Opaque, int) = nullptr;
  int (*workspace_size)(Opaque, Opaque, Opaque, Opaque, Opaque, std::size_t*) = nullptr;
  int (*find)(Opaque, Opaque, DevicePointer, Opaque, DevicePointer, Opaque, Opaque, DevicePointer, int, int*, MiopenCandidate*,
              DevicePointer, std::size_t, bool) = nullptr;
  int (*forward)(Opaque, const void*, Opaque, DevicePointer, Opaque, DevicePointer, Opaque, int, const void*, Opaque,
                 DevicePointer, DevicePointer, std::size_t) = nullptr;

  std::string load() {
    std::string missing;
    const auto one = [&](auto& function, const char* name) {
      function = library.function<std::remove_reference_t<decltype(function)>>(name);
      if (function == nullptr && missing.empty()) missing = name;
    };
    one(create, "miopenCreateWithStream");
    one(destroy, "miopenDestroy");
    one(tensor_create, "miopenCreateTensorDescriptor");
    one(tensor_destroy, "miopenDestroyTensorDescriptor");
    one(tensor_set, "miopenSet4dTensorDescriptor");
    one(convolution_create, "miopenCreateConvolutionDescriptor");
    one(convolution_destroy, "miopenDestroyConvolutionDescriptor");
    one(convolution_set, "miopenInitConvolutionDescriptor");
    one(set_groups, "miopenSetConvolutionGroupCount");
    one(workspace_size, "miopenConvolutionForwardGetWorkSpaceSize");
    one(find, "miopenFindConvolutionForwardAlgorithm");
    one(forward, "miopenConvolutionForward");
    return missing;
  }
};

struct MiopenPrepared {
  Object x, w, out, convolution;
  int algorithm = 0;
  std::size_t workspace_bytes = 0;
  Memory workspace;
};

class Miopen final : public Convolutions, public std::enable_shared_from_this<Miopen> {
 public:
  Miopen(Device& device, MiopenApi api) : device_(device), api_(std::move(api)) {}

  core::Status start() {
    Opaque handle = nullptr;
    AACO_TRY(check(api_.create(&handle, device_.stream()), "creating a handle"));
    handle_ = Object(handle, api_.destroy, &over_);
    return {};
  }
  [[nodiscard]] std::string name() const override { return "MIOpen"; }

  core::Result<std::function<core::Status()>> make(const ConvolutionForm& form, DevicePointer x, DevicePointer w,
                                                   DevicePointer out) override {
    static const std::map<std::string, int> kTypes{{"float32", 1}, {"float16", 0}, {"bfloat16", 5}};
    const auto type = kTypes.find(form.dtype);
    if (type == kTypes.end()) return core::fail(ErrorCode::unsupported, "no convolution of " + form.dtype + " by MIOpen");
    auto ready = std::make_shared<MiopenPrepared>();
    AACO_TRY(describe(form, type->second, *ready));
    AACO_TRY(choose(*ready, x, w, out));
    const auto self = shared_from_this();
    return [self, ready, x, w, out] {
      constexpr float kOne = 1, kZero = 0;
      return self->check(
          self->api_.forward(self->handle_.get(), &kOne, ready->x.get(), x, ready->w.get(), w, ready->convolution.get(),
                             ready->algorithm, &kZero, ready->out.get(), out, ready->workspace.get(), ready->workspace_bytes),
          "the convolution");
    };
  }

 private:
  core::Status check(int status, std::string_view what) {
    if (status == 0) return {};
    return core::fail(ErrorCode::unsupported, fmt::format("MIOpen: {} failed with status {}", what, status));
  }
  core::Result<Object> own(int (*create)(Opaque*), int (*destroy)(Opaque)) {
    Opaque made = nullptr;
    AACO_TRY(check(create(&made), "creating a descriptor"));
    return Object(made, destroy, &over_);
  }

  core::Status describe(const ConvolutionForm& form, int type, MiopenPrepared& ready) {
    AACO_ASSIGN(ready.x, own(api_.tensor_create, api_.tensor_destroy));
    AACO_ASSIGN(ready.w, own(api_.tensor_create, api_.tensor_destroy));
    AACO_ASSIGN(ready.out, own(api_.tensor_create, api_.tensor_destroy));
    AACO_ASSIGN(ready.convolution, own(api_.convolution_create, api_.convolution_destroy));
    AACO_TRY(check(api_.tensor_set(ready.x.get(), type, form.n, form.c, form.h, form.w), "describing the input"));
    AACO_TRY(check(api_.tensor_set(ready.w.get(), type, form.k, form.c / form.groups, form.r, form.s), "describing the filter"));
    AACO_TRY(check(api_.tensor_set(ready.out.get(), type, form.n, form.k, form.out_h(), form.out_w()), "describing the output"));
    AACO_TRY(check(api_.convolution_set(ready.convolution.get(), kConvolution, form.pad, form.pad, form.stride, form.stride,
                                        form.dilation, form.dilation),
                   "describing the convolution"));
    return check(api_.set_groups(ready.convolution.get(), form.groups), "setting the groups");
  }

  // MIOpen runs its candidates and answers the fastest.
  core::Status choose(MiopenPrepared& ready, DevicePointer x, DevicePointer w, DevicePointer out) {
    std::size_t bytes = 0;
    AACO_TRY(
        check(api_.workspace_size(handle_.get(), ready.w.get(), ready.x.get(), ready.convolution.get(), ready.out.get(), &bytes),
              "asking for its workspace"));
    AACO_ASSIGN(ready.workspace, device_.allocate(bytes));
    ready.workspace_bytes = bytes;
    MiopenCandidate best;
    int count = 0;
    AACO_TRY(check(api_.find(handle_.get(), ready.x.get(), x, ready.w.get(), w, ready.convolution.get(), ready.out.get(), out, 1,
                             &count, &best, ready.workspace.get(), bytes, false),
                   "choosing an algorithm"));
    if (count < 1) return core::fail(ErrorCode::unsupported, "MIOpen has no algorithm for this convolution");
    ready.algorithm = best.algorithm;
    return {};
  }

  Device& device_;
  MiopenApi api_;
  bool over_ = false;
  Object handle_;
};

}  // namespace

core::Result<std::shared_ptr<Convolutions>> open_miopen(Device& device) {
  auto opened = open_vendor_library(GpuRuntime::hip, {"libMIOpen.so.1", "libMIOpen.so"});
  if (!opened) return core::fail(ErrorCode::unsupported, opened.error().message, kMiopenRemedy);
  MiopenApi api{.library = *opened};
  if (const std::string missing = api.load(); !missing.empty())
    return core::fail(ErrorCode::unsupported, opened->path() + " has no function " + missing, kMiopenRemedy);
  auto miopen = std::make_shared<Miopen>(device, std::move(api));
  AACO_TRY(miopen->start());
  return std::shared_ptr<Convolutions>(miopen);
}

}  // namespace aaco::laboratory::gpu
