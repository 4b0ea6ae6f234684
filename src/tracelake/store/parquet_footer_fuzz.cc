#include <cstdint>
#include <string_view>
#include <vector>

#include "tracelake/store/parquet_footer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace store = aaco::tracelake::store;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& column : store::columns_of_footer(text))
    if (column.size() > size) __builtin_trap();
  const std::vector<aaco::tracelake::Between> between = {{"start_ns", 1'000, 2'000}};
  const auto part = store::part_of_footer(text, between);
  if (!part) return 0;
  // What was made is read again, with the same row groups.
  const auto again = store::part_of_footer(part->footer, between);
  if (!again || again->group_count != part->groups.size() || again->groups.size() != part->groups.size()) __builtin_trap();
  return 0;
}
