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
  partial(result.account, "cut: " + std::string(how));
  std::string message(file);
  message.append(" is cut (").append(how).append("): ").append(kept).append(" are kept, totals are lower bounds");
  result.warnings.push_back({"import.truncated", std::move(message), std::string(remedy)});
}

void report_trailing(ImportResult& result, std::string_view file, std::int64_t bytes) {
  if (bytes <= 0) return;
  const std::string what = std::to_string(bytes) + " bytes behind the end of the document were not read";
  partial(result.account, what);
  result.warnings.push_back({"import.trailing", std::string(file) + ": " + what,
                             "where several traces were put into one file, import each from a file of its own"});
}

bool is_loss(std::string_view reason) {
  constexpr auto kLosses = std::to_array<std::string_view>({
      "no readable time stamp",
      "no time stamp or duration",
      "time out of range",
      "ends beyond what 64 bits count",
      "ends before it starts",
      "negative duration",
      "no duration",
      "no readable duration",
      "a begin without its end",
      "an end without its begin",
      "more open ranges than can be followed",
      "not a well-formed event",
      "not a JSON object",
      "a record that is no object",
      "events of a section without a name",
      "fewer fields than the header",
      "a counter without a number",
      "a counter without a name",
      "a counter without a number or a name",
      "a counter without a dispatch",
      "a line among the readings that cannot be read",
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
           " records could not be used (" + reasons + "): what they were of is missing in all totals",
       "import the file as the profiler wrote it, not what another program has saved of it; else profile again"});
}

std::string after_bytes(std::int64_t bytes) { return ", after " + std::to_string(bytes) + " bytes"; }

}  // namespace aaco::importers
