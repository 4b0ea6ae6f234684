#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/model.h"

namespace aaco::workflows {

struct VerdictText {
  std::string sentence;
  std::string confidence;
  std::vector<std::string> headline_metrics;
  std::optional<report::HeadlineDevice> headline_of = {};  // of the device that the sentence speaks of, where there are several
};

// The first screen's answer in words, from a model whose metrics and shares are filled in. Pure.
VerdictText verdict_of(const report::ReportModel& model);

}  // namespace aaco::workflows
