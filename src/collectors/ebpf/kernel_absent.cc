// In place of kernel_source.cc where this build has no libbpf, or no clang that builds for eBPF.
#include "collectors/ebpf/event_source.h"

namespace aaco::collectors::ebpf {

core::Result<std::unique_ptr<EventSource>> open_kernel(const WatchOptions&) {
  return core::fail(core::ErrorCode::unsupported, "this build of aaco has no eBPF support",
                    "install libbpf-dev and clang (scripts/bootstrap.sh does this), then rebuild");
}

}  // namespace aaco::collectors::ebpf
