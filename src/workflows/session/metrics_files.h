#pragma once

#include <string>

#include "core/result.h"
#include "trace/metric.h"

namespace aaco::workflows {

// Every metric of a stored session: metrics/inference_summary.json and metrics/derived_metrics.json; absent files hold nothing.
core::Result<trace::Metrics> read_metrics(const std::string& session_path);

}  // namespace aaco::workflows
