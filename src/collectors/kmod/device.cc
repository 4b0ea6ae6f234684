#include "collectors/kmod/device.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <vector>

#include "aaco_kmod_abi.h"
#include "core/handles.h"

namespace aaco::collectors::kmod {
namespace {

constexpr const char* kHowTo = "build and load the kernel module: docs/how_to/kernel_module.md";
constexpr std::size_t kTextBytes = std::size_t{4} * AACO_KMOD_MIN_TEXT;
constexpr int kMaxCalls = 64;  // of drm_text for one process, 4096 descriptors each

class KernelDevice final : public Device {
 public:
  explicit KernelDevice(core::FileDescriptor file) : file_(std::move(file)), text_(kTextBytes) {}

  core::Status check_abi() {
    aaco_kmod_info info{};
    AACO_TRY(call(AACO_KMOD_INFO, &info, "information"));
    if (info.abi_version != AACO_KMOD_ABI_VERSION)
      return core::fail(core::ErrorCode::unsupported,
                        "the kernel module has ABI version " + std::to_string(info.abi_version) + ", this program needs " +
                            std::to_string(AACO_KMOD_ABI_VERSION),
                        kHowTo);
    return {};
  }
  core::Result<ClockPair> clock() override {
    aaco_kmod_clock now{};
    AACO_TRY(call(AACO_KMOD_CLOCK, &now, "clock"));
    return ClockPair{now.tsc_before + (now.tsc_after - now.tsc_before) / 2, now.raw_ns};
  }
  core::Result<std::uint32_t> begin_region() override {
    aaco_kmod_region region{};
    AACO_TRY(call(AACO_KMOD_REGION_BEGIN, &region, "region"));
    return region.slot;
  }
  core::Result<RegionCounts> end_region(std::uint32_t slot) override {
    aaco_kmod_region_end end{};
    end.slot = slot;
    AACO_TRY(call(AACO_KMOD_REGION_END, &end, "region"));
    const aaco_kmod_counts& machine = end.record.machine;
    return RegionCounts{end.record.begin_ns, end.record.end_ns, machine.device_irqs,
                        machine.timer_irqs,  machine.ipis,      machine.softirqs};
  }
  core::Result<std::string> drm_text(std::int64_t process_id) override {
    std::string all;
    aaco_kmod_gpu_memory request{};
    request.pid = static_cast<std::int32_t>(process_id);
    for (int i = 0; i < kMaxCalls && request.next_fd != AACO_KMOD_ALL_FDS; ++i) {
      request.text = reinterpret_cast<std::uintptr_t>(text_.data());
      request.text_bytes = static_cast<std::uint32_t>(text_.size());
      AACO_TRY(call(AACO_KMOD_GPU_MEMORY, &request, "GPU memory"));
      all.append(text_.data(), request.text_bytes);
    }
    return all;
  }

 private:
  template <class Data>
  core::Status call(unsigned long command, Data* data, std::string_view what) const {
    if (::ioctl(file_.get(), command, data) == 0) return {};
    return core::fail_errno(errno, std::string(AACO_KMOD_DEVICE) + ": " + std::string(what));
  }
  core::FileDescriptor file_;
  std::vector<char> text_;
};

}  // namespace

core::Result<std::shared_ptr<Device>> open_device(const SysRoot& root) {
  const std::string path = root.at(AACO_KMOD_DEVICE);
  core::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (!file.valid() && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
    return core::fail(core::ErrorCode::unsupported, "the kernel module is not loaded", kHowTo);
  if (!file.valid()) return core::fail_errno(errno, path, "join the group of the device (ls -l " + path + ")");
  auto device = std::make_shared<KernelDevice>(std::move(file));
  const auto abi = device->check_abi();
  if (!abi)
    return core::fail(core::ErrorCode::unsupported, abi.error().message,
                      abi.error().remedy.empty() ? kHowTo : abi.error().remedy);
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace aaco::collectors::kmod
