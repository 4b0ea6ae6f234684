#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::collectors::ebpf {

// What is mapped for execution in a process, as /proc/PID/maps says.
struct Mapping {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t file_offset = 0;
  std::string file;  // "[vdso]" and the like for what is none; empty: anonymous, such as compiled just in time
  bool operator==(const Mapping&) const = default;
};
std::vector<Mapping> parse_maps(std::string_view text);

// The mapping of an address of maps that are in order; null where none has it.
const Mapping* mapping_of(const std::vector<Mapping>& maps, std::uint64_t address);

}  // namespace aaco::collectors::ebpf
