#include "laboratory/gpu/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr std::int64_t kChain = 256;  // of operators that only issuing costs
constexpr std::int64_t kTableRows = 4096;
constexpr std::int64_t kVectorBytes = 16;

std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }
std::int64_t parts(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

// How the hashed words of fill become values of a type: sign and exponent fixed, the fraction random.
struct Masks {
  unsigned and0, or0, and1, or1;
};
Masks masks_of(const std::string& dtype) {
  if (dtype == "float32" || dtype == "tf32") return {0x007FFFFF, 0x3D000000, 0x007FFFFF, 0x3D000000};
  if (dtype == "float64") return {0xFFFFFFFF, 0, 0x000FFFFF, 0x3FA00000};
  if (dtype == "float16") return {0x03FF03FF, 0x28002800, 0x03FF03FF, 0x28002800};
  if (dtype == "bfloat16") return {0x007F007F, 0x3D003D00, 0x007F007F, 0x3D003D00};
  if (dtype == "float8") return {0x07070707, 0x18181818, 0x07070707, 0x18181818};
  return {0xFFFFFFFF, 0, 0xFFFFFFFF, 0};
}

core::Result<unsigned> grid_of(std::int64_t blocks) {
  constexpr std::int64_t kMax = (std::int64_t{1} << 31) - 1;
  if (blocks > kMax) return core::fail(ErrorCode::unsupported, "the case is larger than a grid of blocks");
  return static_cast<unsigned>(blocks);
}

// A case of a suite has been checked, one of a line has not: no product of sizes below overflows.
core::Status check_sizes(const BenchmarkCase& one) {
  constexpr double kMaxWork = 0x1p58;
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;
  double work = 1;
  for (const auto& [name, size] : one.sizes) {
    if (size < (name == "pad" || name == "peer" ? 0 : 1) || size > kMaxSize)
      return core::fail(ErrorCode::invalid_argument, fmt::format("size {} = {} is out of range", name, size));
    work *= static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  if (work > kMaxWork) return core::fail(ErrorCode::exhausted, "the case is too large");
  if (one.kind == CaseKind::convolution && one.size("c") % one.size("groups") != 0)
    return core::fail(ErrorCode::invalid_argument, "the channel count is not divisible by the groups");
  return {};
}

// The driver copies the arguments when it is called.
template <class... Arguments>
std::vector<void*> pointers(Arguments&... arguments) {
  return {static_cast<void*>(&arguments)...};
}

}  // namespace

core::Result<Products*> Cases::products() {
  if (no_products_) return tl::unexpected<core::Error>(*no_products_);
  if (!products_) {
    auto opened = Products::open(device_);
    if (!opened) {
      no_products_ = opened.error();
      return tl::unexpected<core::Error>(opened.error());
    }
    products_ = std::move(*opened);
  }
  return products_.get();
}

core::Result<Convolutions*> Cases::convolutions() {
  if (no_convolutions_) return tl::unexpected<core::Error>(*no_convolutions_);
  if (!convolutions_) {
    auto opened = Convolutions::open(device_);
    if (!opened) {
      no_convolutions_ = opened.error();
      return tl::unexpected<core::Error>(opened.error());
    }
    convolutions_ = std::move(*opened);
  }
  return convolutions_.get();
}

std::vector<GpuLibrary> Cases::libraries() {
  const bool cuda = device_.api().runtime == GpuRuntime::cuda;
  std::vector<GpuLibrary> all{{cuda ? "cuBLASLt" : "hipBLASLt", {}, {}}, {cuda ? "cuDNN" : "MIOpen", {}, {}}};
  if (const auto found = products(); !found) all[0] = {all[0].name, found.error().message, found.error().remedy};
  if (const auto found = convolutions(); !found) all[1] = {all[1].name, found.error().message, found.error().remedy};
  return all;
}

core::Result<Kernel> Cases::kernel(const KernelSource& source) {
  const std::string key = fmt::format("{} {} {}", static_cast<int>(source.kind), source.op, source.dtype);
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) return known->second;
  AACO_ASSIGN(const Kernel made, make_kernel(device_, source));
  return kernels_[key] = made;
}

core::Result<DevicePointer> Cases::filled(Call& call, const std::string& dtype, std::int64_t bytes) {
  const std::int64_t whole = up(bytes, kVectorBytes);
  AACO_ASSIGN(Memory memory, device_.allocate(static_cast<std::size_t>(whole)));
  AACO_ASSIGN(const Kernel fill, kernel({KernelKind::fill, "", ""}));
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 30;  // words
  Masks masks = masks_of(dtype);
  for (std::int64_t first = 0; first < whole / 4; first += kAtOnce) {
    DevicePointer out = memory.get() + static_cast<DevicePointer>(first * 4);
    auto words = static_cast<unsigned>(std::min(kAtOnce, whole / 4 - first));
    AACO_ASSIGN(const unsigned grid, grid_of(parts(words, kThreads)));
    AACO_TRY(device_.launch(fill, {grid, 1, kThreads, 1}, pointers(out, words, masks.and0, masks.or0, masks.and1, masks.or1)));
  }
  call.memory.push_back(std::move(memory));
  return call.memory.back().get();
}

core::Result<Call> Cases::make(const BenchmarkCase& one) {
  AACO_TRY(check_sizes(one));
  switch (one.kind) {
    case CaseKind::gemm: return product(one);
    case CaseKind::convolution: return convolution(one);
    case CaseKind::vector: return vector(one);
    case CaseKind::transfer: return transfer(one);
    case CaseKind::attention:
      return core::fail(ErrorCode::unsupported,
                        "attention is not measured here: neither library has it behind a stable C interface",
                        "use --backend pytorch-gpu");
    case CaseKind::model: break;
  }
  return core::fail(ErrorCode::unsupported, "models need ONNX Runtime", "use --backend with an execution provider");
}

core::Result<Call> Cases::product(const BenchmarkCase& one) {
  const ProductShape shape{one.dtype, one.size("batch"), one.size("m"), one.size("n"), one.size("k")};
  AACO_ASSIGN(const ProductBytes bytes, product_bytes(one.dtype));
  AACO_ASSIGN(Products* const library, products());
  Call call;
  AACO_ASSIGN(const DevicePointer x, filled(call, one.dtype, shape.batch * shape.m * shape.k * bytes.operand));
  AACO_ASSIGN(const DevicePointer w, filled(call, one.dtype, shape.batch * shape.n * shape.k * bytes.operand));
  AACO_ASSIGN(Memory out, device_.allocate(static_cast<std::size_t>(shape.batch * shape.m * shape.n * bytes.result)));
  AACO_ASSIGN(call.enqueue, library->make(shape, x, w, out.get()));
  call.memory.push_back(std::move(out));
  return call;
}

core::Result<Call> Cases::convolution(const BenchmarkCase& one) {
  ConvolutionForm form;
  form.dtype = one.dtype;
  for (const auto& [name, member] :
       {std::pair{"n", &ConvolutionForm::n}, std::pair{"c", &ConvolutionForm::c}, std::pair{"h", &ConvolutionForm::h},
        std::pair{"w", &ConvolutionForm::w}, std::pair{"k", &ConvolutionForm::k}, std::pair{"r", &ConvolutionForm::r},
        std::pair{"s", &ConvolutionForm::s}, std::pair{"pad", &ConvolutionForm::pad},
        std::pair{"stride", &ConvolutionForm::stride}, std::pair{"dilation", &ConvolutionForm::dilation},
        std::pair{"groups", &ConvolutionForm::groups}})
    form.*member = static_cast<int>(std::min<std::int64_t>(one.size(name), 1 << 30));
  AACO_ASSIGN(const ProductBytes bytes, product_bytes(one.dtype));
  AACO_ASSIGN(Convolutions* const library, convolutions());
  const auto count = [](auto... sizes) { return (std::int64_t{1} * ... * std::int64_t{sizes}); };
  Call call;
  AACO_ASSIGN(const DevicePointer x, filled(call, one.dtype, count(form.n, form.c, form.h, form.w) * bytes.operand));
  AACO_ASSIGN(const DevicePointer w,
              filled(call, one.dtype, count(form.k, form.c / form.groups, form.r, form.s) * bytes.operand));
  AACO_ASSIGN(Memory out,
              device_.allocate(static_cast<std::size_t>(count(form.n, form.k, form.out_h(), form.out_w()) * bytes.operand)));
  AACO_ASSIGN(call.enqueue, library->make(form, x, w, out.get()));
  call.memory.push_back(std::move(out));
  return call;
}

core::Result<Call> Cases::vector(const BenchmarkCase& one) {
  if (one.op == "launch" || one.op == "graph_launch") return chain(one, one.op == "graph_launch");
  if (one.op == "fma") return multiply_add(one);
  const std::string op = one.op == "call" ? "tanh" : one.op;
  const std::int64_t rows = one.size("rows"), cols = one.size("cols"), lanes = lanes_of(one.dtype);
  if (lanes == 0) return core::fail(ErrorCode::unsupported, one.dtype + " is supported for gemm only");
  const std::int64_t bytes = rows * cols * (kVectorBytes / lanes);
  const bool rowwise = is_row(op), elementwise = is_unary(op) || is_binary(op);
  Call call;
  AACO_ASSIGN(DevicePointer x, filled(call, one.dtype, op == "gather" ? kTableRows * cols * (kVectorBytes / lanes) : bytes));
  AACO_ASSIGN(Memory result, device_.allocate(static_cast<std::size_t>(up(op == "concat" ? 2 * bytes : bytes, kVectorBytes))));
  DevicePointer out = result.get(), y = x;
  call.memory.push_back(std::move(result));
  if (is_binary(op) || op == "concat") {
    AACO_ASSIGN(y, filled(call, one.dtype, bytes));
  }
  if (op == "gather") {
    AACO_ASSIGN(y, filled(call, "", rows * 4));
  }
  const KernelKind kind = elementwise         ? KernelKind::elementwise
                          : rowwise           ? KernelKind::row
                          : op == "transpose" ? KernelKind::transpose
                          : op == "concat"    ? KernelKind::concat
                                              : KernelKind::gather;
  if (kind == KernelKind::gather && op != "gather")
    return core::fail(ErrorCode::unsupported, "no kernel for operator '" + op + "'");
  AACO_ASSIGN(const Kernel work, kernel({kind, elementwise || rowwise ? op : "", one.dtype}));
  // Elements of the result are numbered with 32 bits.
  const std::int64_t items = elementwise ? parts(rows * cols, lanes) : rows * cols * (op == "concat" ? 2 : 1);
  if (items > 0xFFFFFFFFLL || std::max(rows, cols) > 0x7FFFFFFFLL)
    return core::fail(ErrorCode::unsupported, "the case has more than 4 billion elements");
  LaunchSize size;
  AACO_ASSIGN(size.grid_x, grid_of(rowwise ? rows : kind == KernelKind::transpose ? parts(cols, kTile) : parts(items, kThreads)));
  if (kind == KernelKind::transpose) size = {size.grid_x, static_cast<unsigned>(parts(rows, kTile)), kTile, kTileRows};
  constexpr std::int64_t kMaxRowsOfBlocks = 65535;
  if (kind == KernelKind::transpose && parts(rows, kTile) > kMaxRowsOfBlocks)
    return core::fail(ErrorCode::unsupported, "the case is larger than a grid of blocks");
  call.enqueue = [this, work, size, x, y, out, kind, count = static_cast<unsigned>(items), columns = static_cast<unsigned>(cols),
                  lines = static_cast<unsigned>(rows)]() mutable {
    auto limit = static_cast<unsigned>(kTableRows);
    switch (kind) {
      case KernelKind::elementwise: return device_.launch(work, size, pointers(x, y, out, count));
      case KernelKind::row: return device_.launch(work, size, pointers(x, out, columns));
      case KernelKind::transpose: return device_.launch(work, size, pointers(x, out, lines, columns));
      case KernelKind::concat: return device_.launch(work, size, pointers(x, y, out, columns, count));
      default: return device_.launch(work, size, pointers(x, y, out, columns, count, limit));
    }
  };
  return call;
}

core::Result<Call> Cases::chain(const BenchmarkCase& one, bool as_graph) {
  BenchmarkCase link = one;
  link.op = "add";
  AACO_ASSIGN(Call call, vector(link));
  AACO_TRY(device_.wait());
  const auto all = [each = call.enqueue]() -> core::Status {
    for (std::int64_t i = 0; i < kChain; ++i) AACO_TRY(each());
    return {};
  };
  call.repeats = kChain;
  if (!as_graph) {
    call.enqueue = all;
    return call;
  }
  AACO_ASSIGN(Object graph, device_.capture(all));
  call.enqueue = [this, ready = graph.get()] {
    return device_.check(device_.api().graph_launch(ready, device_.stream()), "launching a graph");
  };
  call.graphs.push_back(std::move(graph));
  return call;
}

core::Result<Call> Cases::multiply_add(const BenchmarkCase& one) {
  constexpr std::int64_t kMaxRounds = std::int64_t{1} << 24;
  AACO_ASSIGN(const Kernel work, kernel({KernelKind::multiply_add, "", one.dtype}));
  Call call;
  AACO_ASSIGN(Memory memory, device_.allocate(kVectorBytes));
  LaunchSize size;
  AACO_ASSIGN(size.grid_x, grid_of(parts(one.size("rows"), kThreads)));
  call.enqueue = [this, work, size, out = memory.get(),
                  rounds = static_cast<unsigned>(std::min(one.size("cols"), kMaxRounds))]() mutable {
    return device_.launch(work, size, pointers(out, rounds));
  };
  call.memory.push_back(std::move(memory));
  return call;
}

core::Result<Call> Cases::transfer(const BenchmarkCase& one) {
  if (one.op == "read") return read(one);
  if (one.op == "peer") return from_peer(one);
  const std::int64_t bytes = one.size("bytes");
  const auto count = static_cast<std::size_t>(bytes);
  Call call;
  AACO_ASSIGN(const DevicePointer device, filled(call, "", bytes));
  if (one.op == "d2d") {
    AACO_ASSIGN(const DevicePointer other, filled(call, "", bytes));
    call.enqueue = [this, device, other, count] {
      return device_.check(device_.api().on_device(other, device, count, device_.stream()), "copying on the device");
    };
    return call;
  }
  void* host = nullptr;
  if (one.op.ends_with("_pinned")) {
    AACO_ASSIGN(HostMemory pinned, device_.allocate_host(count));
    host = pinned.get();
    call.pinned.push_back(std::move(pinned));
  } else {
    call.pageable.emplace_back(count, 'a');
    host = call.pageable.back().data();
  }
  const bool in = one.op.starts_with("h2d");
  if (!in && !one.op.starts_with("d2h")) return core::fail(ErrorCode::unsupported, "unknown transfer '" + one.op + "'");
  call.enqueue = [this, in, device, host, count] {
    return in ? device_.check(device_.api().to_device(device, host, count, device_.stream()), "copying to the device")
              : device_.check(device_.api().to_host(host, device, count, device_.stream()), "copying from the device");
  };
  return call;
}

core::Result<Call> Cases::read(const BenchmarkCase& one) {
  // Small working sets are read several times a call, so that its launch does not count.
  constexpr std::int64_t kReadBytes = std::int64_t{1} << 28, kMaxPasses = 4096, kBlocksPerUnit = 8;
  const std::int64_t bytes = up(one.size("bytes"), kVectorBytes), vectors = bytes / kVectorBytes;
  if (vectors > 0x7FFFFFFFLL) return core::fail(ErrorCode::unsupported, "the working set is larger than 32 GiB");
  Call call;
  AACO_ASSIGN(DevicePointer x, filled(call, "float32", bytes));
  AACO_ASSIGN(Memory result, device_.allocate(kVectorBytes));
  AACO_ASSIGN(const Kernel work, kernel({KernelKind::read, "", ""}));
  call.repeats = std::clamp(kReadBytes / bytes, std::int64_t{1}, kMaxPasses);
  const std::int64_t blocks = device_.facts().units.value_or(64) * kBlocksPerUnit;
  LaunchSize size;
  AACO_ASSIGN(size.grid_x, grid_of(std::clamp(parts(vectors, 4 * kThreads), std::int64_t{1}, blocks)));
  call.enqueue = [this, work, size, x, out = result.get(), count = static_cast<unsigned>(vectors),
                  passes = static_cast<unsigned>(call.repeats)]() mutable {
    return device_.launch(work, size, pointers(x, out, count, passes));
  };
  call.memory.push_back(std::move(result));
  return call;
}

core::Result<Call> Cases::from_peer(const BenchmarkCase& one) {
  const std::int64_t bytes = one.size("bytes");
  Call call;
  AACO_ASSIGN(const DevicePointer to, filled(call, "", bytes));
  AACO_ASSIGN(call.peer, Device::open(device_.api().runtime, static_cast<int>(one.size("peer")), patience_ns_));
  if (call.peer->index() == device_.index())
    return core::fail(ErrorCode::unsupported, fmt::format("GPU {} is not its own peer", device_.index()));
  auto from = call.peer->allocate(static_cast<std::size_t>(bytes));
  AACO_TRY(device_.select());
  if (!from) return tl::unexpected<core::Error>(from.error());
  AACO_TRY(device_.enable_peer(*call.peer));
  call.enqueue = [this, to, peer = call.peer.get(), source = from->get(), count = static_cast<std::size_t>(bytes)] {
    return device_.copy_from_peer(to, *peer, source, count);
  };
  call.peer_memory.push_back(std::move(*from));
  return call;
}

}  // namespace aaco::laboratory::gpu
