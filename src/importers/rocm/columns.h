#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "importers/stream/csv_records.h"

// The columns of the tables that rocprof, rocprofv2, rocprofv3 and rocprof-compute write. One meaning has many spellings
// ("KernelName", "Kernel_Name"); letters and digits alone decide, in lower case.
namespace aaco::importers::rocm {

enum class Column : std::uint8_t {
  kernel_name,
  kernel_id,
  start,
  end,
  agent,
  queue,
  stream,
  process,
  thread,
  dispatch,
  correlation,
  grid_size,
  grid_x,
  grid_y,
  grid_z,
  group_size,
  group_x,
  group_y,
  group_z,
  lds,
  scratch,
  vgpr,
  sgpr,
  domain,
  function,
  operation,
  direction,
  source_agent,
  target_agent,
  bytes,
  address,
  counter_name,
  counter_value,
  guid,
  name,
  calls,
  total_ns,
  minimum_ns,
  maximum_ns,
  node_id,
  logical_node_id,
  agent_type,
  sample_time,
  instruction,
  instruction_comment,
  instruction_type,
  stall_reason,
  marker_message,
  workload_name,
  roofline_device,
  ignored,  // known, and of no use
  other,    // unknown: a counter in the wide tables
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::other) + 1;

// The meaning of a heading.
Column column_of(std::string_view heading);

class Columns {
 public:
  explicit Columns(const CsvFields& header);
  [[nodiscard]] bool has(Column column) const { return index_[static_cast<std::size_t>(column)] >= 0; }
  // The field of a record, or the empty text.
  [[nodiscard]] std::string_view field(const CsvFields& fields, Column column) const {
    const std::int32_t index = index_[static_cast<std::size_t>(column)];
    return index >= 0 && static_cast<std::size_t>(index) < fields.size() ? fields[static_cast<std::size_t>(index)]
                                                                         : std::string_view();
  }
  [[nodiscard]] const std::vector<std::string>& headings() const { return headings_; }
  // Where the columns of Column::other stand; of a heading that stands twice the first.
  [[nodiscard]] const std::vector<std::size_t>& others() const { return others_; }
  // Columns of the header; an empty heading behind the last comma is none.
  [[nodiscard]] std::size_t size() const { return headings_.size(); }

 private:
  std::array<std::int32_t, kColumns> index_ = {};
  std::vector<std::string> headings_;
  std::vector<std::size_t> others_;
};

enum class Table : std::uint8_t {
  unknown,
  kernels,   // one line a dispatch; columns of other names are counters
  counters,  // one line a dispatch and counter
  api,       // calls and ranges
  copies,
  allocations,
  scratch,
  samples,  // program counters
  agents,
  statistics,
  system,  // rocprof-compute's sysinfo.csv
  roofline,
};
Table table_of(const Columns& columns);

// Of a file by its first bytes; unknown where they are no such table. `header` gets its headings.
Table table_of_head(std::string_view head, std::vector<std::string>* header = nullptr);

}  // namespace aaco::importers::rocm
