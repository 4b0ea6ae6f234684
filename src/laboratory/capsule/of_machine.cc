#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/files.h"
#include "core/numbers.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;

constexpr const char* kCpus = "/sys/devices/system/cpu";
constexpr const char* kVirtual = "most virtual machines have none; set it on the host";

// Entries of a folder that begin with `prefix` and then a number, and have `file` in them, as paths below the root.
std::vector<std::string> numbered(const Work& work, const std::string& folder, std::string_view prefix, const std::string& file) {
  std::vector<std::string> paths;
  const auto names = core::list_directory(work.below(folder));
  if (!names) return paths;
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix) || !core::parse_i64(std::string_view(name).substr(prefix.size()))) continue;
    std::string path = folder + "/" + name + "/" + file;
    if (core::exists(work.below(path))) paths.push_back(std::move(path));
  }
  return paths;
}

// All of them or none is not promised: what was set stays noted in the journal and is put back.
core::Result<std::string> set_each(const std::vector<std::string>& paths, const std::string& value, Work& work) {
  std::string before;
  for (const std::string& path : paths) {
    AACO_ASSIGN(const std::string was, work.journal->set_file(path, value));
    if (before.find(was) == std::string::npos) before += (before.empty() ? "" : ", ") + was;
  }
  return "was " + before;
}

}  // namespace

core::Result<std::string> set_huge_pages(const std::string& value, Work& work) {
  if (value != "never") return work.journal->set_file("/sys/kernel/mm/transparent_hugepage/enabled", value);
  // Of this process and what it starts only: nobody else loses anything.
  const int before = ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
  if (before < 0 || ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
    return core::fail(ErrorCode::unsupported, std::string("disabling huge pages of this process: ") + std::strerror(errno));
  work.step_out.emplace_back([before] { (void)::prctl(PR_SET_THP_DISABLE, before, 0, 0, 0); });
  return std::string("for the measured process only");
}

core::Result<std::string> set_governor(const std::string& value, Work& work) {
  const auto paths = numbered(work, kCpus, "cpu", "cpufreq/scaling_governor");
  if (paths.empty()) return core::fail(ErrorCode::unsupported, "the kernel provides no CPU frequency governor", kVirtual);
  return set_each(paths, value, work);
}

core::Result<std::string> set_boost(const std::string& value, Work& work) {
  const std::string boost = std::string(kCpus) + "/cpufreq/boost", no_turbo = std::string(kCpus) + "/intel_pstate/no_turbo";
  if (core::exists(work.below(boost))) return set_each({boost}, value == "on" ? "1" : "0", work);
  if (core::exists(work.below(no_turbo))) return set_each({no_turbo}, value == "on" ? "0" : "1", work);
  return core::fail(ErrorCode::unsupported, "the kernel provides no boost control", kVirtual);
}

core::Result<std::string> set_idle(const std::string&, Work& work) {
  const std::string path = work.below("/dev/cpu_dma_latency");
  core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid())
    return core::fail(errno == ENOENT ? ErrorCode::unsupported : ErrorCode::permission,
                      "/dev/cpu_dma_latency: " + std::string(std::strerror(errno)),
                      errno == ENOENT ? "this kernel does not support limiting wake-up latency" : "run as root");
  const std::int32_t microseconds = 0;
  if (::write(file.get(), &microseconds, sizeof microseconds) != sizeof microseconds)
    return core::fail_errno(errno, "/dev/cpu_dma_latency");
  work.held.push_back(std::move(file));  // the kernel lifts it when the file is closed, however that comes
  return std::string("until aaco exits");
}

core::Result<std::string> set_gpu_clocks(const std::string& value, Work& work) {
  const auto policies = numbered(work, "/sys/class/drm", "card", "device/power_dpm_force_performance_level");
  if (policies.empty())
    return core::fail(ErrorCode::unsupported, "no GPU uses the amdgpu driver",
                      "for other GPUs, lock the clocks with the vendor's tool (nvidia-smi --lock-gpu-clocks)");
  if (!value.starts_with("manual:")) return set_each(policies, value, work);
  const std::string step = value.substr(std::string_view("manual:").size());
  std::string before;
  for (const std::string& policy : policies) {
    AACO_ASSIGN(before, work.journal->set_file(policy, "manual"));
    if (before == "manual")
      return core::fail(ErrorCode::conflict, policy + " is already manual, and its clock steps cannot be read back for restoring",
                        "set it to auto first");
    // Leaving manual mode, which the journal notes, lifts the choice of steps.
    const std::string steps = policy.substr(0, policy.rfind('/')) + "/pp_dpm_sclk";
    if (const auto written = undo::write_control(work.below(steps), step); !written)
      return core::fail(ErrorCode::unsupported, steps + " rejected step " + step + ": " + written.error().message,
                        "that file lists the available steps");
  }
  return "was " + before;
}

}  // namespace aaco::laboratory::capsule
