#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::laboratory::benchmarks {

struct Resident {
  std::int64_t now_bytes = 0;
  std::int64_t peak_bytes = 0;  // since the start of the process, or since reset_peak()
};
// VmRSS and VmHWM of /proc/PID/status; empty where the text does not have them.
std::optional<Resident> parse_status(std::string_view text);
// Of this process; empty where the kernel does not say.
std::optional<Resident> resident();
// Gives back what the allocator keeps for later, so that it is not counted for the next model.
void trim_allocator();
// Starts the peak anew; false where the kernel refuses.
bool reset_peak();

}  // namespace aaco::laboratory::benchmarks
