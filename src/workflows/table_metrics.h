#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/metric.h"
#include "trace/session.h"

namespace aaco::workflows {

// Every metric that follows from a bundle's tables (an open one after flush(), or a closed one). `items_per_iteration` is the
// batch.
core::Result<trace::Metrics> table_metrics(const std::string& session_path, const std::vector<trace::Phase>& phases,
                                           std::int64_t items_per_iteration);

}  // namespace aaco::workflows
