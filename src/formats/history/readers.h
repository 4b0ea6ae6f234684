#pragma once

#include "core/json.h"
#include "formats/history.h"

namespace aaco::formats::history {

core::Result<Document> read_json(const core::Json& root, const std::string& name);
core::Result<Document> read_table(std::string_view text, const std::string& name, const Filter& filter);

// Adds a point if the value is a finite number, else counts why not.
void add_value(std::optional<double> value, Point point, Series& series, Document& document);

}  // namespace aaco::formats::history
