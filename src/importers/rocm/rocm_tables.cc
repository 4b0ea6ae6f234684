#include "importers/rocm_tables.h"

#include "importers/rocm/columns.h"

namespace aaco::importers {

std::optional<RocmTable> rocm_table_of(std::string_view head) {
  switch (rocm::table_of_head(head)) {
    case rocm::Table::kernels: return RocmTable::kernels;
    case rocm::Table::counters: return RocmTable::counters;
    case rocm::Table::api:
    case rocm::Table::copies:
    case rocm::Table::allocations:
    case rocm::Table::scratch: return RocmTable::calls;
    case rocm::Table::samples:
    case rocm::Table::agents:
    case rocm::Table::statistics:
    case rocm::Table::system:
    case rocm::Table::roofline: return RocmTable::facts;
    case rocm::Table::unknown: break;
  }
  return std::nullopt;
}

}  // namespace aaco::importers
