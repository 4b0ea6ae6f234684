#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracelake/lake.h"

namespace aaco::tracelake::store {

// The row groups of a Parquet file that may hold rows of interest, and a footer that names only them (parquet.apache.org, "File
// format": FileMetaData). DuckDB spends a microsecond or more on each column of each row group of a footer; this reader takes a
// fiftieth, so a few rows of a large table are found without that.
struct FooterPart {
  struct Bytes {
    std::int64_t offset = 0, size = 0;  // in the file
  };
  std::string footer;
  std::vector<Bytes> groups;    // of the row groups kept, in the file's order
  std::size_t group_count = 0;  // of the file
};

// Keeps the row groups whose statistics do not exclude that all of `between` hold. Empty where the footer is not what the format
// says, or lacks what is needed.
std::optional<FooterPart> part_of_footer(std::string_view footer, std::span<const Between> between);

// The names of a table's columns, in order. Empty where the footer is not what the format says, or columns are nested.
std::vector<std::string> columns_of_footer(std::string_view footer);

}  // namespace aaco::tracelake::store
