#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace aaco::importers::rocprofv3 {

// A list of records in rocprofv3's JSON.
enum class List : std::uint8_t { kernels, api, copies, allocations, scratch, samples, counters };

// One record, its references still numbers. What the document does not say is empty.
struct Record {
  List list = List::api;
  std::uint32_t domain = 0;  // of api records: the sink's id of the domain's name
  std::uint64_t kind = UINT64_MAX, operation = UINT64_MAX;
  std::uint64_t correlation_id = 0, external_id = 0;
  std::int64_t thread_id = 0;
  std::optional<std::int64_t> start_ns, end_ns;
  std::optional<std::uint64_t> agent, source_agent, target_agent, queue, stream;
  std::uint64_t kernel_id = 0, dispatch_id = 0;
  std::optional<std::int64_t> bytes, lds_bytes, scratch_bytes, vgpr_count, sgpr_count;
  std::optional<std::int64_t> group_x, group_y, group_z, items_x, items_y, items_z;
};

// A value of a counter; several of one counter are of its instances and are added up.
struct CounterValue {
  std::uint64_t counter = 0;
  double value = 0;
};

// Reads a record of any list; `values` gets those of a counter collection. False where the text is no object.
bool read_record(std::string_view text, Record& record, std::vector<CounterValue>& values);

struct Sample {
  std::optional<std::int64_t> time_ns, instruction;
  std::string_view type, stall_reason;
  std::uint64_t dispatch_id = 0;
};
// A sampled program counter.
Sample read_sample(std::string_view text);

}  // namespace aaco::importers::rocprofv3
