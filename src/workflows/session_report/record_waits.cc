#include "workflows/session_report/record_waits.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/numbers.h"
#include "workflows/session/sleep_title.h"

namespace aaco::workflows {
namespace {

using Reason = report::OperatingSystem::Reason;

constexpr std::size_t kNamedWaits = 3;
constexpr double kNamedShare = 0.02;  // of the longest

bool is_storage(const Reason& reason) { return is_storage_sleep(reason.detail, reason.call); }

std::string meaning_of(const Reason& reason) { return sleep_title(reason.detail, reason.call); }

void add(std::vector<std::pair<std::string, double>>& causes, std::string cause, double ns) {
  const auto same = std::find_if(causes.begin(), causes.end(), [&](const auto& one) { return one.first == cause; });
  if (same == causes.end())
    causes.emplace_back(std::move(cause), ns);
  else
    same->second += ns;
}

std::string time_of(const Reason& reason) { return core::format_duration(static_cast<double>(reason.total_ns)); }

std::string sentence_of(const Reason& reason) {
  std::string text = meaning_of(reason);
  if (!reason.call.empty() && text.find(reason.call) == std::string::npos) text += " (" + reason.call + ")";
  return text + " " + time_of(reason);
}

}  // namespace

std::optional<RecordedWaits> recorded_waits(const std::optional<report::OperatingSystem>& system) {
  if (!system) return std::nullopt;
  RecordedWaits waits;
  std::size_t named = 0;
  std::int64_t longest = 0;
  for (const Reason& reason : system->reasons) {  // most time first
    if (reason.kind == "run_queue") waits.run_queue_ns += static_cast<double>(reason.total_ns);
    if (reason.kind != "off_cpu" || reason.total_ns <= 0) continue;
    const auto ns = static_cast<double>(reason.total_ns);
    add(waits.causes, meaning_of(reason), ns);
    if (reason.detail == "stopped") waits.stopped_ns += ns;
    if (reason.detail == "traced") waits.traced_ns += ns, waits.traced_count += reason.count;
    if (reason.detail == "frozen") waits.frozen_ns += ns;
    if (is_storage(reason)) {
      waits.storage_ns += ns;
      waits.storage_woken_ns += static_cast<double>(reason.woken_ns);
      if (waits.storage_text.empty()) {
        waits.storage_call = reason.call;
        waits.storage_text = reason.detail + (reason.call.empty() ? "" : " in " + reason.call) + " " + time_of(reason);
      }
    }
    longest = std::max(longest, reason.total_ns);
    if (named < kNamedWaits && ns >= kNamedShare * static_cast<double>(longest)) {
      waits.text += (named > 0 ? ", " : "") + sentence_of(reason);
      ++named;
    }
  }
  std::stable_sort(waits.causes.begin(), waits.causes.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return named > 0 ? std::optional(waits) : std::nullopt;
}

}  // namespace aaco::workflows
