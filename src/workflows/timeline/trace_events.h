#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/result.h"
#include "trace/rows.h"
#include "tracelake/lake.h"
#include "workflows/timeline/event_segments.h"

namespace aaco::workflows {

// Columns that a timeline does not show.
template <class Row>
std::vector<tracelake::Instead> columns_left_out(EventSegments::Details details) {
  if constexpr (std::is_same_v<Row, trace::ApiCallRow>) {
    if (details == EventSegments::Details::all)
      return {{"arguments", "CASE WHEN domain = 'cpu_op' THEN arguments END"}, {"external_id", "0"}};
    return {{"arguments", "NULL"}, {"external_id", "0"}, {"correlation_id", "0"}};
  }
  if constexpr (std::is_same_v<Row, trace::KernelRow>) {
    std::vector<tracelake::Instead> list = {{"queue", "0"},         {"external_id", "0"},  {"dispatch_id", "0"},
                                            {"graph_node_id", "0"}, {"lds_bytes", "NULL"}, {"scratch_bytes", "NULL"},
                                            {"vgpr_count", "NULL"}, {"sgpr_count", "NULL"}};
    if (details == EventSegments::Details::none)
      for (const char* column : {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"}) list.push_back({column, "NULL"});
    return list;
  }
  return {};
}

// The rows of a stored session's timeline for which the condition holds, each table in the order of starts.
// go_on(table_ended) is called after each batch of rows and after each table.
template <class Visit, class GoOn>
core::Status read_trace_rows(const std::string& session_path, trace::NameTable& names, EventSegments::Details details,
                             const tracelake::Condition& where, const Visit& visit, const GoOn& go_on) {
  const auto table = [&]<class Row>() -> core::Status {
    const auto rows_of = [&](std::span<const Row> rows) -> core::Status {
      for (const Row& row : rows) visit(row);
      return go_on(false);
    };
    AACO_TRY(tracelake::scan_where<Row>(session_path, names, where, columns_left_out<Row>(details), rows_of));
    return go_on(true);
  };
  AACO_TRY(table.template operator()<trace::ApiCallRow>());
  AACO_TRY(table.template operator()<trace::KernelRow>());
  AACO_TRY(table.template operator()<trace::CopyRow>());
  return table.template operator()<trace::CollectiveRow>();
}

}  // namespace aaco::workflows
