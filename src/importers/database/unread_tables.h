#pragma once

#include <functional>
#include <string_view>

#include "importers/database/table_scan.h"

namespace aaco::importers {

// Counts the rows of every table that holds something and that nobody reads as dropped, by table. `is_known` says of a table's
// name that its rows are accounted for, or that it only describes others.
void drop_unread_tables(TableScan& scan, const std::function<bool(std::string_view name)>& is_known);

}  // namespace aaco::importers
