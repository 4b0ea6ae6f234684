#include "importers/kineto/gpu_rows.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "importers/stream/gpu_names.h"
#include "importers/stream/json_skim.h"

namespace aaco::importers::kineto {
namespace {

using Dimension = std::optional<std::int64_t>;

// Device, stream and process numbers: whole ("7", "7.0", "7e0"), or a text that ends in one ("stream 7").
std::optional<std::int64_t> number_of(std::string_view token) {
  constexpr double kMax = 9e15;  // whole numbers are exact below it
  if (const auto value = token_i64(token)) return value;
  if (const auto value = core::parse_f64(token))
    return std::abs(*value) < kMax && *value == std::floor(*value) ? std::optional(static_cast<std::int64_t>(*value))
                                                                   : std::nullopt;
  const auto last = token.find_last_not_of("0123456789");
  return last == std::string_view::npos ? std::nullopt : token_i64(token.substr(last + 1));
}

void read_dimensions(std::string_view list, Dimension& x, Dimension& y, Dimension& z) {
  if (list.size() < 2 || list.front() != '[') return;
  list = list.substr(1, list.size() - 2);
  for (Dimension* target : {&x, &y, &z}) {
    const auto comma = list.find(',');
    *target = token_i64(list.substr(0, comma));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> element_bytes(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 19> kSizes = {{
      {"Float", 4},
      {"BFloat16", 2},
      {"Half", 2},
      {"Double", 8},
      {"Long", 8},
      {"Int", 4},
      {"Short", 2},
      {"Char", 1},
      {"Byte", 1},
      {"Bool", 1},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"float", 4},
      {"c10::BFloat16", 2},
      {"c10::Half", 2},
  }};
  for (const auto& [name, size] : kSizes)
    if (name == type) return size;
  return std::nullopt;
}

}  // namespace

trace::KernelRow kernel_row(const TraceEvent& event, Span span, std::int32_t rank, TextIds& ids) {
  trace::KernelRow row;
  row.rank = rank;
  row.queue = -1;
  row.name = ids.name(event.name);
  row.start_ns = span.start_ns;
  row.end_ns = span.end_ns;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "device")
      device = number_of(value);
    else if (key == "stream")
      stream = number_of(value);
    else if (key == "correlation")
      row.correlation_id = token_u64(value).value_or(0);
    else if (key == "External id" || key == "external id")
      row.external_id = token_u64(value).value_or(0);
    else if (key == "grid_x")
      row.grid_x = token_i64(value);
    else if (key == "grid_y")
      row.grid_y = token_i64(value);
    else if (key == "grid_z")
      row.grid_z = token_i64(value);
    else if (key == "block_x")
      row.block_x = token_i64(value);
    else if (key == "block_y")
      row.block_y = token_i64(value);
    else if (key == "block_z")
      row.block_z = token_i64(value);
    else if (key == "grid")
      read_dimensions(value, row.grid_x, row.grid_y, row.grid_z);
    else if (key == "block")
      read_dimensions(value, row.block_x, row.block_y, row.block_z);
    else if (key == "registers per thread" || key == "vgpr_count")
      row.vgpr_count = token_i64(value);
    else if (key == "shared memory" || key == "lds_bytes")
      row.lds_bytes = token_i64(value);
    else if (key == "graph node id")
      row.graph_node_id = token_u64(value).value_or(0);
    else if (key == "queue")
      row.queue = number_of(value).value_or(-1);
  });
  row.device = device ? *device : number_of(event.process).value_or(0);
  row.stream = stream ? *stream : number_of(event.thread).value_or(0);
  return row;
}

trace::CopyRow copy_row(const TraceEvent& event, Span span, std::int32_t rank, bool memset, TextIds& ids) {
  trace::CopyRow row;
  row.rank = rank;
  row.start_ns = span.start_ns;
  row.end_ns = span.end_ns;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::string_view direction = memset ? "memset" : copy_direction_of(event.name);
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "device")
      device = number_of(value);
    else if (key == "stream")
      stream = number_of(value);
    else if (key == "correlation")
      row.correlation_id = token_u64(value).value_or(0);
    else if (key == "bytes")
      row.bytes = token_i64(value);
    else if (key == "fromDevice" || key == "source_device")
      row.source_device = number_of(value);
    else if (key == "toDevice" || key == "target_device")
      row.target_device = number_of(value);
    else if (key == "kind" && direction == "unknown")
      direction = copy_direction_of(value);
  });
  if (row.bytes && *row.bytes < 0) row.bytes.reset();
  row.kind = ids.name(direction);
  row.device = device ? *device : number_of(event.process).value_or(0);
  row.stream = stream ? *stream : number_of(event.thread).value_or(0);
  return row;
}

std::optional<trace::CollectiveRow> collective_row(const TraceEvent& event, const trace::KernelRow& kernel, TextIds& ids) {
  if (!is_collective_kernel(event.name)) return std::nullopt;
  trace::CollectiveRow row = collective_of(kernel, {});
  std::string_view operation = collective_operation_of(event.name);
  std::optional<std::int64_t> elements;
  std::optional<std::int64_t> size;
  std::string_view description;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const std::string_view value = unquoted(raw);
    if (key == "Collective name") {
      if (const auto named = collective_operation_of(value); !named.empty()) operation = named;
    } else if (key == "In msg nelems") {
      elements = token_i64(value);
    } else if (key == "dtype") {
      row.data_type = ids.name(value);
      size = element_bytes(value);
    } else if (key == "Group size") {
      row.group_size = token_i64(value);
    } else if (key == "Process Group Name") {
      row.group = ids.name(value);
    } else if (key == "Process Group Description") {
      description = value;
    }
  });
  if (row.group == trace::NameId()) row.group = ids.name(description);
  row.operation = ids.name(operation);
  std::int64_t bytes = 0;
  if (elements && size && *elements >= 0 && !__builtin_mul_overflow(*elements, *size, &bytes)) row.bytes = bytes;
  return row;
}

}  // namespace aaco::importers::kineto
