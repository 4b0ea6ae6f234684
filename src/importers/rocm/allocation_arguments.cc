#include "importers/rocm/allocation_arguments.h"

namespace aaco::importers::rocm {

trace::NameId AllocationArguments::of(std::optional<std::int64_t> agent, std::optional<std::int64_t> bytes) {
  std::string text;
  const auto add = [&](std::string_view key, std::int64_t value) {
    text.append(text.empty() ? "{\"" : ",\"").append(key).append("\":").append(std::to_string(value));
  };
  if (agent) add("agent", *agent);
  if (bytes && *bytes > 0) add("bytes", *bytes);
  if (text.empty()) return {};
  text += '}';
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  if (known_.size() >= kMax) {
    ++left_out_;
    return {};
  }
  return known_.emplace(text, sink_.name(text)).first->second;
}

void AllocationArguments::report(trace::Account& account) const {
  if (left_out_ > 0)
    account.notes.push_back("arguments of " + std::to_string(left_out_) + " records were dropped: too many distinct values");
}

}  // namespace aaco::importers::rocm
