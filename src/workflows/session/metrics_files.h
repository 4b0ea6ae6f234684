#pragma once

#include <string>

#include "analytics/metric_catalogue.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/metric.h"

namespace aaco::workflows {

// Every metric of a stored session: metrics/inference_summary.json and metrics/derived_metrics.json; absent files hold nothing.
core::Result<trace::Metrics> read_metrics(const std::string& session_path);

// metrics/derived_metrics.json: the metrics that have bands (kernels per node, launch tax, active ratio, microkernel share), each
// with the band of its value. What has none is in metrics/inference_summary.json.
core::Json derived_metrics(const trace::Metrics& metrics, const analytics::metrics::MetricCatalogue& catalogue);
core::Json summary_metrics(const trace::Metrics& metrics, const analytics::metrics::MetricCatalogue& catalogue);

}  // namespace aaco::workflows
