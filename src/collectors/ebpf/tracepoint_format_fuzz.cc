#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectors/ebpf/event_plan.h"
#include "collectors/ebpf/thread_names.h"

// Texts of the kernel: the layout of a tracepoint, and the table of interrupts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)aaco::collectors::ebpf::field_offset(text, "pid");
  (void)aaco::collectors::ebpf::parse_interrupts(text);
  return 0;
}
