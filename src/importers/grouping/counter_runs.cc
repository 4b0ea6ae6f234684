#include "importers/grouping/counter_runs.h"

#include <algorithm>

#include "formats/csv.h"

namespace aaco::importers::grouping {

std::set<std::string> first_kernel_names(std::string_view head) {
  std::set<std::string> names;
  formats::csv::Decoder decoder;
  const char* at = head.data();
  const char* const end = at + head.size();
  if (decoder.next(at, end, false) != formats::csv::Step::record) return names;
  const auto& titles = decoder.fields();
  const auto column = static_cast<std::size_t>(std::find(titles.begin(), titles.end(), "Kernel_Name") - titles.begin());
  if (column == titles.size()) return names;
  while (decoder.next(at, end, false) == formats::csv::Step::record)
    if (column < decoder.fields().size()) names.emplace(decoder.fields()[column]);
  return names;
}

bool is_same_program(const std::set<std::string>& counted, const std::set<std::string>& traced) {
  const auto shared =
      std::count_if(counted.begin(), counted.end(), [&](const std::string& name) { return traced.contains(name); });
  return shared > 0 && 2 * shared >= std::ssize(counted);
}

}  // namespace aaco::importers::grouping
