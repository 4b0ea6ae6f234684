#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/model.h"
#include "trace/metric.h"
#include "workflows/session_report/record_phases.h"

// What the verdict of a recorded program is made of.
namespace aaco::workflows {

struct RecordFacts {
  const report::ReportModel& model;
  [[nodiscard]] std::optional<double> metric(std::string_view id) const {
    const auto* found = trace::find_metric(model.metrics, id);
    return found == nullptr ? std::nullopt : std::optional(found->value);
  }
  [[nodiscard]] const report::Series* series(std::string_view name, std::string_view entity) const {
    for (const auto& one : model.telemetry)
      if (one.metric == name && one.entity == entity && !one.value.empty()) return &one;
    return nullptr;
  }
};

inline std::optional<double> mean_of(const report::Series* series) {
  return series == nullptr ? std::nullopt : std::optional(mean_between(*series, 0, series->value.size()));
}

// What limits the program: the id of its class, a title for the headline, and a sentence.
struct RecordLimit {
  std::string id, title, text;
};

// "the memory limit of its control group, 60.0 MiB (reached 1,200 times)"
std::string memory_limit_of(const RecordFacts& facts);

// The kernel ended it, or a process beside it in its group: nothing that it waited for before matters more. Empty: it did not.
std::optional<RecordLimit> out_of_memory(const RecordFacts& facts);

// What reads of storage, or the kernel's work, come from where the group's memory is full: pages are taken away and read again.
// Every other limit, and one without that, is returned as it is.
RecordLimit by_memory_limit(const RecordFacts& facts, RecordLimit limit);

}  // namespace aaco::workflows
