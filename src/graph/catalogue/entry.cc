#include "graph/catalogue/entry.h"

#include <unordered_map>

namespace aaco::graph {
namespace {

using Table = std::unordered_map<std::string_view, const Entry*>;

Table table_of(std::span<const Entry> entries) {
  Table table;
  for (const Entry& entry : entries) table.emplace(entry.op_type, &entry);
  return table;
}

Table aten_table() {
  Table table = table_of(aten_entries());
  table.merge(table_of(aten_whole_entries()));
  return table;
}

const Entry* find_in(const Table& table, std::string_view op_type) {
  const auto found = table.find(op_type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

const Entry* find_entry(std::string_view domain, std::string_view op_type) {
  static const Table kStandard = table_of(standard_entries()), kMicrosoft = table_of(microsoft_entries()), kAten = aten_table(),
                     kTflite = table_of(tflite_entries());
  if (domain.empty()) {
    const Entry* entry = find_in(kStandard, op_type);
    // ONNX Runtime puts a few of its own into the standard domain while it optimises (SimplifiedLayerNormalization).
    return entry != nullptr ? entry : find_in(kMicrosoft, op_type);
  }
  if (domain == "aten" || domain == "quantized_decomposed" || domain == "torchvision" || domain == "higher_order") {
    const Entry* entry = find_in(kAten, op_type);
    // "relu_" writes over its input.
    return entry == nullptr && op_type.ends_with('_') ? find_in(kAten, op_type.substr(0, op_type.size() - 1)) : entry;
  }
  if (domain == "tflite") return find_in(kTflite, op_type);
  if (domain.starts_with("com.microsoft") || domain == "com.ms.internal.nhwc" || domain == "ai.onnx.contrib") {
    const Entry* entry = find_in(kMicrosoft, op_type);
    return entry != nullptr ? entry : find_in(kStandard, op_type);
  }
  if (domain == "ai.onnx.training" || domain == "ai.onnx.preview.training") return find_in(kStandard, op_type);
  return nullptr;
}

}  // namespace aaco::graph
