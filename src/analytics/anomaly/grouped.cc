#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analytics/anomaly.h"

namespace aaco::analytics::anomaly {
namespace {

constexpr double kAlike = 0.25;  // relative difference up to which two values are nearly equal (our own judgement)

bool near(double a, double b) { return std::abs(a - b) <= kAlike * std::max(std::abs(a), std::abs(b)); }

// Executions are limited by of_executions(), and sessions are few.
bool may_be_grouped(Kind kind) { return kind == Kind::spike || kind == Kind::counter || kind == Kind::level_shift; }

bool alike(const Anomaly& a, const Anomaly& b) {
  return a.kind == b.kind && (a.kind != Kind::counter || a.subject == b.subject) && near(a.value, b.value) &&
         near(a.expected, b.expected);
}

std::string_view noun_of(Kind kind) {
  return kind == Kind::spike ? "spikes" : kind == Kind::level_shift ? "level shifts" : "blocks";
}

Anomaly merged(const std::vector<Anomaly>& group) {
  const auto larger = [](const Anomaly& a, const Anomaly& b) {
    return std::abs(a.value - a.expected) < std::abs(b.value - b.expected);
  };
  Anomaly out = *std::max_element(group.begin(), group.end(), larger);
  out.count = static_cast<std::int64_t>(group.size());
  for (const Anomaly& one : group) {
    out.start_ns = std::min(out.start_ns, one.start_ns);
    out.end_ns = std::max(out.end_ns, one.end_ns);
  }
  out.text = fmt::format("{} similar {}; the largest: {}", group.size(), noun_of(out.kind), out.text);
  return out;
}

}  // namespace

std::vector<Anomaly> grouped(std::vector<Anomaly> anomalies) {
  std::vector<std::vector<Anomaly>> groups;
  for (Anomaly& one : anomalies) {
    const auto fits = [&](const std::vector<Anomaly>& group) { return may_be_grouped(one.kind) && alike(group.front(), one); };
    const auto place = std::find_if(groups.begin(), groups.end(), fits);
    if (place != groups.end())
      place->push_back(std::move(one));
    else
      groups.push_back({std::move(one)});
  }
  std::vector<Anomaly> out;
  for (std::vector<Anomaly>& group : groups)
    if (group.size() > kMaxUngrouped)
      out.push_back(merged(group));
    else
      std::move(group.begin(), group.end(), std::back_inserter(out));
  return out;
}

}  // namespace aaco::analytics::anomaly
