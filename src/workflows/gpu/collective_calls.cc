#include "workflows/gpu/collective_calls.h"

#include <vector>

#include "analytics/collectives.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

core::Status store_collective_calls(const std::string& session_path, trace::Sink& sink) {
  trace::NameTable names;
  std::vector<trace::CollectiveRow> rows;
  AACO_TRY(tracelake::scan_table<trace::CollectiveRow>(session_path, names,
                                                       [&](std::span<const trace::CollectiveRow> some) -> core::Status {
                                                         if (rows.size() <= kMaxCollectives)
                                                           rows.insert(rows.end(), some.begin(), some.end());
                                                         return {};
                                                       }));
  if (rows.size() > kMaxCollectives) return sink.status();
  for (const analytics::collectives::Call& call : analytics::collectives::match(rows, names)) {
    trace::CollectiveCallRow row;
    row.rank = call.row.rank;
    row.device = call.row.device;
    row.instance = call.instance;
    row.operation = sink.name(names.text(call.row.operation));
    row.group = sink.name(names.text(call.row.group));
    row.group_size = call.row.group_size;
    row.rank_count = call.rank_count;
    row.start_ns = call.row.start_ns;
    row.end_ns = call.row.end_ns;
    row.data_bytes = call.data_bytes;
    row.wait_ns = call.wait_ns;
    row.wait_method = sink.name(to_string(call.method));
    if (call.algorithm_bytes_per_s) row.time_method = sink.name(call.transfer_ns ? "transfer" : "duration");
    row.algorithm_bytes_per_s = call.algorithm_bytes_per_s;
    row.bus_bytes_per_s = call.bus_bytes_per_s;
    sink.add(row);
  }
  return sink.status();
}

}  // namespace aaco::workflows
