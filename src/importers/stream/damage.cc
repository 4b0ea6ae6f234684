#include "importers/stream/damage.h"

#include <algorithm>
#include <array>

namespace aaco::importers {
namespace {

void partial(trace::Account& account, std::string reason) {
  account.state = trace::Account::State::partial;
  account.notes.push_back(reason);
  account.reason = std::move(reason);
}

}  // namespace

void report_cut(ImportResult& result, std::string_view file, std::string_view how, std::string_view kept,
                std::string_view remedy) {
  partial(result.account, "truncated: " + std::string(how));
  std::string message(file);
  message.append(" is truncated (").append(how).append("): ").append(kept).append(" are kept, totals are lower bounds");
  result.warnings.push_back({"import.truncated", std::move(message), std::string(remedy)});
}

void report_trailing(ImportResult& result, std::string_view file, std::int64_t bytes) {
  if (bytes <= 0) return;
  const std::string what = std::to_string(bytes) + " bytes after the end of the document were not read";
  partial(result.account, what);
  result.warnings.push_back({"import.trailing", std::string(file) + ": " + what,
                             "if several traces were joined into one file, split them and import each separately"});
}

bool is_loss(std::string_view reason) {
  constexpr auto kLosses = std::to_array<std::string_view>({
      "no valid timestamp",
      "no timestamp or duration",
      "timestamp out of range",
      "end time exceeds 64 bits",
      "ends before it starts",
      "negative duration",
      "no duration",
      "invalid duration",
      "unterminated begin event",
      "end event without begin event",
      "too many open ranges",
      "malformed event",
      "not a JSON object",
      "record that is not an object",
      "events of an unnamed section",
      "fewer fields than the header",
      "counter without a numeric value",
      "counter without a name",
      "counter without a value or name",
      "counter without a dispatch",
      "invalid line among the readings",
  });
  return std::find(kLosses.begin(), kLosses.end(), reason) != kLosses.end();
}

void report_losses(ImportResult& result, std::string_view file) {
  std::int64_t lost = 0;
  std::string reasons;
  for (const auto& [reason, count] : result.account.dropped) {
    if (!is_loss(reason)) continue;
    lost += count;
    reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + ": " + reason;
  }
  if (lost == 0) return;
  result.warnings.push_back(
      {"import.records_lost",
       std::string(file) + ": " + std::to_string(lost) + " of " + std::to_string(result.account.read) +
           " records could not be used (" + reasons + "): they are missing from all totals",
       "import the file as written by the profiler, not a copy saved by another program; otherwise profile again"});
}

std::string after_bytes(std::int64_t bytes) { return ", after " + std::to_string(bytes) + " bytes"; }

}  // namespace aaco::importers
