#include "importers/rocprofv3/record.h"

#include <cmath>

#include "core/numbers.h"
#include "importers/rocm/values.h"
#include "importers/rocprofv3/dictionary.h"
#include "importers/stream/json_skim.h"

namespace aaco::importers::rocprofv3 {
namespace {

void read_correlation(std::string_view text, Record& record) {
  if (text.empty() || text.front() != '{') {
    record.correlation_id = token_u64(unquoted(text)).value_or(0);
    return;
  }
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    if (key == "internal") record.correlation_id = token_u64(unquoted(raw)).value_or(0);
    if (key != "external") return;
    record.external_id = token_u64(unquoted(raw)).value_or(0);
    for_each_member(raw, [&](std::string_view inner_key, std::string_view value) {  // {"value": 5, "ptr": ...} in early files
      if (inner_key == "value") record.external_id = token_u64(unquoted(value)).value_or(0);
    });
  });
}

void read_dimensions(std::string_view text, std::optional<std::int64_t>& x, std::optional<std::int64_t>& y,
                     std::optional<std::int64_t>& z) {
  for_each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "x") x = rocm::count_of(value);
    if (key == "y") y = rocm::count_of(value);
    if (key == "z") z = rocm::count_of(value);
  });
}

void read_values(std::string_view list, std::vector<CounterValue>& values) {
  if (list.size() < 2 || list.front() != '[') return;
  const char* at = list.data() + 1;
  const char* const end = list.data() + list.size();
  while (at < end) {
    if (*at != '{') {
      ++at;
      continue;
    }
    std::optional<std::uint64_t> counter;
    std::optional<double> value;
    const Skim skim = skim_object(at, end, [&](std::string_view key, std::string_view raw) {
      if (key == "counter_id" || (key == "id" && !counter)) counter = handle_of(raw);
      if (key == "value" || key == "counter_value") value = core::parse_f64(unquoted(raw));
    });
    if (skim != Skim::whole) return;
    if (counter && value && std::isfinite(*value)) values.push_back({*counter, *value});
  }
}

void read_members(std::string_view text, Record& record, std::vector<CounterValue>& values, int depth);

void read_member(std::string_view key, std::string_view raw, Record& record, std::vector<CounterValue>& values, int depth) {
  const std::string_view value = unquoted(raw);
  switch (key.size()) {
    case 4:
      if (key == "kind") record.kind = token_u64(value).value_or(UINT64_MAX);
      break;
    case 5:
      if (key == "bytes") record.bytes = rocm::count_of(value);
      break;
    case 7:
      if (key == "records") read_values(raw, values);
      break;
    case 8:
      if (key == "agent_id") record.agent = handle_of(raw);
      if (key == "queue_id") record.queue = handle_of(raw);
      break;
    case 9:
      if (key == "operation") record.operation = token_u64(value).value_or(UINT64_MAX);
      if (key == "thread_id") record.thread_id = token_i64(value).value_or(0);
      if (key == "kernel_id") record.kernel_id = handle_of(raw).value_or(0);
      if (key == "stream_id") record.stream = handle_of(raw);
      if (key == "grid_size") read_dimensions(raw, record.items_x, record.items_y, record.items_z);
      break;
    case 10:
      if (key == "sgpr_count") record.sgpr_count = rocm::count_of(value);
      break;
    case 11:
      if (key == "dispatch_id") record.dispatch_id = token_u64(value).value_or(0);
      break;
    case 12:
      if (key == "dst_agent_id") record.target_agent = handle_of(raw);
      if (key == "src_agent_id") record.source_agent = handle_of(raw);
      break;
    case 13:
      if ((key == "dispatch_info" || key == "dispatch_data") && depth < 3) read_members(raw, record, values, depth + 1);
      if (key == "end_timestamp") record.end_ns = rocm::time_ns(value);
      break;
    case 14:
      if (key == "correlation_id") read_correlation(raw, record);
      if (key == "workgroup_size") read_dimensions(raw, record.group_x, record.group_y, record.group_z);
      break;
    case 15:
      if (key == "start_timestamp") record.start_ns = rocm::time_ns(value);
      if (key == "allocation_size") record.bytes = rocm::count_of(value);
      if (key == "arch_vgpr_count") record.vgpr_count = rocm::count_of(value);
      break;
    case 16:
      if (key == "lds_block_size_v") record.lds_bytes = rocm::count_of(value);
      break;
    case 18:
      if (key == "group_segment_size" && !record.lds_bytes) record.lds_bytes = rocm::count_of(value);
      break;
    case 20:
      if (key == "private_segment_size") record.scratch_bytes = rocm::count_of(value);
      break;
    default: break;
  }
}

void read_members(std::string_view text, Record& record, std::vector<CounterValue>& values, int depth) {
  for_each_member(text, [&](std::string_view key, std::string_view raw) { read_member(key, raw, record, values, depth); });
}

}  // namespace

bool read_record(std::string_view text, Record& record, std::vector<CounterValue>& values) {
  if (text.empty() || text.front() != '{') return false;
  read_members(text, record, values, 0);
  return true;
}

Sample read_sample(std::string_view text) {
  Sample sample;
  const auto member = [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "timestamp") sample.time_ns = rocm::time_ns(value);
    if (key == "inst_index") sample.instruction = token_i64(value);
    if (key == "inst_type") sample.type = value;
    if (key == "stall_reason") sample.stall_reason = value;
    if (key == "dispatch_id") sample.dispatch_id = token_u64(value).value_or(0);
  };
  for_each_member(text, [&](std::string_view key, std::string_view raw) {
    member(key, raw);
    if (key != "record") return;
    for_each_member(raw, [&](std::string_view inner_key, std::string_view inner) {
      member(inner_key, inner);
      if (inner_key == "snapshot") for_each_member(inner, member);
    });
  });
  return sample;
}

}  // namespace aaco::importers::rocprofv3
