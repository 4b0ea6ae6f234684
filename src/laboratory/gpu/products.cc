#include "laboratory/gpu/products.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// The numbers of one library; both have the same functions.
struct Dialect {
  const char* name;
  const char* prefix;
  int transposed, plain;                                          // operations
  int transpose_a, transpose_b;                                   // attributes of a product
  int batch_count, batch_stride;                                  // attributes of a matrix
  int compute_single, compute_tf32, compute_double, compute_int;  // kinds of arithmetic
  std::array<int, 2> float8;                                      // numbers of the type, the second where the first is refused
  const char* remedy;
};
constexpr int kWorkspaceAttribute = 1;
constexpr Dialect kCuda{"cuBLASLt", "cublasLt",
                        1,          0,
                        3,          4,
                        5,          6,
                        68,         77,
                        70,         72,
                        {28, 28},   "install cuBLAS of CUDA 11 or newer (libcublas), or name its folder in LD_LIBRARY_PATH"};
constexpr Dialect kHip{
    "hipBLASLt", "hipblasLt", 112, 111, 0, 1,          0,
    1,           2,           6,   7,   9, {28, 1000}, "install hipBLASLt of ROCm 6 or newer (package hipblaslt)"};

// cudaDataType_t and hipDataType agree.
constexpr int kSingle = 0, kDouble = 1, kHalf = 2, kInt8 = 3, kInt32 = 10, kBrain = 14;

struct Functions {
  core::SharedLibrary library;
  int (*create)(Opaque*) = nullptr;
  int (*destroy)(Opaque) = nullptr;
  int (*product_create)(Opaque*, int, int) = nullptr;
  int (*product_destroy)(Opaque) = nullptr;
  int (*product_set)(Opaque, int, const void*, std::size_t) = nullptr;
  int (*layout_create)(Opaque*, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  int (*layout_destroy)(Opaque) = nullptr;
  int (*layout_set)(Opaque, int, const void*, std::size_t) = nullptr;
  int (*preference_create)(Opaque*) = nullptr;
  int (*preference_destroy)(Opaque) = nullptr;
  int (*preference_set)(Opaque, int, const void*, std::size_t) = nullptr;
  int (*heuristic)(Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, int, void*, int*) = nullptr;
  int (*multiply)(Opaque, Opaque, const void*, DevicePointer, Opaque, DevicePointer, Opaque, const void*, DevicePointer, Opaque,
                  DevicePointer, Opaque, const void*, DevicePointer, std::size_t, Opaque) = nullptr;

  // Name of the first function that the library lacks; empty: it has them all.
  std::string load(const char* prefix) {
    std::string missing;
    const auto one = [&](auto& function, const char* name) {
      const std::string full = std::string(prefix) + name;
      function = library.function<std::remove_reference_t<decltype(function)>>(full.c_str());
      if (function == nullptr && missing.empty()) missing = full;
    };
    one(create, "Create");
    one(destroy, "Destroy");
    one(product_create, "MatmulDescCreate");
    one(product_destroy, "MatmulDescDestroy");
    one(product_set, "MatmulDescSetAttribute");
    one(layout_create, "MatrixLayoutCreate");
    one(layout_destroy, "MatrixLayoutDestroy");
    one(layout_set, "MatrixLayoutSetAttribute");
    one(preference_create, "MatmulPreferenceCreate");
    one(preference_destroy, "MatmulPreferenceDestroy");
    one(preference_set, "MatmulPreferenceSetAttribute");
    one(heuristic, "MatmulAlgoGetHeuristic");
    one(multiply, "Matmul");
    return missing;
  }
};

// What a type is multiplied as.
struct Arithmetic {
  int operand, result, compute, scale;
};
std::optional<Arithmetic> arithmetic_of(const std::string& dtype, const Dialect& with, int float8) {
  if (dtype == "float64") return Arithmetic{kDouble, kDouble, with.compute_double, kDouble};
  if (dtype == "float32") return Arithmetic{kSingle, kSingle, with.compute_single, kSingle};
  if (dtype == "tf32") return Arithmetic{kSingle, kSingle, with.compute_tf32, kSingle};
  if (dtype == "float16") return Arithmetic{kHalf, kHalf, with.compute_single, kSingle};
  if (dtype == "bfloat16") return Arithmetic{kBrain, kBrain, with.compute_single, kSingle};
  if (dtype == "float8") return Arithmetic{float8, kBrain, with.compute_single, kSingle};
  if (dtype == "int8") return Arithmetic{kInt8, kInt32, with.compute_int, kInt32};
  return std::nullopt;
}

// One or zero in the type that scales a product.
struct Scalar {
  alignas(8) std::array<unsigned char, 8> bytes{};
  Scalar(int type, int value) {
    const auto put = [&](auto typed) { std::memcpy(bytes.data(), &typed, sizeof typed); };
    if (type == kDouble) put(static_cast<double>(value));
    if (type == kSingle) put(static_cast<float>(value));
    if (type == kInt32) put(static_cast<std::int32_t>(value));
  }
};

// Everything a prepared product needs, shared by its calls.
struct PreparedProduct {
  Object product, left, right, result;
  Scalar one{kSingle, 1}, zero{kSingle, 0};
  // The library's answer, whose first member is the algorithm; larger than either library's.
  alignas(16) std::array<unsigned char, 512> choice{};
};

class VendorProducts final : public Products, public std::enable_shared_from_this<VendorProducts> {
 public:
  VendorProducts(Device& device, const Dialect& with, Functions functions)
      : device_(device), with_(with), call_(std::move(functions)) {}

  core::Status start() {
    Opaque handle = nullptr;
    AACO_TRY(check(call_.create(&handle), "creating a handle"));
    handle_ = Object(handle, call_.destroy, &over_);
    AACO_ASSIGN(workspace_, device_.allocate(kWorkspaceBytes));
    return {};
  }

  [[nodiscard]] std::string name() const override { return with_.name; }

  core::Result<std::function<core::Status()>> make(const ProductShape& shape, DevicePointer x, DevicePointer w,
                                                   DevicePointer out) override {
    auto prepared = prepare(shape, with_.float8[0]);
    if (!prepared && shape.dtype == "float8" && with_.float8[1] != with_.float8[0]) prepared = prepare(shape, with_.float8[1]);
    if (!prepared) return tl::unexpected<core::Error>(prepared.error());
    const auto own = shared_from_this();
    return [own, ready = *prepared, x, w, out] { return own->multiply(*ready, x, w, out); };
  }

 private:
  core::Status check(int status, std::string_view what) {
    if (status == 0) return {};
    // What a lost device leaves behind, the driver tells at the next call.
    return core::fail(ErrorCode::unsupported, fmt::format("{}: {} failed with status {}", with_.name, what, status),
                      handle_.get() == nullptr ? "check that its version fits the driver's" : "");
  }

  core::Result<Object> layout(int type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    Opaque made = nullptr;
    AACO_TRY(check(call_.layout_create(&made, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows),
                   "describing a matrix"));
    Object owned(made, call_.layout_destroy, &over_);
    if (batch == 1) return owned;
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * columns;
    AACO_TRY(check(call_.layout_set(made, with_.batch_count, &count, sizeof count), "setting a batch"));
    AACO_TRY(check(call_.layout_set(made, with_.batch_stride, &stride, sizeof stride), "setting a batch"));
    return owned;
  }

  // The libraries count in columns: the row-major result is their n by m matrix w * x, with w as given (k by n) transposed.
  core::Result<std::shared_ptr<PreparedProduct>> prepare(const ProductShape& shape, int float8) {
    const auto type = arithmetic_of(shape.dtype, with_, float8);
    if (!type) return core::fail(ErrorCode::unsupported, std::string(with_.name) + " has no products of " + shape.dtype);
    auto ready = std::make_shared<PreparedProduct>();
    ready->one = Scalar(type->scale, 1);
    ready->zero = Scalar(type->scale, 0);
    Opaque product = nullptr;
    AACO_TRY(check(call_.product_create(&product, type->compute, type->scale), "describing a product of " + shape.dtype));
    ready->product = Object(product, call_.product_destroy, &over_);
    const bool given_transposed = shape.batch == 1 || type->operand == kInt8 || shape.dtype == "float8";
    const std::int32_t left = given_transposed ? with_.transposed : with_.plain, right = with_.plain;
    AACO_TRY(check(call_.product_set(product, with_.transpose_a, &left, sizeof left), "setting a transposition"));
    AACO_TRY(check(call_.product_set(product, with_.transpose_b, &right, sizeof right), "setting a transposition"));
    AACO_ASSIGN(ready->left, given_transposed ? layout(type->operand, shape.k, shape.n, shape.batch)
                                              : layout(type->operand, shape.n, shape.k, shape.batch));
    AACO_ASSIGN(ready->right, layout(type->operand, shape.k, shape.m, shape.batch));
    AACO_ASSIGN(ready->result, layout(type->result, shape.n, shape.m, shape.batch));
    AACO_TRY(choose(shape, *ready));
    return ready;
  }

  core::Status choose(const ProductShape& shape, PreparedProduct& ready) {
    Opaque made = nullptr;
    AACO_TRY(check(call_.preference_create(&made), "creating a preference"));
    const Object preference(made, call_.preference_destroy, &over_);
    const std::uint64_t bytes = kWorkspaceBytes;
    AACO_TRY(check(call_.preference_set(made, kWorkspaceAttribute, &bytes, sizeof bytes), "limiting the workspace"));
    int found = 0;
    const int status = call_.heuristic(handle_.get(), ready.product.get(), ready.left.get(), ready.right.get(),
                                       ready.result.get(), ready.result.get(), made, 1, ready.choice.data(), &found);
    if (status != 0 || found < 1)
      return core::fail(ErrorCode::unsupported, fmt::format("{} has no algorithm for {} m={} n={} k={} (status {})", with_.name,
                                                            shape.dtype, shape.m, shape.n, shape.k, status));
    return {};
  }

  core::Status multiply(const PreparedProduct& ready, DevicePointer x, DevicePointer w, DevicePointer out) {
    return check(call_.multiply(handle_.get(), ready.product.get(), ready.one.bytes.data(), w, ready.left.get(), x,
                                ready.right.get(), ready.zero.bytes.data(), out, ready.result.get(), out, ready.result.get(),
                                ready.choice.data(), workspace_.get(), kWorkspaceBytes, device_.stream()),
                 "multiplying");
  }

  Device& device_;
  const Dialect& with_;
  Functions call_;
  bool over_ = false;
  Object handle_;
  Memory workspace_;
};

core::Result<core::SharedLibrary> open_library(GpuRuntime runtime) {
  if (runtime == GpuRuntime::cuda)
    return open_vendor_library(runtime, {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
  return open_vendor_library(runtime, {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"});
}

}  // namespace

core::Result<ProductBytes> product_bytes(const std::string& dtype) {
  if (dtype == "float64") return ProductBytes{8, 8};
  if (dtype == "float32" || dtype == "tf32") return ProductBytes{4, 4};
  if (dtype == "float16" || dtype == "bfloat16") return ProductBytes{2, 2};
  if (dtype == "float8") return ProductBytes{1, 2};
  if (dtype == "int8") return ProductBytes{1, 4};
  return core::fail(ErrorCode::unsupported, "no products of " + dtype);
}

core::Result<std::shared_ptr<Products>> Products::open(Device& device) {
  const Dialect& with = device.api().runtime == GpuRuntime::cuda ? kCuda : kHip;
  auto opened = open_library(device.api().runtime);
  if (!opened) return core::fail(ErrorCode::unsupported, opened.error().message, with.remedy);
  Functions functions{.library = *opened};
  if (const std::string missing = functions.load(with.prefix); !missing.empty())
    return core::fail(ErrorCode::unsupported, opened->path() + " has no function " + missing, with.remedy);
  auto products = std::make_shared<VendorProducts>(device, with, std::move(functions));
  AACO_TRY(products->start());
  return std::shared_ptr<Products>(products);
}

}  // namespace aaco::laboratory::gpu
