#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analytics/kernel_pace.h"
#include "trace/rows.h"
#include "workflows/gpu/work_findings.h"

namespace aaco::workflows {

// Steps of a trace of which one or a few take most of the time: a median says nothing of them, and shares and means little else.
class StepLengths {
 public:
  static constexpr std::size_t kMaxSteps = 100'000, kMinSteps = 3;  // of a rank
  static constexpr double kMuchLonger = 3;                          // times the median (our own judgement)
  static constexpr double kMatters = 0.3;                           // of the time of all steps (the same)

  void add(const trace::IterationRow& step);
  // `kernels`: of a device of the rank. Empty: the steps are alike, or too few.
  [[nodiscard]] std::optional<UnevenSteps> uneven(std::int32_t rank,
                                                  const std::vector<analytics::trace_time::EqualKernels>& kernels) const;

 private:
  struct Step {
    std::int64_t start_ns = 0, duration_ns = 0;
  };
  std::map<std::int32_t, std::vector<Step>> steps_;
};

}  // namespace aaco::workflows
