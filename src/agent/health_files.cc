#include "agent/health_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/gpu_devices.h"

namespace aaco::agent {
namespace {

constexpr std::size_t kReplayColumn = trace::fleet_column("pcie_replays");
constexpr std::size_t kResetColumn = trace::fleet_column("driver_resets");
constexpr std::int64_t kMaxHealthFileBytes = 64 << 10;
constexpr int kMaxLogRecords = 20'000;  // of one minute

// The number after a key in "ue: 1\nce: 7" or "Rollover 3".
std::optional<double> number_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : core::split_lines(text)) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.empty() || (rest.front() != ':' && rest.front() != ' ')) continue;
    rest.remove_prefix(1);
    if (const auto number = core::parse_i64(core::trim(rest)); number && *number >= 0) return static_cast<double>(*number);
  }
  return std::nullopt;
}

std::string small_file(const std::string& root, const std::string& path) {
  return core::read_file(core::join_path(root, path.substr(1)), kMaxHealthFileBytes).value_or("");
}

}  // namespace

// "amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
std::string reset_device(std::string_view line) {
  if (const auto at = line.find("amdgpu ");
      at != std::string_view::npos && line.find("GPU reset begin") != std::string_view::npos) {
    const std::string_view address = line.substr(at + 7, line.substr(at + 7).find(": "));
    return address.size() == 12 ? std::string(address) : "";
  }
  constexpr std::string_view kXid = "NVRM: Xid (PCI:";
  constexpr std::string_view kLost[] = {"79", "119", "120"};  // fallen off the bus; the firmware does not answer
  const auto at = line.find(kXid);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kXid.size());
  const auto end = rest.find("): ");
  if (end == std::string_view::npos) return {};
  const std::string_view code = rest.substr(end + 3, rest.substr(end + 3).find(','));
  for (const std::string_view lost : kLost)
    if (code == lost) return core::to_lower(rest.substr(0, end));
  return {};
}

HealthFiles::HealthFiles(std::string root, const std::vector<hardware::GpuInfo>& gpus) : root_(std::move(root)) {
  const auto amd = hardware::find_amd_devices(root_);
  for (const hardware::GpuInfo& gpu : gpus) {
    Device device{static_cast<std::int32_t>(gpu.index), core::to_lower(gpu.pci_address), {}, gpu.vendor != "amd", 0};
    for (const hardware::AmdDevice& one : amd)
      if (gpu.vendor == "amd" && one.index == gpu.index) device.folder = one.folder;
    if (!device.folder.empty())
      device.has_replay_count = core::exists(core::join_path(root_, device.folder.substr(1) + "/pcie_replay_count"));
    devices_.push_back(std::move(device));
  }
  const std::string log = core::join_path(root_, "dev/kmsg");
  if (!devices_.empty()) log_ = core::FileDescriptor(::open(log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (log_.valid()) ::lseek(log_.get(), 0, SEEK_END);  // what happened before is not of this minute
}

void HealthFiles::read_links(const Device& device, MinuteBook& book) const {
  if (device.folder.empty()) return;
  const std::string text = small_file(root_, device.folder + "/ras/xgmi_wafl_err_count");
  const auto corrected = number_of(text, "ce"), uncorrected = number_of(text, "ue");
  if (corrected || uncorrected) book.count_link_errors(device.index, corrected.value_or(0), uncorrected.value_or(0));
}

void HealthFiles::read_replays(const Device& device, MinuteBook& book) const {
  if (device.has_replay_count || device.pci_address.empty()) return;
  const std::string text = small_file(root_, "/sys/bus/pci/devices/" + device.pci_address + "/aer_dev_correctable");
  const auto rollover = number_of(text, "Rollover"), timeout = number_of(text, "Timeout");
  if (rollover || timeout) book.count(device.index, kReplayColumn, rollover.value_or(0) + timeout.value_or(0));
}

// One record per read; a reader that is too slow gets EPIPE and goes on with the oldest record there is.
void HealthFiles::read_kernel_log() {
  char buffer[8192];
  for (int i = 0; i < kMaxLogRecords && log_.valid(); ++i) {
    const ssize_t size = ::read(log_.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EPIPE) continue;
    if (size <= 0) return;
    for (const std::string_view line : core::split_lines(std::string_view(buffer, static_cast<std::size_t>(size)))) {
      const std::string address = reset_device(line);
      if (address.empty()) continue;
      for (Device& device : devices_) device.resets += device.pci_address.starts_with(address) ? 1 : 0;
    }
  }
}

void HealthFiles::read(MinuteBook& book) {
  read_kernel_log();
  for (const Device& device : devices_) {
    read_links(device, book);
    read_replays(device, book);
    if (log_.valid()) book.count(device.index, kResetColumn, static_cast<double>(device.resets));
  }
}

}  // namespace aaco::agent
