// In place of kernel_source.cc where this build has no libbpf, or no clang that builds for eBPF.
#include "collectors/ebpf/event_source.h"

namespace aaco::collectors::ebpf {

core::Result<std::unique_ptr<EventSource>> open_kernel(const WatchOptions&) {
  return core::fail(core::ErrorCode::unsupported, "this aaco was built without eBPF",
                    "install libbpf-dev and clang (scripts/bootstrap.sh does), then build again");
}

}  // namespace aaco::collectors::ebpf
