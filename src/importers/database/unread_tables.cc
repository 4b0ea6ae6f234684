#include "importers/database/unread_tables.h"

#include "importers/stream/tokens.h"

namespace aaco::importers {
namespace {
constexpr std::size_t kMaxNamed = 64;  // an account stays readable, whatever a file holds
}

void drop_unread_tables(TableScan& scan, const std::function<bool(std::string_view name)>& is_known) {
  std::size_t named = 0;
  for (const auto& table : scan.database().tables()) {
    if (is_known(table.name)) continue;
    const auto count = scan.database().count(table.name);
    if (!count || *count <= 0) continue;  // what is damaged is told where it is found
    scan.account().drop(named < kMaxNamed ? "a row of " + clean_utf8(table.name) + ", a table that is not imported"
                                          : std::string("a row of other tables that are not imported"),
                        *count);
    ++named;
  }
}

}  // namespace aaco::importers
