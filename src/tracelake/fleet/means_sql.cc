#include "tracelake/fleet/means_sql.h"

#include <fmt/format.h>

namespace aaco::tracelake::fleet {
namespace {

constexpr std::int64_t kMinuteOfMeansNs = 60'000'000'000;
constexpr std::int64_t kLongestPart = 60;  // minutes: a bit each

}  // namespace

// The minutes of a part are the bits of a number: as many bits as rows, or a row came twice.
std::optional<std::string> node_means_sql(std::string_view table, std::string_view column, const FleetCellsRange& range) {
  const std::int64_t minutes = range.bin_ns / kMinuteOfMeansNs;
  const std::int64_t part = minutes <= kLongestPart ? minutes : kLongestPart;
  if (minutes < 1 || range.bin_ns % kMinuteOfMeansNs != 0 || minutes % part != 0) return std::nullopt;
  const std::string minute = fmt::format("((minute_unix_ns - {}) // {})", range.origin_unix_ns, kMinuteOfMeansNs);
  return fmt::format(
      "SELECT node, CAST(bin AS BIGINT), CAST(avg(mean) AS DOUBLE), CAST(max(repeated) AS BIGINT) FROM ("
      "SELECT node, part // {0} AS bin, sum(total) / sum(known) AS mean, max(repeated) AS repeated FROM ("
      "SELECT node, coalesce(device, -1) AS unit, coalesce(job, '') AS work, {1} // {2} AS part, sum({3}) AS total, count({3}) "
      "AS known, "
      "CASE WHEN count(*) <> bit_count(bit_or(1::BIGINT << CAST({1} % {2} AS INTEGER))) THEN 1 ELSE 0 END AS repeated "
      "FROM {4} WHERE metric_group = '{5}' AND minute_unix_ns >= {6} AND minute_unix_ns < {7} GROUP BY node, unit, work, part) "
      "AS parts "
      "GROUP BY node, unit, work, bin) AS units GROUP BY node, bin",
      minutes / part, minute, part, column, table, trace::kFleetGroupNames[static_cast<std::size_t>(range.group)],
      range.from_unix_ns, range.to_unix_ns);
}

}  // namespace aaco::tracelake::fleet
