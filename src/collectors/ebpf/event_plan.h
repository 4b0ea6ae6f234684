#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/ebpf/wire.h"

namespace aaco::collectors::ebpf {

// One event of the kernel and the programs that hear it: their names are PREFIX_NAME, the prefix by way (way_prefix).
struct EventPlan {
  std::string_view event;                  // for people
  std::array<std::string_view, 3> names;   // of programs; empty: fewer
  std::array<std::string_view, 3> points;  // "sched/sched_switch", of each
  bool required = false;                   // without it there are no intervals
  bool of_driver = false;                  // by tracepoint only; a machine without the driver lacks nothing
};

std::span<const EventPlan> event_plans();

// "btf", "raw", "tp"; empty for a way that there is not.
std::string_view way_prefix(std::string_view way);

// Where a field lies in a tracepoint's record, by its `format` file; empty where the file does not tell.
std::optional<WireU32> field_offset(std::string_view format, std::string_view field);

// The fields that programs of kind tracepoint read. `tracefs` is the folder that holds events/. A field that cannot be found
// leaves its event out: `missing` names the tracepoint.
WireLayout read_layout(const std::string& tracefs, std::vector<std::string>& missing);

}  // namespace aaco::collectors::ebpf
