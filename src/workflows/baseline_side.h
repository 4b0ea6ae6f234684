#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "governance/baseline.h"
#include "hardware/fingerprint.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Whether a name given for a session is a baseline file.
bool is_baseline_file(const std::string& name);
core::Result<governance::Baseline> load_baseline(const std::string& path);
// The baseline as one side of a comparison.
ComparedSide side_of(governance::Baseline baseline);
inline constexpr std::string_view kApproval = "baseline.approval";  // the key of the difference below
// What about the baseline itself speaks against judging by it: expired (forbids), not approved, changed since.
std::vector<hardware::Difference> baseline_differences(const governance::Baseline& baseline, std::int64_t now_realtime_ns);

}  // namespace aaco::workflows
