#include "workflows/compare/rank_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/late_rank.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::string_view kOfRanks = "collectives";
constexpr std::size_t kMaxOperations = 400'000;  // of both ranks

// A trace of one rank.
struct RankTrace {
  std::int32_t rank = 0;
  std::int64_t world_size = 0;
  std::string groups;  // the process groups as the trace states them
};

// Empty: several ranks, or the trace does not state its job.
std::optional<RankTrace> rank_trace(const Json& files) {
  std::optional<RankTrace> found;
  for (const Json& file : files.items()) {
    const Json& job = file["facts"]["distributed"];
    const auto rank = job["rank"].as_i64(), world_size = job["world_size"].as_i64();
    if (!rank || !world_size || *rank < 0 || *rank >= *world_size || *world_size > INT32_MAX) return std::nullopt;
    if (found && found->rank != *rank) return std::nullopt;
    found = RankTrace{static_cast<std::int32_t>(*rank), *world_size, job["backend"].dump() + job["pg_config"].dump()};
  }
  return found;
}

core::Result<std::optional<RankTrace>> rank_trace(const ComparedSide& side) {
  if (side.sessions.size() != 1 || side.sessions.front().kind != "import" || side.sessions.front().path.empty())
    return std::optional<RankTrace>();
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(side.sessions.front().path));
  return rank_trace(manifest.outcome.files);
}

// The device's collectives; without any, the ranges of the process groups on the host.
core::Status read_collectives(const std::string& path, std::int32_t rank, trace::NameTable& names,
                              std::vector<trace::CollectiveRow>& rows) {
  const std::size_t before = rows.size();
  const auto add = [&](trace::CollectiveRow row) {
    row.rank = rank;
    if (rows.size() <= kMaxOperations) rows.push_back(row);
  };
  AACO_TRY(
      tracelake::scan_table<trace::CollectiveRow>(path, names, [&](std::span<const trace::CollectiveRow> some) -> core::Status {
        for (const auto& row : some) add(row);
        return {};
      }));
  if (rows.size() > before) return {};
  return tracelake::scan_table<trace::ApiCallRow>(path, names, [&](std::span<const trace::ApiCallRow> some) -> core::Status {
    for (const auto& call : some) {
      const std::string operation(analytics::collectives::host_operation(names.text(call.name)));
      if (operation.empty()) continue;
      trace::CollectiveRow row;
      row.operation = names.intern(operation);
      row.start_ns = call.start_ns;
      row.end_ns = call.end_ns;
      add(row);
    }
    return {};
  });
}

double span_of(const ComparedSession& session, const std::vector<trace::CollectiveRow>& rows) {
  if (!session.iterations.empty()) return std::accumulate(session.iterations.begin(), session.iterations.end(), 0.0);
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const auto& row : rows) first = std::min(first, row.start_ns), last = std::max(last, row.end_ns);
  return last > first ? static_cast<double>(last - first) : 0;
}

Json wait_json(const analytics::collectives::RankWait& one) {
  return Json::object({{"rank", one.rank}, {"wait_ns", one.wait_ns}, {"arrived_last_count", one.late_count}});
}

SuspectedCause cause_of(const analytics::collectives::LateRank& found) {
  const auto& [late, waits, method] = found;
  const std::string title = "waiting for rank " + std::to_string(late.rank);
  Json cause = Json::object({{"cause", "straggler"}, {"title", title}});
  Json details = Json::object({{"of", kOfRanks},
                               {"causes", Json::array({std::move(cause)})},
                               {"operation_count", late.match_count},
                               {"method", analytics::collectives::to_string(method)},
                               {"ranks", Json::array({wait_json(late), wait_json(waits)})}});
  return {fmt::format("{}: in {} collectives rank {} waits for {}, rank {} for {} (it arrives last in {})", title,
                      late.match_count, waits.rank, core::format_duration(static_cast<double>(waits.wait_ns)), late.rank,
                      core::format_duration(static_cast<double>(late.wait_ns)), late.late_count),
          fmt::format("find what rank {} does before its collectives that rank {} does not, and "
                      "balance their work",
                      late.rank, waits.rank),
          std::move(details)};
}

}  // namespace

bool is_of_ranks(const SuspectedCause& cause) { return cause.details["of"].text() == kOfRanks; }

core::Result<std::optional<SuspectedCause>> late_rank_of(const ComparedSide& a, const ComparedSide& b) {
  AACO_ASSIGN(const auto of_a, rank_trace(a));
  AACO_ASSIGN(const auto of_b, rank_trace(b));
  if (!of_a || !of_b || of_a->rank == of_b->rank || of_a->world_size != of_b->world_size || of_a->groups != of_b->groups)
    return std::optional<SuspectedCause>();
  trace::NameTable names;
  std::vector<trace::CollectiveRow> rows;
  AACO_TRY(read_collectives(a.sessions.front().path, of_a->rank, names, rows));
  const std::size_t count_a = rows.size();
  const double span = span_of(a.sessions.front(), rows);
  AACO_TRY(read_collectives(b.sessions.front().path, of_b->rank, names, rows));
  if (count_a == 0 || rows.size() == count_a || rows.size() > kMaxOperations) return std::optional<SuspectedCause>();
  const auto found = analytics::collectives::late_rank(analytics::collectives::match(rows, names), span);
  return found ? std::optional(cause_of(*found)) : std::nullopt;
}

}  // namespace aaco::workflows
