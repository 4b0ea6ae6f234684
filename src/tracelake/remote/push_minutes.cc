#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/engine/schema.h"
#include "tracelake/remote.h"
#include "tracelake/remote/sip_hash.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kPushMinuteNs = 60'000'000'000;
constexpr std::int64_t kPushDayNs = 24 * 60 * kPushMinuteNs;
constexpr std::int64_t kRowsPerChunk = 1'000'000;
constexpr std::size_t kMaxSenders = 4;
constexpr std::int64_t kMaxDays = 3660;  // of one push: chunks are pieces of time
constexpr std::string_view kSentTable = "rows_fleet_pushes";

// Pieces of time that the rows of a push are sent in.
struct Chunks {
  std::int64_t first_unix_ns = 0, stride_ns = 0, count = 0;
};

// So long that a chunk has about kRowsPerChunk rows.
Chunks chunks_of(const FleetExtent& extent) {
  const std::int64_t first = extent.first_unix_ns / kPushMinuteNs * kPushMinuteNs;
  const std::int64_t minutes = (extent.last_unix_ns - extent.first_unix_ns) / kPushMinuteNs + 1;
  const std::int64_t rows_per_minute = std::max<std::int64_t>(1, extent.rows / minutes);
  const std::int64_t stride = std::clamp<std::int64_t>(kRowsPerChunk / rows_per_minute, 1, 24 * 60) * kPushMinuteNs;
  return {first, stride, (extent.last_unix_ns - first) / stride + 1};
}

using RowsByTime = std::map<std::int64_t, std::int64_t>;  // start of a chunk -> its rows

// Rows of a cluster go straight to their shards: reading them costs the most, and all shards do it at once.
struct Destination {
  RemoteServer server;
  std::string statement;
  std::string push;  // which rows the shard gets: of the same files, by the same number of shards
  RowsByTime sent;   // what it has of them
};

core::Result<RowsByTime> rows_by_time(const RemoteServer& server, const std::string& sql) {
  AACO_ASSIGN(const std::string reply, server.run(sql));
  RowsByTime out;
  for (const std::string_view line : core::split_lines(reply)) {
    const auto cells = split_cells(line);
    const auto whole = [&](std::size_t i) { return cells.size() == 2 ? core::parse_i64(cells[i].value_or("")) : std::nullopt; };
    if (!whole(0) || !whole(1)) return core::fail(core::ErrorCode::invalid_input, "ClickHouse answered in another format");
    out[*whole(0)] = *whole(1);
  }
  return out;
}

// Chunks that a push of the same files noted as sent, less those in whose time fewer rows are stored now: some were deleted.
core::Result<RowsByTime> sent_of(const RemoteServer& server, const std::string& push, const Chunks& chunks) {
  AACO_ASSIGN(RowsByTime noted,
              rows_by_time(server, fmt::format("SELECT minute_unix_ns, max(row_count) FROM {} WHERE push = {} GROUP "
                                               "BY minute_unix_ns",
                                               kSentTable, remote::text_literal(push))));
  if (noted.empty()) return noted;
  AACO_ASSIGN(
      const RowsByTime stored,
      rows_by_time(server,
                   fmt::format("SELECT intDiv(minute_unix_ns - {0}, {1}) * {1} + {0} AS chunk, count() FROM "
                               "rows_fleet_minutes WHERE minute_unix_ns >= {0} AND minute_unix_ns < {2} GROUP BY chunk",
                               chunks.first_unix_ns, chunks.stride_ns, chunks.first_unix_ns + chunks.count * chunks.stride_ns)));
  std::erase_if(noted, [&](const auto& one) {
    const auto found = stored.find(one.first);
    return (found == stored.end() ? 0 : found->second) < one.second;
  });
  return noted;
}

core::Result<std::vector<Destination>> destinations_of(const RemoteServer& server, const std::string& content_hash,
                                                       const Chunks& chunks) {
  std::vector<std::string> columns;
  for (const auto& [name, type] : fleet_row_columns()) columns.push_back(name);
  std::vector<Destination> out;
  AACO_ASSIGN(const auto servers, server.one_per_shard());
  for (const RemoteServer& one : servers) {
    const std::string push = fmt::format("{}-{}-{}", content_hash, out.size(), servers.size());
    AACO_ASSIGN(auto sent, sent_of(one, push, chunks));
    out.push_back({one, fleet_minutes_insert(one.target(), columns) + " FORMAT RowBinary", push, std::move(sent)});
  }
  return out;
}

// The note comes after the rows: what is noted is there. An interruption between the two sends the chunk again.
core::Status send_chunk(const Destination& to, std::int64_t minute_unix_ns, FleetRows rows) {
  AACO_TRY(to.server.insert(to.statement, std::move(rows.binary)));
  std::string note;
  append_cell(note, to.push);
  note += fmt::format("\t{}\t{}\n", minute_unix_ns, rows.count);
  return to.server.insert(fmt::format("INSERT INTO {} (push, minute_unix_ns, row_count)", kSentTable), std::move(note));
}

// Sends chunks beside the preparation of the next ones, a few at a time.
class Senders {
 public:
  core::Status send(const Destination& to, std::int64_t minute_unix_ns, FleetRows rows) {
    if (under_way_.size() == kMaxSenders) AACO_TRY(wait_for_first());
    under_way_.push_back(std::async(std::launch::async, [&to, minute_unix_ns, rows = std::move(rows)]() mutable {
      return send_chunk(to, minute_unix_ns, std::move(rows));
    }));
    return {};
  }
  core::Status finish() {
    while (!under_way_.empty()) AACO_TRY(wait_for_first());
    return {};
  }

 private:
  core::Status wait_for_first() {
    core::Status status = under_way_.front().get();
    under_way_.pop_front();
    return status;
  }
  std::deque<std::future<core::Status>> under_way_;
};

core::Status check_extent(const FleetExtent& extent, const std::string& path) {
  if (extent.rows == 0 || (extent.first_unix_ns >= 0 && extent.last_unix_ns - extent.first_unix_ns <= kMaxDays * kPushDayNs))
    return {};
  return core::fail(core::ErrorCode::invalid_input,
                    fmt::format("{}: minute_unix_ns is from {} to {}: before 1970, or over more than {} days", path,
                                extent.first_unix_ns, extent.last_unix_ns, kMaxDays),
                    "remove the rows with a wrong time, or push the telemetry of several years in parts");
}

}  // namespace

core::Result<FleetPush> push_fleet_minutes(const RemoteServer& server, const std::string& path,
                                           const std::function<core::Status(std::int64_t)>& progress) {
  AACO_ASSIGN(const auto source, open_fleet_files(path));
  AACO_ASSIGN(const FleetExtent extent, source->extent());
  AACO_TRY(check_extent(extent, path));
  FleetPush out;
  if (extent.rows == 0) return out;
  AACO_TRY(prepare_fleet_minutes(server));
  AACO_ASSIGN(const std::string content_hash, source->content_hash());
  const Chunks chunks = chunks_of(extent);
  AACO_ASSIGN(const auto destinations, destinations_of(server, content_hash, chunks));
  // As the Distributed table does it; the shards are listed in the order of the cluster.
  const auto place = [&](std::string_view node) { return remote::sip_hash64(node) % destinations.size(); };
  Senders senders;
  std::vector<std::size_t> usual(destinations.size());  // bytes of the chunk before
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    const std::int64_t from = chunks.first_unix_ns + chunk * chunks.stride_ns;
    const auto is_sent = [&](const Destination& one) { return one.sent.contains(from); };
    for (const Destination& one : destinations)
      if (is_sent(one)) out.rows_there += one.sent.at(from);
    if (std::all_of(destinations.begin(), destinations.end(), is_sent)) continue;
    std::vector<FleetRows> rows(destinations.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].binary.reserve(usual[i]);
    AACO_TRY(source->add_rows(from, from + chunks.stride_ns, place, rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].count == 0 || is_sent(destinations[i])) continue;
      usual[i] = rows[i].binary.size();
      out.rows_sent += rows[i].count;
      AACO_TRY(senders.send(destinations[i], from, std::move(rows[i])));
    }
    AACO_TRY(progress(out.rows_there + out.rows_sent));
  }
  AACO_TRY(senders.finish());
  return out;
}

}  // namespace aaco::tracelake
