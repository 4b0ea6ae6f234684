#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/engine/schema.h"
#include "tracelake/engine/slots.h"
#include "tracelake/fleet/cell_collector.h"
#include "tracelake/remote.h"

namespace aaco::tracelake {
namespace {

constexpr std::string_view kMinutesTable = "fleet_minutes";
constexpr std::size_t kMaxRepeatedNodes = 500;  // beyond it, one pass over the minutes of all nodes is quicker
constexpr std::int64_t kMinuteOfRowsNs = 60'000'000'000;
constexpr std::int64_t kDayOfMinutesNs = 24 * 60 * kMinuteOfRowsNs;

class RemoteFleet final : public FleetSource {
 public:
  RemoteFleet(RemoteServer server, bool has_slots)
      : server_(std::move(server)),
        table_(remote::whole_name(server_.target(), std::string(kMinutesTable))),
        has_slots_(has_slots) {}

  core::Result<FleetExtent> extent() override {
    AACO_ASSIGN(
        const std::string reply,
        server_.run(has_slots_ ? "SELECT countMerge(copies), uniqExact(node), minMerge(first), maxMerge(last) FROM " + hours()
                               : "SELECT count(), uniqExact(node), min(minute_unix_ns), max(minute_unix_ns) FROM " + table_,
                    kReading));
    const auto cells = split_cells(core::trim(reply));
    if (cells.size() != 4) return core::fail(core::ErrorCode::invalid_input, "ClickHouse answered in another format");
    const auto whole = [&](std::size_t i) { return core::parse_i64(cells[i].value_or("0")).value_or(0); };
    return FleetExtent{whole(0), whole(1), whole(2), whole(3)};
  }

  core::Status add_rows(std::int64_t /*from_unix_ns*/, std::int64_t /*to_unix_ns*/,
                        const std::function<std::size_t(std::string_view)>& /*place*/, std::span<FleetRows> /*outs*/) override {
    return only_from_files();
  }
  core::Result<std::string> content_hash() override { return only_from_files(); }

  core::Result<std::vector<std::string>> nodes(std::int64_t since_unix_ns) override {
    return nodes_of(
        has_slots_
            ? fmt::format("SELECT node FROM {} GROUP BY node HAVING maxMerge(last) >= {} ORDER BY node", hours(), since_unix_ns)
            : fmt::format("SELECT DISTINCT node FROM {} WHERE minute_unix_ns >= {} ORDER BY node", table_, since_unix_ns),
        kReading);
  }

  core::Result<trace::FleetCells> cells(trace::FleetGroup group, std::int64_t first_unix_ns, std::int32_t bins,
                                        std::int64_t bin_ns, const std::string& node) override {
    trace::FleetCells out{first_unix_ns, bin_ns, bins, {}, {}, {}};
    fleet::CellCollector collector(out);
    const FleetCellsRange whole{group,
                                first_unix_ns,
                                bin_ns,
                                first_unix_ns,
                                first_unix_ns + bins * bin_ns,
                                node.empty() ? "" : "node = " + remote::text_literal(node)};
    const auto slots = slots_of(whole);
    const std::int64_t stride = std::max(bin_ns, kDayOfMinutesNs / bin_ns * bin_ns);
    AACO_TRY(read_days(
        whole, stride, [&](const FleetCellsRange& range) { return fleet_slot_cells_sql(*slots, range); },
        [&](const FleetCellsRange& range) { return fleet_cells_sql(SqlDialect::clickhouse, table_, range); },
        [&](const Row& cells) {
          if (cells.size() < 10) return false;
          out.cells.push_back(cell_of(cells, collector));
          return true;
        }));
    return out;
  }

  core::Result<FleetNodeMeans> node_means(std::size_t column, std::int64_t first_unix_ns, std::int32_t bins,
                                          std::int64_t bin_ns) override {
    const FleetCellsRange whole{
        trace::kFleetColumns[column].group, first_unix_ns, bin_ns, first_unix_ns, first_unix_ns + bins * bin_ns, ""};
    const auto slots = slots_of(whole);
    FleetNodeMeans out;
    AACO_TRY(read_days(
        whole, slots ? bins * bin_ns : std::max(bin_ns, kDayOfMinutesNs / bin_ns * bin_ns),
        [&](const FleetCellsRange& range) { return fleet_slot_means_sql(*slots, range, column); },
        [&](const FleetCellsRange& range) {
          const std::string mean = fmt::format("m{}", trace::place_in_group(column));
          return fmt::format("SELECT node, bin, avg({0}) FROM ({1}) WHERE isNotNull({0}) GROUP BY node, bin", mean,
                             fleet_cells_sql(SqlDialect::clickhouse, table_, range));
        },
        [&](const Row& cells) {
          if (cells.size() != 3) return false;
          const auto bin = core::parse_i64(cells[1].value_or("")).value_or(-1);
          auto& series = out[cells[0].value_or("")];
          series.resize(static_cast<std::size_t>(bins));
          if (bin >= 0 && bin < bins && cells[2]) series[static_cast<std::size_t>(bin)] = core::parse_f64(*cells[2]);
          return true;
        }));
    return out;
  }

  [[nodiscard]] std::vector<std::string> missing() const override { return server_.missing_shards(); }

 private:
  using Row = std::vector<std::optional<std::string>>;

  static tl::unexpected<core::Error> only_from_files() {
    return core::fail(core::ErrorCode::unsupported, "rows can be copied from files only");
  }

  using Settings = std::map<std::string, std::string>;
  static inline const Settings kReading = {{"skip_unavailable_shards", "1"}};
  // All rows of a node are on one server: groups of nodes need no merging.
  static inline const Settings kReadingNodes = {{"skip_unavailable_shards", "1"}, {"distributed_group_by_no_merge", "1"}};

  core::Result<std::vector<std::string>> nodes_of(const std::string& sql, const Settings& settings) {
    AACO_ASSIGN(const std::string reply, server_.run(sql, settings));
    std::vector<std::string> out;
    for (const std::string_view line : core::split_lines(reply)) out.push_back(split_cells(line).front().value_or(""));
    return out;
  }

  [[nodiscard]] std::string hours() const { return remote::whole_name(server_.target(), std::string(kFleetSlots[0].table)); }

  // The table of the longest slots that the bins are made of; none: minutes.
  [[nodiscard]] std::optional<std::string> slots_of(const FleetCellsRange& range) const {
    for (const FleetSlots& slots : kFleetSlots)
      if (has_slots_ && range.bin_ns % slots.slot_ns == 0 && range.origin_unix_ns % slots.slot_ns == 0)
        return remote::whole_name(server_.target(), std::string(slots.table));
    return std::nullopt;
  }

  using Sql = std::function<std::string(const FleetCellsRange&)>;
  // Reads `stride` after `stride` of the range. Slots of nodes no row of which came twice, minutes of the others: every answer
  // counts a minute once.
  core::Status read_days(FleetCellsRange range, std::int64_t stride, const Sql& of_slots, const Sql& of_minutes,
                         const std::function<bool(const Row&)>& take) {
    const std::int64_t end = range.to_unix_ns;
    const auto slots = slots_of(range);
    for (; range.from_unix_ns < end; range.from_unix_ns += stride) {
      range.to_unix_ns = std::min(end, range.from_unix_ns + stride);
      if (!slots) {
        AACO_TRY(read_rows(of_minutes(range), take));
        continue;
      }
      AACO_ASSIGN(const auto repeated, nodes_of(fleet_repeated_nodes_sql(*slots, range), kReadingNodes));
      const bool too_many = repeated.size() > kMaxRepeatedNodes;
      if (!too_many) AACO_TRY(read_rows(of_slots(with(range, "NOT IN", repeated)), take));
      if (!repeated.empty()) AACO_TRY(read_rows(of_minutes(too_many ? range : with(range, "IN", repeated)), take));
    }
    return {};
  }

  static FleetCellsRange with(FleetCellsRange range, std::string_view condition, const std::vector<std::string>& nodes) {
    if (nodes.empty()) return range;
    std::string list;
    for (const std::string& node : nodes) list += (list.empty() ? "" : ", ") + remote::text_literal(node);
    range.of_nodes += fmt::format("{}node {} ({})", range.of_nodes.empty() ? "" : " AND ", condition, list);
    return range;
  }
  core::Status read_rows(const std::string& sql, const std::function<bool(const Row&)>& take) {
    AACO_ASSIGN(const std::string reply, server_.run(sql, kReadingNodes));
    for (const std::string_view line : core::split_lines(reply))
      if (!take(split_cells(line))) return core::fail(core::ErrorCode::invalid_input, "ClickHouse answered in another format");
    return {};
  }

  static trace::FleetCell cell_of(const std::vector<std::optional<std::string>>& cells, fleet::CellCollector& collector) {
    const auto whole = [&](std::size_t i) {
      return static_cast<std::int32_t>(core::parse_i64(cells[i].value_or("0")).value_or(0));
    };
    const auto real = [&](std::size_t i) { return cells[i] ? core::parse_f64(*cells[i]) : std::nullopt; };
    trace::FleetCell cell;
    cell.unit = collector.unit(cells[0].value_or(""), whole(1), cells[2].value_or(""));
    cell.job = collector.job(cells[3].value_or(""));
    cell.rank = whole(4);
    cell.bin = whole(5);
    cell.minutes = whole(6);
    cell.rows = whole(7);
    cell.late = whole(8);
    cell.delay_ns = real(9);
    for (std::size_t i = 10; i < cells.size() && i - 10 < cell.values.size(); ++i) cell.values[i - 10] = real(i);
    return cell;
  }

  RemoteServer server_;
  std::string table_;
  bool has_slots_;  // not where an older version wrote last
};

}  // namespace

core::Result<std::unique_ptr<FleetSource>> open_remote_fleet(RemoteServer server) {
  AACO_TRY(check_remote(server));
  AACO_ASSIGN(const bool has_slots, has_fleet_slots(server));
  return std::unique_ptr<FleetSource>(std::make_unique<RemoteFleet>(std::move(server), has_slots));
}

}  // namespace aaco::tracelake
