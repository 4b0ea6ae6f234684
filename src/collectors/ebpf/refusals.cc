#include "collectors/ebpf/refusals.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace aaco::collectors::ebpf {

using core::ErrorCode;

core::Error refused(int code) {
  const std::string words = std::strerror(-code);
  if (code == -EPERM || code == -EACCES)
    return {ErrorCode::unsupported,
            "not permitted to load eBPF programs (" + words + ")",
            "run as root, or grant the capabilities once: sudo setcap cap_bpf,cap_perfmon,cap_sys_resource+ep $(command -v aaco)",
            {}};
  if (code == -ENOSYS || code == -EINVAL)
    return {ErrorCode::unsupported,
            "this kernel does not support eBPF (" + words + ")",
            "use a kernel built with CONFIG_BPF_SYSCALL, Linux 5.8 or newer",
            {}};
  return {ErrorCode::unsupported, "the kernel rejected eBPF: " + words, "see 'dmesg'", {}};
}

core::Status sees_the_machines_processes(const SysRoot& root) {
  constexpr std::string_view kMachines = "pid:[4026531836]";  // PROC_PID_INIT_INO of include/linux/proc_ns.h
  std::array<char, 64> text{};
  const ssize_t length = ::readlink(root.at("/proc/self/ns/pid").c_str(), text.data(), text.size());
  if (length <= 0 || std::string_view(text.data(), static_cast<std::size_t>(length)) == kMachines) return {};
  return core::fail(ErrorCode::unsupported,
                    "this container has its own PID namespace, but kernel events use the host's process ids",
                    "run on the host, or share the host's PID namespace (docker run --pid=host --privileged)");
}

}  // namespace aaco::collectors::ebpf
