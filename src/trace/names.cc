#include "trace/names.h"

namespace aaco::trace {

NameId NameTable::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return NameId{found->second};
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), id);
  return NameId{id};
}

}  // namespace aaco::trace
