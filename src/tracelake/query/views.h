#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "tracelake/store/table_reader.h"

namespace aaco::tracelake::query {

// A path as a glob that matches it alone.
std::string escape_glob(const std::string& path);

// A table of trace/tables.h as the lake shows it.
struct ViewTable {
  std::string_view name;
  std::string_view path;  // of its file in a bundle
  std::vector<store::FileColumn> columns;
};
std::vector<ViewTable> view_tables();

// The statement that makes the view of one table over all whole sessions below `root`, with session_id and date. `present`: at
// least one session has it; else the view is empty, with the same columns.
//
// The session's id and date are functions of the file's name, so that a condition on them is decided before a file is opened.
// Columns are found by name: a session that was written before a column existed has NULL there, and one that is newer has columns
// that are not seen.
std::string view_statement(const ViewTable& table, const std::string& root, bool present);

}  // namespace aaco::tracelake::query
