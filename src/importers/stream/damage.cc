#include "importers/stream/damage.h"

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

std::string after_bytes(std::int64_t bytes) { return ", after " + std::to_string(bytes) + " bytes"; }

}  // namespace aaco::importers
