#include "importers/database/gpu_work.h"

#include "importers/stream/gpu_names.h"

namespace aaco::importers {

void KernelSink::add(const trace::KernelRow& row, const std::function<std::string()>& text) {
  sink_.add(row);
  const auto [place, fresh] = operations_.try_emplace(row.name.value);
  if (fresh)
    if (const std::string name = text(); is_collective_kernel(name)) place->second = sink_.name(collective_operation_of(name));
  if (place->second) sink_.add(collective_of(row, *place->second));
}

trace::NameId BoundedTexts::name(const std::string& text) {
  if (text.empty()) return {};
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  if (known_.size() >= kMax) {
    ++left_out_;
    return {};
  }
  return known_.emplace(text, sink_.name(text)).first->second;
}

}  // namespace aaco::importers
