#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "laboratory/gpu/driver_api.h"

namespace aaco::laboratory::gpu {

// Owns one object of the driver; what is left of a lost device is not released, for that would hang.
template <class Handle>
class Owned {
 public:
  using Release = int (*)(Handle);
  Owned() = default;
  Owned(Handle handle, Release release, const bool* lost) : handle_(handle), release_(release), lost_(lost) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})), release_(other.release_), lost_(other.lost_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(release_, other.release_);
    std::swap(lost_, other.lost_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != Handle{} && !*lost_) (void)release_(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_{};
  Release release_ = nullptr;
  const bool* lost_ = nullptr;
};
using Memory = Owned<DevicePointer>;
using HostMemory = Owned<void*>;
using Object = Owned<Opaque>;

// A function of a module that it keeps loaded.
struct Kernel {
  std::shared_ptr<Object> module;
  Opaque function = nullptr;
};

struct LaunchSize {
  unsigned grid_x = 1, grid_y = 1, block_x = 256, block_y = 1;
};

// One GPU, with one stream. One thread. Every status of the driver becomes an error that names the call.
class Device {
 public:
  static core::Result<std::unique_ptr<Device>> open(GpuRuntime runtime, int index, std::int64_t patience_ns);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const DriverApi& api() const { return api_; }
  [[nodiscard]] const GpuFacts& facts() const { return facts_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] Opaque stream() const { return stream_.get(); }
  // Nothing works any more: a call said so, or work did not end in time.
  [[nodiscard]] bool lost() const { return lost_; }

  // Exhausted where the device has not the room, or half of a percent less than that.
  core::Result<Memory> allocate(std::size_t bytes);
  core::Result<HostMemory> allocate_host(std::size_t bytes);
  core::Result<Kernel> load(const std::string& image, const std::string& function);
  core::Status launch(const Kernel& kernel, const LaunchSize& size, std::vector<void*> arguments);
  core::Result<Object> make_event();
  core::Status record(const Object& event);
  // Waits without blocking in the driver; timed_out after the patience, and the device is lost then.
  core::Status wait_for(const Object& event);
  core::Status wait();
  core::Result<double> elapsed_ns(const Object& first, const Object& last);
  // What `enqueue` puts on the stream, as a graph that is ready to be launched.
  core::Result<Object> capture(const std::function<core::Status()>& enqueue);

  // Unsupported where the devices cannot reach each other.
  core::Status enable_peer(const Device& other);
  core::Status copy_from_peer(DevicePointer to, const Device& other, DevicePointer from, std::size_t bytes);
  // Of several devices in one process, the one that the next calls mean.
  core::Status select();

  core::Status check(int status, std::string_view what);

 private:
  explicit Device(DriverApi api, int index, std::int64_t patience_ns)
      : api_(std::move(api)), index_(index), patience_ns_(patience_ns) {}
  core::Status start();
  void read_facts();

  DriverApi api_;
  int index_, handle_ = 0;
  std::int64_t patience_ns_;
  bool lost_ = false;
  Opaque context_ = nullptr;
  GpuFacts facts_;
  std::string version_;
  Object stream_, marker_;
};

}  // namespace aaco::laboratory::gpu
