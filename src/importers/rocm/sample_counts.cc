#include "importers/rocm/sample_counts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "importers/stream/tokens.h"

namespace aaco::importers::rocm {
namespace {

using core::Json;

constexpr std::size_t kMaxCounts = 100'000;  // that are counted apart
constexpr std::size_t kShown = 100;
constexpr std::size_t kShownDispatches = 1'000;

std::vector<std::pair<std::string, std::int64_t>> sorted(const std::map<std::string, std::int64_t, std::less<>>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (list.size() > kShown) list.resize(kShown);
  return list;
}

}  // namespace

void SampleCounts::count(Counts& counts, std::string_view key) {
  if (const auto known = counts.find(key); known != counts.end())
    ++known->second;
  else if (counts.size() < kMaxCounts)
    counts.emplace(key.substr(0, 1024), 1);
}

void SampleCounts::add(std::int64_t time_ns, std::string_view instruction, std::string_view source, std::string_view type,
                       std::string_view stall_reason, std::uint64_t dispatch_id) {
  ++samples_;
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
  std::string place(instruction.substr(0, 256));
  if (!source.empty()) place.append("\n").append(source.substr(0, 512));
  count(by_instruction_, place);
  count(by_type_, type);
  count(by_stall_, stall_reason);
  if (const auto known = by_dispatch_.find(dispatch_id); known != by_dispatch_.end())
    ++known->second;
  else if (dispatch_id != 0 && by_dispatch_.size() < kMaxCounts)
    by_dispatch_.emplace(dispatch_id, 1);
}

Json SampleCounts::dispatches() const {
  std::vector<std::pair<std::uint64_t, std::int64_t>> list(by_dispatch_.begin(), by_dispatch_.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (list.size() > kShownDispatches) list.resize(kShownDispatches);
  Json out = Json::array();
  for (const auto& [dispatch, number] : list)
    out.push(Json::object({{"dispatch_id", static_cast<unsigned long long>(dispatch)}, {"samples", number}}));
  return out;
}

Json SampleCounts::summary() const {
  if (samples_ == 0) return {};
  Json summary = Json::object({{"samples", samples_}, {"first_ns", first_ns_}, {"last_ns", last_ns_}});
  Json list = Json::array();
  for (const auto& [place, number] : sorted(by_instruction_)) {
    const auto line = place.find('\n');
    Json entry = Json::object({{"instruction", clean_utf8(place.substr(0, line))}});
    if (line != std::string::npos) entry.set("source", clean_utf8(place.substr(line + 1)));
    list.push(std::move(entry.set("samples", number)));
  }
  summary.set("instructions", std::move(list)).set("different_instructions", static_cast<long long>(by_instruction_.size()));
  for (const auto& [key, counts] : {std::pair{"types", &by_type_}, std::pair{"stall_reasons", &by_stall_}}) {
    Json object = Json::object();
    for (const auto& [name, number] : sorted(*counts))
      if (!name.empty()) object.set(clean_utf8(name), number);
    if (!object.members().empty()) summary.set(key, std::move(object));
  }
  if (!by_dispatch_.empty())
    summary.set("dispatches", dispatches()).set("different_dispatches", static_cast<long long>(by_dispatch_.size()));
  return summary;
}

}  // namespace aaco::importers::rocm
