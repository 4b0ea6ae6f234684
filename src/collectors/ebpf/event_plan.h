#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/ebpf/wire.h"
#include "collectors/scheduler_watch.h"

namespace aaco::collectors::ebpf {

// One event of the kernel and the programs that hear it: their names are PREFIX_NAME, the prefix by way (way_prefix).
struct EventPlan {
  std::string_view event;                  // for people
  std::array<std::string_view, 3> names;   // of programs; empty: fewer
  std::array<std::string_view, 3> points;  // "sched/sched_switch", of each; of a kprobe the kernel's function
  bool required = false;                   // without it there are no intervals
  std::string_view module = {};            // of the driver: a machine without it (/sys/module) lacks nothing
  std::string_view only_way = {};          // empty: any but kprobe
};

std::span<const EventPlan> event_plans();

// "btf", "raw", "tp", "kp"; empty for a way that there is not.
std::string_view way_prefix(std::string_view way);

// Where a field lies in a tracepoint's record, by its `format` file; empty where the file does not tell.
std::optional<WireU32> field_offset(std::string_view format, std::string_view field);

// The fields that programs of kind tracepoint read. `tracefs` is the folder that holds events/. A field that cannot be found
// leaves its event out: `missing` names the tracepoint.
WireLayout read_layout(const std::string& tracefs, std::vector<std::string>& missing);

// The folder that holds events/.
std::string tracefs_of(const SysRoot& root);

// The functions that kprobes want, as far as the text of /proc/kallsyms has them.
std::set<std::string, std::less<>> probed_functions(std::string_view kallsyms);

// What is told to the user of `choice`, one of each plan: a driver that is not there is no event that could not be heard, nor is
// the name that another version of the kernel has for one that is.
std::vector<Attachment> worth_telling(const std::vector<Attachment>& choice,
                                      const std::function<bool(std::string_view module)>& has_module);

}  // namespace aaco::collectors::ebpf
