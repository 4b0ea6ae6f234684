#include "graph/pt2/header.h"

#include "graph/pt2/arguments.h"

namespace aaco::graph::pt2 {
namespace {

using core::ErrorCode;
using core::Json;

// SymPy's infinity was written as one of the largest integers before it became null.
constexpr std::int64_t kUnbounded = INT64_MAX / 2;

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == text.npos;
}

}  // namespace

core::Result<std::int64_t> schema_of(const Json& program, const std::string& name) {
  const Json& held = program["schema_version"];
  if (held.is_null()) return 0;  // before schemas had numbers
  const auto number = held.is_object() ? held["major"].as_i64() : held.as_i64();
  if (!number || *number < 0)
    return core::fail(ErrorCode::invalid_input, name + ": schema_version is not a number (" + held.dump(-1).substr(0, 40) + ")",
                      "export the model again with torch.export.save");
  if (*number > kSchema)
    return core::fail(ErrorCode::unsupported,
                      name + ": unsupported schema version " + std::to_string(*number) + ": AACO supports up to " +
                          std::to_string(kSchema) + " (a new major version changes the meaning of fields)",
                      "export the model with a PyTorch release that writes schema version " + std::to_string(kSchema));
  return *number;
}

SymbolRanges ranges_of(const Json& program) {
  SymbolRanges ranges;
  for (const auto& [name, bounds] : program["range_constraints"].members()) {
    SymbolRange& range = ranges[name];
    if (const auto smallest = bounds["min_val"].as_i64(); smallest && *smallest > 0) range.smallest = *smallest;
    if (const auto largest = bounds["max_val"].as_i64(); largest && *largest >= 0 && *largest < kUnbounded)
      range.largest = *largest;
  }
  for (const auto& [tensor, meta] : program["graph_module"]["graph"]["tensor_values"].members())
    for (const Json& size : meta["sizes"].items()) {
      const auto example = size["as_expr"]["hint"]["as_int"].as_i64();
      if (!example || *example < 0) continue;
      if (const std::string symbol = plain_formula(size["as_expr"]["expr_str"].text()); is_name(symbol))
        ranges[symbol].example = *example;
    }
  return ranges;
}

core::Result<StoredWeights> stored_weights(std::string_view json) {
  AACO_ASSIGN(const Json held, Json::parse(json));
  StoredWeights stored;
  for (const auto& [name, payload] : held["config"].members()) {
    const auto file = payload["path_name"].as_string();
    if (!file) continue;
    const Json& meta = payload["tensor_meta"];
    std::string place = *file;
    for (const char* key : {"dtype", "sizes", "strides", "storage_offset"}) place += "|" + meta[key].dump(-1);
    stored.emplace(name, std::move(place));
  }
  return stored;
}

}  // namespace aaco::graph::pt2
