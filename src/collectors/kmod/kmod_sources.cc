#include "collectors/kmod/kmod_sources.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "collectors/block/descendants.h"
#include "collectors/probe/probe_file.h"
#include "core/files.h"

namespace aaco::collectors::kmod {
namespace {

constexpr const char* kDrmFiles = "/dev/dri";

bool is_drm_file(const std::string& link) {
  std::error_code error;
  return std::filesystem::read_symlink(link, error).string().starts_with(kDrmFiles);
}

core::Status require(const std::shared_ptr<Device>& device) {
  if (!device) return core::fail(core::ErrorCode::unsupported, "the kernel module is not loaded");
  return {};
}

}  // namespace

core::Status GpuMemorySource::open(const SysRoot& root, const Target& target) {
  if (target.process_id <= 0) return core::fail(core::ErrorCode::unsupported, "no process to observe");
  if (!device_ && !core::exists(root.at(kDrmFiles)))
    return core::fail(core::ErrorCode::unsupported, "this machine has no DRM device (/dev/dri)");
  root_ = root;
  process_id_ = target.process_id;
  return {};
}

void GpuMemorySource::intern(trace::Sink& sink) { memory_ = sink.name("process.gpu_memory_bytes"); }

core::Result<std::string> GpuMemorySource::text_of(std::int64_t process_id) const {
  if (device_) return device_->drm_text(process_id);
  const std::string folder = root_.at("/proc/" + std::to_string(process_id));
  AACO_ASSIGN(const auto files, core::list_directory(folder + "/fd"));
  std::string all;
  for (const std::string& file : files) {
    if (!is_drm_file(folder + "/fd/" + file)) continue;
    if (const auto text = probe::read_small(folder + "/fdinfo/" + file)) all += *text + "\n\n";
  }
  return all;
}

void GpuMemorySource::sample(probe::Emitter& out) {
  DrmText sum;
  std::vector<std::int64_t> tree = descendants(root_, process_id_);
  tree.insert(tree.begin(), process_id_);
  for (const std::int64_t process : tree) {
    const auto text = text_of(process);
    if (!text)
      out.drop("kmod.gpu_memory: the files of a process are not readable");
    else if (!text->empty() && !sum.add(*text))
      out.drop("kmod.gpu_memory: the driver reports no memory");
  }
  for (const auto& [region, bytes] : sum.memory()) out.host(memory_, out.name(region), bytes);
}

core::Status InterruptSource::open(const SysRoot&, const Target&) { return require(device_); }

void InterruptSource::intern(trace::Sink& sink) {
  devices_ = sink.name("cpu.device_interrupts_per_second");
  timers_ = sink.name("cpu.timer_interrupts_per_second");
  ipis_ = sink.name("cpu.ipis_per_second");
  softirqs_ = sink.name("cpu.softirqs_per_second");
}

void InterruptSource::sample(probe::Emitter& out) {
  if (const auto region = std::exchange(region_, std::nullopt)) {
    const auto counts = device_->end_region(*region);
    if (counts && counts->end_ns > counts->begin_ns) {
      const double seconds = static_cast<double>(counts->end_ns - counts->begin_ns) * 1e-9;
      out.host(devices_, {}, static_cast<double>(counts->device_irqs) / seconds);
      out.host(timers_, {}, static_cast<double>(counts->timer_irqs) / seconds);
      out.host(ipis_, {}, static_cast<double>(counts->ipis) / seconds);
      out.host(softirqs_, {}, static_cast<double>(counts->softirqs) / seconds);
    } else {
      out.drop("kmod.interrupts: the region cannot be read");
    }
  }
  const auto begun = device_->begin_region();
  if (begun)
    region_ = *begun;
  else
    out.drop("kmod.interrupts: no region can be started");
}

void InterruptSource::forget() {
  if (const auto region = std::exchange(region_, std::nullopt)) (void)device_->end_region(*region);
}

core::Status TscSource::open(const SysRoot&, const Target&) { return require(device_); }

void TscSource::intern(trace::Sink& sink) { rate_ = sink.name("cpu.tsc_hz"); }

void TscSource::sample(probe::Emitter& out) {
  const auto now = device_->clock();
  if (!now) return out.drop("kmod.tsc: the clock cannot be read");
  if (!first_) {
    first_ = *now;
    return;
  }
  if (now->raw_ns <= first_->raw_ns || now->tsc <= first_->tsc) return out.drop("kmod.tsc: the counter went backwards");
  out.host(rate_, {}, static_cast<double>(now->tsc - first_->tsc) * 1e9 / static_cast<double>(now->raw_ns - first_->raw_ns));
}

}  // namespace aaco::collectors::kmod
