#pragma once

#include <string>
#include <vector>

#include "report/model.h"

namespace aaco::workflows {

struct VerdictText {
  std::string sentence;
  std::string confidence;
  std::vector<std::string> headline_metrics;
};

// The first screen's answer in words, from a model whose metrics and shares are filled in. Pure.
VerdictText verdict_of(const report::ReportModel& model);

}  // namespace aaco::workflows
