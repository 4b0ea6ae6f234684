#include "workflows/explain/attributed_sleep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kPrefix = "sched.sleep_", kSuffix = "_per_iteration_ns", kUnknown = "unknown";
constexpr double kMostly = 0.5;      // of the sleep
constexpr double kNamedSleep = 0.1;  // of the sleep, for a cause to be named

}  // namespace

std::optional<std::string> attributed_sleep(const trace::Metrics& metrics) {
  std::vector<std::pair<double, std::string>> causes;
  double all = 0, known = 0;
  for (const auto& metric : metrics) {
    const std::string_view id = metric.id;
    if (!id.starts_with(kPrefix) || !id.ends_with(kSuffix) || metric.value <= 0) continue;
    std::string name(id.substr(kPrefix.size(), id.size() - kPrefix.size() - kSuffix.size()));
    all += metric.value;
    if (name == kUnknown) continue;
    known += metric.value;
    std::replace(name.begin(), name.end(), '_', ' ');
    causes.emplace_back(metric.value, std::move(name));
  }
  if (all <= 0 || known < kMostly * all) return std::nullopt;
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [ns, name] : causes)
    if (ns >= kNamedSleep * all) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, core::format_percent(ns / all));
  return text + " of the caller's sleep";
}

void follow_sleep(const std::string& attributed, std::vector<analytics::advice::Recommendation>& list) {
  for (auto& one : list) {
    if (one.id != "host_waiting" && one.id != "storage") continue;
    if (one.id == "host_waiting") one.title = fmt::format("shorten what the caller sleeps for ({})", attributed);
    one.command.clear();  // it was recorded with --ebpf
  }
}

namespace {

bool counted(const std::optional<double>& count) { return count.value_or(0) > 0; }

std::string times(double per_call, std::int64_t calls) {
  const double count = std::round(per_call * static_cast<double>(calls));
  return fmt::format("{:.0f} time{}", count, count == 1 ? "" : "s");
}

}  // namespace

void follow_stops(const std::optional<analytics::signals::CallAccount>& account,
                  std::vector<analytics::advice::Recommendation>& list) {
  if (!account || (!counted(account->stops) && !counted(account->freezes))) return;
  for (auto& one : list)
    if (one.id == "host_waiting")
      one.title = counted(account->stops)
                      ? "find what stops the process (SIGSTOP: job control, a debugger, a batch system)"
                      : "find what freezes the control group (docker pause, systemctl freeze, a batch system)";
}

core::Json with_stops(core::Json document, const std::optional<analytics::signals::CallAccount>& account) {
  if (document.is_null() || !account) return document;
  std::string text;
  core::Json cause;
  if (counted(account->freezes)) {
    text += fmt::format(
        " Its control group was frozen and thawed (cgroup freezer) at least {} during the measured calls; the time frozen counts "
        "as sleep.",
        times(*account->freezes, account->calls));
    cause = core::Json::object({{"id", "process-frozen"}, {"title", "the process was frozen (cgroup freezer)"}});
  }
  if (counted(account->stops)) {
    text += fmt::format(
        " The process was stopped and continued (SIGSTOP, SIGCONT) {} during the measured calls; the time stopped counts as "
        "sleep.",
        times(*account->stops, account->calls));
    cause = core::Json::object({{"id", "process-stopped"}, {"title", "the process was stopped (SIGSTOP)"}});
  }
  if (text.empty()) return document;
  document.set("meaning", std::string(document["meaning"].text()) + text);
  if (!document.contains("cause")) document.set("cause", cause);
  return document;
}

}  // namespace aaco::workflows
