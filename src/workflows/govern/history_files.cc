#include "workflows/govern/history_files.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/strings.h"
#include "formats/history.h"
#include "importers/file_source.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

constexpr std::size_t kMaxBytes = std::size_t{512} << 20;  // of one file, expanded
constexpr std::size_t kNamesShown = 8;

core::Result<std::string> read_all(const std::string& path) {
  if (!core::exists(path)) return core::fail(ErrorCode::not_found, path + " does not exist");
  AACO_ASSIGN(const auto source, importers::open_file_source(path));
  std::string bytes;
  std::string piece(1 << 20, '\0');
  for (;;) {
    AACO_ASSIGN(const std::size_t count, source->read(piece));
    if (count == 0) break;
    bytes.append(piece, 0, count);
    if (bytes.size() > kMaxBytes) return core::fail(ErrorCode::exhausted, path + " is too large (limit: 512 MiB)");
  }
  if (!source->damage().empty())
    return core::fail(ErrorCode::invalid_input, path + " is truncated: " + source->damage(), "copy it from its source again");
  return bytes;
}

bool wanted(const std::string& name, const std::string& metric) {
  if (metric.empty() || name == metric) return true;
  return metric.ends_with('*') && name.starts_with(std::string_view(metric).substr(0, metric.size() - 1));
}

// What a name says of the better direction, where the format does not.
std::optional<bool> direction_by_name(const std::string& name, const std::string& unit) {
  const std::string text = core::to_lower(name) + " " + core::to_lower(unit);
  constexpr std::array<std::string_view, 9> kHigher = {"throughput", "per_second", "/s",      "ops",     "qps",
                                                       "flops",      "bandwidth",  "speedup", "accuracy"};
  constexpr std::array<std::string_view, 11> kLower = {"latency", "time",  "duration", "_ns", "_ms", "_us",
                                                       "memory",  "bytes", "energy",   "p99", "p50"};
  const auto says = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (std::any_of(kHigher.begin(), kHigher.end(), says)) return false;
  if (std::any_of(kLower.begin(), kLower.end(), says)) return true;
  return std::nullopt;
}

core::Status not_found(const HistoryRequest& request, const std::vector<std::string>& names) {
  std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = core::nearest(request.metric, known);
  std::string remedy = near.empty() ? "available series: " : "did you mean " + std::string(near) + "? Available series: ";
  for (std::size_t i = 0; i < std::min(kNamesShown, names.size()); ++i) remedy += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamesShown) remedy += " and " + std::to_string(names.size() - kNamesShown) + " more";
  return core::fail(ErrorCode::not_found, "no series '" + request.metric + "'", std::move(remedy));
}

// In order of time where every point has one; else as they came.
void put_in_order(HistorySeries& series) {
  const auto timed = [](const HistoryPoint& point) { return point.time_ns.has_value(); };
  if (!std::all_of(series.points.begin(), series.points.end(), timed)) return;
  std::stable_sort(series.points.begin(), series.points.end(),
                   [](const auto& a, const auto& b) { return *a.time_ns < *b.time_ns; });
}

}  // namespace

core::Result<std::vector<HistorySeries>> series_of_files(const HistoryRequest& request, trace::Account& account) {
  std::vector<HistorySeries> all;
  std::map<std::string, std::size_t> place;
  std::vector<std::string> names;
  for (const std::string& file : request.files) {
    AACO_ASSIGN(const std::string bytes, read_all(file));
    AACO_ASSIGN(const auto document, formats::history::read(bytes, file, request.where));
    account.source = document.format;
    account.read += document.read;
    account.kept += document.read;
    for (const auto& [why, count] : document.dropped) {
      account.dropped[why] += count;
      account.kept -= count;
    }
    for (const auto& series : document.series) {
      names.push_back(series.name);
      if (!wanted(series.name, request.metric)) continue;
      const auto [found, fresh] = place.try_emplace(series.name, all.size());
      if (fresh) {
        all.push_back({series.name, series.unit, {}, series.lower_is_better, {}, {}, {}});
        if (!all.back().lower_is_better) all.back().lower_is_better = direction_by_name(series.name, series.unit);
      }
      for (const auto& point : series.points) all[found->second].points.push_back({point.label, point.time_ns, point.value});
    }
  }
  if (all.empty()) AACO_TRY(not_found(request, names));
  for (auto& series : all) put_in_order(series);
  return all;
}

}  // namespace aaco::workflows
