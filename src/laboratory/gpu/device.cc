#include "laboratory/gpu/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "core/clock.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr unsigned kOwnStream = 1;      // not synchronised with the default stream
constexpr int kCaptureThreadLocal = 1;  // other threads of the libraries may allocate meanwhile
constexpr std::int64_t kBusyWaitNs = 2'000'000;
constexpr std::int64_t kKiloHertz = 1000;
constexpr double kLeftFree = 0.005;  // of the device's memory: the driver's own needs

std::optional<std::int64_t> positive(std::int64_t value) { return value > 0 ? std::optional(value) : std::nullopt; }

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }
// HIP_VERSION: major * 10^7 + minor * 10^5 + patch.
std::string hip_version(int number) { return fmt::format("{}.{}", number / 10'000'000, number / 100'000 % 100); }

}  // namespace

core::Status Device::check(int status, std::string_view what) {
  if (status == kSuccess) return {};
  if (is_fatal(status)) {
    lost_ = true;
    return core::fail(ErrorCode::io, fmt::format("the device is lost: {} failed: {}", what, api_.text(status)),
                      "look for its errors in the kernel log (dmesg)");
  }
  return core::fail(status == kOutOfMemory ? ErrorCode::exhausted : ErrorCode::unsupported,
                    fmt::format("{} failed: {}", what, api_.text(status)));
}

core::Result<std::unique_ptr<Device>> Device::open(GpuRuntime runtime, int index, std::int64_t patience_ns) {
  AACO_ASSIGN(DriverApi api, open_driver(runtime));
  std::unique_ptr<Device> device(new Device(std::move(api), index, patience_ns));
  AACO_TRY(device->start());
  return device;
}

core::Status Device::start() {
  int count = 0;
  if (api_.device_count(&count) != kSuccess || count < 1)
    return core::fail(ErrorCode::unsupported, api_.library.path() + " finds no GPU", "'aaco doctor' shows what is missing");
  if (index_ < 0 || index_ >= count)
    return core::fail(ErrorCode::unsupported, fmt::format("there is no GPU {}: this process sees {}", index_, count),
                      count == 1 ? "use --gpu 0" : fmt::format("use --gpu 0 to {}", count - 1));
  facts_.devices = count;
  AACO_TRY(check(api_.device_get(&handle_, index_), "opening the device"));
  if (api_.context_retain != nullptr) AACO_TRY(check(api_.context_retain(&context_, handle_), "creating a context"));
  AACO_TRY(select());
  read_facts();
  Opaque stream = nullptr;
  AACO_TRY(check(api_.stream_create(&stream, kOwnStream), "creating a stream"));
  stream_ = Object(stream, api_.stream_destroy, &lost_);
  AACO_ASSIGN(marker_, make_event());
  return {};
}

void Device::read_facts() {
  std::array<char, 256> text{};
  if (api_.device_name(text.data(), static_cast<int>(text.size()) - 1, handle_) == kSuccess)
    facts_.name = core::trim(text.data());
  text = {};
  if (api_.device_pci != nullptr && api_.device_pci(text.data(), static_cast<int>(text.size()) - 1, handle_) == kSuccess)
    facts_.pci_address = core::to_lower(text.data());
  std::size_t bytes = 0;
  if (api_.device_memory(&bytes, handle_) == kSuccess) facts_.memory_bytes = positive(static_cast<std::int64_t>(bytes));
  const auto attribute = [&](int number) -> std::optional<std::int64_t> {
    int value = 0;
    if (api_.device_attribute(&value, number, handle_) != kSuccess) return std::nullopt;
    return positive(value);
  };
  const auto in_hertz = [](std::optional<std::int64_t> value) { return value ? std::optional(*value * kKiloHertz) : value; };
  const Attributes& known = api_.attributes;
  facts_.units = attribute(known.units);
  facts_.lanes = attribute(known.lanes);
  facts_.clock_hz = in_hertz(attribute(known.clock_khz));
  facts_.memory_clock_hz = in_hertz(attribute(known.memory_clock_khz));
  facts_.cache_bytes = attribute(known.cache_bytes);
  facts_.bus_bits = attribute(known.bus_bits);
  const auto major = attribute(known.major), minor = attribute(known.minor);
  const bool cuda = api_.runtime == GpuRuntime::cuda;
  if (cuda && major) facts_.target = fmt::format("sm_{}{}", *major, minor.value_or(0));
  int number = 0;
  version_ = cuda ? "cuda driver" : "hip runtime";
  if (api_.version(&number) == kSuccess) version_ += " " + (cuda ? cuda_version(number) : hip_version(number));
}

core::Status Device::select() {
  if (api_.context_set != nullptr) return check(api_.context_set(context_), "selecting the context");
  return check(api_.set_device(index_), "selecting the device");
}

core::Result<Memory> Device::allocate(std::size_t bytes) {
  std::size_t free = 0, total = 0;
  AACO_TRY(check(api_.memory_info(&free, &total), "asking for free memory"));
  const auto left = static_cast<std::size_t>(static_cast<double>(total) * kLeftFree);
  if (bytes > free || free - bytes < left)
    return core::fail(ErrorCode::exhausted,
                      fmt::format("{} of device memory do not fit: {} are free", core::format_bytes(static_cast<double>(bytes)),
                                  core::format_bytes(static_cast<double>(free))));
  DevicePointer pointer = 0;
  AACO_TRY(check(api_.allocate(&pointer, std::max<std::size_t>(bytes, 256)),
                 "allocating " + core::format_bytes(static_cast<double>(bytes)) + " of device memory"));
  return Memory(pointer, api_.release, &lost_);
}

core::Result<HostMemory> Device::allocate_host(std::size_t bytes) {
  void* pointer = nullptr;
  AACO_TRY(check(api_.host_allocate(&pointer, bytes, 0),
                 "allocating " + core::format_bytes(static_cast<double>(bytes)) + " of pinned memory"));
  return HostMemory(pointer, api_.host_release, &lost_);
}

core::Result<Kernel> Device::load(const std::string& image, const std::string& function) {
  Opaque module = nullptr;
  AACO_TRY(check(api_.module_load(&module, image.c_str()), "loading kernel " + function));
  Kernel kernel{std::make_shared<Object>(module, api_.module_unload, &lost_), nullptr};
  AACO_TRY(check(api_.module_function(&kernel.function, module, function.c_str()), "looking up kernel " + function));
  return kernel;
}

core::Status Device::launch(const Kernel& kernel, const LaunchSize& size, std::vector<void*> arguments) {
  return check(api_.launch(kernel.function, size.grid_x, size.grid_y, 1, size.block_x, size.block_y, 1, 0, stream_.get(),
                           arguments.data(), nullptr),
               "launching a kernel");
}

core::Result<Object> Device::make_event() {
  Opaque event = nullptr;
  AACO_TRY(check(api_.event_create(&event, kEventsTimed), "creating an event"));
  return Object(event, api_.event_destroy, &lost_);
}

core::Status Device::record(const Object& event) {
  return check(api_.event_record(event.get(), stream_.get()), "recording an event");
}

core::Status Device::wait_for(const Object& event) {
  const std::int64_t start = core::monotonic_ns();
  for (;;) {
    const int status = api_.event_query(event.get());
    if (status != kNotReady) return check(status, "waiting for the device");
    const std::int64_t waited = core::monotonic_ns() - start;
    if (waited > patience_ns_) {
      lost_ = true;
      return core::fail(ErrorCode::timed_out, fmt::format("the device is lost: its work did not end within {}",
                                                          core::format_duration(static_cast<double>(patience_ns_))));
    }
    if (waited > kBusyWaitNs) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

core::Status Device::wait() {
  AACO_TRY(record(marker_));
  return wait_for(marker_);
}

core::Result<double> Device::elapsed_ns(const Object& first, const Object& last) {
  float milliseconds = 0;
  AACO_TRY(check(api_.event_elapsed(&milliseconds, first.get(), last.get()), "reading the device's clock"));
  return static_cast<double>(milliseconds) * 1e6;
}

core::Result<Object> Device::capture(const std::function<core::Status()>& enqueue) {
  if (!api_.has_graphs()) return core::fail(ErrorCode::unsupported, version_ + " has no graphs", "install a newer driver");
  AACO_TRY(check(api_.begin_capture(stream_.get(), kCaptureThreadLocal), "beginning a graph"));
  const auto enqueued = enqueue();
  Opaque graph = nullptr;
  const auto ended = check(api_.end_capture(stream_.get(), &graph), "ending a graph");
  AACO_TRY(enqueued);
  AACO_TRY(ended);
  const Object held(graph, api_.graph_destroy, &lost_);
  Opaque ready = nullptr;
  AACO_TRY(check(api_.graph_instantiate(&ready, graph, 0), "instantiating a graph"));
  return Object(ready, api_.graph_exec_destroy, &lost_);
}

core::Status Device::enable_peer(const Device& other) {
  int possible = 0;
  if (api_.can_access_peer == nullptr ||
      (api_.context_enable_peer == nullptr ? api_.peer_copy_devices == nullptr : api_.peer_copy_contexts == nullptr))
    return core::fail(ErrorCode::unsupported, version_ + " has no peer copies");
  AACO_TRY(check(api_.can_access_peer(&possible, handle_, other.handle_), "asking for peer access"));
  if (possible == 0)
    return core::fail(ErrorCode::unsupported, fmt::format("GPU {} has no peer access to GPU {}", index_, other.index_));
  AACO_TRY(select());
  const int status = api_.context_enable_peer != nullptr  ? api_.context_enable_peer(other.context_, 0)
                     : api_.device_enable_peer != nullptr ? api_.device_enable_peer(other.index_, 0)
                                                          : kPeerAlreadyEnabled;
  return status == kPeerAlreadyEnabled ? core::Status() : check(status, "enabling peer access");
}

core::Status Device::copy_from_peer(DevicePointer to, const Device& other, DevicePointer from, std::size_t bytes) {
  const int status = api_.peer_copy_contexts != nullptr
                         ? api_.peer_copy_contexts(to, context_, from, other.context_, bytes, stream_.get())
                         : api_.peer_copy_devices(to, index_, from, other.index_, bytes, stream_.get());
  return check(status, "copying from a peer");
}

}  // namespace aaco::laboratory::gpu
