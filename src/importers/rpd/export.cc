#include <optional>

#include "formats/sqlite.h"
#include "importers/rpd.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::rpd {
namespace {

constexpr std::int64_t kMicrosecond = 1000;

// Of the first operation on a device: {"pid":"2",...,"ts":"8306017670485",...,"args":{"desc":"KernelExecution"}}, one a line.
std::optional<std::int64_t> first_operation_ns(std::string_view head) {
  const auto mark = head.find("\"desc\":");
  if (mark == std::string_view::npos) return std::nullopt;
  const auto line = head.rfind('\n', mark);
  head = head.substr(line == std::string_view::npos ? 0 : line, mark - (line == std::string_view::npos ? 0 : line));
  constexpr std::string_view kKey = "\"ts\":";
  const auto key = head.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  head.remove_prefix(key + kKey.size());
  if (const auto begin = head.find_first_not_of(" \""); begin != std::string_view::npos) head.remove_prefix(begin);
  return microseconds_to_ns(head.substr(0, head.find_first_not_of("0123456789.")));
}

}  // namespace

bool is_export_of(std::string_view head, const std::string& path) {
  const auto time = first_operation_ns(head);
  if (!time || *time < kMicrosecond) return false;
  const auto database = formats::sqlite::Database::open(path);
  if (!database || !database->has("rocpd_op", "start")) return false;
  auto rows = database->query("SELECT 1 FROM main.rocpd_op WHERE start BETWEEN " + std::to_string(*time - kMicrosecond) +
                              " AND " + std::to_string(*time + kMicrosecond) + " LIMIT 1");
  const auto any = rows ? rows->next() : core::Result<bool>(false);
  return any && *any;
}

}  // namespace aaco::importers::rpd
