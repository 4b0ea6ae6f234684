#pragma once

#include "core/json.h"
#include "core/result.h"
#include "graph/pt2.h"

// What stands beside the graph of an exported program.
namespace aaco::graph::pt2 {

// The major version of its schema; fails with unsupported for one that is newer than kSchema, invalid_input for what is none.
core::Result<std::int64_t> schema_of(const core::Json& program, const std::string& name);
// The newest schema that is read (torch/_export/serde/schema.py: SCHEMA_VERSION).
inline constexpr std::int64_t kSchema = 8;

// Bounds (range_constraints) and the sizes the model was exported with (the hints of formulas that are one name).
SymbolRanges ranges_of(const core::Json& program);

// From "data/weights/MODEL_weights_config.json": storage, place in it and layout of each tensor, as one text.
core::Result<StoredWeights> stored_weights(std::string_view json);

}  // namespace aaco::graph::pt2
