#pragma once

#include <duckdb.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::tracelake::query {

// Whether cell_text() can write this type; others are cast to text by SQL first.
bool has_text(duckdb_type type);
// SQL's name of such a type.
std::string_view type_name(duckdb_type type);
// A cell as text that reads back to the same value; empty where it is NULL.
std::optional<std::string> cell_text(duckdb_vector column, duckdb_type type, std::size_t row);

}  // namespace aaco::tracelake::query
