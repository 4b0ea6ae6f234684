#pragma once

#include <vector>

#include "trace/rows.h"
#include "trace/sink.h"
#include "trace/stored_names.h"

namespace aaco::workflows {

// Rows of an analysis into a session, with the session's names.
inline void store_rows(const std::vector<trace::AttributionRow>& rows, trace::StoredNames& stored, trace::Sink& sink) {
  for (trace::AttributionRow row : rows) {
    row.node_name = stored(row.node_name);
    row.operator_name = stored(row.operator_name);
    row.kernel_name = stored(row.kernel_name);
    row.launch = stored(row.launch);
    row.method = stored(row.method);
    sink.add(row);
  }
}

inline void store_rows(const std::vector<trace::KernelGroupRow>& rows, trace::StoredNames& stored, trace::Sink& sink) {
  for (trace::KernelGroupRow row : rows) {
    row.kernel_name = stored(row.kernel_name);
    row.family = stored(row.family);
    row.library = stored(row.library);
    row.parameters = stored(row.parameters);
    sink.add(row);
  }
}

}  // namespace aaco::workflows
