#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/call_tree.h"
#include "analytics/kernel_pairs.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Two traces side by side, as information: nothing is decided, so the sides may also be of different devices.
struct SideBySideRequest {
  std::string baseline, candidate;  // one session each
  bool kernels = true, tree = false;
};

struct SideBySide {
  struct Side {
    std::string id;
    std::string devices;  // "AMD Instinct MI300X"; empty: the files name none
    std::int64_t steps = 1;
    bool has_steps = false;
    double kernel_ns = 0;  // of a step
  };
  Side a, b;
  std::optional<std::vector<analytics::tracediff::KernelPair>> kernels;
  std::optional<std::vector<analytics::calltree::DiffNode>> tree;
  std::vector<std::string> notes;
};

// Values are per step where a trace has steps, else of the whole trace. Fails where a session has no kernels.
core::Result<SideBySide> side_by_side(const SideBySideRequest& request, const Services& services);
core::Json to_json(const SideBySide& sides);

}  // namespace aaco::workflows
