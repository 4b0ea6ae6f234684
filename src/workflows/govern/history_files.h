#pragma once

#include <vector>

#include "workflows/history.h"

namespace aaco::workflows {

// The series of request.files that request.metric names, those of one name in several files joined and put in order of time.
core::Result<std::vector<HistorySeries>> series_of_files(const HistoryRequest& request, trace::Account& account);

}  // namespace aaco::workflows
