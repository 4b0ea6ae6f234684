#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/handles.h"
#include "tracelake/lake.h"

namespace aaco::tracelake::store {

// A copy, in memory, of the row groups of a Parquet file that may hold rows of interest: a query of a few rows of a large table
// costs the same at any size of the table.
struct ParquetPart {
  core::FileDescriptor file;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file.get()); }
};

// Empty where it would save nothing (small tables, or most of a table), and where it cannot be made: read the file itself then.
std::optional<ParquetPart> parquet_part(const std::string& file, std::span<const Between> between);

// The names of a file's columns, in order; empty where they cannot be told without DuckDB.
std::vector<std::string> parquet_columns(const std::string& file);

}  // namespace aaco::tracelake::store
